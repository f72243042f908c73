"""Every private name of JAX that Precast uses, and nothing else does.

JAX gives no promise about these. A version that is not in KNOWN is refused when precast.jax is
imported; tests/jax/test_private.py holds each version to what stands in this package. _calls.py is
about calls, _rules.py about custom_partitioning; callers know this package alone.
"""

import functools
import inspect
import io
import os
import pathlib
import threading

import jax
import jaxlib
from jax._src import compiler as _compiler
from jax._src import monitoring as _monitoring
from jax._src import sharding_impls as _sharding_impls
from jax._src import xla_bridge as _xla_bridge
from jax._src.interpreters import pxla as _pxla
from jax._src.lib import xla_client as _xla_client
from jax._src.lib.mlir import ir as _ir

# Versions whose names and behaviour were looked at and tested, by their first two numbers.
KNOWN = ("0.10", "0.11", "0.12")

# The parameters of compile_or_get_cached, which all of them have.
_PARAMETERS = ("backend", "computation", "devices", "compile_options", "host_callbacks",
               "executable_devices", "pgle_profiler")


def check_version(version=jax.__version__):
    """ImportError for a JAX that Precast does not know, or that was changed."""
    if ".".join(version.split(".")[:2]) not in KNOWN:
        raise ImportError(f"precast.jax does not know jax {version}: it works with "
                          f"{', '.join(known + '.x' for known in KNOWN)}; libprecast_pjrt.so "
                          "(precast.pjrt.path()) works under any version, on C-API plugins")
    parameters = tuple(inspect.signature(_compiler.compile_or_get_cached).parameters)
    if parameters != _PARAMETERS:
        raise ImportError(f"jax {version} has another compile_or_get_cached than precast.jax "
                          f"knows: its parameters are {parameters}")


check_version()

jax_compile_or_get_cached = _compiler.compile_or_get_cached


def set_compile_or_get_cached(function):
    """Puts `function` where JAX calls compile_or_get_cached."""
    _compiler.compile_or_get_cached = function


def compile_and_load(backend, module, devices, options, callbacks):
    """Compiles without any cache, as JAX does; its errors are JAX's."""
    return _compiler.backend_compile_and_load(backend, module, devices, options, callbacks)


def uses_own_cache():
    """Whether JAX may load executables from a persistent cache of its own."""
    return bool(jax.config.jax_enable_compilation_cache and jax.config.jax_compilation_cache_dir)


def load(backend, serialized, devices, options, callbacks):
    """Loads what serialize() gave. The process aborts where the number of devices or callbacks is
    not that of the bytes: whoever calls this has checked both."""
    parsed = _xla_client.CompileOptions.ParseFromString(options)
    return backend.deserialize_executable(serialized, devices, parsed, callbacks)


def device_list(devices):
    """Devices as the runtime takes them."""
    return _xla_client.DeviceList(tuple(devices))


def is_for_xla(lowered):
    """Whether a Lowered is a computation for XLA; today's JAX has no other."""
    return isinstance(getattr(lowered, "_lowering", None), _pxla.MeshComputation)


def devices_of_lowering(lowered):
    """The devices of a Lowered by position; None where it was lowered for an abstract mesh."""
    found = lowered._lowering._device_list
    return None if found is None else tuple(found)


def device_count(lowered):
    """On how many devices a Lowered runs."""
    return lowered._lowering.compile_args["num_devices"]


def backend_of(lowered):
    """The backend that a Lowered is for."""
    return lowered._lowering.compile_args["backend"]


def has_executable(compiled):
    """Whether a Compiled is an executable of XLA that tells what it was made of."""
    return getattr(getattr(compiled, "_executable", None), "_unloaded_executable", None) is not None


def devices_of_compiled(compiled):
    """The devices of a Compiled by position."""
    return tuple(compiled._executable._unloaded_executable.device_list)


def program_name(stage):
    """The name of the program of a Lowered or Compiled."""
    if isinstance(stage, jax.stages.Lowered):
        return stage._lowering._name
    return stage._executable._unloaded_executable.name


def crashes_on_serialize_compiled(compiled):
    """crashes_on_serialize() of a Compiled, whose module is gone."""
    found = compiled._executable._unloaded_executable
    return _crash(bool(found.ordered_effects), found.device_list, found.host_callbacks)


def writes_references(lowered):
    """Whether a Lowered writes to references, which are buffers on devices."""
    return lowered._lowering.compile_args.get("mut") is not None


def lowered_anew(lowered, devices, move):
    """A copy of a Lowered of which JAX remembers no compile, on these devices by position.

    move: gives a sharding's or mesh's counterpart on the devices. Shardings that JAX chooses itself,
    and those on abstract meshes, are left to JAX."""
    old = lowered._lowering
    arguments = dict(old.compile_args)
    for name in ("in_shardings", "out_shardings", "intermediate_shardings"):
        if arguments.get(name) is not None:
            arguments[name] = tuple(
                one if isinstance(one, _sharding_impls.UnspecifiedValue) else move(one)
                for one in arguments[name])
    context = arguments.get("context_mesh")
    if isinstance(context, jax.sharding.Mesh) and not context.empty:
        arguments["context_mesh"] = move(context)
    constants = [move(one) if isinstance(one, jax.Array) else one for one in old.const_args]
    computation = _pxla.MeshComputation(
        old._name, _copy(old._hlo), constants, old._donated_invars, old._platforms,
        old._compiler_options_kvs, device_list(devices), **arguments)
    made = jax.stages.Lowered(computation, lowered.args_info, lowered.out_tree, lowered._no_kwargs,
                              lowered._in_types, lowered._out_types)
    remember_function(made, lowered)
    return made


def _copy(module):
    """The same module as another object; constants are shared."""
    with module.context:
        made = _ir.Module.create(loc=module.operation.location)
        for operation in module.body.operations:
            made.body.append(operation.operation.clone())
        attributes = module.operation.attributes
        for attribute in attributes:
            name = getattr(attribute, "name", attribute)  # some versions give pairs, some names
            made.operation.attributes[name] = attributes[name]
        return made


def gspmd_on(sharding, devices):
    """A sharding of XLA's own notation on other devices; None for any other kind of sharding."""
    if not isinstance(sharding, _sharding_impls.GSPMDSharding):
        return None
    return _sharding_impls.GSPMDSharding(tuple(devices), sharding._hlo_sharding,
                                         memory_kind=sharding.memory_kind)


def kept_arguments(compiled):
    """The arguments that the executable takes, by their numbers; JAX leaves out those that are not used."""
    return set(compiled._executable._kept_var_idx)


def needs_its_process(compiled):
    """Why an executable cannot be called without the process that traced it; None when it can."""
    unloaded = compiled._executable._unloaded_executable
    if unloaded.host_callbacks:
        return "it calls back into Python"
    if unloaded.ordered_effects or unloaded.unordered_effects:
        return "it has effects"
    if unloaded.mut is not None:
        return "it writes to references"
    if compiled._params.const_args:
        return "it takes constants as arguments"
    return None


def serialize(executable):
    """The bytes of an executable that was compiled here."""
    return executable.serialize()


def options_bytes(options):
    """xla.CompileOptionsProto, as JAX hands it to the runtime."""
    return options.SerializeAsString()


def set_profile(options, profile):
    """Lets a profile guide the compile of these options."""
    options.executable_build_options.fdo_profile = profile


def assignment_counts(options):
    """(replicas, computations) of the device assignment of CompileOptions; None where they have none."""
    assignment = options.device_assignment
    return None if assignment is None else (assignment.replica_count(), assignment.computation_count())


def set_assignment(options, ids):
    """Sets the device assignment of CompileOptions; ids: of devices, replicas x computations."""
    options.device_assignment = _xla_client.DeviceAssignment.create(ids)


_DUMPS_OF_OTHER_NAMES = ("xla_gpu_dump_autotune_logs_to", "xla_gpu_dump_autotune_results_to")


def clear_dumps(options):
    """Takes whatever makes XLA dump out of CompileOptions and of their overrides."""
    build = options.executable_build_options  # holds what the next line gives
    debug = build.debug_options
    for name in dir(debug):
        if not name.startswith("xla_dump_") and name not in _DUMPS_OF_OTHER_NAMES:
            continue
        value = getattr(debug, name)
        if isinstance(value, bool):
            setattr(debug, name, False)
        elif isinstance(value, str):
            setattr(debug, name, "")
    options.env_option_overrides = [(name, value) for name, value in options.env_option_overrides
                                    if not name.startswith("xla_dump_") and name not in _DUMPS_OF_OTHER_NAMES]


def options_for(devices):
    """CompileOptions for one partition on each of these devices."""
    ids = [device.id for device in devices]
    return _compiler.get_compile_options(num_replicas=1, num_partitions=len(ids), device_assignment=[ids],
                                         backend=devices[0].client)


_writing = threading.Lock()


def program_bytes(module):
    """The module as MLIR bytecode, without the names that JAX notes for its results: they are for
    people, and another tree of results would make another program of them."""
    out = io.BytesIO()
    # In place, since a copy takes longer than all the rest; nobody sees it.
    with _writing:
        undo = take_result_names(module.operation)
        try:
            module.operation.write_bytecode(file=out)
        finally:
            undo()
    return out.getvalue()


def take_result_names(operation):
    """Takes them from a module's main function; gives what puts them back."""
    with operation.context:
        for function in operation.regions[0].blocks[0].operations:
            if "sym_name" not in function.attributes or "res_attrs" not in function.attributes or \
                    _ir.StringAttr(function.attributes["sym_name"]).value != "main":
                continue
            before = function.attributes["res_attrs"]
            function.attributes["res_attrs"] = _ir.ArrayAttr.get([
                _without(_ir.DictAttr(one), "jax.result_info") for one in _ir.ArrayAttr(before)])
            return functools.partial(_put, function, before)
    return lambda: None


def _without(attributes, name):
    kept = [attributes[i] for i in range(len(attributes))]
    return _ir.DictAttr.get({one.name: one.attr for one in kept if one.name != name})


def _put(function, before):
    function.attributes["res_attrs"] = before


def module_name(module):
    """The module's symbol name."""
    return _ir.StringAttr(module.operation.attributes["sym_name"]).value


def takes_tokens(module):
    """Whether the program has ordered effects."""
    for operation in module.body.operations:
        if "sym_name" in operation.attributes and \
                _ir.StringAttr(operation.attributes["sym_name"]).value == "main":
            return any("token" in str(kind) for kind in operation.type.inputs)
    return True


def is_compile_only(backend):
    """Whether a backend only describes devices."""
    return not hasattr(backend, "deserialize_executable") or \
        type(backend).__name__ == "CompileOnlyPyClient"


def crashes_on_serialize(module, devices, callbacks):
    """Why asking this JAX to serialize would end the process; None where it does not."""
    return _crash(callbacks and takes_tokens(module), devices, callbacks)


def _crash(ordered, devices, callbacks):
    if jax.__version__.startswith("0.10.") and callbacks and len(devices) > 1 and ordered:
        return (f"UNIMPLEMENTED: jax {jax.__version__} crashes when it serializes an ordered "
                "callback on several devices")
    return None


def jaxlib_version():
    """The version of jaxlib."""
    return jaxlib.__version__


def library():
    """The library that compiles, which every backend inside jaxlib shares."""
    folder = pathlib.Path(jaxlib.__file__).parent
    for name in ("libjax_common.so", "xla_extension.so"):
        if (folder / name).is_file():
            return str(folder / name)
    return str(folder / "libjax_common.so")


def versions(backend):
    """Of what stands between a program and the code that compiles."""
    return {"jax": jax.__version__, "jaxlib": jaxlib.__version__, "runtime_type": backend.runtime_type}


# XLA_FLAGS at each creation of a backend: only then XLA reads it, and scripts change it.
_flags_seen = set()


def _flags_now():
    return os.environ.get("XLA_FLAGS", "")


def _flags_at_start():
    """XLA_FLAGS as this process was started with it; None where the system does not tell."""
    try:
        environment = pathlib.Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:
        return None
    return next((os.fsdecode(one[10:]) for one in environment if one.startswith(b"XLA_FLAGS=")), "")


def _watch_flags():
    real = _xla_bridge._init_backend

    @functools.wraps(real)
    def init_backend(platform):
        _flags_seen.add(_flags_now())
        return real(platform)

    if _xla_bridge.backends_are_initialized():
        # Nobody looked. What the process was started with and still is there was there in between.
        _flags_seen.update((_flags_now(), _flags_at_start()))
    _xla_bridge._init_backend = init_backend


_watch_flags()


def xla_flags():
    """XLA_FLAGS as XLA read it when the backends were made; None where that is not known."""
    seen = _flags_seen or {_flags_now(), _flags_at_start()}
    return next(iter(seen)) if len(seen) == 1 else None


def backend_facts(backend):
    """What a backend says about itself, as keywords of _precast.Facts."""
    here = backend.process_index()
    return {
        "library": library(),
        "platform": backend.platform,
        "platform_version": backend.platform_version.removeprefix(_PLUGIN_VERSION),
        "attributes": versions(backend),
        "devices": [(device.id, device.process_index, device.process_index == here,
                     device.device_kind) for device in backend.devices()],
        "xla_flags": xla_flags(),
    }


# What jax 0.10 puts before the version of a plugin of the C API. Later ones say nothing: there such a
# backend looks like the built-in one.
_PLUGIN_VERSION = "PJRT C API\n"


def _registration(backend):
    """(name, how JAX made it) of a backend; None where JAX does not know it."""
    for name, one in _xla_bridge._backends.items():
        if one is backend:
            return name, _xla_bridge._backend_factories[name]
    return None


def is_built_in(backend):
    """Whether a backend's code is in jaxlib, and not in a plugin of its own."""
    known = _registration(backend)
    return known is not None and known[1].factory is _xla_bridge.make_cpu_client


def plugin_of(backend):
    """(function table as a capsule, client options) of a backend that is a plugin of the C API.

    LookupError where JAX does not say them."""
    name, registration = _registration(backend) or (None, None)
    factory = getattr(registration, "factory", None)
    given = getattr(factory, "keywords", {}).get("options")
    if getattr(factory, "func", None) is not _xla_bridge.make_pjrt_c_api_client or \
            registration.c_api is None or callable(given):
        raise LookupError(f"jax {jax.__version__} does not say how it opened the plugin of '{backend.platform}'")
    options = {**(given or {}), **_xla_bridge._options_from_jax_configs(name)}
    if jax.process_count() > 1:
        options |= {"node_id": backend.process_index(), "num_nodes": jax.process_count()}
    return registration.c_api, options


def split_header(serialized):
    """(header, executable) of what serialize() gives under a plugin: the plugin's own bytes, and what
    jaxlib puts before them. The header is a varint of its length and a message of the results' types,
    memory kinds and layouts; jaxlib loads nothing without it. ValueError where there is none."""
    length, at = 0, 0
    for at, byte in enumerate(serialized[:5], 1):
        length |= (byte & 0x7f) << 7 * (at - 1)
        if byte < 0x80:
            break
    end = at + length
    if not 0 < length < len(serialized) - at or serialized[at:at + 1] != b"\x08":
        raise ValueError("jaxlib's header in front of the plugin's bytes is not known")
    return serialized[:end], serialized[end:]


_SAMPLE = """module @precast_sample {
  func.func public @main(%arg0: tensor<f32>) -> tensor<f32> { return %arg0 : tensor<f32> }
}
"""


def topology(backend):
    """The serialized topology of a CPU backend, which says for which CPU it compiles; empty where jaxlib
    does not give it (0.10.x)."""
    described = _xla_client._xla.get_topology_for_devices(backend.local_devices())
    try:
        return described.serialize()
    except AttributeError:
        return b""


def sample(backend):
    """A serialized executable of this backend, which says for which CPU it compiles."""
    return _compile_sample(backend, []).serialize()


def _compile_sample(backend, overrides):
    from jax._src.interpreters import mlir  # pylint: disable=import-outside-toplevel
    device = backend.local_devices()[0]
    with mlir.make_ir_context():
        module = _ir.Module.parse(_SAMPLE)
        options = options_for([device])
        options.env_option_overrides = overrides
        return compile_and_load(backend, module, device_list([device]), options, [])


def lacks_option(backend, name, value):
    """Whether this XLA has no compile option of this name."""
    try:
        _compile_sample(backend, [(name, value)])
    except Exception as error:  # pylint: disable=broad-exception-caught  # another one is the compile's to raise
        return "No such compile option" in str(error)
    return False


def memory(executable):
    """Bytes by kind, as far as an executable says; it takes JAX long to find out."""
    try:
        stats = executable.get_compiled_memory_stats()
    except Exception:  # pylint: disable=broad-exception-caught  # optional
        return {}
    return {"code": stats.generated_code_size_in_bytes, "argument": stats.argument_size_in_bytes,
            "output": stats.output_size_in_bytes, "alias": stats.alias_size_in_bytes,
            "temp": stats.temp_size_in_bytes, "host_temp": stats.host_temp_size_in_bytes,
            "peak": getattr(stats, "peak_memory_in_bytes", 0)}


def costs(executable):
    """Estimates by name, as far as an executable says."""
    try:
        return {name: float(value) for name, value in executable.cost_analysis().items()
                if isinstance(value, (int, float))}
    except Exception:  # pylint: disable=broad-exception-caught  # optional
        return {}


def description(executable):
    """(memory, costs) of an executable as the core keeps them."""
    said = memory(executable)
    kinds = ("code", "argument", "output", "alias", "temp", "peak")
    return [said[kind] for kind in kinds] if said else None, costs(executable)


# Durations that JAX records while it compiles a function, in its own thread: of the trace, with the
# function's name, and of the lowering, with the module's.
TRACE_EVENT = "/jax/core/compile/jaxpr_trace_duration"
LOWER_EVENT = "/jax/core/compile/jaxpr_to_mlir_module_duration"


def listen_to_durations(listener):
    """Calls listener(event, seconds, fun_name=...) for each duration of jax.monitoring."""
    _monitoring.register_event_duration_secs_listener(listener)


def record_event(name):
    """An event of jax.monitoring."""
    _monitoring.record_event(name)


def record_seconds(name, seconds):
    """A duration of jax.monitoring."""
    _monitoring.record_event_duration_secs(name, seconds)


from precast.jax._private._callbacks import *  # noqa: E402,F403 pylint: disable=wildcard-import,wrong-import-position
from precast.jax._private._calls import *  # noqa: E402,F403 pylint: disable=wildcard-import,wrong-import-position
from precast.jax._private._rules import *  # noqa: E402,F403 pylint: disable=wildcard-import,wrong-import-position
