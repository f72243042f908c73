"""The ranker example against real JAX: its files are current, and its candidates are isolated.

Runs with the Python of build/jax-venv, as `make test` does.
"""

import os
import pathlib
import shutil
import subprocess
import sys

# Before JAX is imported: the checked-in outputs are the CPU's.
os.environ["JAX_PLATFORMS"] = "cpu"

import jax
import numpy as np
import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

RANKER = pathlib.Path(__file__).resolve().parents[2] / "examples" / "ranker"
sys.path.insert(0, str(RANKER))

import export
import model

CONFIG = model.Config()
TOLERANCE = 1e-5


def checked_in(folder):
    return {path.name: path.read_bytes() for path in sorted((RANKER / folder).glob("*"))}


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """What export.py makes now, from a copy in another folder and with another hash seed."""
    scripts = tmp_path_factory.mktemp("a copy")
    for name in ("export.py", "model.py"):
        shutil.copy(RANKER / name, scripts)
    out = tmp_path_factory.mktemp("made")
    subprocess.run(
        [sys.executable, scripts / "export.py", "--out", out],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "4711", "PYTHONDONTWRITEBYTECODE": "1"},
    )
    return out


@pytest.fixture(scope="module")
def request_and_weights():
    """The checked-in inputs, read back in the order in which the demo passes them."""
    arrays = [np.load(path) for path in sorted((RANKER / "inputs").glob("*.npy"))]
    count = len(model.Request._fields)
    return model.Request(*arrays[:count]), model.Weights(*arrays[count:])


@pytest.fixture(scope="module")
def score(request_and_weights):
    """A function from changed request fields to the scores."""
    request, weights = request_and_weights
    compiled = jax.jit(model.rank)
    return lambda **changes: np.asarray(compiled(request._replace(**changes), weights))


def other_items(items):
    """A different, valid item in every place."""
    return ((items + CONFIG.items // 2) % CONFIG.items).astype(items.dtype)


# What is checked in is what the script makes.


def test_program_is_what_export_makes(made):
    assert (made / "ranker.mlirbc").read_bytes() == (RANKER / "ranker.mlirbc").read_bytes()


def test_inputs_are_what_export_makes(made):
    assert {path.name: path.read_bytes() for path in (made / "inputs").iterdir()} == checked_in(
        "inputs"
    )


def test_checked_in_outputs_agree_with_jax(score):
    expected = np.load(RANKER / "expected" / "00_scores.npy")
    assert expected.dtype == np.float32
    assert expected.shape == (CONFIG.batch, CONFIG.candidates)
    np.testing.assert_allclose(score(), expected, rtol=0, atol=TOLERANCE)


def test_outputs_that_export_makes_agree(made):
    assert list(checked_in("expected")) == [path.name for path in (made / "expected").iterdir()]
    np.testing.assert_allclose(
        np.load(made / "expected" / "00_scores.npy"),
        np.load(RANKER / "expected" / "00_scores.npy"),
        rtol=0,
        atol=TOLERANCE,
    )


# What the demo relies on in the program.


def operations(operation):
    for region in operation.regions:
        for block in region:
            for inner in block:
                yield inner.operation
                yield from operations(inner.operation)


def test_program_has_no_sort_no_custom_call_and_no_weights():
    with ir.Context() as context:
        stablehlo.register_dialect(context)
        program = (RANKER / "ranker.mlirbc").read_bytes()
        module = stablehlo.deserialize_portable_artifact(context, program)
        found = list(operations(module.operation))
        names = {operation.name for operation in found}
        assert "stablehlo.dot_general" in names
        assert not names & {"stablehlo.sort", "stablehlo.custom_call", "chlo.top_k"}
        constants = [op.results[0].type for op in found if op.name == "stablehlo.constant"]
        assert constants and all(ir.ShapedType(c).rank == 0 for c in constants)

        # The sorted input files are the parameters, in order, type by type.
        main = next(op for op in found if op.attributes.get("sym_name") == ir.StringAttr.get("main"))
        parameters = [argument.type for argument in main.regions[0].blocks[0].arguments]
        files = [np.load(path) for path in sorted((RANKER / "inputs").glob("*.npy"))]
        kinds = {"int32": "i32", "float32": "f32", "bool": "i1"}
        assert [(kinds[f.dtype.name], list(f.shape)) for f in files] == [
            (str(ir.ShapedType(p).element_type), list(ir.ShapedType(p).shape)) for p in parameters
        ]


def test_model_is_deep_enough_to_be_worth_caching():
    assert CONFIG.layers >= 4


# Candidate isolation.


@pytest.mark.parametrize("place", range(CONFIG.candidates))
def test_changing_one_candidate_changes_its_score_alone(score, request_and_weights, place):
    items = request_and_weights[0].candidate_items
    changed = items.copy()
    changed[:, place] = other_items(items[:, place])
    before, after = score(), score(candidate_items=changed)

    others = np.arange(CONFIG.candidates) != place
    assert before[:, others].tobytes() == after[:, others].tobytes()
    assert np.all(before[:, place] != after[:, place])


@pytest.mark.parametrize("place", [0, CONFIG.candidates // 2, CONFIG.candidates - 1])
def test_changing_all_other_candidates_leaves_a_score(score, request_and_weights, place):
    items = request_and_weights[0].candidate_items
    changed = other_items(items)
    changed[:, place] = items[:, place]
    assert score()[:, place].tobytes() == score(candidate_items=changed)[:, place].tobytes()


def test_a_split_request_gives_the_same_scores(score, request_and_weights):
    items = request_and_weights[0].candidate_items
    half = CONFIG.candidates // 2
    parts = [score(candidate_items=part) for part in (items[:, :half], items[:, half:])]
    # Other shapes make another executable, so its sums may be ordered in another way.
    np.testing.assert_allclose(np.hstack(parts), score(), rtol=0, atol=TOLERANCE)


# The user's history.


@pytest.mark.parametrize("field", ["history_items", "history_actions", "history_age_hours"])
def test_history_matters_where_it_is_valid_and_padding_does_not(score, request_and_weights, field):
    request = request_and_weights[0]
    valid = request.history_valid
    values = getattr(request, field)
    others = {
        "history_items": other_items(request.history_items),
        "history_actions": (request.history_actions + 1) % CONFIG.actions,
        "history_age_hours": request.history_age_hours * 2 + 1,
    }[field].astype(values.dtype)
    has_history = valid.any(axis=1)
    assert has_history.any() and not has_history.all()

    before = score()
    padding_changed = score(**{field: np.where(valid, values, others)})
    assert before.tobytes() == padding_changed.tobytes()

    history_changed = score(**{field: np.where(valid, others, values)})
    assert np.all(before[has_history] != history_changed[has_history])
    assert before[~has_history].tobytes() == history_changed[~has_history].tobytes()


def test_more_valid_history_changes_scores(score, request_and_weights):
    everything_valid = np.ones_like(request_and_weights[0].history_valid)
    before, after = score(), score(history_valid=everything_valid)
    grown = ~request_and_weights[0].history_valid.all(axis=1)
    assert np.all(before[grown] != after[grown])
    assert before[~grown].tobytes() == after[~grown].tobytes()
