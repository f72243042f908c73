"""Private names of JAX: custom_partitioning, and what its rules are made of and traced under."""

import io

import jax
from jax._src import config as _config
from jax._src import core as _core
from jax._src import custom_partitioning as _custom_partitioning
from jax._src import tree_util as _tree_util
from jax._src.lib.mlir import ir as _ir

from precast.jax import _private

__all__ = ["JITTED", "JIT_SETTINGS", "OF_JITTED", "PARTITIONING_CALL", "PRIMITIVE", "is_node_type",
           "jit_parts", "partition_rule", "replace_partition_rules", "settings", "trace_context",
           "without_source"]


JITTED = type(jax.jit(len))
OF_JITTED = ("_fun", "_jit_info")  # its attributes
JIT_SETTINGS = type(jax.jit(len)._jit_info)


def jit_parts(jitted):
    """(function, JIT_SETTINGS) of what jax.jit gave."""
    return jitted._fun, jitted._jit_info


def without_source(settings):
    """JIT_SETTINGS by name, without what the function says itself."""
    return {name: value for name, value in settings._asdict().items()
            if name not in ("fun_sourceinfo", "fun_signature")}


PRIMITIVE = _core.Primitive


def is_node_type(kind):
    """Whether somebody told JAX how to take objects of a class of Python apart."""
    [base, *_] = [one for one in (tuple, dict, list, object) if issubclass(kind, one)]
    try:
        return _tree_util.default_registry.flatten_one_level(base.__new__(kind)) is not None
    except Exception:  # pylint: disable=broad-exception-caught  # of that function, on an empty object
        return True


# Of JAX's settings those that say where things are kept and what is told.
_NEUTRAL_SETTINGS = (
    "jax_compilation_cache", "jax_persistent_cache", "jax_dump_ir", "jax_include_debug_info_in_dumps",
    "jax_log", "jax_debug_log_modules", "jax_traceback", "jax_include_full_tracebacks",
    "jax_hlo_source_file", "jax_pprint", "jax_tracer_error", "jax_num_cpu_devices", "jax_cross_host",
    "jax_mtls", "jax_cpu_get_", "jax_explain_cache_misses")


def settings():
    """Settings of JAX that this thread traces and lowers under, by name."""
    return {name: getattr(jax.config, name, jax.config.values[name]) for name in sorted(jax.config.values)
            if not name.startswith(_NEUTRAL_SETTINGS)}


def trace_context():
    """What else tracing depends on in this thread."""
    return tuple((dict(one.axis_sizes), one.spmd_axis_names, one.explicit_mesh_axis_names)
                 if isinstance(one, _core.AxisEnv) else one for one in _config.trace_context())


PARTITIONING_CALL = _custom_partitioning._CUSTOM_PARTITIONING_CALL_NAME


def partition_rule(address):
    """The rule of a custom_partitioning call, by what stands in its configuration: its parts by name;
    None where there is no such rule."""
    info = _custom_partitioning._sharding_callbacks.get(address.encode())
    if info is None:
        return None
    decode = info.to_mesh_pspec_sharding  # JAX's own, around these
    around = {name: cell.cell_contents for name, cell in zip(
        decode.__code__.co_freevars, decode.__closure__, strict=True)}
    devices = tuple(around.pop("devices"))
    return {name: getattr(info, name) for name in (
        "partition", "propagate_user_sharding", "infer_sharding_from_operands", "static_args", "mesh",
        "in_tree", "out_tree")} | {
            "platforms": tuple(info.module_context.platforms), "lowered for": devices,
            "decode": tuple(value for _, value in sorted(around.items()))}


def replace_partition_rules(module, name_of):
    """A copy of the module as bytecode, in which name_of(address) stands for the address of the rule of
    each custom_partitioning call. The module stays as it is."""
    copy = module.operation.clone()
    calls = []

    def visit(operation):
        if operation.name == "stablehlo.custom_call" and _ir.StringAttr(
                operation.attributes["call_target_name"]).value == PARTITIONING_CALL:
            calls.append(operation)
        return _ir.WalkResult.ADVANCE

    _private.take_result_names(copy)
    with module.context:
        copy.walk(visit)
        for operation in calls:
            address = _ir.StringAttr(operation.attributes["backend_config"]).value
            operation.attributes["backend_config"] = _ir.StringAttr.get(name_of(address))
    out = io.BytesIO()
    copy.write_bytecode(file=out)
    return out.getvalue()
