"""pypjrt's own tests, examples and report: the same on a plugin, and through the wrapper cold and warm."""

import json
import os
import re
import shutil
import sys

import pytest
from suite import differences, outcomes_of, sources

PYPJRT = sources("pypjrt")
LONG = bool(os.environ.get("PRECAST_LONG"))
# PJRT's versions. The older plugin crashes in some tests, which takes a process for each: in make test-long.
VERSIONS = ["0.115", pytest.param("0.81", marks=pytest.mark.skipif(not LONG, reason="in make test-long"))]
MODES = {"bare": False, "cold": True, "warm": True}


@pytest.fixture(scope="module", params=VERSIONS)
def host(request, new_host):
    return new_host(request.param)


@pytest.fixture(scope="module")
def suites(host):
    """What became of each test in each mode, and the wrapper's counts."""
    return {mode: outcomes_of(host, wrapped, PYPJRT, ["tests/tier0_host", "tests/tier1_cpu"],
                              {"PYPJRT_CPU_PLUGIN": host.library_of_the_same_name(wrapped), "JAX_PLATFORMS": "cpu"})
            for mode, wrapped in MODES.items()}


def test_the_suite_is_whole(suites):
    outcomes, _ = suites["bare"]
    assert sum(test.startswith("tests/tier1_cpu/") for test in outcomes) >= 116
    assert sum(outcome == "passed" for outcome in outcomes.values()) > 180


@pytest.mark.parametrize("mode", ["cold", "warm"])
def test_the_same_pass_and_fail(suites, mode):
    assert differences(suites["bare"][0], suites[mode][0]) == {}


def test_cold_it_was_compiled_and_warm_it_was_loaded(suites, host):
    (outcomes, cold), warm = suites["cold"], suites["warm"][1]
    assert len(host.entries()) > 20
    assert warm["misses"] == warm["skips"] == 0, warm
    # A process that ends half-way sums nothing up.
    if "crashed" not in outcomes.values():
        # What was compiled ahead of time is stored as well.
        assert len(host.entries()) >= cold["misses"] > 20
        assert cold["hits"] + cold["misses"] == warm["hits"]


EXAMPLES = sorted(path.name for path in PYPJRT.glob("examples/[0-9]*.py"))


def shown(text):
    """What an example prints, without paths, times and other numbers."""
    text = re.sub(r"/\S+", "PATH", text)
    return re.sub(r"\d[\d.,]*x?", "N", re.sub(r" +", " ", text))


@pytest.fixture(scope="module")
def played(host):
    """Each example's end and what it printed, in each mode."""
    def play(example, wrapped):
        # One goes on from what it left there.
        shutil.rmtree(host.folder / "tmp")
        (host.folder / "tmp").mkdir()
        done = host.run([sys.executable, PYPJRT / "examples" / example, host.library_of_the_same_name(wrapped)], wrapped, code=None,
                        env={"PYTHONPATH": PYPJRT / "src", "JAX_PLATFORMS": "cpu"})
        return done.code, shown(done.out)
    return {mode: {example: play(example, wrapped) for example in EXAMPLES} for mode, wrapped in MODES.items()}


@pytest.mark.parametrize("mode", ["cold", "warm"])
def test_the_examples_end_and_print_the_same(played, mode):
    assert len(EXAMPLES) == 10
    assert differences(played["bare"], played[mode]) == {}


@pytest.fixture(scope="module")
def reports(host):
    """What `python -m pypjrt.conform` says, its exit code with it."""
    def report(wrapped):
        path = host.folder / "report.json"
        path.unlink(missing_ok=True)
        done = host.run([sys.executable, "-m", "pypjrt.conform", host.library_of_the_same_name(wrapped), "--json", path], wrapped,
                        code=None, env={"PYTHONPATH": PYPJRT / "src"})
        if not path.exists():
            return {"code": done.code}
        text = re.sub(r"\d+ bytes available", "N bytes available", path.read_text())  # of the optimized program
        return {**json.loads(text), "plugin": None, "code": done.code}
    return {mode: report(wrapped) for mode, wrapped in MODES.items()}


def test_the_report_is_the_same(reports, host):
    if host.version == "0.115":
        assert len(reports["bare"]["checks"]) > 20
    assert reports["cold"] == reports["bare"]
    assert reports["warm"] == reports["bare"]
