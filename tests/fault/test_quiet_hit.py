"""A hit writes nothing into a store that others share or that may only be read."""

import os

import pytest
import tracing
from conftest import Place

WORDS = ["run", "add.mlir", "--fill", "iota", "--json"]


def changes(traced):
    return [call.text for call in traced.calls if call.in_store and call.changes()]


@pytest.mark.parametrize("how", ["group", "read_only_mode", "read_only_policy"])
def test_no_call_of_a_hit_changes_a_shared_store(precast, how):
    tracing.require()
    place = Place(precast, "here")
    place.run()
    words = list(WORDS)
    if how == "group":
        # Others read it: any of them could be where the clock or the disk is.
        for path in [place.cache, *place.cache.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
    elif how == "read_only_mode":
        for path in [*place.cache.rglob("*"), place.cache]:
            path.chmod(0o555 if path.is_dir() else 0o444)
    else:
        words += ["--policy", "read-only"]
    # Old enough that a stamp would be due.
    entry, = place.entries()
    os.utime(entry, (1, 1))
    try:
        traced = tracing.run(place, words)
    finally:
        place.cache.chmod(0o755)
        for path in place.cache.rglob("*"):
            path.chmod(0o755 if path.is_dir() else 0o644)
    assert traced.code == 0, traced.err
    assert '"hit"' in traced.out
    assert traced.store_calls(), "the trace shows no call on the store at all"
    assert changes(traced) == []
    assert entry.stat().st_mtime == 1


def test_the_trace_would_show_a_write(precast):
    tracing.require()
    traced = tracing.run(Place(precast, "here"), WORDS)
    assert any("renameat" in text or "linkat" in text for text in changes(traced))
