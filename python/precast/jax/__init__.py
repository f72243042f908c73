"""The cache for JAX: a drop-in for lower-and-compile (docs/jax.md).

    compiled = precast.jax.compile_or_load(jax.jit(step).trace(state, batch))

A hit loads the executable that an earlier process stored, on this process's devices and with this
process's callbacks; anything else compiles as JAX would. Two laws: a hit never gives a wrong answer,
and a fault of the cache never fails a compile that would have worked.
"""

from precast.jax import _config, _placed, _request, _serve
from precast.jax._binding import register_static
from precast.jax._config import config
from precast.jax._explain import explain
from precast.jax._many import Executables, Spec, compile_or_load_all, that_asks as _that_asks
from precast.jax._process import Jitted, Scope, enable, jit, seal
from precast.jax._registry import Registered, Registry
from precast.jax._report import Report
from precast.jax._request import SealedError
from precast.jax._saved import Loaded, load, save

__all__ = ["Executables", "Jitted", "Loaded", "Registered", "Registry", "Report", "Scope",
           "SealedError", "Spec", "compile_or_load", "compile_or_load_all", "config", "enable", "explain",
           "jit", "load", "register_static", "report", "save", "seal"]


def compile_or_load(stage, *, cache=None, devices=None, compiler_options=None,
                    policy="read-write"):
    """Loads the executable of a traced or lowered function from the cache, or compiles and stores it.

    cache: a folder; None: PRECAST_CACHE, else XDG's. devices: where to run, one for each position of
    the lowering, in a list or an array; None: where it was lowered for. compiler_options: as of Lowered.compile. policy:
    "read-write", "read-only", "refresh", "offline".

    Gives a jax.stages.Compiled, as stage.compile() does; report(compiled) says what became of it.
    Errors: JAX's own about the compile, unchanged; precast.Error under "offline" without an entry,
    and for input that the core refuses; ValueError for an unknown policy, and for devices on which
    this lowering cannot run.
    """
    wanted = _config.policy_of(policy)
    seconds, devices = {}, _placed.listed(devices)
    lowered = _placed.on_devices(_serve.lower(stage, seconds, devices), devices)
    opened = _request.open_cache(cache)
    lowered = _that_asks(lowered, policy, opened)
    request = _request.Request(cache=opened, policy=wanted,
                               module=lowered.compiler_ir(), seconds=seconds)
    with request.active():
        return _serve.compile_lowered(request, lowered, compiler_options)[0]


def report(compiled):
    """The Report of a Compiled that compile_or_load or compile_or_load_all gave. KeyError for any other."""
    return _serve.reports[compiled]


if _config.is_on("PRECAST_JAX"):
    enable()
