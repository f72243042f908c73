"""Many processes that want the same program at once: what they share, and what the tests of them share."""

import json
import os
import pathlib
import signal
import subprocess
import sys
import time

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]

sys.path.insert(0, str(TESTS))  # command

from command import RANKER, binary, precast, real, real_plugin  # noqa: E402, F401

CROWD = 16
# More than any of this takes; a hang is what it finds.
PATIENCE_S = 120
# Behind the shell, the command is not the first process of its namespace, which no signal ends.
OWN_NAMESPACE = ["unshare", "--pid", "--fork", "--kill-child", "sh", "-c", '"$@"; exit $?', "sh"]


def until(true, what):
    """Waits for something that happens sooner or later; the limit is for what never does."""
    end = time.monotonic() + PATIENCE_S
    while not true():
        assert time.monotonic() < end, f"still not: {what}"
        time.sleep(0.02)


def children_of(pid):
    found = []
    for path in pathlib.Path(f"/proc/{pid}/task").glob("*/children"):
        try:
            found += [int(word) for word in path.read_text().split()]
        except OSError:
            pass  # it ended meanwhile
    return found


class Running:
    """A `precast` that runs, in a PID namespace of its own if asked."""

    def __init__(self, precast, words, env=None, namespace=False):
        wrapper = OWN_NAMESPACE if namespace else []
        self.process = subprocess.Popen(
            [*wrapper, precast.binary, *map(str, words), "--json"], env=precast.environment(env), cwd=precast.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.namespace = namespace

    @property
    def pid(self):
        """Of the command itself, as this namespace sees it."""
        pid = self.process.pid
        if not self.namespace:
            return pid
        for _ in range(2):  # unshare, sh, precast
            until(lambda: children_of(pid) or self.process.poll() is not None, "a process in the new namespace")
            pid = children_of(pid)[0]
        return pid

    def signal(self, number):
        os.kill(self.pid, number)

    def finish(self):
        out, err = self.process.communicate(timeout=PATIENCE_S)
        self.code = self.process.returncode
        self.err = err.decode()
        return json.loads(out) if out.strip() else None


class Crowd:
    """Starts commands and ends what is left of them."""

    def __init__(self, precast):
        self.precast = precast
        self.all = []

    def start(self, words, count=1, env=None, namespace=lambda i: False):
        started = [Running(self.precast, words, env, namespace(i)) for i in range(count)]
        self.all += started
        return started

    def leases(self):
        return sorted(path.name for path in (self.precast.cache / "v1" / "leases").glob("*"))

    def left(self):
        """What nobody should find afterwards."""
        return [*self.leases(), *self.precast.cache.rglob(".tmp-*")]

    def close(self):
        for one in self.all:
            if one.process.poll() is None:
                one.process.kill()
                one.process.communicate()


@pytest.fixture
def compiles(precast):
    """How many compiles have begun so far in the fake plugin."""
    path = precast.folder / "calls"
    precast.env["PRECAST_FAKE_LOG"] = str(path)
    return lambda: path.read_text().split().count("PJRT_Client_Compile") if path.exists() else 0


@pytest.fixture
def crowd(precast):
    made = Crowd(precast)
    yield made
    made.close()


def outcomes(answers):
    """How many ended how."""
    counted = {}
    for answer in answers:
        name = f"{answer['outcome']}:{answer['reason']}"
        counted[name] = counted.get(name, 0) + 1
    return counted


def may_make_namespaces():
    return os.geteuid() == 0 and subprocess.run(["unshare", "--pid", "--fork", "true"], check=False).returncode == 0


SIGKILL, SIGSTOP, SIGTERM, SIGCONT = signal.SIGKILL, signal.SIGSTOP, signal.SIGTERM, signal.SIGCONT
