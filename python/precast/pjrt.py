"""The plugin that puts the cache between any client of PJRT and its real plugin (docs/any-client.md)."""

import pathlib


def path():
    """The path of libprecast_pjrt.so in this package.

    FileNotFoundError where the package was built without it."""
    found = pathlib.Path(__file__).with_name("lib") / "libprecast_pjrt.so"
    if not found.is_file():
        raise FileNotFoundError(f"this package has no plugin: there is no '{found}'")
    return str(found)


def jax_cuda():
    """The folder to put in front of PYTHONPATH, so that JAX's package for CUDA 13 opens the plugin of path().

    That package opens its own library whatever the environment says; here is a module of its name that runs
    the package's code on another library."""
    path()
    return str(pathlib.Path(__file__).with_name("jax_cuda"))
