"""The programs of a training job by name: registered where they are written, compiled or loaded at once.

    programs = Registry()

    @programs.register("apply_grad", args=(state_avals, grad_avals), phase="late", donate_argnums=0)
    def apply_grad(state, grads): ...

    programs.compile_or_load(phases=("early",))     # before the data is there
    ...
    programs.compile_or_load(phases=("late",))
    state = apply_grad(state, grads)                # the compiled one; before that, jax.jit's
"""

import contextlib
import inspect
import time
import types

import jax

from precast.jax import _config, _private
from precast.jax._many import Executables, Spec, compile_or_load_all
from precast.jax._process import name_as

PHASES = ("early", "late")


class _Static:
    """The static arguments of a jax.jit function, which a Compiled does not take."""

    def __init__(self, jitted, fun):
        self._numbers, self._names = _private.static_arguments(jitted)
        try:
            parameters = inspect.signature(fun).parameters.values()
        except (TypeError, ValueError):  # of C, without one
            parameters = ()
        self._positional = [one.name for one in parameters
                            if one.kind in (one.POSITIONAL_ONLY, one.POSITIONAL_OR_KEYWORD)]
        self._defaults = {one.name: one.default for one in parameters if one.default is not one.empty}

    def __bool__(self):
        return bool(self._numbers or self._names)

    def split(self, args, kwargs):
        """(args, kwargs, static values) of a call: by name where the argument has one, else by number."""
        numbers = {number if number >= 0 else number + len(args) for number in self._numbers}
        values = {self._name(number): self._defaults[self._name(number)] for number in numbers
                  if self._name(number) in self._defaults}
        values.update((name, self._defaults[name]) for name in self._names if name in self._defaults)
        values.update((self._name(number), args[number]) for number in numbers if number < len(args))
        values.update((name, kwargs[name]) for name in self._names if name in kwargs)
        return (tuple(one for number, one in enumerate(args) if number not in numbers),
                {name: one for name, one in kwargs.items() if name not in self._names}, values)

    def _name(self, number):
        return self._positional[number] if number < len(self._positional) else number


def _same(one, other):
    return one is other or type(one) is type(other) and one == other


class Registered:
    """A function of a registry. Calls go to what was compiled for its avals once that is there, and to
    jax.jit before, under tracing, under jax.disable_jit(), and with the cache off."""

    def __init__(self, registry, fun, name, phase, args, kwargs, spec, jit_kwargs):
        self._registry = registry
        self._jitted = jax.jit(fun, **jit_kwargs)
        self._args, self._kwargs, self._spec = args, kwargs, spec
        self._compiled = None
        self._static = _Static(self._jitted, fun)
        self.name, self.phase = name, phase
        name_as(self, fun)

    @property
    def compiled(self):
        """The jax.stages.Compiled that calls go to; None before compile_or_load() gave one."""
        return self._compiled

    def trace(self):
        """The jax.stages.Traced of the registered avals, under the registry's mesh."""
        with self._registry.mesh_context():
            return self._jitted.trace(*self._args, **self._kwargs)

    def timed_spec(self):
        """The Spec of a new trace, and what it took."""
        start = time.perf_counter()
        traced = self.trace()
        return Spec(traced, **self._spec, _trace_seconds=time.perf_counter() - start)

    def lower(self):
        """The jax.stages.Lowered of the registered avals."""
        return self.trace().lower()

    def __call__(self, *args, **kwargs):
        # A Compiled takes arrays alone.
        traced = any(isinstance(leaf, jax.core.Tracer) for leaf in jax.tree.leaves((args, kwargs)))
        if self._compiled is None or traced or jax.config.jax_disable_jit:
            with self._registry.mesh_context():
                return self._jitted(*args, **kwargs)
        if self._static:
            args, kwargs = self._without_static(args, kwargs)
        return self._compiled(*args, **kwargs)

    def _without_static(self, args, kwargs):
        """What the Compiled takes of a call. TypeError for static arguments that it is not compiled for."""
        args, kwargs, values = self._static.split(args, kwargs)
        compiled_for = self._static.split(self._args, self._kwargs)[2]
        if values.keys() != compiled_for.keys() or \
                not all(_same(one, compiled_for[name]) for name, one in values.items()):
            raise TypeError(f"the program '{self.name}' was compiled for the static arguments {compiled_for}, and is "
                            f"called with {values}; register another program for these")
        return args, kwargs

    def __get__(self, instance, owner=None):
        return self if instance is None else types.MethodType(self, instance)

    def __reduce__(self):
        return self.__qualname__  # by its name, as functions; so a copy is the function itself


class Registry:
    """Functions by name. mesh: what they are traced and called under; None: whatever is in force."""

    def __init__(self, mesh=None):
        self._mesh = mesh
        self._functions = {}

    def register(self, name, *, args=(), kwargs=None, phase="early", compiler_options=None,
                 add_location_info=False, annotations_file=None, **jit_kwargs):
        """Decorates a function: it becomes a Registered.

        args, kwargs: the avals (jax.ShapeDtypeStruct, or arrays) that it is compiled for, as trees
        like those of the calls. phase: "early" or "late", when it is compiled. The rest is as of Spec
        and jax.jit. ValueError for a name that is taken and for an unknown phase."""
        if name in self._functions:
            raise ValueError(f"there is a program '{name}' already: "
                             f"{self._functions[name].__qualname__} of {self._functions[name].__module__}")
        _check_phases((phase,))

        def decorate(fun):
            registered = Registered(self, fun, name, phase, tuple(args), dict(kwargs or {}),
                                    {"compiler_options": compiler_options,
                                     "add_location_info": add_location_info,
                                     "annotations_file": annotations_file}, jit_kwargs)
            self._functions[name] = registered
            return registered
        return decorate

    def __getitem__(self, name):
        return self._functions[name]

    def __iter__(self):
        return iter(self._functions)

    def __len__(self):
        return len(self._functions)

    def mesh_context(self):
        """What the functions are traced and called under."""
        return contextlib.nullcontext() if self._mesh is None else jax.set_mesh(self._mesh)

    def compile_or_load(self, phases=PHASES, **options):
        """compile_or_load_all() of the functions of these phases, with its options; from then on their
        calls go to the executables. With PRECAST_DISABLE=1 nothing is done: calls stay with jax.jit.

        Gives the Executables, with their reports. Where a program fails nothing changes for any."""
        _check_phases(phases)
        wanted = [one for one in self._functions.values() if one.phase in phases]
        if _config.disabled():
            return Executables({}, {})
        done = compile_or_load_all({one.name: one.timed_spec() for one in wanted}, **options)
        for one in wanted:
            one._compiled = done[one.name]  # pylint: disable=protected-access
            one._compiled.retrace_under = self.mesh_context  # pylint: disable=protected-access
        return done


def _check_phases(phases):
    for phase in phases:
        if phase not in PHASES:
            raise ValueError(f"there is no phase {phase!r}; there are {', '.join(PHASES)}")


__all__ = ["Registered", "Registry"]
