"""Calls of what compile_or_load gives: JAX's checks with exact words, and trees with other static data."""

import collections
import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import precast.jax
from precast.jax import _call, _request

Adam = collections.namedtuple("Adam", "count mu")


@functools.partial(jax.tree_util.register_dataclass, data_fields=["params", "opt_state"],
                   meta_fields=["update", "apply"])
@dataclasses.dataclass
class State:
    """A training state whose static data are closures, as flax's and optax's are."""

    params: dict
    opt_state: tuple
    update: object
    apply: object


def state(rate=2.0):
    return State({"w": jnp.ones((4, 4))}, (Adam(jnp.int32(0), {"w": jnp.ones((4, 4))}),),
                 lambda grads: grads * rate, lambda x: x)


def step(now, batch, *, dead=None):
    del dead
    return dataclasses.replace(now, params={"w": now.update(now.params["w"]) + batch.sum()})


BATCH, DEAD = jnp.ones(3), jnp.ones(2)


@pytest.fixture(name="compiled")
def _compiled(tmp_path):
    return precast.jax.compile_or_load(jax.jit(step).trace(state(), BATCH, dead=DEAD), cache=tmp_path / "c")


def test_it_is_a_compiled_of_jax(compiled):
    assert isinstance(compiled, jax.stages.Compiled)
    assert compiled(state(), BATCH, dead=DEAD).params["w"][0, 0] == 5


def wide(now):
    now.opt_state[0].mu["w"] = jnp.ones((4, 5))
    return now


def more(now):
    now.opt_state[0].mu["v"] = jnp.ones(1)
    return now


@pytest.mark.parametrize("args, kwargs, words", [
    (lambda: (wide(state()), BATCH), {"dead": DEAD}, [
        "args[0].opt_state[0].mu['w']: expected float32[4,4], found float32[4,5]"]),
    (lambda: (state(), BATCH), {"dead": jnp.ones(5)}, [
        "kwargs['dead']: expected float32[2] (which the program does not use), found float32[5]"]),
    (lambda: (state(), BATCH.astype("int32")), {"dead": jnp.ones(5)}, [
        "args[1]: expected float32[3], found int32[3]", "kwargs['dead']: expected float32[2]"]),
    (lambda: (more(state()), BATCH), {"dead": DEAD}, [
        "args[0].opt_state[0].mu['v']: given, and not expected"]),
    (lambda: (state(), BATCH), {}, ["kwargs['dead']: expected, and not given"]),
    (lambda: (state(), BATCH, 1), {"dead": DEAD}, ["args[2]: given, and not expected"]),
    (lambda: (state(), [BATCH]), {"dead": DEAD}, ["args[1]: expected float32[3], found a list of 1"]),
    (lambda: (state(), None), {"dead": DEAD}, ["args[1]: expected float32[3], found None"]),
    (lambda: (state(), "text"), {"dead": DEAD}, ["args[1]: expected float32[3], found a str, which is no array"]),
    (lambda: ({"a": 1}, BATCH), {"dead": DEAD}, ["args[0]: expected a test_call.State, found a dict"]),
])
def test_a_mismatch_names_the_path_what_was_expected_and_what_was_found(compiled, args, kwargs, words):
    with pytest.raises(TypeError) as raised:
        compiled(*args(), **kwargs)
    for word in words:
        assert word in str(raised.value)
    assert raised.value.__cause__ is not None  # JAX's own words


def test_shardings_that_differ_are_named(tmp_path):
    mesh = jax.sharding.Mesh(np.array(jax.devices()[:1]), ("x",))
    spread = precast.jax.compile_or_load(
        jax.jit(lambda x: x + 1, in_shardings=jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec("x"),
                                                                         memory_kind="pinned_host"),
                out_shardings=jax.sharding.SingleDeviceSharding(jax.devices()[0], memory_kind="pinned_host"))
        .trace(jax.ShapeDtypeStruct((4,), "float32")), cache=tmp_path / "c")
    with pytest.raises(ValueError) as raised:
        spread(jax.device_put(jnp.ones(4), jax.sharding.SingleDeviceSharding(jax.devices()[0])))
    assert "args[0]: expected float32[4] on NamedSharding" in str(raised.value)
    assert "found float32[4] on SingleDeviceSharding" in str(raised.value)


def test_tracers_get_jaxs_own_words(tmp_path):
    compiled = precast.jax.compile_or_load(jax.jit(lambda x: x + 1).trace(BATCH), cache=tmp_path / "c")
    with pytest.raises(TypeError, match="Cannot apply JAX transformations"):
        jax.jit(lambda batch: compiled(batch))(BATCH)


def test_static_data_that_changes_nothing_is_accepted_after_a_retrace(compiled, monkeypatch):
    compiles, looks = [], []
    monkeypatch.setattr(_request._private, "compile_and_load", lambda *args: compiles.append(args))
    real = _call._after_refusal
    monkeypatch.setattr(_call, "_after_refusal", lambda *args: looks.append(1) or real(*args))
    first = compiled(state(), BATCH, dead=DEAD)
    for _ in range(2):
        again = state()
        for _ in range(3):
            out = compiled(again, BATCH, dead=DEAD)
            assert out.update is again.update  # the tree is that of the retrace
            assert np.array_equal(out.params["w"], first.params["w"])
    assert not compiles
    assert len(looks) == 3  # the first state's tree too is not the one that was traced
    for wrong in ({"dead": jnp.ones(7)}, {}):
        with pytest.raises(TypeError, match=r"kwargs\['dead'\]"):
            compiled(again, BATCH, **wrong)
    compiled(again, BATCH, dead=DEAD)


def test_static_data_that_changes_the_program_is_refused(compiled):
    with pytest.raises(TypeError, match="args\\[0\\] is a test_call.State with other static data, and a retrace "
                                        "did not prove .*: it is another program"):
        compiled(state(3.0), BATCH, dead=DEAD)


def test_without_a_function_there_is_no_retrace(tmp_path):
    lowered = jax.jit(step).trace(state(), BATCH, dead=DEAD).lower()
    compiled = precast.jax.compile_or_load(lowered, cache=tmp_path / "c")
    with pytest.raises(TypeError, match="only what was compiled from a jax.stages.Traced"):
        compiled(state(), BATCH, dead=DEAD)


def test_an_equal_program_that_uses_other_arguments_is_refused(tmp_path):
    """Programs do not say which arguments were left out."""
    @functools.partial(jax.tree_util.register_dataclass, data_fields=["x", "y"], meta_fields=["pick"])
    @dataclasses.dataclass
    class Both:
        x: object
        y: object
        pick: str

    def use(both):
        return getattr(both, both.pick) + 1

    compiled = precast.jax.compile_or_load(jax.jit(use).trace(Both(BATCH, BATCH, "x")), cache=tmp_path / "c")
    with pytest.raises(TypeError, match="it is called in another way: argument 0 differs"):
        compiled(Both(BATCH, BATCH, "y"))
    assert compiled(Both(BATCH, 2 * BATCH, "x"))[0] == 2


def test_callbacks_are_those_of_the_new_static_data(tmp_path):
    seen = []

    def noted(now, x):
        jax.debug.callback(now.update, x.sum())
        return x * 2

    def with_note(note):
        return State({}, (), lambda v: seen.append((note, float(v))), None)

    compiled = precast.jax.compile_or_load(jax.jit(noted).trace(with_note("a"), BATCH), cache=tmp_path / "c")
    compiled(with_note("b"), BATCH)
    jax.effects_barrier()
    assert seen == [("b", 3.0)]


def test_references_are_those_of_the_first_static_data(tmp_path):
    def held(ref):
        def write(x):
            ref[...] = x
        return write

    def noted(now, x):
        now.update(x)
        return x * 2

    refs = [jax.new_ref(jnp.zeros(3)) for _ in range(2)]
    states = [State({}, (), held(ref), None) for ref in refs]
    compiled = precast.jax.compile_or_load(jax.jit(noted).trace(states[0], BATCH), cache=tmp_path / "c")
    with pytest.raises(TypeError):
        compiled(states[1], BATCH)
    compiled(states[0], BATCH)
    assert [ref[...].tolist() for ref in refs] == [[1, 1, 1], [0, 0, 0]]


def test_many_states_are_kept_within_bounds(compiled):
    states = [state() for _ in range(12)]
    for one in (*states, states[-1], states[0]):
        assert compiled(one, BATCH, dead=DEAD).update is one.update
    assert len(compiled._others) == _call._MOST_TREES
    assert compiled._others[0].in_tree == compiled.in_tree


def test_a_registry_traces_again_under_its_mesh(tmp_path):
    mesh = jax.make_mesh((1,), ("x",), axis_types=(jax.sharding.AxisType.Auto,))
    programs = precast.jax.Registry(mesh)

    @programs.register("apply", args=(state(), BATCH))
    def apply(now, batch):
        spread = jax.lax.with_sharding_constraint(batch, jax.sharding.PartitionSpec("x"))
        return dataclasses.replace(now, params={"w": now.update(now.params["w"]) + spread.sum()})

    programs.compile_or_load(cache=tmp_path / "c")
    again = state()
    out = apply(again, BATCH)
    assert out.params["w"][0, 0] == 5 and out.update is again.update
    with pytest.raises(TypeError, match="it is another program"):
        apply(state(3.0), BATCH)


def test_of_many_programs_each_names_its_arguments(tmp_path):
    done = precast.jax.compile_or_load_all(
        {name: jax.jit(step).trace(state(), jnp.ones(size), dead=DEAD) for name, size in (("a", 3), ("b", 4))},
        cache=tmp_path / "c")
    assert done["a"](state(), BATCH, dead=DEAD).params["w"][0, 0] == 5
    with pytest.raises(TypeError, match="args\\[1\\]: expected float32\\[4\\], found float32\\[3\\]"):
        done["b"](state(), BATCH, dead=DEAD)
    assert [report.binding_record["left_out"] for report in done.reports.values()] == [["test_call.State"]] * 2
