"""Shell completion, tried in the shells themselves."""

import os
import re
import shutil
import subprocess

import pytest

VERBS = set(re.findall(r"^  ([a-z][a-z-]*) ", subprocess.run([os.environ["PRECAST_BIN"], "--help"], capture_output=True,
                                                            text=True, check=True).stdout, re.MULTILINE))


@pytest.fixture
def script(precast):
    def write(shell):
        text = precast("completion", shell).out
        path = precast.folder / f"completion.{shell}"
        path.write_text(text)
        return path
    return write


@pytest.fixture
def complete(precast, script):
    """What bash offers for a command line whose last word is being typed."""
    path = script("bash")
    (precast.folder / "bin").mkdir()
    (precast.folder / "bin" / "precast").symlink_to(precast.binary)
    env = precast.environment({"PATH": f"{precast.folder / 'bin'}:{os.environ['PATH']}"})

    def run(*words):
        # bash itself breaks words at "=", and hands them over so.
        broken = [part for word in words for part in re.split("(=)", word) if part or word == ""]
        quoted = " ".join("'" + word + "'" for word in ["precast", *broken])
        bash = (f". {path}; COMP_WORDS=({quoted}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); "
                "$(complete -p precast | sed 's/.*-F \\([^ ]*\\).*/\\1/'); printf '%s\\n' \"${COMPREPLY[@]}\"")
        done = subprocess.run(["bash", "--norc", "-uc", bash], cwd=precast.folder, env=env, capture_output=True,
                              text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, ""), done
        return set(done.stdout.split("\n")) - {""}
    return run


def test_bash_completes_verbs(complete):
    assert {"compile", "completion", "rm"} <= VERBS <= complete("")
    assert complete("comp") == {"compile", "completion"}
    assert complete("--v") == {"--version"}


def test_bash_completes_options(complete):
    assert complete("compile", "--no") == {"--no-cache", "--no-lease"}
    assert {"-o", "--output", "--json", "--help"} <= complete("compile", "-")
    assert complete("ls", "add.mlir", "--rev") == {"--reverse"}
    assert complete("version", "--no") == set()


def test_bash_completes_values(complete, precast):
    assert complete("version", "--color", "a") == {"auto", "always"}
    assert complete("version", "--color=n") == {"never"}
    assert complete("version", "--color=") == {"auto", "always", "never"}
    assert complete("ls", "--sort", "") == {"age", "key", "name", "size", "used", "compile"}
    assert complete("completion", "") == {"bash", "zsh", "fish"}
    assert complete("compile", "add.mlir", "--plugin", precast.env["PRECAST_PLUGIN"][:-4]) == {
        precast.env["PRECAST_PLUGIN"]}
    assert complete("compile", "--label", "a") == set()


def test_bash_completes_files(complete, precast):
    (precast.folder / "with space.mlir").touch()
    (precast.folder / "folder").mkdir()
    assert complete("compile", "add") == {"add.mlir"}
    assert complete("compile", "wi") == {"with space.mlir"}
    assert complete("run", "add.mlir", "--input", "kin") == {"kinds.mlir"}
    assert complete("compile", "add.mlir", "--cache", "fo") == {"folder"}
    assert complete("compile", "--cache", "add") == set()
    assert complete("inspect", "--", "-") == set()
    assert complete("inspect", "--", "add") == {"add.mlir"}


def test_bash_completes_keys(complete, precast):
    key = precast.json("compile", "add.mlir")["key"]
    assert complete("rm", key[:5]) == {key}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_parses(script, shell):
    path = script(shell)
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    done = subprocess.run([shell, "-n", str(path)], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_knows_every_verb_and_option(precast, script, shell):
    text = script(shell).read_text()
    for verb in VERBS:
        help_text = precast(verb, "--help").out
        options = set(re.findall(r"--([a-z][a-z-]+)", help_text.split("Example")[0]))
        assert len(options) >= 4
        for option in options:
            assert (f"-l {option} " if shell == "fish" else f"--{option}") in text, (verb, option)
        assert re.search(rf"\b{verb}\b", text)


def test_fish_completes(precast, script):
    if shutil.which("fish") is None:
        pytest.skip("fish is not installed")
    path = script("fish")

    def offered(line):
        done = subprocess.run(["fish", "--no-config", "-c", f"source {path}; complete -C '{line}'"], cwd=precast.folder,
                              env=precast.environment({}), capture_output=True, text=True, timeout=60)
        return {shown.split("\t")[0] for shown in done.stdout.splitlines()}
    assert VERBS <= offered("precast ")
    assert offered("precast ls --sort ") == {"age", "key", "name", "size", "used", "compile"}
    assert offered("precast compile ad") == {"add.mlir"}
    assert "--no-cache" in offered("precast compile --no")


def test_zsh_finds_it(precast, script):
    if shutil.which("zsh") is None:
        pytest.skip("zsh is not installed")
    script("zsh").rename(precast.folder / "_precast")
    done = subprocess.run(["zsh", "-fc", "fpath=($PWD $fpath); autoload -U compinit; compinit -u -d dump; "
                           "print -r -- $_comps[precast]; autoload +X _precast && whence -w _precast"],
                          cwd=precast.folder, env=precast.environment({}), capture_output=True, text=True, timeout=60)
    assert done.stdout.split("\n")[:2] == ["_precast", "_precast: function"], done


def test_help_is_a_word_too(precast):
    assert precast("help").out == precast("--help").out
    assert precast("help", "ls").out == precast("ls", "--help").out
    assert "did you mean 'compile'?" in precast("help", "complie", code=2).err


def test_an_unknown_shell_is_told(precast):
    assert "did you mean 'bash'?" in precast("completion", "bsah", code=2).err
    answer = precast.json("completion", "bash")
    assert answer["shell"] == "bash" and answer["script"] == precast("completion", "bash").out
