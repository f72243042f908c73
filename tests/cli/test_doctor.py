"""doctor: says what works, what does not, and what to do."""

import json
import os
import pathlib
import shutil

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


# --pjrt


@pytest.fixture
def wrapper():
    path = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "lib" / "libprecast_pjrt.so"
    assert path.is_file(), "not built: cmake --build --preset release"
    return path


def unchanged(precast, code=0, **env):
    seen = precast.json("doctor", "--pjrt", env=env, code=code)
    assert seen["plugins"] == []
    return seen["pjrt"], [problem["what"] for problem in seen["problems"]], [note["what"] for note in seen["notes"]]


def test_an_unchanged_client_that_was_told_all(real, wrapper):
    exported = real.json("env", "jax")["variables"]
    assert exported["PJRT_NAMES_AND_LIBRARY_PATHS"] == f"precast:{wrapper}"
    seen, found, notes = unchanged(real, **exported)
    assert (found, notes) == ([], [])
    assert seen == {
        "wrapper": str(wrapper),
        "clients": [{"variable": "PJRT_NAMES_AND_LIBRARY_PATHS", "name": "precast", "library": str(wrapper),
                     "is_wrapper": True}],
        "plugin": {"name": "pjrt_c_api_cpu_plugin.so", "path": real.env["PRECAST_PLUGIN"],
                   "origin": "PRECAST_PJRT_PLUGIN"},
        "refusal": None, "api_version": "0.115", "platform": "cpu"}
    out = real("doctor", "--pjrt", env=exported).out
    assert "clients that know nothing of Precast" in out and f"{wrapper} (Precast's)" in out
    assert out.splitlines()[-1] == "everything works"


def test_an_unchanged_client_that_was_told_nothing(precast, wrapper):
    seen, found, notes = unchanged(precast, code=1)
    assert seen["wrapper"] == str(wrapper) and seen["plugin"] is None
    assert "PRECAST_PJRT_PLUGIN is not set" in seen["refusal"]
    assert any(seen["refusal"] in problem for problem in found)
    assert "no variable tells a client to open Precast's plugin" in notes


def test_a_client_of_another_library_and_a_copy_under_another_name(precast, wrapper):
    copy = precast.folder / "plain.so"
    shutil.copy(wrapper, copy)
    seen, found, _ = unchanged(precast, PYPJRT_PLUGIN=str(copy), TPU_LIBRARY_PATH=precast.env["PRECAST_PLUGIN"],
                               PRECAST_PJRT_PLUGIN=precast.env["PRECAST_PLUGIN"])
    assert [(client["variable"], client["is_wrapper"]) for client in seen["clients"]] == [
        ("TPU_LIBRARY_PATH", False), ("PYPJRT_PLUGIN", True)]
    assert seen["wrapper"] == str(copy) and found == []
    assert seen["plugin"]["path"] == os.path.realpath(precast.env["PRECAST_PLUGIN"])


def test_a_name_that_jax_does_not_use(precast, wrapper):
    config = precast.folder / "options.json"
    config.write_text(json.dumps({"library_path": str(wrapper), "create_options": {}}))
    env = {"PJRT_NAMES_AND_LIBRARY_PATHS": f"mine:{config}", "PRECAST_PJRT_PLUGIN": precast.env["PRECAST_PLUGIN"]}
    seen, found, _ = unchanged(precast, code=1, JAX_PLATFORMS="cpu", **env)
    assert seen["clients"][0]["library"] == str(wrapper)
    assert any("JAX does not use the wrapper: JAX_PLATFORMS is 'cpu'" in what for what in found)
    assert unchanged(precast, JAX_PLATFORMS="mine,cpu", **env)[1] == []


def test_a_plugin_that_others_may_replace(precast, wrapper):
    place = precast.folder / "open"
    place.mkdir()
    shutil.copy(precast.env["PRECAST_PLUGIN"], place / "plugin.so")
    place.chmod(0o777)
    seen, found, _ = unchanged(precast, code=1, PRECAST_PJRT_PLUGIN=str(place / "plugin.so"))
    assert "others may change what it is: everybody may write" in seen["refusal"] and seen["plugin"] is None
    assert len(found) == 1
