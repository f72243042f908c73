"""gc, pin, unpin and namespaces: what a collection removes, and what it must not."""

import os
import pathlib
import shutil
import subprocess
import time

import pytest

from test_entries import filled, keys_of  # noqa: F401

HOUR = 3600
DAY = 24 * HOUR


def age(path, published, used=None):
    """As if it had been published and last used so many seconds ago."""
    now = time.time()
    os.utime(path, (now - (published if used is None else used), now - published))


def fill(precast, count):
    """`count` entries, the first published and used longest ago, in days; their paths."""
    paths = []
    for i in range(count):
        made = precast.json("compile", "add.mlir", "--salt", i)
        paths.append(pathlib.Path(made["artifact"]))
    for i, path in enumerate(paths):
        age(path, (count - i) * DAY)
    return paths


def test_gc_of_nothing(precast):
    assert "removed 0 entries" in precast("gc").out
    assert not precast.cache.exists()
    answer = precast.json("gc", "--max-size", "0")
    assert answer["schema"] == "precast.gc/1" and answer["removed_bytes"] == 0


def test_gc_by_size_takes_the_longest_unused(precast):
    paths = fill(precast, 4)
    age(paths[0], 4 * DAY, 60)  # the oldest, but used a minute ago
    size = paths[0].stat().st_size
    total = sum(path.stat().st_size for path in paths)
    dry = precast.json("gc", "--max-size", total - size - 1, "--dry-run")
    assert all(path.exists() for path in paths)
    assert not (precast.cache / "v1" / "gc.lock").exists()
    store = dry["stores"][0]
    assert store["removed"] == 2 and store["left"] == 2
    assert [entry["why"] for entry in store["entries"]] == ["size", "size"]
    shown = precast("gc", "--max-size", total - size - 1, "--dry-run").out
    assert shown.count("size\n") >= 2 and "would remove 2 entries" in shown
    done = precast("gc", "--max-size", total - size - 1)
    assert "removed 2 entries" in done.out and "2 entries" in done.out
    assert [path.exists() for path in paths] == [True, False, False, True]


def test_gc_by_age_and_by_use(precast):
    paths = fill(precast, 4)
    age(paths[0], 40 * DAY, DAY)
    assert precast.json("gc", "--older-than", "30d")["stores"][0]["removed"] == 1
    assert not paths[0].exists()
    age(paths[1], 20 * DAY, 60)
    assert precast.json("gc", "--unused-for", "36h")["stores"][0]["removed"] == 1
    assert [path.exists() for path in paths] == [False, True, False, True]


def test_gc_without_rules_keeps_within_the_limits(precast):
    paths = fill(precast, 2)
    answer = precast.json("gc")
    store = answer["stores"][0]
    assert store["removed"] == 0 and all(path.exists() for path in paths)
    assert 0 < store["soft_limit_bytes"] <= 50 << 30
    assert store["hard_limit_bytes"] == store["soft_limit_bytes"] + store["soft_limit_bytes"] // 4


def test_gc_sweeps_what_the_dead_left(precast):
    path = fill(precast, 1)[0]
    old, young = (path.parent / f".tmp-1-{name}" for name in ("old", "young"))
    for file in (old, young):
        file.write_text("half")
    age(old, 2 * HOUR)
    assert precast.json("gc")["stores"][0]["unfinished"] == 1
    assert not old.exists() and young.exists() and path.exists()


def test_pinned_entries_stay(precast, filled):
    done = precast("pin", filled[0][:10], "--note", "for the release")
    assert done.out == f"pinned {filled[0][:12]} (note: for the release)\n"
    assert precast.json("pin", filled[0][:10], "--note", "again")["pinned"][0]["key"] == filled[0]
    assert "again" in precast("ls").out
    listed = {entry["key"]: entry["pinned"] for entry in precast.json("ls")["entries"]}
    assert listed == {filled[0]: True, filled[1]: False}
    store = precast.json("gc", "--max-size", "0")["stores"][0]
    assert (store["removed"], store["left"], store["pinned"]) == (1, 1, 1)
    assert precast.paths[0].exists() and not precast.paths[1].exists()
    refused = precast("rm", filled[0], code=3)
    assert "is pinned (note: again), so nothing is removed" in refused.err and "precast unpin" in refused.err
    assert "1 entry pinned left alone" in precast("clear", "--yes").out
    assert precast.paths[0].exists()
    assert precast.json("unpin", filled[0][:10])["unpinned"][0]["key"] == filled[0]
    assert "was not pinned" in precast("unpin", filled[0][:10]).out
    assert precast.json("gc", "--max-size", "0")["stores"][0]["removed"] == 1


def test_force_removes_pinned_entries(precast, filled):
    precast("pin", *filled)
    precast("rm", "--force", filled[0])
    assert not precast.paths[0].exists()
    assert precast.json("clear", "--yes", "--force")["removed"] == 1
    # What is gone can still be unpinned.
    assert len(precast.json("unpin", *filled)["unpinned"]) == 2


def test_pin_needs_an_entry(precast, filled):
    assert "no entry of" in precast("pin", "0000000000", code=3).err
    assert "is not the beginning of a key" in precast("pin", "ranker", code=3).err


def test_a_publish_beyond_the_soft_limit_collects(precast):
    paths = fill(precast, 4)
    total = sum(path.stat().st_size for path in paths)
    for lock in precast.cache.glob("v1/gc.lock"):
        age(lock, HOUR)
    made = precast.json("compile", "add.mlir", "--salt", "new", "--soft-limit", total, "--hard-limit", 2 * total)
    assert made["outcome"] == "miss"
    left = len(precast.json("ls")["entries"])
    assert left < 5 and pathlib.Path(made["artifact"]).exists() and not paths[0].exists()


def test_nothing_is_stored_beyond_the_hard_limit(precast):
    size = fill(precast, 1)[0].stat().st_size
    precast("pin", precast.json("ls")["entries"][0]["key"])
    made = precast.json("compile", "add.mlir", "--salt", "new", "--soft-limit", size, "--hard-limit", size + 10)
    assert (made["outcome"], made["reason"]) == ("skip", "store_full")
    assert len(precast.json("ls")["entries"]) == 1


# --- Namespaces.

def test_namespaces_share_nothing(precast):
    assert precast.json("compile", "add.mlir", "--namespace", "team-a")["outcome"] == "miss"
    assert precast.json("compile", "add.mlir")["outcome"] == "miss"
    assert precast.json("compile", "add.mlir", env={"PRECAST_NAMESPACE": "team-a"})["outcome"] == "hit"
    assert precast.json("ls", "--namespace", "team-a")["directory"] == str(precast.cache / "namespaces" / "team-a")
    assert len(precast.json("ls")["entries"]) == 1
    assert (precast.cache / "namespaces" / "team-a" / "v1").is_dir()
    assert precast.json("clear", "--yes", env={"PRECAST_NAMESPACE": "team-a"})["removed"] == 1
    assert len(precast.json("ls")["entries"]) == 1


def test_a_bad_namespace_says_the_rule(precast):
    for verb in (["compile", "add.mlir"], ["ls"], ["gc"]):
        done = precast(*verb, "--namespace", "../x", code=2)
        assert "1 to 64 of A-Z a-z 0-9 . _ -" in done.err
    assert not precast.cache.exists()
    assert "is no name of a namespace" in precast("compile", "add.mlir", env={"PRECAST_NAMESPACE": "a/b"}).err


def test_gc_of_all_namespaces(precast):
    precast("compile", "add.mlir")
    for name in ("a", "b"):
        precast("compile", "add.mlir", "--namespace", name)
    one = precast.json("gc", "--max-size", "0", "--namespace", "a")
    assert [store["removed"] for store in one["stores"]] == [1]
    every = precast.json("gc", "--max-size", "0", "--all-namespaces")
    assert [(store["namespace"], store["removed"]) for store in every["stores"]] == [(None, 1), ("a", 0), ("b", 1)]
    assert "excludes" in precast("gc", "--all-namespaces", "--namespace", "a", code=2).err


# --- The last use.

def test_a_hit_is_kept_as_a_use_once_an_hour(precast, filled):
    path = precast.paths[0]
    published = int(path.stat().st_mtime) - 10 * DAY
    age(path, 10 * DAY)
    age(precast.paths[1], 20 * DAY)
    precast("compile", "add.mlir", "--label", "first")
    entry = next(e for e in precast.json("ls")["entries"] if e["key"] == filled[0])
    assert time.time() - entry["used_unix_s"] < 100 and abs(entry["modified_unix_s"] - published) < 100
    assert "used" in precast("ls").out.splitlines()[0].split()
    before = path.stat().st_atime_ns
    precast("compile", "add.mlir", "--label", "first")
    assert path.stat().st_atime_ns == before
    assert keys_of(precast.json("ls", "--unused-for", "1h")) == [filled[1]]
    assert keys_of(precast.json("ls", "--sort", "used")) == filled


WRITES = ("openat,open,creat,write,pwrite64,writev,mkdir,mkdirat,rename,renameat,renameat2,link,linkat,symlink,"
          "symlinkat,unlink,unlinkat,rmdir,utime,utimes,utimensat,futimesat,ftruncate,truncate,fallocate,chmod,"
          "fchmod,fchmodat,chown,fchown,lchown,fchownat,setxattr,fsetxattr,mknod,mknodat")


@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
def test_a_hit_in_a_shared_store_writes_nothing(precast, filled):
    for path in precast.paths:
        age(path, 10 * DAY)
    precast.cache.chmod(0o755)  # others may read it: shared

    def written():
        log = precast.folder / "trace"
        subprocess.run(["strace", "-f", "-qq", "-y", "-e", f"trace={WRITES}", "-o", log, precast.binary, "compile",
                        "add.mlir", "--label", "first", "--json"], env=precast.environment({}), cwd=precast.folder,
                       check=True, capture_output=True, timeout=120)
        lines = [line for line in log.read_text().splitlines() if str(precast.cache) in line]
        return [line for line in lines
                if "open" not in line.split("(")[0] or any(flag in line for flag in ("O_CREAT", "O_WRONLY", "O_RDWR"))]

    assert written() == []
    assert precast.paths[0].stat().st_atime < time.time() - DAY
    precast.cache.chmod(0o700)
    assert any("utimensat" in line for line in written()), "and in one's own store it is kept"
