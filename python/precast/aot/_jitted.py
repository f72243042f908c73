"""A function that is jitted first and compiled later."""

import functools
import inspect

import jax


class JittedOrCompiled:
    """A call that goes to `jitted`: jax.jit's function, or what it was compiled to since.

    jitted: what jax.jit gives, a jax.stages.Traced or a jax.stages.Compiled; may be replaced at any
    time. name: for people; None: the function's own."""

    __slots__ = ("fun_name", "jitted")

    def __init__(self, jitted, name=None):
        self.fun_name = name
        self.jitted = jitted

    def __call__(self, *args, **kwargs):
        return self.jitted(*args, **kwargs)

    def lower(self, *args, **kwargs):
        """As of jax.jit's function or of a Traced. ValueError once it is compiled."""
        if isinstance(self.jitted, jax.stages.Compiled):
            raise ValueError("Cannot lower a compiled jit function. Lower it before its compiled form is put into "
                             "`jitted`, or keep the function that jax.jit gave")
        return self.jitted.lower(*args, **kwargs)

    def trace(self, *args, **kwargs):
        """As of jax.jit's function. TypeError for anything else."""
        if isinstance(self.jitted, jax.stages.Compiled | jax.stages.Traced) or not hasattr(self.jitted, "trace"):
            raise TypeError(f"Unsupported type: {type(self.jitted)}. Only what jax.jit gave can be traced: trace it "
                            "before its compiled form is put into `jitted`")
        return self.jitted.trace(*args, **kwargs)

    def name(self):
        """The name that was given, else that of the function. TypeError where there is none."""
        if self.fun_name is not None:
            return self.fun_name
        if not isinstance(self.jitted, jax.stages.Wrapped):
            raise TypeError(f"Unsupported type: {type(self.jitted)}. It has no name: give one, "
                            "JittedOrCompiled(jitted, name=...)")
        function = inspect.unwrap(self.jitted)
        while isinstance(function, functools.partial):
            function = function.func
        return getattr(function, "__name__", type(function).__name__)
