"""The Nth system call on the store fails, or is the process's last: the compile is right, the store stays sound."""

import json
import shutil
import threading

import pytest
import tracing
from conftest import FULL, Place, each, sample

RUN = ["run", "add.mlir", "--fill", "iota", "--json"]
# What each call is made to fail with; the first alone in the short sweep.
ERRORS = {
    "write": ["ENOSPC", "EIO", "EDQUOT"], "pwrite64": ["ENOSPC", "EIO"], "openat": ["EACCES", "EIO", "ENOSPC", "EMFILE", "ESTALE"],
    "mkdirat": ["ENOSPC", "EACCES", "EROFS"], "fsync": ["EIO", "ENOSPC"], "renameat": ["EIO", "EACCES", "ENOSPC", "ESTALE"],
    "renameat2": ["EIO", "ENOSYS", "EINVAL"], "linkat": ["EIO", "EPERM", "EMLINK"], "unlinkat": ["EIO", "EACCES"],
    "flock": ["ENOLCK", "EIO"], "utimensat": ["EACCES", "EROFS"], "ftruncate": ["EIO"],
}
REMOVES = ("unlinkat", "unlink")
MAKING = threading.Lock()


def empty(place):
    """A miss: compiled and published. What the user's state folder has from before stays."""
    place.run()
    shutil.rmtree(place.cache)


def filled(place):
    """A hit."""
    place.run()


def damaged(place):
    """An entry that must be set aside and made again."""
    place.run()
    entry, = place.entries()
    content = bytearray(entry.read_bytes())
    content[-1] ^= 1
    entry.write_bytes(content)


START = {"miss": empty, "hit": filled, "damaged": damaged}
# How many of the cases the short sweep does.
EVERY = {"miss": 2, "hit": 2, "damaged": 6}


@pytest.fixture(params=["fake", "real"])
def which(request, precast, real_plugin):
    """(the command with the fake plugin, or with XLA's; how much rarer its cases are in the short sweep; and in the full)"""
    if request.param == "real":
        precast.env["PRECAST_PLUGIN"] = real_plugin
    return (precast, 1, 1) if request.param == "fake" else (precast, 24, 5)


def started(precast, name, start):
    """A copy of what START makes, which is made once."""
    place = Place(precast, name)
    model = precast.folder / "models" / start
    with MAKING:
        if not model.exists():
            first = Place(precast, f"model-{start}")
            START[start](first)
            model.parent.mkdir(exist_ok=True)
            first.home.rename(model)
    shutil.copytree(model, place.home, dirs_exist_ok=True)
    return place


def recorded(precast, start):
    """The calls on the store of a run without faults, and what it computed."""
    tracing.require()
    place = started(precast, f"{start}-recorded", start)
    traced = tracing.run(place, RUN)
    assert traced.code == 0, traced.err
    return traced.store_calls(), json.loads(traced.out)["outputs"]


def outputs_of(precast):
    """Of a run that nothing disturbs; made once."""
    with MAKING:
        if not hasattr(precast, "outputs"):
            precast.outputs = Place(precast, "undisturbed").run()["outputs"]
    return precast.outputs


def answered(traced, outputs):
    assert traced.code == 0, f"exit {traced.code}: {traced.err}"
    answer = json.loads(traced.out)
    assert answer["outputs"] == outputs
    return answer


@pytest.mark.parametrize("start", START)
def test_one_call_fails(start, which):
    precast, every, full = which
    calls, outputs = recorded(precast, start)
    assert len(calls) > 5
    cases = [(i, call, error) for i, call in enumerate(calls)
             for error in ERRORS.get(call.name, ["EIO", "ESTALE"])[:None if FULL else 1]]

    def fail(case):
        i, call, error = case
        place = started(precast, f"{start}-{i}-{error}", start)
        traced = tracing.run(place, RUN, [f"{call.name}:error={error}:when={call.number}"])
        assert [made.name for made in traced.calls if made.injected] == [call.name], traced.err
        assert traced.astray() == []
        answered(traced, outputs)
        place.expect_well(outputs, temporary_allowed=call.name in REMOVES)

    each(fail, sample(cases, every * EVERY[start], full))


@pytest.mark.parametrize("start", START)
def test_all_calls_fail_from_one_on(start, which):
    precast, every, full = which
    calls, outputs = recorded(precast, start)
    cases = [(i, error) for error in ("EIO", "ENOSPC", "EACCES")[:None if FULL else 1] for i in range(len(calls))]

    def fail(case):
        first, error = case
        names = {call.name for call in calls[first:]}
        while True:
            place = started(precast, f"{start}-from-{first}-{error}-{len(names)}", start)
            ranges = {name: [call.number for call in calls[first:] if call.name == name] for name in names}
            traced = tracing.run(
                place, RUN, [f"{name}:error={error}:when={numbers[0]}..{numbers[-1]}" for name, numbers in ranges.items()])
            # After a fault fewer calls are made, so that a later one of this name may be for another file: such a run
            # shows nothing, and is made again without faults in that call.
            astray = {call.name for call in traced.astray()}
            if not astray:
                break
            names -= astray
        answered(traced, outputs)
        # What could not be removed may lie there still.
        place.expect_well(outputs, temporary_allowed=True)

    each(fail, sample(cases, 2 * every * EVERY[start], full))


@pytest.mark.parametrize("start", START)
def test_killed_at_every_call(start, which):
    precast, every, full = which
    calls, outputs = recorded(precast, start)

    def kill(case):
        i, call = case
        place = started(precast, f"{start}-killed-{i}", start)
        traced = tracing.run(place, RUN, [f"{call.name}:signal=KILL:when={call.number}"])
        assert traced.code == -9 and traced.out == "", traced.err
        # Absent or whole: what is there under its name is loaded, or was never published.
        if start != "damaged" and place.entries():
            precast("verify", *place.entries(), env=place.env)
        place.expect_well(outputs, temporary_allowed=True)

    each(kill, sample(enumerate(calls), every * EVERY[start], full))


@pytest.mark.parametrize("fault", ["error=EIO", "error=ENOSPC", "error=EACCES", "signal=KILL"])
@pytest.mark.parametrize("name", ["openat", "mkdirat", "newfstatat", "fstatfs"])
def test_the_opening_fails(precast, name, fault):
    """A thread opens the store, since it might hang; so the calls on the store's own folder count, N = 1, 2, 3 and so on
    until there is none. The main thread's are met as well."""
    tracing.require()
    for n in range(1, 30):
        place = started(precast, f"opening-{name}-{fault}-{n}", "miss")
        traced = tracing.run(place, RUN, [f"{name}:{fault}:when={n}"], only=[place.cache, place.cache.name])
        if fault.startswith("signal"):
            if traced.code == 0:
                break
            assert traced.code == -9
        else:
            assert traced.astray() == []
            assert traced.code == 0, traced.err
            if not any(call.injected for call in traced.calls):
                break
        place.expect_well(outputs_of(precast), temporary_allowed=True)
    else:
        pytest.fail("there is no end to these calls")
    assert n > 1
