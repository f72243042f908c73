"""precast stats: what the processes of a machine counted, and the documents about it."""

import pathlib
import re
import signal
import subprocess
import time

import pytest
import yaml
from prometheus_client.parser import text_string_to_metric_families

ROOT = pathlib.Path(__file__).parents[2]
DOCS = ROOT / "docs"


def counts(precast, *words):
    results = precast.json("stats", *words)["results"]
    return {name: tally["count"] for name, tally in results.items()}


def folder_of(precast):
    return precast.folder / ".local/state/precast/stats"


def documented_results():
    return set(re.findall(r"^\| `([a-z]+(?::[a-z_]+)?)` \|", (DOCS / "stats.md").read_text(), re.M))


def families(precast):
    return {family.name: family for family in
            text_string_to_metric_families(precast("stats", "--prometheus").out)}


def test_nothing_was_counted(precast):
    assert precast("stats").out == "nothing was counted yet\n"
    assert precast.json("stats")["requests"] == 0
    assert families(precast)["precast_stats_files"].samples[0].value == 0
    assert not folder_of(precast).exists()


def test_each_request_counts_once(precast):
    precast("compile", "add.mlir")
    precast("compile", "add.mlir")
    precast("run", "add.mlir", "--fill", "iota")
    precast("compile", "add.mlir", "--no-cache")  # counts nothing: it touches no folder
    precast("compile", "sort.mlir")
    assert counts(precast) == {"miss": 1, "hit": 2, "skip:not_serializable": 1}
    stats = precast.json("stats")
    assert stats["requests"] == 4
    assert stats["hit_rate"] == 0.5
    assert stats["bytes_written"] > 0
    assert stats["bytes_read"] == 2 * stats["bytes_written"]
    assert stats["phases"]["total"]["count"] == 4
    assert stats["phases"]["compile"]["count"] == 2
    assert stats["phases"]["load"]["count"] == 2
    text = precast("stats").out
    assert "hit rate 50.0 %" in text
    assert re.search(r"^miss +1 +25\.0 %", text, re.M)


def test_errors_count_too(precast):
    precast("compile", "nonsense.mlir", code=None)
    precast("compile", "add.mlir", "--policy", "offline", code=None)
    counted = counts(precast)
    assert counted.pop("error:offline") == 1
    assert sum(counted.values()) <= 1  # what the compiler refuses, if this plugin does


def test_an_entry_that_is_corrupt_is_counted_once(precast):
    path = precast.folder / precast.json("compile", "add.mlir")["artifact"]
    path.write_bytes(path.read_bytes()[:-1])
    precast("compile", "add.mlir")
    precast("compile", "add.mlir")
    assert counts(precast) == {"miss": 1, "bad:entry_corrupt": 1, "hit": 1}


def test_labels(precast):
    precast("compile", "add.mlir", "--label", "train")
    precast("compile", "add.mlir", "--label", "train")
    precast("compile", "add.mlir")
    labels = precast.json("stats")["labels"]
    assert labels["train"]["hit_rate"] == 0.5
    assert labels[""]["results"]["hit"]["count"] == 1
    rows = precast("stats", "--by", "label").out
    assert re.search(r"^train +2 +50\.0 %", rows, re.M)
    assert re.search(r"^\(none\) +1 +100\.0 %", rows, re.M)


def test_since(precast):
    precast("compile", "add.mlir")
    assert counts(precast, "--since", "2h") == {"miss": 1}
    assert counts(precast, "--since", "2099-01-01") == {}
    assert "--since" in precast("stats", "--since", "yesterday", code=2).err


def test_reset(precast):
    precast("compile", "add.mlir")
    moved = pathlib.Path(precast.json("stats", "--reset")["moved_to"])
    assert moved.is_dir()
    assert counts(precast) == {}
    precast("compile", "add.mlir")
    assert counts(precast) == {"hit": 1}
    assert precast("stats", "--reset", "--since", "2h", code=2).err


def test_damaged_files_are_counted_and_harmless(precast):
    precast("compile", "add.mlir")
    (file,) = folder_of(precast).iterdir()
    file.write_bytes(file.read_bytes()[:-1])
    precast("compile", "add.mlir")
    stats = precast.json("stats")
    assert (stats["files"], stats["damaged_files"]) == (1, 1)
    assert counts(precast) == {"hit": 1}
    assert "1 file of counters cannot be read" in precast("stats").err
    assert families(precast)["precast_stats_damaged_files"].samples[0].value == 1


def test_where_nothing_can_be_kept_nothing_fails(precast):
    (precast.folder / "state").write_text("in the way")
    env = {"XDG_STATE_HOME": str(precast.folder / "state")}
    precast("compile", "add.mlir", env=env)
    nowhere = {"HOME": None, "XDG_STATE_HOME": None}
    precast("compile", "add.mlir", env=nowhere)
    assert "state folder" in precast("stats", env=nowhere, code=3).err


def test_many_processes_leave_few_files(precast):
    for _ in range(105):
        precast("compile", "add.mlir", "-q")
    names = [path.name for path in folder_of(precast).iterdir()]
    assert len(names) < 20, names
    assert counts(precast) == {"miss": 1, "hit": 104}


def test_a_process_that_is_killed_loses_only_its_own(precast, tmp_path):
    """It counts at its end, so what it did is not there; what others did is."""
    precast("compile", "add.mlir")
    env = precast.environment({"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:60000"})
    process = subprocess.Popen([precast.binary, "compile", "kinds.mlir"], env=env, cwd=precast.folder)
    time.sleep(0.5)
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert counts(precast) == {"miss": 1}


def test_prometheus_reads_it(precast):
    precast("compile", "add.mlir", "--label", 'a "quoted" \\ label')
    precast("compile", "add.mlir", "--label", "plain")
    found = families(precast)
    requests = {(sample.labels["result"], sample.labels["label"]): sample.value
                for sample in found["precast_requests"].samples}
    assert requests == {("miss", 'a "quoted" \\ label'): 1, ("hit", "plain"): 1}
    assert found["precast_requests"].type == "counter"
    phases = found["precast_phase_seconds"]
    assert phases.type == "histogram"
    total = {sample.labels["le"]: sample.value for sample in phases.samples
             if sample.name.endswith("_bucket") and sample.labels["phase"] == "total"}
    assert total["+Inf"] == 2
    values = [total[bound] for bound in sorted(total, key=float)]
    assert values == sorted(values)
    assert precast("stats", "--prometheus", "--json", code=2).out


def test_the_page_has_every_metric_and_no_other(precast):
    precast("compile", "add.mlir")
    page = set(re.findall(r"^\| `(precast_\w+)` \|", (DOCS / "stats.md").read_text(), re.M))
    suffix = {"counter": "_total"}
    assert page == {name + suffix.get(family.type, "") for name, family in families(precast).items()}


def test_the_page_has_every_reason():
    header = (ROOT / "include/precast/cache.h").read_text()
    reasons = re.search(r"enum class Reason.*?\{(.*?)^\};", header, re.S | re.M)[1]
    names = set(re.findall(r"^\s*(\w+)\s*=\s*\d+,", re.sub(r"=\s*\n\s*", "= ", reasons), re.M))
    assert len(names) > 40
    documented = {result.split(":")[-1] for result in documented_results()}
    assert names - {"none", "not_found"} <= documented


def test_the_alerts_name_what_there_is():
    rules = yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"][0]["rules"]
    metrics = set(re.findall(r"^\| `(precast_\w+)` \|", (DOCS / "stats.md").read_text(), re.M))
    series = metrics | {name + "_bucket" for name in metrics}
    results = documented_results()
    for rule in rules:
        assert rule["alert"].startswith("Precast") and rule["annotations"]["summary"]
        used = re.findall(r"\bprecast_\w+", rule["expr"])
        assert used and set(used) <= series, rule["alert"]
        for operator, pattern in re.findall(r'result(=~|!~)"([^"]*)"', rule["expr"]):
            for part in pattern.split("|") if "(" not in pattern else [pattern]:
                matched = {result for result in results if re.fullmatch(part, result)}
                assert matched, f"{rule['alert']}: {part} matches no result"
    assert {"PrecastHitRateFell", "PrecastBadEntries", "PrecastStoreHung", "PrecastLeasesTakenOver"} <= {
        rule["alert"] for rule in rules}
