"""One fresh process for bench_jax.py: from its start to the first result of a training step.

    python jax_start.py WAY LAYERS FILE

WAY: "save" (writes FILE by precast.jax.save), "load" (precast.jax.load: nothing is traced), "jax" (trace, lower and compile,
with JAX's own cache as the environment says), "precast" (the same with compile_or_load). Prints one JSON object; seconds from
the first line of this script, imports and the inputs on the device among them.
"""

import time

START = time.perf_counter()

import json  # noqa: E402
import sys  # noqa: E402

import jax  # noqa: E402
import numpy as np  # noqa: E402

import make_programs as programs  # noqa: E402


def inputs(layers):
    random = np.random.default_rng(0)

    def array(*shape):
        return random.standard_normal(shape, dtype=np.float32) / 32

    width, hidden = programs.WIDTH, programs.HIDDEN
    weights = [tuple(array(*shape) for shape in [(width, width)] * 4 + [(width, hidden), (hidden, width), (width,), (width,)])
               for _ in range(layers)]
    batch = (programs.BATCH, programs.LENGTH, width)
    return jax.device_put((weights, array(*batch), array(*batch)), jax.devices()[0])


def main():
    way, layers, file = sys.argv[1], int(sys.argv[2]), sys.argv[3]
    if way == "load":
        import precast.jax
        step = precast.jax.load(file)
    elif way == "jax":
        step = programs.training_step(layers).compile()
    else:
        import precast.jax
        step = precast.jax.compile_or_load(programs.training_step(layers))
        if way == "save":
            precast.jax.save(step, file)
    ready = time.perf_counter()
    loss, _ = jax.block_until_ready(step(*inputs(layers)))
    end = time.perf_counter()
    print(json.dumps({"seconds": end - START, "ready": ready - START, "loss": float(loss), "outcomes": []}))


if __name__ == "__main__":
    main()
