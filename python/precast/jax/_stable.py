"""Digests of functions and values, equal in every process that has the same code and the same state.

For the rules of custom_partitioning, which the compiler calls and no program holds. What a rule reads
counts, recursively: code (without file names and line numbers), constants, defaults, closed-over
variables, globals, attributes of modules, the code of classes, the state of objects. Libraries whose
version says all about their code (_libraries.py) count by name and version. What cannot be covered raises
Unseen with the way to it: a digest that leaves something out would be a wrong hit some day.
"""

import collections
import contextlib
import dataclasses
import enum
import functools
import hashlib
import json
import logging
import re
import types

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, PartitionSpec, Sharding

from precast.jax import _private, _sharding_record
from precast.jax._libraries import LIBRARIES, library_name, refuse_what_asks_the_system
from precast.jax._references import Undefined, Unseen, asks_for_devices, references

# What a class holds beside its code.
_OF_CLASSES = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__annotations_cache__", "__annotate__", "__annotate_func__", "__firstlineno__",
    "__static_attributes__", "__dataclass_fields__", "__dataclass_params__", "__orig_bases__",
    "__parameters__", "__type_params__", "__abstractmethods__", "_abc_impl"})
_OF_NAMEDTUPLES = frozenset({
    "__new__", "_make", "_replace", "__replace__", "_asdict", "__repr__", "__getnewargs__",
    "_field_defaults", "_fields"})
_MOST_VALUES = 100_000


class Digest:
    """The digest of values, put in one after another. devices: those of the program, in order."""

    def __init__(self, devices=()):
        self._hash = hashlib.sha256()
        self._places = {device.id: position for position, device in enumerate(devices)}
        self._seen = {}  # id -> (number, the value: so that no other one gets its id)
        self._way = []
        self._count = 0
        self.asks_for_devices = False

    def hex(self):
        """The digest of what was put in so far."""
        return self._hash.hexdigest()

    def put(self, label, value):
        """Adds a value. Raises Unseen, with the way from `label` to what cannot be covered."""
        self._way = []
        try:
            with self._step(label):
                self._value(value)
        except RecursionError:
            raise Unseen(f"{label} is nested too deeply") from None
        except Unseen as error:
            raise Unseen(f"{', '.join(self._way)}: {error}") from None

    @contextlib.contextmanager
    def _step(self, label):
        self._way.append(label)
        yield
        self._way.pop()  # not after an error: the way is told

    def _mark(self, kind, data=b""):
        for part in (kind.encode(), data if isinstance(data, bytes) else str(data).encode()):
            self._hash.update(len(part).to_bytes(8, "little"))
            self._hash.update(part)

    def _all(self, kind, labelled):
        labelled = list(labelled)
        self._mark(kind, len(labelled))
        for label, value in labelled:
            with self._step(label):
                self._value(value)

    def _value(self, value):
        self._count += 1
        if self._count > _MOST_VALUES:
            raise Unseen("it reaches too many values")
        if self._is_scalar(value) or self._is_of_library(value):
            return
        refuse_what_asks_the_system(value)
        # By value: two processes need not share equal ones in the same way.
        if type(value) is tuple:
            return self._all("tuple", ((f"[{i}]", one) for i, one in enumerate(value)))
        if type(value) in (frozenset, set):
            return self._set(value)
        if value is jax.config:  # _rules.py has its values
            return self._mark("jax.config")
        if isinstance(value, types.CodeType):
            return self._code(value)
        if id(value) in self._seen:
            return self._mark("again", self._seen[id(value)][0])
        self._seen[id(value)] = (len(self._seen), value)
        if type(value) in (dict, types.MappingProxyType):
            return self._dict(value)
        if type(value) is list:
            return self._all("list", ((f"[{i}]", one) for i, one in enumerate(value)))
        if type(value) in self._EXACT:
            return self._EXACT[type(value)](self, value)
        for kinds, add in self._KINDS:
            if isinstance(value, kinds):
                return add(self, value)
        return self._object(value)

    def _is_scalar(self, value):
        kind = type(value)
        if value is None or value is Ellipsis or value is NotImplemented or value is Undefined:
            self._mark("constant", getattr(value, "__name__", None) or repr(value))
        elif kind in (bool, int):
            self._mark(kind.__name__, value)
        elif kind is float:
            self._mark("float", value.hex())
        elif kind is complex:
            self._mark("complex", f"{value.real.hex()} {value.imag.hex()}")
        elif kind is str:
            self.asks_for_devices |= asks_for_devices(value)
            self._mark("str", value.encode("utf-8", "surrogatepass"))
        elif kind is bytes:
            self._mark("bytes", value)
        else:
            return False
        return True

    def _set(self, value):
        digests = []
        for one in value:
            inner = Digest()
            inner._places = self._places
            inner._value(one)
            self.asks_for_devices |= inner.asks_for_devices
            self._count += inner._count
            digests.append(inner.hex())
        self._mark("set", " ".join(sorted(digests)))

    def _is_of_library(self, value):
        """Whether a library's name for a value says it all."""
        module, name = library_name(value)
        if module is None:
            return False
        self._mark("library", f"{module} {name}")
        return True

    def _code(self, code):
        self._mark("code", code.co_name)
        for part in (code.co_code, code.co_exceptiontable):
            self._mark("bytes", part)
        for number in (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags):
            self._mark("int", number)
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._value(names)
        self._all("constants", ((f"constant {i}", one) for i, one in enumerate(code.co_consts)))

    def _function(self, function):
        self._mark("function", function.__name__)
        self._code(function.__code__)
        # functools.wraps copies what JAX keeps of a function; the function itself is closed over.
        attributes = {name: value for name, value in vars(function).items() if name not in (
            *_private.OF_JITTED, "__wrapped__", "__signature__", "__annotations__")}
        for value in (function.__defaults__, function.__kwdefaults__):
            with self._step(f"defaults of {function.__name__}()"):
                self._value(value)
        with self._step(f"attributes of {function.__name__}()"):
            self._attributes(attributes)
        with self._step(f"{function.__name__}()"):
            found = references(function)
            self._mark("references", len(found))
            for label in sorted(found):
                self._mark("label", label)
                with self._step(label):
                    self._value(found[label])

    def _class(self, kind):
        if kind.__flags__ & (1 << 9) == 0:  # no heap type: made in C, and no library's
            raise Unseen(f"it uses the type {kind.__module__}.{kind.__qualname__}, whose code is not known")
        self._mark("class", f"{kind.__module__} {kind.__qualname__}")
        self._value(type(kind))
        self._value(kind.__bases__)
        named = issubclass(kind, tuple) and hasattr(kind, "_fields")  # JAX knows those by itself
        if not named and not issubclass(kind, type | enum.Enum) and _private.is_node_type(kind):
            raise Unseen(f"it uses the pytree node {kind.__qualname__}, whose functions are in tables of JAX")
        members = {name: value for name, value in vars(kind).items() if name not in _OF_CLASSES}
        if issubclass(kind, enum.Enum):
            self._all("members", [(f"{kind.__name__}.{one.name}", one.value) for one in kind])
            members = {name: value for name, value in members.items() if name not in kind.__members__
                       and not (name.startswith("_") and name.endswith("_") and not name.startswith("__"))}
        if named:
            self._value((kind._fields, kind._field_defaults))
            members = {name: value for name, value in members.items()
                       if name not in _OF_NAMEDTUPLES and name not in kind._fields}
        if "__dataclass_fields__" in vars(kind):
            self._fields(kind)
            members = {name: value for name, value in members.items() if not _is_generated(value)}
        self._mark("members", len(members))
        for name in sorted(members):
            self._mark("member", name)
            with self._step(f"{kind.__name__}.{name}"):
                self._value(members[name])

    def _fields(self, kind):
        """What dataclass() generates its functions from."""
        params = vars(kind)["__dataclass_params__"]
        self._all("dataclass", [(name, getattr(params, name)) for name in (
            "init", "repr", "eq", "order", "unsafe_hash", "frozen")])
        for field in vars(kind)["__dataclass_fields__"].values():
            self._all(f"field {field.name}", [(f"{kind.__name__}.{field.name}", getattr(field, name)) for name in (
                "default", "default_factory", "init", "repr", "compare", "hash", "kw_only", "metadata")])

    def _method(self, method):
        self._mark("method")
        self._value(method.__func__)
        with self._step("the object of the method"):
            self._value(method.__self__)

    def _partial(self, partial):
        self._mark("partial")
        self._value(type(partial))
        self._all("partial", [("function", partial.func), ("arguments", partial.args),
                              ("keywords", partial.keywords), ("attributes", vars(partial))])

    def _wrapper(self, wrapper):  # lru_cache
        self._mark("lru_cache")
        self._value(wrapper.cache_parameters())
        self._value(wrapper.__wrapped__)

    def _dict(self, value):
        self._mark(type(value).__name__, len(value))
        for key, one in value.items():
            with self._step("a key"):
                self._value(key)
            with self._step(f"[{key!r}]" if isinstance(key, str | int) else "a value"):
                self._value(one)

    def _array(self, array):
        if array.dtype.hasobject:
            raise Unseen("it holds an array of objects")
        self._mark("array", f"{array.dtype.str} {array.dtype.name} {array.shape}")
        self._value(tuple(map(tuple, array.dtype.descr)) if array.dtype.names else None)
        self._mark("bytes", np.ascontiguousarray(array).tobytes())

    def _jax_array(self, array):
        if isinstance(array, jax.core.Tracer) or array.is_deleted() or not array.is_fully_addressable \
                or jax.dtypes.issubdtype(array.dtype, jax.dtypes.extended):
            raise Unseen("it holds an array whose values cannot be read")
        self._mark("jax array", f"{bool(array.aval.weak_type)} {bool(array.committed)}")
        self._value(array.sharding if array.committed else None)
        self._array(np.asarray(array))

    def _placed(self, value):
        said = _sharding_record.record(value, self._places)
        if not _sharding_record.is_whole(said):
            raise Unseen(f"it holds a {type(value).__name__} of other devices, or one that is not known")
        self._mark("placed", json.dumps(said, sort_keys=True))

    def _device(self, device):
        if device.id not in self._places:
            raise Unseen("it holds a device that the program does not run on")
        self._mark("device", self._places[device.id])

    def _object(self, value):
        """An object of Python: its class and its whole state."""
        self._mark("object")
        self._value(type(value))
        # What a class says about its content may leave something out.
        for base, content in ((collections.OrderedDict, collections.OrderedDict.items), (dict, dict.items),
                              (list, list.__iter__), (tuple, tuple.__iter__)):
            if isinstance(value, base):
                self._all("content", (("content", one) for one in list(content(value))))
                break
        with self._step(f"the state of a {type(value).__name__}"):
            self._attributes(_state(value))

    def _attributes(self, state):
        """What __getstate__ gives: names of attributes are no texts that code may ask with."""
        if type(state) is tuple:
            self._mark("states", len(state))
            for one in state:
                self._attributes(one)
        elif state is None:
            self._mark("no state")
        else:
            self._mark("state", len(state))
            for name, value in state.items():
                self._mark("attribute", name)
                with self._step(f".{name}"):
                    self._value(value)

    _EXACT, _KINDS = {}, ()


def _is_generated(member):
    inner = getattr(member, "__wrapped__", member)
    return isinstance(inner, types.FunctionType) and inner.__code__.co_filename == "<string>"


def _state(value):
    """The whole state of an object whose class is Python's alone. Raises Unseen for others."""
    kind = type(value)
    name = f"an object of the type {kind.__module__}.{kind.__qualname__}"
    # With slots, and so nothing else.
    if dataclasses.is_dataclass(value) and getattr(kind.__getstate__, "__module__", None) == "dataclasses":
        return {field.name: getattr(value, field.name, Undefined) for field in dataclasses.fields(value)}
    plain = kind.__reduce_ex__ is object.__reduce_ex__ and kind.__reduce__ is object.__reduce__ \
        and kind.__getstate__ is object.__getstate__
    if isinstance(value, tuple | dict | list):
        if not plain and kind not in (collections.OrderedDict, collections.defaultdict):
            raise Unseen(name)
        return {"factory": getattr(value, "default_factory", None), **getattr(value, "__dict__", {})}
    if not plain or hasattr(kind, "__getnewargs__") or hasattr(kind, "__getnewargs_ex__"):
        raise Unseen(name)
    try:
        # It refuses what has more to it than its slots and its dict.
        return object.__reduce_ex__(value, 2)[2]
    except TypeError:
        raise Unseen(name) from None


def _jitted(digest, function):
    fun, settings = _private.jit_parts(function)
    digest._all("jit", [("function", fun), ("settings", settings)])


def _tree(digest, tree):
    data = tree.node_data()
    digest._mark("tree", len(tree.children()))
    digest._value(data)
    for child in tree.children():
        digest._value(child)


Digest._EXACT = {
    staticmethod: lambda digest, value: digest._all("staticmethod", [("function", value.__func__)]),
    classmethod: lambda digest, value: digest._all("classmethod", [("function", value.__func__)]),
    property: lambda digest, value: digest._all(
        "property", [("get", value.fget), ("set", value.fset), ("delete", value.fdel)]),
    functools.cached_property: lambda digest, value: digest._all("cached", [("get", value.func)]),
    types.MemberDescriptorType: lambda digest, value: digest._mark("slot", value.__name__),
    types.GetSetDescriptorType: lambda digest, value: digest._mark("slot", value.__name__),
    range: lambda digest, value: digest._all("range", _bounds(value)),
    slice: lambda digest, value: digest._all("slice", _bounds(value)),
    re.Pattern: lambda digest, value: digest._all(
        "pattern", [("pattern", value.pattern), ("flags", value.flags)]),
    logging.Logger: lambda digest, value: digest._mark("logger", value.name),
    np.ndarray: Digest._array,
    jax.ShapeDtypeStruct: lambda digest, value: digest._all("ShapeDtypeStruct", [
        (name, getattr(value, name)) for name in ("shape", "dtype", "sharding", "weak_type")]),
    jax.tree_util.PyTreeDef: _tree,
    _private.JITTED: _jitted,
    _private.JIT_SETTINGS: lambda digest, value: digest._all(
        "settings of jit", sorted(_private.without_source(value).items())),
}
Digest._KINDS = (
    (types.FunctionType, Digest._function),
    (types.MethodType, Digest._method),
    (types.ModuleType, lambda digest, value: _refuse(f"the module '{value.__name__}'")),
    (type, Digest._class),
    (functools.partial, Digest._partial),
    (type(functools.lru_cache(lambda: None)), Digest._wrapper),
    (enum.Enum, lambda digest, value: digest._all(
        "enum", [("class", type(value)), ("name", value.name)])),
    (np.generic, lambda digest, value: _of_library(digest, value, digest._array, np.asarray(value))),
    (np.dtype, lambda digest, value: _of_library(digest, value, digest._array, np.empty(0, value))),
    (jax.Array, Digest._jax_array),
    ((Sharding, Mesh, AbstractMesh, PartitionSpec), lambda digest, value: _of_library(
        digest, value, digest._placed, value)),
    (jax.Device, Digest._device),
    (_private.PRIMITIVE, lambda digest, value: _refuse(
        f"it uses the primitive '{value.name}', whose lowering is in tables of JAX")),
)


def _bounds(value):
    return [(name, getattr(value, name)) for name in ("start", "stop", "step")]


def _of_library(digest, value, add, what):
    """Only for classes of libraries: somebody's own may have more to it."""
    if library_name(type(value))[0] is None and type(value).__module__.partition(".")[0] not in LIBRARIES:
        raise Unseen(f"an object of the type {type(value).__module__}.{type(value).__qualname__}")
    digest._mark("of", type(value).__qualname__)
    add(what)


def _refuse(what):
    raise Unseen(what)
