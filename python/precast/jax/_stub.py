"""A function that computes nothing and is called as a saved executable is.

JAX lowers it for the devices of this process, in milliseconds, and builds around it what it builds around
any compiled function: the checks of arguments, dispatch in C++, shardings, layouts, tokens of effects, and
the host's functions. It is never compiled: the saved executable takes its place.
"""

import jax
import jax.numpy as jnp
from jax.experimental import io_callback
from jax.experimental.layout import Format, Layout

from precast.jax import _trees

_KEYS = ("threefry2x32", "rbg", "unsafe_rbg")


def key_dtype(name):
    """The type of jax.random's keys of an implementation."""
    return jax.eval_shape(lambda: jax.random.key(0, impl=name)).dtype


def type_name(dtype, path):
    """A type as text that dtype_of() reads. ValueError for one that save does not keep."""
    if isinstance(dtype, jnp.dtype):
        return dtype.name
    for name in _KEYS:
        if key_dtype(name) == dtype:
            return f"key:{name}"
    raise ValueError(f"{path} has the type {dtype}, which save does not keep")


def dtype_of(name):
    """The opposite of type_name()."""
    return key_dtype(name.removeprefix("key:")) if name.startswith("key:") else jnp.dtype(name)


def placed(said, devices):
    """The Format or sharding of an argument or result on these devices; None where it has none."""
    if said["sharding"] is None:
        return None
    sharding = _trees.decode_sharding(said["sharding"], devices)
    return sharding if said["layout"] is None else Format(Layout(tuple(said["layout"])), sharding)


def _aval(said, devices=None):
    return jax.ShapeDtypeStruct(tuple(said["shape"]), dtype_of(said["dtype"]),
                                sharding=placed(said, devices) if devices else None,
                                weak_type=said.get("weak", False))


def _raw(value):
    """What a call takes for a value, since it takes no keys."""
    return jax.random.key_data(value) if jnp.issubdtype(value.dtype, jax.dtypes.prng_key) else value


def _made_of(values, avals):
    """Results of these types that use these values."""
    raw = [jax.eval_shape(jax.random.key_data, aval) if jnp.issubdtype(aval.dtype, jax.dtypes.prng_key)
           else jax.ShapeDtypeStruct(aval.shape, aval.dtype) for aval in avals]
    made = jax.ffi.ffi_call("precast_saved", raw)(*map(_raw, values)) if raw else []
    return [jax.random.wrap_key_data(value, impl=said) if said else value
            for value, said in zip(made, [_implementation(aval.dtype) for aval in avals], strict=True)]


def _implementation(dtype):
    return next((name for name in _KEYS if key_dtype(name) == dtype), None) \
        if jnp.issubdtype(dtype, jax.dtypes.prng_key) else None


def _call_back(said, function, used):
    """Calls a function of the host as the saved program does; its results."""
    count = said["leaves"]
    operands = _made_of(used, [jax.ShapeDtypeStruct((), jnp.float32)] * count)
    args, kwargs = _trees.decode_tree(said["in"], operands)
    results = tuple(_aval(one) for one in said["results"])
    if said["kind"] == "pure":
        return list(jax.pure_callback(function, results, *args, **kwargs))
    if said["kind"] == "io":
        return list(io_callback(function, results, *args, ordered=said["ordered"], **kwargs))
    jax.debug.callback(function, *args, ordered=said["ordered"], **kwargs)
    return []


def lower(said, devices, functions, name):
    """The jax.stages.Lowered. functions: of the host, in the order of said["callbacks"]."""
    outs = [_aval(one) for one in said["results"]]

    def stub(*args, **kwargs):
        leaves = jax.tree.leaves((args, kwargs))
        used = [leaf for leaf, one in zip(leaves, said["arguments"], strict=True) if one["kept"]]
        back = []
        for one, function in zip(said["callbacks"], functions, strict=True):
            back += _call_back(one, function, used)
        return _trees.decode_tree(said["out"], _made_of([*used, *back], outs))

    stub.__name__ = name.removeprefix("jit_")
    args, kwargs = _trees.decode_tree(said["in"], [_aval(one, devices) for one in said["arguments"]])
    results = _trees.decode_tree(said["out"], [placed(one, devices) for one in said["results"]])
    return jax.jit(stub, out_shardings=results).trace(*args, **kwargs).lower()
