"""ls, rm and clear: what is in a cache folder, and removing it."""

import json
import os
import pathlib
import pty
import shutil
import subprocess

import pytest

from test_terminal import on_a_terminal, plain


@pytest.fixture
def filled(precast):
    """A cache of two entries; returns their keys, the younger last."""
    shutil.copy(precast.folder / "add.mlir", precast.folder / "other.mlir")
    keys = [precast.json("compile", "add.mlir", "--label", "first")["key"],
            precast.json("compile", "other.mlir", "--salt", "x")["key"]]
    entries = {entry["key"]: pathlib.Path(entry["path"]) for entry in precast.json("ls")["entries"]}
    precast.paths = [entries[key] for key in keys]
    return keys


def keys_of(answer):
    return [entry["key"] for entry in answer["entries"]]


def test_ls_of_nothing_makes_no_folder(precast):
    assert precast("ls").out == f"no entries in {precast.cache}\n"
    assert precast.json("ls")["entries"] == []
    assert not precast.cache.exists()
    assert precast("clear", "--yes").out == f"nothing to remove in {precast.cache}\n"


def test_ls_shows_entries(precast, filled):
    lines = precast("ls").out.splitlines()
    assert lines[0].split() == ["key", "program", "label", "platform", "size", "age", "compile"]
    assert {line.split()[0] for line in lines[1:3]} == {key[:12] for key in filled}
    assert lines[4].startswith("2 entries, ") and lines[4].endswith(f" in {precast.cache}")
    first = next(entry for entry in precast.json("ls")["entries"] if entry["key"] == filled[0])
    assert first["label"] == "first"
    assert first["program_name"].endswith("add.mlir")
    assert first["bytes"] == precast.paths[0].stat().st_size
    assert sorted(precast("ls", "--quiet").out.split()) == sorted(filled)
    assert str(precast.paths[0]) in precast("ls", "--long").out


def test_ls_sorts_and_filters(precast, filled):
    by_size = precast.json("ls", "--sort", "size")["entries"]
    assert by_size[0]["bytes"] >= by_size[1]["bytes"]
    assert keys_of(precast.json("ls", "--sort", "key")) == sorted(filled)
    assert keys_of(precast.json("ls", "--sort", "key", "--reverse")) == sorted(filled, reverse=True)
    assert keys_of(precast.json("ls", "--match", "first")) == [filled[0]]
    assert keys_of(precast.json("ls", "--match", "other.mlir")) == [filled[1]]
    assert keys_of(precast.json("ls", "--match", filled[0][:20])) == [filled[0]]
    assert len(keys_of(precast.json("ls", "--platform", "cpu"))) == 2
    nothing = precast.json("ls", "--platform", "cuda")
    assert nothing["entries"] == [] and nothing["left_out"] == 2
    assert "none of 2 entries" in precast("ls", "--older-than", "1d").out
    assert len(keys_of(precast.json("ls", "--newer-than", "1d"))) == 2
    assert keys_of(precast.json("ls", "--larger-than", "1GB")) == []
    assert len(keys_of(precast.json("ls", "--smaller-than", "1GB"))) == 2


def test_a_value_that_does_not_fit_says_what_would(precast):
    assert "did you mean 'size'?" in precast("ls", "--sort", "sise", code=2).err
    assert "for example 7d" in precast("ls", "--older-than", "a week", code=2).err
    assert "for example 10MB" in precast("ls", "--larger-than", "big", code=2).err
    assert "did you mean 'never'?" in precast("version", "--color", "nevr", code=2).err


def test_ls_of_files_and_folders(precast, filled):
    precast("compile", "add.mlir", "--label", "first", "-o", "a.precast")
    answer = precast.json("ls", "a.precast")
    assert keys_of(answer) == [filled[0]] and answer["directory"] is None
    assert sorted(keys_of(precast.json("ls", precast.cache))) == sorted(filled)
    assert keys_of(precast.json("ls", ".")) == [filled[0]]
    missing = precast("ls", "a.precast", "b.precast", code=3)
    assert "no file 'b.precast'" in missing.err and "did you mean 'a.precast'?" in missing.err
    assert filled[0][:12] in missing.out
    assert "not a Precast artifact" in precast("ls", "add.mlir", code=6).err


def test_ls_says_what_is_damaged_or_not_trusted(precast, filled):
    precast.paths[0].write_bytes(b"nonsense")
    precast.paths[1].chmod(0o666)
    done = precast("ls")
    assert f"{filled[0][:12]}  (corrupt)" in done.out
    assert "chmod go-w" in done.err
    answer = precast.json("ls")
    assert [entry["error"]["code"] for entry in answer["entries"]] == ["corrupt"]
    assert [unusable["path"] for unusable in answer["unusable"]] == [str(precast.paths[1])]


def test_ls_reads_no_executable(precast, filled):
    """Damage in the middle of an entry is for verify to find."""
    data = bytearray(precast.paths[0].read_bytes())
    offset = next(section["offset"] for section in precast.json("inspect", precast.paths[0])["sections"]
                  if section["kind"] == "executable")
    data[offset] ^= 1
    precast.paths[0].write_bytes(bytes(data))
    assert len(keys_of(precast.json("ls"))) == 2
    assert precast("verify", precast.cache, code=1)


def test_rm_by_the_beginning_of_a_key(precast, filled):
    done = precast("rm", "--dry-run", filled[0][:8])
    assert done.out.startswith(f"would remove {filled[0][:12]}, ")
    assert precast.paths[0].exists()
    answer = precast.json("rm", filled[0][:8].upper())
    assert [entry["key"] for entry in answer["removed"]] == [filled[0]]
    assert not precast.paths[0].exists() and precast.paths[1].exists()
    assert "no entry of" in precast("rm", filled[0][:8], code=3).err


def test_rm_by_path(precast, filled):
    precast("compile", "other.mlir", "--salt", "x", "-o", "b.precast")
    precast("rm", "b.precast", precast.paths[1], precast.paths[1])
    assert not (precast.folder / "b.precast").exists()
    assert not precast.paths[1].exists() and precast.paths[0].exists()


def test_rm_removes_nothing_when_one_name_is_wrong(precast, filled):
    done = precast("rm", filled[0], "0000000000", code=3)
    assert "next step: 'precast ls' shows the keys" in done.err
    assert precast.paths[0].exists()


def test_rm_guesses_what_was_meant(precast, filled):
    typed = filled[0][:3] + ("0" if filled[0][3] != "0" else "1") + filled[0][4:12]
    assert f"did you mean {filled[0][:12]}?" in precast("rm", typed, code=3).err
    assert "at least 4 digits" in precast("rm", filled[0][:3], code=3).err
    assert "neither the beginning of a key nor a path" in precast("rm", "ranker", code=3).err


def test_rm_of_an_ambiguous_beginning_names_some(precast, filled):
    for digits in ("00", "ff"):
        folder = precast.cache / "v1" / "ab"
        folder.mkdir(mode=0o700, exist_ok=True)
        shutil.copy(precast.paths[0], folder / ("cd" + digits * 30 + ".precast"))
    done = precast("rm", "abcd", code=3)
    assert "2 entries" in done.err and "abcd00000000, abcdffffffff" in done.err


def test_rm_removes_only_artifacts(precast, filled):
    assert "does not begin like an artifact" in precast("rm", "./add.mlir", code=3).err
    assert "it is a folder" in precast("rm", "./", code=3).err
    (precast.folder / "link.precast").symlink_to(precast.paths[0])
    assert "not a regular file" in precast("rm", "link.precast", code=3).err
    assert "no file" in precast("rm", "./none", code=3).err
    assert (precast.folder / "add.mlir").exists() and precast.paths[0].exists()


def test_rm_removes_a_damaged_artifact(precast, filled):
    precast("compile", "add.mlir", "-o", "a.precast")
    file = precast.folder / "a.precast"
    file.write_bytes(file.read_bytes()[:200])
    precast("rm", "a.precast")
    precast.paths[0].write_bytes(b"nonsense")
    precast("rm", filled[0])
    assert not file.exists() and not precast.paths[0].exists()


def test_clear_asks_and_needs_somebody_to_ask(precast, filled):
    done = precast("clear", code=2)
    assert "there is nobody to ask" in done.err and "--yes" in done.err
    assert all(path.exists() for path in precast.paths)
    assert answered(precast, "n\n")[1] == 1
    assert answered(precast, "\n")[1] == 1
    assert all(path.exists() for path in precast.paths)
    shown, code = answered(precast, "y\n")
    assert code == 0
    assert f"remove 2 entries of {precast.cache}? [y/N]" in shown
    assert "removed 2 entries" in shown
    assert not any(path.exists() for path in precast.paths)


def answered(precast, answer):
    """`precast clear` on a terminal where somebody types the answer."""
    master, slave = pty.openpty()
    process = subprocess.Popen([precast.binary, "clear"], cwd=precast.folder, stdin=slave, stdout=slave, stderr=slave,
                               env=precast.environment({"TERM": "xterm", "COLUMNS": "500"}))
    os.close(slave)
    os.write(master, answer.encode())
    shown = b""
    while True:
        try:
            shown += os.read(master, 1 << 16)
        except OSError:
            break
    os.close(master)
    return plain(shown.decode()), process.wait(timeout=60)


def test_clear_removes_its_own_and_nothing_else(precast, filled):
    layout = precast.cache / "v1"
    strange = [precast.cache / "notes.txt", layout / "notes.txt", precast.paths[0].parent / "notes.precast",
               layout / "other" / "x.precast"]
    (layout / "other").mkdir()
    for path in strange:
        path.write_text("precious")
    link = precast.paths[0].parent / ("e" * 62 + ".precast")
    link.symlink_to(strange[0])
    young, old = (precast.paths[0].parent / f".tmp-1-{name}" for name in ("young", "old"))
    young.write_text("half")
    old.write_text("half")
    os.utime(old, (0, 0))
    precast.paths[1].chmod(0o666)
    dry = precast.json("clear", "--dry-run")
    assert (dry["removed"], dry["unfinished"]) == (2, 1)
    assert all(path.exists() for path in precast.paths)
    answer = precast.json("clear", "--yes")
    assert (answer["removed"], answer["unfinished"], answer["failed"]) == (2, 1, [])
    assert answer["foreign"] == 4  # the file and folder beside the entries' folders, and two beside entries
    assert not any(path.exists() for path in precast.paths) and not old.exists()
    assert all(path.exists() for path in strange) and link.is_symlink() and young.exists()
    assert "nothing to remove" in precast("clear").out


def test_clear_goes_no_way_out_of_the_cache(precast, filled):
    elsewhere = precast.folder / "elsewhere"
    precast.paths[0].parent.rename(elsewhere)
    precast.paths[0].parent.symlink_to(elsewhere)
    done = precast("clear", "--yes", code=9)
    assert "symbolic link" in done.err
    assert (elsewhere / precast.paths[0].name).exists() and not precast.paths[1].exists()


def test_a_folder_that_others_can_write_to_is_refused(precast, filled):
    precast.cache.chmod(0o777)
    for words in (["ls"], ["rm", filled[0]], ["clear", "--yes"]):
        assert "chmod go-w" in precast(*words, code=9).err
    assert all(path.exists() for path in precast.paths)


def test_compiles_again_after_clear(precast, filled):
    precast("clear", "--yes")
    assert precast.json("compile", "add.mlir")["outcome"] == "miss"
    assert precast.json("compile", "add.mlir")["outcome"] == "hit"


def test_the_table_fits_the_terminal(precast):
    name = "漢字-e\u0301-" + "x" * 90 + ".mlir"
    shutil.copy(precast.folder / "add.mlir", precast.folder / name)
    precast("compile", name, "--label", "a label that is rather long for a table")
    for columns in (80, 90, 120):
        shown, code = on_a_terminal(precast, "ls", "--cache", precast.cache, env={"COLUMNS": str(columns)})
        assert code == 0
        table = plain(shown).split("\r\n")[:2]
        wide = sum(2 if "\u2e80" <= char <= "\ua4cf" else 0 if char == "\u0301" else 1 for char in table[1])
        assert wide <= columns and len(table[0]) == wide, table
        assert "…" in table[1]
    assert name in precast("ls").out
    json.dumps(precast.json("ls"))
