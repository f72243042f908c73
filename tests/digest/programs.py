"""Programs of many kinds, lowered by JAX, in the forms in which they reach a compiler.

    programs.py OUT [--names a,b] [--before a,b]

writes OUT/NAME.FORM for each program and each of the FORMS. With --before, other programs are
lowered first, as a process does that has a history. The script needs nothing of its folder but the
examples, of which PRECAST_EXAMPLES may name another copy, so a test may run a copy of it from
anywhere and with other line numbers.
"""

import argparse
import functools
import importlib.util
import io
import os
import pathlib
import sys

os.environ.setdefault("XLA_FLAGS", "--xla_force_host_platform_device_count=8")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.experimental.custom_partitioning import custom_partitioning
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _jax
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo
from jaxlib.mlir.passmanager import PassManager

HERE = pathlib.Path(__file__).resolve().parent
EXAMPLES = pathlib.Path(os.environ.get("PRECAST_EXAMPLES") or HERE.parents[1] / "examples")

f32 = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.float32)
i32 = functools.partial(jax.ShapeDtypeStruct, dtype=jnp.int32)
PROGRAMS = {}


def program(function):
    PROGRAMS[function.__name__] = function
    return function


def lower(function, *arguments, **options):
    return jax.jit(function, **options).lower(*arguments).compiler_ir("stablehlo")


def mesh_2x4():
    return Mesh(np.array(jax.devices()).reshape(2, 4), ("x", "y"))


def example(name):
    """The script that exports an example."""
    for folder in (EXAMPLES / "ranker", EXAMPLES / name):
        if str(folder) not in sys.path:
            sys.path.insert(0, str(folder))
    spec = importlib.util.spec_from_file_location(f"{name}_export", EXAMPLES / name / "export.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@program
def ranker():
    ranker = example("ranker")
    config = ranker.Config(items=64, layers=2, width=32, hidden=64)
    request, weights = ranker.make_request(config), ranker.make_weights(config)
    return lower(functools.partial(ranker.rank, heads=config.heads), request, weights)


@program
def training_step():
    train = example("train")
    return lower(train.step, *train.make_arguments(train.ranker_export()), donate_argnums=0)


@program
def mlp_step():
    def loss(weights, x, y):
        for w, b in weights:
            x = jax.nn.relu(x @ w + b)
        return jnp.mean((x - y) ** 2)

    def step(weights, x, y):
        value, gradient = jax.value_and_grad(loss)(weights, x, y)
        return value, jax.tree.map(lambda w, g: w - 0.01 * g, weights, gradient)

    weights = [(f32((8, 16)), f32((16,))), (f32((16, 4)), f32((4,)))]
    return lower(step, weights, f32((32, 8)), f32((32, 4)), donate_argnums=0)


@program
def transformer_block():
    def norm(x, scale):
        return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-6) * scale

    def block(x, w):
        h = norm(x, w["scale"])
        q, k, v = (jnp.einsum("bsd,dhk->bshk", h, w[n]) for n in "qkv")
        scores = jnp.einsum("bshk,bthk->bhst", q, k) / np.sqrt(16)
        mask = jnp.tril(jnp.ones((12, 12), bool))
        probs = jax.nn.softmax(jnp.where(mask, scores, -1e9))
        x = x + jnp.einsum("bhst,bthk,hkd->bsd", probs, v, w["o"])
        return x + jax.nn.gelu(norm(x, w["scale"]) @ w["up"]) @ w["down"]

    w = {n: f32((32, 2, 16)) for n in "qkv"}
    w |= {"o": f32((2, 16, 32)), "up": f32((32, 64)), "down": f32((64, 32)), "scale": f32((32,))}
    return lower(jax.grad(lambda x, w: block(x, w).sum(), argnums=1), f32((2, 12, 32)), w)


@program
def convolution():
    def net(x, k):
        x = lax.conv_general_dilated(
            x, k, (2, 1), "SAME", rhs_dilation=(1, 2), dimension_numbers=("NHWC", "HWIO", "NHWC")
        )
        return lax.reduce_window(x, -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")

    return lower(jax.grad(lambda x, k: net(x, k).sum(), argnums=(0, 1)), f32((2, 16, 16, 3)), f32((3, 3, 3, 8)))


@program
def fft():
    return lower(lambda x: jnp.fft.irfft(jnp.fft.rfft(x) * 2j, n=64).real, f32((4, 64)))


@program
def sort():
    return lower(lambda k, v: lax.sort((k, v), dimension=1, num_keys=2), f32((4, 9)), i32((4, 9)))


@program
def top_k():
    return lower(lambda x: (lax.top_k(x, 3), jnp.argmax(x, 1), lax.erf_inv(x)), f32((4, 9)))


@program
def scan():
    def body(carry, x):
        return carry * 0.9 + x, jnp.tanh(carry)

    return lower(lambda init, xs: lax.scan(body, init, xs, reverse=True), f32((8,)), f32((5, 8)))


@program
def while_loop():
    def body(state):
        i, x = state
        return i + 1, x * x - 0.5

    return lower(lambda x: lax.while_loop(lambda s: s[0] < 10, body, (0, x)), f32((3,)))


@program
def cond():
    def choose(i, x):
        y = lax.switch(i, [jnp.sin, jnp.cos, lambda v: v * 2], x)
        return lax.cond(i > 1, lambda: y, lambda: -y)

    return lower(choose, i32(()), f32((3,)))


@program
def gather():
    def pick(x, i):
        return x[i, ::2], jnp.take_along_axis(x, i[:, None], 1), lax.dynamic_slice(x, (i[0], 0), (2, 3))

    return lower(pick, f32((10, 6)), i32((10,)))


@program
def scatter():
    def put(x, i, v):
        x = x.at[i].add(v, mode="drop", unique_indices=True)
        return lax.dynamic_update_slice(x.at[i, 0].min(0.0), v[:1], (i[0], 0))

    return lower(put, f32((10, 6)), i32((4,)), f32((4, 6)))


@program
def linear_algebra():
    def solve(a, b):
        c = jnp.linalg.cholesky(a @ a.T + jnp.eye(6))
        return jax.scipy.linalg.solve_triangular(c, b, lower=True), jnp.linalg.svd(a)

    return lower(solve, f32((6, 6)), f32((6, 2)))


@program
def ffi_call():
    def call(x):
        target = jax.ffi.ffi_call("my_target", f32((4,)), has_side_effect=True)
        return target(x, scale=np.float32(3), axes=np.array([1, 0], np.int64), mode="fast")

    return lower(call, f32((4,)))


@program
def callbacks():
    """One kind of ordered effect only: JAX gives the tokens of two kinds an order of the process."""

    def call(x):
        y = jax.pure_callback(lambda v: v, f32((3,)), x)
        jax.debug.print("y {}", y)
        return jax.experimental.io_callback(lambda v: v, f32((3,)), y, ordered=True)

    return lower(call, f32((3,)))


@program
def partitioned_custom_call():
    """Holds an address of this process: never the same twice."""

    @custom_partitioning
    def double(x):
        return 2 * x

    double.def_partition(
        partition=lambda mesh, args, result: (mesh, lambda x: 2 * x, result.sharding, [a.sharding for a in args]),
        infer_sharding_from_operands=lambda mesh, args, result: args[0].sharding,
        sharding_rule="i -> i",
    )
    sharding = NamedSharding(mesh_2x4(), PartitionSpec("x"))
    return lower(double, f32((8,)), in_shardings=sharding)


@program
def sharded_jit():
    mesh = mesh_2x4()
    rows, columns = (NamedSharding(mesh, PartitionSpec(*axes)) for axes in (("x", "y"), (None, "y")))

    def product(a, b):
        return lax.with_sharding_constraint(a @ b, rows).sum(0)

    return lower(product, f32((8, 16)), f32((16, 8)), in_shardings=(rows, columns), out_shardings=None)


@program
def shard_map():
    def local(x):
        total = lax.psum(x, "x")
        moved = lax.ppermute(total, "y", [(i, (i + 1) % 4) for i in range(4)])
        return lax.all_gather(moved, "y", tiled=True) + lax.axis_index("x")

    mapped = jax.shard_map(
        local,
        mesh=mesh_2x4(),
        in_specs=PartitionSpec("x", "y"),
        out_specs=PartitionSpec("x", None),
        check_vma=False,
    )
    return lower(mapped, f32((4, 8)))


@program
def small_types():
    def mix(a, b, c, d):
        floats = b.astype(jnp.float32) @ c.astype(jnp.bfloat16).astype(jnp.float32)
        return (a + jnp.int4(3)).astype(jnp.int8), floats, d.astype(jnp.float8_e8m0fnu), d == 1

    shape = jax.ShapeDtypeStruct
    return lower(
        mix,
        shape((3,), jnp.int4),
        shape((2, 4), jnp.float8_e4m3fn),
        shape((4, 2), jnp.float8_e5m2),
        shape((5,), jnp.float32),
    )


@program
def constants():
    table = np.arange(1024, dtype=np.float32).reshape(32, 32) ** 0.5
    bits = np.arange(100) % 3 == 0
    nibbles = np.arange(9).astype(jnp.int4)
    return lower(lambda x: (x @ table, jnp.where(bits, 1.5, 0.0), x[0, :9] * nibbles.astype(np.float32)), f32((2, 32)))


@program
def random_numbers():
    def draw(seed):
        key = jax.random.key(seed)
        other = jax.random.key(seed, impl="rbg")
        return jax.random.normal(key, (8,)), jax.random.permutation(key, 10), jax.random.bits(other, (4,))

    return lower(draw, jax.ShapeDtypeStruct((), jnp.uint32))


@program
def composite():
    @functools.partial(lax.composite, name="my.square", version=2)
    def square(x, *, power):
        return x**power

    return lower(lambda x: square(x, power=2) + square(x + 1, power=3), f32((3,)))


@program
def precision():
    def product(a, b):
        exact = lax.dot(a, b, precision=lax.Precision.HIGHEST)
        chosen = lax.dot_general(a, b, (((1,), (0,)), ((), ())), precision=lax.DotAlgorithmPreset.BF16_BF16_F32)
        return exact, chosen, lax.exp(a, accuracy=lax.AccuracyMode.HIGHEST), lax.reduce_precision(a, 5, 10)

    return lower(product, f32((4, 4)), f32((4, 4)))


@program
def private_functions():
    """Many private functions of one name, which MLIR tells apart by a number."""

    def twice(n):
        @jax.jit
        def inner(x):
            return x * n

        return inner

    return lower(lambda x: sum(twice(n)(x) for n in range(5)), f32((3,)))


STABLEHLO_TEXT = r"""
module @by_hand {
  func.func public @main(%arg0: tensor<4xf32>, %arg1: !stablehlo.token) -> (tuple<tensor<4xf32>, tensor<i32>>, !stablehlo.token) {
    %0 = stablehlo.constant dense<7> : tensor<i32>
    %1 = stablehlo.tuple %arg0, %0 : tuple<tensor<4xf32>, tensor<i32>>
    %2 = stablehlo.get_tuple_element %1[0] : (tuple<tensor<4xf32>, tensor<i32>>) -> tensor<4xf32>
    %3 = "stablehlo.outfeed"(%2, %arg1) <{outfeed_config = "config"}> : (tensor<4xf32>, !stablehlo.token) -> !stablehlo.token
    %4:2 = "stablehlo.infeed"(%3) <{infeed_config = "", layout = [[0]]}> : (!stablehlo.token) -> (tensor<4xf32>, !stablehlo.token)
    %5 = stablehlo.tuple %4#0, %0 {where = loc("a location as a value":3:4)} : tuple<tensor<4xf32>, tensor<i32>>
    return %5, %4#1 : tuple<tensor<4xf32>, tensor<i32>>, !stablehlo.token
  }
}
"""


@program
def tuples_and_tokens():
    return ir.Module.parse(STABLEHLO_TEXT, context=jax._src.interpreters.mlir.make_ir_context())


def bytecode(module, version=None):
    out = io.BytesIO()
    module.operation.write_bytecode(out, desired_version=version)
    return out.getvalue()


def vhlo(module):
    """What JAX hands to PJRT_Client_Compile."""
    return _jax.mlir.serialize_portable_artifact(module, stablehlo.get_current_version(), True)


def stripped(module):
    clone = module.operation.clone(ip=False)
    with module.context:
        PassManager.parse("builtin.module(strip-debuginfo)").run(clone)
    return bytecode(clone.opview if hasattr(clone, "opview") else clone)


FORMS = {
    "raw.mlirbc": bytecode,
    "stripped.mlirbc": stripped,
    "vhlo.mlirbc": vhlo,
    "mlir": lambda module: str(module).encode(),
    "debug.mlir": lambda module: module.operation.get_asm(enable_debug_info=True).encode(),
}


def forms_of(name):
    """The program in each form; a form that MLIR cannot write (quantized types in VHLO of some
    releases) is left out."""
    module = PROGRAMS[name]()
    forms = {}
    for form, write in FORMS.items():
        try:
            forms[form] = write(module)
        except ValueError:
            pass
    return forms


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--names", default=",".join(PROGRAMS))
    parser.add_argument("--before", default="")
    arguments = parser.parse_args()
    for name in filter(None, arguments.before.split(",")):
        PROGRAMS[name]()
    arguments.out.mkdir(parents=True, exist_ok=True)
    for name in arguments.names.split(","):
        for form, content in forms_of(name).items():
            (arguments.out / f"{name}.{form}").write_bytes(content)


if __name__ == "__main__":
    main()
