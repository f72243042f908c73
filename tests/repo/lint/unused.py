"""No dead files: what nothing includes, links, builds or runs is gone by now, or forgotten."""

import posixpath
import re

from structure import INCLUDE, cmake_words
from tree import Finding


def headers_are_included(tree):
    """Every header that is not public is included by another file."""
    included = set()
    for path, text in tree.texts(".h", ".cc", ".c"):
        for match in INCLUDE.finditer(text):
            included.add(posixpath.normpath(posixpath.join(posixpath.dirname(path), match[2])))
            included.add(match[2])
            included.add("src/" + match[2])
    for path in tree.files:
        if path.endswith(".h") and not path.startswith("include/") and path not in included:
            yield Finding(path, 0, "nothing includes it")


def cmake_files_are_used(tree):
    """Every cmake/ file is included, and every template is filled in."""
    named = {posixpath.basename(word) for word in cmake_words(tree)}
    for path in tree.files:
        folder, name = posixpath.split(path)
        if folder != "cmake":
            continue
        if name not in named and name.removesuffix(".cmake") not in named:
            yield Finding(path, 0, "no CMake file uses it")


def documents_are_linked(tree):
    """Every document can be reached from another one."""
    linked = {"README.md", "CHANGELOG.md"}
    for path, text in tree.texts(".md"):
        for target in re.findall(r"\]\(<?([^)\s>#]+)", text):
            full = posixpath.normpath(posixpath.join(posixpath.dirname(path), target))
            if full != path:
                linked.add(full)
    for path in tree.files:
        # A link to a folder stands for what is in it.
        if path.endswith(".md") and not {path, posixpath.dirname(path)} & linked:
            yield Finding(path, 0, "no other document links to it")


def fuzzers_have_a_corpus(tree):
    """Every fuzzer is registered with a corpus that is there, and every corpus has a fuzzer."""
    sources, corpora = set(), set()
    for path, text in tree.texts("CMakeLists.txt"):
        for call in re.findall(r"^precast_fuzzer\(([^)]*)\)", text, re.M):
            folder = posixpath.dirname(path)
            sources |= {posixpath.join(folder, word) for word in call.split() if word.endswith(".cc")}
            corpora |= set(re.findall(r"\bCORPUS\s+(\S+)", call))
    there = {path.split("/")[2] for path in tree.files if path.startswith("testdata/fuzz/")}
    for path in tree.files:
        if path.endswith("_fuzz.cc") and path not in sources:
            yield Finding(path, 0, "no precast_fuzzer() has it")
    for name in sorted(there ^ corpora):
        what = "no precast_fuzzer() uses it" if name in there else "there are no seeds"
        yield Finding(f"testdata/fuzz/{name}", 0, what)


def python_files_are_used(tree):
    """Every Python file is a test, or is named by another file: imported, run or told of."""
    words = {}
    for path, text in tree.texts():
        words[path] = set(re.findall(r"\w+", text))
    for path in tree.files:
        stem = posixpath.basename(path).removesuffix(".py")
        if not path.endswith(".py") or stem.startswith("test_") or stem in {"conftest", "__main__"}:
            continue
        if not any(stem in found for other, found in words.items() if other != path):
            yield Finding(path, 0, "no other file names it")


RULES = [
    headers_are_included,
    cmake_files_are_used,
    documents_are_linked,
    fuzzers_have_a_corpus,
    python_files_are_used,
]
