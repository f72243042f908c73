"""The cache for compiles that no call names: all of a process, or those of one function."""

import functools
import logging
import threading
import types

import jax

from precast.jax import _config, _durations, _request
from precast.jax._report import say


class Scope:
    """What an enable() or seal() began. As a context manager it ends there; otherwise it stays."""

    def __init__(self, undo):
        self._undo = undo

    def close(self):
        """Back to what was before. Idempotent."""
        undo, self._undo = self._undo, None
        if undo is not None:
            undo()

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.close()


class _Open:
    """The scopes of one kind that are open, in whatever order they end: the last one that began counts."""

    def __init__(self, put):
        self._put = put  # gives what was in force before
        self._lock = threading.Lock()
        self._values = []

    def begin(self, value):
        """A Scope in which `value` is in force; none of the open ones: what was before the first."""
        one = [value]
        with self._lock:
            before = self._put(value)
            if not self._values:
                self._values.append([before])
            self._values.append(one)
        return Scope(lambda: self._end(one))

    def _end(self, one):
        with self._lock:
            self._values = [other for other in self._values if other is not one]
            self._put(self._values[-1][0])
            if len(self._values) == 1:
                self._values = []


_enabled = _Open(_request.set_process_wide)
_sealed = _Open(_request.set_sealed)


def enable(cache=None, *, policy="read-write", min_compile_secs=0):
    """From here on every compile of this process is a compile-or-load, also those of jax.jit.

    cache, policy: as of compile_or_load. min_compile_secs: what compiles faster is not stored.
    Of several that have not ended the last one counts. With PRECAST_JAX=1 importing precast.jax
    does it. Gives a context manager that ends it; a call without `with` lasts as long as the
    process."""
    wanted = _config.policy_of(policy)
    opened = _request.open_cache(cache, min_compile_ms=min_compile_secs * 1e3)
    return _enabled.begin(lambda module: _request.Request(cache=opened, policy=wanted, module=module))


def seal(on_compile="error"):
    """From here on this process compiles nothing: executables come from the cache or were there before.

    on_compile: "error" raises SealedError where JAX would compile; "warn" logs and compiles. For
    serving, after the warm-up. Gives a context manager, as enable()."""
    if on_compile not in ("error", "warn"):
        raise ValueError(f'on_compile is "error" or "warn", not {on_compile!r}')
    return _sealed.begin(on_compile)


def name_as(wrapper, fun):
    """Gives `wrapper` the names and the words of `fun`, and __wrapped__; none of its attributes, which may
    be named as the wrapper's own are."""
    functools.update_wrapper(wrapper, fun, assigned=("__module__", "__name__", "__qualname__", "__doc__"),
                             updated=())


class Jitted:
    """What jit() gives. Everything that is not here is that of jax.jit's function."""

    def __init__(self, fun, *, cache, policy, name, on_mismatch, jit_kwargs):
        self._made_of = (fun, cache, policy, name, on_mismatch, jit_kwargs)
        self._jitted = jax.jit(fun, **jit_kwargs)
        self._cache = cache
        self._policy = _config.policy_of(policy)
        self._on_mismatch = on_mismatch
        self._served = 0
        self.reports = []  # one Report for each signature that was compiled or loaded
        name_as(self, fun)
        if name is not None:
            self.__name__ = name

    def __call__(self, *args, **kwargs):
        token = _durations.begin()
        try:
            with _request.ambient(self._make):
                return self._jitted(*args, **kwargs)
        finally:
            _durations.end(token)

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __getattr__(self, name):
        if name == "_jitted":  # of one that is just being made
            raise AttributeError(name)
        return getattr(self._jitted, name)

    def __copy__(self):
        return _jitted_of(*self._made_of)

    def __deepcopy__(self, memo):
        return self.__copy__()  # of the same function, as copies of what jax.jit gives

    def __reduce__(self):
        return _jitted_of, self._made_of

    def _make(self, module):
        # The opening of the cache waits for the first compile, as JAX's backends do.
        return _request.Request(cache=_request.open_cache(self._cache), policy=self._policy,
                                module=module, label=self.__name__, begin=self._begin,
                                seconds=_durations.of_last_lowering(),
                                end=self.reports.append)

    def _begin(self, module_name):
        if module_name != "jit_" + getattr(self._jitted, "__name__", self.__name__):
            return  # an operation that tracing did at once
        self._served += 1
        if self._served == 1 or self._on_mismatch == "compile":
            return
        text = (f"{self.__name__} was called with a new signature, number {self._served} "
                f"(on_mismatch={self._on_mismatch!r})")
        if self._on_mismatch == "error":
            raise TypeError(text)
        say(logging.WARNING, "%s", text)


def _jitted_of(fun, cache, policy, name, on_mismatch, jit_kwargs):
    return Jitted(fun, cache=cache, policy=policy, name=name, on_mismatch=on_mismatch, jit_kwargs=jit_kwargs)


def jit(fun=None, *, name=None, on_mismatch="compile", cache=None, policy="read-write",
        **jit_kwargs):
    """A drop-in for jax.jit whose compiles are compile-or-loads.

    Calls, tracing, lowering, tracers and transformations are jax.jit's own. Each new signature is
    one request, logged and kept in `.reports`. on_mismatch says what a signature after the first
    one does: "compile", "warn" or "error" (TypeError). name: for logs and statistics."""
    if on_mismatch not in ("compile", "warn", "error"):
        raise ValueError(f'on_mismatch is "compile", "warn" or "error", not {on_mismatch!r}')
    _config.policy_of(policy)
    make = functools.partial(Jitted, cache=cache, policy=policy, name=name, on_mismatch=on_mismatch,
                             jit_kwargs=jit_kwargs)
    return make if fun is None else make(fun)
