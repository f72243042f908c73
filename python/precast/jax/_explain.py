"""Why two compiles are not one, in sentences."""

import jax

from precast import _precast
from precast.jax import _binding, _serve
from precast.jax._report import Report


def _report(given):
    if isinstance(given, Report):
        return given
    if isinstance(given, jax.stages.Compiled) and given in _serve.reports:
        return _serve.reports[given]
    raise TypeError(f"explain takes a Report, or a Compiled that compile_or_load gave, not {type(given)}")


def _items(report):
    """The items of a key by field and name; None where the cache has no entry of it."""
    if not report.artifact_path or report.root is None:
        return None
    try:
        fields = _precast.Artifact.read(report.artifact_path).fields
    except _precast.Error:
        return None
    found = {}
    for field, items in fields.items():
        for name, value in items:
            found.setdefault((field, name), []).append(value)
    return found


def _shown(values):
    if values is None:
        return "nothing"
    text = ", ".join(value.decode("utf-8", "backslashreplace") for value in values)
    return repr(text if len(text) <= 120 else text[:117] + "...")


def _keys(a, b):
    if a.key == b.key:
        return []
    if a.key is None or b.key is None:
        without = a if a.key is None else b
        return [f"'{without.name}' has no key ({without.outcome}, {without.reason}): {without.detail}"]
    one, other = _items(a), _items(b)
    if one is None or other is None:
        return [f"the keys differ ({a.key} and {b.key}), and the cache has no entry to compare them by"]
    names = list(one) + [name for name in other if name not in one]
    return [f"the keys differ in {field}, {name}: {_shown(one.get((field, name)))} and "
            f"{_shown(other.get((field, name)))}"
            for field, name in names if one.get((field, name)) != other.get((field, name))]


def explain(a, b):
    """What differs between two compile-or-loads, as a list of sentences; empty: nothing that counts.

    a, b: a Report, or a Compiled that compile_or_load gave. Keys (which executable it is) are compared
    item by item as long as the cache holds both entries, bindings (how it is called) field by field.
    Then come the types of pytree nodes whose static data was left out, since register_static() had no
    encoder for them. TypeError for anything else."""
    a, b = _report(a), _report(b)
    said = _keys(a, b)
    one, other = a.binding_record, b.binding_record
    if one is None or other is None:
        said.append(f"the binding of '{(a if one is None else b).name}' is not known: only "
                    "compile_or_load, compile_or_load_all and Registry know it")
    elif a.binding != b.binding:
        said += _binding.differences(_binding.Binding(one), _binding.Binding(other))
    left_out = sorted({*(one or {}).get("left_out", ()), *(other or {}).get("left_out", ())})
    if left_out:
        said.append("not compared: the static data of " + ", ".join(left_out) +
                    ", whose types have no encoder (register_static)")
    return said
