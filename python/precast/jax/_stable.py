"""Digests of functions and values, equal in every process that has the same code and the same state.

For the rules of custom_partitioning, which the compiler calls and no program holds. What a rule reads
counts, recursively: code (without file names and line numbers), constants, defaults, closed-over
variables, globals, attributes of modules, the code of classes, the state of objects. Libraries whose
version says all about their code (_libraries.py) count by name and version. What cannot be covered raises
Unseen with the way to it: a digest that leaves something out would be a wrong hit some day.
"""

import abc
import collections
import contextlib
import dataclasses
import enum
import functools
import hashlib
import json
import re
import types

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, PartitionSpec, Sharding

from precast.jax import _private, _sharding_record
from precast.jax._libraries import (
    LIBRARIES, library_name, refuse_what_asks_the_system, refuse_what_is_registered)
from precast.jax._references import OF_CLASSES, Undefined, Unseen, asks_for_devices, compares_identities, references

# What functions and their wrappers copy of each other, which code may not ask for.
_OF_FUNCTIONS = frozenset({"__wrapped__", "__signature__", "__annotations__", "__annotate__", *_private.OF_JITTED})
# What a member of an enumeration has; anything else is somebody's own.
_OF_MEMBERS = frozenset({"_value_", "_name_", "__objclass__", "_sort_order_", "_inverted_"})
_OF_C = (types.WrapperDescriptorType, types.MethodDescriptorType)
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")
_MOST_VALUES = 100_000


class Digest:
    """The digest of values, put in one after another. devices: those of the program, in order."""

    def __init__(self, devices=(), after=None):
        """after: the Digest of other parts of the same rule; what is the same object there counts."""
        self._hash, self._identities = hashlib.sha256(), hashlib.sha256()
        self._places = {device.id: position for position, device in enumerate(devices)}
        # id -> (where it was first, the value: so that no other one gets its id)
        self._seen, self._scalars = (after._seen, after._scalars) if after else ({}, {})
        self._part, self._numbered = (after._part + 1 if after else 0), 0
        self._way = []
        self._count = 0
        self.asks_for_devices = False
        self.compares_identities = False  # code asks whether equal numbers or texts are one object

    def hex(self):
        """The digest of what was put in so far."""
        return self._hash.hexdigest() + (self._identities.hexdigest() if self.compares_identities else "")

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
        if issubclass(type(value), abc.ABCMeta):
            refuse_what_is_registered(value)
        if self._count > _MOST_VALUES:
            raise Unseen("it reaches too many values")
        if self._is_scalar(value) or self._is_of_library(value):
            return
        refuse_what_asks_the_system(value)
        if value is jax.config:  # _rules.py has its values
            return self._mark("jax.config")
        if type(value) is tuple and not value:  # there is one
            return self._mark("tuple", 0)
        if id(value) in self._seen:
            return self._mark("again", self._seen[id(value)][0])
        self._seen[id(value)] = (f"{self._part} {self._numbered}", value)
        self._numbered += 1
        if type(value) is tuple:
            return self._all("tuple", ((f"[{i}]", one) for i, one in enumerate(value)))
        if type(value) in (frozenset, set):
            return self._set(value)
        if isinstance(value, types.CodeType):
            return self._code(value)
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
        self.compares_identities |= value != value  # a container finds a NaN by its identity
        number = self._scalars.setdefault(id(value), (f"{self._part} {len(self._scalars)}", value))[0]
        self._identities.update(f"{number},".encode())
        return True

    def _names(self, names):
        """Names in code, which are no values of it."""
        self._mark("names", len(names))
        for name in names:
            self.asks_for_devices |= asks_for_devices(name)
            self._mark("name", name)

    def _set(self, value):
        """Numbers and texts: what else is in a set is found by its hash, which may be its address."""
        for one in value:
            if one is not None and type(one) not in (bool, int, float, complex, str, bytes) or one != one:
                raise Unseen(f"it holds a set of other things than numbers and texts ({type(one).__name__})")
        # The order of numbers is that of the process that put them in, that of texts is nobody's.
        ordered = list(value)
        if any(one is None or isinstance(one, str | bytes) for one in ordered):
            ordered.sort(key=lambda one: (type(one).__name__, repr(one)))
        self._all(type(value).__name__, (("in a set", one) for one in ordered))

    def _is_of_library(self, value):
        """Whether a library's name for a value says it all."""
        module, name = library_name(value)
        if module is None:
            return False
        self.compares_identities |= module in ("_operator", "operator") and name in ("is_", "is_not")
        self._mark("library", f"{module} {name}")
        return True

    def _code(self, code):
        self._mark("code", code.co_name)
        for part in (code.co_code, code.co_exceptiontable):
            self._mark("bytes", part)
        for number in (code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_flags):
            self._mark("int", number)
        for names in (code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars):
            self._names(names)
        self.compares_identities |= compares_identities(code)
        self._all("constants", ((f"constant {i}", one) for i, one in enumerate(code.co_consts)))

    def _function(self, function, generated=False):
        """generated: by a library from what was put in already, so that its code says nothing new."""
        self._mark("function", f"{function.__name__} {function.__qualname__} {function.__module__}")
        self._value(function.__doc__)
        for value in (function.__defaults__, function.__kwdefaults__):
            with self._step(f"defaults of {function.__name__}()"):
                self._value(value)
        with self._step(f"attributes of {function.__name__}()"):
            self._attributes(_own(vars(function)))
        if generated:
            return self._mark("generated")
        if function.__code__ is _REPR.__code__:  # it looks at the thread, to end cycles
            with self._step(f"{function.__name__}()"):
                return self._all("repr", [("function", _cells(function)["user_function"])])
        self._value(function.__code__)
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
        self._mark("class", f"{kind.__module__} {kind.__qualname__} {kind.__name__}")
        doc = vars(kind).get("__doc__")  # dataclass() writes the repr of defaults into it
        self._value(_ADDRESS.sub("", doc) if type(doc) is str else doc)
        self._value(type(kind))
        self._value(kind.__bases__)
        named = issubclass(kind, tuple) and hasattr(kind, "_fields")  # JAX knows those by itself
        if not named and not issubclass(kind, type | enum.Enum) and _private.is_node_type(kind):
            raise Unseen(f"it uses the pytree node {kind.__qualname__}, whose functions are in tables of JAX")
        members = {name: value for name, value in vars(kind).items() if name not in OF_CLASSES}
        if issubclass(kind, enum.Enum):
            self._enumeration(kind, members)
        if named and "_fields" in members:
            self._named_tuple(kind, members)
        if "__dataclass_fields__" in vars(kind):
            self._dataclass(kind, members)
        self._mark("members", len(members))
        for name in sorted(members):
            self._mark("member", name)
            with self._step(f"{kind.__name__}.{name}"):
                self._value(members[name])

    def _enumeration(self, kind, members):
        """Its members, aliases too; takes them and what is of C out of `members`."""
        for name, one in kind.__members__.items():
            found = members.pop(name, one)
            if found is not one and type(found) is not enum.property or getattr(kind, name, None) is not one:
                raise Unseen(f"the member {kind.__name__}.{name} of an enumeration was changed")
            self._mark("named", name)
            with self._step(f"{kind.__name__}.{name}"):
                self._value(one)
        known = {id(one) for one in kind.__members__.values()}
        del members["_member_map_"]
        for value, one in members.pop("_value2member_map_").items():
            if id(one) in known:
                with self._step(f"the values of {kind.__name__}"):
                    self._value(value)
                    self._value(one)
            # A combination of flags, which is made when code first asks for it.
            elif type(one) is not kind or one._value_ != value or not issubclass(kind, enum.Flag) \
                    or not _is_plain_member(one):
                raise Unseen(f"what {kind.__name__}({value!r}) gives was changed")
        for name, value in list(members.items()):
            if type(value) in _OF_C and library_name(value.__objclass__)[0] == "builtins" \
                    and value.__objclass__ in kind.__mro__:
                self._mark("of C", f"{name} {value.__objclass__.__name__} {value.__name__}")
                del members[name]
        made = members.get("_new_member_")
        if isinstance(made, types.BuiltinFunctionType) and made == kind._member_type_.__new__:
            del members["_new_member_"]

    def _member(self, one):
        if not _is_plain_member(one):
            raise Unseen(f"the member {type(one).__name__}.{one._name_} of an enumeration has attributes of its own")
        self._all("enum", [("class", type(one)), ("name", one._name_), ("value", one._value_),
                           ("order", vars(one).get("_sort_order_"))])

    def _named_tuple(self, kind, members):
        """What namedtuple() generated; takes it out of `members`."""
        try:
            made = collections.namedtuple(kind.__name__, members["_fields"], rename=True)
        except (TypeError, ValueError):
            raise Unseen(f"the fields of {kind.__name__} were changed") from None
        if made._fields != members["_fields"]:
            raise Unseen(f"the fields of {kind.__name__} were changed")
        for name, generated in vars(made).items():
            one = members.get(name)
            if type(one) is not type(generated):
                continue
            if hasattr(kind, name) and isinstance(generated, staticmethod | classmethod):
                if _is_like(one.__func__, generated.__func__):
                    self._mark("generated", name)
                    self._attributes(_own(vars(one)))
                    self._function(members.pop(name).__func__, generated=True)
            elif isinstance(generated, types.FunctionType):
                if _is_like(one, generated):
                    self._mark("generated", name)
                    self._function(members.pop(name), generated=True)
            elif name in made._fields and one.__reduce__() == generated.__reduce__():
                self._mark("field", name)
                del members[name]

    def _dataclass(self, kind, members):
        """Its fields; takes a generated __hash__, which calls hash(), out of `members`."""
        self._fields(kind)
        made = dataclasses.make_dataclass("Made", [
            (field.name, object, dataclasses.field(compare=field.compare, hash=field.hash))
            for field in dataclasses.fields(kind)], unsafe_hash=True)
        one = members.get("__hash__")
        if isinstance(one, types.FunctionType) and "hash" not in one.__globals__ and not one.__closure__ \
                and _codes(one.__code__) == _codes(made.__hash__.__code__):
            self._function(members.pop("__hash__"), generated=True)

    def _fields(self, kind):
        """What dataclass() generates its functions from."""
        params = vars(kind)["__dataclass_params__"]
        self._all("dataclass", [(name, getattr(params, name)) for name in (
            "init", "repr", "eq", "order", "unsafe_hash", "frozen")])
        for field in vars(kind)["__dataclass_fields__"].values():
            self._all(f"field {field.name}", [(f"{kind.__name__}.{field.name}", getattr(field, name)) for name in (
                "default", "default_factory", "init", "repr", "compare", "hash", "kw_only", "metadata")])
            self._mark("kind of field", getattr(field._field_type, "name", ""))

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


def _sample():
    @dataclasses.dataclass
    class Sample:
        """Whose __repr__ is like that of every other dataclass."""
    return Sample.__repr__


_REPR = _sample()


def _own(attributes):
    """Attributes of a function without those that are copied from another."""
    return {name: value for name, value in attributes.items() if name not in _OF_FUNCTIONS}


def _cells(function):
    return {name: cell.cell_contents for name, cell in zip(
        function.__code__.co_freevars, function.__closure__ or (), strict=True)}


def _codes(code):
    return (code.co_code, code.co_consts, code.co_names, code.co_varnames, code.co_freevars, code.co_flags,
            code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount, code.co_exceptiontable)


def _is_like(function, generated):
    """Whether it is what namedtuple() generates."""
    return isinstance(function, types.FunctionType) and _codes(function.__code__) == _codes(generated.__code__) \
        and _cells(function) == _cells(generated) and (
            function.__globals__ is generated.__globals__ or
            function.__globals__.get("_tuple_new") == generated.__globals__.get("_tuple_new") == tuple.__new__)


def _is_plain_member(one):
    """Whether a member of an enumeration has only what enum gave it."""
    state = vars(one)
    inverse = state.get("_inverted_")
    return state.keys() <= _OF_MEMBERS and state.get("__objclass__", type(one)) is type(one) and (
        inverse is None or type(inverse) is type(one) and
        inverse._value_ in (~one._value_, ~one._value_ & type(one)._singles_mask_))


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
    digest._all("jit", [("function", fun), ("settings", settings), ("documentation", function.__doc__)])
    digest._mark("named", f"{function.__name__} {function.__qualname__} {function.__module__}")
    digest._attributes(_own(vars(function)))


def _of_class(kind):
    """Adds a staticmethod or classmethod."""
    def add(digest, value):
        digest._all(kind, [("function", value.__func__)])
        digest._attributes(_own(vars(value)))
    return add


def _tree(digest, tree):
    data = tree.node_data()
    digest._mark("tree", len(tree.children()))
    digest._value(data)
    for child in tree.children():
        digest._value(child)


Digest._EXACT = {
    staticmethod: _of_class("staticmethod"),
    classmethod: _of_class("classmethod"),
    property: lambda digest, value: digest._all(
        "property", [("get", value.fget), ("set", value.fset), ("delete", value.fdel),
                     ("documentation", value.__doc__), ("name", getattr(value, "__name__", None))]),
    functools.cached_property: lambda digest, value: _refuse(
        "it uses a cached_property, whose content no digest covers"),
    types.MemberDescriptorType: lambda digest, value: digest._mark("slot", value.__name__),
    types.GetSetDescriptorType: lambda digest, value: digest._mark("slot", value.__name__),
    range: lambda digest, value: digest._all("range", _bounds(value)),
    slice: lambda digest, value: digest._all("slice", _bounds(value)),
    re.Pattern: lambda digest, value: digest._all(
        "pattern", [("pattern", value.pattern), ("flags", value.flags)]),
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
    (type(functools.lru_cache(lambda: None)), lambda digest, value: _refuse(
        f"it uses the lru_cache of {value.__name__}(), whose content no digest covers")),
    (enum.Enum, Digest._member),
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
