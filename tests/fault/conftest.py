"""What the proofs about faults share: the command, a folder for each run, and how much of a sweep to do.

PRECAST_SWEEP=full does every case (make test-long); without it a sample that takes seconds.
"""

import concurrent.futures
import os
import pathlib
import sys

import pytest

TESTS = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TESTS))  # command, fuse_mount

from command import binary, precast, real, real_plugin  # noqa: E402, F401

FULL = os.environ.get("PRECAST_SWEEP") == "full"


def sample(cases, every, every_in_full=1):
    """All cases in a full sweep (or each `every_in_full`th), else each `every`th, the first among them."""
    return list(cases)[::every_in_full if FULL else every]


def each(work, cases):
    """Does `work` for every case, some at a time; the first failure is raised with its case."""

    def named(case):
        try:
            return work(case)
        except Exception as error:
            raise AssertionError(f"in case {case}: {error}") from error

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        return list(pool.map(named, cases))


class Place:
    """A home and a store for one case, so that nothing that one case leaves is seen by another."""

    def __init__(self, precast, name, store=None):
        self.precast = precast
        self.home = precast.folder / "homes" / str(name)
        self.home.mkdir(parents=True)
        self.cache = pathlib.Path(store) if store else self.home / "cache"
        self.env = {"HOME": str(self.home), "PRECAST_CACHE": str(self.cache)}

    def run(self, program="add.mlir", env=None, **kwargs):
        """What `precast run` answers; it must end well."""
        return self.precast.json("run", program, "--fill", "iota", env={**self.env, **(env or {})}, **kwargs)

    def files(self, pattern):
        return sorted(self.cache.rglob(pattern)) if self.cache.exists() else []

    def entries(self):
        return [path for path in self.files("*.precast") if len(path.parent.name) == 2]

    def temporary(self):
        return self.files(".tmp-*")

    def leases(self):
        return [path for path in self.files("leases/*") if path.is_file()]

    def set_aside(self):
        return self.files("quarantine/*.bad")

    def expect_well(self, outputs, temporary_allowed=False):
        """Whatever happened to the store: now it serves, at the latest from the second run on."""
        next_run = self.run()
        assert next_run["outcome"] in ("hit", "miss"), next_run
        assert next_run["outputs"] == outputs
        if next_run["outcome"] == "miss":
            next_run = self.run()
            assert next_run["outcome"] == "hit", next_run
            assert next_run["outputs"] == outputs
        if not temporary_allowed:
            assert self.temporary() == []
            assert self.leases() == []
        return next_run


@pytest.fixture
def place(precast):
    return lambda name="here", **kwargs: Place(precast, name, **kwargs)
