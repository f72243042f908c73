"""precast.jax next to JAX's own persistent cache: fresh processes, in turn, on the built-in CPU backend.

    build/jax-venv/bin/python benchmarks/bench_jax.py [--repeat N]

A ratio is that of the medians, with the least and the greatest of the rounds' own ratios. docs/performance.md has figures.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[1]
PACKAGE = ROOT / "build" / "python" / "jax-venv"
CHILD = ROOT / "benchmarks" / "jax_face.py"
START = ROOT / "benchmarks" / "jax_start.py"


def run(way, layers, small, folder, start=False):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PRECAST_", "JAX_", "XLA_"))}
    env = {**kept, "PYTHONPATH": str(PACKAGE), "JAX_PLATFORMS": "cpu", "XDG_STATE_HOME": str(folder / "state"),
           "PRECAST_CACHE": str(folder / "precast")}
    if way == "jax":
        env |= {"JAX_COMPILATION_CACHE_DIR": str(folder / "jax"), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
                "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    words = [START, way, str(layers), str(folder / "saved")] if start else [CHILD, way, str(layers), str(small)]
    done = subprocess.run([sys.executable, *words], env=env, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def compare(title, left, right, layers, small, folder, repeat, cold=False, start=False):
    times = {left: [], right: []}
    for i in range(repeat + 1):
        for way in (left, right):
            if cold:
                shutil.rmtree(folder / "precast", ignore_errors=True)
            said = run(way, layers, small, folder, start)
            assert i == 0 or cold or said["outcomes"] in ([], ["hit"]), said
            if i > 0:  # the first round fills the caches
                times[way].append(said["seconds"] * 1e3)
    each = [a / b for a, b in zip(times[left], times[right])]
    ratio = statistics.median(times[left]) / statistics.median(times[right])
    print(f"{title:<46} {left} {statistics.median(times[left]):8.1f} ms   {right} {statistics.median(times[right]):8.1f} ms   "
          f"ratio {ratio:.3f} ({min(each):.3f} to {max(each):.3f})", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeat", type=int, default=7)
    repeat = parser.parse_args().repeat
    folder = pathlib.Path(tempfile.mkdtemp(prefix="precast-bench-jax-"))
    try:
        for layers in (4, 16, 48):
            compare(f"hit, a training step of {layers} layers", "precast", "jax", layers, 0, folder, repeat)
        for layers in (4, 16, 48):
            run("save", layers, 0, folder, start=True)
            compare(f"start to first result, {layers} layers", "load", "jax", layers, 0, folder, repeat, start=True)
        compare("hit, 48 layers and 150 small programs", "enable", "jax", 48, 150, folder, repeat)
        compare("eight programs, cold", "one_by_one", "pool", 4, 0, folder, max(repeat // 3, 1), cold=True)
        compare("eight programs, warm", "one_by_one", "pool", 16, 0, folder, repeat)
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
