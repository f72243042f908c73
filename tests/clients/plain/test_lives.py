"""Threads, several clients, a fork after the library was opened, an interpreter that ends with everything alive."""

import json
import os
import pathlib
import subprocess
import sys

import pytest
from conftest import SUMMARY, all_hits

LIVES = pathlib.Path(__file__).parent / "lives.py"
ONE = [2.0, 4.0, 6.0, 8.0]
COUNTS = {"threads": 8, "clients": 2, "fork": 2, "exit": 1}


@pytest.fixture(params=["0.115", "0.81"])
def host(request, new_host):
    return new_host(request.param)


def live(host, name, wrapped, env=None):
    done = host.run([sys.executable, LIVES, host.library(wrapped), name], wrapped, env=env)
    done.results = json.loads(done.out)
    return done


@pytest.mark.parametrize("name", ["threads", "clients", "exit"])
def test_the_same_bare_cold_and_warm(host, name):
    expected = [ONE] * COUNTS[name]
    assert live(host, name, False).results == expected
    cold, warm = live(host, name, True), live(host, name, True)
    assert cold.results == warm.results == expected
    assert (cold.counts["misses"], cold.counts["hits"]) == (1, COUNTS[name] - 1)
    assert all_hits(warm.counts) and warm.counts["hits"] == COUNTS[name]


def test_parent_and_child_share_one_compile(host):
    cold, warm = live(host, "fork", True), live(host, "fork", True)
    assert cold.results == warm.results == [ONE, 0]
    for done, expected in ((cold, ["hits=0 misses=1", "hits=1 misses=0"]), (warm, ["hits=1 misses=0"] * 2)):
        lines = [SUMMARY.match(line)[1] for line in done.said if SUMMARY.match(line)]
        assert sorted(" ".join(line.split()[:2]) for line in (text.removeprefix("summary: ") for text in lines)) == expected


def test_what_it_did_is_in_the_statistics(host):
    live(host, "exit", True, env={"PRECAST_LABEL": "a life"})
    live(host, "exit", True, env={"PRECAST_LABEL": "a life"})
    said = subprocess.run([os.environ["PRECAST_BIN"], "stats", "--json"], check=True, capture_output=True,
                          env=host.environment(True)).stdout
    results = json.loads(said)["labels"]["a life"]["results"]
    assert {name: result["count"] for name, result in results.items()} == {"hit": 1, "miss": 1}
