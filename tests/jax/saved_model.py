"""Containers of a model that another process can import."""

import dataclasses
import typing

import jax


@jax.tree_util.register_dataclass
@dataclasses.dataclass
class Layer:
    """A registered node with static data."""

    weights: typing.Any
    name: str = dataclasses.field(metadata={"static": True})
