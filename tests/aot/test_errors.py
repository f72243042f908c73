"""The errors that callers look for: type, text, and what to do next."""

import types

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from precast import aot
from precast.aot import _options
from precast.jax import _private


class OtherLowering(jax.stages.Lowered):
    """A lowering for something else than XLA, which no JAX of today has."""

    def __init__(self):  # pylint: disable=super-init-not-called
        self._lowering = types.SimpleNamespace()


def double(devices):
    """A lowering on these devices."""
    sharding = NamedSharding(Mesh(devices, ("x",)), P("x"))
    return jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharding))


@pytest.fixture(scope="module")
def lowered():
    return double(jax.devices()[:4])


@pytest.fixture(scope="module")
def serialized(lowered):
    return aot.partially_serialize(lowered.compile(), jax.devices()[:4])


@pytest.mark.parametrize("devices", [[0, 1], [], "cpu", None, 7, [None]])
def test_what_is_no_device(devices, lowered, serialized):
    for call in (lambda: aot.partially_serialize(lowered.compile(), devices),
                 lambda: aot.load_compiled_from_serialized(lowered, serialized, devices),
                 lambda: _options.devices_of(devices)):
        with pytest.raises(ValueError) as raised:
            call()
        assert str(raised.value).startswith(f"execution_devices must be a list of xc.Device. Got: {devices}")
        assert "Give jax.devices()" in str(raised.value)


def test_a_list_of_something_else_for_all_programs(tmp_path):
    with pytest.raises(ValueError, match=r"execution_devices must be a list of xc.Device. Got: \[1\]"):
        aot.compile_or_load_all_traced({}, tmp_path, devices=[1])


def test_an_executable_that_cannot_be_serialized(lowered, monkeypatch):
    stub = types.SimpleNamespace(_executable=types.SimpleNamespace())
    for compiled in (stub, types.SimpleNamespace()):
        with pytest.raises(ValueError, match="^Compilation does not support serialization.*What to do: give what"):
            aot.partially_serialize(compiled, jax.devices())

    def refuse(_):
        raise RuntimeError("UNIMPLEMENTED: this runtime keeps its executables")
    monkeypatch.setattr(_private, "serialize", refuse)
    with pytest.raises(ValueError) as raised:
        aot.partially_serialize(lowered.compile({}), jax.devices()[:4])
    assert str(raised.value).startswith("Compilation does not support serialization. The reason: UNIMPLEMENTED: this")
    assert "What to do: call it as it is" in str(raised.value)


def test_what_may_have_been_loaded_is_not_serialized(lowered, serialized, tmp_path, monkeypatch):
    devices = jax.devices()[:4]
    loaded = aot.load_compiled_from_serialized(lowered, serialized, devices)
    with pytest.raises(ValueError, match="Compilation does not support serialization.*keep the bytes"):
        aot.partially_serialize(loaded, devices)
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        with pytest.raises(ValueError, match="Compilation does not support serialization.*JAX's own cache is on"):
            aot.partially_serialize(double(devices).compile(), devices)
    finally:
        jax.config.update("jax_compilation_cache_dir", None)


def test_an_ordered_callback_on_several_devices_where_that_crashes(monkeypatch):
    sharding = NamedSharding(Mesh(jax.devices()[:2], ("x",)), P("x"))

    def noted(x):
        jax.experimental.io_callback(lambda v: None, None, x.sum(), ordered=True)
        return x
    compiled = jax.jit(noted).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharding)).compile()
    if jax.__version__.startswith("0.10."):
        with pytest.raises(ValueError, match="Compilation does not support serialization.*crashes when it"):
            aot.partially_serialize(compiled, jax.devices())
    else:
        assert aot.partially_serialize(compiled, jax.devices())


def test_a_lowering_for_something_else_than_xla(serialized):
    for call in (lambda: aot.get_cache_key(OtherLowering()),
                 lambda: aot.load_compiled_from_serialized(OtherLowering(), serialized, jax.devices())):
        with pytest.raises(NotImplementedError) as raised:
            call()
        assert str(raised.value).startswith("AOT is not implemented for non-XLA lowerings.")
        assert "jax.jit(function).lower()" in str(raised.value)


@pytest.mark.parametrize("count", [1, 3, 8])
def test_another_number_of_devices(lowered, serialized, count):
    expected = ("Cannot remap XLA compile options device assignment: assignment expects 4 devices (replica_count=1 x "
                f"computation_count=4), but got {count} execution devices. Give one device for each position")
    with pytest.raises(ValueError) as raised:
        aot.load_compiled_from_serialized(lowered, serialized, jax.devices()[:count])
    assert str(raised.value).startswith(expected)
    with pytest.raises(ValueError) as raised:
        aot.remap_compile_options_device_assignment(_private.options_for(jax.devices()[:4]), jax.devices()[:count])
    assert str(raised.value).startswith(expected)


def test_devices_of_another_client(lowered, serialized):
    from jax._src.lib import xla_client
    other = xla_client.make_cpu_client()
    ours = jax.devices()[0].client
    device = other.devices()[0]
    with pytest.raises(ValueError) as raised:
        aot.load_compiled_from_serialized(lowered, serialized, [*jax.devices()[:3], device])
    assert str(raised.value).startswith(
        "Execution devices belong to a client other than `backend`. Got backend client: "
        f"{(ours.platform, ours.platform_version)} and execution devices client: "
        f"{(other.platform, other.platform_version)}. Give devices of the client")


@pytest.mark.parametrize("folder", [None, "", False])
def test_no_cache_folder(folder):
    with pytest.raises(ValueError, match="^AOT cache directory must be provided. Give a folder"):
        aot.compile_or_load_all_traced({}, folder)


def test_a_file_of_annotations_that_is_not_there(tmp_path):
    traced = jax.jit(lambda x: x).trace(1.0)
    wanted = aot.TracedWithOptions(traced, {"xla_gpu_compiler_annotations_file": str(tmp_path / "absent")})
    with pytest.raises(FileNotFoundError, match=f"annotation file {tmp_path}/absent not found. Write it before"):
        aot.compile_or_load_all_traced({"p": wanted}, tmp_path)


def test_lowering_a_compiled_function(lowered):
    with pytest.raises(ValueError, match="^Cannot lower a compiled jit function. Lower it before"):
        aot.JittedOrCompiled(lowered.compile()).lower(jnp.ones(8))


def test_tracing_or_naming_something_else(lowered):
    compiled = lowered.compile()
    traced = jax.jit(lambda x: x).trace(1.0)
    for thing in (compiled, traced):
        with pytest.raises(TypeError) as raised:
            aot.JittedOrCompiled(thing).trace(1.0)
        assert str(raised.value).startswith(f"Unsupported type: {type(thing)}. Only what jax.jit gave")
        with pytest.raises(TypeError) as raised:
            aot.JittedOrCompiled(thing).name()
        assert str(raised.value).startswith(f"Unsupported type: {type(thing)}. It has no name: give one")


def test_a_device_that_the_list_does_not_hold(lowered, tmp_path):
    devices = jax.devices()
    with pytest.raises(ValueError) as raised:
        aot.partially_serialize(lowered.compile(), devices[:3])
    assert str(raised.value).startswith(f"Unknown device: {devices[3]} is one of the executable's")
    with pytest.raises(ValueError) as raised:
        aot.compile_or_load_all_traced({"p": aot.TracedWithOptions(lowered)}, tmp_path, devices=devices[1:4])
    assert str(raised.value).startswith(f"Unknown device: {devices[0]} is one of those that the program was traced")
    assert "Give a list that holds it" in str(raised.value)


def test_bytes_that_are_none_of_ours(lowered, serialized):
    import precast
    devices = jax.devices()[:4]
    damaged = bytearray(serialized)
    damaged[len(damaged) // 2] ^= 1
    with pytest.raises(precast.Error, match="damaged"):
        aot.load_compiled_from_serialized(lowered, bytes(damaged), devices)
    with pytest.raises(precast.Error):
        aot.load_compiled_from_serialized(lowered, b"\x80\x04pickle", devices)
    with pytest.raises(TypeError, match="must be bytes, and is a str: give what"):
        aot.load_compiled_from_serialized(lowered, "text", devices)


def test_another_function_is_refused(cache, lowered, serialized):
    import precast.jax
    devices = jax.devices()[:4]
    sharding = NamedSharding(Mesh(devices, ("x",)), P("x"))

    def named(x):
        return x * 2
    for function, shape, text in (
            (lambda x: x * 2, (4, 4), r"its argument 0 is float32\[8\], kept, and that of this lowering is float32\[4, 4"),
            (lambda x: (x * 2, x), (8,), "its number of results is 1, and that of this lowering is 2"),
            (named, (8,), r"its name is jit\(<lambda>\), and that of this lowering is jit\(named\)")):
        other = jax.jit(function).lower(jax.ShapeDtypeStruct(shape, jnp.float32, sharding=sharding))
        with pytest.raises(ValueError, match=f"of another function: {text}"):
            aot.load_compiled_from_serialized(other, serialized, devices)
    # One that is called alike.
    alike = jax.jit(lambda x: x * 3).lower(jax.ShapeDtypeStruct((8,), jnp.float32, sharding=sharding))
    from_cache = aot.partially_serialize(precast.jax.compile_or_load(double(devices)), devices)
    for wrong in (serialized, from_cache):
        with pytest.raises(ValueError, match="compiled from another program than this lowering"):
            aot.load_compiled_from_serialized(alike, wrong, devices)


def test_another_number_of_callbacks_never_reaches_the_runtime(monkeypatch):
    def noted(x):
        jax.debug.callback(lambda v: None, x)
        return x
    lowered = jax.jit(noted).lower(1.0)
    serialized = aot.partially_serialize(lowered.compile(), jax.devices()[:1])
    monkeypatch.setattr(_private, "load", lambda *args: pytest.fail("the bytes reached the runtime"))
    plain = jax.jit(lambda x: x).lower(1.0)
    monkeypatch.setattr(_private, "program_name", lambda stage: "same")
    for stage, other in ((lowered, plain), (plain, lowered)):
        compiled = stage.compile()
        with pytest.raises(ValueError, match="of another function: its callbacks is [01], and"):
            aot.load_compiled_from_serialized(other, aot.partially_serialize(compiled, jax.devices()[:1]),
                                              jax.devices()[:1])
    assert serialized
