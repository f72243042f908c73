"""Clients that know nothing of Precast, on a plugin as it is and through the wrapper around it.

PRECAST_WRAPPER names libprecast_pjrt.so. The plugins are those of build/venv, whichever Python runs the tests.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
# By the version of PJRT's C API.
PLUGINS = {
    "0.115": "lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so",
    "0.81": "xla_plugins/xla_cpu_pjrt/xla_cpu_pjrt.so",
}
SUMMARY = re.compile(r"^\[precast\] summary: (.*) plugin=(.*)$", re.MULTILINE)


def plugin_path(version):
    paths = list(ROOT.glob(f"build/venv/lib/python3*/site-packages/{PLUGINS[version]}"))
    assert len(paths) == 1, f"build/venv has no plugin for PJRT {version}: tools/setup test-venv"
    return paths[0]


def wrapper_path():
    return pathlib.Path(os.environ["PRECAST_WRAPPER"])


class Done:
    """What a process left behind. The wrapper's own lines are apart from what the client wrote on standard error."""

    def __init__(self, process):
        self.code = process.returncode
        self.out = process.stdout.decode(errors="replace")
        err = process.stderr.decode(errors="replace")
        self.said = [line for line in err.splitlines() if line.startswith("[precast] ")]
        self.err = "\n".join(line for line in err.splitlines() if not line.startswith("[precast] "))

    @property
    def counts(self):
        """The numbers of the summary, and the reasons of bypasses by name."""
        (line,) = [line for line in self.said if line.startswith("[precast] summary: ")]
        counts = {name: int(number) for name, number in re.findall(r"(\w+)=(\d+)", SUMMARY.match(line)[1])}
        counts["reasons"] = {name: int(number) for name, number in re.findall(r"(\w+) (\d+)", line)}
        return counts

    @property
    def compiles(self):
        """How often the client compiled, whatever became of it."""
        counts = self.counts
        return sum(counts[name] for name in ("hits", "misses", "skips", "bypasses", "errors"))

    def __repr__(self):
        said = "\n".join(self.said)
        return f"exit {self.code}\nout:\n{self.out}\nerr:\n{self.err}\nwrapper:\n{said}"


class Host:
    """A machine with one plugin, where clients are started: a home and a cache of its own."""

    def __init__(self, folder, version):
        self.folder = folder
        self.version = version
        self.plugin = plugin_path(version)
        self.cache = folder / "cache"
        (folder / "tmp").mkdir()

    def library(self, wrapped):
        """What a client is told to open."""
        return wrapper_path() if wrapped else self.plugin

    def library_of_the_same_name(self, wrapped):
        """For clients that show the name of the library's file, or take it for what the plugin is for."""
        if not wrapped:
            return self.plugin
        copy = self.folder / "copy" / self.plugin.name
        if not copy.exists():
            copy.parent.mkdir()
            shutil.copy(wrapper_path(), copy)
        return copy

    def environment(self, wrapped, changes=None):
        env = {"HOME": str(self.folder), "PATH": os.environ["PATH"], "TMPDIR": str(self.folder / "tmp"),
               "PYTHONDONTWRITEBYTECODE": "1"}
        if wrapped:
            env |= {"PRECAST_PJRT_PLUGIN": str(self.plugin), "PRECAST_CACHE": str(self.cache),
                    "PRECAST_SUMMARY": "1", "PRECAST_LOG": "info"}
        env |= changes or {}
        return {name: str(value) for name, value in env.items() if value is not None}

    def start(self, words, wrapped, env=None):
        return subprocess.Popen([str(word) for word in words], env=self.environment(wrapped, env), cwd=self.folder,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, words, wrapped, env=None, code=0):
        """`code` None takes any, also the end by a signal."""
        process = self.start(words, wrapped, env)
        out, err = process.communicate(timeout=600)
        done = Done(subprocess.CompletedProcess(words, process.returncode, out, err))
        assert code is None or done.code == code, done
        return done

    def entries(self):
        return sorted(path.name for path in self.cache.rglob("*.precast"))


def all_hits(counts):
    return counts["hits"] > 0 and all(counts[name] == 0 for name in ("misses", "skips", "bypasses", "errors"))


@pytest.fixture(scope="module")
def new_host():
    """Makes hosts; not in pytest's folder, since a cache is refused where others could write above it."""
    folders = []

    def make(version="0.115"):
        folders.append(tempfile.TemporaryDirectory(prefix="precast-client-"))
        return Host(pathlib.Path(folders[-1].name).resolve(), version)

    yield make
    for folder in folders:
        folder.cleanup()
