"""Terminals, pipes and colours."""

import os
import pty
import re
import subprocess


def on_a_terminal(precast, *words, env=None):
    """(what the terminal shows, exit code), with both outputs on one terminal of 80 columns."""
    master, slave = pty.openpty()
    os.set_inheritable(slave, True)
    subprocess.run(["stty", "cols", "80", "rows", "24"], stdin=slave, check=True)
    process = subprocess.Popen(
        [precast.binary, *map(str, words)], cwd=precast.folder, stdout=slave, stderr=slave,
        env=precast.environment({"TERM": "xterm", **(env or {})}))
    os.close(slave)
    shown = b""
    while True:
        try:
            block = os.read(master, 1 << 16)
        except OSError:  # EIO: the last one has closed the terminal
            break
        if not block:
            break
        shown += block
    os.close(master)
    return shown.decode(), process.wait(timeout=60)


def plain(text):
    return re.sub(r"\033\[[0-9;]*[mK]", "", text)


def test_a_long_compile_shows_progress_on_a_terminal(precast):
    slow = {"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:1500"}
    shown, code = on_a_terminal(precast, "compile", "add.mlir", env=slow)
    assert code == 0
    assert "\rcompiling add.mlir… 1 s" in shown
    assert shown.index("1 s") < shown.index("\r\033[K") < shown.index("miss")
    shown, _ = on_a_terminal(precast, "compile", "add.mlir", "--no-cache", "--quiet", env=slow)
    assert shown == ""
    assert precast("compile", "add.mlir", "--no-cache", env=slow).err == ""


def test_colours_only_on_a_terminal(precast):
    shown, _ = on_a_terminal(precast, "complie")
    assert "\033[1;31merror:\033[0m" in shown
    assert "\033" not in on_a_terminal(precast, "complie", env={"NO_COLOR": "1"})[0]
    assert "\033" not in on_a_terminal(precast, "complie", env={"TERM": "dumb"})[0]
    assert "\033" not in precast("version", code=0).out
    assert "\033" in precast("inspect", "prose.txt", "--color", "always", code=6).err


def test_tables_fit_the_terminal(precast):
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    for words in (["inspect", "a.precast"], ["compile", "add.mlir"], ["key", "add.mlir"], ["plugins"]):
        shown, code = on_a_terminal(precast, *words)
        assert code == 0
        lines = plain(shown).split("\r\n")
        assert max(map(len, lines)) <= 80, max(lines, key=len)
    # In a file nothing is shortened.
    assert "…" not in precast("inspect", "a.precast").out


def test_a_closed_pipe_ends_quietly(precast):
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    read, write = os.pipe()
    os.close(read)
    process = subprocess.run([precast.binary, "inspect", "a.precast"], cwd=precast.folder,
                             env=precast.environment(None), stdout=write, stderr=subprocess.PIPE)
    os.close(write)
    assert (process.returncode, process.stderr) == (0, b"")


def test_a_full_disk_behind_the_output_is_an_error(precast):
    with open("/dev/full", "wb") as full:
        process = subprocess.run([precast.binary, "version"], env=precast.environment(None), stdout=full,
                                 stderr=subprocess.PIPE)
    assert process.returncode == 9
    assert process.stderr == b"precast: error: writing to standard output: No space left on device\n"
