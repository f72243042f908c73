"""Makes every generated file of this example: the program, its inputs and JAX's own outputs.

    build/jax-venv/bin/python examples/ranker/export.py [--out FOLDER]

writes, into this folder unless told otherwise:

    ranker.mlirbc            the program, a portable StableHLO artifact
    inputs/NN_name.npy       one file for each parameter; their sorted order is the parameters' order
    expected/00_scores.npy   what JAX computes from these inputs on its CPU backend

The program and the inputs come out byte for byte the same on every run and from every folder.  The
outputs are floating-point results, so another CPU may differ from them in the last bits.
"""

import argparse
import pathlib

import jax
import numpy as np
from jaxlib.mlir import passmanager
from jaxlib.mlir.dialects import stablehlo

from model import Config, Request, Weights, rank

SEED = 20250601
HERE = pathlib.Path(__file__).resolve().parent


def make_request(config: Config, seed: int = SEED) -> Request:
    """Users with a long, a medium, a short and an empty history."""
    rng = np.random.default_rng([seed, 0])
    batch, history = config.batch, config.history
    lengths = np.linspace(history, 0, batch).astype(np.int32)
    ages = np.cumsum(rng.uniform(0.1, 30.0, (batch, history)), axis=1)  # newest first
    return Request(
        history_items=rng.integers(0, config.items, (batch, history), dtype=np.int32),
        history_actions=rng.integers(0, config.actions, (batch, history), dtype=np.int32),
        history_age_hours=ages.astype(np.float32),
        history_valid=np.arange(history)[None, :] < lengths[:, None],
        candidate_items=rng.integers(0, config.items, (batch, config.candidates), dtype=np.int32),
        context=rng.uniform(-1.0, 1.0, (batch, config.context)).astype(np.float32),
    )


def make_weights(config: Config, seed: int = SEED) -> Weights:
    """Random weights, scaled so that every layer matters and the scores stay near one."""
    rng = np.random.default_rng([seed, 1])
    layers, width, hidden = config.layers, config.width, config.hidden

    # Uniform draws use only exact arithmetic, so the files do not depend on a math library.
    def uniform(*shape, fan_in):
        bound = (3.0 / fan_in) ** 0.5
        return rng.uniform(-bound, bound, shape).astype(np.float32)

    def near_one(*shape):
        return rng.uniform(0.9, 1.1, shape).astype(np.float32)

    return Weights(
        item_embedding=uniform(config.items, width, fan_in=1),
        action_embedding=uniform(config.actions, width, fan_in=4),
        age_embedding=uniform(width, fan_in=64),
        candidate_embedding=uniform(width, fan_in=4),
        context_projection=uniform(config.context, width, fan_in=config.context),
        attention_norm=near_one(layers, width),
        attention_in=uniform(layers, width, 3 * width, fan_in=width),
        attention_out=uniform(layers, width, width, fan_in=width),
        mlp_norm=near_one(layers, width),
        mlp_in=uniform(layers, width, 2 * hidden, fan_in=width),
        mlp_out=uniform(layers, hidden, width, fan_in=hidden),
        head_norm=near_one(width),
        head=uniform(width, fan_in=width),
    )


def named_inputs(request: Request, weights: Weights) -> dict[str, np.ndarray]:
    """File name to array, in the order of the program's parameters."""
    fields = {**request._asdict(), **weights._asdict()}
    return {f"{i:02}_{name}.npy": array for i, (name, array) in enumerate(fields.items())}


def portable_artifact(function, *arguments, **jit_options) -> bytes:
    """Lowers a function for the CPU and serializes it for any StableHLO consumer of the last weeks."""
    # keep_unused: a parameter that the model ceased to use must not renumber the input files.
    lowered = jax.jit(function, keep_unused=True, **jit_options).trace(*arguments).lower(
        lowering_platforms=("cpu",)
    )
    module = lowered.compiler_ir("stablehlo")
    with module.context:
        # Locations name source files by their whole path; without them the bytes do not depend on
        # where this checkout is.
        passmanager.PassManager.parse("builtin.module(strip-debuginfo)").run(module.operation)
        target = stablehlo.get_version_from_compatibility_requirement(
            stablehlo.StablehloCompatibilityRequirement.WEEK_12
        )
        return stablehlo.serialize_portable_artifact(module, target)


def write_arrays(folder: pathlib.Path, arrays: dict[str, np.ndarray]) -> None:
    """Makes the arrays, by file name, the only .npy files of the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.npy"):
        old.unlink()
    for name, array in arrays.items():
        np.save(folder / name, array, allow_pickle=False)


def export(out: pathlib.Path, config: Config = Config()) -> None:
    """Writes all files below `out`, and removes other .npy files from the two folders."""
    request, weights = make_request(config), make_weights(config)
    scores = np.asarray(jax.jit(rank)(request, weights))
    (out / "ranker.mlirbc").write_bytes(portable_artifact(rank, request, weights))
    write_arrays(out / "inputs", named_inputs(request, weights))
    write_arrays(out / "expected", {"00_scores.npy": scores})


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=pathlib.Path, default=HERE, help="default: this folder")
    out = parser.parse_args().out
    # The CPU backend whatever else is installed: the expected outputs are the CPU's.
    jax.config.update("jax_platforms", "cpu")
    export(out)
    for path in sorted(out.glob("*/*.npy")) + [out / "ranker.mlirbc"]:
        print(f"{path.stat().st_size:>9,} bytes  {path.relative_to(out)}")


if __name__ == "__main__":
    main()
