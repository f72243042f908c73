"""Programs for the tests of precast.jax, run in a process of their own (child.py).

Each takes the devices to run on, in order, and gives (stage, arguments, keywords). What they compute
does not depend on the devices.
"""

import functools
import typing

import jax
import jax.numpy as jnp
import numpy as np
from jax.experimental.custom_partitioning import custom_partitioning as partitioned
from jax.experimental.layout import Format, Layout
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P, SingleDeviceSharding

PROGRAMS = {}

# What the partition rule of this process does; another number is another rule.
rule_factor = 2.0

# What the callbacks of this process do; another process may choose another function.
host_function = np.sin
printed = []


def program(function):
    """Registers a program under its name."""
    PROGRAMS[function.__name__] = function
    return function


def on(device, value):
    return jax.device_put(value, SingleDeviceSharding(device))


def mesh_of(devices, shape, names):
    return Mesh(np.array(devices[:int(np.prod(shape))]).reshape(shape), names)


def traced(function, *args, jit=None, **kwargs):
    return jax.jit(function, **(jit or {})).trace(*args, **kwargs), args, kwargs


def matrix(n=4):
    return jnp.arange(n * n, dtype=jnp.float32).reshape(n, n) / n + jnp.eye(n)


@program
def lapack(devices):
    """First: the handlers of LAPACK are not registered before somebody asks for them."""
    def solve(x):
        spd = x @ x.T + jnp.eye(4)
        return jnp.linalg.inv(spd), jnp.linalg.svd(x)[1], jnp.linalg.cholesky(spd)
    return traced(solve, on(devices[0], matrix()))


@program
def one_device(devices):
    return traced(lambda x: jnp.tanh(x) @ x, on(devices[0], matrix()))


@program
def one_axis(devices):
    sharding = NamedSharding(mesh_of(devices, (4,), ("x",)), P("x"))
    return traced(lambda x: (x * 2).sum(axis=0), jax.device_put(matrix(8), sharding))


def _two_axes(devices, spec):
    sharding = NamedSharding(mesh_of(devices, (2, 2), ("a", "b")), spec)
    return traced(lambda x: x @ x.T + jnp.arange(8.0)[:, None], jax.device_put(matrix(8), sharding),
                  jit={"out_shardings": sharding})


@program
def axes_ab(devices):
    return _two_axes(devices, P("a", "b"))


@program
def axes_ba(devices):
    return _two_axes(devices, P("b", "a"))


@program
def shard_map(devices):
    mesh = mesh_of(devices, (4,), ("x",))
    def total(x):
        whole = jax.lax.all_gather(x, "x", tiled=True).sum()
        turned = jax.lax.ppermute(x, "x", [(i, (i + 1) % 4) for i in range(4)])
        return jax.lax.psum(x, "x") + jax.lax.axis_index("x") + whole + turned
    mapped = jax.shard_map(total, mesh=mesh, in_specs=P("x"), out_specs=P("x"))
    return traced(mapped, jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("x"))))


@program
def donation(devices):
    return traced(lambda state, step: {"w": state["w"] + step}, {"w": on(devices[0], matrix())},
                  on(devices[0], jnp.float32(2)), jit={"donate_argnums": 0})


class Pair(typing.NamedTuple):
    """A container of the caller's own."""

    left: typing.Any
    right: typing.Any


@program
def keywords(devices):
    def scale(x, *, by, and_more):
        return Pair(x.left * by, [x.right["deep"][0] + and_more["z"]])
    value = on(devices[0], jnp.arange(4.0))
    return traced(scale, Pair(value, {"deep": (value,)}), by=value, and_more={"z": value})


@program
def dead_argument(devices):
    value = on(devices[0], jnp.arange(4.0))
    return traced(lambda x, unused: x + 1, value, {"never": value})


@program
def constant(devices):
    captured = np.linspace(0, 1, 1000, dtype=np.float32)
    return traced(lambda x: captured.sum() * x + captured[3], on(devices[0], jnp.float32(3)))


@program
def static_data(devices):
    """Printing it would show an address."""
    function = functools.partial(lambda scale, x: jax.tree_util.Partial(jnp.multiply, x)(scale), 3.0)
    return traced(function, on(devices[0], jnp.arange(3.0)))


@program
def pinned_host(devices):
    host = SingleDeviceSharding(devices[0], memory_kind="pinned_host")
    value = jax.device_put(jnp.arange(4.0), host)
    device = SingleDeviceSharding(devices[0], memory_kind="device")
    return traced(lambda x: jax.device_put(x, device) * 2 + 1, value, jit={"out_shardings": host})


@program
def layouts(devices):
    turned = Format(Layout(major_to_minor=(1, 0)), SingleDeviceSharding(devices[0]))
    value = jax.device_put(matrix(), turned)
    return traced(lambda x: x.T @ x + x, value, jit={"in_shardings": turned, "out_shardings": turned})


@program
def small_types(devices):
    def convert(x):
        return (x.astype(jnp.bfloat16) * 2, x.astype(jnp.float8_e4m3fn), x.astype(jnp.int4))
    return traced(convert, on(devices[0], jnp.arange(4.0)))


@program
def narrow_arguments(devices):
    wide = jnp.arange(4.0)
    # The check of jax 0.10 refuses a committed int4, whose layout it takes for another one.
    return traced(lambda a, b, c: (a + a, b.astype(jnp.float32) * 2, c.astype(jnp.int32) + 1),
                  on(devices[0], wide.astype(jnp.bfloat16)), on(devices[0], wide.astype(jnp.float8_e4m3fn)),
                  wide.astype(jnp.int4))


@partitioned
def _doubled(x):
    return x * 2


def _scaled(x):
    return x * rule_factor


def _partition(mesh, arguments, result):
    del result
    return mesh, _scaled, arguments[0].sharding, (arguments[0].sharding,)


_doubled.def_partition(_partition, infer_sharding_from_operands=lambda mesh, arguments, result:
                       arguments[0].sharding, sharding_rule="i -> i")


@program
def custom_partitioning(devices):
    """The program holds the address of a rule, which reads a global of this module."""
    sharding = NamedSharding(mesh_of(devices, (4,), ("x",)), P("x"))
    return traced(_doubled, jax.device_put(jnp.arange(8.0), sharding))


@jax.jit
def _rows(x):
    return jnp.einsum("ij->i", x)


@functools.partial(partitioned, static_argnums=(1,))
def _totals(x, factor):
    return _rows(x) * factor


def _partition_totals(factor, mesh, arguments, result):
    del arguments, result
    return mesh, lambda x: jax.lax.psum(_rows(x), "x") * factor, NamedSharding(mesh, P()), (
        NamedSharding(mesh, P(None, "x")),)


_totals.def_partition(_partition_totals, infer_sharding_from_operands=lambda factor, mesh, arguments, result:
                      NamedSharding(mesh, P()), sharding_rule="i j -> i", reduction_factors=("j",))


@program
def partition_rules(devices):
    """Two rules, one with a static argument, a collective and a function of jax.jit."""
    sharding = NamedSharding(mesh_of(devices, (4,), ("x",)), P("x"))
    return traced(lambda x: _doubled(_totals(x, 3.0)), jax.device_put(matrix(8), sharding))


def _call(x):
    return jax.pure_callback(lambda v: host_function(np.asarray(v)).astype(np.float32),
                             jax.ShapeDtypeStruct(x.shape, jnp.float32), x)


@program
def pure_callback(devices):
    return traced(lambda x: _call(x) + 1, on(devices[0], jnp.arange(4.0)))


@program
def two_callbacks(devices):
    def both(x):
        halved = jax.pure_callback(lambda v: np.asarray(v) / 2,
                                   jax.ShapeDtypeStruct(x.shape, jnp.float32), x)
        return _call(x) - halved
    return traced(both, on(devices[0], jnp.arange(4.0)))


@program
def ordered_callback(devices):
    def note(x):
        jax.experimental.io_callback(lambda v: printed.append(float(v)), None, x[0], ordered=True)
        jax.experimental.io_callback(lambda v: printed.append(float(v)), None, x[1], ordered=True)
        return x * 2
    return traced(note, on(devices[0], jnp.arange(4.0) + 5))


@program
def debug_callback(devices):
    def note(x):
        jax.debug.callback(lambda v: printed.append(float(v)), x.sum())
        return x + 1
    return traced(note, on(devices[0], jnp.arange(4.0)))


@program
def unordered_callback(devices):
    def note(x):
        seen = jax.experimental.io_callback(lambda v: printed.append(float(v)) or np.float32(v),
                                            jax.ShapeDtypeStruct((), jnp.float32), x.sum())
        return x * 2 + seen
    return traced(note, on(devices[0], jnp.arange(4.0)))


@program
def debug_print(devices):
    def note(x):
        jax.debug.print("the sum is {}", x.sum())
        return x + 2
    return traced(note, on(devices[0], jnp.arange(4.0)))
