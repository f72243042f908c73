"""A store on a file system that stops answering costs one silence, and the compile goes on."""

import concurrent.futures
import contextlib
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from fuse_mount import mounted

PROGRAM = pathlib.Path(__file__).parents[1] / "cli" / "programs" / "add.mlir"
SILENCE_S = 10  # kSilence of src/base/guard.h
PATIENCE_S = 60


class Machine:
    """The command with its store on a mount of its own."""

    def __init__(self, folder, mount):
        self.mount = mount
        # A copy could be open for writing in a child that another thread forks: "text file busy".
        self.binary = os.environ["PRECAST_BIN"]
        self.env = {"HOME": str(folder), "PATH": os.environ["PATH"],
                    "PRECAST_CACHE": str(mount.path / "cache"),
                    "PRECAST_PLUGIN": os.environ["PRECAST_FAKE_PLUGIN"]}

    def __call__(self, *words):
        before = time.monotonic()
        done = subprocess.run([self.binary, *words, "--json"], env=self.env, capture_output=True,
                              timeout=120, check=False)
        assert done.returncode == 0, done.stderr
        return {**json.loads(done.stdout), "took_s": time.monotonic() - before}

    def compile(self):
        return self("compile", PROGRAM)

    def start(self, latency):
        return subprocess.Popen([self.binary, "compile", PROGRAM],
                                env={**self.env, "PRECAST_FAKE_LATENCY": latency},
                                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def counts(self):
        return {name: tally["count"] for name, tally in self("stats")["results"].items()}


@contextlib.contextmanager
def machine():
    """In a folder that no other user can write to, as a store wants it."""
    with tempfile.TemporaryDirectory(prefix="precast-fuse-") as name:
        folder = pathlib.Path(name).resolve()
        with mounted(folder) as mount:
            yield Machine(folder, mount)


def while_reading(rule):
    """What a compile comes to while `rule` holds, and the next one after it."""
    with machine() as precast:
        assert precast.compile()["outcome"] == "miss"
        precast.mount.rule(rule)
        during = precast.compile()
        precast.mount.rule()
        return during, precast.compile(), precast.counts()


@contextlib.contextmanager
def with_state_on_the_mount(store_too):
    with machine() as precast:
        precast.env["XDG_STATE_HOME"] = str(precast.mount.path / "state")
        if not store_too:
            precast.env["PRECAST_CACHE"] = str(pathlib.Path(precast.env["HOME"]) / "cache")
        yield precast


def with_hung_state(store_too):
    """The same where the state folder is on the mount, and the store on it too, or on a healthy one."""
    with with_state_on_the_mount(store_too) as precast:
        assert precast.compile()["outcome"] == "miss"
        assert precast.counts() == {"miss": 1}, "it works while it answers"
        precast.mount.rule("all:hang")
        during = precast.compile()
        precast.mount.rule()
        return during, precast.compile(), precast.counts()


def with_hung_state_from_the_start():
    """A miss, of which nothing can be kept but the entry."""
    with with_state_on_the_mount(store_too=False) as precast:
        precast.mount.rule("all:hang")
        during = precast.compile()
        precast.mount.rule()
        return during, precast.compile(), precast.counts()


def while_stopped():
    with machine() as precast:
        precast.compile()
        precast.mount.pause()
        during = precast.compile()
        precast.mount.go_on()
        return during, precast.compile(), precast.counts()


def while_publishing():
    with machine() as precast:
        precast.mount.rule("fsync:hang")
        during = precast.compile()
        precast.mount.rule()
        return during, precast.compile(), precast.counts()


def end_while(rule):
    """The exit code of a command that is told to end while it compiles and `rule` holds."""
    with machine() as precast:
        compiler = precast.start("PJRT_Client_Compile:60000")
        leases = precast.mount.source / "cache" / "v1" / "leases"
        while not leases.is_dir() or not any(leases.iterdir()):
            assert compiler.poll() is None
            time.sleep(0.05)
        precast.mount.rule(rule)
        compiler.send_signal(signal.SIGTERM)
        try:
            return compiler.wait(PATIENCE_S)
        finally:
            precast.mount.rule()
            compiler.kill()


CASES = {
    "read": lambda: while_reading("read:hang"),
    "open": lambda: while_reading("open:hang"),
    "all": lambda: while_reading("all:hang"),
    "stopped": while_stopped,
    "publish": while_publishing,
    "home": lambda: with_hung_state(store_too=True),
    "state": lambda: with_hung_state(store_too=False),
    "first state": with_hung_state_from_the_start,
}


@pytest.fixture(scope="module")
def results():
    """All cases at once: each of them waits most of the time."""
    with machine():
        pass  # where nothing can be mounted, all is skipped
    with concurrent.futures.ThreadPoolExecutor(len(CASES)) as pool:
        futures = {name: pool.submit(case) for name, case in CASES.items()}
        return {name: future.result() for name, future in futures.items()}


def test_it_is_a_store_like_any_other():
    with machine() as precast:
        assert precast.compile()["outcome"] == "miss"
        assert precast.compile()["outcome"] == "hit"


@pytest.mark.parametrize("case", ["read", "open", "all", "stopped"])
def test_what_hangs_is_given_up(results, case):
    during, after, counts = results[case]
    assert (during["outcome"], during["reason"]) == ("bypass", "store_hung")
    assert "hangs" in during["warnings"][0]
    # One silence, whatever is asked of the store in one process.
    assert SILENCE_S <= during["took_s"] < 2 * SILENCE_S
    assert after["outcome"] == "hit", "the next process asks again"
    assert counts == {"miss": 1, "bypass:store_hung": 1, "hit": 1}


def test_a_publish_that_hangs_is_given_up(results):
    during, after, counts = results["publish"]
    assert (during["outcome"], during["reason"]) == ("skip", "store_hung")
    assert during["took_s"] < 2 * SILENCE_S
    assert after["outcome"] in ("miss", "hit")
    assert counts["skip:store_hung"] == 1


@pytest.mark.parametrize("case, outcome", [("home", "bypass"), ("state", "hit"), ("first state", "miss")])
def test_a_state_folder_that_hangs_is_as_if_there_were_none(results, case, outcome):
    during, after, counts = results[case]
    assert during["outcome"] == outcome, during
    # One silence for the first that hangs, and a short one for each of the others.
    assert SILENCE_S <= during["took_s"] < 2 * SILENCE_S
    assert after["outcome"] == "hit"
    assert counts.get("bypass:store_hung") is None, "what was counted meanwhile is lost"
    assert counts["hit"] == 1


@pytest.mark.parametrize(("rule", "number"), [("unlink:hang", signal.SIGALRM),
                                              ("fsync:hang", signal.SIGTERM)])
def test_a_holder_ends_when_it_is_told_to(rule, number):
    assert end_while(rule) == -number
