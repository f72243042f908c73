"""compile_or_load(devices=): a lowering for some devices, or for an abstract mesh, on those that are given."""

import json
import os

# Programs of programs.py, lowered on 0-3 and asked for on others, next to one that was lowered there.
MOVED = """
import json, sys, numpy as np, jax, precast.jax, programs
all_devices = jax.devices()
said = {}
for ids, names in json.loads(sys.argv[1]):
    there = [all_devices[i] for i in ids]
    for name in names or programs.PROGRAMS:
        program = programs.PROGRAMS[name]
        lowered = program(all_devices[:4])[0].lower()
        count = len(jax.tree.leaves(program(all_devices[:4])[1])[0].devices())
        compiled = precast.jax.compile_or_load(lowered, devices=there[:count])
        stage, args, kwargs = program(there)
        expected = stage.lower().compile()
        assert isinstance(compiled, jax.stages.Compiled)
        assert compiled.input_shardings == expected.input_shardings, name
        assert compiled.output_shardings == expected.output_shardings, name
        results, printed = [], []
        for call in (compiled, expected):
            stage, args, kwargs = program(there)  # one of them donates its arguments
            programs.printed.clear()
            results.append(jax.block_until_ready(call(*args, **kwargs)))
            jax.effects_barrier()
            printed.append(list(programs.printed))
        assert printed[0] == printed[1], name
        for got, wanted in zip(*map(jax.tree.leaves, results), strict=True):
            assert got.sharding == wanted.sharding and got.format == wanted.format, name
            assert np.array_equal(np.asarray(got.astype("float32")), np.asarray(wanted.astype("float32"))), name
        said.setdefault(name, []).append(precast.jax.report(compiled).outcome)
print(json.dumps(said))
"""


def test_a_lowering_runs_on_other_devices_by_position(children):
    some = ["axes_ab", "keywords", "pinned_host", "two_callbacks"]
    first = None if os.environ.get("PRECAST_LONG") else [*some, "shard_map", "donation", "ordered_callback"]
    said = json.loads(children.python("-c", MOVED, json.dumps(
        [([3, 2, 1, 0], first), ([4, 5, 6, 7], some), ([0, 2, 4, 6], some)])).splitlines()[-1])
    for name, outcomes in said.items():
        assert outcomes == (["miss", "hit", "hit"] if name in some else ["miss"]), name


ABSTRACT = """
import json, sys, numpy as np, jax, jax.numpy as jnp, precast.jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec as P
ids = json.loads(sys.argv[1])
sharding = NamedSharding(AbstractMesh((2, 2), ("a", "b")), P("a", "b"))
lowered = jax.jit(lambda x: jnp.tanh(x) * 2, out_shardings=sharding).trace(
    jax.ShapeDtypeStruct((4, 4), jnp.float32, sharding=sharding))
if sys.argv[2] == "lowered":
    lowered = lowered.lower(lowering_platforms=("cpu",))
devices = [jax.devices()[i] for i in ids]
compiled = precast.jax.compile_or_load(lowered, devices=devices)
here = NamedSharding(Mesh(np.array(devices).reshape(2, 2), ("a", "b")), P("a", "b"))
x = jnp.arange(16.0).reshape(4, 4)
result = compiled(jax.device_put(x, here))
assert result.sharding.is_equivalent_to(here, 2) and np.allclose(result, np.tanh(x) * 2)
print(precast.jax.report(compiled).outcome)
"""


def test_a_lowering_for_an_abstract_mesh_runs_where_it_is_told_to(children):
    for seed, (ids, stage, outcome) in enumerate([([0, 1, 2, 3], "lowered", "miss"), ([4, 5, 6, 7], "traced", "hit"),
                                                  ([6, 4, 2, 0], "lowered", "hit")]):
        assert children.python("-c", ABSTRACT, json.dumps(ids), stage, seed=seed).split()[-1] == outcome


def test_devices_that_cannot_be_are_refused_in_words(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, numpy as np, precast.jax
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P
sharding = NamedSharding(AbstractMesh((4,), ("a",)), P("a"))
abstract = jax.jit(lambda x: x * 2).trace(jax.ShapeDtypeStruct((4,), jnp.float32, sharding=sharding)).lower(
    lowering_platforms=("cpu",))
concrete = jax.jit(lambda x: x * 2).lower(jnp.ones(4))
from jax._src.lib import xla_client
other = xla_client.make_cpu_client().devices()
assert precast.jax.compile_or_load(abstract, devices=np.array(jax.devices()[:4]).reshape(2, 2))
for lowered, devices in ((concrete, jax.devices()[:2]), (abstract, jax.devices()[:3]), (concrete, other[:1]),
                         (abstract, None)):
    try:
        precast.jax.compile_or_load(lowered, devices=devices)
    except Exception as error:
        print(type(error).__name__, error)
""").splitlines()
    assert said[0] == "ValueError this lowering runs on 1 devices, and 2 were given; give one for each position"
    assert said[1].startswith("ValueError this lowering runs on 4 devices, and 3")
    assert said[2].startswith("ValueError") and "belongs to another client than this lowering" in said[2]
    assert said[3].startswith("RuntimeError") and "device_assignment" in said[3]  # JAX's own
