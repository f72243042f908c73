"""What JAX itself measured of a call of jax.jit: its trace and its lowering.

A Traced or Lowered that a caller brings was made before Precast was asked, so that nothing is known
of it. A call through precast.jax.jit() traces, lowers and compiles in one thread, and JAX records
both durations on the way.
"""

import contextvars

from precast.jax import _private

_heard = contextvars.ContextVar("precast_durations", default=None)  # function's name -> seconds of the trace
_listening = False
_LOWERED = object()  # the key of (function's name, seconds) of the last lowering


def _listen(event, seconds, fun_name="", **_):
    heard = _heard.get()
    if heard is None:
        return
    if event == _private.TRACE_EVENT:
        heard[fun_name] = seconds  # what is nested ends before
    elif event == _private.LOWER_EVENT:
        heard[_LOWERED] = (fun_name.removeprefix("jit(").removesuffix(")"), seconds)


def begin():
    """Hears the durations of this context from here on; what end() takes."""
    global _listening  # pylint: disable=global-statement
    if not _listening:
        _listening = True
        _private.listen_to_durations(_listen)
    return _heard.set({})


def end(token):
    """The opposite of begin()."""
    _heard.reset(token)


def of_last_lowering():
    """Seconds by phase, "trace" and "lower", of the lowering that a compile follows; {} where nobody heard it."""
    heard = _heard.get() or {}
    name, lower = heard.pop(_LOWERED, (None, None))
    trace = heard.pop(name, None)
    found = {"trace": trace, "lower": lower}
    return {phase: seconds for phase, seconds in found.items() if seconds is not None}
