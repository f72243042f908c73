"""Containers and shardings as plain data: what a process needs that has none of the model's code."""

import collections

import jax
import numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding


def encode_tree(tree, path):
    """A tree whose leaves are numbers. ValueError names a container that is not plain."""
    if tree is None:
        return ["none"]
    if isinstance(tree, int) and not isinstance(tree, bool):
        return ["leaf", tree]
    if type(tree) is dict:
        for key in tree:
            if not isinstance(key, str | int) or isinstance(key, bool):
                raise ValueError(f"{path} has the key {key!r}; save keeps keys that are text or integers")
        # In the order in which JAX takes the leaves.
        keys = [entry.key for (entry,), _ in jax.tree_util.tree_flatten_with_path(
            tree, is_leaf=lambda value: value is not tree)[0]]
        return ["dict", [[key, encode_tree(tree[key], f"{path}[{key!r}]")] for key in keys]]
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return ["namedtuple", type(tree).__name__,
                [[field, encode_tree(value, f"{path}.{field}")]
                 for field, value in zip(tree._fields, tree, strict=True)]]
    if type(tree) in (list, tuple):
        return [type(tree).__name__,
                [encode_tree(value, f"{path}[{i}]") for i, value in enumerate(tree)]]
    raise ValueError(f"{path} is a {type(tree).__module__}.{type(tree).__qualname__}; save keeps dict, "
                     "list, tuple and namedtuple")


def decode_tree(said, leaves):
    """The plain containers around these leaves; a namedtuple is one of the same name and fields."""
    kind = said[0]
    if kind == "none":
        return None
    if kind == "leaf":
        return leaves[said[1]]
    if kind == "dict":
        return {key: decode_tree(value, leaves) for key, value in said[1]}
    if kind == "namedtuple":
        made = collections.namedtuple(said[1], [field for field, _ in said[2]])
        return made(*(decode_tree(value, leaves) for _, value in said[2]))
    values = [decode_tree(value, leaves) for value in said[1]]
    return values if kind == "list" else tuple(values)


def match_tree(said, value, path, leaves):
    """Puts the leaves of a caller's value into `leaves`. TypeError names where it is no such tree."""
    kind = said[0]
    if kind == "leaf":
        leaves[said[1]] = (path, value)
        return
    if kind == "none":
        if value is not None:
            raise TypeError(f"{path} must be None, and is {type(value).__name__}")
        return
    if kind == "dict":
        keys = [key for key, _ in said[1]]
        if not isinstance(value, dict) or set(value) != set(keys):
            found = sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise TypeError(f"{path} must be a dict with the keys {keys}, and is {found}")
        for key, inner in said[1]:
            match_tree(inner, value[key], f"{path}[{key!r}]", leaves)
        return
    inner = said[2] if kind == "namedtuple" else list(enumerate(said[1]))
    wanted = list if kind == "list" else tuple
    if not isinstance(value, wanted) or len(value) != len(inner):
        raise TypeError(f"{path} must be a {kind} of {len(inner)}, and is {type(value).__name__}"
                        + (f" of {len(value)}" if isinstance(value, list | tuple) else ""))
    for (name, each), one in zip(inner, value, strict=True):
        where = f"{path}.{name}" if kind == "namedtuple" else f"{path}[{name}]"
        match_tree(each, one, where, leaves)


def encode_sharding(sharding, device_ids, path):
    """A sharding by position in these devices. ValueError for a kind that save does not keep."""
    place = {id_: position for position, id_ in enumerate(device_ids)}
    if isinstance(sharding, SingleDeviceSharding):
        [device] = sharding.device_set
        return {"kind": "single", "position": place[device.id], "memory": sharding.memory_kind}
    if isinstance(sharding, NamedSharding):
        spec = []
        for entry in sharding.spec:
            if entry is not None and not isinstance(entry, str | tuple):
                raise ValueError(f"{path} has the partition {entry!r}, which save does not keep")
            spec.append(list(entry) if isinstance(entry, tuple) else entry)
        mesh = sharding.mesh
        return {"kind": "named", "shape": list(mesh.devices.shape), "axes": list(mesh.axis_names),
                "positions": [place[device.id] for device in mesh.devices.flat],
                "spec": spec, "memory": sharding.memory_kind}
    raise ValueError(f"{path} has a {type(sharding).__name__}; save keeps SingleDeviceSharding and "
                     "NamedSharding")


def decode_sharding(said, devices):
    """The sharding on these devices."""
    if said["kind"] == "single":
        return SingleDeviceSharding(devices[said["position"]], memory_kind=said["memory"])
    chosen = np.array([devices[position] for position in said["positions"]], dtype=object)
    spec = PartitionSpec(*(tuple(one) if isinstance(one, list) else one for one in said["spec"]))
    return NamedSharding(Mesh(chosen.reshape(said["shape"]), tuple(said["axes"])), spec,
                         memory_kind=said["memory"])
