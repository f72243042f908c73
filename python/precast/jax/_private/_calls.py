"""Private names of JAX: how executables are called, and whose function a stage is of."""

import typing
import weakref

import jax
from jax._src import pjit as _pjit
from jax._src import sharding_impls as _sharding_impls
from jax._src import source_info_util as _source_info_util
from jax._src import traceback_util as _traceback_util

__all__ = ["Calling", "calling_of_compiled", "calling_of_lowered", "copy_of", "device_order",
           "dispatch_to", "function_of", "is_unspecified", "node_data", "partitions", "rebound",
           "remember_function", "sharding_bytes", "static_arguments"]


class Calling(typing.NamedTuple):
    """How an executable is called, in JAX's own objects. Arguments: the constants that JAX passes
    by itself first, then the leaves of in_tree, also those that are not kept."""

    in_tree: object
    out_tree: object
    in_avals: list
    out_avals: list
    in_shardings: list  # None for an argument that is not kept
    out_shardings: list
    in_layouts: list
    out_layouts: list
    kept: set
    donated: list
    constants: int
    devices: tuple
    callbacks: int
    ordered_effects: list
    unordered_effects: list
    writes_to_references: bool


def calling_of_lowered(lowered):
    """The Calling of a jax.stages.Lowered."""
    lowering = lowered._lowering
    said = lowering.compile_args
    kept = said["kept_var_idx"]
    avals = _all_avals(said["all_args_info"], said["global_in_avals"])
    return Calling(
        lowered.in_tree, lowered.out_tree, avals, list(said["global_out_avals"]),
        _spread(said["in_shardings"], kept, len(avals)), list(said["out_shardings"]),
        _spread(said["in_layouts"], kept, len(avals)), list(said["out_layouts"]), kept,
        _donated(lowered.args_info, len(lowering.const_args)), len(lowering.const_args),
        tuple(lowering._device_list or ()), len(said["host_callbacks"]), list(said["ordered_effects"]),
        list(said["unordered_effects"]), said["mut"] is not None)


def calling_of_compiled(compiled):
    """The Calling of a jax.stages.Compiled, with the shardings and layouts that it has."""
    executable = compiled._executable
    unloaded = executable._unloaded_executable
    kept = executable._kept_var_idx
    avals = _all_avals(executable._all_args_info, executable.in_avals)
    constants = len(compiled._params.const_args)
    return Calling(
        compiled.in_tree, compiled.out_tree, avals, list(executable.out_avals),
        _spread(executable._in_shardings, kept, len(avals)), list(executable._out_shardings),
        _spread(executable._xla_in_layouts, kept, len(avals)), list(executable._xla_out_layouts), kept,
        _donated(compiled.args_info, constants), constants, tuple(unloaded.device_list),
        len(unloaded.host_callbacks), list(unloaded.ordered_effects),
        list(unloaded.unordered_effects), unloaded.mut is not None)


def _all_avals(info, kept):
    return list(kept if info is None else info.in_avals)


def _spread(values, kept, count):
    """Values of the kept arguments, with None for the others."""
    rest = iter(values)
    return [next(rest) if i in kept else None for i in range(count)]


def _donated(args_info, constants):
    return [False] * constants + [info.donated for info in jax.tree.leaves(args_info)]


def is_unspecified(sharding):
    """Whether JAX leaves the choice of a sharding to XLA."""
    return isinstance(sharding, _sharding_impls.UnspecifiedValue)


def partitions(spec):
    """A PartitionSpec as plain data: axes by dimension, and what is reduced or not yet."""
    def axes(entry):
        if entry is None or isinstance(entry, str):
            return entry
        return list(entry) if isinstance(entry, tuple) else {"unconstrained": True}
    # One that has something unreduced cannot be iterated over.
    return {"spec": [axes(entry) for entry in spec.partitions],
            "unreduced": sorted(getattr(spec, "unreduced", ())),
            "reduced": sorted(getattr(spec, "reduced", ()))}


def sharding_bytes(sharding):
    """xla.OpSharding of a sharding that is neither of a mesh nor of one device; None without one."""
    try:
        return sharding._hlo_sharding.to_proto().SerializeToString()
    except AttributeError:
        return None


def device_order(sharding):
    """The devices of a sharding in its order."""
    return tuple(sharding._internal_device_list or ())


_functions = weakref.WeakKeyDictionary()  # of Traced, and of the Lowered of those


def _jit_trace(jitted, *args, **kwargs):
    traced = _jit_trace_of_jax(jitted, *args, **kwargs)
    _functions[traced] = jitted
    return traced


def _remember_functions():
    """From here on jax.jit(...).trace() leaves a trace of whose it is, for function_of()."""
    for exclude in (_source_info_util.register_exclusion, _traceback_util.register_exclusion):
        exclude(__file__)  # locations of programs and tracebacks are those without it
    _pjit.jit_trace = _jit_trace
    jax.jit(_remember_functions)  # JAX puts it into the class of its functions whenever it makes one


_jit_trace_of_jax = _pjit.jit_trace
_remember_functions()


def function_of(stage):
    """The jax.jit function that gave a Traced, or a Lowered that remember_function() was told of, and
    that gives another one for other arguments; None where it is not known, or has static arguments,
    which a Compiled is not called with."""
    jitted = _functions.get(stage)
    if jitted is None or jitted._jit_info.static_argnums or jitted._jit_info.static_argnames:
        return None
    return jitted


def static_arguments(jitted):
    """(numbers, names) of the static arguments of a jax.jit function; a negative number counts from the end."""
    info = jitted._jit_info
    return tuple(info.static_argnums), frozenset(info.static_argnames)


def remember_function(lowered, stage):
    """The function of `lowered` is that of `stage`, if it is known."""
    if stage in _functions:
        _functions[lowered] = _functions[stage]


def rebound(compiled, lowered):
    """A jax.stages.Compiled of the same executable, called as `lowered` says."""
    return jax.stages.Compiled(compiled._executable, lowered._lowering.const_args, lowered.args_info,
                               lowered.out_tree, lowered._no_kwargs, lowered._in_types,
                               lowered._out_types)


def copy_of(compiled):
    """Another jax.stages.Compiled of the same executable that is called in the same way."""
    params = compiled._params
    return jax.stages.Compiled(compiled._executable, params.const_args, compiled.args_info,
                               compiled.out_tree, compiled._no_kwargs, params.in_types, params.out_types)


def dispatch_to(compiled, other):
    """From here on calls of `compiled` are those of `other`, which was called before."""
    compiled._call = other._call


def node_data(node):
    """(type, static data) of a pytree's root; None of a leaf."""
    return jax.tree.structure(node).node_data()
