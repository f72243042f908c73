"""The command `precast`: the C++ program that is in the package."""

import os
import pathlib
import sys


def command():
    """The path of the command in this package; None where the package was built without it."""
    path = pathlib.Path(__file__).with_name("bin") / "precast"
    return str(path) if os.access(path, os.X_OK) else None


def main():
    """Becomes the command, with this process's arguments."""
    path = command()
    if path is None:
        print("precast: this package has no command (it was not installed from a wheel); "
              "build/bin/precast is the one of a build tree", file=sys.stderr)
        return 1
    os.execv(path, [path, *sys.argv[1:]])


if __name__ == "__main__":
    sys.exit(main())
