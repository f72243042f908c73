"""Writes testdata/programs/jax: programs of real JAX, and the digests that they must have.

    build/jax-venv/bin/python tests/digest/make_corpus.py testdata/programs/jax

The digests are a promise: a change of them empties every cache, and needs a new version of the
rules (kBytecodeRulesVersion, kTextRulesVersion). So the script refuses to change the digest of a
program whose bytes it leaves as they are, unless --new-rules is given.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import dump

HERE = pathlib.Path(__file__).resolve().parent
# Names in the locations of the programs: no path of the machine where this runs.
FIRST = "/src/first/model.py"
MOVED = "/srv/someone/other folder/model.py"
RUN = """
import sys
source, name = sys.argv[1], sys.argv[2]
del sys.argv[1:3]
exec(compile(open(source).read(), name, "exec"), {"__name__": "__main__", "__file__": name})
"""
# Each group has one digest.
GROUPS = {
    "raw": ["raw.mlirbc", "stripped.mlirbc"],
    "vhlo": ["vhlo.mlirbc", "moved.vhlo.mlirbc"],
    "text": ["mlir", "debug.mlir"],
}
# Holds an address of this process; large; examples, which have folders of their own.
LEFT_OUT = {"partitioned_custom_call", "transformer_block", "ranker", "training_step"}
# A location that is a value has a name in text, and such text counts raw; large.
TEXT_LEFT_OUT = {"tuples_and_tokens", "random_numbers"}


def lowered(folder, file_name, lines_above, seed):
    source = folder / "source.py"
    source.write_text("\n" * lines_above + (HERE / "programs.py").read_text())
    subprocess.run(
        [sys.executable, "-c", RUN, source, file_name, folder / str(seed)],
        check=True,
        env={**os.environ, "PYTHONHASHSEED": str(seed), "PRECAST_EXAMPLES": str(HERE.parents[1] / "examples")},
    )
    return {path.name: path.read_bytes() for path in (folder / str(seed)).iterdir()}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--helper", type=pathlib.Path, default=dump.DUMP)
    parser.add_argument("--new-rules", action="store_true")
    arguments = parser.parse_args()
    digester = dump.Digester(arguments.helper)
    with tempfile.TemporaryDirectory() as folder:
        files = lowered(pathlib.Path(folder), FIRST, 0, 1)
        moved = lowered(pathlib.Path(folder), MOVED, 23, 2)
    names = sorted({file.split(".", 1)[0] for file in files} - LEFT_OUT)
    for name in names:
        files[f"{name}.moved.vhlo.mlirbc"] = moved[f"{name}.vhlo.mlirbc"]

    manifest_file = arguments.out / "manifest.json"
    before = json.loads(manifest_file.read_text()) if manifest_file.exists() else {}
    manifest = {}
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in names:
        for group, forms in GROUPS.items():
            if group == "text" and name in TEXT_LEFT_OUT:
                continue
            members = [f"{name}.{form}" for form in forms]
            (digest,) = {digester.sha256(files[member]) for member in members}
            old = before.get(f"{name}.{group}")
            unchanged = old and all(
                (arguments.out / member).exists()
                and (arguments.out / member).read_bytes() == files[member]
                for member in members
            )
            if unchanged and old["sha256"] != digest and not arguments.new_rules:
                sys.exit(f"{name}.{group} had the digest {old['sha256']}, and now has {digest}")
            manifest[f"{name}.{group}"] = {"files": members, "sha256": digest}
            for member in members:
                (arguments.out / member).write_bytes(files[member])
    manifest_file.write_text(json.dumps(manifest, indent=1, sort_keys=True) + "\n")


if __name__ == "__main__":
    main()
