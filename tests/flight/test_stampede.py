"""One key, many fresh processes: one compiles and the others load, also when the compiler dies half-way."""

import json
import os
import subprocess
import time

import pytest
from conftest import (CROWD, PATIENCE_S, RANKER, SIGCONT, SIGKILL, SIGSTOP, SIGTERM, may_make_namespaces, outcomes,
                      until)

SLOW = {"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:2000"}


def test_one_compiles_and_all_others_load(crowd, compiles):
    answers = [one.finish() for one in crowd.start(["compile", "add.mlir"], CROWD, SLOW)]
    assert compiles() == 1
    assert sum(answer["outcome"] == "miss" for answer in answers) == 1
    assert sum(answer["outcome"] == "hit" for answer in answers) == CROWD - 1
    assert len({answer["root"] for answer in answers}) == 1
    assert [answer["warnings"] for answer in answers if answer["warnings"]] == []
    assert crowd.left() == []


def test_one_compiles_and_all_others_load_on_the_real_plugin(crowd, real):
    words = ["compile", RANKER / "ranker.mlirbc"]
    answers = [one.finish() for one in crowd.start(words, CROWD)]
    assert sum(answer["outcome"] == "miss" for answer in answers) == 1, outcomes(answers)
    assert sum(answer["outcome"] == "hit" for answer in answers) == CROWD - 1, outcomes(answers)
    assert crowd.left() == []


def compiler_and_crowd(crowd, compiles, namespace, compile_ms):
    """The first one compiles; then the others come, and wait for it."""
    env = {"PRECAST_FAKE_LATENCY": f"PJRT_Client_Compile:{compile_ms}"}
    [compiler] = crowd.start(["compile", "add.mlir"], 1, env, namespace=namespace)
    until(lambda: compiles() == 1, "the first one compiles")
    assert len(crowd.leases()) == 1
    others = crowd.start(["compile", "add.mlir"], CROWD - 1, SLOW, namespace=lambda i: namespace(i + 1))
    time.sleep(1)
    return compiler, others


@pytest.mark.parametrize("number", [SIGKILL, SIGTERM, SIGSTOP], ids=lambda n: n.name)
@pytest.mark.parametrize("spaces", ["one namespace", "namespaces"])
def test_a_compiler_that_is_lost_half_way_is_replaced_by_one(crowd, compiles, number, spaces):
    own = spaces == "namespaces"
    if own and not may_make_namespaces():
        pytest.skip("a PID namespace of its own needs root")
    # The compiler in its own one, and of the others each second.
    compiler, others = compiler_and_crowd(crowd, compiles, lambda i: own and i % 2 == 0,
                                          20_000 if number == SIGSTOP else 120_000)
    compiler.signal(number)
    if number != SIGSTOP:
        compiler.finish()
        assert compiler.code in (-number, 128 + number)
    answers = [one.finish() for one in others]
    assert compiles() == 2, "the one that was lost, and the one that took over"
    assert sum(answer["outcome"] == "miss" for answer in answers) == 1, outcomes(answers)
    assert sum(answer["outcome"] == "hit" for answer in answers) == CROWD - 2, outcomes(answers)
    if number == SIGSTOP:
        # It wakes up, has lost its lease, and harms nothing: its own answer is right.
        compiler.signal(SIGCONT)
        late = compiler.finish()
        assert compiler.code == 0, compiler.err
        assert late["outcome"] == "miss"
    assert crowd.left() == []
    [last] = crowd.start(["compile", "add.mlir"])
    assert last.finish()["outcome"] == "hit"


def test_told_to_end_a_compiler_gives_its_lease_back_while_it_compiles(crowd, compiles):
    env = {"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:60000"}
    [compiler] = crowd.start(["compile", "add.mlir"], 1, env)
    until(lambda: compiles() == 1, "it compiles")
    assert len(crowd.leases()) == 1
    compiler.signal(SIGTERM)
    compiler.finish()
    assert compiler.code == -SIGTERM
    assert crowd.leases() == []


def test_whoever_waits_is_told_for_whom(crowd, compiles):
    compiler, others = compiler_and_crowd(crowd, compiles, lambda i: False, 4000)
    answers = [one.finish() for one in others]
    compiler.finish()
    assert compiles() == 1
    # One that started late finds the entry, and waits for nobody.
    waited = [answer for answer in answers if answer["reason"] == "waited"]
    assert waited
    assert all(answer["phases_ms"].get("wait", 0) > 0 for answer in waited)


def test_many_keys_and_two_that_everybody_wants(precast, compiles, crowd):
    """16 processes, 200 keys in 16 orders, and two hot ones all the time: each is compiled once."""
    keys, hot = 200, 2
    driver = os.environ["PRECAST_FLIGHT_DRIVER"]
    running = [
        subprocess.Popen([driver, precast.env["PRECAST_PLUGIN"], precast.cache, str(i * 37 % keys), str(keys)],
                         env=precast.environment(None), stdout=subprocess.PIPE) for i in range(CROWD)]
    ends = {}
    for process in running:
        out, _ = process.communicate(timeout=PATIENCE_S)
        assert process.returncode == 0
        said = json.loads(out)
        assert said["wrong"] == {}
        for name, count in said["ends"].items():
            ends[name] = ends.get(name, 0) + count
    assert set(ends) <= {"hit", "miss", "lease:waited"}, ends
    assert ends["miss"] == keys + hot
    assert sum(ends.values()) == CROWD * (keys + keys // 10 * hot)
    assert compiles() == keys + hot
    assert len(list(precast.cache.glob("v1/??/*.precast"))) == keys + hot
    assert crowd.left() == []
