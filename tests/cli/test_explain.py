"""would-hit, explain, diff and key --save: why there is no hit."""

import pytest

from conftest import RANKER

RANKER_PROGRAM = RANKER / "ranker.mlirbc"


def names(fields):
    return {field["name"] for field in fields}


def test_would_hit_answers_by_its_exit_code(precast, counter):
    miss = precast.json("would-hit", "add.mlir", code=1)
    assert (miss["hit"], miss["outcome"], miss["reason"]) == (False, "miss", "not_found")
    assert not precast.cache.joinpath("v1").exists()
    stored = precast.json("compile", "add.mlir")
    hit = precast.json("would-hit", "add.mlir")
    assert (hit["hit"], hit["outcome"], hit["key"]) == (True, "hit", miss["key"])
    assert hit["artifact"] == stored["artifact"]
    assert precast("would-hit", "add.mlir").out == f"hit: {stored['artifact']}\n"
    assert precast("would-hit", "add.mlir", "--salt", "x", code=1).out == "miss: not_found\n"
    assert counter() in ("CSD", "CS")


def test_would_hit_says_why_it_never_will(precast):
    bypass = precast.json("would-hit", "add.mlir", env={"PRECAST_DISABLE": "1"}, code=1)
    assert (bypass["outcome"], bypass["reason"], bypass["key"]) == ("bypass", "disabled", None)


def test_explain_names_the_option_that_differs(real):
    real("compile", RANKER_PROGRAM, "--label", "nightly")
    answer = real.json("explain", RANKER_PROGRAM, "--option", "xla_cpu_enable_fast_min_max=true", code=1)
    assert (answer["outcome"], answer["reason"]) == ("miss", "not_found")
    assert answer["nearest"]["label"] == "nightly"
    assert answer["nearest"]["stored"]
    assert len(answer["fields"]) == 1
    field = answer["fields"][0]
    assert "xla_cpu_enable_fast_min_max" in field["name"]
    assert field["expected"] is not None and field["found"] is None
    assert answer["program"] == []
    text = real("explain", RANKER_PROGRAM, "--option", "xla_cpu_enable_fast_min_max=true", code=1).out
    assert "xla_cpu_enable_fast_min_max" in text and "nightly" in text


def test_explain_names_the_operation_that_differs(precast):
    text = (precast.folder / "add.mlir").read_text()
    precast("compile", "add.mlir")
    changed = text.replace("stablehlo.add", "stablehlo.multiply")
    assert changed != text
    (precast.folder / "changed.mlir").write_text(changed)
    answer = precast.json("explain", "changed.mlir", code=1)
    assert names(answer["fields"]) == {"program.sha256"}
    places = answer["program"]
    assert places and places[0]["function"] == "main"
    assert places[0]["expected"] == "stablehlo.multiply"
    assert places[0]["found"] == "stablehlo.add"


def test_explain_a_hit(precast):
    precast("compile", "add.mlir")
    answer = precast.json("explain", "add.mlir")
    assert (answer["outcome"], answer["fields"], answer["nearest"]) == ("hit", [], None)


def test_explain_a_miss_that_happened_earlier(precast):
    first = precast.json("compile", "add.mlir", "--salt", "monday")
    second = precast.json("compile", "add.mlir", "--salt", "tuesday")
    # Without the program and without a plugin: from what the miss left.
    away = {"PRECAST_PLUGIN": "/nowhere.so"}
    (precast.folder / "add.mlir").unlink()
    answer = precast.json("explain", second["key"][:12], env=away, code=1)
    assert (answer["outcome"], answer["reason"]) == ("miss", "not_found")
    assert answer["nearest"]["key"] == first["key"]
    assert [(f["name"], f["expected"], f["found"]) for f in answer["fields"]] == [
        ("extra.salt", "tuesday", "monday")]
    # The cache was cleared since; the records are still there.
    for entry in precast.cache.rglob("*.precast"):
        entry.unlink()
    answer = precast.json("explain", second["key"][:12], env=away, code=1)
    assert answer["nearest"]["key"] == first["key"]
    assert not answer["nearest"]["stored"]


def test_explain_a_program_that_could_not_be_stored(precast):
    skip = precast.json("compile", "sort.mlir")
    assert skip["outcome"] == "skip"
    answer = precast.json("explain", skip["key"][:16], code=1)
    assert (answer["outcome"], answer["reason"]) == ("skip", "not_serializable")
    assert answer["detail"]


def test_explain_finds_the_nearest_of_many(precast):
    for salt in ("a", "b", "c"):
        precast("compile", "add.mlir", "--salt", salt, "--option", "xla_dump_hlo_as_text=true")
    precast("compile", "kinds.mlir", "--salt", "d")
    answer = precast.json("explain", "add.mlir", "--salt", "d", "--most", "10", code=1)
    assert names(answer["fields"]) == {"extra.salt"}
    assert answer["looked_at"] == 4
    assert [names(other["fields"]) for other in answer["others"][:2]] == [{"extra.salt"}] * 2
    assert "program.sha256" in names(answer["others"][2]["fields"])


def test_explain_with_nothing_to_compare(precast):
    answer = precast.json("explain", "add.mlir", code=1)
    assert (answer["nearest"], answer["fields"], answer["looked_at"]) == (None, [], 0)
    assert "nothing to compare" in precast("explain", "add.mlir", code=1).out


@pytest.mark.parametrize("prefix", ["0123456789ab", "abcdef"])
def test_explain_a_key_that_nobody_asked_for(precast, prefix):
    done = precast("explain", prefix, code=3)
    assert prefix in done.err


def test_diff_of_programs(precast):
    same = precast.json("diff", "add.mlir", "add.mlir")
    assert same["equal"] and same["fields"] == []
    text = (precast.folder / "add.mlir").read_text()
    (precast.folder / "moved.mlir").write_text("// a comment\n\n" + text)
    assert precast("diff", "add.mlir", "moved.mlir").out == "the programs are equal\n"
    differ = precast.json("diff", "add.mlir", "kinds.mlir", code=1)
    assert not differ["equal"]
    assert names(differ["fields"]) == {"program.sha256"}
    assert differ["program"]


def test_diff_of_saved_records_and_artifacts(precast):
    precast("compile", "add.mlir", "-o", "one.precast")
    precast("key", "add.mlir", "--salt", "x", "--save", "two.record")
    differ = precast.json("diff", "one.precast", "two.record", code=1)
    assert [(f["name"], f["expected"], f["found"]) for f in differ["fields"]] == [
        ("extra.salt", "", "x")]
    assert (differ["left"]["kind"], differ["right"]["kind"]) == ("artifact", "record")
    precast("key", "add.mlir", "--save", "same.record")
    assert precast("diff", "one.precast", "same.record").out == "the keys are equal\n"
    # Beside a program only programs are compared.
    assert precast("diff", "add.mlir", "two.record").out == "the programs are equal\n"


def test_diff_refuses_what_is_none_of_the_three(precast):
    done = precast("diff", "add.mlir", "prose.txt", code=3)
    assert "prose.txt" in done.err
    precast("key", "add.mlir", "--save", "a.record")
    damaged = bytearray((precast.folder / "a.record").read_bytes())
    damaged[-1] ^= 1
    (precast.folder / "b.record").write_bytes(damaged)
    done = precast("diff", "a.record", "b.record", code=6)
    assert "b.record" in done.err


def test_the_record_is_shown_as_a_tree(precast):
    lines = precast("key", "add.mlir", "--items", "--salt", "s").out.splitlines()
    assert lines[lines.index("program") + 1] == "  mode = text"
    assert lines[lines.index("extra") + 1] == "  salt = s"
    fields = [field["name"] for field in precast.json("key", "add.mlir")["fields"]]
    assert [line for line in lines[2:] if line and not line.startswith(" ")] == fields
