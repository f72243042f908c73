"""Tests of precast.aot: some in this process, on eight devices; those of the cache in processes of their own."""

import importlib.util
import os
import pathlib

import pytest

HERE = pathlib.Path(__file__).parent
# Before anybody imports JAX.
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
os.environ["JAX_PLATFORMS"] = "cpu"

_spec = importlib.util.spec_from_file_location("jax_conftest", HERE.parent / "jax" / "conftest.py")
_jax_conftest = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_jax_conftest)


class Children(_jax_conftest.Children):
    """Starts Python programs on one cache folder, with tests/jax/programs.py at hand."""

    def environment(self, seed=0, **more):
        found = super().environment(seed)
        return {**found, "PYTHONPATH": f"{found['PYTHONPATH']}{os.pathsep}{HERE.parent / 'jax'}",
                "TMPDIR": str(self.folder), **more}


@pytest.fixture
def children(tmp_path):
    return Children(tmp_path)


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """This process's cache, for one test."""
    monkeypatch.setenv("PRECAST_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    return tmp_path / "cache"
