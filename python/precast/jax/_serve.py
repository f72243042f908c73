"""From a stage of JAX to a Compiled and its Report."""

import time
import weakref

import jax

from precast.jax._report import Report

reports = weakref.WeakKeyDictionary()  # of every Compiled that was asked for by a call


def lower(stage, seconds):
    """A Lowered of what the caller gave. TypeError for anything else."""
    if isinstance(stage, jax.stages.Lowered):
        return stage
    if isinstance(stage, jax.stages.Traced):
        start = time.perf_counter()
        lowered = stage.lower()
        seconds["lower"] = time.perf_counter() - start
        return lowered
    raise TypeError(f"compile_or_load takes a jax.stages.Traced or Lowered, not {type(stage)}: "
                    "jax.jit(function).trace(*args) gives one")


def compile_lowered(request, lowered, compiler_options, devices):
    """(Compiled, Report) of a lowering whose request is active."""
    assignment = None if devices is None else tuple(devices)
    compiled = lowered.compile(compiler_options, device_assignment=assignment)
    report = request.report or Report(
        "bypass", "compiled_before", "this lowering was compiled in this process before",
        seconds=request.seconds)
    reports[compiled] = report
    return compiled, report
