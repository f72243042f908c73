"""doctor: says what works, what does not, and what to do."""

import pytest


def problems(precast, code=1, **env):
    seen = precast.json("doctor", env=env, code=code)
    assert all(problem["what"] and problem["next_step"] for problem in seen["problems"])
    return [problem["what"] for problem in seen["problems"]], seen


def test_everything_works_on_the_real_plugin(real):
    done = real("doctor")
    assert done.out.splitlines()[-1] == "everything works"
    assert "compiled, stored, loaded and ran" in done.out
    assert str(real.cache) in done.out
    seen = real.json("doctor")
    (plugin,) = seen["plugins"]
    assert {**plugin["self_test"], "answers": {}} == {"ok": True, "compile": "miss", "load": "hit",
                                                   "answers": {}}
    assert plugin["client"]["cpu"]["features"] and plugin["client"]["cpu"]["triple"]
    assert plugin["capabilities"]["serialize"] is True
    assert len(plugin["client"]["devices"]) == 4
    # The self-test leaves nothing behind.
    assert list(real.cache.rglob("*.precast")) == []
    assert list((real.folder / "tmp").iterdir()) == []


def test_no_plugin(precast):
    alone = {"PRECAST_PLUGIN": None}
    found, _ = problems(precast, **alone)
    assert found == ["no PJRT plugin is found"]
    done = precast("compile", "add.mlir", env=alone, code=3)
    assert "no plugin found; looked in PRECAST_PLUGIN (not set)" in done.err
    done = precast("plugins", env=alone, code=1)
    assert done.out.startswith("no plugin found\n  next step: ")


def test_a_plugin_that_ends_the_process(precast):
    found, seen = problems(precast, PRECAST_FAKE_FAULT="PJRT_Client_Create:ABORT:a check failed")
    assert "while making a client: the process was ended by signal 6" in found[0]
    assert "cache" in seen and seen["cache"]["usable"]


def test_a_plugin_that_cannot_serialize(precast):
    found, _ = problems(precast, PRECAST_FAKE_NULL="PJRT_Executable_Serialize")
    assert any("cannot serialize executables, so nothing is cached" in what for what in found)


def test_a_client_that_is_refused(precast):
    found, _ = problems(precast, PRECAST_FAKE_FAULT="PJRT_Client_Create:NOT_FOUND:no device")
    assert any("no client: plugin_error (NOT_FOUND): no device" in what for what in found)


def test_a_cache_that_cannot_be_used(precast):
    found, seen = problems(precast, PRECAST_CACHE=str(precast.folder / "add.mlir"))
    assert any("the cache folder cannot be used" in what for what in found)
    assert seen["cache"]["usable"] is False
    found, _ = problems(precast, PRECAST_CACHE=None, HOME=None)
    assert any("no cache folder" in what for what in found)


def test_entries_are_counted(precast):
    precast("compile", "add.mlir")
    _, seen = problems(precast, code=None)
    assert seen["cache"]["entries"] == 1
    assert seen["cache"]["bytes"] == next(precast.cache.rglob("*.precast")).stat().st_size


def test_flags_that_xla_would_ignore(precast):
    found, _ = problems(precast, XLA_FLAGS="--xla_cpu_enable_fast_math=true false --xla_foo=1")
    assert "XLA_FLAGS: XLA ignores 'false' and everything behind it" in found


def test_notes_are_no_problems(real):
    seen = real.json("doctor", env={"PRECAST_DISABLE": "1", "PRECAST_CACH": "/x"})
    notes = [note["what"] for note in seen["notes"]]
    assert "PRECAST_DISABLE turns the cache off: everything is compiled" in notes
    assert "Precast knows no variable PRECAST_CACH" in notes
    assert seen["environment"]["PRECAST_DISABLE"] == "1"
    # The plugin is tried all the same.
    assert seen["plugins"][0]["self_test"]["ok"] is True


@pytest.mark.parametrize("name", ["compile", "run", "key", "inspect", "verify", "plugins", "doctor", "version"])
def test_help_ends_with_an_example(precast, name):
    out = precast(name, "--help").out
    assert f"\nExample:\n  precast {name}" in out
    assert "--json" in out and "--quiet" in out
    assert max(map(len, out.splitlines())) <= 110
