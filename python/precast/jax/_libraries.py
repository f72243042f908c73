"""Libraries whose name and version say what their code is, and what of them asks for more than that."""

import _abc
import re
import sys
import types

from precast.jax._references import REFUSED_BUILTINS, Unseen

LIBRARIES = ("jax", "jaxlib", "numpy", "ml_dtypes", "opt_einsum")
# Of the standard library what has no state and asks nobody.
_PURE = frozenset({
    "_collections", "_collections_abc", "_functools", "_operator", "abc", "bisect", "builtins", "cmath",
    "collections", "contextlib", "copy", "dataclasses", "enum", "fractions", "functools", "heapq",
    "itertools", "math", "numbers", "operator", "re", "string", "types", "typing"})
# In the libraries: what asks for devices, processes, files or the state of generators, or calls back.
_STATEFUL = ("jax._src.xla_bridge", "jax._src.distributed", "jax._src.callback", "jax._src.debugging",
             "jax._src.mesh_utils", "jax.experimental.mesh_utils", "jax.experimental.multihost_utils",
             "jax.extend", "jax.distributed", "jax.profiler", "jax.monitoring", "numpy.random", "numpy.lib",
             "numpy.ctypeslib", "numpy.f2py", "numpy.testing")
_STATEFUL_NAMES = frozenset({
    "make_mesh", "live_arrays", "load", "loadtxt", "fromfile", "memmap", "genfromtxt", "fromregex",
    "DataSource", "device_get", "default_device", "get_type_hints", "get_overloads", "clear_overloads",
    # Annotations, which no digest counts.
    "dataclasses.fields"})
_RELEASE = re.compile(r"\d+(\.\d+)+")


def versions():
    """The versions that stand for the code of the libraries. Raises Unseen for builds without one."""
    found = {"python": sys.version, "optimize": str(sys.flags.optimize)}
    for name in LIBRARIES:
        module = sys.modules.get(name)
        if module is None:
            continue
        version = getattr(module, "__version__", "")
        if not _RELEASE.fullmatch(version):
            raise Unseen(f"{name} {version} is no release, so its version does not say what its code is")
        found[name] = version
    return found


def library_name(value):
    """(module, name) of what a library holds under this name; (None, None) of anything else. Raises
    Unseen for what depends on more than its arguments."""
    module, name = _home(value)
    if module is not None and (module.startswith(_STATEFUL) or
                               not _STATEFUL_NAMES.isdisjoint((name.rpartition(".")[2], f"{module}.{name}")) or
                               module == "builtins" and name in REFUSED_BUILTINS):
        raise Unseen(f"it uses {module}.{name}, which depends on more than its arguments")
    return module, name


def _home(value):
    module = getattr(value, "__module__", None)
    if isinstance(value, types.BuiltinFunctionType) and module is None:
        return None, None
    if not isinstance(module, str) or isinstance(value, types.MethodType):
        return None, None
    top = module.partition(".")[0]
    if top not in LIBRARIES and top not in _PURE:
        return None, None
    for name in (getattr(value, "__qualname__", None), getattr(value, "__name__", None)):
        found = sys.modules.get(module)
        for part in name.split(".") if isinstance(name, str) else ():
            found = getattr(found, part, None)
        if isinstance(name, str) and found is value:
            return module, name
    return None, None


def refuse_what_asks_the_system(value):
    """The rest of the standard library."""
    named = value if isinstance(value, (type, types.FunctionType, types.BuiltinFunctionType)) else type(value)
    module = named.__module__ or ""
    if module.partition(".")[0] in sys.stdlib_module_names and module.partition(".")[0] not in _PURE:
        raise Unseen(f"it uses {module}.{named.__qualname__}")


def refuse_what_is_registered(kind):
    """An abstract class that other classes than those of libraries were registered with, or that asks a
    subclass of somebody's own about them: what isinstance() says of it is in no code."""
    ours = {kind}
    while ours:
        one = ours.pop()
        for registered in (reference() for reference in _abc._get_dump(one)[0]) if hasattr(one, "_abc_impl") else ():
            if registered is not None and not _is_known(registered):
                raise Unseen(f"it uses {kind.__module__}.{kind.__qualname__}, which "
                             f"{registered.__module__}.{registered.__qualname__} was registered with")
        if one is not kind and "__subclasshook__" in vars(one) and not _is_known(one):
            raise Unseen(f"it uses {kind.__module__}.{kind.__qualname__}, which asks {one.__qualname__}")
        ours.update(type.__subclasses__(one))


def _is_known(kind):
    top = str(kind.__module__).partition(".")[0]
    return top in LIBRARIES or top in sys.stdlib_module_names and top != "__main__"
