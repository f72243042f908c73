"""How files are written: size, characters, and words that have a better replacement."""

import posixpath
import re

from tree import Finding, is_test, line_of, module_of

SOFT_LINES = 300
HARD_LINES = 600
COLUMNS = 100

# Files whose size is a matter of how they are written.
WRITTEN = (".h", ".cc", ".inc", ".py", ".cmake", "CMakeLists.txt")


def file_size(tree):
    """A file that does not fit in one head is split."""
    long = []
    for path, text in tree.texts(*WRITTEN):
        lines = text.count("\n")
        if lines > HARD_LINES:
            yield Finding(path, 0, f"{lines} lines, more than {HARD_LINES}; split it")
        elif lines > SOFT_LINES:
            long.append(f"{path} ({lines})")
    if long:
        tree.note(f"longer than {SOFT_LINES} lines, perhaps worth a split: " + ", ".join(long))


def clean_lines(tree):
    """No tabs, no trailing spaces, no CR, one newline at the end, at most 100 columns of C++."""
    for path, text in tree.texts():
        tabs_mean_something = posixpath.basename(path) == "Makefile"
        limit = COLUMNS if path.endswith((".h", ".cc")) else None
        for number, line in enumerate(text.split("\n"), 1):
            if "\t" in line and not tabs_mean_something:
                yield Finding(path, number, "a tab; indent with spaces")
            if line != line.rstrip():
                yield Finding(path, number, "trailing spaces or a CR")
            if limit and len(line) > limit:
                yield Finding(path, number, f"{len(line)} columns, more than {limit}")
        if text and (not text.endswith("\n") or text.endswith("\n\n")):
            yield Finding(path, text.count("\n") + 1, "a file ends with exactly one newline")


def ascii_sources(tree):
    """C++ is ASCII: another character in a literal is written as an escape."""
    for path, text in tree.texts(".h", ".cc"):
        for match in re.finditer(r"[^\x00-\x7f]+", text):
            message = f"'{match[0]}' is not ASCII; in a literal write \\u escapes"
            yield Finding(path, line_of(text, match.start()), message)


def banned_words(tree):
    """Words that promise work or hide a meaning."""
    later = re.compile(r"\b(?:TO" r"DO|FIX" r"ME|XX" r"X)\b")
    for path, text in tree.texts():
        for match in later.finditer(text):
            message = f"'{match[0]}': do it now, or write an issue and no comment"
            yield Finding(path, line_of(text, match.start()), message)
        for part in path.split("/"):
            if re.fullmatch(r"(?:util|utils|utility|common|misc|helpers?)(?:\.\w+)?", part):
                yield Finding(path, 0, f"'{part}' says nothing: name it for what it does")
    for path, code in tree.codes():
        for match in re.finditer(r"\bnamespace\s+(?:\w+::)*(utils?|common|misc|helpers?)\b", code):
            message = f"namespace '{match[1]}' says nothing: name it for what it does"
            yield Finding(path, line_of(code, match.start()), message)


GETENV = "getenv: use secure_getenv; what the plugin itself reads: pjrt/plugin_environment.h"

# (file, message) -> why the rule does not hold there.
EXCEPTIONS = {
    ("src/pjrt/plugin_environment.cc", GETENV): "the plugin reads these variables with getenv",
}

# In the library (src/ without the command and the tests): pattern, what to do instead.
LIBRARY_WORDS = [
    (r"\bthrow\b", "throw: return an Error"),
    (
        r"(?<![.>\w])(?:std::|::)?(?:exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(",
        "the library never ends the process: return an Error",
    ),
    (
        r"\b(?:v?f?printf|puts|fputs|putchar|perror)\s*\(|\bstd::(?:cout|cerr|clog)\b"
        r"|\bfmt::print\b",
        "the library never prints: return an Error, or use the caller's log sink",
    ),
    (r"\bgetenv\s*\(", GETENV),
    (r"\b(?:system|popen)\s*\(", "the library starts no shell"),
]


def library_words(tree):
    """No exceptions, no exits, no prints, no plain getenv in the library."""
    for path, code in tree.codes(".h", ".cc", ".inc"):
        if not path.startswith(("src/", "include/")) or module_of(path) == "cli" or (
            path.startswith("src/") and is_test(path)
        ):
            continue
        for pattern, message in LIBRARY_WORDS:
            if (path, message) in EXCEPTIONS:
                continue
            for match in re.finditer(pattern, code):
                yield Finding(path, line_of(code, match.start()), message)


def namespaces(tree):
    """A header must not change the names of who includes it."""
    for path, code in tree.codes(".h"):
        for match in re.finditer(r"^\s*using\s+namespace\b", code, re.M):
            yield Finding(path, line_of(code, match.start()), "using namespace in a header")


# In two parts each, so that this file does not break its own rule.
MACHINE_PATHS = ["/wo" "rk/", "/tmp/scr" "atch", "/ro" "ot/", "/ho" "me/"]


def machine_paths(tree):
    """Nothing depends on, or tells about, the machine on which it was written."""
    pattern = re.compile(r"(?<![\w.$})~-])(?:" + "|".join(map(re.escape, MACHINE_PATHS)) + ")")
    for path, text in tree.texts():
        for match in pattern.finditer(text):
            yield Finding(path, line_of(text, match.start()), f"a path of a machine: {match[0]}")


RULES = [
    file_size,
    clean_lines,
    ascii_sources,
    banned_words,
    library_words,
    namespaces,
    machine_paths,
]
