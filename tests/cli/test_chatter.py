"""What the plugin prints on standard error: kept back, and shown when it matters."""

import subprocess

import pytest

LOUD = {"PRECAST_FAKE_CHATTER": "PJRT_Client_Compile:3;PJRT_Executable_DeserializeAndLoad:5"}


def test_nothing_of_it_when_all_is_well(precast):
    for outcome in ("miss", "hit"):
        done = precast("compile", "add.mlir", env=LOUD)
        assert done.out.startswith(outcome) and done.err == ""
    assert precast("run", "add.mlir", "--fill", "iota", env=LOUD).err == ""


def test_all_of_it_with_verbose(precast):
    done = precast("compile", "add.mlir", "--verbose", env=LOUD)
    # A compile, and the trial load before it is stored.
    assert done.err.count("PJRT_Client_Compile says line") == 3
    assert done.err.count("PJRT_Executable_DeserializeAndLoad says line") == 5


def test_it_comes_with_an_error(precast):
    fault = {**LOUD, "PRECAST_FAKE_FAULT": "PJRT_Client_Compile:INTERNAL:it broke"}
    done = precast("compile", "add.mlir", env=fault, code=10)
    error, said = done.err.split("precast: the plugin said:\n")
    assert "it broke" in error
    assert said.splitlines() == [f"  fake plugin: PJRT_Client_Compile says line {i}"
                                 for i in (1, 2, 3)]
    # With --json, too; standard output stays one object.
    done = precast("compile", "add.mlir", "--json", env=fault, code=10)
    assert done.json["error"]["message"] == "it broke" and "the plugin said" in done.err


def test_it_is_bounded(precast):
    fault = {"PRECAST_FAKE_CHATTER": "PJRT_Client_Compile:100000",
             "PRECAST_FAKE_FAULT": "PJRT_Client_Compile:INTERNAL:it broke"}
    done = precast("compile", "add.mlir", env=fault, code=10)
    assert "says line 100000\n" in done.err and "are left out)" in done.err
    assert len(done.err) < 20_000


def test_a_crash_does_not_take_it_along(precast):
    fault = {**LOUD, "PRECAST_FAKE_FAULT": "PJRT_Client_Compile:ABORT:a check failed"}
    for words in ([], ["--verbose"], ["--quiet"]):
        process = subprocess.run([precast.binary, "compile", "add.mlir", *words],
                                 cwd=precast.folder, env=precast.environment(fault),
                                 capture_output=True, timeout=60)
        assert process.returncode == -6
        assert process.stderr.count(b"says line 3\n") == 1
        assert process.stderr.endswith(b"fake plugin: a check failed\n")


@pytest.mark.parametrize("flags", ["--no_such_flag=1", "--xla_backend_extra_options=no_such_option"])
def test_an_exit_of_the_real_plugin_shows_why(real, flags):
    process = subprocess.run([real.binary, "compile", "add.mlir"], cwd=real.folder,
                             env=real.environment({"XLA_FLAGS": flags}), capture_output=True,
                             timeout=60)
    assert process.returncode != 0
    assert flags.split("=")[0].strip("-").encode() in process.stderr or \
        b"no_such_option" in process.stderr


def test_a_hundred_warm_loads_print_nothing(real):
    real("compile", "add.mlir")
    printed = "".join(real("compile", "add.mlir").err for _ in range(100))
    assert printed == ""
