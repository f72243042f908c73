"""One training step of the ranker: value and gradient of the loss, and the optimizer's update.

The state (weights and momentum) is donated: its buffers are reused for the new state, so a caller
hands it over and takes the new one, and device memory never holds two.
"""

import pathlib
import sys
from typing import NamedTuple

import jax
import jax.numpy as jnp

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "ranker"))

from model import Config, Request, Weights, rank

# Smaller than the served model, so that inputs and outputs of a step fit into the repository.
CONFIG = Config(items=64, layers=2, width=32, hidden=64)
LEARNING_RATE = 0.05
MOMENTUM = 0.9


class State(NamedTuple):
    """What a step takes, consumes and makes anew."""

    weights: Weights
    momentum: Weights


def loss(weights: Weights, request: Request, clicked: jax.Array) -> jax.Array:
    """The mean binary cross-entropy of the scores; `clicked` is float32[batch, candidates]."""
    scores = rank(request, weights, CONFIG.heads)
    return jnp.mean(jnp.logaddexp(0.0, scores) - clicked * scores)


def step(state: State, request: Request, clicked: jax.Array) -> tuple[jax.Array, State]:
    """Stochastic gradient descent with momentum. Returns the loss before the step, and the state."""
    value, gradient = jax.value_and_grad(loss)(state.weights, request, clicked)
    momentum = jax.tree.map(lambda m, g: MOMENTUM * m + g, state.momentum, gradient)
    weights = jax.tree.map(lambda w, m: w - LEARNING_RATE * m, state.weights, momentum)
    return value, State(weights, momentum)
