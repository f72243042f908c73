"""The ranker's demo as a person runs it: it passes, twice in a row, and says so when it cannot."""

import os
import pathlib
import re
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PRECAST = pathlib.Path(os.environ.get("PRECAST_BIN") or ROOT / "build" / "bin" / "precast")


def demo(*arguments, cwd=ROOT, **environment):
    # The Python that `make demo` uses: it has the plugin and no JAX.
    command = [ROOT / "build" / "venv" / "bin" / "python", ROOT / "examples" / "ranker" / "demo.py"]
    return subprocess.run(
        [*command, *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **environment},
    )


def test_demo_passes_and_passes_again(tmp_path):
    for _ in range(2):  # The second time finds the work folder of the first.
        done = demo("--precast", PRECAST, "--work", tmp_path / "a folder")
        assert done.returncode == 0, done.stdout + done.stderr
        assert done.stdout.endswith("\nDemo passed.\n")
        assert "\033" not in done.stdout  # no colours but on a terminal
        table = done.stdout[done.stdout.index("milliseconds") :]
        assert re.search(r"^ +compile-or-load +[\d,.]+ +[\d,.]+ +[\d,.]+x$", table, re.M)
        assert all(len(line) <= 80 for line in table.splitlines())


def test_settings_of_the_user_do_not_disturb_the_demo(tmp_path):
    done = demo(
        "--precast",
        PRECAST,
        "--work",
        "work",
        cwd=tmp_path,
        PRECAST_DISABLE="1",
        PRECAST_CACHE="/nonexistent",
        PRECAST_PLUGIN="/nonexistent/plugin.so",
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert (tmp_path / "work" / "cache").is_dir()


@pytest.mark.parametrize(
    "binary, message", [("/nonexistent/precast", "make build"), ("/bin/false", "ended with 1")]
)
def test_demo_fails_with_a_reason(tmp_path, binary, message):
    done = demo("--precast", binary, "--work", tmp_path)
    assert done.returncode == 1
    assert "Demo failed" in done.stderr and message in done.stderr
    assert "Traceback" not in done.stderr
