"""save(), and load() in a process that has none of the model's code."""

import json
import os
import pathlib
import subprocess

import pytest

SAVE = """
import collections, sys, jax, jax.numpy as jnp, numpy as np, precast.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding
devices = jax.devices()
Point = collections.namedtuple("Point", "x y")
{body}
compiled = precast.jax.compile_or_load(traced)
precast.jax.save(compiled, {file!r})
"""
LOAD = """
import collections, json, jax, jax.numpy as jnp, numpy as np, precast.jax
import jax._src.interpreters.pxla as pxla
def never(*args, **kwargs): raise AssertionError("something was lowered")
{before}
loaded = precast.jax.load({file!r}, devices={devices})
{body}
"""
MESHED = """
mesh = Mesh(np.array(devices[:4]).reshape(2, 2), ("a", "b"))
x = jax.device_put(jnp.arange(16.0).reshape(4, 4), NamedSharding(mesh, P("a", "b")))
def step(state, scale, *, unused):
    return {"state": Point(state["w"] * scale, [state["w"].sum()]), "n": (state["n"] + 1, None)}
state = {"w": x, "n": jax.device_put(jnp.int32(3), NamedSharding(mesh, P()))}
traced = jax.jit(step, donate_argnums=0).trace(state, jnp.float32(2), unused=jnp.ones(3))
"""


def save(children, file, body, **environment):
    return children.python("-c", SAVE.format(body=body, file=str(file)), **environment)


def load(children, file, body, devices="None", before="", **environment):
    script = LOAD.format(body=body, file=str(file), devices=devices, before=before)
    return children.python("-c", script, **environment)


def test_a_mesh_of_four_is_called_on_four_others_without_the_models_code(children):
    file = children.folder / "step.precast"
    save(children, file, MESHED)
    said = load(children, file, devices="jax.devices()[4:8]", PRECAST_CACHE="/nonexistent", body="""
w = jnp.arange(16.0).reshape(4, 4)
out = loaded({"w": w, "n": jnp.int32(3)}, jnp.float32(2), unused=jnp.ones(3))
point = out["state"]
print(json.dumps([type(point).__name__, point._fields, np.asarray(point.x).tolist(),
                  float(point.y[0]), int(out["n"][0]), out["n"][1],
                  sorted(d.id for d in point.x.devices()), str(point.x.sharding.spec)]))
state = {"w": jax.device_put(w, point.x.sharding), "n": out["n"][0]}
loaded(state, 2.0, unused=np.ones(3, np.float32))
print(state["w"].is_deleted(), loaded.name, len(loaded.devices))
""").splitlines()
    name, fields, values, total, n, nothing, ids, spec = json.loads(said[0])
    assert (name, fields, total, n, nothing) == ("Point", ["x", "y"], 120.0, 4, None)
    assert values == [[float(2 * (4 * i + j)) for j in range(4)] for i in range(4)]
    assert ids == [4, 5, 6, 7]
    assert "'a', 'b'" in spec
    assert said[1] == "True jit_step 4"


def test_the_saved_file_is_written_on_a_hit_too(children):
    body = "traced = jax.jit(lambda x: x * 2).trace(jnp.ones(4))\n"
    for name in ("cold", "warm"):
        file = children.folder / name
        save(children, file, body)
        assert load(children, file, "print(loaded(jnp.arange(4.0)).tolist())").strip() == \
            "[0.0, 2.0, 4.0, 6.0]"


def test_pinned_host_stays_where_it_was(children):
    file = children.folder / "host.precast"
    save(children, file, """
host = SingleDeviceSharding(devices[1], memory_kind="pinned_host")
traced = jax.jit(lambda x: x + 1, out_shardings=host).trace(jax.device_put(jnp.ones(4), devices[1]))
""")
    said = load(children, file, "out = loaded(np.ones(4, np.float32))\n"
                "print(out.sharding.memory_kind, [d.id for d in out.devices()], out.sum())",
                devices="[jax.devices()[6]]")
    assert said.split() == ["pinned_host", "[6]", "8.0"]


@pytest.mark.parametrize("call, words", [
    ("loaded({'w': 1.0})", "args must be a tuple of 2, and is tuple of 1"),
    ("loaded({'w': w}, 2.0, unused=u)", "args[0] must be a dict with the keys ['n', 'w']"),
    ("loaded({'w': w[:2], 'n': n}, 2.0, unused=u)",
     "args[0]['w'] must be float32[4, 4], and is float32[2, 4]"),
    ("loaded({'w': w, 'n': n}, 2.0, unused=u[:1])", "kwargs['unused'] must be float32[3]"),
    ("loaded({'w': w, 'n': 1.5}, 2.0, unused=u)", "args[0]['n'] must be int32[], and is float32[]"),
    ("jax.vmap(lambda v: loaded({'w': v, 'n': n}, 2.0, unused=u))(w[None])", "is a tracer"),
])
def test_another_argument_is_named(shared, call, words):
    children, file = shared
    said = load(children, file, "w, n, u = jnp.ones((4, 4)), jnp.int32(1), jnp.ones(3)\n"
                f"try:\n    {call}\nexcept TypeError as error:\n    print(error)\n")
    assert words in said


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    from conftest import Children
    children = Children(tmp_path_factory.mktemp("saved"))
    file = children.folder / "step.precast"
    save(children, file, MESHED)
    return children, file


@pytest.mark.parametrize("body, words", [
    ("traced = jax.jit(lambda x: (jax.debug.callback(print, x, 'text'), x)[1]).trace(jnp.ones(4))",
     "arguments that are no arrays"),
    ("traced = jax.jit(lambda tree: tree['a']).trace(collections.defaultdict(object, a=jnp.ones(4)))",
     "is a defaultdict of <class 'object'>"),
    ("""
class Own: pass
jax.tree_util.register_pytree_node(Own, lambda o: ((o.v,), None),
                                   lambda _, v: (o := Own(), setattr(o, 'v', v[0]))[0])
own = Own(); own.v = jnp.ones(4)
traced = jax.jit(lambda tree: tree['deep'].v).trace({'deep': own})""", "['deep'] is a __main__.Own"),
])
def test_what_cannot_be_kept_is_named(children, body, words):
    done = children.python("-c", SAVE.format(body=body, file=str(children.folder / "x")), ok=False)
    assert done.returncode == 1
    assert "ValueError" in done.stderr and words in done.stderr, done.stderr
    assert not (children.folder / "x").exists()


def test_a_file_that_is_wrong_is_refused(shared, tmp_path):
    children, file = shared
    damaged = tmp_path / "damaged"
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    damaged.write_bytes(data)
    [entry, *_] = children.cache.glob("v1/*/*.precast")
    said = load(children, file, f"""
for path, devices in (({str(damaged)!r}, None), ({str(entry)!r}, None), ({str(file)!r}, jax.devices()[:3])):
    try:
        precast.jax.load(path, devices=devices)
    except Exception as error:
        print(type(error).__name__, str(error).replace(chr(10), " "))
""").splitlines()
    assert said[0].startswith("Error") and "damaged" in said[0]
    assert said[1].startswith("ValueError") and "save() writes that" in said[1]
    assert said[2].startswith("ValueError") and "runs on 4 devices, and 3" in said[2]


def test_another_runtime_refuses_it(shared):
    """Another build of jaxlib, and the command with a plugin."""
    children, file = shared
    done = children.python("-c", LOAD.format(file=str(file), devices="None", body="", before="""
from precast.jax import _private
import ctypes, numpy
real = _private.backend_facts
def other(backend):
    facts = real(backend)
    facts["library"] = [line.split()[-1] for line in open("/proc/self/maps")
                        if "_multiarray_umath" in line][0]
    return facts
_private.backend_facts = other
"""), ok=False)
    assert done.returncode == 1
    assert "incompatible" in done.stderr and "sha256" in done.stderr
    command = subprocess.run([os.environ["PRECAST_BIN"], "run", str(file)], capture_output=True,
                             text=True, check=False, cwd=pathlib.Path(__file__).parents[2],
                             env=children.environment())
    assert command.returncode != 0
    assert "made for another plugin" in command.stderr, command.stderr
