"""fsck: what is wrong with a cache folder, and mending it."""

import hashlib
import os
import shutil
import time

import pytest

from test_entries import filled  # noqa: F401


def kinds(answer, wrong=True):
    return [finding["kind"] for finding in answer["findings"] if finding["wrong"] == wrong]


def damage_executable(precast, path):
    data = bytearray(path.read_bytes())
    section = next(s for s in precast.json("inspect", path)["sections"] if s["kind"] == "executable")
    data[section["offset"]] ^= 1
    path.write_bytes(bytes(data))


def test_a_sound_folder(precast, filled):
    assert precast("fsck").out == f"{precast.cache}: 2 entries sound " + precast("fsck").out.split("sound ")[1]
    answer = precast.json("fsck", "--verify")
    assert answer["sound"] and answer["entries"] == 2 and answer["findings"] == []


def test_nothing_is_sound_and_makes_nothing(precast):
    assert precast.json("fsck")["sound"]
    assert not precast.cache.exists()


def test_what_verify_finds(precast, filled):
    damage_executable(precast, precast.paths[0])
    assert precast.json("fsck")["sound"], "the front of it is sound"
    answer = precast.json("fsck", "--verify", code=1)
    assert kinds(answer) == ["corrupt_entry"] and answer["findings"][0]["key"] == filled[0]
    assert precast.paths[0].exists(), "without --mend nothing changes"
    mended = precast.json("fsck", "--verify", "--mend")
    assert mended["sound"] and mended["findings"][0]["mended"]
    assert not precast.paths[0].exists()
    after = precast.json("fsck", "--verify")
    assert kinds(after, wrong=False) == ["quarantined"] and "precast fsck" in after["findings"][0]["detail"]


@pytest.mark.parametrize("what", ["empty", "nonsense", "renamed", "folder", "pipe", "link"])
def test_bad_entries_of_every_kind_are_mended(precast, filled, what):
    path = precast.paths[0]
    if what == "empty":
        path.write_bytes(b"")
    elif what == "nonsense":
        path.write_bytes(b"nonsense" * 1000)
    elif what == "renamed":
        shutil.copy(precast.paths[1], path)
    else:
        path.unlink()
        if what == "folder":
            path.mkdir()
            (path / "x").write_text("x")
        elif what == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(precast.paths[1])
    answer = precast.json("fsck", code=1)
    assert kinds(answer) == ["corrupt_entry"] and answer["findings"][0]["key"] == filled[0]
    assert precast.json("fsck", "--mend")["sound"]
    assert not os.path.lexists(path) and precast.paths[1].exists()
    assert precast.json("compile", "add.mlir", "--label", "first")["outcome"] == "miss"
    assert precast.json("compile", "add.mlir", "--label", "first")["outcome"] == "hit"


def test_what_the_dead_left_and_what_is_not_precasts(precast, filled):
    folder = precast.paths[0].parent
    old, young, foreign = folder / ".tmp-1-old", folder / ".tmp-1-young", folder / "notes.txt"
    for path in (old, young, foreign):
        path.write_text("x")
    os.utime(old, (time.time() - 7200, time.time() - 7200))
    precast("pin", filled[1])
    precast("rm", "--force", filled[1])
    answer = precast.json("fsck", code=1)
    assert sorted(kinds(answer)) == ["abandoned_file", "orphan_pin"]
    assert sorted(kinds(answer, wrong=False)) == ["foreign", "unfinished"]
    assert "precast fsck --mend" in precast("fsck", code=1).out
    assert precast.json("fsck", "--mend")["sound"]
    assert not old.exists() and young.exists() and foreign.exists()
    assert not (precast.cache / "v1" / "pins" / filled[1]).exists()
    assert precast.json("fsck")["sound"]


def test_what_others_could_have_written_is_told_and_stays(precast, filled):
    precast("pin", filled[0])
    precast.paths[0].chmod(0o666)
    answer = precast.json("fsck", "--mend", code=1)
    assert kinds(answer) == ["untrusted_entry"] and "chmod go-w" in answer["findings"][0]["detail"]
    assert precast.paths[0].exists()
    # Its pin is none of an entry that is gone.
    precast.paths[0].chmod(0o600)
    assert [entry["pinned"] for entry in precast.json("ls")["entries"] if entry["key"] == filled[0]] == [True]


def test_a_later_format_is_nothing_wrong(precast, filled):
    data = bytearray(precast.paths[0].read_bytes())
    data[8] += 1  # the version, behind the magic
    end = int.from_bytes(data[12:16], "little")
    data[end:end + 32] = hashlib.sha256(data[:end]).digest()
    precast.paths[0].write_bytes(bytes(data))
    answer = precast.json("fsck", "--mend", "--verify")
    assert answer["sound"] and kinds(answer, wrong=False) == ["future_entry"]
    assert precast.paths[0].exists()


def test_a_lease_of_the_dead(precast, filled):
    leases = precast.cache / "v1" / "leases"
    leases.mkdir(mode=0o700, exist_ok=True)
    (leases / filled[0]).write_text("nonsense")
    os.utime(leases / filled[0], (time.time() - 7200, time.time() - 7200))
    assert kinds(precast.json("fsck", code=1)) == ["stale_lease"]
    assert precast.json("fsck", "--mend")["sound"]
    assert not (leases / filled[0]).exists()


def test_with_xlas_plugin(real):
    """Real executables: found sound, mended, collected, and compiled again."""
    key = real.json("compile", "add.mlir")["key"]
    answer = real.json("fsck", "--verify")
    assert answer["sound"] and answer["entries"] == 1
    path = real.cache / "v1" / key[:2] / f"{key[2:]}.precast"
    damage_executable(real, path)
    assert kinds(real.json("fsck", "--verify", code=1)) == ["corrupt_entry"]
    assert real.json("fsck", "--verify", "--mend")["sound"]
    assert real.json("compile", "add.mlir")["outcome"] == "miss"
    assert real.json("compile", "add.mlir")["outcome"] == "hit"
    assert real.json("gc", "--max-size", "0")["stores"][0]["removed"] == 1
    assert real.json("compile", "add.mlir")["outcome"] == "miss"
