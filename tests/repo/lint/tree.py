"""A checkout: its files, their text, and C++ without comments and literals."""

import functools
import os
import pathlib
import re
import subprocess
from dataclasses import dataclass

# What a checkout without git may hold beside its own files.
SKIPPED_FOLDERS = {".git", "build", "__pycache__", ".pytest_cache"}

LITERALS = re.compile(
    r'(?P<keep>\'(?<=[0-9a-fA-F]\')(?=[0-9a-fA-F]))'  # 1'000: no literal
    r"|//[^\n]*"
    r"|/\*.*?\*/"
    r'|(?:u8|[uUL])?R"(?P<mark>[^()\\\s]*)\(.*?\)(?P=mark)"'
    r'|"(?:\\.|[^"\\\n])*"'
    r"|'(?:\\.|[^'\\\n])*'",
    re.S,
)


@dataclass(frozen=True)
class Finding:
    path: str
    line: int  # 0: the file as a whole
    message: str

    def __str__(self):
        place = f"{self.path}:{self.line}" if self.line else self.path
        return f"{place}: {self.message}"


class Tree:
    """The files that git tracks or would track; without git, all but what is built."""

    def __init__(self, root):
        self.root = pathlib.Path(root).resolve()
        listed = self.git("ls-files", "-z", "--cached", "--others", "--exclude-standard")
        if listed is not None:
            names = [name for name in listed.split("\0") if name]
        else:
            names = [str(path.relative_to(self.root)) for path in self.root.rglob("*")]
        self.files = sorted(
            name
            for name in set(names)
            if (self.root / name).is_file() and not SKIPPED_FOLDERS & set(name.split("/"))
        )
        self.notes = []

    def git(self, *arguments):
        """What git says; None without git, without a repository of this tree, or on an error."""
        if not (self.root / ".git").exists():
            return None
        # A git hook sets these, for a repository that need not be this one.
        env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
        command = ["git", "-C", self.root, *arguments]
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, env=env)
        except FileNotFoundError:
            return None
        return done.stdout if done.returncode == 0 else None

    def note(self, text):
        """Something to tell that breaks no rule."""
        self.notes.append(text)

    def has(self, path):
        return path in set(self.files)

    @functools.cache
    def text(self, path):
        """The text of a file; None for bytes, and for what was not written by hand."""
        if path.startswith("testdata/") or path == "LICENSE":
            return None
        data = (self.root / path).read_bytes()
        if b"\0" in data:
            return None
        try:
            return data.decode()
        except UnicodeDecodeError:
            return None

    def texts(self, *suffixes):
        """(path, text) of every text file, or of those whose names end so."""
        for path in self.files:
            if not suffixes or path.endswith(suffixes):
                text = self.text(path)
                if text is not None:
                    yield path, text

    @functools.cache
    def code(self, path):
        """C++ with comments and literals blanked; lines and columns stay."""

        def blank(match):
            if match["keep"]:
                return match[0]
            return re.sub(r"[^\n]", " ", match[0])

        return LITERALS.sub(blank, self.text(path) or "")

    def codes(self, *suffixes):
        for path, _ in self.texts(*(suffixes or (".h", ".cc"))):
            yield path, self.code(path)


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def is_test(path):
    """Whether a C++ file is part of tests: there, most rules for the library do not hold."""
    if not path.startswith("src/"):
        return True
    stem = pathlib.PurePosixPath(path).stem
    return stem.endswith(("_test", "_fuzz")) or stem.startswith("test_")


def module_of(path):
    """"key" for src/key/...; None for what is in no module."""
    parts = path.split("/")
    return parts[1] if parts[0] == "src" and len(parts) > 2 else None
