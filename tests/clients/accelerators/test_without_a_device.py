"""Plugins for GPUs and TPUs through the wrapper, on a machine without a device: they say the same of themselves, refuse a
client in the same words, and compile ahead of time.

`tools/setup accelerator-venv` makes build/accelerator-venv with them; `make test-long` does that.
"""

import json
import pathlib
import sys

import pytest
from conftest import ROOT

HERE = pathlib.Path(__file__).parent
VENV = ROOT / "build" / "accelerator-venv"
FILES = {"cuda": "jax_plugins/xla_cuda13/xla_cuda_plugin.so", "tpu": "libtpu/libtpu.so"}
# libtpu asks the network for its TPU otherwise, for half a minute per question.
WITHOUT_A_TPU = {"TPU_SKIP_MDS_QUERY": "1", "ALLOW_MULTIPLE_LIBTPU_LOAD": "1"}


class Answers:
    """What the plugin says bare, and through the wrapper twice."""

    def __init__(self, name, host):
        self.name, self.host = name, host
        paths = list(VENV.glob(f"lib/python3*/site-packages/{FILES[name]}"))
        assert len(paths) == 1, "build/accelerator-venv is missing: tools/setup accelerator-venv"
        host.plugin = paths[0]
        self.runs = {mode: self.ask(mode != "bare") for mode in ("bare", "first", "second")}

    def ask(self, wrapped):
        return self.host.run([sys.executable, HERE / "ask.py", self.host.library(wrapped), self.name], wrapped,
                             env=WITHOUT_A_TPU)

    def __getitem__(self, mode):
        return json.loads(self.runs[mode].out.splitlines()[-1])


@pytest.fixture(scope="module", params=sorted(FILES))
def answers(request, new_host):
    return Answers(request.param, new_host())


@pytest.mark.parametrize("mode", ["first", "second"])
def test_it_says_the_same(answers, mode):
    bare = answers["bare"]
    assert bare["api_version"][1] >= 110 and len(bare["extensions"]) > 3 and bare["attributes"]
    for question in ("api_version", "struct_size", "attributes", "extensions", "missing", "client", "topology"):
        assert answers[mode][question] == bare[question], question


def test_compiling_ahead_of_time_goes_through(answers):
    bare = answers["bare"]
    assert bare["topology"]["devices"] == 1
    # The CUDA plugin finds no compiler for PTX unless NVIDIA's packages are there, and says so.
    assert "bytes" in bare["compiled"] or "No PTX compilation provider" in bare["compiled"]["error"]
    for mode in ("first", "second"):
        assert answers[mode]["compiled"] == bare["compiled"]
        counts = answers.runs[mode].counts
        assert counts["hits"] == counts["misses"] == 0, counts
        assert counts["bypasses" if "bytes" in bare["compiled"] else "errors"] == 1, counts
