"""What the command says, word for word: the cases of messages/*.txt.

A case begins with "=== name". A line "$ precast ..." runs the command (variables may stand before
it: "$ NAME=value precast ..."); what follows is what it must print and how it must end:

    > a line on standard output
    | a line on standard error
    exit 3

Without "exit" it must end with 0. Holes: {any} is any text within a line, {lines} alone is any
number of lines, {hex}, {number}. $FAKE and $REAL are the plugins, $DIR is the folder of the case. A
case with $REAL is skipped without the real plugin.

PRECAST_UPDATE=1 writes what was printed into the files, without holes; look at the difference.
"""

import os
import pathlib
import re
import shlex

import pytest

from conftest import real_plugin_path

MESSAGES = pathlib.Path(__file__).parent / "messages"
HOLES = {"{any}": r".*", "{hex}": r"[0-9a-f]+", "{number}": r"[0-9]+(?:\.[0-9]+)?"}


class Step:
    def __init__(self, command):
        self.command = command
        self.out, self.err, self.code = [], [], 0


def parse(path):
    """Yields (name, steps)."""
    name, steps = None, []
    for number, line in enumerate(path.read_text().splitlines(), 1):
        where = f"{path.name}:{number}"
        if line.startswith("=== "):
            if name:
                yield name, steps
            name, steps = line[4:], []
        elif line.startswith("$ "):
            steps.append(Step(line[2:]))
        elif line.startswith(">"):
            steps[-1].out.append(line[2:])
        elif line.startswith("|"):
            steps[-1].err.append(line[2:])
        elif line.startswith("exit "):
            steps[-1].code = int(line[5:])
        else:
            assert not line or line.startswith("#"), f"{where}: not a line of a case: {line}"
    yield name, steps


def cases():
    return [pytest.param(path, name, steps, id=f"{path.stem}: {name}")
            for path in sorted(MESSAGES.glob("*.txt")) for name, steps in parse(path)]


def pattern(lines, variables):
    text = ""
    for line in lines:
        if line == "{lines}":
            text += r"(?:.*\n)*?"
            continue
        for name, value in variables.items():
            line = line.replace(name, value)
        line = re.escape(line)
        for hole, expression in HOLES.items():
            line = line.replace(re.escape(hole), expression)
        text += line + r"\n"
    return text


def run(precast, step, variables):
    line = step.command
    for name, value in variables.items():
        line = line.replace(name, value)
    words = shlex.split(line)
    env = {}
    while words[0] != "precast":
        name, value = words.pop(0).split("=", 1)
        env[name] = value or None  # "NAME=" removes it
    return precast(*words[1:], env=env, code=None)


def update(path, step, done, variables):
    def lines(mark, text):
        for name, value in variables.items():
            text = text.replace(value, name)
        return "".join(f"{mark} {line}".rstrip() + "\n" for line in text.splitlines())

    before = "$ " + step.command + "\n"
    block = "".join(f"> {line}".rstrip() + "\n" for line in step.out)
    block += "".join(f"| {line}".rstrip() + "\n" for line in step.err)
    block += f"exit {step.code}\n" if step.code else ""
    after = lines(">", done.out) + lines("|", done.err) + (f"exit {done.code}\n" if done.code else "")
    text = path.read_text()
    assert text.count(before + block) == 1, "write the case as >, |, exit and in this order"
    path.write_text(text.replace(before + block, before + after))


@pytest.mark.parametrize("path, name, steps", cases())
def test_message(precast, path, name, steps):
    variables = {"$FAKE": os.environ["PRECAST_FAKE_PLUGIN"], "$DIR": str(precast.folder)}
    if any("$REAL" in step.command for step in steps):
        if real_plugin_path() is None:
            pytest.fail("the package lammps-jax-pjrt-cpu is missing: tools/setup test-venv")
        variables["$REAL"] = real_plugin_path()
    for step in steps:
        done = run(precast, step, variables)
        fits = (
            re.fullmatch(pattern(step.out, variables), done.out)
            and re.fullmatch(pattern(step.err, variables), done.err)
            and done.code == step.code
        )
        if not fits and os.environ.get("PRECAST_UPDATE"):
            update(path, step, done, variables)
            continue
        assert fits, f"$ {step.command}\n{done}"
