"""Makes every generated file of this example: the program, its inputs and JAX's own outputs.

    build/jax-venv/bin/python examples/train/export.py [--out FOLDER]

writes, into this folder unless told otherwise:

    train.mlirbc             the program, a portable StableHLO artifact
    inputs/NN_name.npy       one file for each parameter; their sorted order is the parameters' order
    expected/NN_name.npy     what JAX computes from these inputs on its CPU backend, in the same way

The program and the inputs come out byte for byte the same on every run and from every folder.  The
outputs are floating-point results, so another CPU may differ from them in the last bits.
"""

import argparse
import importlib.util
import pathlib

import jax
import numpy as np

from step import CONFIG, State, step

HERE = pathlib.Path(__file__).resolve().parent


def ranker_export():
    """The ranker's own script, under another name than this one."""
    path = HERE.parent / "ranker" / "export.py"
    spec = importlib.util.spec_from_file_location("ranker_export", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def make_arguments(ranker):
    """A state in the middle of training, a request, and what its users clicked."""
    rng = np.random.default_rng([ranker.SEED, 2])
    weights = ranker.make_weights(CONFIG)
    momentum = jax.tree.map(
        lambda w: rng.uniform(-1e-3, 1e-3, w.shape).astype(np.float32), weights)
    shape = (CONFIG.batch, CONFIG.candidates)
    clicked = (rng.uniform(0.0, 1.0, shape) < 0.25).astype(np.float32)
    return State(weights, momentum), ranker.make_request(CONFIG), clicked


def named(leaves):
    """File name to array, in the order of parameters or results."""
    return {f"{i:02}_{name}.npy": np.asarray(array) for i, (name, array) in enumerate(leaves)}


def leaves_of(state):
    for part, weights in state._asdict().items():
        yield from ((f"{part}_{name}", array) for name, array in weights._asdict().items())


def export(out: pathlib.Path) -> None:
    """Writes all files below `out`, and removes other .npy files from the two folders."""
    ranker = ranker_export()
    state, request, clicked = make_arguments(ranker)
    program = ranker.portable_artifact(step, state, request, clicked, donate_argnums=0)
    value, after = jax.jit(step)(state, request, clicked)
    (out / "train.mlirbc").write_bytes(program)
    ranker.write_arrays(out / "inputs", named(
        [*leaves_of(state), *request._asdict().items(), ("clicked", clicked)]))
    ranker.write_arrays(out / "expected", named([("loss", value), *leaves_of(after)]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="default: this folder")
    out = parser.parse_args().out
    # The CPU backend whatever else is installed: the expected outputs are the CPU's.
    jax.config.update("jax_platforms", "cpu")
    export(out)
    for path in sorted(out.glob("*/*.npy")) + [out / "train.mlirbc"]:
        print(f"{path.stat().st_size:>9,} bytes  {path.relative_to(out)}")


if __name__ == "__main__":
    main()
