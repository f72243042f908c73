"""--lean on the real plugin: smaller executables, the same bits."""

import shutil

from conftest import RANKER


def outputs(answer):
    return [output["digest"] for output in answer["outputs"]]


def test_lean_executables_give_the_same_bits(real):
    shutil.copy(RANKER / "ranker.mlirbc", real.folder)
    inputs = sorted((RANKER / "inputs").glob("*.npy"))
    run = ("run", "ranker.mlirbc", "--input", *inputs, "--json")
    full = real(*run, "--cache", "full").json
    made = real(*run, "--lean", "--cache", "lean").json
    assert (full["outcome"], made["outcome"]) == ("miss", "miss")
    assert full["key"] == made["key"]  # how it is stored is not in the key
    assert 0 < made["bytes"]["executable"] < full["bytes"]["executable"]
    loaded = real(*run, "--cache", "lean").json
    assert loaded["outcome"] == "hit"
    assert loaded["bytes"]["executable"] == made["bytes"]["executable"]
    assert outputs(full) == outputs(made) == outputs(loaded)
    # As an artifact of its own, too, on another device.
    real("compile", "ranker.mlirbc", "--no-cache", "--lean", "-o", "lean.precast")
    assert outputs(real("run", "lean.precast", "--input", *inputs, "--devices", "1", "--json").json) == outputs(full)


def test_what_is_not_known_is_stored_as_it_is(precast):
    """The fake plugin's executables hold no instructions: nothing to leave out."""
    full = precast.json("compile", "add.mlir", "--cache", "full")
    lean = precast.json("compile", "add.mlir", "--lean", "--cache", "lean")
    assert lean["outcome"] == "miss"
    assert lean["bytes"]["executable"] == full["bytes"]["executable"]


def test_a_program_of_several_types_is_the_same_lean(real):
    digests = set()
    for lean in ([], ["--lean"]):
        real("compile", "kinds.mlir", "--cache", "c" + "".join(lean), *lean)
        answer = real("run", "kinds.mlir", "--fill", "random:3", "--cache", "c" + "".join(lean), "--json", code=None)
        assert answer.json["outcome"] == "hit", answer
        digests.add(tuple(outputs(answer.json)))
    assert len(digests) == 1
