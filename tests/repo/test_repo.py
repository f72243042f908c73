"""The rules of this repository hold here, and each of them finds a breach that is planted.

Needs Python >= 3.11 and pytest; the rules are in lint/, which also runs alone.
"""

import os
import pathlib
import shutil
import subprocess
import sys
import warnings

import pytest

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(HERE / "lint"))

import documents
import goldens
import structure
import text
import unused
from rules import RULES
from tree import Tree


@pytest.fixture(scope="module")
def here():
    return Tree(ROOT)


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_the_repository_keeps(rule, here):
    here.notes.clear()
    found = "\n".join(map(str, rule(here)))
    for note in here.notes:
        warnings.warn(note)
    assert not found, f"{rule.__doc__}\n{found}"


# A tree that keeps every rule. Each test below breaks it in one place.
SOUND = {
    "LICENSE": "Apache License\n",
    ".ci/run": "#!/bin/sh\nexec make test\n",
    "CMakeLists.txt": "project(x)\ninclude(modules)\nadd_subdirectory(src/base)\nadd_subdirectory(src/key)\n"
    "add_subdirectory(src/cli)\nadd_subdirectory(tests)\n",
    "CMakePresets.json": '{"configurePresets": [{"name": "base", "hidden": true}, {"name": "dev"}]}\n',
    "README.md": "[command](docs/cli.md) [tests](docs/testing.md)\n",
    "cmake/modules.cmake": "include(GNUInstallDirs)\n",
    "include/precast/error.h": "// Errors: ErrorCode.\n#pragma once\n\n#include <string>\n\n"
    "enum class ErrorCode : int {\n  invalid_argument = 1,  // wrong; input\n  corrupt =\n      4,\n};\n",
    "src/base/CMakeLists.txt": "precast_module(base\n  SOURCES hash.cc)\n"
    "precast_unit_test(base_test\n  SOURCES hash_test.cc\n  MODULES base)\n"
    "precast_fuzzer(hash_fuzz SOURCES hash_fuzz.cc MODULES base CORPUS hash)\n",
    "src/base/hash_fuzz.cc": "int a;\n",
    "src/base/hash.h": '#pragma once\n#include "precast/error.h"\n',
    "src/base/hash.cc": '#include "base/hash.h"\n\nint f() { return 1\'000\'000; }  // throw\n'
    "const char* text = \"throw 'exit(1)'\";\n",
    "src/base/hash_test.cc": '#include "base/hash.h"\n\n#include "testing/temp_dir.h"\n'
    "void f() { throw 1; }\n",
    "src/key/CMakeLists.txt": "precast_module(key\n  SOURCES key.cc\n  MODULES base)\n",
    "src/key/key.cc": '#include "base/hash.h"\n',
    "src/cli/CMakeLists.txt": "add_executable(precast_cli main.cc)\n",
    "src/cli/exit_code.h": "#pragma once\nenum class ExitCode : int {\n  done = 0,\n  negative = 1,\n};\n",
    "src/cli/main.cc": '#include "cli/exit_code.h"\n\n#include "precast/error.h"\n'
    'int main() { std::printf("x"); std::exit(0); }\n',
    "tests/CMakeLists.txt": "add_subdirectory(abi)\nprecast_pytest(cli DIR tests/cli LABELS cli)\n",
    "tests/abi/CMakeLists.txt": "precast_pytest(abi DIR tests/abi LABELS abi)\n",
    "tests/abi/test_abi.py": "def test_it():\n    pass\n",
    "tests/cli/test_cli.py": "def test_it():\n    pass\n",
    "docs/architecture.md": "# Errors\n\n| code | effect |\n|---|---|\n"
    "| `invalid_argument` | x |\n| corrupt | x |\n",
    "docs/cli.md": "# Command\n\n## Exit codes\n\n| code | meaning |\n|---|---|\n| 0 | done |\n"
    "| 1 | no |\n\n## Else\n\n| 7 | no exit code |\n\n[errors](architecture.md#errors)\n"
    "[up](../LICENSE) [here](#exit-codes) [out](https://example.org/none) `[0](none)`\n",
    "docs/testing.md": "| preset | for |\n|---|---|\n| `dev` | work |\n",
    "testdata/fuzz/hash/one": "1",
    "testdata/key/v1.json": "\tdata  \n",
}


@pytest.fixture
def sound(tmp_path):
    """Writes the sound tree with changes (None removes a file) and returns it."""

    def write(changes=None):
        for name, content in {**SOUND, **(changes or {})}.items():
            path = tmp_path / name
            path.unlink(missing_ok=True)
            if content is None:
                continue
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
            if name == ".ci/run":
                path.chmod(0o755)
        return Tree(tmp_path)

    return write


def findings(rule, tree):
    return [str(finding) for finding in rule(tree)]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.__name__)
def test_a_sound_tree_has_no_findings(rule, sound):
    assert findings(rule, sound()) == []


LONG = "int a;\n"
LATER = "TO" + "DO"
HOME = "/ho" + "me/me"

# rule, the file to write, its content, how the finding begins, a word of it
PLANTED = [
    (structure.include_edges, "src/base/a.h", '#include "key/key.h"\n', "src/base/a.h:1", "no other"),
    (structure.include_edges, "src/cli/a.h", '\n#include "base/hash.h"\n', "src/cli/a.h:2", "cli"),
    (structure.include_edges, "src/key/a.h", '# include "hash.h"\n', "src/key/a.h:1", "the form"),
    (structure.include_edges, "src/key/a.h", '#include "testing/x.h"\n', "src/key/a.h:1", "form"),
    (structure.include_edges, "src/more/a.h", '#include "base/hash.h"\n', "src/more/a.h:1", "graph"),
    (structure.include_edges, "include/precast/a.h", '#include "base/hash.h"\n',
     "include/precast/a.h:1", "public"),
    (structure.link_edges, "src/base/CMakeLists.txt", "precast_module(base SOURCES a.cc MODULES key)\n",
     "src/base/CMakeLists.txt:1", "links key"),
    (structure.link_edges, "src/cli/CMakeLists.txt", "\nprecast_module(cli_parts\n  MODULES base)\n",
     "src/cli/CMakeLists.txt:2", "links base"),
    (structure.one_dlopen, "src/base/hash.cc", "void* h = dlopen(0, 0);\n", "src/base/hash.cc:1", ""),
    (structure.own_header_first, "src/base/hash.cc", '#include <string>\n#include "base/hash.h"\n',
     "src/base/hash.cc:1", "hash.h"),
    (structure.pragma_once, "src/base/a.h", "// #pragma once\n", "src/base/a.h:1", ""),
    (structure.sources_are_built, "src/base/lost_test.cc", "int a;\n", "src/base/lost_test.cc", ""),
    (structure.sources_are_built, "tests/hash.cc", "int a;\n", "tests/hash.cc", "builds"),
    (structure.sources_are_built, "src/base/CMakeLists.txt",
     "precast_module(base SOURCES hash.cc)\n# hash_test.cc\n", "src/base/hash_test.cc", ""),
    (structure.sources_are_built, "tests/abi/lost.c", "int a;\n", "tests/abi/lost.c", "builds"),
    (structure.folders_are_added, "tests/golden/CMakeLists.txt", "# x\n", "tests/golden/CMake", ""),
    (structure.python_tests_are_registered, "tests/more/test_x.py", "x = 1\n", "tests/more/t", ""),
    (structure.python_tests_are_registered, "tests/CMakeLists.txt",
     "# precast_pytest(cli DIR tests/cli LABELS cli)\n", "tests/cli/test_cli.py", ""),
    (structure.no_sleeping_tests, "src/base/hash_test.cc", "  // TEST(Hash, Works) {\n",
     "src/base/hash_test.cc:1", "commented"),
    (structure.no_sleeping_tests, "src/base/hash_test.cc", "TEST(Hash, DISABLED_Works) {}\n",
     "src/base/hash_test.cc:1", "disabled"),
    (structure.no_sleeping_tests, "src/base/hash_test.cc", "GTEST_SKIP();\n", "src/base/hash_te", ""),
    (structure.no_sleeping_tests, "src/base/CMakeLists.txt", "# precast_unit_test(a SOURCES b.cc)\n",
     "src/base/CMakeLists.txt:1", "commented"),
    (structure.no_sleeping_tests, "tests/cli/test_cli.py", "@pytest.mark.skip\ndef test_it():\n",
     "tests/cli/test_cli.py:1", "reason"),
    (text.file_size, "src/base/hash.cc", LONG * 601, "src/base/hash.cc", "601 lines"),
    (text.clean_lines, "src/base/hash.cc", "int a; \n", "src/base/hash.cc:1", "trailing"),
    (text.clean_lines, "src/base/hash.cc", "int\ta;\n", "src/base/hash.cc:1", "tab"),
    (text.clean_lines, "docs/cli.md", "a\r\n", "docs/cli.md:1", "CR"),
    (text.clean_lines, "docs/cli.md", "a", "docs/cli.md:1", "newline"),
    (text.clean_lines, "docs/cli.md", "a\n\n", "docs/cli.md:3", "newline"),
    (text.clean_lines, "src/base/hash.cc", f"//{'x' * 99}\n", "src/base/hash.cc:1", "101 columns"),
    (text.ascii_sources, "src/base/hash.cc", 'auto a = "\u2026";\n', "src/base/hash.cc:1", "ASCII"),
    (text.banned_words, "src/base/hash.cc", f"// {LATER}: later\n", "src/base/hash.cc:1", LATER),
    (text.banned_words, "tests/abi/test_abi.py", f"x = 1  # {LATER}\n", "tests/abi/test_abi.py:1", ""),
    (text.banned_words, "src/util/a.h", "#pragma once\n", "src/util/a.h", "'util'"),
    (text.banned_words, "src/base/common.h", "#pragma once\n", "src/base/common.h", "'common.h'"),
    (text.banned_words, "src/base/a.h", "namespace precast::util {\n", "src/base/a.h:1", "'util'"),
    (text.library_words, "src/base/hash.cc", "int f() { throw 1; }\n", "src/base/hash.cc:1", "throw"),
    (text.library_words, "src/base/hash.cc", "\nvoid f() { std::abort(); }\n", "src/base/hash.cc:2", ""),
    (text.library_words, "src/base/hash.cc", "void f() { exit(1); }\n", "src/base/hash.cc:1", "ends"),
    (text.library_words, "src/base/hash.cc", 'void f() { printf("x"); }\n', "src/base/hash", "prints"),
    (text.library_words, "src/base/hash.cc", "auto& o = std::cerr;\n", "src/base/hash.cc:1", ""),
    (text.library_words, "include/precast/error.h", "auto& o = std::cout;\n", "include/precast/e", ""),
    (text.library_words, "src/base/hash.cc", 'auto a = std::getenv("A");\n', "src/base/hash", "secure"),
    (text.library_words, "src/base/hash.cc", 'int a = std::system("ls");\n', "src/base/hash", "shell"),
    (text.namespaces, "src/base/hash.h", "using namespace std;\n", "src/base/hash.h:1", ""),
    (text.machine_paths, "docs/cli.md", f"see {HOME}/x\n", "docs/cli.md:1", "machine"),
    (documents.links, "docs/cli.md", "[a](none.md)\n", "docs/cli.md:1", "no none.md"),
    (documents.links, "docs/cli.md", "\n[a](architecture.md#none)\n", "docs/cli.md:2", "#none"),
    (documents.links, "docs/cli.md", "# A b\n[a](#a-c)\n", "docs/cli.md:2", "#a-c"),
    (documents.error_table, "docs/architecture.md", "corrupt\n| invalid_argument |\n",
     "docs/architecture.md", "corrupt"),
    (documents.error_table, "include/precast/error.h", "// nothing\n", "include/precast/error.h", ""),
    (documents.error_table, "docs/architecture.md", None, "docs/architecture.md", "missing"),
    (documents.exit_code_table, "docs/cli.md", "## Exit codes\n\n| 0 | done |\n", "docs/cli.md",
     "1 is not in"),
    (documents.exit_code_table, "docs/cli.md", "# Exit codes\n| 0 | a |\n| 1 | b |\n| 2 | c |\n",
     "docs/cli.md", "has none"),
    (documents.exit_code_table, "docs/cli.md", "| 0 | done |\n| 1 | no |\n", "docs/cli.md", "section"),
    (documents.exit_code_table, "src/cli/exit_code.h", "// nothing\n", "docs/cli.md", ""),
    (documents.public_headers_are_documented, "include/precast/a.h", "#pragma once\n",
     "include/precast/a.h:1", "begins"),
    (documents.public_headers_are_documented, "include/precast/a.h",
     "// A: a.\n#pragma once\n\nstruct PRECAST_EXPORT A {\n};\n\nstruct B {\n};\n",
     "include/precast/a.h:7", "without a comment"),
    (documents.public_headers_are_documented, "include/precast/a.h",
     "// A: a.\n#pragma once\n\n// Says.\nPRECAST_EXPORT int f();\n\nPRECAST_EXPORT int g();\n",
     "include/precast/a.h:7", "without a comment"),
    (documents.public_headers_are_documented, "include/precast/a.h",
     "// A: a.\n#pragma once\n\ntemplate <typename T>\nclass B {\n", "include/precast/a.h:4", ""),
    (documents.presets_are_told, "docs/testing.md", "`dev`\n", "docs/testing.md", "preset dev"),
    (documents.presets_are_told, "docs/testing.md", None, "docs/testing.md", "missing"),
    (unused.headers_are_included, "src/base/lost.h", "#pragma once\n", "src/base/lost.h", ""),
    (unused.cmake_files_are_used, "cmake/lost.cmake", "# x\n", "cmake/lost.cmake", ""),
    (unused.cmake_files_are_used, "CMakeLists.txt", "# include(modules)\n", "cmake/modules", ""),
    (unused.documents_are_linked, "docs/lost.md", "# [me](lost.md)\n", "docs/lost.md", ""),
    (unused.fuzzers_have_a_corpus, "src/base/lost_fuzz.cc", "int a;\n", "src/base/lost_fuzz", ""),
    (unused.fuzzers_have_a_corpus, "testdata/fuzz/lost/one", "1", "testdata/fuzz/lost", "uses it"),
    (unused.fuzzers_have_a_corpus, "testdata/fuzz/hash/one", None, "testdata/fuzz/hash", "seeds"),
    (unused.python_files_are_used, "tests/abi/lost.py", "x = 1\n", "tests/abi/lost.py", ""),
    (documents.entry_points, ".ci/run", "#!/bin/sh\n# make test\n", ".ci/run", "make test"),
    (documents.entry_points, ".ci/run", None, ".ci/run", "missing"),
    (documents.entry_points, "LICENSE", "Do as you like.\n", "LICENSE", "Apache"),
    (documents.entry_points, "LICENSE", None, "LICENSE", "missing"),
]


@pytest.mark.parametrize(
    "rule, path, content, place, words",
    PLANTED,
    ids=[f"{rule.__name__}-{number}" for number, (rule, *_) in enumerate(PLANTED)],
)
def test_a_planted_breach_is_found(rule, path, content, place, words, sound):
    found = findings(rule, sound({path: content}))
    assert any(one.startswith(place) and words in one for one in found), found


def test_every_rule_has_a_planted_breach():
    assert {rule for rule, *_ in PLANTED} == set(RULES) - {goldens.goldens_are_add_only}


def test_a_script_that_is_not_executable_is_found(sound):
    tree = sound()
    (tree.root / ".ci/run").chmod(0o644)
    assert findings(documents.entry_points, tree) == [".ci/run: it is not executable"]


def test_long_files_are_noted_and_break_no_rule(sound):
    tree = sound({"src/base/hash.cc": LONG * 301})
    assert findings(text.file_size, tree) == []
    assert "src/base/hash.cc (301)" in tree.notes[0]


def test_the_linter_runs_alone(sound):
    tree = sound({"src/base/hash.cc": "int a; \n"})
    done = subprocess.run(
        [sys.executable, HERE / "lint", tree.root], capture_output=True, text=True, check=False
    )
    assert done.returncode == 1, done.stderr
    assert "src/base/hash.cc:1: trailing spaces or a CR  [clean_lines]" in done.stdout
    assert "1 findings" in done.stdout or "2 findings" in done.stdout
    sound()
    done = subprocess.run(
        [sys.executable, HERE / "lint", tree.root], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout


# Goldens: these need a history.


@pytest.fixture
def history(sound):
    """The sound tree in a repository of its own; the function commits what is there."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    root = sound().root
    # Neither a hook's settings nor the user's configuration may change what git does here.
    env = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    env |= {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_NOSYSTEM": "1"}

    def git(*arguments):
        subprocess.run(["git", "-C", root, *arguments], check=True, capture_output=True, env=env)

    def commit():
        git("add", "-A")
        git("-c", "user.name=a", "-c", "user.email=a@example.org", "commit", "-q", "-m", "x",
            "--allow-empty")

    git("init", "-q")
    commit()
    return root, commit


GOLDEN = "testdata/key/v1.json"


def golden_findings(root):
    return findings(goldens.goldens_are_add_only, Tree(root))


def test_an_old_golden_must_not_change(history):
    root, commit = history
    commit()
    assert golden_findings(root) == []
    (root / "testdata/key/v2.json").write_text("new\n")
    commit()
    (root / "testdata/key/v2.json").write_text("the newest commit may still be mended\n")
    assert golden_findings(root) == []
    (root / GOLDEN).write_text("changed\n")
    assert [one.split(":")[0] for one in golden_findings(root)] == [GOLDEN]
    commit()
    commit()
    assert [one.split(":")[0] for one in golden_findings(root)] == [GOLDEN, "testdata/key/v2.json"]


def test_an_old_golden_must_not_go(history):
    root, commit = history
    commit()
    (root / GOLDEN).rename(root / "testdata/key/v9.json")
    commit()
    (found,) = golden_findings(root)
    assert found.startswith(GOLDEN) and "is gone" in found


def test_without_a_history_the_goldens_are_not_compared(sound, history):
    root, _ = history
    tree = Tree(root)
    assert findings(goldens.goldens_are_add_only, tree) == []
    assert "only one commit" in tree.notes[0]


def test_ignored_and_built_files_are_not_looked_at(history):
    root, _ = history
    (root / ".gitignore").write_text("/out/\n")
    for folder in ("out", "build"):
        (root / folder).mkdir()
        (root / folder / "lost_test.cc").write_text("int a;\n")
    assert not [name for name in Tree(root).files if "lost_test" in name]
