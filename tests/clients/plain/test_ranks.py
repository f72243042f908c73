"""Ranks of one job: a compile for devices of several processes may be collective, so that no rank may hit alone."""

import os
import pathlib
import subprocess
import sys

import pytest
from conftest import Done

RANK = pathlib.Path(__file__).parent / "rank.py"


@pytest.fixture
def job(new_host):
    """Two hosts of one job; the fake plugin makes each of them a process of it."""
    hosts = [new_host(), new_host()]
    for host in hosts:
        host.plugin = pathlib.Path(os.environ["PRECAST_FAKE_PLUGIN"])

    def run():
        running = [host.start([sys.executable, RANK, host.library(True)], wrapped=True, env={
            "PRECAST_FAKE_PROCESS_INDICES": "0,1", "PRECAST_FAKE_PROCESS_INDEX": rank,
            "PRECAST_FAKE_DEVICES": "2", "PRECAST_FAKE_COUNTER": host.folder / "counter"})
            for rank, host in enumerate(hosts)]
        done = []
        for process in running:
            out, err = process.communicate(timeout=60)
            done.append(Done(subprocess.CompletedProcess([], process.returncode, out, err)))
        return done
    return hosts, run


def test_one_warm_and_one_cold_both_compile(job):
    hosts, run = job
    for round_number in (1, 2):
        for done in run():
            assert (done.code, done.out) == (0, "both\n"), done
            assert done.counts["reasons"] == {"multi_process": 1} and done.counts["bypasses"] == 1, done
        # The second time one has what the first time left, if it left anything, and the other is new.
        if hosts[1].cache.exists():
            hosts[1].cache.rename(hosts[1].folder / f"cache of round {round_number}")
    assert [(host.folder / "counter").read_text() for host in hosts] == ["CC", "CC"]
    assert [host.entries() for host in hosts] == [[], []]
