"""What code refers to: the globals, closed-over variables and attributes of modules that it reads."""

import builtins
import dis
import sys
import types

# Of the builtins these reach what no digest sees, or differ from process to process.
REFUSED_BUILTINS = frozenset({
    "open", "eval", "exec", "compile", "__import__", "input", "globals", "locals", "vars", "dir", "id",
    "hash", "setattr", "delattr", "breakpoint"})

# What a class holds beside its code.
OF_CLASSES = frozenset({
    "__dict__", "__weakref__", "__doc__", "__module__", "__qualname__", "__annotations__",
    "__annotations_cache__", "__annotate__", "__annotate_func__", "__firstlineno__",
    "__static_attributes__", "__dataclass_fields__", "__dataclass_params__", "__orig_bases__",
    "__parameters__", "__type_params__", "_abc_impl"})
_COUNTED_OF_CLASSES = frozenset({"__dict__", "__weakref__", "__doc__", "__module__", "__qualname__"})

# By these, code reaches globals that it does not name, or any class there is.
_REFUSED_NAMES = frozenset({
    "__globals__", "__builtins__", "__subclasses__", "__loader__", "__spec__", "f_globals", "f_locals",
    "f_builtins", "f_back", "gi_frame", "cr_frame", "ag_frame", "tb_frame",
    # What digests of code leave out.
    "__wrapped__", "__signature__", "co_filename", "co_firstlineno", "co_positions", "co_lines", "co_linetable"
}) | (OF_CLASSES - _COUNTED_OF_CLASSES)

# Who asks for these may see which devices they are, and not only how they are arranged.
DEVICE_NAMES = frozenset({
    "devices", "device_set", "device_ids", "local_devices", "local_mesh", "addressable_devices",
    "process_index", "id", "_flat_devices_tuple", "_flat_devices_set", "_internal_device_list",
    "_device_assignment", "devices_indices_map", "addressable_devices_indices_map", "__dict__",
    "__getstate__", "__reduce__", "__reduce_ex__"})


class Unseen(Exception):
    """Something that a digest cannot cover; the text says what."""


def codes_of(code):
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from codes_of(constant)


def asks_for_devices(text):
    """Whether a name, or a text that may name an attribute, is one by which code sees devices. Raises
    Unseen for those by which it sees anything."""
    parts = text.split(".")
    if not _REFUSED_NAMES.isdisjoint(parts):
        raise Unseen(f"it asks for {min(_REFUSED_NAMES.intersection(parts))}, by which it may reach anything")
    return not DEVICE_NAMES.isdisjoint(parts)


def compares_identities(code):
    """Whether code asks if two values are one object, other than by comparing with a constant or a class."""
    read = [one for one in dis.get_instructions(code) if one.opname not in ("EXTENDED_ARG", "CACHE", "NOP")]
    return any(one.opname == "IS_OP" and not (
        read[at - 1].opname == "LOAD_CONST" and read[at - 1].argval in (None, True, False, ...) or
        read[at - 1].opname == "LOAD_ATTR" and read[at - 1].argval == "__class__")
        for at, one in enumerate(read))


def references(function):
    """(label, value) of what a function reads outside of itself, in the order of its code; modules
    stand for what is read from them. Raises Unseen."""
    cells = dict(zip(function.__code__.co_freevars, function.__closure__ or (), strict=True))
    found = {}
    for code in codes_of(function.__code__):
        read = [one for one in dis.get_instructions(code)
                if one.opname not in ("EXTENDED_ARG", "CACHE", "NOP")]
        for at, one in enumerate(read):
            if one.opname in ("STORE_GLOBAL", "DELETE_GLOBAL"):
                raise Unseen(f"it writes to the global '{one.argval}'")
            if one.opname == "IMPORT_NAME":
                found.update(_imported(one.argval, read, at))
                continue
            if one.opname in ("LOAD_GLOBAL", "LOAD_NAME", "LOAD_FROM_DICT_OR_GLOBALS"):
                label, value = f"global '{one.argval}'", _global(function, one.argval)
            elif one.opname in ("LOAD_DEREF", "LOAD_CLASSDEREF", "LOAD_FROM_DICT_OR_DEREF") \
                    and one.argval in cells:
                label, value = f"closed-over '{one.argval}'", _content(cells[one.argval])
            else:
                continue
            if isinstance(value, types.ModuleType):
                label, value = _attribute(label, value, read, at)
            found[label] = value
    # What is passed on to inner functions is read there, and what is read nowhere does not matter;
    # but a cell may be read by frames that this code does not show.
    for name, cell in cells.items():
        value = _content(cell)
        if not isinstance(value, types.ModuleType):
            found.setdefault(f"closed-over '{name}'", value)
    return found


class Undefined:
    """A name without a value."""


def _content(cell):
    try:
        return cell.cell_contents
    except ValueError:
        return Undefined


def _global(function, name):
    if name in function.__globals__:
        return function.__globals__[name]
    if name in REFUSED_BUILTINS:
        raise Unseen(f"it calls {name}(), whose results no digest covers")
    return getattr(builtins, name, Undefined)


def _attribute(label, module, read, at):
    """What is read from a module: its attributes as the next instructions name them."""
    value = module
    for one in read[at + 1:]:
        if not isinstance(value, types.ModuleType):
            return label, value
        if one.opname not in ("LOAD_ATTR", "LOAD_METHOD"):
            break
        label += f".{one.argval}"
        value = getattr(value, one.argval, Undefined)
    if isinstance(value, types.ModuleType):
        raise Unseen(f"it hands the module '{value.__name__}' on as a value ({label})")
    return label, value


def _imported(name, read, at):
    """What `from name import ...` inside a function brings."""
    module, found = sys.modules.get(name), {}
    if read[at - 2].argval != 0:
        raise Unseen(f"it imports the module '{name}' of its own package where it runs")
    following = [one for one in read[at + 1:at + 64]]
    for one in following:
        if one.opname == "IMPORT_FROM":
            value = getattr(module, one.argval, Undefined)
            if module is None or value is Undefined or isinstance(value, types.ModuleType):
                break
            found[f"import '{name}.{one.argval}'"] = value
        elif not one.opname.startswith("STORE_"):
            break
    if not found or one.opname == "IMPORT_FROM":
        raise Unseen(f"it imports the module '{name}' where it runs")
    return found
