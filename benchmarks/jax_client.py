"""One fresh process of unmodified JAX that compiles one big and many small programs, for bench.py.

    python jax_client.py LAYERS SMALL

Prints one JSON object, in seconds: what all the calls of compile() took, trace and lowering apart; what the calls of the big one
did; and how long it takes to turn the same modules into the portable bytecode (VHLO) that JAX gives to a plugin at each compile.
"""

import json
import sys
import time

import jax
import jax.numpy as jnp
from jaxlib.mlir.dialects import stablehlo

from make_programs import training_step


def small_program(i):
    """Programs that differ in what they compute, as those of a start-up do."""
    def run(x):
        y = x * (i + 1.5)
        for _ in range(i % 5 + 1):
            y = jnp.tanh(y @ y) + i
        return y.sum(axis=i % 2)
    return jax.jit(run).lower(jax.ShapeDtypeStruct((8 + i % 7, 8 + i % 7), jnp.float32))


def main():
    layers, small = int(sys.argv[1]), int(sys.argv[2])
    jax.devices()
    lowered = [training_step(layers)] if layers else []
    lowered += [small_program(i) for i in range(small)]
    times = []
    for each in lowered:
        start = time.perf_counter()
        each.compile()
        times.append(time.perf_counter() - start)
    # Last, since it changes the modules.
    convert = time.perf_counter()
    for each in lowered:
        stablehlo.serialize_portable_artifact(each.compiler_ir("stablehlo"), stablehlo.get_current_version())
    convert = time.perf_counter() - convert
    print(json.dumps({"compile_s": sum(times), "big_s": times[0] if layers else 0, "convert_s": convert}))


if __name__ == "__main__":
    main()
