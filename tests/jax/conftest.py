"""Runs JAX in processes of their own: one process never hits what only its own memory explains."""

import json
import os
import pathlib
import subprocess
import sys

import pytest

HERE = pathlib.Path(__file__).parent
SECONDS = 240


class Children:
    """Starts Python programs on one cache folder."""

    def __init__(self, folder):
        self.cache = folder / "cache"
        self.folder = folder

    def environment(self, seed=0, **more):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("PRECAST_", "JAX_", "XLA_", "XDG_"))}
        return {**kept, "PRECAST_CACHE": str(self.cache), "PYTHONHASHSEED": str(seed),
                "XDG_STATE_HOME": str(self.folder / "state"),
                "XLA_FLAGS": "--xla_force_host_platform_device_count=8",
                "JAX_PLATFORMS": "cpu", "PYTHONPATH": sys.path[0] + os.pathsep
                + os.environ["PRECAST_PYTHON_PACKAGE"], **more}

    def python(self, *words, seed=0, ok=True, **more):
        """Runs Python with these words; its standard output."""
        done = subprocess.run([sys.executable, *words], env=self.environment(seed, **more),
                              capture_output=True, text=True, timeout=SECONDS, check=False,
                              cwd=HERE)
        if ok:
            assert done.returncode == 0, done.stderr[-4000:]
            return done.stdout
        return done

    def ask(self, seed=0, environment=None, **wanted):
        """What child.py says about these wishes."""
        said = self.python("child.py", json.dumps(wanted), seed=seed, **(environment or {}))
        return json.loads(said.splitlines()[-1])


@pytest.fixture
def children(tmp_path):
    return Children(tmp_path)
