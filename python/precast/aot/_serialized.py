"""Executables as bytes, for processes that lower the same function themselves."""

import base64
import json

from precast import _precast
from precast.aot import _key, _options
from precast.jax import _binding, _placed, _private, _program, _request, _rules, _serve
from precast.jax._report import Report, made_by

_VERSION = 1


def _identity(backend, module, options):
    """(what the core says about the key of a program that was compiled, the module's name)."""
    runtime = _request.runtime_of(backend)
    if runtime.facts is None:
        return None
    settled, name = _rules.settle(module, _program.program_bytes(module)), _private.module_name(module)
    wishes = settled.wishes()
    wishes["extras"] = {**_program.extras([], runtime.versions), **wishes["extras"]}
    said = _request.no_cache().key(runtime.facts, settled.program, name, options, wishes)
    return {word: said[word] for word in ("record", "reason", "detail")}, name


# From here on it is known of each executable what was compiled, or that it was loaded. JAX may drop the
# program at any time, and the executable alone does not say of which one it is.
_request.set_identify(_identity)


def partially_serialize(compiled, execution_devices):
    """The bytes of an executable that was compiled by this process or came from Precast's cache.

    execution_devices: the devices that positions are counted in; those of the executable must be
    among them. Gives a verified artifact (docs/format.md): no pickle, no code of Python. What came
    from the cache gives the first bytes. ValueError: the executable cannot be serialized (with the
    reason), a device that the list does not hold, or something else than devices."""
    devices = _options.devices_of(execution_devices)
    if not _private.has_executable(compiled):
        raise _cannot("it is no executable of XLA", "give what Lowered.compile() or compile_or_load() gave")
    own = _private.devices_of_compiled(compiled)
    place = {device.id: position for position, device in enumerate(devices)}
    for device in own:
        if device.id not in place or devices[place[device.id]] != device:
            raise ValueError(f"Unknown device: {device} is one of the executable's and none of execution_devices. Give "
                             "a list with every device that it was compiled for")
    called = _called(compiled, _private.calling_of_compiled(compiled))
    beside = {"version": 1, "devices": len(own), "callbacks": called["callbacks"],
              "aot": {"version": _VERSION, "execution_devices": len(devices),
                      "positions": [place[device.id] for device in own], "called": called}}
    origin = _request.origin_of(compiled.runtime_executable())
    if origin.kind == "unknown":
        raise _cannot("JAX's own cache is on and may have loaded it, and then its bytes may not run elsewhere",
                      "compile it with precast.jax.compile_or_load(), or turn jax_enable_compilation_cache off")
    if origin.kind == "unseen":
        raise _cannot("Precast did not see it compiled: it is older than precast.jax here, or came past it, as from "
                      "jax.experimental.serialize_executable, and then its bytes may not run elsewhere",
                      "import precast.aot first, and lower and compile it again")
    if origin.kind == "bytes":
        raise _cannot("it was loaded from bytes, and what it would give now may not run elsewhere",
                      "keep the bytes that it was loaded from")
    if origin.kind == "entry":
        return _from_entry(origin, _request.runtime_of(own[0].client), beside)
    return _compiled_here(compiled, origin, own, beside)


def _cannot(reason, what_next):
    return ValueError(f"Compilation does not support serialization. The reason: {reason}. What to do: {what_next}")


def _front_end(beside, header):
    """The bytes beside an executable. header: what jaxlib puts before a plugin's bytes, or None."""
    if header is not None:
        beside = {**beside, "header": base64.b64encode(header).decode()}
    return json.dumps(beside, sort_keys=True).encode()


def _from_entry(origin, runtime, beside):
    try:
        artifact = _precast.Artifact.read(origin.path)
    except _precast.Error as error:
        raise _cannot(f"its entry in the cache cannot be read any more ({error})", "get the executable again") from error
    if artifact.root != origin.root:
        raise _cannot(f"the entry '{origin.path}' was replaced after it was loaded", "get the executable again")
    header = _program.header_of(artifact.front_end) if runtime.is_plugin else None
    return artifact.with_front_end(_front_end(beside, header))


def _compiled_here(compiled, origin, devices, beside):
    executable, header = compiled.runtime_executable(), None
    runtime = _request.runtime_of(devices[0].client)
    if runtime.facts is None:
        raise _cannot("the plugin is Precast's own, which keeps what it compiles in the cache", "call it as it is")
    reason = _private.crashes_on_serialize_compiled(compiled)
    if reason is None:
        try:
            serialized = _private.serialize(executable)
            if runtime.is_plugin:
                header, serialized = _private.split_header(serialized)
        except Exception as error:  # pylint: disable=broad-exception-caught  # whatever a runtime refuses with
            reason = str(error)
    if reason is not None:
        raise _cannot(reason, "call it as it is; compile_or_load_all_traced() does so, and compiles it in each process")
    identity = origin.identity
    if identity is None:
        module = origin.module() if origin.module is not None else None
        if module is None:
            raise _cannot("the program that it was compiled from is gone, and nothing else says which one it was",
                          "import precast.aot before it is compiled, or serialize it before JAX's caches are cleared "
                          "and its Lowered is dropped; now lower and compile it again")
        identity = _identity(devices[0].client, module, origin.options)
    said, name = identity
    if said["record"] is None:
        raise _cannot(f"{said['reason']}: {said['detail']}", "call it as it is")
    return _precast.make_artifact(runtime.facts, said["record"], serialized, origin.options, name, _front_end(beside, header))


class _Load(_request.Request):
    """A request that loads an artifact and nothing else."""

    serves_always = True

    def __init__(self, artifact, module):
        super().__init__(cache=None, policy=None, module=module)
        self._artifact = artifact

    def serve(self, backend, module, options, callbacks, devices):
        callbacks, name = list(callbacks), _private.module_name(module)
        here = self.key_of_compile(_request.no_cache(), backend, module, options, callbacks, devices)
        made = self._artifact.fields
        runtime = _request.runtime_of(backend)
        if runtime.facts is None:
            raise ValueError(f"bytes are not loaded here: {here['detail']}; compile {name}, and it comes from the cache")
        if runtime.is_plugin and here["fields"] and _in_front(here["fields"]) != _in_front(made):
            raise ValueError(f"the serialized executable was made through {', '.join(_in_front(made)) or 'no plugin'}, "
                             f"and this is {', '.join(_in_front(here['fields']))}: compile again")
        if not here["fields"]:
            raise ValueError(f"nothing says whether the serialized executable is of this lowering of {name}, which has no "
                             f"key ({here['reason']}: {here['detail']}): compile it")
        if _program_of(here["fields"]) != _program_of(made):
            raise ValueError(f"the serialized executable was compiled from another program than this lowering of {name}: "
                             "lower the function that was serialized, or compile again")

        def load(serialized, front_end, load_options):
            return runtime.load(serialized, front_end, devices, load_options, callbacks)

        executable = _precast.load_artifact(runtime.facts, self._artifact, [device.id for device in devices], load)
        _request.came_from(executable, _request.Origin("bytes"))
        self.report = Report("hit", "none", name=name, root=self._artifact.root,
                             device_ids=[device.id for device in devices], _made=made_by(executable))
        return executable


def _in_front(fields):
    """The versions of what stands between JAX's programs and a plugin."""
    return [f"{item.removeprefix('extra.jax.')} {value.decode('utf-8', 'replace')}" for item, value in fields["extra"]
            if item.startswith("extra.jax.")]


def _program_of(fields):
    """What a record says about the program: with the rules of custom_partitioning that it calls."""
    return fields["program"], dict(fields["extra"]).get("extra.custom_partitioning")


def load_compiled_from_serialized(lowered, serialized, execution_devices):
    """Loads what partially_serialize() gave, for a lowering of the same function: a jax.stages.Compiled.

    execution_devices: as many as partially_serialize() was given; the executable runs on those at the
    same positions. Trees, shardings, layouts, donation and callbacks are this lowering's. Errors:
    NotImplementedError for a lowering for something else than XLA; ValueError for another number of
    devices, for devices of another client, and for another function; precast.Error where the bytes
    are damaged, or were made by another build of jaxlib, for other devices or for another CPU.
    Nothing of that reaches the runtime."""
    _key.check_lowering(lowered)
    devices = _options.devices_of(execution_devices)
    _check_client(_private.backend_of(lowered), devices)
    if not isinstance(serialized, bytes | bytearray | memoryview):
        raise TypeError(f"the serialized executable must be bytes, and is a {type(serialized).__name__}: give what "
                        "partially_serialize() gave")
    artifact = _precast.Artifact.decode(bytes(serialized))
    if dict(artifact.fields["program"])["format"] != b"mlir_bytecode":
        raise ValueError("these bytes say what XLA made of a program and not which program it was, so no lowering can be "
                         "compared with them: serialize the executable again")
    placement = dict(artifact.fields["placement"])
    counts = int(placement["replicas"]), int(placement["partitions"])
    said = _said(artifact, counts[0] * counts[1])
    chosen = _chosen(said, counts, devices)
    _check_called(said["called"], _called(lowered, _private.calling_of_lowered(lowered)))
    anew = _placed.afresh(lowered, chosen)
    request = _Load(artifact, anew.compiler_ir())
    with request.active():
        return _serve.compile_lowered(request, anew, None)[0]


def _check_client(backend, devices):
    for device in devices:
        if device.client is not backend:
            there = device.client
            raise ValueError(
                "Execution devices belong to a client other than `backend`. Got backend client: "
                f"{(backend.platform, backend.platform_version)} and execution devices client: "
                f"{(there.platform, there.platform_version)}. Give devices of the client that the function was lowered "
                "for, or lower it for theirs")


def _said(artifact, count):
    """What partially_serialize() wrote beside an executable on so many devices. ValueError for anything else."""
    try:
        said = json.loads(artifact.front_end)["aot"]
        positions = said["positions"]
        if said["version"] != _VERSION or len(positions) != count or not isinstance(said["called"], dict) or \
                len(set(positions)) != count or not set(positions) <= set(range(said["execution_devices"])):
            raise ValueError("another version")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("these bytes hold an executable, but partially_serialize() of this version did not write them: "
                         "serialize it again") from error
    return said


def _chosen(said, counts, devices):
    """The devices to run on. ValueError for another number than there were."""
    positions = said["positions"]
    if len(devices) == said["execution_devices"]:
        return [devices[position] for position in positions]
    if len(devices) == len(positions):  # just those of the executable
        return [devices[sorted(positions).index(position)] for position in positions]
    raise ValueError(_options.cannot_remap(*counts, len(devices)))


def _called(stage, calling):
    """What must be equal of a Compiled and of the lowering that it is loaded for, as plain data. Trees, shardings
    and layouts are not in it: the first are the lowering's, and JAX compares the others with the executable's."""
    record = _binding.of(calling).record
    return {"name": _private.program_name(stage), "callbacks": record["callbacks"], "effects": record["effects"],
            "argument": [_text(row) + ", kept" * row[5] + ", donated" * row[6] for row in record["arguments"]],
            "result": [_text(row) for row in record["results"]]}


def _text(row):
    dtype, shape, weak = row[:3]
    return f"{dtype}{shape}" + ", weak" * bool(weak)


def _check_called(there, here):
    """ValueError names the first difference."""
    for what, value in here.items():
        found = there.get(what)
        if found == value:
            continue
        if isinstance(value, list) and isinstance(found, list):
            if len(value) != len(found):
                what, found, value = f"number of {what}s", len(found), len(value)
            else:
                i = next(i for i, pair in enumerate(zip(found, value)) if pair[0] != pair[1])
                what, found, value = f"{what} {i}", found[i], value[i]
        raise ValueError(f"the serialized executable is of another function: its {what} is {found}, and that of this "
                         f"lowering is {value}. Lower the function that was serialized, with the same arguments, or "
                         "compile again")
