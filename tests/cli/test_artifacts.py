"""verify and inspect: damage of every kind is found, and nothing is handed to PJRT before."""

import hashlib
import random
import shutil

import pytest

from conftest import RANKER

FORMAT_VERSION_OFFSET = 8  # docs/format.md


def artifact(precast, program="add.mlir"):
    precast("compile", program, "-q", "-o", "whole.precast")
    return (precast.folder / "whole.precast").read_bytes()


def damaged(whole, seed):
    """(name, bytes): 500 seeded flips of one byte, and every cut at a 64th."""
    chance = random.Random(seed)
    for i in range(500):
        at = chance.randrange(len(whole))
        changed = bytearray(whole)
        changed[at] ^= chance.randrange(1, 256)
        yield f"flip_{i:03}_byte_{at}.precast", bytes(changed)
    for i in range(64):
        yield f"cut_{i:02}.precast", whole[: len(whole) * i // 64]


@pytest.mark.parametrize("kind", ["fake", "real"])
def test_verify_finds_every_flip_and_every_cut(request, kind):
    precast = request.getfixturevalue("real" if kind == "real" else "precast")
    whole = artifact(precast, RANKER / "ranker.mlirbc" if kind == "real" else "add.mlir")
    folder = precast.folder / "damaged"
    folder.mkdir()
    names = set()
    for name, content in damaged(whole, seed=20):
        (folder / name).write_bytes(content)
        names.add(f"damaged/{name}")
    (folder / "sound.precast").write_bytes(whole)
    found = precast.json("verify", "damaged", code=1)
    assert {bad["path"] for bad in found["bad"]} == names
    assert {bad["code"] for bad in found["bad"]} <= {"corrupt", "incompatible"}
    assert (found["verified"], found["unreadable"]) == (1, [])

    done = precast("verify", *sorted(names), code=1)
    lines = done.out.splitlines()
    assert len(lines) == 565
    assert all(line.startswith("bad damaged/") and ": " in line for line in lines[:-1])
    assert lines[-1] == "0 artifacts verified, 564 bad"


def test_run_refuses_damage_before_pjrt_sees_it(precast, counter):
    whole = artifact(precast)
    before = counter()
    for name, content in list(damaged(whole, seed=21))[::40]:
        (precast.folder / name).write_bytes(content)
        done = precast("run", name, "--fill", "zeros", code=None)
        # What no longer begins like an artifact is taken for a program, and is none.
        assert done.code in (3, 5, 6), (name, done)
        assert name in done.err
    assert counter() == before


def test_a_future_format(precast):
    whole = bytearray(artifact(precast))
    whole[FORMAT_VERSION_OFFSET] += 1
    # With the old root it is a damaged artifact of this format.
    (precast.folder / "damaged.precast").write_bytes(whole)
    assert "does not fit the root" in precast("inspect", "damaged.precast", code=6).err
    end = int.from_bytes(whole[12:16], "little")
    whole[end:end + 32] = hashlib.sha256(whole[:end]).digest()
    (precast.folder / "future.precast").write_bytes(whole)
    for words in (["run", "future.precast", "--fill", "zeros"], ["inspect", "future.precast"]):
        done = precast(*words, code=5)
        assert "format version 2" in done.err
    assert precast.json("verify", "future.precast", code=1)["bad"][0]["code"] == "incompatible"


def test_a_cpu_with_fewer_features_is_refused_before_pjrt_sees_the_bytes(precast, calls):
    more = {"PRECAST_FAKE_CPU_FEATURES": "+avx,+avx2,+avx512f,+sse2"}
    precast("compile", "add.mlir", "-q", "-o", "a.precast", env=more)
    before = calls().count("PJRT_Executable_DeserializeAndLoad")
    done = precast("run", "a.precast", "--fill", "zeros", code=5)
    assert "avx512f" in done.err
    assert calls().count("PJRT_Executable_DeserializeAndLoad") == before
    precast("run", "a.precast", "--fill", "zeros", env=more)


def test_another_plugin_is_refused_before_pjrt_sees_the_bytes(precast, calls):
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    before = calls().count("PJRT_Executable_DeserializeAndLoad")
    other = precast.folder / "other.so"
    shutil.copy(precast.env["PRECAST_PLUGIN"], other)
    with open(other, "ab") as file:
        file.write(b"\0")  # behind the end of what is loaded: the same code, other bytes
    done = precast("run", "a.precast", "--fill", "zeros", "--plugin", other, code=5)
    assert "another plugin" in done.err
    assert calls().count("PJRT_Executable_DeserializeAndLoad") == before


def test_verify_a_store(precast):
    precast("compile", "add.mlir")
    precast("compile", "kinds.mlir")
    done = precast("verify", precast.cache)
    assert done.out.splitlines()[-1].startswith("2 artifacts verified, 0 bad")
    one, other = sorted(precast.cache.rglob("*.precast"))
    one.write_bytes(other.read_bytes())  # sound, but under another key's name
    done = precast("verify", precast.cache, code=1)
    assert done.out.startswith(f"bad {one}: corrupt: its name in the store stands for another key")
    # Elsewhere a name means nothing.
    shutil.copy(one, precast.folder / "x.precast")
    precast("verify", "x.precast")


def test_verify_walks_folders_and_ignores_what_is_foreign(precast):
    whole = artifact(precast)
    deep = precast.folder / "deep" / "er"
    deep.mkdir(parents=True)
    (deep / "a.precast").write_bytes(whole)
    (deep / "notes.txt").write_text("x")
    (deep / "loop").symlink_to(precast.folder / "deep")
    assert precast.json("verify", "deep") == {
        "schema": "precast.verify/1", "verified": 1, "bad": [], "unreadable": [], "foreign": 2}
    done = precast("verify", "deep", "--quiet")
    assert done.out == ""


def test_inspect_shows_everything(precast):
    artifact(precast)
    out = precast("inspect", "whole.precast", "--items").out
    for text in ("format    1", "key_record", "executable", "compile_options", "provenance", "parameter 0  f32[4]",
                 "result 0     f32[4]", "\nprogram\n", "\n  sha256 = ", "memory per device", "PJRT API  0.115"):
        assert text in out
    seen = precast.json("inspect", "whole.precast")
    assert seen["key"] == precast.json("key", "add.mlir")["key"]
    assert seen["signature"]["name"] == "add"
    assert [p["type"] for p in seen["signature"]["parameters"]] == ["f32", "f32"]
    assert seen["bytes"] == (precast.folder / "whole.precast").stat().st_size
    kinds = [section["kind"] for section in seen["sections"]]
    assert kinds[:3] == ["key_record", "executable", "compile_options"]


def test_inspect_escapes_what_a_terminal_would_obey(precast):
    precast("compile", "add.mlir", "-q", "-o", "a.precast", "--label", "\033[2Jgone")
    done = precast("inspect", "a.precast")
    assert "\\x1b[2Jgone" in done.out and "\033" not in done.out
    assert precast.json("inspect", "a.precast")["provenance"]["label"] == "\033[2Jgone"


def test_inspect_needs_no_plugin(precast):
    artifact(precast)
    for words in (["inspect", "whole.precast"], ["verify", "whole.precast"], ["version"]):
        precast(*words, env={"PRECAST_PLUGIN": "/nonexistent.so"})
