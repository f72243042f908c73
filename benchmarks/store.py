#!/usr/bin/env python3
"""What a hit and a collection cost in a store of very many entries, beside one of ten.

    python3 benchmarks/store.py --precast build/bin/precast --plugin PLUGIN.so tests/cli/programs/add.mlir

Makes both stores below a temporary folder, hits the program in each by turns, and collects everything. Prints one JSON
object: medians in milliseconds, seconds, and the peak of resident memory in MB.
"""

import argparse
import hashlib
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import time


def run(args, cache, *words):
    env = {**os.environ, "HOME": str(cache.parent), "PRECAST_CACHE": str(cache), "PRECAST_PLUGIN": args.plugin}
    start = time.monotonic()
    done = subprocess.run([args.precast, *map(str, words), "--json"], env=env, capture_output=True)
    if done.returncode != 0:
        sys.exit(done.stderr.decode())
    return json.loads(done.stdout), time.monotonic() - start


def fill(cache, count, bytes_each):
    """Entries by name only: small files that a hit of another key never opens."""
    layout = cache / "v1"
    for i in range(256):
        (layout / f"{i:02x}").mkdir(mode=0o700, parents=True, exist_ok=True)
    content = b"x" * bytes_each
    long_ago = time.time() - 30 * 86400
    for i in range(count):
        name = hashlib.sha256(str(i).encode()).hexdigest()
        path = layout / name[:2] / (name[2:] + ".precast")
        with open(path, "wb", opener=lambda p, flags: os.open(p, flags, 0o600)) as file:
            file.write(content)
        os.utime(path, (long_ago + i, long_ago + i))


def hit_ms(args, cache):
    answer, _ = run(args, cache, "compile", args.program)
    assert answer["outcome"] == "hit", answer
    phases = answer["phases_ms"] if "phases_ms" in answer else answer["phases"]
    return phases["lookup"], sum(phases[name] for name in ("lookup", "verify", "load"))


def measured(args, cache, *words):
    """Peak of memory in MB and seconds on the CPU of one process: what a child that has no others can tell."""
    code = ("import json, resource, subprocess, sys\n"
            "subprocess.run(sys.argv[1:], check=True, stdout=subprocess.DEVNULL)\n"
            "used = resource.getrusage(resource.RUSAGE_CHILDREN)\n"
            "print(json.dumps([used.ru_maxrss / 1024, used.ru_utime + used.ru_stime]))")
    env = {**os.environ, "HOME": str(cache.parent), "PRECAST_CACHE": str(cache)}
    done = subprocess.run([sys.executable, "-c", code, args.precast, *map(str, words), "--json"], env=env,
                          capture_output=True, check=True)
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--precast", required=True)
    parser.add_argument("--plugin", required=True)
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--bytes", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=25)
    args = parser.parse_args()
    args.precast = os.path.abspath(args.precast)
    if "/" in args.plugin:
        args.plugin = os.path.abspath(args.plugin)
    folder = pathlib.Path(tempfile.mkdtemp(prefix="precast-store-")).resolve()
    try:
        caches = {"10": folder / "few" / "cache", str(args.entries): folder / "many" / "cache"}
        for count, cache in caches.items():
            cache.parent.mkdir()
            cache.mkdir(mode=0o700)
            run(args, cache, "compile", args.program)
            fill(cache, int(count) - 1, args.bytes)
        few, many = caches.values()
        lookups = {cache: [] for cache in caches.values()}
        hits = {cache: [] for cache in caches.values()}
        for _ in range(args.rounds):
            for cache in caches.values():
                lookup, hit = hit_ms(args, cache)
                lookups[cache].append(lookup)
                hits[cache].append(hit)
        median = statistics.median
        answer = {"entries": args.entries,
                  "lookup_ms": [median(lookups[few]), median(lookups[many])],
                  "hit_ms": [median(hits[few]), median(hits[many])],
                  "hit_ratio": median(hits[many]) / median(hits[few]),
                  "dry_run_peak_mb": [measured(args, cache, "gc", "--unused-for", "100y", "--dry-run")[0]
                                      for cache in caches.values()]}
        half = args.bytes * args.entries // 2
        for name, words in (("gc_nothing", ("--unused-for", "100y")), ("gc_half", ("--max-size", half))):
            done, seconds = run(args, many, "gc", *words)
            answer[name + "_s"] = seconds
            answer[name + "_removed"] = done["stores"][0]["removed"]
        start = time.monotonic()
        answer["gc_all_peak_mb"], answer["gc_all_cpu_s"] = measured(args, many, "gc", "--max-size", "0")
        answer["gc_all_s"] = time.monotonic() - start
        answer["left"] = run(args, many, "ls")[0]["entries"]
        print(json.dumps(answer))
    finally:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
