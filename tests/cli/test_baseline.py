"""--cpu-baseline: code for every CPU of a level, on the real plugin."""

import pathlib
import platform

import pytest

# What the kernel calls the features that each level adds.
LEVELS = {
    "x86-64-v2": {"cx16", "lahf_lm", "popcnt", "sse4_1", "sse4_2", "ssse3"},
    "x86-64-v3": {"abm", "avx", "avx2", "bmi1", "bmi2", "f16c", "fma", "movbe", "xsave"},
    "x86-64-v4": {"avx512bw", "avx512cd", "avx512dq", "avx512f", "avx512vl"},
}


def cpu_field(answer):
    (field,) = [entry for entry in answer["fields"] if entry["name"] == "cpu"]
    return {item["name"]: item["value"] for item in field["items"]}


@pytest.fixture
def reached(real):
    """The levels that this machine reaches, as the kernel says and as the command must."""
    if platform.machine() != "x86_64":
        pytest.skip("the levels are those of x86-64")
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    features = set(next(line for line in cpuinfo.splitlines() if line.startswith("flags")).split())
    found, needed = [], set()
    for level, more in LEVELS.items():
        needed |= more
        if needed <= features:
            found.append(level)
            real("key", "add.mlir", "--cpu-baseline", level)
        else:
            done = real("key", "add.mlir", "--cpu-baseline", level, code=3)
            assert f"does not reach {level}" in done.err
    assert found, "even x86-64-v2 is not reached"
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
