"""What make bench runs: measures everything in one run, prints it, and keeps it as JSON.

    build/jax-venv/bin/python benchmarks/bench.py [--out FILE] [--repeat N]

The build must be the release build. Other work on the machine makes every figure worse, so what is compared is measured in
turn, and medians with the middle half of the values (quartiles) are given.
"""

import argparse
import json
import os
import pathlib
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[1]
BUILD = ROOT / "build"
PROGRAMS = BUILD / "bench" / "programs"
BENCH = BUILD / "bench" / "precast_bench"
COMMAND = BUILD / "bin" / "precast"
PLUGIN = next((BUILD / "venv").glob("lib/python3*/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so"))
WRAPPER = BUILD / "lib" / "libprecast_pjrt.so"
FAKE = BUILD / "lib" / "libprecast_fake_pjrt.so"
ALLOCATORS = {"jemalloc": "libjemalloc.so.2", "mimalloc": "libmimalloc.so.2"}
# What is not the command's own start: the plugin's library and client, the load, the run itself, and what comes after it.
NOT_OWN = ("open_plugin", "create_client", "load", "transfer", "run", "fetch", "outputs")


def spread(values):
    """Median, quartiles, and the least: what it takes when nothing else gets in between."""
    low, middle, high = statistics.quantiles(values, n=4) if len(values) > 2 else (min(values), statistics.median(values),
                                                                                   max(values))
    return {"median": middle, "low": low, "high": high, "least": min(values), "count": len(values)}


def ratios(of, to):
    return spread([a / b for a, b in zip(of, to)])


def run_json(words, env=None):
    done = subprocess.run(list(map(str, words)), env={**os.environ, **(env or {})}, capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}\nended with {done.returncode}:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def measure_hits(name, program, folder, repeat):
    """The hit path against the floor; each pair of measurements gives one ratio."""
    print(f"[bench] {name}: hit path and floor, {repeat} rounds", flush=True)
    raw = run_json([BENCH, "hit", PLUGIN, program, folder / name, repeat])
    hit, floor = raw["hit_ms"], raw["floor_ms"]
    return {
        "program_bytes": raw["program_bytes"],
        "executable_bytes": raw["executable_bytes"],
        "artifact_bytes": raw["artifact_bytes"],
        "compile_ms": raw["compile_ms"],
        "lean_bytes": raw["lean_bytes"],
        "floor_ms": spread(floor),
        "lean_ms": spread(raw["lean_ms"]),
        "lean_ratio": ratios(raw["lean_ms"], floor),
        "hit_ms": spread(hit),
        "ratio": ratios(hit, floor),
        "above_ms": spread([a - b for a, b in zip(hit, floor)]),
        "key_ms": spread(raw["key_ms"]),
        "decode_ms": spread(raw["decode_ms"]),
        "phases_ms": {phase: spread(values) for phase, values in raw["phases_ms"].items()},
    }


def measure_misses(name, program, folder, repeat):
    """What a miss does beside the compile, with the trial load before publishing and without."""
    print(f"[bench] {name}: misses, {repeat} rounds of two compiles", flush=True)
    raw = run_json([BENCH, "miss", PLUGIN, program, folder / f"{name}-miss", repeat])
    return {way: {"compile_ms": spread(times["compile_ms"]), "beside_ms": spread(times["beside_ms"]),
                  "ratio": ratios(times["beside_ms"], times["compile_ms"]),
                  "phases_ms": {phase: spread(values) for phase, values in times["phases_ms"].items()}}
            for way, times in raw.items()}


def measure_starts(program, cache, repeat):
    """Fresh processes of `precast run` that hit: the phases, and what is left of the wall time."""
    print(f"[bench] fresh precast run of {program.name}, {repeat} processes", flush=True)
    phases, own, wall_times, total = {}, [], [], []
    for i in range(repeat + 1):
        start = time.perf_counter()
        answer = run_json([COMMAND, "run", program, "--fill", "zeros", "--cache", cache, "--plugin", PLUGIN, "--json"])
        wall = (time.perf_counter() - start) * 1000
        if i == 0:  # fills the cache
            continue
        assert answer["outcome"] == "hit", answer
        spent = answer["phases_ms"]
        for phase, ms in spent.items():
            phases.setdefault(phase, []).append(ms)
        wall_times.append(wall)
        total.append(spent["total"])
        own.append(spent["total"] - sum(spent.get(phase, 0) for phase in NOT_OWN))
    return {"phases_ms": {phase: spread(values) for phase, values in phases.items()}, "own_ms": spread(own), "not_own": NOT_OWN,
            "wall_ms": spread(wall_times), "outside_main_ms": spread([w - t for w, t in zip(wall_times, total)])}


def crowd_ms(count, words, plugin, env, cache):
    """Wall time of `count` processes of the command that start together, and how they ended; `cache` None is without."""
    where = ["--no-cache"] if cache is None else ["--cache", cache]
    start = time.perf_counter()
    running = [subprocess.Popen(list(map(str, [COMMAND, "compile", *words, *where, "--plugin", plugin, "--json"])),
                                env={**os.environ, **env}, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    answers = [json.loads(process.communicate()[0]) for process in running]
    return (time.perf_counter() - start) * 1000, sorted(answer["outcome"] for answer in answers)


def measure_crowds(program, folder, repeat):
    """One cold key: eight processes against one; and sixteen on small programs, with a cache against without."""
    print(f"[bench] crowds: 8 processes on {program.name}, 16 on small programs, {repeat} rounds", flush=True)
    state = {"XDG_STATE_HOME": str(folder / "crowd-state")}  # what this machine knows already is not to count
    one, eight = [], []
    for plugin in (PLUGIN, FAKE):  # the plugin's digest is asked for once on a machine
        crowd_ms(1, [ROOT / "tests" / "cli" / "programs" / "sort.mlir"], plugin, state, folder / "warm")
    for i in range(repeat):
        one.append(crowd_ms(1, [program], PLUGIN, state, folder / f"one-{i}")[0])
        wall, outcomes = crowd_ms(8, [program], PLUGIN, state, folder / f"eight-{i}")
        assert outcomes == ["hit"] * 7 + ["miss"], outcomes
        eight.append(wall)
    # Seven loads of a large program take the cores for a while. What is left without them: a plugin that only waits.
    waiting = {**state, "PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:10000"}
    idle_one, idle_eight = [], []
    for i in range(repeat):
        words = [ROOT / "tests" / "cli" / "programs" / "add.mlir", "--salt", f"idle {i}"]
        idle_one.append(crowd_ms(1, words, FAKE, waiting, folder / "idle-one")[0])
        wall, outcomes = crowd_ms(8, words, FAKE, waiting, folder / "idle-eight")
        assert outcomes == ["hit"] * 7 + ["miss"], outcomes
        idle_eight.append(wall)
    small = {}
    cases = {"sort, XLA's CPU plugin": (PLUGIN, {}), "cannot be stored, fake plugin": (FAKE, {}),
             "the same, compiling 1 s": (FAKE, {"PRECAST_FAKE_LATENCY": "PJRT_Client_Compile:1000"})}
    for name, (plugin, env) in cases.items():
        # New to this machine, and then known to it.
        times = {"without": [], "new": [], "known": []}
        for i in range(repeat):
            words = [ROOT / "tests" / "cli" / "programs" / "sort.mlir", "--salt", f"{name} {i}"]
            for kind, cache in (("without", None), ("new", folder / "sort"), ("known", folder / "sort")):
                times[kind].append(crowd_ms(16, words, plugin, {**state, **env}, cache)[0])
        small[name] = {**{f"{kind}_ms": spread(values) for kind, values in times.items()},
                       **{f"{kind}_ratio": ratios(times[kind], times["without"]) for kind in ("new", "known")}}
    return {"program": program.name, "one_ms": spread(one), "eight_ms": spread(eight), "ratio": ratios(eight, one),
            "idle_one_ms": spread(idle_one), "idle_eight_ms": spread(idle_eight), "idle_ratio": ratios(idle_eight, idle_one),
            "small": small}


def measure_wrapped(name, program, folder, repeat):
    """A compile of a host through libprecast_pjrt.so that hits, against the bare load of the same bytes."""
    print(f"[bench] {name}: through the wrapper, {repeat} rounds", flush=True)
    env = {"PRECAST_PJRT_PLUGIN": str(PLUGIN), "PRECAST_CACHE": str(folder / "wrapped")}
    raw = run_json([BENCH, "wrapped", WRAPPER, program, folder / "wrapped", repeat], env)
    hit, floor = raw["hit_ms"], raw["floor_ms"]
    return {"floor_ms": spread(floor), "hit_ms": spread(hit), "ratio": ratios(hit, floor),
            "above_ms": spread([a - b for a, b in zip(hit, floor)])}


def measure_jax_client(folder, repeat, layers, small):
    """Fresh processes of unmodified JAX on one plugin: warm through the wrapper, and warm with JAX's own cache, in turn."""
    print(f"[bench] unmodified JAX: one program of {layers} layers and {small} small ones, {repeat} rounds", flush=True)
    ways = {
        "precast": {"PJRT_NAMES_AND_LIBRARY_PATHS": f"bench:{WRAPPER}", "PRECAST_PJRT_PLUGIN": str(PLUGIN),
                    "PRECAST_CACHE": str(folder / "jax-precast"), "PRECAST_SUMMARY": "1"},
        "jax": {"PJRT_NAMES_AND_LIBRARY_PATHS": f"bench:{PLUGIN}", "JAX_COMPILATION_CACHE_DIR": str(folder / "jax-own"),
                "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0", "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"},
    }
    times = {way: {"compile_s": [], "big_s": [], "convert_s": []} for way in ways}
    own, around = [], []
    for i in range(repeat + 1):
        for way, env in ways.items():
            done = subprocess.run([sys.executable, ROOT / "benchmarks" / "jax_client.py", str(layers), str(small)],
                                  env={**os.environ, "JAX_PLATFORMS": "bench", **env}, capture_output=True, text=True, check=True)
            if i == 0:  # fills the caches
                continue
            answer = json.loads(done.stdout)
            for what, value in answer.items():
                times[way][what].append(value)
            if way == "precast":
                counts = dict(word.split("=") for word in done.stderr.split("summary: ")[1].split() if "=" in word)
                assert counts["hits"] == str(small + 1) and counts["misses"] == "0", counts
                spent = float(counts["spent_ms"])
                own.append(spent / (small + 1))
                around.append(1 - spent / 1000 / answer["compile_s"])
    return {"layers": layers, "small": small,
            **{way: {what: spread(values) for what, values in of.items()} for way, of in times.items()},
            "ratio": ratios(times["precast"]["compile_s"], times["jax"]["compile_s"]),
            "around_share": spread(around),
            "convert_share": ratios(times["precast"]["convert_s"], times["precast"]["compile_s"]),
            "wrapper_ms_per_hit": spread(own)}


def library(name):
    for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"):
        if os.path.exists(f"{folder}/{name}"):
            return f"{folder}/{name}"
    return None


def measure_allocators(program, folder, repeat):
    """The load of one program under each allocator, in turn. precast_bench itself is linked with none."""
    preloads = {"glibc": None, **{name: library(file) for name, file in ALLOCATORS.items()}}
    preloads = {name: path for name, path in preloads.items() if path or name == "glibc"}
    print(f"[bench] allocators: {', '.join(preloads)}, {repeat} processes each", flush=True)
    times = {name: [] for name in preloads}
    for _ in range(repeat):
        for name, path in preloads.items():
            raw = run_json([BENCH, "hit", PLUGIN, program, folder / "step48", 1], {"LD_PRELOAD": path or ""})
            times[name].append(raw["floor_ms"][0])
    return {name: spread(values) for name, values in times.items()}


def measure_keys(made, repeat):
    print("[bench] keys", flush=True)
    step = run_json([BENCH, "digest", PROGRAMS / "step48.mlirbc", repeat * 10])
    ours, theirs = spread(step["digest_ms"]), spread(made["jax_key_ms"])
    constant = run_json([BENCH, "digest", PROGRAMS / "constant.mlirbc", 5])
    return {
        "step48": {"bytes": step["bytes"], "mode": step["mode"], "digest_ms": ours, "sha256_ms": spread(step["sha256_ms"]),
                   "mb_per_s": step["bytes"] / 1e3 / ours["least"]},
        "jax": {"version": made["jax"], "key_ms": theirs, "ratio": ours["least"] / theirs["least"]},
        "constant": {"bytes": constant["bytes"], "mode": constant["mode"], "digest_ms": spread(constant["digest_ms"]),
                     "sha256_ms": spread(constant["sha256_ms"]),
                     "ratio": ratios(constant["digest_ms"], constant["sha256_ms"]),
                     "peak_rss_before_bytes": constant["peak_rss_before_bytes"],
                     "peak_rss_bytes": constant["peak_rss_bytes"]},
    }


def machine():
    model = next((line.split(":")[1].strip() for line in open("/proc/cpuinfo") if line.startswith("model name")), "?")
    memory = next(line.split()[1] for line in open("/proc/meminfo") if line.startswith("MemTotal"))
    return {"cpu": model, "cores": len(os.sched_getaffinity(0)), "memory_gb": round(int(memory) / 1e6),
            "system": " ".join(platform.freedesktop_os_release().get(key, "") for key in ("NAME", "VERSION_ID")),
            "kernel": platform.release().split("-")[0], "load_average": os.getloadavg()[0],
            "date": time.strftime("%Y-%m-%d", time.gmtime()),
            "plugin": PLUGIN.parent.name, "precast": run_json([COMMAND, "version", "--json"])}


def line(name, value):
    print(f"  {name:34} {value}")


def ms(value):
    return f"{value['median']:9.2f} ms   ({value['low']:.2f} to {value['high']:.2f}, least {value['least']:.2f})"


def show(results):
    for name, hit in results["hits"].items():
        print(f"\n{name}: {hit['program_bytes'] / 1e3:.1f} kB of program, {hit['executable_bytes'] / 1e3:.0f} kB of executable")
        line("floor: bare DeserializeAndLoad", ms(hit["floor_ms"]))
        line("hit", ms(hit["hit_ms"]))
        line("hit / floor", f"{hit['ratio']['median']:9.3f}      ({hit['ratio']['low']:.3f} to {hit['ratio']['high']:.3f})")
        line("hit - floor", ms(hit["above_ms"]))
        line("floor of the lean executable", ms(hit["lean_ms"]) + f", {hit['lean_ratio']['median']:.3f} of the floor, "
             f"{hit['lean_bytes'] / hit['executable_bytes']:.3f} of the bytes")
        line("key", ms(hit["key_ms"]))
        line("decode", ms(hit["decode_ms"]))
    for name, ways in results["misses"].items():
        print(f"\na miss of {name}")
        for way, miss in ways.items():
            line(f"beside the compile, {way.replace('_', ' ')}",
                 ms(miss["beside_ms"]) + f", {100 * miss['ratio']['median']:.2f} % of {miss['compile_ms']['median']:.0f} ms")
    keys = results["keys"]
    print(f"\nkeys, {keys['step48']['bytes'] / 1e3:.0f} kB of bytecode ({keys['step48']['mode']})")
    line("program digest", ms(keys["step48"]["digest_ms"]) + f", {keys['step48']['mb_per_s']:.0f} MB/s")
    line("JAX's cache key of the lowering", ms(keys["jax"]["key_ms"]))
    line("ours / JAX's", f"{keys['jax']['ratio']:9.3f}")
    constant = keys["constant"]
    print(f"\na constant of {constant['bytes'] / 1e9:.2f} GB ({constant['mode']})")
    line("program digest", ms(constant["digest_ms"]))
    line("SHA-256 of the bytes", ms(constant["sha256_ms"]))
    line("digest / SHA-256", f"{constant['ratio']['median']:9.3f}")
    line("peak memory / bytes", f"{constant['peak_rss_bytes'] / constant['bytes']:9.3f}")
    for name, start in results["starts"].items():
        print(f"\nfresh precast run of {name}")
        for phase, value in start["phases_ms"].items():
            line(phase, ms(value))
        line("own work (all but plugin, load, run)", ms(start["own_ms"]))
        line("before and after main", ms(start["outside_main_ms"]))
    crowds = results["crowds"]
    print(f"\nmany processes that start together, {crowds['program']}")
    line("1 cold process", ms(crowds["one_ms"]))
    line("8 cold processes on one key", ms(crowds["eight_ms"]) + f", {crowds['ratio']['median']:.3f} of one")
    line("1 on a compile of 10 s, fake plugin", ms(crowds["idle_one_ms"]))
    line("8 on it", ms(crowds["idle_eight_ms"]) + f", {crowds['idle_ratio']['median']:.3f} of one")
    for name, crowd in crowds["small"].items():
        print(f"\n16 processes that start together: {name}")
        line("without a cache", ms(crowd["without_ms"]))
        line("new to the machine", ms(crowd["new_ms"]) + f", {crowd['new_ratio']['median']:.3f} of that")
        line("known to the machine", ms(crowd["known_ms"]) + f", {crowd['known_ratio']['median']:.3f} of that")
    for name, wrapped in results["wrapped"].items():
        print(f"\n{name} through the wrapper")
        line("floor: bare DeserializeAndLoad", ms(wrapped["floor_ms"]))
        line("PJRT_Client_Compile that hits", ms(wrapped["hit_ms"]))
        line("hit / floor", f"{wrapped['ratio']['median']:9.3f}      ({wrapped['ratio']['low']:.3f} to "
             f"{wrapped['ratio']['high']:.3f})")
        line("hit - floor", ms(wrapped["above_ms"]))
    client = results["jax_client"]
    print(f"\nunmodified JAX, warm: one program of {client['layers']} layers and {client['small']} small ones")
    for way, name in (("precast", "through the wrapper"), ("jax", "JAX's own cache")):
        line(name, f"{client[way]['compile_s']['median']:9.2f} s   (least {client[way]['compile_s']['least']:.2f}; the big one "
             f"{client[way]['big_s']['median']:.2f})")
    line("wrapper / JAX's own cache", f"{client['ratio']['median']:9.3f}      ({client['ratio']['low']:.3f} to "
         f"{client['ratio']['high']:.3f})")
    line("share of JAX around the wrapper", f"{client['around_share']['median']:9.3f}      (turning modules into VHLO alone "
         f"{client['convert_share']['median']:.3f})")
    line("the wrapper, for each hit", ms(client["wrapper_ms_per_hit"]))
    print("\nload of step48 by allocator")
    for name, value in results["allocators"].items():
        line(name, ms(value))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--out", type=pathlib.Path, default=BUILD / "bench" / "results.json")
    parser.add_argument("--repeat", type=int, default=15)
    arguments = parser.parse_args()
    print("[bench] making the programs with real JAX", flush=True)
    made = run_json([sys.executable, ROOT / "benchmarks" / "make_programs.py", PROGRAMS], {"JAX_PLATFORMS": "cpu"})
    # Short programs take more rounds.
    programs = {"tiny": (PROGRAMS / "tiny.mlirbc", 20), "ranker": (ROOT / "examples" / "ranker" / "ranker.mlirbc", 4),
                "step48": (PROGRAMS / "step48.mlirbc", 1)}
    folder = pathlib.Path(tempfile.mkdtemp(prefix="precast-bench-"))
    try:
        results = {
            "machine": machine(),
            "hits": {name: measure_hits(name, path, folder, arguments.repeat * rounds) for name, (path, rounds) in programs.items()},
            "misses": {name: measure_misses(name, programs[name][0], folder, max(arguments.repeat // 5, 1))
                       for name in ("ranker", "step48")},
            "keys": measure_keys(made, arguments.repeat),
            "starts": {name: measure_starts(programs[name][0], folder / "command", arguments.repeat)
                       for name in ("tiny", "ranker", "step48")},
            "crowds": measure_crowds(programs["step48"][0], folder, max(arguments.repeat // 5, 3)),
            "wrapped": {name: measure_wrapped(name, path, folder, arguments.repeat * rounds)
                        for name, (path, rounds) in programs.items()},
            "jax_client": measure_jax_client(folder, max(arguments.repeat // 3, 3), 48, 150),
            "allocators": measure_allocators(programs["step48"][0], folder, max(arguments.repeat // 3, 3)),
        }
    finally:
        shutil.rmtree(folder)
    show(results)
    arguments.out.parent.mkdir(parents=True, exist_ok=True)
    arguments.out.write_text(json.dumps(results, indent=1) + "\n")
    print(f"\n[bench] written to {arguments.out}")


if __name__ == "__main__":
    main()
