"""From a stage of JAX to a Compiled and its Report."""

import time
import weakref

import jax

from precast.jax._report import Report

reports = weakref.WeakKeyDictionary()  # of every Compiled that was asked for by a call


def lower(stage, seconds, devices=None):
    """A Lowered of what the caller gave. TypeError for anything else.

    devices: where it is to run, as far as that is known: only they say for which platform a function
    with abstract meshes alone is to be lowered."""
    if isinstance(stage, jax.stages.Lowered):
        return stage
    if isinstance(stage, jax.stages.Traced):
        start = time.perf_counter()
        try:
            lowered = stage.lower()
        except ValueError as error:
            if devices is None or len(devices) == 0 or "lowering_platforms" not in str(error):
                raise
            lowered = stage.lower(lowering_platforms=(devices[0].platform,))
        seconds["lower"] = time.perf_counter() - start
        return lowered
    raise TypeError(f"compile_or_load takes a jax.stages.Traced or Lowered, not {type(stage)}: "
                    "jax.jit(function).trace(*args) gives one")


def compile_lowered(request, lowered, compiler_options):
    """(Compiled, Report) of a lowering whose request is active."""
    compiled = lowered.compile(compiler_options)
    report = request.report or Report(
        "bypass", "compiled_before", "this lowering was compiled in this process before",
        seconds=request.seconds)
    reports[compiled] = report
    return compiled, report
