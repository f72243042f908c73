"""The binding: how an executable is called, as a record that is equal in every process."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec as P

import precast.jax
from precast.jax import _binding


def lowered(function, *args, **jit):
    return jax.jit(function, **jit).lower(*args)


def sharded(spec, memory_kind=None):
    mesh = Mesh(np.array(jax.devices()[:1]).reshape(1, 1), ("a", "b"))
    return jax.device_put(jnp.ones((4, 4)), NamedSharding(mesh, spec, memory_kind=memory_kind))


def step(state, unused):
    return {"w": state["w"] + 1}


STATE = {"w": jnp.ones((4, 4))}
PLAIN = lowered(step, STATE, 1.0)


@pytest.mark.parametrize("other", [
    lowered(step, {"w": jnp.ones((4, 5))}, 1.0),
    lowered(step, {"w": jnp.ones((4, 4), jnp.bfloat16)}, 1.0),
    lowered(step, STATE, jnp.float32(1)),  # not weakly typed
    lowered(step, STATE, 1.0, donate_argnums=0),
    lowered(step, STATE, 1.0, keep_unused=True),
    lowered(step, {"w": STATE["w"], "more": 1.0}, 1.0),
    lowered(step, {"w": sharded(P("a", "b"))}, 1.0),
    lowered(lambda state, unused: (state["w"] + 1,), STATE, 1.0),
    lowered(lambda state, unused: jax.debug.callback(lambda v: None, state["w"]) or step(state, unused),
            STATE, 1.0)])
def test_each_part_counts(other):
    plain, binding = _binding.of_lowered(PLAIN), _binding.of_lowered(other)
    assert binding.digest != plain.digest
    assert _binding.differences(plain, binding)
    assert _binding.Binding.decode(binding.encode()).digest == binding.digest


def test_shardings_differ_by_axes_and_memory():
    digests = [_binding.of_lowered(lowered(step, {"w": sharded(*how)}, 1.0)).digest for how in (
        (P("a", "b"),), (P("b", "a"),), (P(("a", "b")),), (P(None, "a"),), (P("a", "b"), "pinned_host"))]
    assert len(set(digests)) == len(digests)


def test_what_is_not_yet_reduced_counts():
    mesh = jax.make_mesh((1,), ("x",), axis_types=(AxisType.Explicit,), devices=jax.devices()[:1])
    records = []
    with jax.set_mesh(mesh):
        one = jax.device_put(jnp.ones(4), NamedSharding(mesh, P("x")))
        for spec in P(), P(unreduced={"x"}):
            dot = jax.jit(lambda a, b, spec=spec: jnp.einsum("i,i->", a, b, out_sharding=spec))
            records.append(_binding.of_compiled(precast.jax.compile_or_load(dot.trace(one, one))))
    assert records[0].digest != records[1].digest
    [result] = records[1].record["results"]
    assert records[1].record["shardings"][result[3]]["unreduced"] == ["x"]


def test_equal_ones_say_nothing():
    again = _binding.of_lowered(lowered(step, {"w": jnp.zeros((4, 4))}, 2.0))
    assert again.digest == _binding.of_lowered(PLAIN).digest
    assert _binding.differences(again, _binding.of_lowered(PLAIN)) == []


def test_a_compiled_has_the_layouts_and_shardings_that_were_chosen():
    before, after = _binding.of_lowered(PLAIN), _binding.of_compiled(PLAIN.compile())
    assert before.record["in"] == after.record["in"]
    [result] = after.record["results"]
    assert after.record["layouts"][result[4]]["major_to_minor"] == [0, 1]
    assert after.record["shardings"][result[3]] == {"kind": "single", "position": 0, "memory": "device"}
    [result] = before.record["results"]
    assert before.record["shardings"][result[3]] is None


class Node:
    """A container whose static data prints an address."""

    def __init__(self, value, static):
        self.value, self.static = value, static


jax.tree_util.register_pytree_node(Node, lambda node: ((node.value,), node.static),
                                   lambda static, children: Node(children[0], static))


class Encoded(Node):
    """The same with an encoder."""


jax.tree_util.register_pytree_node(Encoded, lambda node: ((node.value,), node.static),
                                   lambda static, children: Encoded(children[0], static))
precast.jax.register_static(Encoded, lambda static: {"name": static.__name__, "more": (1, 2.5, b"x")})


def binding_of(*args):
    return _binding.of_lowered(lowered(lambda *args: 0, *args))


def test_static_data_counts_through_an_encoder_alone():
    one, other = binding_of(Node(1.0, abs)), binding_of(Node(1.0, len))
    assert one.digest == other.digest
    assert one.left_out == (f"{__name__}.Node",)
    assert binding_of(Node(1.0, None)).left_out == ()
    one, other = binding_of(Encoded(1.0, abs)), binding_of(Encoded(1.0, len))
    assert one.digest != other.digest
    assert one.left_out == ()
    assert '"abs"' in one.encode().decode()


def test_an_encoder_gives_plain_data():
    class Bad(Node):
        """Its encoder gives an object."""
    jax.tree_util.register_pytree_node(Bad, lambda node: ((node.value,), node.static),
                                       lambda static, children: Bad(children[0], static))
    precast.jax.register_static(Bad, lambda static: static)
    with pytest.raises(TypeError, match="builtin_function_or_method is no plain data"):
        binding_of(Bad(1.0, len))
    with pytest.raises(TypeError, match="takes a class, not str"):
        precast.jax.register_static("Bad", len)


def test_bytes_that_are_no_record_are_refused():
    for data in (b"{}", b'{"version": 99}', b"[1]", b"no JSON"):
        with pytest.raises(ValueError):
            _binding.Binding.decode(data)


OTHER = """
import jax, jax.numpy as jnp, precast.jax
def step(state):
    x, y = jax.tree.leaves(state)
    return x @ y
x, y = jnp.ones((4, 4)), jnp.eye(4)
made = [precast.jax.compile_or_load(jax.jit(step).trace(state))
        for state in ((x, y), {"x": x, "y": y}, [[x], (y,)])[FIRST:]]
for one in made:
    report = precast.jax.report(one)
    print(report.outcome, report.key, report.binding, report.stored_binding)
print(made[-1]([[x], (y,)])[0, 0])
results = [lambda x: (x + 1, x), lambda x: {"a": x + 1, "b": [x]}][FIRST:]
for function in results:
    function.__name__ = "named"
    named = precast.jax.compile_or_load(jax.jit(function).trace(x))
    print(precast.jax.report(named).outcome, jax.tree.structure(named(x)) == jax.tree.structure(function(x)))
for line in precast.jax.explain(made[0], made[-1]):
    print(line)
"""


def test_another_binding_of_an_executable_compiles_nothing(children):
    cold = [line.split() for line in children.python("-c", OTHER.replace("FIRST", "0")).splitlines()]
    assert [line[0] for line in cold[:3]] == ["miss", "hit", "hit"]
    assert len({line[1] for line in cold[:3]}) == 1
    assert len({line[2] for line in cold[:3]}) == 3
    # Each is stored under the first one's.
    assert {line[3] for line in cold[:3]} == {cold[0][2]}
    # Neither do the names of results make another program.
    assert cold[4:6] == [["miss", "True"], ["hit", "True"]]
    assert " ".join(cold[6]).startswith("the tree of arguments differs")
    warm = [line.split() for line in children.python("-c", OTHER.replace("FIRST", "1"), seed=7).splitlines()]
    assert [line[:4] for line in warm[:2]] == [["hit", *line[1:4]] for line in cold[1:3]]


def test_explain_names_what_differs_and_what_was_left_out(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, precast.jax
one, other = (precast.jax.compile_or_load(jax.jit(f).trace(jax.tree_util.Partial(f, 1.0), x))
              for f, x in ((lambda p, x: x * p.args[0], jnp.ones(4)), (lambda p, x: x + p.args[0], jnp.ones(5))))
for line in precast.jax.explain(one, precast.jax.report(other)):
    print(line)
print("same", precast.jax.explain(one, one)[1:])
try:
    precast.jax.explain(one, 3)
except TypeError as error:
    print(error)
""").splitlines()
    assert any(line.startswith("the keys differ in program, sha256") for line in said)
    assert "argument 1 differs" in "".join(said)
    assert any(line.startswith("not compared: the static data of jax.tree_util.Partial") for line in said)
    assert said[-2] == "same []"
    assert said[-1].startswith("explain takes a Report")
