"""Compiles the ranker once, then loads it in fresh processes and on other devices; needs no JAX.

    build/venv/bin/python examples/ranker/demo.py [--precast FILE] [--work FOLDER]

Every step is a process of its own that runs the `precast` command.  The scores are compared with
those that JAX computed when the example was made.  Exits with 1 when anything is not as it should be.
"""

import argparse
import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import time

import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
PROGRAM = HERE / "ranker.mlirbc"
TOLERANCE = 1e-5
OTHER_DEVICES = (1, 2, 3)

# In the order in which they happen; the first group is what takes the place of a compile.
COMPILE_OR_LOAD = ("lookup", "verify", "compile", "serialize", "encode", "prove", "publish", "record", "load")
PHASES = ("open_plugin", "create_client", "key", *COMPILE_OR_LOAD, "transfer", "run")


class DemoError(Exception):
    """Something is not as the demo promises; the message is for the reader."""


def expect(condition, message):
    if not condition:
        raise DemoError(message)


def styled(code, text):
    """The text in bold, green, ... on a terminal whose user has not declined colours."""
    plain = not sys.stdout.isatty() or os.environ.get("NO_COLOR") or os.environ.get("TERM") == "dumb"
    return text if plain else f"\033[{code}m{text}\033[0m"


def shown(path):
    """The path as the reader would type it here."""
    relative = os.path.relpath(path)
    return str(path) if relative.startswith("..") else relative


def size(count):
    return f"{count / 1000:,.0f} kB"


def child_environment():
    """The user's environment, without settings that would change what the demo shows."""
    env = {k: v for k, v in os.environ.items() if not k.startswith(("PRECAST_", "PJRT_NAMES_AND"))}
    if sys.prefix != sys.base_prefix:
        env["VIRTUAL_ENV"] = sys.prefix  # where `precast` finds the CPU plugin
    return env


class Demo:
    def __init__(self, precast, work):
        self.precast = precast
        self.cache = work / "cache"
        self.results = work / "results"
        self.inputs = sorted((HERE / "inputs").glob("*.npy"))
        self.expected = np.load(HERE / "expected" / "00_scores.npy")
        self.first_scores = None

    def start_empty(self):
        for folder in (self.cache, self.results):
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir(parents=True)

    def run(self, what, device):
        """One process: runs a program or an artifact on one device, and checks the scores."""
        out = self.results / f"{len(list(self.results.iterdir())) + 1}-device-{device}"
        command = [self.precast, "run", what, "--devices", device]
        if what == PROGRAM:  # an artifact is loaded as it is, without a cache
            command += ["--cache", self.cache]
        for path in self.inputs:
            command += ["--input", path]
        command = [str(part) for part in command + ["--out", out, "--json"]]
        start = time.perf_counter()
        done = subprocess.run(command, capture_output=True, text=True, env=child_environment())
        wall_ms = (time.perf_counter() - start) * 1000
        expect(
            done.returncode == 0,
            f"this command ended with {done.returncode}:\n  {shlex.join(command)}\n{done.stderr}",
        )
        try:
            report = json.loads(done.stdout)
        except json.JSONDecodeError as error:
            raise DemoError(f"precast printed no JSON ({error}):\n{done.stdout}") from None
        report["wall_ms"] = wall_ms
        self.check_scores(report, device)
        return report

    def check_scores(self, report, device):
        outputs = report["outputs"]
        expect(len(outputs) == 1, f"expected one output on one device, not {len(outputs)}")
        expect(outputs[0]["device"] == device, f"the output is on device {outputs[0]['device']}")
        scores = np.load(outputs[0]["file"], allow_pickle=False)
        expect(
            (scores.dtype, scores.shape) == (self.expected.dtype, self.expected.shape),
            f"the scores are {scores.dtype}{list(scores.shape)}, "
            f"JAX's are {self.expected.dtype}{list(self.expected.shape)}",
        )
        difference = float(np.max(np.abs(scores - self.expected)))
        expect(  # Written so that a NaN fails too.
            difference <= TOLERANCE,
            f"scores on device {device} differ from JAX's by {difference:.3g}, more than {TOLERANCE}",
        )
        if self.first_scores is None:
            self.first_scores = scores
        expect(
            scores.tobytes() == self.first_scores.tobytes(),
            f"the scores on device {device} are not bit-equal to the first ones",
        )
        report["difference"] = difference


def expect_outcome(report, outcome):
    expect(
        report["outcome"] == outcome,
        f"expected a {outcome}, but it was a {report['outcome']}: {report.get('reason', '')}",
    )


def expect_no_compile(report):
    expect("compile" not in report["phases_ms"], "this process compiled, but should only load")


def say_step(number, text):
    print(f"\n{styled('1', f'{number}. {text}')}")


def say_result(text, report):
    print(f"   {text}; {report['wall_ms']:.0f} ms for the whole process")
    print(f"   {styled('32', 'ok')}: scores within {report['difference']:.1e} of JAX's")


def milliseconds(value):
    return "-" if value is None else f"{value:,.1f}"


def print_row(name, cold, warm, style=None):
    ratio = f"{cold / warm:,.1f}x" if cold is not None and warm else ""
    row = f"   {name:<24}{milliseconds(cold):>12}{milliseconds(warm):>12}{ratio:>12}".rstrip()
    print(styled(style, row) if style else row)


def print_table(cold, warm):
    print(styled("1", f"\n   {'milliseconds':<24}{'cold':>12}{'warm':>12}{'ratio':>12}"))
    before, after = cold["phases_ms"], warm["phases_ms"]
    happened = [name for name in PHASES if name in before or name in after]
    others = (before.keys() | after.keys()) - set(PHASES) - {"total"}
    for name in happened + sorted(others):
        print_row(name, before.get(name), after.get(name))
    print("   " + "-" * 60)
    sums = [sum(p.get(name, 0.0) for name in COMPILE_OR_LOAD) for p in (before, after)]
    print_row("compile-or-load", *sums, style="1")
    print_row("whole process", cold["wall_ms"], warm["wall_ms"], style="1")
    print(f"\n   compile-or-load is everything from {COMPILE_OR_LOAD[0]} to {COMPILE_OR_LOAD[-1]}.")


def show(demo):
    demo.start_empty()
    batch, candidates = demo.expected.shape
    print(styled("1", "Precast: a ranking transformer, compiled once and loaded everywhere"))
    print(f"   program   {shown(PROGRAM)}, {size(PROGRAM.stat().st_size)} of StableHLO")
    print(f"   inputs    {len(demo.inputs)} arrays: a request, and the weights as arguments")
    print(f"   result    scores for {batch} users x {candidates} candidates")
    print(f"   cache     {shown(demo.cache)}, empty")

    say_step(1, "A first process finds nothing, so it compiles, publishes and runs.")
    cold = demo.run(PROGRAM, device=0)
    expect_outcome(cold, "miss")
    artifact = pathlib.Path(cold["artifact"])
    expect(artifact.is_file(), f"there is no artifact at {artifact}")
    sizes = cold["bytes"]
    say_result(f"miss, compiled in {cold['phases_ms']['compile']:.0f} ms", cold)
    print(f"   artifact of {size(sizes['artifact'])}, executable of {size(sizes['executable'])}:")
    print(f"   {shown(artifact)}")

    say_step(2, "A second, fresh process finds the artifact and loads it: no compile.")
    warm = demo.run(PROGRAM, device=0)
    expect_outcome(warm, "hit")
    expect_no_compile(warm)
    expect(warm["key"] == cold["key"], "the second process computed another key")
    say_result(f"hit, loaded in {warm['phases_ms']['load']:.0f} ms", warm)

    say_step(3, "The same on the client's other devices, each in a process of its own.")
    for device in OTHER_DEVICES:
        report = demo.run(PROGRAM, device)
        expect_outcome(report, "hit")
        expect_no_compile(report)
        expect(report["key"] == cold["key"], f"device {device} has another key")
        load = f"device {device}: hit, loaded in {report['phases_ms']['load']:.0f} ms"
        say_result(load, report)

    say_step(4, "The artifact alone, without the program, on the last device.")
    alone = demo.run(artifact, OTHER_DEVICES[-1])
    expect_no_compile(alone)
    say_result(f"loaded in {alone['phases_ms']['load']:.0f} ms", alone)

    say_step(5, "What the cache saves: the first process (cold) and the second (warm).")
    print_table(cold, warm)
    runs = 3 + len(OTHER_DEVICES)
    print(f"   All {runs} processes gave the same bits, on devices 0 to {OTHER_DEVICES[-1]}.")
    print(styled("1;32", "\nDemo passed."))


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument(
        "--precast", type=pathlib.Path, default=ROOT / "build" / "bin" / "precast", metavar="FILE"
    )
    parser.add_argument(
        "--work",
        type=pathlib.Path,
        default=ROOT / "build" / "demo",
        metavar="FOLDER",
        help="its subfolders cache and results are emptied first",
    )
    options = parser.parse_args()
    sys.stdout.reconfigure(line_buffering=True)
    try:
        expect(options.precast.is_file(), f"no {options.precast}; `make build` makes it")
        show(Demo(options.precast.absolute(), options.work.absolute()))
    except DemoError as error:
        print(f"\n{styled('1;31', 'Demo failed')}: {error}", file=sys.stderr)
        return 1
    except KeyError as error:
        print(f"\nDemo failed: precast's report has no {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
