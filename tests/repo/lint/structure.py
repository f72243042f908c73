"""Which module may use which, and that nothing lies around unused."""

import posixpath
import re

from tree import Finding, is_test, line_of, module_of

# docs/architecture.md draws this graph. Every module may include its own headers and the public
# ones (precast/); the command and the C ABI see the public ones alone.
ALLOWED = {
    "base": set(),
    "proto": {"base"},
    "program": {"base"},
    "topology": {"base"},
    "artifact": {"base"},
    "stats": {"base"},
    "store": {"base"},
    "lease": {"base", "store"},
    "pjrt": {"base", "proto", "topology"},
    "key": {"base", "proto", "program", "topology"},
    "cache": {
        "base", "proto", "program", "topology", "artifact", "stats", "store", "lease", "pjrt", "key"
    },
    "interpose": {"base", "proto", "pjrt", "cache"},
    "c_api": set(),
    "cli": set(),
}
# Module -> modules that it links without including a header of theirs: the implementation of
# public types that it takes.
LINKED_ONLY = {"c_api": {"cache"}}
# Targets of src/cli beside the command.
CLI_TARGETS = {"cli_parts"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)


def include_edges(tree):
    """Modules include each other one way only, as design and link lines say."""
    for path, text in tree.texts(".h", ".cc", ".inc"):
        for match in INCLUDE.finditer(text):
            quote, target = match.groups()
            problem = edge_problem(tree, path, quote, target)
            if problem:
                yield Finding(path, line_of(text, match.start()), problem)


def edge_problem(tree, path, quote, target):
    if path.startswith("include/precast/"):
        if quote == '"' and not target.startswith("precast/"):
            return f'a public header includes "{target}"; it may include precast/ and the system'
        return None
    module = module_of(path)
    if module is None or quote == "<":
        return None
    if module not in ALLOWED:
        return f"module '{module}' is not in the graph of tests/repo/lint/structure.py"
    top = target.split("/")[0]
    if top in {"precast", module} or (is_test(path) and top in {"testing", "tests"}):
        return None
    if top in ALLOWED[module]:
        return None
    if top in ALLOWED:
        may = ", ".join(sorted(ALLOWED[module])) or "no other module"
        return f'{module} includes "{target}"; it may use {may}'
    return f'"{target}" is not in the form "module/file.h"'


def link_edges(tree):
    """The MODULES of a precast_module() are within the graph too."""
    for path, text in tree.texts("CMakeLists.txt"):
        for match in re.finditer(r"^precast_module\((\w+)([^)]*)\)", text, re.M):
            module, arguments = match.groups()
            if module in CLI_TARGETS:
                module = "cli"
            linked = re.search(r"\bMODULES\b((?:\s+(?!SOURCES|LIBRARIES)\w+)*)", arguments)
            allowed = ALLOWED.get(module, set()) | LINKED_ONLY.get(module, set())
            for other in linked[1].split() if linked else []:
                if other not in allowed:
                    line = line_of(text, match.start())
                    yield Finding(path, line, f"{module} links {other}, against the graph")


def one_dlopen(tree):
    """Only src/pjrt loads libraries."""
    for path, code in tree.codes():
        if is_test(path) or module_of(path) == "pjrt":
            continue
        for match in re.finditer(r"\bdl(?:m?open|sym)\s*\(", code):
            yield Finding(path, line_of(code, match.start()), "only src/pjrt opens libraries")


def own_header_first(tree):
    """x.cc includes x.h first, so that every header is compiled on its own."""
    for path, text in tree.texts(".cc"):
        own = path.removesuffix(".cc") + ".h"
        first = INCLUDE.search(text)
        if tree.has(own) and not (first and f"/{own}".endswith("/" + first[2])):
            yield Finding(path, 1, f"the first include should be {posixpath.basename(own)}")


def pragma_once(tree):
    for path, code in tree.codes(".h"):
        if not re.search(r"^#pragma once$", code, re.M):
            yield Finding(path, 1, "a header without #pragma once")


def cmake_words(tree):
    """Every path that a CMake file names, from the root of the tree."""
    for path, text in tree.texts("CMakeLists.txt", ".cmake"):
        folder = posixpath.dirname(path)
        text = re.sub(r"#[^\n]*", "", text)
        text = re.sub(r"\$\{PROJECT_SOURCE_DIR\}", "/", text)
        text = re.sub(r"\$\{CMAKE_CURRENT_(SOURCE|LIST)_DIR\}/", "", text)
        for word in re.findall(r'[^\s()"]+', text):
            full = word.lstrip("/") if word.startswith("/") else posixpath.join(folder, word)
            yield posixpath.normpath(full)


def sources_are_built(tree):
    """Every .cc and .c is named by some CMake file: a test that is not built tests nothing."""
    named = set(cmake_words(tree))
    for path, text in tree.texts("Makefile"):
        folder = posixpath.dirname(path)
        named |= {posixpath.join(folder, word) for word in re.findall(r"[\w.]+\.c\b", text)}
    for path in tree.files:
        if path.endswith((".cc", ".c")) and path not in named:
            yield Finding(path, 0, "no CMakeLists.txt builds it")


def folders_are_added(tree):
    """Every CMakeLists.txt is reached by an add_subdirectory()."""
    added = {""}
    for path, text in tree.texts("CMakeLists.txt"):
        folder = posixpath.dirname(path)
        for match in re.finditer(r"^\s*add_subdirectory\(\s*([^\s)]+)", text, re.M):
            added.add(posixpath.normpath(posixpath.join(folder, match[1])))
    for path in tree.files:
        folder, name = posixpath.split(path)
        # A project of its own is configured by a test, not added.
        if name == "CMakeLists.txt" and folder not in added:
            if not re.search(r"^project\(", tree.text(path), re.M):
                yield Finding(path, 0, "no add_subdirectory() reaches it")


def python_tests_are_registered(tree):
    """Every folder with test_*.py is given to a precast_pytest()."""
    registered = set()
    for _, text in tree.texts("CMakeLists.txt"):
        text = re.sub(r"#[^\n]*", "", text)
        registered.update(re.findall(r"precast_pytest\(\s*\S+\s+DIR\s+([^\s)]+)", text))
    for path in tree.files:
        folder, name = posixpath.split(path)
        if name.startswith("test_") and name.endswith(".py") and folder not in registered:
            yield Finding(path, 0, "no precast_pytest() runs its folder")


def no_sleeping_tests(tree):
    """A test that is commented out or disabled rots; what cannot run gives its reason."""
    commented_out = "a test that is commented out"
    patterns = [
        (r"^\s*//.*\bTEST(?:_[FP])?\(", commented_out),
        (r"^\s*#.*\bprecast_(?:unit_test|pytest|fuzzer)\(\w+\s+(?:SOURCES|DIR)", commented_out),
        (r"\bDISABLED_\w", "a disabled test"),
        (r"\bGTEST_SKIP\(\);", "a skip without a reason"),
        (r"@pytest\.mark\.skip(?:\(\))?$", "a skip without a reason"),
    ]
    for path, text in tree.texts(".cc", ".py", "CMakeLists.txt"):
        if path.startswith("tests/repo/"):
            continue
        for pattern, message in patterns:
            for match in re.finditer(pattern, text, re.M):
                yield Finding(path, line_of(text, match.start()), message)


RULES = [
    include_edges,
    link_edges,
    one_dlopen,
    own_header_first,
    pragma_once,
    sources_are_built,
    folders_are_added,
    python_tests_are_registered,
    no_sleeping_tests,
]
