"""The ranking transformer of a recommender, with candidate isolation, in plain JAX.

One request ranks `candidates` items for each of a batch of users.  A user's history and all the
candidates go through the transformer as one sequence; the attention mask lets a candidate see the
user's history and itself, and nothing else.  So a candidate's score does not depend on which other
candidates share the request, and a server may keep scores and pack candidates as it likes.

The program holds no `sort`, no custom call and no constant larger than a scalar: the order of the
scores is the caller's to take, and the weights are arguments, so retrained weights reuse the
executable.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp


class Config(NamedTuple):
    """The sizes that fix the program."""

    batch: int = 4
    history: int = 48
    candidates: int = 16
    items: int = 512  # rows of the item embedding
    actions: int = 8  # kinds of interaction: view, click, purchase, ...
    context: int = 12  # features of the request: hour, device, ...
    layers: int = 6
    width: int = 64
    heads: int = 4
    hidden: int = 128  # width of the gated MLP


class Request(NamedTuple):
    """What one request carries; the fields come first among the program's parameters."""

    history_items: jax.Array  # int32[batch, history], newest first
    history_actions: jax.Array  # int32[batch, history]
    history_age_hours: jax.Array  # float32[batch, history]
    history_valid: jax.Array  # bool[batch, history], false for padding
    candidate_items: jax.Array  # int32[batch, candidates]
    context: jax.Array  # float32[batch, context]


class Weights(NamedTuple):
    """What training makes; a layer's weights are one slice of an array for all layers."""

    item_embedding: jax.Array  # [items, width]
    action_embedding: jax.Array  # [actions, width]
    age_embedding: jax.Array  # [width], scaled by log(1 + age)
    candidate_embedding: jax.Array  # [width], marks a candidate
    context_projection: jax.Array  # [context, width]
    attention_norm: jax.Array  # [layers, width]
    attention_in: jax.Array  # [layers, width, 3 * width]
    attention_out: jax.Array  # [layers, width, width]
    mlp_norm: jax.Array  # [layers, width]
    mlp_in: jax.Array  # [layers, width, 2 * hidden]
    mlp_out: jax.Array  # [layers, hidden, width]
    head_norm: jax.Array  # [width]
    head: jax.Array  # [width]


def attention_mask(history_valid, candidates):
    """Who may see whom, as bool[batch, 1, query, key].

    A history position sees itself and older valid ones; a candidate sees every valid history
    position and itself.  Everyone sees itself, so that no row is empty, not even for a new user.
    """
    history = history_valid.shape[1]
    query = jnp.arange(history + candidates)[:, None]
    key = jnp.arange(history + candidates)[None, :]
    # No candidate is valid as a key, so no other position sees it.
    key_valid = jnp.pad(history_valid, ((0, 0), (0, candidates)))[:, None, :]
    in_time = (query >= history) | (query <= key)
    return ((in_time & key_valid) | (query == key))[:, None, :, :]


def rms_norm(x, scale):
    return x * jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + 1e-6) * scale


def attention(x, mask, w_in, w_out, heads):
    batch, length, width = x.shape
    query, key, value = jnp.split(x @ w_in, 3, axis=-1)

    def by_head(a):
        return a.reshape(batch, length, heads, width // heads).transpose(0, 2, 1, 3)

    logits = by_head(query) @ by_head(key).swapaxes(-1, -2) * (width // heads) ** -0.5
    # exp of the masked logits is exactly zero, so what is masked adds nothing at all.
    logits = jnp.where(mask, logits, -1e30)
    logits = logits - logits.max(axis=-1, keepdims=True)
    shares = jnp.exp(logits)
    shares = shares / shares.sum(axis=-1, keepdims=True)
    mixed = (shares @ by_head(value)).transpose(0, 2, 1, 3).reshape(batch, length, width)
    return mixed @ w_out


def gated_mlp(x, w_in, w_out):
    gate, up = jnp.split(x @ w_in, 2, axis=-1)
    return (jax.nn.silu(gate) * up) @ w_out


def embed(table, ids):
    # "clip" is one gather; the default would add a select that turns bad ids into NaN.
    return jnp.take(table, ids, axis=0, mode="clip")


def rank(request: Request, weights: Weights, heads: int = Config().heads):
    """Returns float32[batch, candidates]: one score for each candidate, from its position alone."""
    w = weights
    history = (
        embed(w.item_embedding, request.history_items)
        + embed(w.action_embedding, request.history_actions)
        + jnp.log1p(request.history_age_hours)[..., None] * w.age_embedding
    )
    candidates = embed(w.item_embedding, request.candidate_items) + w.candidate_embedding
    user = (request.context @ w.context_projection)[:, None, :]
    x = jnp.concatenate([history, candidates], axis=1) + user
    mask = attention_mask(request.history_valid, candidates.shape[1])

    # A Python loop, not lax.scan: each layer becomes code of its own, as in a served model.
    for layer in range(w.attention_in.shape[0]):
        normed = rms_norm(x, w.attention_norm[layer])
        x = x + attention(normed, mask, w.attention_in[layer], w.attention_out[layer], heads)
        normed = rms_norm(x, w.mlp_norm[layer])
        x = x + gated_mlp(normed, w.mlp_in[layer], w.mlp_out[layer])

    return rms_norm(x[:, request.history_items.shape[1] :], w.head_norm) @ w.head
