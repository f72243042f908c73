"""compile: miss, hit and what lies between."""

import os
import random
import resource
import subprocess

import pytest

from conftest import RANKER


def entries(precast):
    return sorted(precast.cache.rglob("*.precast"))


def test_miss_then_hit_in_two_processes(precast, counter):
    miss = precast.json("compile", "add.mlir")
    assert (miss["outcome"], miss["reason"]) == ("miss", "not_found")
    hit = precast.json("compile", "add.mlir")
    assert (hit["outcome"], hit["reason"]) == ("hit", "none")
    assert hit["key"] == miss["key"] == precast.json("key", "add.mlir")["key"]
    assert [str(path) for path in entries(precast)] == [hit["artifact"]]
    assert counter().count("C") == 1
    assert {"compile", "serialize", "encode", "prove", "publish"} <= miss["phases_ms"].keys()
    assert {"open_plugin", "create_client", "key", "lookup", "verify", "load"} <= hit["phases_ms"].keys()
    assert sum(hit["phases_ms"].values()) <= 2 * hit["phases_ms"]["total"]
    assert hit["bytes"] == miss["bytes"]
    assert hit["bytes"]["artifact"] == entries(precast)[0].stat().st_size


def test_the_ranker_on_the_real_plugin(real):
    program = RANKER / "ranker.mlirbc"
    assert real.json("compile", program)["outcome"] == "miss"
    hit = real.json("compile", program, "--device-ids", "3")
    assert (hit["outcome"], hit["devices"]) == ("hit", [3])
    assert real("compile", program).out.startswith(f"hit: {program}: loaded from the cache\n")


def test_standard_input(precast):
    by_file = precast.json("key", "add.mlir")
    by_pipe = precast.json("key", "-", stdin=(precast.folder / "add.mlir").read_bytes())
    assert by_pipe["key"] == by_file["key"]


def test_two_dashes_end_the_options(precast):
    (precast.folder / "-odd.mlir").write_bytes((precast.folder / "add.mlir").read_bytes())
    assert precast.json("key", "add.mlir")["key"] in precast("key", "--", "-odd.mlir").out


@pytest.mark.parametrize("words", [
    ["--replicas", "2"],
    ["--partitions", "2"],
    ["--option", "xla_cpu_enable_fast_math=true"],
    ["--salt", "x"],
    ["--spmd", "--partitions", "2"],
])
def test_what_changes_the_key(precast, words):
    assert precast.json("key", "add.mlir")["key"] != precast.json("key", "add.mlir", *words)["key"]


@pytest.mark.parametrize("words", [
    ["--device-ids", "2"],
    ["--label", "x"],
    ["--keep-program"],
    ["--client-option", "cpu_device_count=2"],
])
def test_what_does_not_change_the_key(precast, words):
    assert precast.json("key", "add.mlir")["key"] == precast.json("key", "add.mlir", *words)["key"]


def test_no_cache_touches_no_folder(precast):
    for env, words in (({}, ["--no-cache"]), ({"PRECAST_DISABLE": "1"}, [])):
        done = precast.json("compile", "add.mlir", *words, env=env)
        assert (done["outcome"], done["reason"]) == ("bypass", "disabled")
        assert done["artifact"] is None
    assert not precast.cache.exists()


def test_output_is_a_copy_of_the_entry(precast):
    done = precast.json("compile", "add.mlir", "-o", "a.precast")
    assert done["file"] == "a.precast"
    entry = entries(precast)[0].read_bytes()
    assert (precast.folder / "a.precast").read_bytes() == entry
    precast("compile", "add.mlir", "-o", "b.precast")  # a hit
    assert (precast.folder / "b.precast").read_bytes() == entry


@pytest.mark.parametrize("env, words, reason", [
    ({}, ["--no-cache"], "disabled"),
    ({"PRECAST_DISABLE": "1"}, [], "disabled"),
    ({"PRECAST_CACHE": "add.mlir"}, [], "store_unavailable"),
])
def test_output_without_a_cache(precast, env, words, reason):
    done = precast.json("compile", "add.mlir", "-o", "a.precast", *words, env=env)
    assert (done["outcome"], done["reason"]) == ("bypass", reason)
    assert done["artifact"] is None
    assert done["bytes"]["artifact"] == (precast.folder / "a.precast").stat().st_size
    precast("verify", "a.precast")
    assert not precast.cache.exists()
    assert list((precast.folder / "tmp").iterdir()) == []


def test_output_that_cannot_be_written(precast):
    done = precast("compile", "add.mlir", "-o", "no/such/folder/a.precast", code=3)
    assert "no/such/folder/a.precast" in done.err
    done = precast("compile", "add.mlir", "-o", "/dev/full", code=9)
    assert "No space left on device" in done.err
    assert list(precast.folder.glob("*.tmp")) == []


def test_a_folder_that_anyone_could_write_to(precast):
    precast.cache.mkdir(mode=0o777)
    precast.cache.chmod(0o777)
    done = precast("compile", "add.mlir", "--json")
    assert done.json["reason"] == "store_unavailable"
    assert done.json["warnings"] and done.err.count("warning") == 1


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_may_not_be_written(precast):
    precast.cache.mkdir(mode=0o500)
    done = precast("compile", "add.mlir", "--json")
    assert done.json["outcome"] == "skip"
    assert done.err.count("warning") == 1


def files_of(cache):
    """All but the store's count of its bytes."""
    return [path for path in cache.rglob("*") if path.is_file() and path.name != "usage"]


def test_a_cache_that_is_full(precast):
    def small_files():
        resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))

    done = precast("compile", "add.mlir", "--json", preexec_fn=small_files)
    assert (done.json["outcome"], done.json["reason"]) == ("skip", "store_failed")
    assert len(done.json["warnings"]) == 1 and done.err.count("warning") == 1
    assert files_of(precast.cache) == []
    precast("compile", "add.mlir", "--strict", preexec_fn=small_files, code=9)


@pytest.mark.skipif(os.geteuid() != 0, reason="mounting needs root")
def test_a_file_system_that_is_full(precast):
    precast.cache.mkdir(mode=0o700)
    mount = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=4k,mode=700", "tmpfs", precast.cache],
                           capture_output=True)
    if mount.returncode != 0:
        pytest.skip(f"no mounting here: {mount.stderr.decode().strip()}")
    try:
        label = random.Random(1).randbytes(8000).hex()  # more than fits, even compressed
        done = precast("compile", "add.mlir", "--json", "--label", label)
        assert (done.json["outcome"], done.json["reason"]) == ("skip", "store_failed")
        assert "No space left on device" in done.json["warnings"][0]
        assert files_of(precast.cache) == []
    finally:
        subprocess.run(["umount", precast.cache], check=True)


def test_a_damaged_entry_is_replaced(precast):
    precast("compile", "add.mlir")
    entry = entries(precast)[0]
    whole = entry.read_bytes()
    entry.write_bytes(whole[:-1])
    done = precast("compile", "add.mlir", "--json")
    assert (done.json["outcome"], done.json["reason"]) == ("miss", "entry_corrupt")
    assert len(entry.read_bytes()) == len(whole)
    assert precast.json("compile", "add.mlir")["outcome"] == "hit"


def test_a_program_that_cannot_be_serialized_still_compiles_and_runs(precast, counter):
    done = precast.json("compile", "sort.mlir")
    assert (done["outcome"], done["reason"]) == ("skip", "not_serializable")
    assert "this program is not serializable." in done["detail"]
    run = precast.json("run", "sort.mlir", "--fill", "iota")
    assert (run["outcome"], run["outputs"][0]["first_values"]) == ("skip", "1, 2, 3, 4")
    assert entries(precast) == []


def test_a_sort_on_the_real_plugin(real):
    """XLA serializes it only before its first run, which is when Precast does."""
    first = real.json("run", "sort.mlir", "--fill", "random:1")
    second = real.json("run", "sort.mlir", "--fill", "random:1")
    assert (first["outcome"], second["outcome"]) in (("miss", "hit"), ("skip", "skip"))
    assert first["outputs"] == second["outputs"]
    if first["outcome"] == "skip":
        assert "not serializable" in first["detail"]


def test_a_newer_stablehlo_than_the_plugin_reads(precast):
    program = (RANKER / "ranker.mlirbc").read_bytes()
    at = program.index(b"StableHLO_v1.")
    newer = program[:at] + b"StableHLO_v9." + program[at + len(b"StableHLO_v1."):]
    (precast.folder / "newer.mlirbc").write_bytes(newer)
    done = precast("compile", "newer.mlirbc", code=3)
    assert "program 'newer.mlirbc' is StableHLO 9." in done.err
    assert "reads up to 1.20.0" in done.err


def test_label_salt_and_program_are_in_the_artifact(precast):
    precast("compile", "add.mlir", "--label", "blue", "--salt", "pepper", "--keep-program", "-q", "-o", "a.precast")
    seen = precast.json("inspect", "a.precast")
    assert seen["provenance"]["label"] == "blue"
    assert seen["program"] == {"format": "mlir_text", "bytes": (precast.folder / "add.mlir").stat().st_size}
    items = {item["name"]: item.get("value") for field in seen["key_record"] for item in field["items"]}
    assert items["salt"] == "pepper"


def test_options_proto_is_the_base(precast):
    # executable_build_options (3): num_replicas (4) 2, num_partitions (5) 1.
    (precast.folder / "options").write_bytes(bytes([0x1A, 4, 0x20, 2, 0x28, 1]))
    done = precast.json("compile", "add.mlir", "--options-proto", "options")
    assert (done["replicas"], done["partitions"]) == (2, 1)
    done = precast.json("compile", "add.mlir", "--options-proto", "options", "--replicas", "1")
    assert (done["replicas"], done["devices"]) == (1, [0])


def test_a_key_that_is_none(precast):
    done = precast("key", "add.mlir", code=1, env={"PRECAST_FAKE_PLATFORM_NAME": "abacus"})
    assert done.out.startswith("no key (platform_unknown): ")
    done = precast("key", "add.mlir", "--json", code=1, env={"PRECAST_FAKE_PLATFORM_NAME": "abacus"})
    assert (done.json["key"], done.json["reason"]) == (None, "platform_unknown")


def test_quiet_key_is_the_key(precast):
    done = precast("key", "add.mlir", "--quiet")
    assert done.out == precast.json("key", "add.mlir")["key"] + "\n"


def test_key_compiles_nothing(precast, counter):
    precast("key", "add.mlir")
    assert counter() == ""
    assert not precast.cache.exists()


def test_a_file_is_written_though_the_cache_cannot_store(precast):
    precast.cache.mkdir(mode=0o700)
    (precast.cache / "v1").write_text("in the way of the entries")
    plain = precast.json("compile", "add.mlir")
    assert (plain["outcome"], plain["reason"], plain["artifact"]) == ("skip", "store_failed", None)
    made = precast.json("compile", "add.mlir", "-o", "add.precast")
    assert (made["outcome"], made["reason"], made["file"]) == ("skip", "store_failed", "add.precast")
    assert made["detail"] == plain["detail"] and "v1" in made["detail"]
    precast("verify", "add.precast")
    # The second compile, past the cache, is none that anyone asked for.
    explained = precast.json("explain", made["key"][:16], code=1)
    assert (explained["outcome"], explained["reason"]) == ("skip", "store_failed")
    assert list(precast.cache.iterdir()) == [precast.cache / "v1"]


def test_the_program_is_not_overwritten(precast):
    before = (precast.folder / "add.mlir").read_bytes()
    done = precast("compile", "add.mlir", "-o", "./add.mlir", code=3)
    assert "is the program itself" in done.err
    assert (precast.folder / "add.mlir").read_bytes() == before
