"""precast trial-load, the process in which an artifact is tried; src/cache/trial_load_test.cc has its parent."""

import ctypes
import os
import signal
import subprocess
import sys
import time

import pytest

BEGINS = "precast: trial load: begins\n"
LOADS = BEGINS + "precast: trial load: loads\n"


def say(precast, *words, env=None, code=0):
    """What it prints. Its input is no pipe: the end of one is the end of its parent."""
    done = subprocess.run([precast.binary, *words], env=precast.environment(env), cwd=precast.folder,
                          stdin=subprocess.DEVNULL, capture_output=True, timeout=300, check=False)
    assert done.returncode == code, done
    return done.stdout.decode()


@pytest.fixture
def artifact(precast):
    """The words that try an artifact which this command made."""
    root = precast.json("compile", "add.mlir", "-o", "a.precast")["root"]
    return ["trial-load", "--plugin", precast.env["PRECAST_PLUGIN"], "--artifact", "a.precast", "--root", root]


def test_a_sound_artifact_loads(precast, artifact):
    assert say(precast, *artifact) == LOADS
    assert say(precast, *artifact, "--devices", "2") == LOADS
    assert say(precast, *artifact, "--client-option", "cpu_device_count:int=8", "--devices", "7") == LOADS


def test_on_the_real_plugin(real):
    root = real.json("compile", "add.mlir", "-o", "a.precast")["root"]
    words = ["trial-load", "--plugin", real.env["PRECAST_PLUGIN"], "--artifact", "a.precast", "--root", root]
    assert say(real, *words) == LOADS


def test_a_refusal_has_the_plugins_words(precast, artifact):
    env = {"PRECAST_FAKE_FAULT": "PJRT_Executable_DeserializeAndLoad:INTERNAL:out of luck"}
    out = say(precast, *artifact, env=env)
    assert out.startswith(BEGINS + "precast: trial load: refused: plugin_error (INTERNAL): ")
    assert "out of luck" in out and out.count("\n") == 2


def test_a_crash_is_the_childs(precast, artifact):
    env = {"PRECAST_FAKE_FAULT": "PJRT_Executable_DeserializeAndLoad:ABORT:boom"}
    assert say(precast, *artifact, env=env, code=-signal.SIGABRT).startswith(BEGINS)


def test_only_the_load_lies_between_the_words(precast, artifact):
    env = {"PRECAST_FAKE_FAULT": "PJRT_Client_Create:ABORT:no second client"}
    assert "begins" not in say(precast, *artifact, env=env, code=-signal.SIGABRT)
    env = {"PRECAST_FAKE_FAULT": "PJRT_Client_Destroy:ABORT:teardown"}
    assert say(precast, *artifact, env=env, code=-signal.SIGABRT).startswith(LOADS)


@pytest.mark.parametrize("change, why", [
    (["--root", "0" * 64], "another artifact"),
    (["--artifact", "missing.precast"], "missing.precast"),
    (["--plugin", "/no/such/plugin.so"], "/no/such/plugin.so"),
    (["--devices", "99"], "99"),
    (["--client-option", "nonsense"], "nonsense"),
])
def test_what_says_nothing_about_the_artifact(precast, artifact, change, why):
    words = [word for pair in zip(artifact[1::2], artifact[2::2]) if pair[0] != change[0] for word in pair]
    out = say(precast, "trial-load", *words, *change)
    assert out.removeprefix(BEGINS).startswith("precast: trial load: not run: ") and why in out


def test_other_bytes_are_not_loaded(precast, artifact, counter):
    path = precast.folder / "a.precast"
    path.write_bytes(path.read_bytes()[:-1])
    assert "not run" in say(precast, *artifact)
    assert counter() == ""


def is_alive(pid):
    try:
        return os.read(os.open(f"/proc/{pid}/stat", os.O_RDONLY), 4096).rpartition(b") ")[2][:1] != b"Z"
    except OSError:
        return False


# Killed by the kernel at once, or by the end of the pipe where the parent was another thread's.
# The parent's output carries the child's number alone: what the child writes may come first.
PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
print(child.pid, flush=True)
child.wait()
"""


@pytest.mark.parametrize("setsid", [False, True])
def test_the_child_dies_with_its_parent(precast, artifact, setsid):
    env = precast.environment({"PRECAST_FAKE_LATENCY": "PJRT_Executable_DeserializeAndLoad:600000"})
    script = PARENT.replace("stdin=subprocess.PIPE", f"stdin=subprocess.PIPE, start_new_session={setsid}")
    parent = subprocess.Popen([sys.executable, "-c", script, precast.binary, *artifact], env=env,
                              cwd=precast.folder, stdout=subprocess.PIPE)
    child = int(parent.stdout.readline())
    time.sleep(0.5)
    assert is_alive(child)
    parent.kill()
    parent.wait()
    parent.stdout.close()
    deadline = time.monotonic() + 30
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.02)
    assert not is_alive(child)


def test_the_verb_is_not_in_the_help(precast):
    assert "trial-load" not in precast("--help").out


CLONE_NEWUTS, CLONE_NEWUSER = 0x04000000, 0x10000000


def elsewhere():
    """Run in the child before the command: from here on it is on a host of another name."""
    libc = ctypes.CDLL(None, use_errno=True)
    flags = CLONE_NEWUTS | (0 if os.geteuid() == 0 else CLONE_NEWUSER)
    if libc.unshare(flags) != 0 or libc.sethostname(b"elsewhere", 9) != 0:
        raise OSError(ctypes.get_errno(), "no other host name")


@pytest.fixture
def foreign(precast):
    """A cache with an entry that another host made."""
    try:
        made = precast.json("compile", "add.mlir", preexec_fn=elsewhere)
    except subprocess.SubprocessError as error:
        pytest.skip(f"no host name of one's own here: {error}")
    assert precast.json("inspect", made["artifact"])["provenance"]["host"] == "elsewhere"
    return precast


def test_what_another_host_made_is_tried_once(foreign):
    first = foreign.json("compile", "add.mlir", "--trial-load")
    assert first["outcome"] == "hit" and "trial_load" in first["phases_ms"]
    second = foreign.json("compile", "add.mlir", "--trial-load")
    assert second["outcome"] == "hit" and "trial_load" not in second["phases_ms"]


def test_what_ends_the_child_does_not_end_the_command(foreign):
    env = {"PRECAST_FAKE_FAULT": "PJRT_Executable_DeserializeAndLoad:ABORT:boom"}
    done = foreign.json("compile", "add.mlir", "--trial-load", env=env)
    assert (done["outcome"], done["reason"]) == ("skip", "trial_load_failed")
    assert "signal 6" in done["detail"]
    # This host has learned it; the entry stays for the others.
    again = foreign.json("compile", "add.mlir", env=env)
    assert (again["outcome"], again["reason"]) == ("skip", "refused_here")
    assert foreign.json("ls")["entries"]
    assert foreign.json("run", "add.mlir", "--fill", "iota")["reason"] == "refused_here"


def test_what_this_host_made_is_not_tried(precast):
    precast("compile", "add.mlir")
    done = precast.json("compile", "add.mlir", "--trial-load")
    assert done["outcome"] == "hit" and "trial_load" not in done["phases_ms"]
