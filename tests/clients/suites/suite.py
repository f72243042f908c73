"""Runs somebody else's tests, and tells what became of each."""

import pathlib
import sys

from conftest import ROOT

HERE = pathlib.Path(__file__).parent
# More tests than this that end the process are a fault of the suite as a whole.
MOST_CRASHES = 20
# A test that compares times, and what it says when it fails for that reason alone: it counts as passed.
RACES = {
    # That its own cache loads in half the time of a compile, which through the wrapper is a load as well.
    "tests/tier1_cpu/test_m4_artifacts.py::test_m4_gate_cache_skips_compilation": ["cache gave no speedup"],
}


def sources(name):
    """The unpacked source archive of requirements/clients.txt."""
    (folder,) = [path for path in ROOT.glob(f"build/clients/{name}-*") if path.is_dir()]
    return folder


def outcomes_of(host, wrapped, folder, tests, env, pythonpath=()):
    """By test: passed, failed, skipped, xfailed, or crashed; and how often the client compiled, by result.

    After a test that ends the process the others go on in another one.
    """
    file, done = host.folder / "outcomes", host.folder / "done"
    outcomes, counts = {}, {}
    file.unlink(missing_ok=True)
    paths = [HERE, *pythonpath]
    for _ in range(MOST_CRASHES):
        done.write_text("\n".join(outcomes))
        run = host.run(
            [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "outcomes", "--rootdir", folder,
             *[folder / test for test in tests]], wrapped, code=None,
            env={"OUTCOMES": file, "OUTCOMES_DONE": done, "PYTHONPATH": ":".join(map(str, paths)), **env})
        started = None
        for line in file.read_text().splitlines():
            outcome, test, message = line.split("\t")
            if outcome == "start":
                started = test
            else:
                races = any(words in message for words in RACES.get(test, ()))
                outcomes[test], started = "passed" if races else outcome, None
        if wrapped and run.code in (0, 1):
            for name, count in run.counts.items():
                if name != "reasons":
                    counts[name] = counts.get(name, 0) + count
        if run.code >= 0:
            assert run.code in (0, 1) and outcomes, run  # whether tests failed
            return outcomes, counts
        assert started is not None and started not in outcomes, run
        outcomes[started] = "crashed"
        file.write_text("".join(f"{outcome}\t{test}\t\n" for test, outcome in outcomes.items()))
    raise AssertionError(f"{MOST_CRASHES} tests ended the process: {run}")


def differences(left, right):
    """By test, what became of it here and there, where that is not the same."""
    return {test: (left.get(test), right.get(test)) for test in {**left, **right} if left.get(test) != right.get(test)}
