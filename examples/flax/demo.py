"""Training that is killed and restarted on other devices: without a cache, with JAX's and with Precast.

    build/train-venv/bin/python examples/flax/demo.py [--work FOLDER] [--write]

Every trainer (trainer.py) is a process of its own. It is killed by SIGKILL in the middle, and a new one goes on from the last
checkpoint on four other devices. All losses, before and after, are compared bit for bit with those of a run that nobody
disturbed. Exits with 1 when anything is not as it should be. --write draws docs/train.svg and the README's table.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[1]
sys.path.insert(0, str(ROOT / "benchmarks"))

from picture import BAR, LEFT, RIGHT, ROW, WIDTH, Picture, table, write_tables  # noqa: E402

PACKAGE = ROOT / "build" / "python" / "jax-venv"
BEFORE, AFTER = "0,1,2,3", "4,5,6,7"
LAST, KILLED_AFTER = 12, 6  # steps; the checkpoint before the kill is that of step 4
COLOURS = {"import": "#9aa5b1", "devices": "#c8d0d8", "trace": "#f2cc8f", "lower": "#e9b44c", "key": "#e07a5f",
           "load": "#81b29a", "compile": "#5f6b7a", "restore": "#3d84a8", "first step": "#a78bba"}


class DemoError(Exception):
    """Something is not as the demo promises; the message is for the reader."""


def expect(condition, message):
    if not condition:
        raise DemoError(message)


def environment(work):
    """The user's environment, without settings that would change what the demo shows; eight devices."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PRECAST_", "JAX_", "XLA_", "PJRT_", "XDG_"))}
    return {**kept, "PYTHONPATH": str(PACKAGE), "JAX_PLATFORMS": "cpu", "XDG_STATE_HOME": str(work / "state"),
            "XLA_FLAGS": "--xla_force_host_platform_device_count=8", "PYTHONDONTWRITEBYTECODE": "1"}


def train(work, name, devices, cache="none", kill_after=None):
    """One process; what it said: its losses by step, bit for bit, and the seconds of its phases."""
    folder, log = work / name, work / f"{name}.{devices[0]}.log"
    command = [sys.executable, str(HERE / "trainer.py"), "--work", str(folder), "--devices", devices, "--steps", str(LAST),
               "--cache", cache, "--cache-folder", str(work / "cache" / cache), "--started", repr(time.time())]
    bits, first = {}, None
    with open(log, "w", encoding="utf-8") as errors, subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=errors, text=True, env=environment(work)) as process:
        for line in process.stdout:
            said = json.loads(line)
            if "phases" in said:
                first = said
            elif "step" in said:
                bits[said["step"]] = said["bits"]
                if said["step"] == kill_after:
                    process.kill()
                    break
    killed = process.returncode == -signal.SIGKILL
    expect(killed if kill_after else process.returncode == 0,
           f"the trainer '{name}' on the devices {devices} ended with {process.returncode}; what it said is in {log}")
    expect(first is not None, f"the trainer '{name}' said nothing of its phases; what else it said is in {log}")
    return {"bits": bits, **first}


def total(run):
    return sum(run["phases"].values())


def show(text, run, wanted, say):
    """Compares the losses, and says what came of a process."""
    for step, bits in run["bits"].items():
        expect(bits == wanted[step], f"{text}: the loss of step {step} is {bits}, and {wanted[step]} in the run that nobody "
               "disturbed (the bytes of a float32, in hexadecimal)")
    steps = sorted(run["bits"])
    outcome = f", {run['outcome']}" if run["outcome"] else ""
    say(f"   {text}: steps {steps[0]} to {steps[-1]}, first step after {total(run):.1f} s{outcome}")


def play(work, say):
    """All processes in turn: the restarts, by what they are called."""
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    say("1. A run that nobody disturbs, without a cache, on the devices 0 to 3.")
    calm = train(work, "calm", BEFORE)
    expect(sorted(calm["bits"]) == list(range(1, LAST + 1)), f"the calm run has the steps {sorted(calm['bits'])}")
    show("calm", calm, calm["bits"], say)

    say(f"2. Killed by SIGKILL after step {KILLED_AFTER}, restarted on the devices 4 to 7.")
    restarts = {}
    for cache, name in (("none", "no cache"), ("jax", "JAX's cache"), ("precast", "Precast")):
        show(f"{name}, before", train(work, cache, BEFORE, cache, KILLED_AFTER), calm["bits"], say)
        if cache == "jax":  # Its key has the devices in it, so it is shown where it can hit as well.
            shutil.copytree(work / cache, work / "jax-same")
            restarts["JAX's, same devices"] = train(work, "jax-same", BEFORE, cache)
        restarts[name] = train(work, cache, AFTER, cache)
    for name, run in restarts.items():
        expect(run["restored"] == 4, f"{name} restored the checkpoint {run['restored']} and not 4")
        show(f"{name}, restarted", run, calm["bits"], say)
    expect(restarts["Precast"]["outcome"] == "hit", f"Precast's restart was a {restarts['Precast']['outcome']}")
    order = ("no cache", "JAX's cache", "JAX's, same devices", "Precast")
    return {name: restarts[name]["phases"] for name in order}


def seconds(value):
    return "-" if not value else f"{value:.2f}"


def rows(restarts):
    """A row for each phase, and their sum."""
    for phase in COLOURS:
        yield [phase, *(seconds(run.get(phase)) for run in restarts.values())]
    yield ["**to the end of the first step**", *(f"**{sum(run.values()):.2f}**" for run in restarts.values())]


def print_table(restarts, say):
    say("3. Seconds from the start of the new process to the end of its first step.")
    widths = [len(name) + 3 for name in restarts]
    for name, *values in [["", *restarts], *rows(restarts)]:
        say(f"   {'all' if name.startswith('**') else name:<12}"
            + "".join(f"{value.strip('*'):>{width}}" for value, width in zip(values, widths)))


def draw(restarts):
    picture = Picture()
    picture.heading("a trainer after SIGKILL: seconds from its start to the end of its first step")
    scale = (WIDTH - LEFT - RIGHT) / max(sum(run.values()) for run in restarts.values())
    for name, run in restarts.items():
        picture.row(name, [(run.get(phase, 0.0), colour) for phase, colour in COLOURS.items()],
                    f"{sum(run.values()):.1f} s", scale)
    picture.y += 6
    x = 20
    for phase, colour in COLOURS.items():
        picture.parts.append(f'<rect x="{x}" y="{picture.y}" width="{BAR}" height="{BAR}" fill="{colour}"/>')
        picture.text(x + BAR + 4, phase)
        x += 80
    picture.y += ROW
    return picture


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=pathlib.Path, default=ROOT / "build" / "demo-train", metavar="FOLDER",
                        help="is emptied first")
    parser.add_argument("--json", type=pathlib.Path, metavar="FILE", help="write the seconds there as well")
    parser.add_argument("--write", action="store_true", help="draw docs/train.svg, and write the README's table")
    options = parser.parse_args()

    def say(text):
        print(text, flush=True)

    try:
        say("Precast: the ranker trained with flax and optax, killed, and restarted on other devices")
        restarts = play(options.work.absolute(), say)
    except DemoError as error:
        print(f"\nDemo failed: {error}", file=sys.stderr)
        return 1
    print_table(restarts, say)
    if options.json:
        options.json.write_text(json.dumps(restarts, indent=1) + "\n")
    if options.write:
        draw(restarts).save(ROOT / "docs" / "train.svg")
        write_tables(ROOT / "README.md", {"train": table(["seconds", *restarts], list(rows(restarts)))})
    say("\nDemo passed: all losses are the same, bit for bit.")
    return 0


if __name__ == "__main__":
    sys.exit(main())
