"""Real file systems that cannot take what a publish gives them, and folders that this user may not write."""

import contextlib
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest
from conftest import Place

NOBODY = 65534


def mounted(options, path):
    return subprocess.run(["mount", "-t", "tmpfs", "-o", options, "precast-test", str(path)],
                          capture_output=True, text=True, check=False)


@contextlib.contextmanager
def small_disk(precast, options):
    """A tmpfs with these limits, or a skip with the reason why there is none."""
    if os.geteuid() != 0:
        pytest.skip("only root may mount a tmpfs")
    path = precast.folder / "disk"
    path.mkdir()
    done = mounted(options, path)
    if done.returncode != 0:
        pytest.skip(f"a tmpfs cannot be mounted here: {done.stderr.strip()}")
    try:
        yield path
    finally:
        subprocess.run(["umount", "-l", str(path)], check=True)


def fill(path):
    """Takes all the space that is left."""
    with open(path, "wb", buffering=0) as file:
        with contextlib.suppress(OSError):
            while True:
                file.write(bytes(4096))


def expect_compiled(place, outputs):
    for _ in range(2):
        answer = place.run()
        assert answer["outputs"] == outputs
        assert answer["outcome"] == "skip" and answer["reason"] == "store_failed", answer
    assert place.entries() == [] and place.temporary() == []


@pytest.fixture
def outputs(precast):
    return Place(precast, "elsewhere").run()["outputs"]


def test_a_full_disk(precast, outputs):
    with small_disk(precast, "size=256k,mode=755") as disk:
        place = Place(precast, "here", store=disk / "cache")
        (disk / "cache").mkdir(mode=0o700)
        fill(disk / "ballast")
        expect_compiled(place, outputs)
        assert place.leases() == []
        # As soon as there is room, it works.
        (disk / "ballast").unlink()
        assert place.run()["outcome"] == "miss"
        assert place.run()["outcome"] == "hit"


def test_a_disk_that_fills_up_in_the_middle_of_an_entry(precast, outputs):
    with small_disk(precast, "size=256k,mode=755") as disk:
        place = Place(precast, "here", store=disk / "cache")
        place.run("kinds.mlir")
        fill(disk / "ballast")
        # One page: enough for names, not for the entry (of 64 KB of program).
        with open(disk / "ballast", "r+b") as ballast:
            ballast.truncate((disk / "ballast").stat().st_size - 4096)
        program = precast.folder / "long.mlir"
        noise = os.urandom(48 << 10).hex()
        program.write_text((precast.folder / "add.mlir").read_text() + f"// {noise}\n")
        right = Place(precast, "long").run(program)["outputs"]
        answer = place.run(program)
        assert answer["outputs"] == right and answer["outcome"] == "skip", answer
        assert place.temporary() == []
        assert place.run("kinds.mlir")["outcome"] == "hit"


@pytest.mark.parametrize("inodes", [1, 2, 3, 4])
def test_no_inodes(precast, outputs, inodes):
    with small_disk(precast, f"size=1m,nr_inodes={inodes + 1},mode=755") as disk:
        place = Place(precast, "here", store=disk / "cache")
        for _ in range(3):
            answer = place.run()
            assert answer["outputs"] == outputs
        assert place.temporary() == []
        # A hit or nothing: never a part of an entry.
        assert (answer["outcome"] == "hit") == (len(place.entries()) == 1), answer


def test_a_mount_that_is_read_only(precast, outputs):
    with small_disk(precast, "size=1m,mode=755") as disk:
        place = Place(precast, "here", store=disk / "cache")
        place.run()
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        answer = place.run()
        assert answer["outcome"] == "hit" and answer["outputs"] == outputs and answer["warnings"] == [], answer
        other = place.run("kinds.mlir")
        assert other["outcome"] == "skip", other
        # Damage cannot be set aside there; it is no reason to fail, or to load it.
        subprocess.run(["mount", "-o", "remount,rw", str(disk)], check=True)
        entry, = place.entries()
        entry.write_bytes(entry.read_bytes()[:-1])
        subprocess.run(["mount", "-o", "remount,ro", str(disk)], check=True)
        for _ in range(2):
            answer = place.run()
            assert answer["outputs"] == outputs and answer["outcome"] == "skip", answer


@pytest.fixture
def plain_user(precast):
    """Runs the command as somebody whom modes stop: this user, or "nobody" where this user is root."""
    if os.geteuid() != 0:
        yield precast
        return
    with tempfile.TemporaryDirectory(prefix="precast-plain-") as name:
        folder = pathlib.Path(name).resolve()
        binary = shutil.copy2(precast.binary, folder / "precast")
        for path in precast.folder.glob("*.mlir"):
            shutil.copy(path, folder)
        plugin = shutil.copy2(precast.env["PRECAST_PLUGIN"], folder / "plugin.so")
        for path in [folder, *folder.iterdir()]:
            os.chown(path, NOBODY, NOBODY)
        as_nobody = {"user": NOBODY, "group": NOBODY, "extra_groups": []}
        tried = subprocess.run([binary, "version"], cwd=folder, env=precast.environment(None), capture_output=True,
                               text=True, check=False, **as_nobody)
        if tried.returncode != 0:
            pytest.skip(f"another user cannot run the command here: {tried.stderr.strip()}")
        plain = object.__new__(type(precast))
        plain.__dict__ = {**precast.__dict__, "binary": binary, "folder": folder}
        plain.env = {**precast.env, "HOME": str(folder), "TMPDIR": str(folder), "PRECAST_PLUGIN": str(plugin)}
        call = type(precast).__call__

        class AsNobody(type(precast)):
            def __call__(self, *words, **kwargs):
                return call(self, *words, **as_nobody, **kwargs)

        plain.__class__ = AsNobody
        yield plain


def own(path):
    if os.geteuid() == 0:
        for part in [path, *path.rglob("*")]:
            os.chown(part, NOBODY, NOBODY)


def plain_place(plain_user, name):
    place = Place(plain_user, name)
    own(plain_user.folder / "homes")
    return place


def test_folders_that_may_not_be_written(plain_user):
    place = plain_place(plain_user, "here")
    outputs = place.run()["outputs"]
    folders = [place.cache, place.cache / "v1", place.entries()[0].parent]
    for folder in folders:
        for path in folders:
            path.chmod(0o700)
        folder.chmod(0o500)
        answer = place.run()
        assert answer["outcome"] == "hit" and answer["outputs"] == outputs and answer["warnings"] == [], answer
        other = place.run("kinds.mlir")
        assert other["outcome"] in ("skip", "miss", "hit"), other
        assert place.temporary() == []


@pytest.mark.parametrize("mode", [0o000, 0o300, 0o600])
@pytest.mark.parametrize("level", [0, 1, 2, 3])
def test_what_may_not_be_read(plain_user, mode, level):
    place = plain_place(plain_user, "here")
    outputs = place.run()["outputs"]
    entry, = place.entries()
    victim = [place.cache, place.cache / "v1", entry.parent, entry][level]
    usual = victim.stat().st_mode & 0o777
    victim.chmod(mode)
    answer = place.run()
    assert answer["outputs"] == outputs, answer
    if level == 3 and mode & 0o400 == 0:
        assert answer["reason"] != "none" or answer["outcome"] != "hit", answer
    if victim.exists():
        victim.chmod(usual)
    place.expect_well(outputs)
