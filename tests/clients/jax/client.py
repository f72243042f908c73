"""A client of a PJRT plugin that nobody here wrote: plain JAX. Knows nothing of Precast.

    jax_client.py [--first N] [--only NAME,...]

Runs each program on the devices from position N on and prints one JSON object: for each program a digest of every
result, and for those that are compiled by hand what JAX says of the executable. JAX's own variables say which plugin.
"""

import argparse
import hashlib
import json
import pathlib
import re
import sys

import jax
import jax.numpy as jnp
import numpy as np
from jax import export
from jax.sharding import Mesh, NamedSharding, PartitionSpec

EXAMPLES = pathlib.Path(__file__).resolve().parent / "examples"
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


class Place:
    """The devices that the programs run on."""

    def __init__(self, first):
        self.devices = jax.devices()[first:first + 4]
        assert len(self.devices) == 4, jax.devices()
        self.one = self.devices[0]
        self.mesh = Mesh(np.array(self.devices), ("x",))
        self.square = Mesh(np.array(self.devices).reshape(2, 2), ("a", "b"))

    def put(self, array, *names, mesh=None):
        return jax.device_put(array, NamedSharding(mesh or self.mesh, PartitionSpec(*names)))


def some(*shape, dtype=np.float32, seed=0):
    return np.random.default_rng(seed).uniform(-1, 1, shape).astype(dtype)


# One device


@program
def train_the_ranker(place):
    """Three steps: the state is donated, and every step gets what the last one made."""
    sys.path[:0] = [str(EXAMPLES / "train"), str(EXAMPLES / "ranker")]
    import step

    arrays = [np.load(path) for path in sorted((EXAMPLES / "train" / "inputs").glob("*.npy"))]
    count = len(step.Weights._fields)
    state = step.State(step.Weights(*arrays[:count]), step.Weights(*arrays[count:2 * count]))
    request, clicked = step.Request(*arrays[2 * count:-1]), arrays[-1]
    state = jax.device_put(state, place.one)
    compiled = jax.jit(step.step, donate_argnums=0).lower(state, request, clicked).compile()
    losses = []
    for _ in range(3):
        before = state
        loss, state = compiled(state, request, clicked)
        losses.append(loss)
        assert all(leaf.is_deleted() for leaf in jax.tree.leaves(before)), "the state was not donated"
    return (losses, state), compiled


@program
def donation(place):
    x = jax.device_put(some(64, 64), place.one)
    compiled = jax.jit(lambda x, y: (x + y, x @ y), donate_argnums=0).lower(x, some(64, 64, seed=1)).compile()
    results = compiled(x, some(64, 64, seed=1))
    assert x.is_deleted()
    return results, compiled


@program
def narrow_types(place):
    def f(x, y):
        half = x.astype(jnp.bfloat16) @ y.astype(jnp.bfloat16)
        four = jnp.clip(x * 7, -8, 7).astype(jnp.int4)
        return half, four, (four.astype(jnp.int8) + 1).astype(jnp.int4), x.astype(jnp.float8_e4m3fn).astype(jnp.float32)

    arguments = some(32, 32), some(32, 32, seed=1)
    compiled = jax.jit(f).lower(*arguments).compile()
    half, four, more, eighth = compiled(*arguments)
    return (half, four.astype(jnp.int8), more.astype(jnp.int8), eighth), compiled


@program
def int4_arguments(place):
    x = jnp.asarray(np.arange(-8, 8)).astype(jnp.int4)
    compiled = jax.jit(lambda x: (x, x.astype(jnp.int32) * 3)).lower(x).compile()
    same, times = compiled(x)
    return (same.astype(jnp.int8), times), compiled


@program
def control_flow(place):
    def f(x, n):
        x = jax.lax.fori_loop(0, n, lambda i, x: jnp.cos(x) + i, x)
        x = jax.lax.cond(x.sum() > 0, jnp.sin, jnp.exp, x)
        return jax.lax.scan(lambda c, v: (c + v, c * v), jnp.zeros(()), x)

    return jax.jit(f)(some(16), 5), None


@program
def random_numbers_and_sorts(place):
    key = jax.random.key(7)
    values = jax.random.normal(key, (100,))
    return (values, jnp.sort(values), jnp.argsort(values), jax.random.permutation(key, 20)), None


@program
def complex_numbers(place):
    x = some(32) + 1j * some(32, seed=1)
    return (jnp.fft.fft(x.astype(np.complex64)), jnp.abs(x.astype(np.complex64))), None


@program
def operation_by_operation(place):
    """Each of these is a small program of its own."""
    x = jnp.asarray(some(8, 8))
    return (x + 1, x.T @ x, jnp.linalg.norm(x), x[::2, 1:], jnp.where(x > 0, x, 0), x.at[0].set(3.0), x.sum(axis=0)), None


@program
def exported(place):
    """A program that was exported, written and read back is lowered from its own StableHLO."""
    def f(x):
        return jnp.tanh(x @ x.T).sum(axis=1)

    written = export.export(jax.jit(f), platforms=["cpu"])(jax.ShapeDtypeStruct((24, 24), jnp.float32)).serialize()
    return jax.jit(export.deserialize(written).call)(some(24, 24)), None


@program
def a_dictionary_of_arguments(place):
    """Its own tree, a dead argument, a constant that is captured."""
    table = some(16, 16, seed=3)
    f = jax.jit(lambda tree, *, scale: {"out": tree["x"] @ table * scale})
    return f({"x": some(4, 16), "unused": some(3)}, scale=2.0), None


# Not among those that run when none is named


def a_python_callback(place):
    """Its result is how it was refused."""
    try:
        jax.jit(lambda x: jax.pure_callback(np.sin, x, x))(some(4)).block_until_ready()
    except Exception as error:  # noqa: BLE001
        return str(error).splitlines()[0], None
    return "it ran", None


# Four devices


@program
def sharded(place):
    x, w = place.put(some(16, 32), "a", mesh=place.square), place.put(some(32, 16, seed=1), None, "b", mesh=place.square)
    compiled = jax.jit(lambda x, w: (jax.nn.relu(x @ w), (x @ w).sum())).lower(x, w).compile()
    return compiled(x, w), compiled


@program
def sharded_gradient(place):
    x, w = place.put(some(32, 16), "x"), place.put(some(16, 8, seed=1))

    def loss(w, x):
        return jnp.mean(jnp.tanh(x @ w) ** 2)

    compiled = jax.jit(jax.value_and_grad(loss), donate_argnums=0).lower(w, x).compile()
    return compiled(w, x), compiled


@program
def collectives(place):
    """Each of shard_map's collectives between the four."""
    def f(x):
        n = 4
        total = jax.lax.psum(x, "x")
        around = jax.lax.ppermute(x, "x", [(i, (i + 1) % n) for i in range(n)])
        gathered = jax.lax.all_gather(x, "x")
        exchanged = jax.lax.all_to_all(x.reshape(n, -1), "x", 0, 0)
        scattered = jax.lax.psum_scatter(jnp.tile(x, n), "x", tiled=True)
        return total, around, gathered.sum(0), exchanged.reshape(-1), scattered, x * jax.lax.axis_index("x")

    everywhere = jax.shard_map(f, mesh=place.mesh, in_specs=PartitionSpec("x"),
                               out_specs=(PartitionSpec("x"),) * 6, check_vma=False)
    x = place.put(some(32), "x")
    compiled = jax.jit(everywhere).lower(x).compile()
    return compiled(x), compiled


# What JAX says of an executable


def _without_debug_info(text):
    """HLO text without tables of source positions, metadata and the numbers that make names unique."""
    text = re.sub(r"(?ms)^(FileNames|FunctionNames|FileLocations|StackFrames)\n.*?\n\n", "", text)
    text = re.sub(r', metadata=\{(?:[^{}"]|"(?:[^"\\]|\\.)*")*\}', "", text)
    names = {}
    return re.sub(r"%[\w.\-]+", lambda name: names.setdefault(name[0], f"%{len(names)}"), text)


def _said(question):
    """What an executable answers, or how it refuses."""
    try:
        answer = question()
    except Exception as error:  # noqa: BLE001, whatever it is must be the same in both
        return f"{type(error).__name__}: {error}"
    return answer


def facts(compiled):
    """What JAX's users ask of an executable; two of the same program agree on all of it."""
    loaded = compiled.runtime_executable()
    return {
        "text": _said(lambda: _without_debug_info(compiled.as_text())),
        "cost": _said(lambda: compiled.cost_analysis() and dict(sorted(compiled.cost_analysis().items()))),
        "memory": _said(lambda: str(compiled.memory_analysis())),
        "input shardings": _said(lambda: _without_ids(compiled.input_shardings)),
        "output shardings": _said(lambda: _without_ids(compiled.output_shardings)),
        "input formats": _said(lambda: _without_ids(compiled.input_formats)),
        "output formats": _said(lambda: _without_ids(compiled.output_formats)),
        "output memory kinds": _said(lambda: str(loaded.get_output_memory_kinds())),
        "parameter layouts": _said(lambda: list(map(str, loaded.get_parameter_layouts()))),
        "output layouts": _said(lambda: list(map(str, loaded.get_output_layouts()))),
        "parameter shardings": _said(lambda: _without_ids(loaded.get_parameter_shardings())),
        "output shardings of XLA": _said(lambda: _without_ids(loaded.get_output_shardings())),
        "size of code": _said(loaded.size_of_generated_code_in_bytes),
        "memory of XLA": _said(lambda: str(loaded.get_compiled_memory_stats())),
        "cost of XLA": _said(lambda: dict(sorted(loaded.cost_analysis().items()))),
        "modules": _said(lambda: [_without_debug_info(module.to_string()) for module in loaded.hlo_modules()]),
        "devices": _said(lambda: len(loaded.local_devices())),
        "fingerprint": _said(lambda: str(loaded.fingerprint)),
    }


def _without_ids(tree):
    # protobuf's text begins with a word and blanks that it draws anew in each process.
    return " ".join(re.sub(r"id=\d+|goo\.gle/\w+", "", str(tree)).split())


def digest(leaf):
    array = np.asarray(leaf)
    return f"{array.dtype}{list(array.shape)}:{hashlib.sha256(array.tobytes()).hexdigest()[:16]}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", default=",".join(PROGRAMS))
    arguments = parser.parse_args()
    place = Place(arguments.first)
    jax.config.update("jax_default_device", place.one)
    seen = {"jax": jax.__version__, "devices": len(jax.devices()), "values": {}, "facts": {}}
    for name in arguments.only.split(","):
        results, compiled = (PROGRAMS.get(name) or globals()[name])(place)
        seen["values"][name] = [leaf if isinstance(leaf, str) else digest(leaf) for leaf in jax.tree.leaves(results)]
        if compiled is not None:
            seen["facts"][name] = facts(compiled)
    print(json.dumps(seen))


if __name__ == "__main__":
    main()
