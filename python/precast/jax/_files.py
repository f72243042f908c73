"""Files that are there whole or not at all."""

import os
import pathlib
import tempfile


def write(path, data):
    """Writes bytes in the place of what is at the path, if anything. OSError."""
    path = pathlib.Path(path)
    handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".precast-")
    try:
        with os.fdopen(handle, "wb") as out:
            out.write(data)
            out.flush()
            os.fsync(out.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except BaseException:
        os.unlink(temporary)
        raise
