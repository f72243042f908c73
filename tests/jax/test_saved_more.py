"""save() and load(): functions of the host, nodes, layouts, keys, constants, plugins."""

import json
import os
import re
import subprocess

import numpy as np
import pytest
from test_plugin import plugin  # noqa: F401  # a fixture
from test_saved import LOAD, SAVE, load, save

CALLS = """
from jax.experimental import io_callback
def double(v, *, more): return np.asarray(v) * 2 + np.asarray(more["z"])
def note(v): seen.append(float(v))
def noted(v): return np.asarray(v) + 1, np.int32(7)
seen = []
def step(x):
    y = jax.pure_callback(double, x, x, more={"z": x[:1]})
    io_callback(note, None, y[0], ordered=True)
    io_callback(note, None, y[1], ordered=True)
    jax.debug.callback(note, y.sum())
    a, b = io_callback(noted, (x, jax.ShapeDtypeStruct((), jnp.int32)), y)
    return {"y": y, "a": a + b}
traced = jax.jit(step).trace(jnp.arange(4.0))
"""


@pytest.fixture(name="calls", scope="module")
def fixture_calls(tmp_path_factory):
    from conftest import Children
    children = Children(tmp_path_factory.mktemp("calls"))
    file = children.folder / "calls"
    save(children, file, CALLS)
    return children, file


def test_functions_of_the_host_are_given_by_name_or_in_order(calls):
    children, file = calls
    said = children.python("-c", f"""
import json, jax, jax.numpy as jnp, numpy as np, precast.jax
first, second, third = [], [], []
def triple(v, *, more): return np.asarray(v) * 3 + np.asarray(more["z"])
def other(v): return np.asarray(v) - 1, np.int32(1)
names = {{"double": triple, "note": lambda v: first.append(float(v)), "note#2": lambda v: second.append(float(v)),
         "note#3": lambda v: third.append(float(v)), "noted": other}}
loaded = precast.jax.load({str(file)!r}, callbacks=names, devices=[jax.devices()[3]])
for again in loaded, precast.jax.load({str(file)!r}, callbacks=[names[name] for name in loaded.callbacks]):
    out = again(jnp.arange(4.0) + 1)
    jax.effects_barrier()
    print(json.dumps([out["y"].tolist(), out["a"].tolist(), first, second, third, [d.id for d in out["y"].devices()]]))
    first.clear(), second.clear(), third.clear()
for wrong in (None, {{}}, {{**names, "more": print}}, [print] * 6, {{**names, "noted": 3}}):
    try:
        precast.jax.load({str(file)!r}, callbacks=wrong)
    except (ValueError, TypeError) as error:
        print(error)
""").splitlines()
    for line, device in zip(said[:2], (3, 0), strict=True):
        assert json.loads(line) == [[4, 7, 10, 13], [4, 7, 10, 13], [4], [7], [34], [device]]
    assert "calls 5 functions of the host (double, note, note#2, note#3, noted)" in said[2]
    assert said[2].endswith("missing: double, note, note#2, note#3, noted") and said[3].endswith("note#3, noted")
    assert said[4].endswith("not called: more") and said[5].endswith("not called: number 5")
    assert said[6] == "the callback noted must be a function, and is int"


NODES = """
import saved_model
turned = jax.experimental.layout.Format(jax.experimental.layout.Layout(major_to_minor=(1, 0)),
                                        SingleDeviceSharding(devices[0]))
def step(layer, plain, other, key):
    table = np.arange(6.0, dtype=np.float32)
    return {"layer": saved_model.Layer(layer.weights * 2 + plain["b"], layer.name), "key": jax.random.split(key),
            "other": collections.OrderedDict([("z", other["k"].T), ("a", plain["a"] + table.sum())])}
x = jax.device_put(jnp.arange(6.0).reshape(2, 3), turned)
plain = collections.OrderedDict([("b", jnp.ones(3)), ("a", jnp.float32(1))])
traced = jax.jit(step).trace(saved_model.Layer(jnp.arange(3.0), "first"), plain, collections.defaultdict(list, k=x),
                      jax.random.key(5))
"""


@pytest.mark.parametrize("constants", ["0", "1"])
def test_nodes_keys_layouts_and_constants_come_back(children, constants):
    file = children.folder / "nodes"
    save(children, file, NODES, JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS=constants)
    said = load(children, file, before="import collections, saved_model", body="""
x = jnp.arange(6.0).reshape(2, 3)
plain = collections.OrderedDict([("b", jnp.ones(3)), ("a", jnp.float32(1))])
out = loaded(saved_model.Layer(jnp.arange(3.0), "first"), plain, collections.defaultdict(list, k=x), jax.random.key(5))
print(json.dumps([type(out["layer"]).__name__, out["layer"].name, out["layer"].weights.tolist(),
                  type(out["other"]).__name__, list(out["other"]), out["other"]["z"].tolist(), float(out["other"]["a"]),
                  bool((jax.random.key_data(out["key"]) == jax.random.key_data(jax.random.split(jax.random.key(5)))).all())]))
print(list(loaded._compiled.input_formats[0][-2]["k"].layout.major_to_minor))
for layer in (saved_model.Layer(jnp.arange(3.0), "second"), {"weights": 1}, saved_model.Layer(jnp.arange(2.0), "first")):
    try:
        loaded(layer, plain, {"k": x}, jax.random.key(5))
    except TypeError as error:
        print(error)
""").splitlines()
    assert json.loads(said[0]) == ["Layer", "first", [1, 3, 5], "OrderedDict", ["z", "a"], [[0, 3], [1, 4], [2, 5]],
                                   16, True]
    assert said[1] == "[1, 0]"
    assert said[2].startswith("args[0] is a saved_model.Layer with other static data")
    assert "must be a saved_model.Layer, and is a builtins.dict" in said[3]
    assert "must be float32[3], and is float32[2]" in said[4]
    # A process that cannot import it says so, before anything is loaded.
    done = children.python("-c", LOAD.format(file=str(file), devices="None", body="", before="""
import sys
sys.modules["saved_model"] = None
"""), ok=False)
    assert "saved_model.Layer, which cannot be made here" in done.stderr


EXPLICIT = """
from jax.sharding import AxisType
mesh = jax.make_mesh((2, 2), ("x", "y"), axis_types=(AxisType.Explicit, AxisType.{other}), devices=devices[:4])
with jax.set_mesh(mesh):
    a = jax.device_put(jnp.arange(4.0), NamedSharding(mesh, P("x")))
    traced = jax.jit({function}).trace(a)
"""


def test_the_types_of_a_meshs_axes_come_back(children):
    file = children.folder / "explicit"
    save(children, file, EXPLICIT.format(other="Auto", function="lambda a: a * 2"))
    said = load(children, file, """
out = loaded(np.arange(4, dtype=np.float32))
print(out.tolist(), jax.typeof(out), [kind.name for kind in out.sharding.mesh.axis_types])
""", devices="jax.devices()[2:6]")
    assert said.strip() == "[0.0, 2.0, 4.0, 6.0] float32[4@x] ['Explicit', 'Auto']"


def test_what_is_not_yet_reduced_is_refused_by_name(children):
    function = "lambda a: jnp.einsum('i,i->', a, a, out_sharding=P(unreduced={'x'}))"
    done = children.python("-c", SAVE.format(body=EXPLICIT.format(other="Explicit", function=function),
                                             file=str(children.folder / "x")), ok=False)
    assert "result 0 has the unreduced axes x, which save does not keep" in done.stderr


def test_layouts_of_arguments_give_the_right_values(children):
    file = children.folder / "layouts"
    save(children, file, """
turned = jax.experimental.layout.Format(jax.experimental.layout.Layout((1, 0)), SingleDeviceSharding(devices[0]))
traced = jax.jit(lambda a: (a * 2 + jnp.arange(3.0), a.T), in_shardings=turned).trace(
    jax.ShapeDtypeStruct((2, 3), jnp.float32))
""")
    said = load(children, file, """
x = np.arange(6, dtype=np.float32).reshape(2, 3)
place = loaded._compiled.input_formats[0][0]
print(place.layout.major_to_minor)
for given in x, jnp.asarray(x), jax.device_put(x, place):
    print(json.dumps([one.tolist() for one in loaded(given)]))
""").splitlines()
    assert said[0] == "(1, 0)"
    assert [json.loads(line) for line in said[1:]] == [[[[0, 3, 6], [6, 9, 12]], [[0, 3], [1, 4], [2, 5]]]] * 3


def test_saved_under_a_plugin_it_runs_without_jax_and_else_both_are_named(children, plugin):  # noqa: F811
    body = "traced = jax.jit(lambda x: (jnp.sin(x) @ x, x + 1), donate_argnums=0).trace(jnp.eye(4))\n"
    values = "out = loaded(np.eye(4, dtype=np.float32) * 3)\nprint(json.dumps([one.tolist() for one in out]))"

    def run(file):
        return subprocess.run([os.environ["PRECAST_BIN"], "run", file, "-i", "x.npy", "--out", "out"], text=True,
                              capture_output=True, check=False, cwd=children.folder, env=children.environment(**plugin))

    save(children, children.folder / "plugin", body, **plugin)
    said = json.loads(load(children, children.folder / "plugin", values, **plugin))
    np.save(children.folder / "x.npy", np.eye(4, dtype=np.float32) * 3)
    ran = run("plugin")
    assert ran.returncode == 0, ran.stderr
    assert [np.load(path).tolist() for path in sorted((children.folder / "out").glob("*.npy"))] == said
    # Of JAX's built-in backend, which is no plugin.
    save(children, children.folder / "built-in", body)
    assert json.loads(load(children, children.folder / "built-in", values)) == said
    refused = run("built-in")
    assert refused.returncode == 5, refused.stderr
    both = "another plugin: it is the backend inside a front end there and a plugin here, sha256 is '"
    assert both in refused.stderr, refused.stderr
    digests = re.findall(r"'([0-9a-f]{64})'", refused.stderr)
    assert len(set(digests)) == 2
    for wrong, environment in (("plugin", {}), ("built-in", plugin)):
        done = children.python("-c", LOAD.format(file=str(children.folder / wrong), devices="None", body="", before=""),
                               ok=False, **environment)
        assert done.returncode == 1 and "made for another plugin" in done.stderr, done.stderr
