"""partially_serialize in one process, load_compiled_from_serialized in another, on other devices."""

import json
import os

import pytest

# Of programs.py; all of them in make test-long.
NAMES = [] if os.environ.get("PRECAST_LONG") else [
    "lapack", "axes_ab", "donation", "keywords", "pinned_host", "layouts", "two_callbacks", "ordered_callback",
    "custom_partitioning"]

SAVE = """
import json, os, pathlib, sys, jax, precast.jax, programs
from precast.aot import partially_serialize
folder = pathlib.Path(sys.argv[1])
devices = jax.devices()[:4]
def values(name, call, devices):
    stage, args, kwargs = programs.PROGRAMS[name](devices)
    programs.printed.clear()
    result = jax.block_until_ready(call(*args, **kwargs))
    jax.effects_barrier()
    return [[str(leaf.sharding.memory_kind), list(leaf.format.layout.major_to_minor), leaf.astype("float32").tolist()]
            for leaf in jax.tree.leaves(result)] + [list(programs.printed)], [leaf.is_deleted() for leaf in
                                                                              jax.tree.leaves(args)]
said = {}
for number, name in enumerate(json.loads(sys.argv[2]) or programs.PROGRAMS):
    lowered = programs.PROGRAMS[name](devices)[0].lower()
    # Both ways to come by an executable.
    compiled = precast.jax.compile_or_load(lowered) if number % 2 else lowered.compile()
    (folder / name).write_bytes(partially_serialize(compiled, devices))
    said[name] = values(name, compiled, devices)
print(json.dumps(said))
"""

LOAD = """
import json, os, pathlib, sys, jax, precast.jax, programs
from precast.aot import load_compiled_from_serialized
from precast.jax import _private
folder = pathlib.Path(sys.argv[1])
""" + SAVE[SAVE.index("def values"):SAVE.index("said = {}")] + """
_private.sample(jax.devices()[0].client)
from precast.jax import _request
_request.runtime_of(jax.devices()[0].client)
def never(*args):
    raise AssertionError("a compile")
said = []
for ids, lowered_there in json.loads(sys.argv[2]):
    here = [jax.devices()[i] for i in ids]
    said.append({})
    for name in json.loads(sys.argv[3]) or programs.PROGRAMS:
        lowered = programs.PROGRAMS[name](here if lowered_there else jax.devices()[:4])[0].lower()
        real, _private.compile_and_load = _private.compile_and_load, never
        own, _private.jax_compile_or_get_cached = _private.jax_compile_or_get_cached, never
        compiled = load_compiled_from_serialized(lowered, (folder / name).read_bytes(), here)
        _private.compile_and_load, _private.jax_compile_or_get_cached = real, own
        assert isinstance(compiled, jax.stages.Compiled)
        assert precast.jax.report(compiled).outcome == "hit"
        assert set(compiled._executable._unloaded_executable.device_list) <= set(here)
        said[-1][name] = values(name, compiled, here)
print(json.dumps(said))
"""


@pytest.fixture(scope="module")
def saved(tmp_path_factory):
    from conftest import Children
    children = Children(tmp_path_factory.mktemp("aot"))
    return children, json.loads(children.python("-c", SAVE, str(children.folder), json.dumps(NAMES),
                                                seed=1).splitlines()[-1])


# Device lists, each with whether the function is lowered for them, or for 0-3 and then moved.
@pytest.mark.parametrize("seed, where", [(2, [([4, 5, 6, 7], False)]),
                                         (3, [([3, 2, 1, 0], False), ([0, 2, 4, 6], True), ([0, 1, 2, 3], True)])])
def test_another_process_loads_it(saved, seed, where):
    children, first = saved
    # The cache plays no part in it.
    said = children.python("-c", LOAD, str(children.folder), json.dumps(where), json.dumps(NAMES), seed=seed,
                           PRECAST_DISABLE="1", PRECAST_CACHE=str(children.folder / "none"))
    for (ids, _), one in zip(where, json.loads(said.splitlines()[-1]), strict=True):
        assert one == first, ids


def test_another_partition_rule_is_another_function(saved):
    children, _ = saved
    said = children.python("-c", """
import pathlib, sys, jax, programs
from precast.aot import load_compiled_from_serialized
programs.rule_factor = 3.0
lowered = programs.PROGRAMS["custom_partitioning"](jax.devices())[0].lower()
try:
    load_compiled_from_serialized(lowered, (pathlib.Path(sys.argv[1]) / "custom_partitioning").read_bytes(),
                                  jax.devices()[:4])
except ValueError as error:
    print(error)
""", str(children.folder))
    assert "was compiled from another program than this lowering" in said


def test_they_are_artifacts(saved):
    children, _ = saved
    import os
    import subprocess
    done = subprocess.run([os.environ["PRECAST_BIN"], "verify", str(children.folder / "axes_ab")], check=False,
                          capture_output=True, text=True, env=children.environment())
    assert done.returncode == 0, done.stderr


def test_a_list_in_another_order_counts_positions_in_it(tmp_path):
    import jax
    import jax.numpy as jnp
    from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
    from precast import aot
    devices = jax.devices()
    sharding = NamedSharding(Mesh(devices[:4], ("x",)), P("x"))
    lowered = jax.jit(lambda x: x * 2).lower(jax.ShapeDtypeStruct((4,), jnp.float32, sharding=sharding))
    serialized = aot.partially_serialize(lowered.compile(), devices[::-1])  # positions 7, 6, 5, 4
    loaded = aot.load_compiled_from_serialized(lowered, serialized, devices)
    assert [device.id for device in loaded.input_shardings[0][0].mesh.devices.flat] == [7, 6, 5, 4]
    loaded = aot.load_compiled_from_serialized(lowered, serialized, devices[2:6])  # just as many as it has
    assert [device.id for device in loaded.input_shardings[0][0].mesh.devices.flat] == [5, 4, 3, 2]


def test_an_abstract_mesh(tmp_path):
    import jax
    import jax.numpy as jnp
    from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P
    from precast import aot
    import precast.jax
    devices = jax.devices()
    sharding = NamedSharding(AbstractMesh((4,), ("x",)), P("x"))
    lowered = jax.jit(lambda x: x * 2).trace(jax.ShapeDtypeStruct((4,), jnp.float32, sharding=sharding)).lower(
        lowering_platforms=("cpu",))
    serialized = aot.partially_serialize(lowered.compile(device_assignment=tuple(devices[:4])), devices[:4])
    loaded = aot.load_compiled_from_serialized(lowered, serialized, devices[:3:-1])
    x = jax.device_put(jnp.arange(4.0), loaded.input_shardings[0][0])
    assert (loaded(x) == x * 2).all()
    assert [device.id for device in loaded(x).sharding.mesh.devices.flat] == [7, 6, 5, 4]


def test_where_the_program_is_gone_its_bytes_still_say_which_one_it_was(cache):
    import gc
    import jax
    import jax.numpy as jnp
    from precast import _precast, aot
    from precast.jax import _request

    def times(factor):
        def step(x):
            return x * factor
        return jax.jit(step).lower(jnp.ones(4))
    compiled = times(2).compile()
    jax.clear_caches()
    gc.collect()
    origin = _request.origin_of(compiled.runtime_executable())
    assert origin.module() is None
    serialized = aot.partially_serialize(compiled, jax.devices())
    artifact = _precast.Artifact.decode(serialized)
    assert dict(artifact.fields["program"])["format"] == b"mlir_bytecode"
    there = jax.device_put(jnp.ones(4), jax.devices()[5])
    loaded = aot.load_compiled_from_serialized(times(2), serialized, jax.devices()[5:6])
    assert loaded(there)[0] == 2 and loaded(there).devices() == {jax.devices()[5]}
    with pytest.raises(ValueError, match="compiled from another program than this lowering of jit_step"):
        aot.load_compiled_from_serialized(times(5), serialized, jax.devices()[:1])
    # One that was compiled before anybody asked, and is not there any more.
    _request.came_from(compiled.runtime_executable(), _request.Origin("compiled", module=origin.module))
    with pytest.raises(ValueError, match="does not support serialization.*is gone.*import precast.aot before"):
        aot.partially_serialize(compiled, jax.devices())


def test_bytes_of_no_program_are_refused(cache, monkeypatch):
    import jax
    import jax.numpy as jnp
    from precast import _precast, aot
    from precast.aot import _serialized
    from precast.jax import _rules
    lowered = jax.jit(lambda x: x * 2).lower(jnp.ones(4))
    compiled = lowered.compile()
    artifact = _precast.Artifact.decode(aot.partially_serialize(compiled, jax.devices()))
    monkeypatch.setattr(_serialized._rules, "settle", lambda module, program: _rules.Settled(
        compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto()))
    of_xla = aot.partially_serialize(jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile(), jax.devices())
    monkeypatch.undo()
    with pytest.raises(ValueError, match="not which program it was.*serialize the executable again"):
        aot.load_compiled_from_serialized(lowered, of_xla, jax.devices()[:1])
    # Nor is a lowering taken of which nothing can be compared.
    monkeypatch.setattr(_serialized._Load, "key_of_compile",
                        lambda *args: {"fields": {}, "reason": "flags_unknown", "detail": "nobody looked"})
    with pytest.raises(ValueError, match=r"has no key \(flags_unknown: nobody looked\): compile it"):
        aot.load_compiled_from_serialized(lowered, artifact.with_front_end(artifact.front_end), jax.devices()[:1])
    monkeypatch.undo()
    # Bytes that say something else than partially_serialize() does.
    for front_end in (b"", b"{}", b"[]", b'{"aot": {"version": 1, "positions": [9], "execution_devices": 1, '
                      b'"called": {}}}', b'{"aot": {"version": 1, "positions": [0, 0], "execution_devices": 8, '
                      b'"called": {}}}'):
        with pytest.raises(ValueError, match="did not write them: serialize it again"):
            aot.load_compiled_from_serialized(lowered, artifact.with_front_end(front_end), jax.devices()[:1])


def test_what_came_past_precast_is_not_serialized(cache):
    import jax
    import jax.numpy as jnp
    from jax.experimental import serialize_executable
    import precast.jax
    from precast import aot
    from precast.jax import _request

    def compile_it():
        return jax.jit(lambda x: x * 2).lower(jnp.ones(4)).compile()
    compiled = compile_it()
    past = serialize_executable.deserialize_and_load(*serialize_executable.serialize(compiled))
    from_cache = precast.jax.compile_or_load(jax.jit(lambda x: x * 3).lower(jnp.ones(4)))
    said = "does not support serialization.*did not see it compiled.*import precast.aot first"
    with pytest.raises(ValueError, match=said):
        aot.partially_serialize(past, jax.devices())
    # As if it had got the id of one that is gone.
    for one in (compiled, from_cache):
        _request._origins[id(past.runtime_executable())] = _request._origins[id(one.runtime_executable())]
        with pytest.raises(ValueError, match=said):
            aot.partially_serialize(past, jax.devices())
        assert aot.partially_serialize(one, jax.devices())


def test_what_jax_compiles_by_itself_is_serialized_without_its_lowering(cache):
    import jax
    import jax.numpy as jnp
    from precast import aot

    def lower():
        return jax.jit(lambda x: jnp.sin(x) * 2).lower(jnp.ones(4))
    serialized = aot.partially_serialize(lower().compile(), jax.devices()[:1])
    loaded = aot.load_compiled_from_serialized(lower(), serialized, jax.devices()[:1])
    assert (loaded(jnp.ones(4)) == jax.jit(lambda x: jnp.sin(x) * 2)(jnp.ones(4))).all()
