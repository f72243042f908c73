"""Plugins for devices that this machine need not have: they open, and say what they are.

`tools/setup accelerator-venv` makes build/accelerator-venv with them; `make test-long` does that.
"""

import json
import os
import pathlib
import subprocess

import pytest

VENV = pathlib.Path(__file__).resolve().parents[2] / "build" / "accelerator-venv"
# libtpu asks the network for its TPU otherwise, for half a minute per question.
WITHOUT_A_TPU = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}


def run(tmp_path, *words):
    assert VENV.is_dir(), "build/accelerator-venv is missing: tools/setup accelerator-venv"
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "VIRTUAL_ENV": str(VENV),
           **WITHOUT_A_TPU}
    process = subprocess.run([os.environ["PRECAST_BIN"], *words, "--json"], cwd=tmp_path, env=env,
                             capture_output=True, timeout=300)
    return process.returncode, json.loads(process.stdout)


def plugin_named(name, plugins):
    return next(plugin for plugin in plugins if plugin["name"] == name and
                plugin["path"].startswith(str(VENV)))


def test_both_are_found_and_opened(tmp_path):
    _, listed = run(tmp_path, "plugins", "--open")
    versions = {name: plugin_named(name, listed["plugins"])["api_version"]
                for name in ("cuda", "tpu")}
    assert versions == {"cuda": "0.116", "tpu": "0.117"}


@pytest.mark.parametrize("name", ["cuda", "tpu"])
def test_what_they_say_without_a_device(tmp_path, name):
    code, seen = run(tmp_path, "doctor", "--plugin", name)
    (plugin,) = seen["plugins"]
    assert plugin["struct_size"] == 1144
    assert plugin["attributes"]["stablehlo_current_version"]
    can = plugin["capabilities"]
    assert can["serialize"] and can["deserialize_and_load"] and can["override_compile_options"]
    assert "layouts" in can["extensions"]
    assert len(plugin["file"]["sha256"]) == 64
    # Where there is a device, the plugin has a client, and nothing is missed.
    if "client" not in plugin:
        assert code == 1
        assert "no client: " in plugin["problems"][0]["what"]
