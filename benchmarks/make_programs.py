"""Makes the programs that make bench measures, with real JAX, and times JAX's own cache key of one of them.

    build/jax-venv/bin/python benchmarks/make_programs.py FOLDER

writes tiny.mlirbc (an addition), step48.mlirbc (a training step of 48 layers) and constant.mlirbc (a constant of 1 GiB) into FOLDER as
JAX hands programs to PJRT: portable StableHLO artifacts, with locations. Prints one JSON object.
"""

import json
import pathlib
import sys
import time

import jax
import jax.numpy as jnp
import numpy as np
from jax._src import cache_key, compiler
from jaxlib.mlir.dialects import stablehlo

LAYERS, WIDTH, HIDDEN, BATCH, LENGTH = 48, 64, 256, 2, 16
CONSTANT_BYTES = 1 << 30
REPEATS = 15


def portable(lowered) -> bytes:
    module = lowered.compiler_ir("stablehlo")
    return stablehlo.serialize_portable_artifact(module, stablehlo.get_current_version())


def training_step(layers=LAYERS):
    """Products instead of powers: powers are CHLO, which is no part of the portable format.

    A transformer with SGD, every layer with weights of its own: nothing is a loop.
    """
    def norm(x, scale):
        centred = x - jnp.mean(x, -1, keepdims=True)
        return centred * jax.lax.rsqrt(jnp.mean(centred * centred, -1, keepdims=True) + 1e-5) * scale

    def layer(x, weights):
        query, key, value, out, up, down, first, second = weights
        h = norm(x, first)
        scores = jax.nn.softmax(jnp.einsum("bsd,btd->bst", h @ query, h @ key))
        x = x + jnp.einsum("bst,btd->bsd", scores, h @ value) @ out
        return x + jax.nn.silu(norm(x, second) @ up) @ down

    def loss(weights, x, y):
        for one in weights:
            x = layer(x, one)
        return jnp.mean((x - y) * (x - y))

    def step(weights, x, y):
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradient)

    def shape(*dims):
        return jax.ShapeDtypeStruct(dims, jnp.float32)

    square = shape(WIDTH, WIDTH)
    one = (square, square, square, square, shape(WIDTH, HIDDEN), shape(HIDDEN, WIDTH), shape(WIDTH), shape(WIDTH))
    batch = shape(BATCH, LENGTH, WIDTH)
    return jax.jit(step).lower([one] * layers, batch, batch)


def constant_program():
    constant = np.random.default_rng(1).integers(0, 1 << 32, CONSTANT_BYTES // 4, dtype=np.uint32)
    return jax.jit(lambda x: constant + x).lower(jax.ShapeDtypeStruct((), jnp.uint32))


def jax_key_ms(lowered) -> dict:
    """JAX's key of a lowering, as its compilation cache computes it, several times."""
    module = lowered.compiler_ir("stablehlo")
    devices = np.array(jax.devices()[:1])
    options = compiler.get_compile_options(num_replicas=1, num_partitions=1)
    times = []
    for _ in range(REPEATS):
        start = time.perf_counter()
        cache_key.get(module, devices, options, jax.devices()[0].client)
        times.append((time.perf_counter() - start) * 1000)
    return times


def main(folder):
    folder.mkdir(parents=True, exist_ok=True)
    step = training_step()
    made = {"jax": jax.__version__, "jax_key_ms": jax_key_ms(step)}
    programs = {
        "tiny": lambda: jax.jit(lambda x: x + 1).lower(jax.ShapeDtypeStruct((8,), jnp.float32)),
        "step48": lambda: step,
        "constant": constant_program,
    }
    for name, lower in programs.items():
        path = folder / f"{name}.mlirbc"
        if not path.exists():
            path.write_bytes(portable(lower()))
    print(json.dumps(made))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))
