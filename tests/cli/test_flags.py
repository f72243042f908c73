"""XLA's flags: the command finds out in a child what would end it, and remembers."""

import os

import pytest


def field(precast, name, *words, **kwargs):
    answer = precast.json("key", "add.mlir", "--items", *words, **kwargs)
    assert answer["key"], answer
    (found,) = [entry for entry in answer["fields"] if entry["name"] == name]
    return {item["name"]: item["value"] for item in found["items"]}


def verdicts(precast):
    folder = precast.folder / ".local/state/precast/flags"
    return sorted(path.name for path in folder.iterdir()) if folder.exists() else []


@pytest.mark.parametrize("flags, words", [
    ("--xla_nonsense=1", ["Unknown flag in XLA_FLAGS: --xla_nonsense=1",
                          "'--xla_nonsense' is no flag that Precast knows"]),
    ("--xla_cpu_enable_fast_mth=true", ["did you mean --xla_cpu_enable_fast_math?"]),
    ("--xla_cpu_enable_fast_math=yes", ["'--xla_cpu_enable_fast_math=yes' is no boolean"]),
    ("--xla_backend_extra_options=no-such", ["Unknown command line argument 'no-such'"]),
    ("no/such/file", ["no/such/file"]),
    ("--xla_cpu_ftz -x", ["'-x' begins with one dash"]),
])
def test_what_would_end_the_process_is_an_error(real, flags, words):
    first = real("key", "add.mlir", env={"XLA_FLAGS": flags}, code=3)
    assert f"XLA_FLAGS ('{flags}') would end the process: the plugin says: " in first.err
    for word in words:
        assert word in first.err
    (verdict,) = verdicts(real)
    # The second time it is remembered, and said in the same words.
    state = real.folder / ".local/state/precast/flags" / verdict
    os.utime(state, (0, 0))
    again = real("compile", "add.mlir", env={"XLA_FLAGS": flags}, code=3)
    assert again.err == first.err.replace("'key'", "'compile'")
    assert state.stat().st_mtime == 0 and verdicts(real) == [verdict]


def test_what_lives_is_remembered_for_these_flags(real):
    one = {"XLA_FLAGS": "--xla_cpu_enable_fast_math=true"}
    assert field(real, "flags", env=one) == {"--xla_cpu_enable_fast_math": "true"}
    assert len(verdicts(real)) == 1
    field(real, "flags", env=one)
    assert len(verdicts(real)) == 1
    field(real, "flags", env={"XLA_FLAGS": "--xla_cpu_enable_fast_math=false"})
    assert len(verdicts(real)) == 2
    field(real, "flags")  # nothing to find out
    assert len(verdicts(real)) == 2


def test_without_a_home_nothing_is_remembered(precast):
    env = {"XLA_FLAGS": "--xla_cpu_ftz", "HOME": None}
    assert field(precast, "flags", env=env) == {"--xla_cpu_ftz": "true"}
    assert verdicts(precast) == []


def test_a_file_of_flags_is_found_again_when_it_changes(real):
    path = real.folder / "flags"
    path.write_text("--xla_cpu_ftz\n")
    env = {"XLA_FLAGS": str(path)}
    assert field(real, "flags", env=env) == {"--xla_cpu_ftz": "true"}
    path.write_text("--xla_nonsense\n")
    assert "'--xla_nonsense'" in real("key", "add.mlir", env=env, code=3).err
    path.unlink()
    real("key", "add.mlir", env=env, code=3)
    assert len(verdicts(real)) == 3


def test_a_child_that_hangs_or_is_missing_decides_nothing(precast):
    """The check is a service: only a verdict keeps the command from going on."""
    env = {"XLA_FLAGS": "--xla_cpu_ftz",
           "PRECAST_FAKE_FAULT": "PJRT_Client_Create:INTERNAL:no device"}
    done = precast("key", "add.mlir", env=env, code=10)
    assert "no device" in done.err and "would end" not in done.err


def test_the_abort_of_a_plugin_is_told(precast):
    env = {"XLA_FLAGS": "--xla_cpu_ftz", "PRECAST_FAKE_FAULT": "PJRT_Client_Create:ABORT:bad XLA_FLAGS"}
    done = precast("key", "add.mlir", env=env, code=3)
    assert "XLA_FLAGS ('--xla_cpu_ftz') would end the process" in done.err


@pytest.mark.parametrize("verb", ["compile", "key"])
def test_words_that_xla_ignores_are_a_warning(real, verb):
    flags = "--xla_cpu_ftz=true fast --xla_cpu_enable_fast_math"
    done = real(verb, "add.mlir", "--json", env={"XLA_FLAGS": flags})
    assert "precast: warning: XLA_FLAGS: XLA ignores 'fast' and everything behind it" in done.err
    assert any("ignores 'fast'" in warning for warning in done.json["warnings"])


def test_doctor_knows_flags(precast):
    seen = precast.json("doctor", env={"XLA_FLAGS": "--xla_cpu_ftz=maybe --xla_cpu_fast_math=1"},
                        code=1)
    assert any("'--xla_cpu_ftz=maybe' is no boolean" in one["what"] for one in seen["problems"])
    notes = {note["what"]: note["next_step"] for note in seen["notes"]}
    assert notes["XLA_FLAGS: '--xla_cpu_fast_math' is no flag that Precast knows"] == \
        "did you mean --xla_cpu_enable_fast_math?"


def test_the_helper_verb_is_hidden(precast):
    assert "check-flags" not in precast("--help").out
    assert "check-flags" not in precast("nonsense", code=2).err


def test_files_count_by_content(precast):
    for name, content in (("a", "one"), ("b", "one"), ("c", "two")):
        (precast.folder / name).write_text(content)
    key = {name: precast.json("key", "add.mlir", "--option", f"xla_candidate_configs_file={name}")["key"]
           for name in "abc"}
    assert key["a"] == key["b"] != key["c"]
    missing = precast.json("key", "add.mlir", "--option", "xla_candidate_configs_file=d", code=1)
    assert missing["reason"] == "option_names_file"
    assert "xla_candidate_configs_file" in missing["detail"] and "'d'" in missing["detail"]


def test_what_the_user_adds(precast):
    (precast.folder / "profile").write_bytes(b"\x00profile")
    (precast.folder / "notes").write_bytes(b"notes")
    plain = precast.json("key", "add.mlir")["key"]
    keys = [plain] + [precast.json("key", "add.mlir", *words)["key"] for words in (
        ["--profile", "profile"], ["--annotations", "notes"], ["--annotations", "profile"],
        ["--extra", "a=b"], ["--extra", "a=c"], ["--extra", "b=b"], ["--extra", "a=b=c"],
        ["--extra", "a=b", "--extra", "c=d"])]
    assert len(set(keys)) == len(keys)
    assert precast.json("key", "add.mlir", "--label", "x")["key"] == plain
    assert field(precast, "extra", "--extra", "c=d", "--extra", "a=") == \
        {"salt": "", "extra.a": "", "extra.c": "d"}
    precast("key", "add.mlir", "--extra", "nameless", code=2)
    precast("key", "add.mlir", "--extra", "=x", code=2)
    precast("compile", "add.mlir", "-o", "a.precast", "--label", "mine", "--extra", "a=b")
    assert "mine" in precast("inspect", "a.precast").out
