"""--cpu-baseline: code for every CPU of a level, on the real plugin."""

import pytest

LEVELS = ["x86-64-v2", "x86-64-v3", "x86-64-v4"]


def cpu_field(answer):
    (field,) = [entry for entry in answer["fields"] if entry["name"] == "cpu"]
    return {item["name"]: item["value"] for item in field["items"]}


@pytest.fixture
def reached(real):
    """The levels that this machine reaches."""
    found = [level for level in LEVELS
             if real("key", "add.mlir", "--cpu-baseline", level, code=None).code == 0]
    if not found:
        pytest.skip("this CPU reaches no level of x86-64")
    return found


def test_the_key_holds_the_level_alone(real, reached):
    keys = set()
    for level in reached:
        answer = real.json("key", "add.mlir", "--items", "--cpu-baseline", level)
        assert cpu_field(answer) == {"architecture": "x86_64", "baseline": level}
        keys.add(answer["key"])
        # Neither the number of CPUs nor a cap on instruction sets matters.
        fewer = real.json("key", "add.mlir", "--cpu-baseline", level, env={"NPROC": "1"})
        assert fewer["key"] == answer["key"]
    keys.add(real.json("key", "add.mlir")["key"])
    assert len(keys) == len(reached) + 1


def test_the_executable_is_for_the_level(real, reached):
    """What the artifact holds needs nothing beyond the level, and runs."""
    for level in reached:
        miss = real.json("compile", "add.mlir", "--cpu-baseline", level, "-o", "a.precast")
        assert (miss["outcome"], miss["reason"]) == ("miss", "not_found"), miss
        hit = real.json("compile", "add.mlir", "--cpu-baseline", level)
        assert hit["outcome"] == "hit" and hit["key"] == miss["key"]
        real("run", "a.precast", "--fill", "zeros")
        real("run", "add.mlir", "--cpu-baseline", level, "--fill", "zeros")


def test_a_lesser_cpu_refuses_the_artifact(real, reached, tmp_path):
    """The plugin itself is told to be a lesser CPU."""
    if len(reached) < 2:
        pytest.skip("this CPU reaches one level only")
    real("compile", "add.mlir", "--cpu-baseline", reached[-1], "-o", "a.precast")
    cap = {"x86-64-v3": "SSE4_2", "x86-64-v4": "AVX2"}[reached[-1]]
    done = real("run", "a.precast", "--fill", "zeros", code=5,
                env={"XLA_FLAGS": f"--xla_cpu_max_isa={cap}"})
    assert "was made for a CPU with avx" in done.err


def test_a_plugin_that_cannot_says_so(precast):
    done = precast("compile", "add.mlir", "--cpu-baseline", "x86-64-v3", code=None)
    assert done.code in (3, 4)
    assert "x86-64-v3" in done.err or "described topologies" in done.err


def test_an_unknown_level_is_an_error(precast):
    assert "x86-64-v2, x86-64-v3 and x86-64-v4" in \
        precast("key", "add.mlir", "--cpu-baseline", "haswell", code=3).err
