"""Unmodified JAX through the wrapper: client.py in fresh processes, on the plugin, cold and warm."""

import json
import pathlib
import re
import shutil
import sys

import pytest
from conftest import ROOT, all_hits

HERE = pathlib.Path(__file__).parent
PYTHONPATH = str(next(ROOT.glob("build/clients/flatbuffers-*/")))
DEVICES = 8


def lay_out(folder, moved_by=0):
    """A copy of the client and its examples; `moved_by`: so many lines further down in their files."""
    folder.mkdir()
    shutil.copytree(ROOT / "examples", folder / "examples")
    shutil.copy(HERE / "client.py", folder)
    for path in [folder / "client.py", *folder.glob("examples/*/*.py")]:
        path.write_text("# another line\n" * moved_by + path.read_text())
    return folder / "client.py"


class Jax:
    """JAX's client with a plugin of eight devices."""

    def __init__(self, host):
        self.host = host

    def __call__(self, script, wrapped, *words, env=None):
        config = self.host.folder / f"{'wrapped' if wrapped else 'bare'}.json"
        config.write_text(json.dumps({"library_path": str(self.host.library(wrapped)),
                                      "create_options": {"cpu_device_count": DEVICES}}))
        done = self.host.run([sys.executable, script, *words], wrapped, env={
            "PJRT_NAMES_AND_LIBRARY_PATHS": f"theirs:{config}", "JAX_PLATFORMS": "theirs", "PYTHONPATH": PYTHONPATH,
            "PYTHONHASHSEED": "1", **(env or {})})
        done.seen = json.loads(done.out)
        return done


@pytest.fixture(scope="module")
def jax(new_host):
    return Jax(new_host())


@pytest.fixture(scope="module")
def script(jax):
    return lay_out(jax.host.folder / "first")


@pytest.fixture(scope="module")
def bare(jax, script):
    return jax(script, False)


@pytest.fixture(scope="module")
def cold(jax, script):
    return jax(script, True)


@pytest.fixture(scope="module")
def warm(jax, cold):
    """Other lines, another folder, another hash seed."""
    return jax(lay_out(jax.host.folder / "another folder", moved_by=7), True, env={"PYTHONHASHSEED": "4711"})


@pytest.fixture(scope="module")
def elsewhere(jax, cold, script):
    """The other four devices."""
    return jax(script, True, "--first", "4")


def same(left, right):
    """By name, what differs."""
    return {name: (left[name], right.get(name)) for name in left if left[name] != right.get(name)}


def test_the_numbers_are_those_of_the_plugin(bare, cold, warm, elsewhere):
    assert bare.seen["devices"] == DEVICES
    assert same(bare.seen["values"], cold.seen["values"]) == {}
    assert same(bare.seen["values"], warm.seen["values"]) == {}
    assert same(bare.seen["values"], elsewhere.seen["values"]) == {}


def test_the_first_process_stores_all_it_compiles(cold, jax):
    counts = cold.counts
    assert counts["misses"] == len(jax.host.entries()) > 30, counts
    assert counts["skips"] == counts["bypasses"] == counts["errors"] == 0, cold.said


def test_moved_lines_another_folder_another_hash_seed_are_hits(cold, warm):
    assert all_hits(warm.counts), warm.said
    assert warm.compiles == cold.compiles


def test_other_devices_are_hits(cold, elsewhere):
    assert all_hits(elsewhere.counts), elsewhere.said
    assert elsewhere.compiles == cold.compiles


# XLA makes it of the module with its source positions, and of another module after a load (docs/any-client.md).
NOT_AFTER_A_LOAD = {"fingerprint"}


@pytest.mark.parametrize("other", ["cold", "warm", "elsewhere"])
def test_executables_answer_as_those_of_the_plugin(bare, other, request):
    done = request.getfixturevalue(other)
    assert list(bare.seen["facts"]) == list(done.seen["facts"])
    for name, facts in bare.seen["facts"].items():
        differs = set(same(facts, done.seen["facts"][name]))
        assert differs <= (NOT_AFTER_A_LOAD if other != "cold" else set()), name


def test_each_process_that_hits_sees_the_same_fingerprint(warm, elsewhere):
    prints = [{name: facts["fingerprint"] for name, facts in done.seen["facts"].items()} for done in (warm, elsewhere)]
    assert prints[0] == prints[1]
    assert len(set(prints[0].values())) == len(prints[0])


def test_what_calls_back_is_compiled_each_time_and_fails_in_the_same_way(jax, script):
    """XLA's plugin has no handler for JAX's callbacks: its own error is what the user sees."""
    words = ["--only", "a_python_callback"]
    bare, first, second = (jax(script, wrapped, *words) for wrapped in (False, True, True))
    assert "xla_ffi_python_cpu_callback" in bare.seen["values"]["a_python_callback"][0]
    assert bare.seen["values"] == first.seen["values"] == second.seen["values"]
    assert first.counts["hits"] == 0 == second.counts["hits"]


def test_turned_off_nothing_is_kept(jax, script, new_host):
    other = Jax(new_host())
    off = other(script, True, "--only", "donation", env={"PRECAST_DISABLE": "1"})
    assert (off.said, other.host.cache.exists()) == ([], False)


def test_dumps_that_are_asked_for_are_there(jax, script, cold):
    """A dump of the final program is written on a hit as well; dumps between the passes need a compile."""
    def run(folder, flags):
        done = jax(script, True, "--only", "donation", env={"XLA_FLAGS": f"--xla_dump_to={jax.host.folder / folder} {flags}"})
        return done.counts, sorted(path.name for path in (jax.host.folder / folder).glob("*jit__lambda*"))

    counts, files = run("final", "--xla_dump_hlo_as_proto")
    assert all_hits(counts) and any("after_optimizations" in name for name in files), (counts, files)
    counts, files = run("passes", "--xla_dump_hlo_as_text --xla_dump_hlo_pass_re=.*")
    assert counts["hits"] == 0 and counts["reasons"] == {"dumps_wanted": counts["bypasses"]}, counts
    assert len(files) > 10


def test_jaxs_own_cache_keeps_what_came_from_this_one(jax, script, cold):
    """What was loaded is serialized by its host: it gets the first bytes, and they run in the next process."""
    words = ["--only", "donation,sharded,collectives"]
    env = {"JAX_COMPILATION_CACHE_DIR": jax.host.folder / "jax's own", "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
           "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    first, second = (jax(script, True, *words, env=env) for _ in range(2))
    assert all_hits(first.counts)
    assert len(list((jax.host.folder / "jax's own").iterdir())) >= 3
    # JAX asks its own cache before it asks for a compile.
    assert second.compiles < first.compiles
    for done in (first, second):
        assert same(done.seen["values"], {name: cold.seen["values"][name] for name in done.seen["values"]}) == {}


def test_several_processes_of_one_job_get_the_plugins_own_answer(jax):
    """jax.distributed: XLA's CPU plugin takes no such client, and says so with and without the wrapper."""
    refused = re.compile("INVALID_ARGUMENT: Unexpected option name passed to PJRT_Client_Create: (num_nodes|node_id)$")
    for wrapped in (False, True):
        for said in jax(HERE / "ranks.py", wrapped).seen:
            assert refused.search(said), said
