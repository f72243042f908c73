"""The binding: how an executable is called, as plain data that is equal in every process.

    binding = of_lowered(lowered)          # what JAX says before the compile: kept beside the executable
    binding = of_compiled(compiled)        # the same fields, with the shardings and layouts that XLA chose
    binding.record                         # dicts, lists, text, numbers, None: what JSON holds
    binding.digest                         # SHA-256 of the record, hex, without `left_out`
    binding.left_out                       # the node types whose static data does not count
    differences(binding, other)            # sentences; none when they are equal

The record is made of types, names and numbers alone, never of str() or repr() of somebody's object,
which may show an address. Devices stand by their position in the executable's list of devices.

    {"version": 1, "in": tree, "out": tree,
     "arguments": [[dtype, shape, weak, sharding, layout, kept, donated], ...]   constants first
     "constants": how many of the arguments JAX passes by itself,
     "results": [[dtype, shape, weak, sharding, layout], ...],
     "shardings": [...], "layouts": [...],       what the numbers in arguments and results stand for
     "devices": n, "callbacks": n, "effects": {"ordered": [name], "unordered": [name]},
     "writes_to_references": bool, "left_out": [type]}

An array's aval is its dtype, its shape and whether it is weakly typed; other avals are [kind]. A tree is
one of ["leaf"], ["none"], ["tuple", [tree]], ["list", [tree]], ["dict", [[key, tree]]],
["OrderedDict", [[key, tree]]], ["namedtuple", type, [[field, tree]]], ["node", type, static, [tree]],
where static is None (there is none), {"encoded": data} by register_static(), or {"left_out": true}.
"""

import collections
import functools
import hashlib
import json

from precast.jax import _private, _sharding_record

VERSION = 1

_encoders = {}


def register_static(type_, encode):
    """Lets the static data of a pytree node type count in bindings.

    type_: the class of the node. encode: gets what JAX keeps of a node as its static data (what the
    second result of the type's flatten function is, or the values of a dataclass's static fields)
    and gives data of dicts, lists, tuples, text, bytes, numbers and None that is equal in every
    process. TypeError for a type_ that is none. Registering again replaces the encoder."""
    if not isinstance(type_, type):
        raise TypeError(f"register_static takes a class, not {type(type_).__name__}")
    _encoders[type_] = encode


def name_of(type_):
    """A class by module and name."""
    return f"{type_.__module__}.{type_.__qualname__}"


def plain(value):
    """A value as JSON data. TypeError for what is no plain data."""
    kind = type(value)
    if value is None or kind in (bool, int, str):
        return value
    if kind is float:
        return {"float": value.hex()}
    if kind is complex:
        return {"complex": [value.real.hex(), value.imag.hex()]}
    if kind is bytes:
        return {"bytes": value.hex()}
    if kind is list:
        return [plain(one) for one in value]
    if kind is tuple:
        return {"tuple": [plain(one) for one in value]}
    if kind is dict:
        return {"dict": [[plain(key), plain(one)] for key, one in value.items()]}
    if kind in (set, frozenset):
        return {"set": sorted((plain(one) for one in value), key=_canonical)}
    raise TypeError(f"{name_of(kind)} is no plain data")


def _canonical(record):
    return json.dumps(record, sort_keys=True, ensure_ascii=True, separators=(",", ":"),
                      allow_nan=False)


class Binding:
    """One binding. Equal ones have equal digests, whatever process made them."""

    def __init__(self, record):
        self.record = record

    @functools.cached_property
    def digest(self):
        """SHA-256 of the record, as hex. What was left out does not count, nor that it was."""
        counted = {key: value for key, value in self.record.items() if key != "left_out"}
        return hashlib.sha256(_canonical(counted).encode()).hexdigest()

    @property
    def left_out(self):
        """Names of the node types whose static data does not count, in order."""
        return tuple(self.record["left_out"])

    def encode(self):
        """The record as bytes: JSON."""
        return _canonical(self.record).encode()

    @classmethod
    def decode(cls, data):
        """What encode() gave. ValueError when it is no record of this version."""
        record = json.loads(data)
        if not isinstance(record, dict) or record.get("version") != VERSION:
            raise ValueError("these bytes are no binding of this version")
        return cls(record)


class _Encoder:
    """Makes one record."""

    def __init__(self, devices):
        self._place = {device.id: position for position, device in enumerate(devices)}
        self.left_out = set()
        self.shardings, self.layouts = _Table(self._sharding), _Table(self._layout)

    def tree(self, definition):
        """A PyTreeDef."""
        data = definition.node_data()
        if data is None:
            return ["leaf"]
        kind, static = data
        children = [self.tree(child) for child in definition.children()]
        if kind is type(None):
            return ["none"]
        if kind in (tuple, list):
            return [kind.__name__, children]
        if kind is dict:
            return ["dict", self._items(static, children)]
        if kind is collections.OrderedDict:
            return ["OrderedDict", self._items(static, children)]
        if issubclass(kind, tuple) and hasattr(kind, "_fields") and static is None:
            return ["namedtuple", name_of(kind),
                    [list(pair) for pair in zip(kind._fields, children, strict=True)]]
        return ["node", name_of(kind), self._static(kind, static), children]

    def _items(self, keys, children):
        return [[self._key(key), child] for key, child in zip(keys, children, strict=True)]

    def _key(self, key):
        try:
            return plain(key)
        except TypeError:
            return self._static(type(key), key)

    def _static(self, kind, static):
        if kind in _encoders:
            return {"encoded": plain(_encoders[kind](static))}
        if static is None or type(static) in (tuple, list, dict) and not static:
            return None
        self.left_out.add(name_of(kind))
        return {"left_out": True}

    def aval(self, aval):
        """[dtype, shape, weak]; of what is no array its kind alone."""
        try:
            return [aval.dtype.name, [int(size) for size in aval.shape],
                    bool(getattr(aval, "weak_type", False))]
        except (AttributeError, TypeError):
            return [type(aval).__name__, None, None]

    def _sharding(self, sharding):
        said = _sharding_record.record(sharding, self._place)
        if said is not None and said.get("proto", "") is None:
            self.left_out.add(name_of(type(sharding)))
        return said

    def _layout(self, layout):
        if layout is None:
            return None
        if not hasattr(layout, "major_to_minor"):
            return "auto"
        tiling = layout.tiling
        return {"major_to_minor": [int(axis) for axis in layout.major_to_minor],
                "tiling": None if tiling is None else [[int(size) for size in tile] for tile in tiling],
                "sub_byte_bits": int(layout.sub_byte_element_size_in_bits)}


class _Table:
    """Values that many entries share, each once, in the order in which they came."""

    def __init__(self, encode):
        self._encode = encode
        self._by_id, self._by_text, self._kept = {}, {}, []
        self.rows = []

    def number(self, value):
        """The row of a value."""
        row = self._by_id.get(id(value))
        if row is None:
            encoded = self._encode(value)
            row = self._by_text.setdefault(_canonical(encoded), len(self.rows))
            if row == len(self.rows):
                self.rows.append(encoded)
            self._by_id[id(value)] = row
            self._kept.append(value)  # so that no other one gets its id
        return row


def of(calling):
    """The binding of a _private.Calling."""
    encoder = _Encoder(calling.devices)
    shardings, layouts = encoder.shardings, encoder.layouts
    record = {
        "version": VERSION,
        "in": encoder.tree(calling.in_tree), "out": encoder.tree(calling.out_tree),
        "arguments": [
            [*encoder.aval(aval), shardings.number(sharding), layouts.number(layout), i in calling.kept,
             bool(donated)]
            for i, (aval, sharding, layout, donated) in enumerate(zip(
                calling.in_avals, calling.in_shardings, calling.in_layouts, calling.donated,
                strict=True))],
        "constants": calling.constants,
        "results": [[*encoder.aval(aval), shardings.number(sharding), layouts.number(layout)]
                    for aval, sharding, layout in zip(calling.out_avals, calling.out_shardings,
                                                      calling.out_layouts, strict=True)],
        "devices": len(calling.devices), "callbacks": calling.callbacks,
        "effects": {"ordered": [type(one).__name__ for one in calling.ordered_effects],
                    "unordered": sorted(type(one).__name__ for one in calling.unordered_effects)},
        "writes_to_references": calling.writes_to_references,
    }
    return Binding({**record, "shardings": shardings.rows, "layouts": layouts.rows,
                    "left_out": sorted(encoder.left_out)})


def of_lowered(lowered):
    """The binding of a jax.stages.Lowered. What JAX leaves to XLA stands as None."""
    return of(_private.calling_of_lowered(lowered))


def of_compiled(compiled):
    """The binding of a jax.stages.Compiled, with the shardings and layouts that it has."""
    return of(_private.calling_of_compiled(compiled))


_NAMES = {"in": "the tree of arguments", "out": "the tree of results",
          "constants": "the number of constants as arguments", "devices": "the number of devices",
          "callbacks": "the number of callbacks", "effects": "the effects",
          "writes_to_references": "whether it writes to references", "version": "the record's version"}


def differences(a, b):
    """Where two bindings differ, one sentence each; empty when their digests are equal."""
    said = []
    for field, name in _NAMES.items():
        if a.record[field] != b.record[field]:
            said.append(f"{name} differs: {_short(a.record[field])} and {_short(b.record[field])}")
    for field in ("arguments", "results"):
        one, other = _spelled(a.record, field), _spelled(b.record, field)
        if len(one) != len(other):
            said.append(f"there are {len(one)} and {len(other)} {field}")
            continue
        differing = [i for i, pair in enumerate(zip(one, other)) if pair[0] != pair[1]]
        for i in differing[:5]:
            said.append(f"{field[:-1]} {i} differs: {_short(one[i])} and {_short(other[i])}")
        if len(differing) > 5:
            said.append(f"and {len(differing) - 5} more {field} differ")
    return said


def _spelled(record, field):
    return [[*one[:3], record["shardings"][one[3]], record["layouts"][one[4]], *one[5:]]
            for one in record[field]]


def _short(value):
    text = _canonical(value)
    return text if len(text) <= 300 else text[:297] + "..."
