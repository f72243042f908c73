"""Runs the built command as a user would: a process of its own, in a folder of its own.

PRECAST_BIN names the command and PRECAST_FAKE_PLUGIN the fake plugin (testing/README.md). The real
CPU plugin is the one of the Python that runs these tests; without it the tests that need it fail.
"""

import importlib.util
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

HERE = pathlib.Path(__file__).parent
PROGRAMS = HERE / "programs"
RANKER = HERE.parents[1] / "examples" / "ranker"


def package_file(package, name):
    spec = importlib.util.find_spec(package)
    return None if spec is None else str(pathlib.Path(spec.origin).parent / name)


def real_plugin_path():
    return package_file("lammps_jax_pjrt_cpu", "pjrt_c_api_cpu_plugin.so")


def old_plugin_path():
    """XLA's CPU plugin of November 2025, PJRT 0.81."""
    return package_file("xla_plugins.xla_cpu_pjrt", "xla_cpu_pjrt.so")


class Done:
    """What a command left behind."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode()
        self.err = process.stderr.decode()

    @property
    def json(self):
        assert self.out.count("\n") == 1, f"not one line: {self.out!r}; {self.err}"
        return json.loads(self.out)

    def __repr__(self):
        return f"exit {self.code}\nout:\n{self.out}\nerr:\n{self.err}"


class Precast:
    """The command, with a cache folder and an environment that nothing leaks into."""

    def __init__(self, folder, binary):
        self.binary = binary
        self.folder = folder
        self.cache = folder / "cache"
        self.env = {
            "HOME": str(folder),
            "PATH": os.environ["PATH"],
            "TMPDIR": str(folder / "tmp"),
            "PRECAST_CACHE": str(self.cache),
            "PRECAST_PLUGIN": os.environ["PRECAST_FAKE_PLUGIN"],
        }
        # What a sanitizer needs.
        for name in ("ASAN_OPTIONS", "UBSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        (folder / "tmp").mkdir()

    def environment(self, changes):
        env = {**self.env, **(changes or {})}
        return {name: value for name, value in env.items() if value is not None}

    def __call__(self, *words, env=None, code=0, stdin=b"", **kwargs):
        """Runs `precast words...`; `code` None takes any exit code that is not a crash."""
        process = subprocess.run(
            [self.binary, *map(str, words)], env=self.environment(env), cwd=self.folder,
            input=stdin, capture_output=True, timeout=300, **kwargs)
        done = Done(process)
        assert done.code >= 0, done
        assert code is None or done.code == code, done
        return done

    def json(self, *words, **kwargs):
        return self(*words, "--json", **kwargs).json


@pytest.fixture(scope="session")
def binary(tmp_path_factory):
    """A copy of the command: in the build tree it would find the plugin of the tree's venv. Its library is found from
    where it is."""
    built = pathlib.Path(os.environ["PRECAST_BIN"])
    place = tmp_path_factory.mktemp("copy")
    (place / "bin").mkdir()
    (place / "lib").symlink_to(built.parents[1] / "lib")
    return shutil.copy2(built, place / "bin" / "precast")


@pytest.fixture
def precast(binary):
    """The command with the fake plugin, in a folder that holds the programs.

    The folder is not pytest's: a cache is refused where others could write to a folder above it, and
    a checkout may lie in such a place.
    """
    with tempfile.TemporaryDirectory(prefix="precast-cli-") as name:
        folder = pathlib.Path(name).resolve()
        for program in PROGRAMS.iterdir():
            shutil.copy(program, folder)
        yield Precast(folder, binary)


@pytest.fixture(scope="session")
def real_plugin():
    path = real_plugin_path()
    if path is None:
        pytest.fail("the package lammps-jax-pjrt-cpu is missing: tools/setup test-venv")
    return path


@pytest.fixture
def real(precast, real_plugin):
    """The command with the real CPU plugin."""
    precast.env["PRECAST_PLUGIN"] = real_plugin
    return precast


@pytest.fixture(params=["0.115", "0.81"])
def each_real(request, precast, real_plugin):
    """The command with each of the real CPU plugins."""
    precast.env["PRECAST_PLUGIN"] = real_plugin if request.param == "0.115" else old_plugin_path()
    return precast


@pytest.fixture
def counter(precast):
    """How often the fake plugin compiled (C), serialized (S) and deserialized (D), as text."""
    path = precast.folder / "counter"
    precast.env["PRECAST_FAKE_COUNTER"] = str(path)
    return lambda: path.read_text() if path.exists() else ""


@pytest.fixture
def calls(precast):
    """The functions that were called in the fake plugin so far."""
    path = precast.folder / "calls"
    precast.env["PRECAST_FAKE_LOG"] = str(path)
    return lambda: path.read_text().split() if path.exists() else []
