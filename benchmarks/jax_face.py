"""One fresh process of JAX for bench_jax.py: what getting executables took, trace and lowering apart.

    python jax_face.py WAY LAYERS SMALL

WAY: "jax" (lowered.compile(), with JAX's own cache as the environment says), "precast" (compile_or_load), "enable"
(lowered.compile() under enable()), "one_by_one" and "pool" (eight programs by compile_or_load, or compile_or_load_all). Prints
one JSON object, in seconds.
"""

import json
import sys
import time

import jax

from jax_client import small_program
from make_programs import training_step

PROGRAMS = 8


def get(way, lowered):
    if way == "jax":
        return [each.compile() for each in lowered]
    import precast.jax
    if way == "enable":
        with precast.jax.enable():
            return [each.compile() for each in lowered]
    if way == "pool":
        return list(precast.jax.compile_or_load_all(
            {str(i): each for i, each in enumerate(lowered)}).values())
    return [precast.jax.compile_or_load(each) for each in lowered]


def main():
    way, layers, small = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    if way in ("precast", "enable", "pool", "one_by_one"):
        import precast.jax  # what importing takes is no part of a hit
    jax.devices()
    if way in ("pool", "one_by_one"):
        lowered = [training_step(layers + i) for i in range(PROGRAMS)]
    else:
        lowered = [training_step(layers)] if layers else []
    lowered += [small_program(i) for i in range(small)]
    start = time.perf_counter()
    compiled = get(way, lowered)
    took = time.perf_counter() - start
    outcomes = []
    if way in ("precast", "one_by_one"):
        outcomes = [precast.jax.report(each).outcome for each in compiled]
    print(json.dumps({"seconds": took, "outcomes": sorted(set(outcomes))}))


if __name__ == "__main__":
    main()
