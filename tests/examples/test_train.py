"""The training step against real JAX: its files are current, and steps make the loss smaller."""

import os
import pathlib
import shutil
import subprocess
import sys

# Before JAX is imported: the checked-in outputs are the CPU's.
os.environ["JAX_PLATFORMS"] = "cpu"

import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

EXAMPLES = pathlib.Path(__file__).resolve().parents[2] / "examples"
TRAIN = EXAMPLES / "train"
TOLERANCE = 1e-5
STATE = 26  # arrays of weights and momentum


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What export.py makes now, from a copy in another folder and with another hash seed."""
    copy = tmp_path_factory.mktemp("a copy")
    for folder, names in {"train": ("export.py", "step.py"), "ranker": ("export.py", "model.py")}.items():
        (copy / folder).mkdir()
        for name in names:
            shutil.copy(EXAMPLES / folder / name, copy / folder)
    out = tmp_path_factory.mktemp("made")
    subprocess.run(
        [sys.executable, copy / "train" / "export.py", "--out", out],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "4711", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return out


def arrays(folder):
    return [np.load(path) for path in sorted(folder.glob("*.npy"))]


def test_program_and_inputs_are_what_export_makes(made):
    assert (made / "train.mlirbc").read_bytes() == (TRAIN / "train.mlirbc").read_bytes()
    inputs = {path.name: path.read_bytes() for path in (made / "inputs").iterdir()}
    assert inputs == {path.name: path.read_bytes() for path in (TRAIN / "inputs").iterdir()}


def test_outputs_that_export_makes_agree(made):
    names = sorted(path.name for path in (made / "expected").iterdir())
    assert names == sorted(path.name for path in (TRAIN / "expected").iterdir())
    for ours, checked_in in zip(arrays(made / "expected"), arrays(TRAIN / "expected")):
        np.testing.assert_allclose(ours, checked_in, rtol=0, atol=TOLERANCE)


def test_the_state_is_donated_and_comes_back():
    inputs, outputs = arrays(TRAIN / "inputs"), arrays(TRAIN / "expected")
    state, after = inputs[:STATE], outputs[1:]
    assert [a.shape for a in state] == [a.shape for a in after]
    # Every array of the state moved; the program names the result that each becomes.
    assert all((a != b).any() for a, b in zip(state, after))
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        module = stablehlo.deserialize_portable_artifact(
            context, (TRAIN / "train.mlirbc").read_bytes())
        main = next(op for op in module.body.operations
                    if op.attributes["sym_name"] == ir.StringAttr.get("main"))
        marks = [ir.DictAttr(a) for a in ir.ArrayAttr(main.attributes["arg_attrs"])]
    aliases = [ir.IntegerAttr(mark["tf.aliasing_output"]).value if "tf.aliasing_output" in mark
               else None for mark in marks]
    assert aliases == [*range(1, STATE + 1), *[None] * (len(inputs) - STATE)]


def test_a_step_goes_downhill():
    """The loss after the step, which the next one would report, is smaller."""
    sys.path.insert(0, str(TRAIN))
    import step

    inputs, outputs = arrays(TRAIN / "inputs"), arrays(TRAIN / "expected")
    request, clicked = step.Request(*inputs[STATE:-1]), inputs[-1]
    after = float(step.loss(step.Weights(*outputs[1:1 + STATE // 2]), request, clicked))
    assert after < float(outputs[0]) - 1e-4
