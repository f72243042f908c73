"""JAX's own package for CUDA 13, on the wrapper around its library (docs/any-client.md, "GPU").

The folder that this one is in stands before JAX's on the path of modules, so that JAX finds this module where it looks for
its own. It runs that one's code under the same name: options, FFI handlers, Triton and checks of versions are JAX's. One
function is replaced, the one that says which library is opened.
"""

import os as _os
import pathlib as _pathlib

import jax_plugins as _jax_plugins

_NAME = "xla_cuda13"
_HERE = _pathlib.Path(__file__).resolve()
# As precast.pjrt.path() says, which is in the folder above.
_WRAPPER = _HERE.parents[3] / "lib" / "libprecast_pjrt.so"


def _original():
    for folder in _jax_plugins.__path__:
        path = _pathlib.Path(folder) / _NAME / "__init__.py"
        if path.is_file() and path.resolve() != _HERE:
            return path
    raise ModuleNotFoundError(f"there is no package jax_plugins.{_NAME} but Precast's: install jax[cuda13]", name=__name__)


__file__ = str(_original())
__path__ = [str(_pathlib.Path(__file__).parent)]
exec(compile(_pathlib.Path(__file__).read_bytes(), __file__, "exec"), globals())  # noqa: S102, JAX's own module

_library_path_of_jax = _get_library_path  # noqa: F821, of JAX's module


def _get_library_path():
    library = _library_path_of_jax()
    if library is None or _os.environ.get("PRECAST_DISABLE", "0") not in ("", "0"):
        return library
    _os.environ.setdefault("PRECAST_PJRT_PLUGIN", str(library))
    return _WRAPPER
