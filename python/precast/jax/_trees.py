"""Containers and shardings as plain data: what a process needs that has none of the model's code."""

import collections
import functools
import importlib
import sys

import jax
import numpy as np
from jax.sharding import AxisType, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from precast.jax import _private

# What a defaultdict of a saved tree may make its values with.
_FACTORIES = {None: None, "int": int, "float": float, "list": list, "dict": dict, "tuple": tuple, "set": set, "str": str}
_DICTS = {dict: "dict", collections.OrderedDict: "OrderedDict", collections.defaultdict: "defaultdict"}


def _name(kind):
    return f"{kind.__module__}.{kind.__qualname__}"


def encode_tree(tree, path):
    """A tree whose leaves are numbers. ValueError names a container that another process cannot make."""
    if tree is None:
        return ["none"]
    if isinstance(tree, int) and not isinstance(tree, bool):
        return ["leaf", tree]
    if type(tree) in _DICTS:
        return _encode_dict(tree, path)
    if isinstance(tree, tuple) and hasattr(tree, "_fields"):
        return ["namedtuple", type(tree).__name__,
                [[field, encode_tree(value, f"{path}.{field}")]
                 for field, value in zip(tree._fields, tree, strict=True)]]
    if type(tree) in (list, tuple):
        return [type(tree).__name__,
                [encode_tree(value, f"{path}[{i}]") for i, value in enumerate(tree)]]
    return _encode_node(tree, path)


def _encode_dict(tree, path):
    for key in tree:
        if not isinstance(key, str | int) or isinstance(key, bool):
            raise ValueError(f"{path} has the key {key!r}; save keeps keys that are text or integers")
    # In the order in which JAX takes the leaves.
    keys = [entry.key for (entry,), _ in jax.tree_util.tree_flatten_with_path(
        tree, is_leaf=lambda value: value is not tree)[0]]
    said = [_DICTS[type(tree)], [[key, encode_tree(tree[key], f"{path}[{key!r}]")] for key in keys]]
    if type(tree) is collections.defaultdict:
        factory = next((name for name, made in _FACTORIES.items() if made is tree.default_factory), "")
        if factory == "":
            raise ValueError(f"{path} is a defaultdict of {tree.default_factory!r}; save keeps those of None and of "
                             f"{', '.join(name for name in _FACTORIES if name)}")
        said.append(factory)
    return said


def _encode_node(tree, path):
    kind = type(tree)
    found = _private.flatten_node(tree)
    if found is None:
        raise ValueError(f"{path} is a {_name(kind)}, which is no container that save keeps")
    children, static = found
    try:
        importable = kind.__module__ != "__main__" and _find(kind.__module__, kind.__qualname__) is kind
    except (ImportError, AttributeError):
        importable = False
    if not importable:
        raise ValueError(f"{path} is a {_name(kind)}, which another process cannot import by that name; save keeps "
                         "dict, list, tuple, namedtuple, and nodes whose type can be imported")
    return ["node", kind.__module__, kind.__qualname__, _encode_static(static, path),
            [encode_tree(child, f"{path}<{i}>") for i, child in enumerate(children)]]


def _encode_static(value, path):
    """Static data of a node: numbers, text, None, and tuples, lists and dicts of such."""
    if value is None or type(value) in (bool, int, float, str):
        return ["plain", value]
    if type(value) in (tuple, list):
        return [type(value).__name__, [_encode_static(one, path) for one in value]]
    if type(value) is dict and all(type(key) is str for key in value):
        return ["dict", [[key, _encode_static(one, path)] for key, one in value.items()]]
    raise ValueError(f"{path} has static data of the type {_name(type(value))}; save keeps numbers, text, None, and "
                     "tuples, lists and dicts of such")


def _decode_static(said):
    kind, value = said
    if kind == "plain":
        return value
    if kind == "dict":
        return {key: _decode_static(one) for key, one in value}
    return (tuple if kind == "tuple" else list)(_decode_static(one) for one in value)


def _find(module, name):
    found = sys.modules.get(module) or importlib.import_module(module)
    for part in name.split("."):
        found = getattr(found, part)
    return found


def _node(said, count):
    """The structure of a registered node. ValueError where its type is not there, or is no node's."""
    _, module, name, static, _ = said
    try:
        kind = _find(module, name)
        if not isinstance(kind, type):
            raise TypeError(f"it is a {type(kind).__name__}")
        return kind, _private.node_structure(kind, _decode_static(static), count)
    except Exception as error:  # pylint: disable=broad-exception-caught  # whatever an import raises
        raise ValueError(f"the saved executable takes or gives a {module}.{name}, which cannot be made here: "
                         f"{error}") from error


@functools.cache
def _namedtuple(name, fields):
    return collections.namedtuple(name, fields)


def decode_tree(said, leaves):
    """The containers around these leaves; a namedtuple is one of the same name and fields."""
    kind = said[0]
    if kind == "none":
        return None
    if kind == "leaf":
        return leaves[said[1]]
    if kind in ("dict", "OrderedDict", "defaultdict"):
        items = [(key, decode_tree(value, leaves)) for key, value in said[1]]
        if kind == "defaultdict":
            return collections.defaultdict(_FACTORIES[said[2]], items)
        return collections.OrderedDict(items) if kind == "OrderedDict" else dict(items)
    if kind == "namedtuple":
        made = _namedtuple(said[1], tuple(field for field, _ in said[2]))
        return made(*(decode_tree(value, leaves) for _, value in said[2]))
    if kind == "node":
        return _node(said, len(said[4]))[1].unflatten([decode_tree(value, leaves) for value in said[4]])
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
    if kind in ("dict", "OrderedDict", "defaultdict"):
        keys = [key for key, _ in said[1]]
        if not isinstance(value, dict) or set(value) != set(keys):
            found = sorted(map(str, value)) if isinstance(value, dict) else type(value).__name__
            raise TypeError(f"{path} must be a {kind} with the keys {keys}, and is {found}")
        for key, inner in said[1]:
            match_tree(inner, value[key], f"{path}[{key!r}]", leaves)
        return
    if kind == "node":
        wanted, structure = _node(said, len(said[4]))
        found = _private.flatten_node(value)
        if type(value) is not wanted or found is None or len(found[0]) != len(said[4]):
            raise TypeError(f"{path} must be a {_name(wanted)}, and is a {_name(type(value))}")
        if found[1] != structure.node_data()[1]:
            raise TypeError(f"{path} is a {_name(wanted)} with other static data than the one that was saved")
        for i, (each, one) in enumerate(zip(said[4], found[0], strict=True)):
            match_tree(each, one, f"{path}<{i}>", leaves)
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
        for entry in sharding.spec.partitions:
            if entry is not None and not isinstance(entry, str | tuple):
                raise ValueError(f"{path} has the partition {entry!r}, which save does not keep")
            spec.append(list(entry) if isinstance(entry, tuple) else entry)
        mesh = sharding.mesh
        for what in ("unreduced", "reduced"):
            if getattr(sharding.spec, what):
                raise ValueError(f"{path} has the {what} axes {', '.join(map(str, sorted(getattr(sharding.spec, what))))}, "
                                 "which save does not keep")
        return {"kind": "named", "shape": list(mesh.devices.shape), "axes": list(mesh.axis_names),
                "axis_types": [kind.name for kind in mesh.axis_types],
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
    axes = tuple(said["axes"])
    # Files of versions that did not keep the types have none.
    types = tuple(AxisType[name] for name in said.get("axis_types", ["Auto"] * len(axes)))
    return NamedSharding(Mesh(chosen.reshape(said["shape"]), axes, axis_types=types), spec,
                         memory_kind=said["memory"])
