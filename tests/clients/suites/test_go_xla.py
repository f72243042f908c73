"""go-xla's own tests (gopjrt's successor, a client in Go): the same on the plugin, and through the wrapper cold and warm.

In `make test-long`, where there is Go; its modules come from Go's own proxy, checked by their sums.
"""

import json
import os
import re
import shutil
import subprocess

import pytest
from suite import differences

MODULE, VERSION = "github.com/gomlx/go-xla", "v0.1.4"
GO = shutil.which("go") or shutil.which("/usr/local/go/bin/go")
MODES = {"bare": False, "cold": True, "warm": True}

pytestmark = pytest.mark.skipif(not (GO and os.environ.get("PRECAST_LONG")), reason="in make test-long, where there is Go")


@pytest.fixture(scope="module")
def host(new_host):
    return new_host()


@pytest.fixture(scope="module")
def tests(host):
    """The compiled tests, and the folder that they expect to be in."""
    env = {**os.environ, "GOFLAGS": "-mod=mod", "GOTOOLCHAIN": "local"}
    answer = subprocess.run([GO, "mod", "download", "-json", f"{MODULE}@{VERSION}"], check=True, capture_output=True,
                            cwd=host.folder, env=env).stdout
    folder = host.folder / "go-xla"
    shutil.copytree(json.loads(answer)["Dir"], folder)
    subprocess.run(["chmod", "-R", "u+w", folder], check=True)
    subprocess.run([GO, "test", "-c", "-o", host.folder / "tests", "./pkg/pjrt"], check=True, cwd=folder, env=env)
    return host.folder / "tests", folder / "pkg" / "pjrt"


@pytest.fixture(scope="module")
def suites(host, tests):
    program, folder = tests

    def run(wrapped):
        done = host.run(["sh", "-c", 'cd "$1" && shift && exec "$@"', "sh", folder, program, "-test.v",
                         "-plugin", host.library(wrapped)], wrapped, code=None)
        outcomes = {name: end for end, name in re.findall(r"^ *--- (PASS|FAIL|SKIP): (\S+)", done.out, re.MULTILINE)}
        return outcomes, [line for line in done.said if re.match(r"\[precast\] (hit|miss|bypass|skip) ", line)]
    return {mode: run(wrapped) for mode, wrapped in MODES.items()}


def test_the_same_pass_and_fail(suites):
    bare = suites["bare"][0]
    assert sum(end == "PASS" for end in bare.values()) > 40
    for mode in ("cold", "warm"):
        assert differences(bare, suites[mode][0]) == {}, mode


def test_warm_it_was_loaded(suites):
    """Go ends without handlers of C, so that there is no summary: each compile's own line tells."""
    kinds = {mode: [line.split()[1] for line in lines] for mode, (_, lines) in suites.items()}
    assert "miss" in kinds["cold"] and "bypass" not in kinds["cold"], suites["cold"][1]
    assert set(kinds["warm"]) == {"hit"}, suites["warm"][1]
    assert len(kinds["warm"]) == len(kinds["cold"]) > 10
