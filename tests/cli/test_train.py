"""The training step of examples/train: donated inputs, many results, compiled and loaded."""

import re

import numpy as np

from conftest import RANKER

TRAIN = RANKER.parent / "train"
STATE = 26  # arrays of weights and momentum


def files(folder):
    return sorted((TRAIN / folder).glob("*.npy"))


def test_a_step_is_what_jax_computed(each_real):
    command = ["run", TRAIN / "train.mlirbc", "--input", *files("inputs")]
    expected = [np.load(path) for path in files("expected")]
    for outcome in ("miss", "hit"):
        done = each_real.json(*command, "--out", outcome)
        assert done["outcome"] == outcome
        outputs = [np.load(each_real.folder / output["file"]) for output in done["outputs"]]
        for ours, wanted in zip(outputs, expected, strict=True):
            np.testing.assert_allclose(ours, wanted, rtol=0, atol=1e-5)
        # A program loaded from the cache consumes the same inputs as one that was compiled.
        assert [i["donated"] for i in done["inputs"]] == [True] * STATE + [False] * 7


def test_steps_follow_each_other(real):
    """The results of one step are the state of the next, and the loss falls."""
    state, rest = files("inputs")[:STATE], files("inputs")[STATE:]
    losses = []
    for step in range(4):
        out = real.folder / f"step{step}"
        done = real.json("run", TRAIN / "train.mlirbc", "--input", *state, *rest, "--out", out)
        losses.append(float(np.load(out / "output_0.npy")))
        state = [out / f"output_{i}.npy" for i in range(1, STATE + 1)]
    assert losses == sorted(losses, reverse=True) and losses[0] - losses[-1] > 1e-3
    assert done["outcome"] == "hit"


def test_the_text_says_what_is_consumed(real):
    text = real("run", TRAIN / "train.mlirbc", "--input", *files("inputs"), "--repeat", "3").out
    assert "26 inputs are donated: a run consumes the device's copy" in text
    rows = re.findall(r"^ *(\d+)  f32\S* +consumed", text, re.MULTILINE)
    assert len(rows) == STATE
    assert "donated" not in real("run", "add.mlir", "--fill", "iota").out
