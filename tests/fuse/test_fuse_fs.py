"""The FUSE file system of the tests does what its rules say, and nothing else."""

import errno
import fcntl
import os
import pathlib
import subprocess
import sys
import time

import pytest

sys.path.insert(0, str(pathlib.Path(__file__).parents[1]))
from fuse_mount import mounted


@pytest.fixture
def mount(tmp_path):
    with mounted(tmp_path) as mount:
        yield mount


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


def fails_with(error, call, *arguments):
    with pytest.raises(OSError) as caught:
        call(*arguments)
    assert caught.value.errno == error


def test_passes_everything_through(mount):
    folder = mount.path / "a" / "b"
    folder.mkdir(parents=True)
    write(folder / "one", "text")
    assert (mount.source / "a/b/one").read_text() == "text"
    os.link(folder / "one", folder / "two")
    os.rename(folder / "two", folder / "three")
    os.symlink("one", folder / "link")
    assert sorted(os.listdir(folder)) == ["link", "one", "three"]
    assert (folder / "link").read_text() == "text"
    os.utime(folder / "one", (1, 2))
    assert os.stat(folder / "one").st_mtime == 2
    with open(folder / "one", "r+") as first, open(folder / "one") as second:
        fcntl.flock(first, fcntl.LOCK_EX)
        fails_with(errno.EWOULDBLOCK, fcntl.flock, second, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.fsync(first.fileno())
        os.truncate(folder / "one", 2)
    assert (folder / "three").read_text() == "te"
    for name in ("link", "one", "three"):
        os.unlink(folder / name)
    os.rmdir(folder)
    assert list((mount.source / "a").iterdir()) == []


def test_fails_as_the_rules_say(mount):
    write(mount.path / "file", "text")
    mount.rule("read:EIO")
    fails_with(errno.EIO, (mount.path / "file").read_text)
    mount.rule("create:ENOSPC:2")
    write(mount.path / "first", "")
    fails_with(errno.ENOSPC, write, mount.path / "second", "")
    write(mount.path / "third", "")
    mount.rule("unlink:EROFS:2+")
    os.unlink(mount.path / "first")
    fails_with(errno.EROFS, os.unlink, mount.path / "third")
    fails_with(errno.EROFS, os.unlink, mount.path / "third")
    mount.rule()
    os.unlink(mount.path / "third")


def reader(path):
    return subprocess.Popen(["cat", path], stdout=subprocess.PIPE)


def test_hangs_until_the_rule_is_gone(mount):
    write(mount.path / "file", "text")
    mount.rule("read:hang")
    with reader(mount.path / "file") as process:
        time.sleep(0.3)
        assert process.poll() is None
        mount.rule()
        assert process.communicate(timeout=30)[0] == b"text"


def test_a_killed_process_does_not_wait_for_a_file_system_that_hangs(mount):
    write(mount.path / "file", "text")
    mount.rule("read:hang")
    with reader(mount.path / "file") as process:
        time.sleep(0.2)
        process.kill()
        process.wait(timeout=30)


def test_a_killed_process_waits_for_one_that_is_frozen(mount):
    write(mount.path / "file", "text")
    mount.rule("read:freeze")
    process = reader(mount.path / "file")
    try:
        time.sleep(0.2)
        process.kill()
        with pytest.raises(subprocess.TimeoutExpired):
            process.wait(timeout=0.5)
    finally:
        mount.rule()
    process.wait(timeout=30)
    process.stdout.close()


def test_a_server_that_is_stopped_takes_no_request(mount):
    write(mount.path / "file", "text")
    mount.pause()
    with reader(mount.path / "file") as process:
        time.sleep(0.2)
        assert process.poll() is None
        mount.go_on()
        assert process.communicate(timeout=30)[0] == b"text"
