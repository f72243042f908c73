"""Draws docs/performance.svg, and writes the tables of docs/performance.md, from docs/performance.json.

    make bench BENCH_OPTIONS='--out docs/performance.json' && python3 benchmarks/plot.py

In the page everything between <!-- table: NAME --> and <!-- end --> is replaced.
"""

import json
import pathlib

from picture import BAR, LEFT, RIGHT, ROW, WIDTH, Picture, table, write_tables

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
COLOURS = {"floor": "#9aa5b1", "key": "#e07a5f", "lookup": "#f2cc8f", "verify": "#3d84a8", "load": "#81b29a",
           "compile": "#5f6b7a"}


def median(value):
    return value["median"]


def number(ms):
    return f"{ms:.2f} ms" if ms < 10 else f"{ms:.1f} ms" if ms < 100 else f"{ms:.0f} ms"


def draw(results):
    picture = Picture()
    space = WIDTH - LEFT - RIGHT
    for name, hit in results["hits"].items():
        ratio, above = median(hit["ratio"]), median(hit["above_ms"])
        picture.heading(f"{name}: a hit takes {ratio:.3f} × the floor ({above:+.2f} ms); the compile took "
                        f"{number(hit['compile_ms'])}")
        scale = space / max(median(hit["hit_ms"]), median(hit["floor_ms"]))
        picture.row("bare DeserializeAndLoad", [(median(hit["floor_ms"]), COLOURS["floor"])],
                    number(median(hit["floor_ms"])), scale)
        picture.row("hit", [(median(value), COLOURS[phase]) for phase, value in hit["phases_ms"].items()],
                    number(median(hit["hit_ms"])), scale)
    picture.y += 4
    x = LEFT
    for phase in ("key", "lookup", "verify", "load"):
        picture.parts.append(f'<rect x="{x}" y="{picture.y}" width="{BAR}" height="{BAR}" fill="{COLOURS[phase]}"/>')
        picture.text(x + BAR + 5, phase)
        x += 100
    picture.y += ROW
    picture.heading("key of the 48-layer step")
    keys = results["keys"]
    ours, theirs = median(keys["step48"]["digest_ms"]), median(keys["jax"]["key_ms"])
    picture.row("Precast's digest", [(ours, COLOURS["key"])], number(ours), space / theirs)
    picture.row("JAX's cache key", [(theirs, COLOURS["floor"])], number(theirs), space / theirs)
    picture.heading("load of the 48-layer step by allocator")
    most = max(median(value) for value in results["allocators"].values())
    for name, value in results["allocators"].items():
        picture.row(name, [(median(value), COLOURS["load"])], number(median(value)), space / most)
    return picture


def spread(value):
    """Milliseconds."""
    return f"{number(median(value))} ({value['low']:.2f} to {value['high']:.2f}; {value['least']:.2f})"


def ratio(value):
    return f"{median(value):.3f} ({value['low']:.3f} to {value['high']:.3f})"


def kilobytes(count):
    return f"{count / 1e6:.2f} MB" if count >= 1e6 else f"{count / 1e3:.1f} kB"


def tables(results):
    """The tables of the page, by name."""
    hits, keys, starts = results["hits"], results["keys"], results["starts"]
    machine, constant = results["machine"], results["keys"]["constant"]
    floors = median(results["allocators"]["glibc"])
    phases = list(starts["step48"]["phases_ms"])
    return {
        "machine": table(["", ""], [
            ["CPU", f"{machine['cpu']}, {machine['cores']} cores"], ["memory", f"{machine['memory_gb']} GB"],
            ["system", f"{machine['system']}, Linux {machine['kernel']}"],
            ["plugin", machine["plugin"]], ["Precast", f"{machine['precast']['version']}, {machine['precast']['compiler']}, "
             f"{machine['precast']['allocator']}"],
            ["date", machine["date"]], ["load average at the start", f"{machine['load_average']:.1f}"]]),
        "hits": table(["program", "bytecode", "executable", "compile", "floor", "hit", "hit / floor", "hit − floor"], [
            [name, kilobytes(hit["program_bytes"]), kilobytes(hit["executable_bytes"]), number(hit["compile_ms"]),
             spread(hit["floor_ms"]), spread(hit["hit_ms"]), ratio(hit["ratio"]), spread(hit["above_ms"])]
            for name, hit in hits.items()]),
        "parts": table(["program", "key", "lookup", "verify", "load", "decode alone"], [
            [name, *(spread(hit["phases_ms"][phase]) for phase in ("key", "lookup", "verify", "load")),
             spread(hit["decode_ms"])] for name, hit in hits.items()]),
        **({"misses": table(["program", "trial load", "compile", "beside it", "of it"], list(miss_rows(results)))}
           if "misses" in results else {}),
        **({"wrapped": table(["program", "floor", "compile of the host", "of the floor", "above it"], [
            [name, spread(wrapped["floor_ms"]), spread(wrapped["hit_ms"]), ratio(wrapped["ratio"]), spread(wrapped["above_ms"])]
            for name, wrapped in results["wrapped"].items()])} if "wrapped" in results else {}),
        **({"jax_client": table(["warm, fresh processes", "all compiles", "of the big program"], list(client_rows(results)))}
           if "jax_client" in results else {}),
        "keys": table(["what", "time", ""], [
            [f"digest of the 48-layer step ({kilobytes(keys['step48']['bytes'])}, {keys['step48']['mode']})",
             spread(keys["step48"]["digest_ms"]), f"{keys['step48']['mb_per_s']:.0f} MB/s"],
            [f"JAX {keys['jax']['version']}: cache_key.get of the same lowering", spread(keys["jax"]["key_ms"]),
             f"ours is {keys['jax']['ratio']:.3f} of it"],
            [f"digest of a constant of 1 GiB ({constant['mode']})", spread(constant["digest_ms"]),
             f"{ratio(constant['ratio'])} × SHA-256 of the bytes"],
            ["SHA-256 of those bytes", spread(constant["sha256_ms"]),
             f"peak memory of both: {constant['peak_rss_bytes'] / constant['bytes']:.2f} × the file"]]),
        "starts": table(["phase", *starts], [
            *([phase, *(spread(start["phases_ms"][phase]) for start in starts.values())] for phase in phases),
            [f"**own**: all but {not_own(starts)}", *(spread(start["own_ms"]) for start in starts.values())],
            ["before and after main", *(spread(start["outside_main_ms"]) for start in starts.values())]]),
        "allocators": table(["allocator", "load of the 48-layer step", "of glibc's"], [
            [name, spread(value), f"{median(value) / floors:.3f}"] for name, value in results["allocators"].items()]),
        "lean": table(["program", "bytes", "load", "of the full one's time"], [
            [name, f"{hit['lean_bytes'] / hit['executable_bytes']:.3f} of {kilobytes(hit['executable_bytes'])}",
             spread(hit["lean_ms"]), ratio(hit["lean_ratio"])] for name, hit in hits.items()]),
    }


def client_rows(results):
    client = results["jax_client"]
    for way, name in (("precast", "through the wrapper"), ("jax", "JAX's own cache")):
        yield [name, *(f"{median(client[way][what]):.2f} s (least {client[way][what]['least']:.2f})" for what in ("compile_s", "big_s"))]
    yield ["wrapper / JAX's own cache", ratio(client["ratio"]), ""]
    yield ["share of JAX around the wrapper", ratio(client["around_share"]), ""]
    yield ["turning the modules into VHLO, alone", f"{median(client['precast']['convert_s']):.2f} s", ""]
    yield ["the wrapper, for each hit", spread(client["wrapper_ms_per_hit"]), ""]


def miss_rows(results):
    for name, ways in results["misses"].items():
        for way, miss in ways.items():
            yield [name, way.replace("_", " "), spread(miss["compile_ms"]), spread(miss["beside_ms"]),
                   f"{100 * median(miss['ratio']):.2f} %"]


def not_own(starts):
    names = next(iter(starts.values())).get("not_own", ("open_plugin", "create_client", "load", "transfer", "run", "fetch"))
    return ", ".join({"open_plugin": "plugin", "create_client": "client"}.get(name, name) for name in names)


def main():
    results = json.loads((DOCS / "performance.json").read_text())
    draw(results).save(DOCS / "performance.svg")
    write_tables(DOCS / "performance.md", tables(results))


if __name__ == "__main__":
    main()
