"""A store on a file system that fails every Nth operation, or never answers (testing/fuse_fs)."""

import contextlib

import fuse_mount
import pytest
from conftest import Place, sample


@contextlib.contextmanager
def store_on_fuse(precast):
    with fuse_mount.mounted(precast.folder) as mount:
        yield mount, Place(precast, "here", store=mount.path / "cache")


@pytest.mark.parametrize("error", ["EIO", "ENOSPC", "ESTALE", "EACCES", "EROFS"])
def test_every_nth_operation_fails(precast, error):
    outputs = Place(precast, "elsewhere").run()["outputs"]
    with store_on_fuse(precast) as (mount, place):
        for nth in sample(range(1, 31), 6):
            mount.rule(f"all:{error}:{nth}")
            for _ in range(2):
                answer = place.run()
                assert answer["outputs"] == outputs, (nth, answer)
        mount.rule()
        place.expect_well(outputs, temporary_allowed=True)


@pytest.mark.parametrize("operation", ["flock", "fsync", "rename", "create", "write", "open", "read", "getattr", "mkdir"])
def test_one_operation_never_works(precast, operation):
    outputs = Place(precast, "elsewhere").run()["outputs"]
    with store_on_fuse(precast) as (mount, place):
        # The kernel takes ENOSYS of an open as a promise that none will ever be needed, and asks no more.
        for error in ("EIO",) if operation in ("open", "create") else ("ENOSYS", "EIO"):
            mount.rule(f"{operation}:{error}")
            for _ in range(2):
                answer = place.run()
                assert answer["outputs"] == outputs, answer
        mount.rule()
        place.expect_well(outputs, temporary_allowed=True)


def test_no_lock_to_be_had(precast):
    """As on a network mount without a lock service: everything else works."""
    with store_on_fuse(precast) as (mount, place):
        mount.rule("flock:ENOLCK")
        assert place.run()["outcome"] == "miss"
        assert place.run()["outcome"] == "hit"
        assert place.leases() == []
