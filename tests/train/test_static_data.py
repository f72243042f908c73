"""flax and optax, whose trees carry closures: one key and one binding in every process."""

import json
import os
import pathlib
import subprocess
import sys

import jax
import jax.numpy as jnp
import precast.jax
import pytest
import train_child
from train_child import X, Y, step_of_train_state, train_state

HERE = pathlib.Path(__file__).parent


@pytest.fixture(scope="module", name="five")
def _five(tmp_path_factory):
    """What five processes say, one after another, on one cache."""
    folder = tmp_path_factory.mktemp("train")
    said = []
    for seed in range(5):
        done = subprocess.run(
            [sys.executable, str(HERE / "train_child.py"), "all", str(1000 * seed)], capture_output=True, text=True,
            check=False, env={**os.environ, "PYTHONHASHSEED": str(seed), "PRECAST_CACHE": str(folder / "cache")})
        assert done.returncode == 0, done.stderr[-4000:]
        said.append(json.loads(done.stdout.splitlines()[-1]))
    return said


@pytest.mark.parametrize("name", train_child.PROGRAMS)
def test_five_processes_have_one_key_and_one_binding(five, name):
    first, *others = (said[name] for said in five)
    assert first[0] == "miss"
    for other in others:
        assert other == ["hit", *first[1:]]


def test_what_does_not_count_is_named(five):
    record = json.loads(five[0]["TrainState"][4])
    assert record["left_out"] == ["flax.training.train_state.TrainState"]
    assert json.loads(five[0]["functools.partial"][4])["left_out"] == ["jax.tree_util.Partial"]
    assert "0x" not in five[0]["TrainState"][4]


@pytest.fixture(name="compiled")
def _compiled(tmp_path):
    return precast.jax.compile_or_load(jax.jit(step_of_train_state).trace(train_state(), X, Y),
                                       cache=tmp_path / "cache")


def test_a_state_that_was_made_again_is_accepted(compiled):
    again = train_state()
    for _ in range(3):
        again, loss = compiled(again, X, Y)
    assert again.tx is not None and again.step == 3 and jnp.isfinite(loss)


def test_a_state_of_another_optimizer_is_refused(compiled):
    with pytest.raises(TypeError, match="args\\[0\\] is a flax.training.train_state.TrainState with other static "
                                        "data, .* it is another program"):
        compiled(train_state(0.2), X, Y)


def test_a_leaf_deep_inside_is_named(compiled):
    state = train_state()
    adam = state.opt_state[1][0]
    wrong = adam._replace(mu=jax.tree.map(lambda leaf: leaf.astype("bfloat16"), adam.mu))
    state = state.replace(opt_state=(state.opt_state[0], (wrong, *state.opt_state[1][1:])))
    with pytest.raises(TypeError) as raised:
        compiled(state, X, Y)
    assert ("args[0].opt_state[1][0].mu['params']['Dense_1']['kernel']: expected float32[3,8], found bfloat16[3,8]"
            in str(raised.value))
