"""--json: what docs/cli.md shows is what is printed, no less and no more."""

import json
import pathlib
import re

import pytest

DOCS = pathlib.Path(__file__).parents[2] / "docs" / "cli.md"
MAY_BE_ANYTHING = "…"  # in the page: a map whose names are not fixed, or a value that is left out


def documented():
    """The objects of the page by the name in their schema."""
    objects = {}
    for block in re.findall(r"```json\n(.*?)```", DOCS.read_text(), re.DOTALL):
        shown = json.loads(block)
        objects[shown["schema"]] = shown
    return objects


OBJECTS = documented()


def kind(value):
    return "number" if isinstance(value, (int, float)) and not isinstance(value, bool) else type(value).__name__


def compare(shown, actual, where, optional=()):
    """Every documented field is there with its kind; an object without "…" has no other."""
    if shown is None or actual is None or (isinstance(shown, str) and "null" in shown):
        return
    assert kind(shown) == kind(actual), f"{where}: {actual!r}"
    if isinstance(shown, dict):
        if MAY_BE_ANYTHING not in shown:
            assert actual.keys() <= shown.keys(), f"{where}: {actual.keys() - shown.keys()} is not documented"
        for name in shown.keys() - {MAY_BE_ANYTHING}:
            if name in actual:
                compare(shown[name], actual[name], f"{where}.{name}", optional)
            else:
                assert name in optional, f"{where}.{name} is documented and not there"
    if isinstance(shown, list):
        for item in actual:
            if shown:
                compare(shown[0], item, f"{where}[]", optional)


def check(actual, optional=(), also=()):
    shown = dict(OBJECTS[actual["schema"]])
    for other in also:
        shown = {**OBJECTS[other], **shown}
    compare(shown, actual, actual["schema"], optional)


def test_every_verb_is_documented(precast):
    verbs = re.findall(r"^  ([a-z][a-z-]*) ", precast("--help").out, re.MULTILINE)
    assert {"compile", "completion"} <= set(verbs)
    assert {name.split("/")[0] for name in OBJECTS} == {"precast." + verb for verb in [*verbs, "error"]}


def test_compile(precast):
    check(precast.json("compile", "add.mlir"))
    check(precast.json("compile", "add.mlir", "-o", "a.precast"))
    check(precast.json("compile", "sort.mlir"))


def test_run(precast):
    compile_only = ("file", "program")
    check(precast.json("run", "add.mlir", "--fill", "iota", "--out", "o", "--repeat", "2"), compile_only,
          also=["precast.compile/1"])
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    check(precast.json("run", "a.precast", "--fill", "iota"),
          (*compile_only, "outcome", "reason", "detail", "key", "artifact", "root", "bytes", "warnings"),
          also=["precast.compile/1"])


def test_key(precast):
    check(precast.json("key", "add.mlir"), ("items",))
    with_items = precast.json("key", "add.mlir", "--items")
    check(with_items)
    for field in with_items["fields"]:
        for item in field["items"]:
            assert item.keys() in ({"name", "value"}, {"name", "value_hex"}, {"name", "bytes", "sha256"})


def test_inspect(precast):
    precast("compile", "add.mlir", "-q", "-o", "a.precast", "--keep-program")
    check(precast.json("inspect", "a.precast"), ("memory_kind", "flops"))


def test_verify(precast):
    (precast.folder / "bad.precast").write_bytes(b"x")
    check(precast.json("verify", "bad.precast", code=1))


def test_ls(precast):
    path = precast.json("compile", "add.mlir")["artifact"]
    check(precast.json("ls"), ("error",))
    (precast.folder / path).write_bytes(b"x")
    of_itself = {"executable_bytes", "program_name", "label", "platform", "platform_version", "api_version",
                 "precast_version", "host", "created_unix_s", "compile_ms"}
    check(precast.json("ls"), of_itself)


def test_rm(precast):
    key = precast.json("compile", "add.mlir")["key"]
    check(precast.json("rm", key[:10]))


def test_clear(precast):
    precast("compile", "add.mlir")
    check(precast.json("clear", "--yes"))


def test_stats(precast):
    precast("compile", "add.mlir")
    precast("compile", "add.mlir", "--label", "x")
    check(precast.json("stats"))
    check(precast.json("stats", "--reset"), ("hit", "total"))


def test_pin_gc_and_fsck(precast):
    key = precast.json("compile", "add.mlir")["key"]
    check(precast.json("pin", key, "--note", "x"))
    check(precast.json("gc", "--max-size", "0"), ("entries",))
    check(precast.json("unpin", key))
    check(precast.json("fsck", "--verify"))
    with_entries = precast.json("gc", "--max-size", "0", "--dry-run")
    check(with_entries)
    assert with_entries["stores"][0]["entries"]
    (precast.cache / "v1" / key[:2] / "notes.txt").write_text("x")
    found = precast.json("fsck")
    check(found)
    assert found["findings"]


def test_completion(precast):
    check(precast.json("completion", "zsh"))


def test_plugins(precast):
    check(precast.json("plugins"), ("api_version", "platform", "problems"))
    check(precast.json("plugins", "--open"))


@pytest.mark.parametrize("words, code", [
    (["compile", "missing.mlir"], 3),
    (["inspect", "prose.txt"], 6),
    (["complie"], 2),
])
def test_errors(precast, words, code):
    error = precast.json(*words, code=code)
    check(error, ("plugin_code",))
    assert error["error"]["exit_code"] == code


def test_version(precast):
    check(precast.json("version"))


def test_doctor(precast):
    check(precast.json("doctor", code=None), ("HOME", "memory_kinds"))
