"""The real CPU plugin as a witness, and Precast's answers beside it."""

import importlib.util
import json
import os
import pathlib
import subprocess
import sys

import messages
import pytest

HERE = pathlib.Path(__file__).parent


class Witness:
    """The plugin of the Python that runs these tests, in child processes."""

    def __init__(self, plugin):
        self.plugin = plugin

    def run(self, steps, flags=None, folder=None):
        """The answers to the steps, or None when the process ended before them. flags are bytes."""
        environment = {key: value for key, value in os.environb.items() if key != b"XLA_FLAGS"}
        if flags is not None:
            environment[b"XLA_FLAGS"] = flags
        lines = "".join(json.dumps(step) + "\n" for step in steps)
        done = subprocess.run(
            [sys.executable, str(HERE / "child.py"), self.plugin], input=lines.encode(),
            capture_output=True, env=environment, cwd=folder, timeout=300)
        if done.returncode != 0:
            return None
        return [json.loads(line) for line in done.stdout.splitlines()]

    def effective(self, flags=None, folder=None):
        """{number: values} of a compile under these flags; None when they end the process."""
        answers = self.run([{"options": messages.ONE_DEVICE.hex()}], flags, folder)
        return None if answers is None else messages.fields(bytes.fromhex(answers[0]["options"]))


class Precast:
    """flags_dump, one process for all questions."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def ask(self, *words):
        words = [(word.hex() or "-") if isinstance(word, bytes) else word for word in words]
        self.process.stdin.write((" ".join(words) + "\n").encode())
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def flags(self, kind, content):
        answer = self.ask(kind, content)
        answer["effective"] = [
            (bytes.fromhex(name).decode("latin-1"), bytes.fromhex(value))
            for name, value in answer["effective"]]
        return answer


@pytest.fixture(scope="session")
def witness():
    spec = importlib.util.find_spec("lammps_jax_pjrt_cpu")
    if spec is None:
        pytest.fail("the package lammps-jax-pjrt-cpu is missing: tools/setup test-venv")
    return Witness(str(pathlib.Path(spec.origin).parent / "pjrt_c_api_cpu_plugin.so"))


@pytest.fixture(scope="session")
def precast():
    build = pathlib.Path(os.environ.get("PRECAST_BUILD_DIR", HERE.parents[1] / "build"))
    precast = Precast(build / "tests" / "flags_dump")
    yield precast
    precast.process.stdin.close()
    assert precast.process.wait(timeout=10) == 0
