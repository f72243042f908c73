"""Digests of programs that real JAX makes: one program has one digest, another program another.

PRECAST_LONG=1 runs the full sweep: 20 processes and 200 mutations of each program.
"""

import os
import pathlib
import random
import re
import subprocess
import sys

import pytest
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import dump
import mutate
import programs

LONG = os.environ.get("PRECAST_LONG") == "1"
PROCESSES = 20 if LONG else 3
MUTATIONS = 200 if LONG else 40
# A number of this process stands in the program: it has another digest in each.
PROCESS_BOUND = {"partitioned_custom_call"}
# The text names a location that is a value; text with such a name counts raw.
RAW_TEXT = {"tuples_and_tokens"}


@pytest.fixture(scope="module")
def digester():
    digester = dump.Digester()
    yield digester
    digester.close()


@pytest.fixture(scope="module")
def forms():
    return {name: programs.forms_of(name) for name in programs.PROGRAMS}


@pytest.fixture(scope="module")
def context():
    return programs.jax._src.interpreters.mlir.make_ir_context()


def made_elsewhere(folder, seed):
    """All programs in all forms, from a fresh process: another folder, other lines, another hash
    seed, and other programs lowered before."""
    chance = random.Random(seed)
    folder.mkdir(parents=True)
    def moved(source, target):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text("\n" * chance.randrange(50) + source.read_text())
        return target

    script = moved(HERE / "programs.py", folder / "programs.py")
    for source in (programs.EXAMPLES).glob("*/*.py"):
        moved(source, folder / "examples" / source.relative_to(programs.EXAMPLES))
    names = list(programs.PROGRAMS)
    chance.shuffle(names)
    before = chance.sample(names, 4)
    subprocess.run(
        [sys.executable, script, folder / "out", "--names", ",".join(names), "--before", ",".join(before)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONDONTWRITEBYTECODE": "1",
             "PRECAST_EXAMPLES": str(folder / "examples")},
    )
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir()}


def test_one_program_has_one_digest_in_every_process(digester, forms, tmp_path):
    expected = {
        f"{name}.{form}": digester(content).get("sha256")
        for name in forms
        for form, content in forms[name].items()
    }
    different_bytes = 0
    for seed in range(PROCESSES):
        made = made_elsewhere(tmp_path / f"folder {seed % 2}" / str(seed), seed)
        assert made.keys() == expected.keys()
        for file, content in made.items():
            name, form = file.split(".", 1)
            different_bytes += content != forms[name][form]
            if name in PROCESS_BOUND:
                assert digester.sha256(content) != expected[file]
            elif name not in RAW_TEXT or form.endswith("mlirbc"):
                assert digester.sha256(content) == expected[file], file
    # The test would show nothing if the bytes were equal anyway.
    assert different_bytes > PROCESSES * len(forms)


def test_locations_do_not_count(digester, forms):
    for name, form in forms.items():
        assert digester.sha256(form["raw.mlirbc"]) == digester.sha256(form["stripped.mlirbc"]), name
        if name not in RAW_TEXT:
            assert digester.sha256(form["mlir"]) == digester.sha256(form["debug.mlir"]), name


def test_every_program_has_its_own_digest(digester, forms):
    digests = {digester.sha256(form["raw.mlirbc"]) for form in forms.values()}
    digests |= {digester.sha256(form["vhlo.mlirbc"]) for form in forms.values()}
    assert len(digests) == 2 * len(forms)


def test_the_version_of_the_bytecode_does_not_count(digester, context):
    for name, lower in programs.PROGRAMS.items():
        module = lower()
        digests = {digester.sha256(programs.bytecode(module, version)) for version in range(7)}
        assert len(digests) == 1, name


def test_custom_calls_are_classified(digester, forms):
    expected = {
        "callbacks": {"index_bound": ["xla_ffi_python_cpu_callback"]},
        "ffi_call": {"plain": ["my_target"]},
        "partitioned_custom_call": {"process_bound": ["CustomSPMDPartitioning"]},
        "linear_algebra": {
            "plain": ["lapack_sgesdd_ffi", "lapack_spotrf_ffi", "lapack_strsm_ffi"]
        },
    }
    for name, form in forms.items():
        for content in form.values():
            answer = digester(content)
            for kind in ("plain", "index_bound", "process_bound"):
                assert answer.get(kind, []) == expected.get(name, {}).get(kind, []), name


def read_back(artifact, context):
    """What MLIR makes of a VHLO artifact: not always the module it was written from, since writing
    drops what has no effect."""
    return stablehlo.deserialize_portable_artifact(context, artifact)


def printed(module):
    """The text without names that only tell private functions apart."""
    text = str(module)
    for number, name in enumerate(re.findall(r"func private @(\w+)", text)):
        base = re.sub(r"_\d+$", "", name)
        text = re.sub(rf"@{name}\b", f"@{base}#{number}", text)
    return text


@pytest.mark.parametrize("name", programs.PROGRAMS)
def test_another_program_has_another_digest(name, digester, forms, context):
    original = forms[name]["mlir"].decode()
    chance = random.Random(name)
    # Programs and digests, both ways, of raw bytecode and of VHLO.
    digest_of = {}
    text_of = {}
    digest_of_stripped = {}
    kinds = set()

    def note(text, digest):
        is_new = text not in digest_of
        assert digest_of.setdefault(text, digest) == digest, f"two digests of {text}"
        assert text_of.setdefault(digest, text) == text, f"one digest of {text} and {text_of[digest]}"
        return is_new

    def note_module(module, artifact):
        """True when the program is a new one."""
        raw = digester.sha256(programs.bytecode(module))
        assert digest_of_stripped.setdefault(programs.stripped(module), raw) == raw
        note(("vhlo", printed(read_back(artifact, context))), digester.sha256(artifact))
        return note(("raw", printed(module)), raw)

    module = ir.Module.parse(original, context=context)
    found = int(note_module(module, programs.vhlo(module)))
    tries = 0
    for kind, changed in mutate.mutants(chance, original):
        tries += 1
        if found > MUTATIONS or tries > 100 * MUTATIONS:
            break
        try:
            module = ir.Module.parse(changed, context=context)
            artifact = programs.vhlo(module)
        except (ir.MLIRError, ValueError, RuntimeError):
            continue
        if note_module(module, artifact):
            found += 1
            kinds.add(kind)
    assert found > MUTATIONS, f"{found} programs in {tries} tries, by {kinds}"
    assert len(kinds) >= 4
