"""would-hit, diff and key --save: why there is no hit."""


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


@pytest.mark.parametrize("prefix", ["0123456789ab", "abcdef"])
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
