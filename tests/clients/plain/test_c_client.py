"""A program in C that knows PJRT's C ABI alone (client.c)."""

import os
import subprocess

import pytest
from conftest import Done, all_hits

CLIENT = os.environ["PRECAST_C_CLIENT"]
LINE = "compiled 1.5 5 10.5 18; of_a_c_program; loaded 1.5 5 10.5 18; bytes yes\n"


@pytest.fixture(params=["0.115", "0.81"])
def host(request, new_host):
    return new_host(request.param)


def test_it_lives_the_same_life_bare_cold_and_warm(host):
    bare = host.run([CLIENT, host.library(False), 3], wrapped=False)
    cold = host.run([CLIENT, host.library(True), 3], wrapped=True)
    warm = host.run([CLIENT, host.library(True), 3], wrapped=True)
    assert bare.out == cold.out == warm.out == 3 * LINE
    # Each round has a client and an executable of its own.
    assert (cold.counts["misses"], cold.counts["hits"]) == (1, 2)
    assert all_hits(warm.counts) and warm.counts["hits"] == 3
    assert len(host.entries()) == 1


def test_a_portable_executable_runs_on_each_device(host):
    """gopjrt and go-xla compile so for one device."""
    bare = host.run([CLIENT, host.library(False), 1, 2], wrapped=False)
    cold = host.run([CLIENT, host.library(True), 1, 2], wrapped=True)
    warm = host.run([CLIENT, host.library(True), 1, 0], wrapped=True)
    placed = host.run([CLIENT, host.library(True), 1], wrapped=True)
    assert bare.out == cold.out == warm.out == placed.out == LINE
    assert cold.counts["misses"] == 1 and all_hits(warm.counts)
    # The same for a particular device is another executable.
    assert placed.counts["misses"] == 1 and len(host.entries()) == 2


def test_without_the_cache_it_is_the_plugin_itself(host):
    done = host.run([CLIENT, host.library(True), 1], wrapped=True, env={"PRECAST_DISABLE": "1"})
    assert (done.out, done.said, host.cache.exists()) == (LINE, [], False)


def test_a_cache_that_cannot_be_used_costs_a_line(host):
    host.cache.write_text("a file where the folder should be")
    done = host.run([CLIENT, host.library(True), 1], wrapped=True, env={"PRECAST_LOG": None})
    assert done.out == LINE
    assert done.counts["hits"] == done.counts["misses"] == 0
    warnings = [line for line in done.said if "summary" not in line]
    assert len(warnings) == 1 and str(host.cache) in warnings[0], warnings


def test_sixteen_at_once_compile_once(host):
    clients = [host.start([CLIENT, host.library(True), 1], wrapped=True) for _ in range(16)]
    done = []
    for client in clients:
        out, err = client.communicate(timeout=300)
        done.append(Done(subprocess.CompletedProcess([], client.returncode, out, err)))
    assert {one.code for one in done} == {0} and {one.out for one in done} == {LINE}
    assert sum(one.counts["misses"] for one in done) == 1, done
    assert sum(one.counts["hits"] for one in done) == 15, done
    assert len(host.entries()) == 1


WRONG = {
    "no plugin is named": ({"PRECAST_PJRT_PLUGIN": None}, "PRECAST_PJRT_PLUGIN"),
    "a relative path": ({"PRECAST_PJRT_PLUGIN": "./plugin.so"}, "./plugin.so"),
    "no such file": ({"PRECAST_PJRT_PLUGIN": "/nowhere/plugin.so"}, "/nowhere/plugin.so"),
}


@pytest.mark.parametrize("case", WRONG)
def test_what_is_wrong_is_said_as_an_error_of_the_plugin(host, case):
    env, words = WRONG[case]
    done = host.run([CLIENT, host.library(True), 1], wrapped=True, env=env, code=1)
    assert done.err.startswith("initialize: precast: ") and words in done.err, done


def test_it_does_not_wrap_itself(host):
    env = {"PRECAST_PJRT_PLUGIN": host.library(True)}
    done = host.run([CLIENT, host.library(True), 1], wrapped=True, env=env, code=1)
    assert "which is Precast's own plugin" in done.err, done


def test_a_plugin_that_others_can_write_is_refused(host):
    place = host.folder / "open to all"
    place.mkdir()
    plugin = place / "plugin.so"
    plugin.symlink_to(host.plugin)
    place.chmod(0o777)
    # What counts is where the file is, not where a link to it is.
    assert host.run([CLIENT, host.library(True), 1], wrapped=True, env={"PRECAST_PJRT_PLUGIN": plugin}).out == LINE
    (place / "own.so").write_bytes(b"\x7fELF")
    done = host.run([CLIENT, host.library(True), 1], wrapped=True, code=1,
                    env={"PRECAST_PJRT_PLUGIN": place / "own.so"})
    assert "others may change what it is" in done.err and str(place) in done.err, done
