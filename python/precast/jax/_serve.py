"""From a stage of JAX to a Compiled and its Report."""

import time
import weakref

import jax

from precast.jax import _binding, _call, _placed, _private, _request
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
            if not devices or "lowering_platforms" not in str(error):
                raise
            lowered = stage.lower(lowering_platforms=(devices[0].platform,))
        seconds["lower"] = time.perf_counter() - start
        _private.remember_function(lowered, stage)
        return lowered
    raise TypeError(f"compile_or_load takes a jax.stages.Traced or Lowered, not {type(stage)}: "
                    "jax.jit(function).trace(*args) gives one")


def compile_lowered(request, lowered, compiler_options):
    """(Compiled, Report) of a lowering whose request is active."""
    request.describe(lowered)
    compiled = lowered.compile(compiler_options)
    report = request.report or Report(
        "bypass", "compiled_before", "this lowering was compiled in this process before",
        seconds=request.seconds)
    if report._calling is None:  # pylint: disable=protected-access
        report._calling = request.calling  # pylint: disable=protected-access
    compiled = _call.named(compiled, _retracer(request, lowered, report, compiler_options))
    reports[compiled] = report
    return compiled, report


def _retracer(request, lowered, report, compiler_options):
    """What Compiled.retrace does; None where the function is not known."""
    function = _private.function_of(lowered)
    if function is None:
        return None
    request_of, devices = request.again(), _private.devices_of_lowering(lowered)

    def retrace(compiled, args, kwargs):
        if report.key is None:
            raise ValueError(f"the executable has no key ({report.outcome}, {report.reason})")
        again = _placed.on_devices(function.trace(*args, **kwargs).lower(), devices)
        asked = request_of(again, _request.KeyRequest)
        key = asked.said_of(again, compiler_options)["key"]
        if key != report.key:
            raise ValueError(f"it is another program (key {key}, not {report.key})")
        if asked.binding != report.binding:
            raise ValueError("it is called in another way: " + "; ".join(_binding.differences(
                _binding.Binding(report.binding_record), _binding.of_lowered(again))))
        if report.binding_record["writes_to_references"]:
            raise ValueError("it writes to references, and the executable has its own")
        if report.binding_record["callbacks"] == 0:
            return _private.rebound(compiled, again)
        # The executable calls the functions of the other static data.
        with request_of(again).active():
            return again.compile(compiler_options)

    return retrace
