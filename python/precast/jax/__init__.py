"""The cache for JAX: a drop-in for lower-and-compile (docs/jax.md).

    compiled = precast.jax.compile_or_load(jax.jit(step).trace(state, batch))

A hit loads the executable that an earlier process stored, on this process's devices and with this
process's callbacks; anything else compiles as JAX would. Two laws: a hit never gives a wrong answer,
and a fault of the cache never fails a compile that would have worked.
"""

import time
import weakref

import jax

from precast.jax import _config, _request
from precast.jax._config import config
from precast.jax._process import Jitted, Scope, enable, jit, seal
from precast.jax._report import Report
from precast.jax._request import SealedError

__all__ = ["Jitted", "Report", "Scope", "SealedError", "compile_or_load", "config", "enable", "jit",
           "report", "seal"]

_reports = weakref.WeakKeyDictionary()


def _lowered(stage, seconds):
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


def compile_or_load(stage, *, cache=None, devices=None, compiler_options=None,
                    policy="read-write"):
    """Loads the executable of a traced or lowered function from the cache, or compiles and stores it.

    cache: a folder; None: PRECAST_CACHE, else XDG's. devices: must be those of the lowering (JAX
    raises ValueError for others). compiler_options: as of Lowered.compile. policy: "read-write",
    "read-only", "refresh", "offline".

    Gives a jax.stages.Compiled, as stage.compile() does; report(compiled) says what became of it.
    Errors: JAX's own about the compile, unchanged; precast.Error under "offline" without an entry,
    and for input that the core refuses; ValueError for an unknown policy.
    """
    wanted = _config.policy_of(policy)
    seconds = {}
    lowered = _lowered(stage, seconds)
    request = _request.Request(cache=_request.open_cache(cache), policy=wanted,
                               module=lowered.compiler_ir(), seconds=seconds)
    assignment = None if devices is None else tuple(devices)
    with request.active():
        compiled = lowered.compile(compiler_options, device_assignment=assignment)
    _reports[compiled] = request.report or Report(
        "bypass", "compiled_before", "this lowering was compiled in this process before",
        seconds=seconds)
    return compiled


def report(compiled):
    """The Report of a Compiled that compile_or_load gave. KeyError for any other."""
    return _reports[compiled]


if _config.is_on("PRECAST_JAX"):
    enable()
