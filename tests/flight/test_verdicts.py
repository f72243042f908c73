"""What those who wait are told when the compile does not end in an entry."""

import pytest
from conftest import CROWD, until

FAILING = "module @m {}\n// fake: params=f32[2] fail=%s:no such thing\n"


def failing(precast, code):
    path = precast.folder / f"{code}.mlir"
    path.write_text(FAILING % code)
    return ["compile", path.name]


def crowd_on_a_failing_compile(crowd, compiles, code, count, latency_ms, shared):
    """One that compiles, and others who wait for it; all fail."""
    words = failing(crowd.precast, code)
    env = {"PRECAST_FAKE_LATENCY": f"PJRT_Client_Compile:{latency_ms}"}
    [first] = crowd.start(words, 1, env)
    until(lambda: compiles() == 1, "the first one compiles")
    others = crowd.start(words, count - 1, env)
    for one in [first, *others]:
        one.finish()
    assert {one.code for one in [first, *others]} == {first.code}
    assert first.code not in (0, None)
    # The plugin's own words, whoever heard them.
    told = f"precast: error: the plugin reported {code}: no such thing"
    assert {one.err.splitlines()[0] for one in [first, *others]} == {told}
    if shared:
        heard = [one for one in others if f"in the compile of process {first.process.pid} on " in one.err]
        assert len(heard) == len(others)
    return words


@pytest.mark.parametrize("code", ["INVALID_ARGUMENT", "UNIMPLEMENTED"])
def test_what_would_fail_again_is_told_to_those_who_wait_and_to_nobody_else(crowd, compiles, code):
    words = crowd_on_a_failing_compile(crowd, compiles, code, CROWD, 3000, shared=True)
    assert compiles() == 1
    [late] = crowd.start(words)
    late.finish()
    assert late.code != 0
    assert compiles() == 2, "the next request asks the compiler again"
    assert crowd.left() == []


@pytest.mark.parametrize("code", ["RESOURCE_EXHAUSTED", "CANCELLED", "INTERNAL", "UNAVAILABLE"])
def test_what_may_go_well_elsewhere_is_not_shared(crowd, compiles, code):
    crowd_on_a_failing_compile(crowd, compiles, code, 4, 300, shared=False)
    assert compiles() == 4
    assert crowd.left() == []


def test_what_cannot_be_stored_releases_all_at_once(crowd, compiles):
    env = {"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:4000"}
    [first] = crowd.start(["compile", "sort.mlir"], 1, env)
    until(lambda: compiles() == 1, "the first one compiles")
    others = crowd.start(["compile", "sort.mlir"], CROWD - 1, env)
    until(lambda: compiles() == CROWD, "all compile")
    # One after the other, those before the last one would have ended by now; a few may have started late.
    assert sum(one.process.poll() is not None for one in [first, *others]) <= CROWD // 2
    answers = [one.finish() for one in [first, *others]]
    assert {answer["outcome"] for answer in answers} == {"skip"}
    assert crowd.left() == []
