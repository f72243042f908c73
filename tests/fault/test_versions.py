"""Old and new formats share one store, through upgrade and rollback."""

import hashlib
import struct

from conftest import Place


def future(content):
    """An artifact of a format that this version does not know."""
    end, = struct.unpack_from("<I", content, 12)
    header = content[:8] + struct.pack("<I", 2) + content[12:end]
    return header + hashlib.sha256(header).digest() + content[end + 32:]


def test_an_artifact_of_a_future_format_stays(precast):
    place = Place(precast, "here")
    outputs = place.run()["outputs"]
    entry, = place.entries()
    sound = entry.read_bytes()
    entry.write_bytes(future(sound))
    for _ in range(2):
        answer = place.run()
        assert answer["outcome"] == "skip" and answer["reason"] == "entry_incompatible", answer
        assert answer["outputs"] == outputs
        assert entry.read_bytes() == future(sound)
    assert place.set_aside() == []
    # Rolled forward again, its reader still finds it.
    entry.write_bytes(sound)
    assert place.run()["outcome"] == "hit"


def test_a_future_layout_beside_ours_is_neither_read_nor_touched(precast):
    place = Place(precast, "here")
    outputs = place.run()["outputs"]
    later = place.cache / "v2" / "ab"
    later.mkdir(parents=True, mode=0o700)
    (later / "cd.precast").write_bytes(b"whatever it is")
    (place.cache / "v2" / "index").write_text("new")
    assert place.run()["outcome"] == "hit"
    place.entries()[0].unlink()
    answer = place.run()
    assert answer["outcome"] == "miss" and answer["outputs"] == outputs
    precast("clear", "--yes", env=place.env, code=None)
    assert (later / "cd.precast").read_bytes() == b"whatever it is"
    assert (place.cache / "v2" / "index").read_text() == "new"


def test_what_a_later_version_keeps_beside_the_entries_does_not_disturb(precast):
    place = Place(precast, "here")
    place.run()
    strange = place.cache / "v1" / "of-the-future"
    strange.mkdir(mode=0o700)
    (strange / "state").write_text("new")
    (place.cache / "v1" / "format").write_text("3\n")
    assert place.run()["outcome"] == "hit"
    assert place.run("kinds.mlir")["outcome"] == "miss"
    assert (strange / "state").read_text() == "new"
