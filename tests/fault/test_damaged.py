"""Whatever lies in an entry's place: never a crash, never a wrong output, set aside once, and the next run hits."""

import hashlib
import os
import random
import shutil
import struct

import pytest
import tracing
from conftest import FULL, Place, each, sample

HEADER = 24  # docs/format.md
TABLE_ENTRY = 56
ROOT = 32


@pytest.fixture
def sound(precast):
    """A store with one entry: (place, the entry's path below the store, its bytes, the right outputs)."""
    place = Place(precast, "sound")
    outputs = place.run()["outputs"]
    entry, = place.entries()
    return place, entry.relative_to(place.cache), entry.read_bytes(), outputs


def with_content(precast, sound, name, content):
    """Another store whose entry is `content`."""
    source, relative, _, _ = sound
    place = Place(precast, name)
    shutil.copytree(source.cache, place.cache)
    (place.cache / relative).write_bytes(content)
    return place


def expect_set_aside_once(place, outputs, reason="entry_corrupt"):
    answer = place.run()
    assert (answer["outcome"], answer["reason"]) == ("miss", reason), answer
    assert answer["outputs"] == outputs
    assert len(place.set_aside()) == 1
    again = place.run()
    assert again["outcome"] == "hit" and again["outputs"] == outputs, again
    assert len(place.set_aside()) == 1
    assert place.temporary() == []


def flips(whole, count, seed):
    chance = random.Random(seed)
    for _ in range(count):
        at = chance.randrange(len(whole))
        changed = bytearray(whole)
        changed[at] ^= 1 << chance.randrange(8)
        yield at, bytes(changed)


def test_flipped_bits(precast, sound):
    _, _, whole, outputs = sound
    cases = [(i, at, content) for i, (at, content) in enumerate(flips(whole, 500, seed=6))]

    def damage(case):
        i, at, content = case
        place = with_content(precast, sound, f"flip-{i}-at-{at}", content)
        answer = place.run()
        assert answer["outputs"] == outputs
        if answer["reason"] == "entry_incompatible":
            # A kind of section, or a codec, that only a later version knows: the entry stays.
            assert place.set_aside() == [] and HEADER <= at < HEADER + TABLE_ENTRY * 64
            return
        assert (answer["outcome"], answer["reason"]) == ("miss", "entry_corrupt"), answer
        assert len(place.set_aside()) == 1
        again = place.run()
        assert again["outcome"] == "hit" and again["outputs"] == outputs and len(place.set_aside()) == 1, again

    each(damage, sample(cases, 25))


def test_every_cut(precast, sound):
    _, _, whole, outputs = sound

    def cut(part):
        content = whole[:len(whole) * part // 64]
        expect_set_aside_once(with_content(precast, sound, f"cut-{part}", content), outputs)

    each(cut, sample(range(64), 9))


@pytest.mark.parametrize("content", ["zeros", "nothing", "longer", "text"])
def test_other_bytes(precast, sound, content):
    _, _, whole, outputs = sound
    other = {"zeros": bytes(len(whole)), "nothing": b"", "longer": whole + b"\0", "text": b"<html>Not found</html>\n" * 9}
    expect_set_aside_once(with_content(precast, sound, content, other[content]), outputs)


def test_entries_swapped_or_under_another_key(precast, sound):
    place, relative, whole, outputs = sound
    others = place.run("kinds.mlir")["outputs"]
    entry = place.cache / relative
    other, = [path for path in place.entries() if path != entry]
    entry.write_bytes(other.read_bytes())
    other.write_bytes(whole)
    for program, right in (("add.mlir", outputs), ("kinds.mlir", others)):
        answer = place.run(program)
        assert (answer["outcome"], answer["reason"], answer["outputs"]) == ("miss", "entry_corrupt", right)
    assert len(place.set_aside()) == 2
    for program, right in (("add.mlir", outputs), ("kinds.mlir", others)):
        answer = place.run(program)
        assert (answer["outcome"], answer["outputs"]) == ("hit", right)
    assert len(place.set_aside()) == 2


@pytest.mark.parametrize("kind", ["folder", "full_folder", "fifo", "symlink", "dangling_symlink", "socket"])
def test_what_is_no_file(precast, sound, kind):
    place, relative, whole, outputs = sound
    entry = place.cache / relative
    entry.unlink()
    if kind.endswith("folder"):
        entry.mkdir()
        if kind == "full_folder":
            (entry / "mine").write_text("x")
    elif kind == "fifo":
        os.mkfifo(entry)
    elif kind == "socket":
        os.mknod(entry, 0o140600)
    else:
        target = place.home / "elsewhere"
        if kind == "symlink":
            target.write_bytes(whole)
        entry.symlink_to(target)
    # Nothing waits for a writer, follows the link, or opens what it should not.
    answer = place.run()
    assert answer["outcome"] != "hit" and answer["outputs"] == outputs, answer
    for _ in range(2):
        answer = place.run()
        assert answer["outputs"] == outputs, answer
    assert answer["outcome"] == "hit", answer
    if kind == "full_folder":
        mine, = place.files("mine")  # somebody's own: moved away, not removed
        assert mine.read_text() == "x"
    if kind == "symlink":
        assert (place.home / "elsewhere").read_bytes() == whole
    assert place.temporary() == []


def test_a_file_that_shrinks_while_it_is_read(precast, sound):
    tracing.require()
    place, _, _, outputs = sound
    words = ["run", "add.mlir", "--fill", "iota", "--json"]
    reads = [call for call in tracing.run(place, words).store_calls() if call.name in ("pread64", "read")]
    assert reads
    # The first read gives only half of what the file had, and then there is no more.
    traced = tracing.run(place, words, [f"{reads[0].name}:retval=0:when={reads[0].number}+"])
    assert traced.code == 0, traced.err
    assert '"hit"' not in traced.out
    place.expect_well(outputs)


def packed(codec, stored, true_bytes):
    return codec, stored, true_bytes, hashlib.sha256(stored).digest()


def rebuilt(whole, kind, section):
    """The artifact with another section of that kind, every digest right: damage that only decoding finds."""
    count, = struct.unpack_from("<I", whole, 16)
    at = HEADER + TABLE_ENTRY * count + ROOT + 4
    table, contents = b"", b""
    for i in range(count):
        number, codec, stored, true_bytes, digest = struct.unpack_from("<IIQQ32s", whole, HEADER + TABLE_ENTRY * i)
        content = whole[at:at + stored]
        at += stored
        if number == kind:
            codec, content, true_bytes, digest = section
        table += struct.pack("<IIQQ32s", number, codec, len(content), true_bytes, digest)
        contents += content
    header = whole[:HEADER] + table
    return header + hashlib.sha256(header).digest() + struct.pack("<I", 0) + contents


def bomb(true_bytes, blocks):
    """A zstd frame of run-length blocks: four bytes for each 128 KiB."""
    window = 17 << 3
    body = b"".join(struct.pack("<I", (1 << 17) << 3 | 2 | (i + 1 == blocks))[:3] + b"x" for i in range(blocks))
    return struct.pack("<IBBQ", 0xFD2FB528, 0xC0, window, true_bytes) + body


@pytest.mark.parametrize("claimed,blocks", [(4 << 30, 1), (4 << 30, 1 << 15), (1 << 20, 1 << 15), (1 << 62, 8)])
def test_decompression_bombs(precast, sound, claimed, blocks):
    import resource

    _, _, whole, outputs = sound
    place = with_content(precast, sound, "bomb", rebuilt(whole, 2, packed(1, bomb(claimed, blocks), claimed)))
    before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss

    def limited():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    answer = place.run(preexec_fn=limited)
    assert answer["outcome"] != "hit" and answer["outputs"] == outputs, answer
    assert resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss < max(before, 500_000)  # KB


def test_the_rebuilt_artifact_is_sound_otherwise(precast, sound):
    """Or the bombs would be refused for another reason."""
    source, relative, whole, _ = sound
    count, = struct.unpack_from("<I", whole, 16)
    at = HEADER + TABLE_ENTRY * count + ROOT + 4
    executable = b""
    for i in range(count):
        number, codec, stored, _, _ = struct.unpack_from("<IIQQ32s", whole, HEADER + TABLE_ENTRY * i)
        if number == 2:
            assert codec == 0
            executable = whole[at:at + stored]
        at += stored
    again = with_content(precast, sound, "again", rebuilt(whole, 2, packed(0, executable, len(executable))))
    assert (again.cache / relative).read_bytes() == whole
    assert again.run()["outcome"] == "hit"


def test_the_full_sweep_is_the_issues():
    assert len(sample(range(500), 25)) == (500 if FULL else 20)
