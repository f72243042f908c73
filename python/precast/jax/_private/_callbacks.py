"""Private names of JAX: what the host's functions of an executable were made of, and nodes of pytrees."""

import functools
import typing

import jax

__all__ = ["HostCallback", "callback_name", "constants_of", "effect_names", "flatten_node", "format_of",
           "host_callbacks", "node_structure"]


class HostCallback(typing.NamedTuple):
    """A function of the host that a program calls.

    kind: "pure", "io" or "debug". function: the user's own. in_tree: of (args, kwargs). results: avals."""

    kind: str
    ordered: bool
    function: object
    in_tree: object
    results: tuple


def _captured(function):
    """What a function closes over, by name."""
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    return {name: cell.cell_contents for name, cell in zip(names, cells, strict=True)}


def _described(callback):
    outer = _captured(callback)
    ordered = "callback_without_token" in outer
    if ordered:
        outer = _captured(outer["callback_without_token"])
    lowered = outer["callback"]
    kind = lowered.__qualname__.partition("_")[0]
    inner = _captured(lowered)["callback"]
    if kind in ("pure", "io"):
        return HostCallback(kind, ordered, inner.callback_func, inner.in_tree, tuple(outer["result_avals"]))
    if kind != "debug":
        raise LookupError(lowered.__qualname__)
    inside = _captured(inner)
    if inside["static_args"]:
        raise ValueError("it calls back into Python with arguments that are no arrays")
    return HostCallback("debug", ordered, inside["callback"], inside["in_tree"], ())


def host_callbacks(compiled):
    """The HostCallbacks of a jax.stages.Compiled, in the order in which the program numbers them.
    ValueError where this JAX does not say what they are."""
    try:
        return [_described(one) for one in compiled._executable._unloaded_executable.host_callbacks]
    except (LookupError, AttributeError, TypeError) as error:
        raise ValueError(f"it calls back into Python in a way that is not known here ({error})") from error


def effect_names(effects):
    """The kinds of effects, in order."""
    return [type(effect).__name__ for effect in effects]


def callback_name(function):
    """A name for a function of the host, for people."""
    while isinstance(function, functools.partial):
        function = function.func
    name = getattr(function, "__qualname__", type(function).__qualname__)
    return "jax.debug.print" if name == "_format_print_callback" else name


def flatten_node(node):
    """(children, static data) of a pytree's root; None of a leaf, and of None."""
    found = jax.tree_util.default_registry.flatten_one_level(node)
    return None if found is None else (list(found[0]), found[1])


def node_structure(kind, static, count):
    """The structure of a node of this type and static data, with so many leaves."""
    leaf = jax.tree.structure(0)
    return leaf.from_node_data_and_children(jax.tree_util.default_registry, (kind, static), [leaf] * count)


def constants_of(compiled):
    """The constants that JAX passes as arguments."""
    return compiled._params.const_args


def format_of(layout, sharding):
    """A Format of what an executable says about an argument; its layout may be XLA's own, and is None where
    JAX does not ask for it (beside tokens of effects)."""
    from jax.experimental.layout import Format, Layout  # pylint: disable=import-outside-toplevel
    if layout is not None and not isinstance(layout, Layout):
        layout = Layout.from_pjrt_layout(layout)
    return Format(layout, sharding)
