"""`precast diff` names the function and the operation in which two programs of real JAX differ."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import programs
from programs import f32, jax, jnp


def model(activation=jax.nn.relu, scale=2.0, size=16, swap=False, extra=False):
    """An MLP whose activation is a private function."""

    @jax.jit
    def helper(x):
        return activation(x)

    def score(w, x):
        y = helper(x @ w)
        if extra:
            y = jnp.sin(y)
        y = y * scale
        return y - x.sum() if not swap else x.sum() - y

    return programs.lower(score, f32((8, size)), f32((4, 8)))


@pytest.fixture
def diff(tmp_path):
    def run(left, right):
        paths = []
        for name, module in (("left", left), ("right", right)):
            path = tmp_path / f"{name}.mlirbc"
            path.write_bytes(programs.bytecode(module, 6) if not isinstance(module, bytes) else module)
            paths.append(path)
        done = subprocess.run(
            [os.environ["PRECAST_BIN"], "diff", *paths, "--json"], capture_output=True, check=False)
        assert done.returncode in (0, 1), done
        return json.loads(done.stdout)

    return run


def places(answer):
    return {(p["function"], (p["operation"] or {}).get("name"), p["part"]) for p in answer["program"]}


def test_equal_programs(diff):
    assert diff(model(), model())["equal"]


def test_a_constant(diff):
    answer = diff(model(), model(scale=3.0))
    assert places(answer) == {("main", "stablehlo.constant", "attributes")}


def test_a_shape(diff):
    answer = diff(model(), model(size=32))
    assert ("main", "func.func", "types") in places(answer) or (
        "main", "func.func", "attributes") in places(answer)
    assert ("main", "stablehlo.dot_general", "types") in places(answer)


def test_an_operation_more(diff):
    answer = diff(model(), model(extra=True))
    assert places(answer) == {("main", "stablehlo.sine", "operation")}
    assert answer["program"][0]["expected"] == "absent"


def test_operands_the_other_way_round(diff):
    answer = diff(model(), model(swap=True))
    assert ("main", "stablehlo.subtract", "operands") in places(answer)


def test_within_a_private_function(diff):
    answer = diff(model(), model(activation=jax.nn.sigmoid))
    functions = {function for function, _, _ in places(answer)}
    assert "helper" in functions
