"""Python's ctypes on the real CPU plugin: compile, run with numpy, and a second process hits.

PRECAST_BUILD_DIR has lib/libprecast.so; no file of Precast but that is used.
"""

import concurrent.futures
import ctypes
import importlib.util
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import numpy
import precast_c
import pytest
from precast_c import ClientFacts, ExecutableFacts, Request, TensorSpec

HERE = pathlib.Path(__file__).parent
RANKER = HERE.parents[1] / "examples" / "ranker"
LIBRARY = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "lib" / "libprecast.so"


def plugin_path():
    spec = importlib.util.find_spec("lammps_jax_pjrt_cpu")
    if spec is None:
        pytest.fail("the package lammps-jax-pjrt-cpu is missing: tools/setup test-venv")
    return str(pathlib.Path(spec.origin).parent / "pjrt_c_api_cpu_plugin.so")


@pytest.fixture(scope="module")
def library():
    return precast_c.Library(LIBRARY)


@pytest.fixture(scope="module")
def client(library):
    return library.client(plugin_path(), "cpu_device_count=4")


@pytest.fixture
def folder():
    """Not pytest's: a cache is refused where others could write to a folder above it."""
    with tempfile.TemporaryDirectory(prefix="precast-ctypes-") as name:
        yield pathlib.Path(name).resolve()


def request(program, **values):
    return Request(program=program, program_size=len(program), **values)


ADD = b"""module @add {
  func.func public @main(%a: tensor<4xi32>, %b: tensor<4xi32>) -> tensor<4xi32> {
    %0 = stablehlo.add %a, %b : tensor<4xi32>
    return %0 : tensor<4xi32>
  }
}
"""


def test_client(library, client):
    facts = library.facts(ClientFacts(), "client_get_facts", client)
    assert (facts.platform_name, facts.device_count) == (b"cpu", 4)


def test_the_ranker_runs_from_python(library, client, folder):
    inputs = [numpy.load(path) for path in sorted((RANKER / "inputs").glob("*.npy"))]
    program = (RANKER / "ranker.mlirbc").read_bytes()
    executable, report = library.compile_or_load(
        library.cache(folder), client, request(program, program_name=b"ranker.mlirbc"))
    assert (report["outcome"], report["reason"]) == ("miss", "not_found")
    assert pathlib.Path(report["artifact"]).stat().st_size == report["bytes"]["artifact"]
    [[scores]] = library.run(executable, inputs)
    assert scores.tobytes() == numpy.load(RANKER / "expected" / "00_scores.npy").tobytes()
    again, report = library.compile_or_load(library.cache(folder), client, request(program))
    assert report["outcome"] == "hit"
    [[same]] = library.run(again, inputs)
    assert same.tobytes() == scores.tobytes()


SECOND = """
import sys
import numpy, precast_c, test_ctypes
library = precast_c.Library(test_ctypes.LIBRARY)
client = library.client(test_ctypes.plugin_path(), "cpu_device_count=4")
executable, report = library.compile_or_load(
    library.cache(sys.argv[1]), client, test_ctypes.request(test_ctypes.ADD))
[[sums]] = library.run(executable, [numpy.arange(4, dtype="int32"), numpy.ones(4, "int32")])
print(report["outcome"], report["key"], *sums)
"""


def test_a_second_process_hits(folder):
    said = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", SECOND, folder], cwd=HERE,
                              capture_output=True, text=True, check=True, timeout=300)
        said.append(done.stdout.split())
    assert [words[0] for words in said] == ["miss", "hit"]
    assert said[0][1:] == said[1][1:]
    assert said[0][2:] == ["1", "2", "3", "4"]


def test_signature_and_devices(library, client, folder):
    ids = (ctypes.c_int64 * 2)(2, 0)
    executable, _ = library.compile_or_load(
        library.cache(folder), client,
        request(ADD, replicas=2, device_ids=ids, device_id_count=2))
    facts = library.facts(ExecutableFacts(), "executable_get_facts", executable)
    assert facts.device_ids[:facts.device_count] == [2, 0]
    assert (facts.replicas, facts.parameter_count, facts.result_count) == (2, 2, 1)
    spec = library.facts(TensorSpec(), "executable_get_parameter", executable, ctypes.c_size_t(1))
    assert (spec.text, spec.host_bytes) == (b"s32[4]", 16)
    values = numpy.arange(4, dtype="int32")
    [first], [second] = library.run(executable, [values, values])
    assert first.tolist() == second.tolist() == [0, 2, 4, 6]


def test_errors_have_code_and_text(library, client, folder):
    cache = library.cache(folder)
    with pytest.raises(precast_c.Error, match="unknown_op") as caught:
        library.compile_or_load(cache, client, request(ADD.replace(b"stablehlo.add", b"unknown_op")))
    assert library.c.precast_code_name(caught.value.code) == b"plugin_error"
    executable, _ = library.compile_or_load(cache, client, request(ADD))
    wrong = [numpy.zeros(4, "int32"), numpy.zeros(3, "int32")]
    with pytest.raises(precast_c.Error, match=r"parameter 1 takes s32\[4\] but .* s32\[3\]"):
        library.run(executable, wrong)


def test_an_older_header_is_refused_only_below_the_first(library, client, folder):
    cache = library.cache(folder)
    old = request(ADD)
    old.struct_size = 16
    with pytest.raises(precast_c.Error, match=r"precast_request.struct_size is 16"):
        library.compile_or_load(cache, client, old)


def test_threads_share_handles(library, client, folder):
    """ctypes gives up Python's lock for a call, so these really run at once."""
    cache = library.cache(folder)

    def work(number):
        executable, report = library.compile_or_load(cache, client, request(ADD))
        values = numpy.full(4, number, "int32")
        [[sums]] = library.run(executable, [values, values])
        return report["outcome"], sums.tolist()

    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        done = list(pool.map(work, range(16)))
    assert [sums for _, sums in done] == [[2 * number] * 4 for number in range(16)]
    assert {outcome for outcome, _ in done} <= {"hit", "miss"}
    assert json.dumps(done).count("hit") >= 12  # at most one miss for each thread
