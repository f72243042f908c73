"""Calls of what compile_or_load gives: JAX's own, and exact words where the arguments do not fit.

A call that fits takes JAX's path, its dispatch in C++ included. Only where JAX refused the arguments
does anything here look at them: it names the path, what was expected and what was found, or finds that
only static data of the tree is new, which a retrace may prove harmless.
"""

import contextlib

import jax

from precast.jax import _binding, _private

_MOST_SHOWN = 5
_MOST_TREES = 8  # of static data that were proven, for each executable

_call_of_jax = jax.stages.Compiled.__call__


class Compiled(jax.stages.Compiled):
    """A jax.stages.Compiled whose errors about arguments name the path.

    `retrace`: makes the jax.stages.Compiled for arguments of a tree with other static data, or raises
    why not; None where the stage was no Traced. `retrace_under`: a context for it."""

    retrace = None
    retrace_under = contextlib.nullcontext
    _others = ()

    def __call__(self, *args, **kwargs):
        try:
            return _call_of_jax(self, *args, **kwargs)
        except (TypeError, ValueError) as error:
            other = _after_refusal(self, args, kwargs, error)
        result = _call_of_jax(other, *args, **kwargs)
        # The latest static data is that of the next calls: they take JAX's path at once.
        _private.dispatch_to(self, other)
        return result


def named(compiled, retrace):
    """The same executable with errors that name paths."""
    if type(compiled) is jax.stages.Compiled:
        compiled.__class__ = Compiled
    if isinstance(compiled, Compiled):
        compiled.__dict__["retrace"] = retrace  # no method
    return compiled


def _after_refusal(compiled, args, kwargs, error):
    """A jax.stages.Compiled that takes these arguments; else raises what is wrong with them."""
    leaves, tree = jax.tree.flatten((args, kwargs))
    if any(isinstance(leaf, jax.core.Tracer) for leaf in leaves):
        raise error
    for other in compiled._others:
        if other.in_tree == tree:
            wrong = []
            _leaves(other, (args, kwargs), wrong)
            if wrong:
                raise _told(type(error), wrong) from error
            return other
    try:
        wrong, static = _differences(compiled, args, kwargs, tree)
    except Exception:  # pylint: disable=broad-exception-caught  # JAX's own words are the next best
        raise error from None
    if wrong:
        raise _told(type(error), wrong) from error
    if not static:
        raise error
    if compiled.retrace is None:
        raise _told(type(error), [
            f"{path} is a {name} with other static data, and whether the program is the same cannot be "
            "proven: only what was compiled from a jax.stages.Traced (jax.jit(function).trace(...)) of a "
            "function without static arguments can be traced again" for path, name in static]) from error
    try:
        with compiled.retrace_under():
            other = compiled.retrace(compiled, args, kwargs)
    except Exception as why:  # pylint: disable=broad-exception-caught  # whatever tracing raises
        raise _told(type(error), [
            f"{path} is a {name} with other static data, and a retrace did not prove the program to be the "
            f"same: {why}" for path, name in static]) from why
    first, *later = compiled._others or (_private.copy_of(compiled),)
    compiled._others = (first, *later[2 - _MOST_TREES:], other)
    return other


def _told(kind, wrong):
    shown = wrong[:_MOST_SHOWN]
    if len(wrong) > len(shown):
        shown.append(f"and {len(wrong) - len(shown)} more")
    return kind("the arguments are not those that the executable was compiled for:\n  " + "\n  ".join(shown))


def _differences(compiled, args, kwargs, tree):
    """(sentences, [(path, type)] of nodes with other static data)."""
    wrong, static = [], []
    if tree != compiled.in_tree:
        _structure(compiled.args_info, (args, kwargs), (), wrong, static)
        if not wrong and not static:
            static.append(("the tree of the arguments", "tree"))
    if not wrong:
        _leaves(compiled, (args, kwargs), wrong)
    return wrong, static


def _path(keys):
    if not keys:
        return "the arguments"
    return ("args", "kwargs")[keys[0].idx] + jax.tree_util.keystr(tuple(keys[1:]))


def _children(node):
    """The children of a node by key; None of a leaf."""
    if jax.tree_util.all_leaves([node]):
        return None
    return {keys[0]: child for keys, child in jax.tree_util.tree_flatten_with_path(
        node, is_leaf=lambda value: value is not node)[0]} if node is not None else {}


def _structure(expected, found, keys, wrong, static):
    """Where two trees differ. `expected` has jax.stages.ArgInfo as leaves."""
    wanted, given = _children(expected), _children(found)
    path = _path(keys)
    if wanted is None or given is None:
        if (wanted is None) != (given is None):
            what = _kind(expected) if wanted is not None else _aval_text(expected)
            wrong.append(f"{path}: expected {what}, found {_kind(found)}")
        return
    if type(expected) is not type(found):
        wrong.append(f"{path}: expected {_kind(expected)}, found {_kind(found)}")
        return
    missing = [key for key in wanted if key not in given]
    extra = [key for key in given if key not in wanted]
    wrong += [f"{_path((*keys, key))}: expected, and not given" for key in missing]
    wrong += [f"{_path((*keys, key))}: given, and not expected" for key in extra]
    if missing or extra:
        return
    before = len(wrong), len(static)
    for key, child in wanted.items():
        _structure(child, given[key], (*keys, key), wrong, static)
    if (len(wrong), len(static)) == before and _private.node_data(expected) is not None \
            and jax.tree.structure(expected) != jax.tree.structure(found):
        static.append((path, _binding.name_of(type(found))))


def _kind(node):
    if node is None:
        return "None"
    if jax.tree_util.all_leaves([node]):
        return _found_text(node)
    size = f" of {len(node)}" if isinstance(node, tuple | list) and not hasattr(node, "_fields") else ""
    return f"a {_binding.name_of(type(node)).removeprefix('builtins.')}{size}"


def _shape_text(shape, dtype):
    return f"{dtype.name}[{','.join(str(size) for size in shape)}]"


def _aval_text(info):
    return _shape_text(info.shape, info.dtype)


def _found_text(leaf):
    try:
        aval = jax.typeof(leaf)
    except TypeError:
        return f"a {_binding.name_of(type(leaf)).removeprefix('builtins.')}, which is no array"
    return _shape_text(aval.shape, aval.dtype)


def _leaves(compiled, given, wrong):
    """Leaves that are no arrays of the shape, type, sharding and layout that are expected."""
    tree = compiled.in_tree
    found = jax.tree_util.tree_leaves_with_path(given)
    avals = tree.flatten_up_to(compiled.in_avals)
    formats = tree.flatten_up_to(compiled.input_formats)
    for (keys, leaf), aval, wanted in zip(found, avals, formats, strict=True):
        expected, got = _shape_text(aval.shape, aval.dtype), _found_text(leaf)
        # Who is not committed is moved; an argument that the program does not use has no sharding.
        placed = wanted.sharding is not None and isinstance(leaf, jax.Array) and leaf.committed
        elsewhere = placed and not leaf.sharding.is_equivalent_to(wanted.sharding, leaf.ndim)
        turned = placed and not elsewhere and wanted.layout is not None \
            and leaf.format.layout is not None and leaf.format.layout != wanted.layout
        if expected == got and not elsewhere and not turned:
            continue
        if placed:
            expected += f" on {wanted.sharding}"
            got += f" on {leaf.sharding}"
        elif wanted.sharding is None:
            expected += " (which the program does not use)"
        if turned:
            expected += f" with {wanted.layout}"
            got += f" with {leaf.format.layout}"
        wrong.append(f"{_path(keys)}: expected {expected}, found {got}")
