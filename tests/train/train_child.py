"""Compiles or loads one program of flax, optax or functools and says what came of it as JSON.

    train_child.py <name> [address noise]
"""

import functools
import json
import sys

import flax.linen as linen
import jax
import jax.numpy as jnp
import optax
import precast.jax
from flax import nnx
from flax.training.train_state import TrainState
from precast.jax import _binding

X, Y = jnp.linspace(0.0, 1.0, 12).reshape(4, 3), jnp.ones((4, 1))


class Model(linen.Module):
    """Two layers."""

    @linen.compact
    def __call__(self, x):
        return linen.Dense(1)(linen.relu(linen.Dense(8)(x)))


def chain(rate=0.1):
    return optax.chain(optax.clip_by_global_norm(1.0), optax.adamw(optax.cosine_decay_schedule(rate, 100)))


def train_state(rate=0.1):
    model = Model()
    return TrainState.create(apply_fn=model.apply, params=model.init(jax.random.key(0), X), tx=chain(rate))


def step_of_train_state(state, x, y):
    def loss(params):
        return jnp.mean((state.apply_fn(params, x) - y) ** 2)
    value, grads = jax.value_and_grad(loss)(state.params)
    return state.apply_gradients(grads=grads), value


class NnxModel(nnx.Module):
    """One layer."""

    def __init__(self, rngs):
        self.layer = nnx.Linear(3, 1, rngs=rngs)

    def __call__(self, x):
        return self.layer(x)


def nnx_optimizer():
    model = NnxModel(nnx.Rngs(0))
    optimizer = nnx.Optimizer(model, chain(), wrt=nnx.Param)
    graph, state = nnx.split((model, optimizer))

    def step(state, x, y):
        model, optimizer = nnx.merge(graph, state)
        grads = nnx.grad(lambda m: jnp.mean((m(x) - y) ** 2))(model)
        optimizer.update(model, grads)
        return nnx.state((model, optimizer))
    return jax.jit(step).trace(state, X, Y), (state, X, Y)


def optax_chain():
    optimizer = chain()
    params = {"w": X, "b": Y}
    state = optimizer.init(params)

    def step(params, state, grads):
        updates, state = optimizer.update(grads, state, params)
        return optax.apply_updates(params, updates), state
    args = (params, state, params)
    return jax.jit(step, donate_argnums=1).trace(*args), args


def partial():
    def scaled(rate, function, x):
        return function(x) * rate
    args = (jax.tree_util.Partial(jnp.multiply, X), X)
    return jax.jit(functools.partial(scaled, 0.5)).trace(*args), args


PROGRAMS = {"TrainState": lambda: (jax.jit(step_of_train_state).trace(train_state(), X, Y),
                                   (train_state(), X, Y)),
            "nnx.Optimizer": nnx_optimizer, "optax.chain": optax_chain, "functools.partial": partial}


def main():
    noise = [object() for _ in range(int(sys.argv[2]))]  # other addresses
    said = {}
    for name in PROGRAMS if sys.argv[1] == "all" else [sys.argv[1]]:
        traced, args = PROGRAMS[name]()
        compiled = precast.jax.compile_or_load(traced)
        report = precast.jax.report(compiled)
        values = [jax.random.key_data(leaf).tolist() if jnp.issubdtype(leaf.dtype, jax.dtypes.prng_key)
                  else leaf.tolist() for leaf in jax.tree.leaves(compiled(*args))]
        said[name] = [report.outcome, report.key, report.binding, values,
                      _binding.Binding(report.binding_record).encode().decode()]
    del noise
    print(json.dumps(said))


if __name__ == "__main__":
    main()
