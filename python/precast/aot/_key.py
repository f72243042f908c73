"""The key of a lowering, and what it is made of, without a compile."""

import dataclasses
import json
import re

import jax

from precast.jax import _placed, _private, _request

# What JAX writes for custom partitioning, another one in each process.
_ADDRESS = re.compile(r'(@CustomSPMDPartitioning\([^\n]*?backend_config = ")\d+')

_KEPT = ("environment", "plugin", "flags", "client_options", "placement", "cpu")


@dataclasses.dataclass(frozen=True)
class HashContext:
    """What a key is made of, as text that can be compared line by line.

    hlo: the program, without locations unless they count. args_info: one line for each argument.
    environment: runtime, flags, devices and CPU. additional_content: extra_info and everything else
    that the caller adds; None where that is nothing. options: of the compile, by effect. fields: the
    key's record itself, name -> ((item, value), ...), of which the rest is a view."""

    hlo: str
    args_info: str
    environment: str
    additional_content: str | None
    options: str = ""
    fields: dict = dataclasses.field(default_factory=dict, repr=False)

    def as_text(self):
        """All of it, under headings: for files, and for diff."""
        parts = {"Hlo": self.hlo, "Args Info": self.args_info, "Options": self.options,
                 "Environment": self.environment, "Additional Content": self.additional_content or ""}
        return "\n".join(f"==== {name} ====\n\n{text.rstrip()}\n" for name, text in parts.items()) + "\n==== END ====\n"


def key_of(lowered, compiler_options=None, **wishes):
    """What the core says about the key of a lowering (Cache.key of the extension); wishes: as of Request."""
    anew = _placed.afresh(lowered)
    request = _request.KeyRequest(cache=None, policy=None, module=anew.compiler_ir(), **wishes)
    return request.said_of(anew, compiler_options)


def check_lowering(lowered):
    """NotImplementedError for what is no computation for XLA."""
    if not _private.is_for_xla(lowered):
        raise NotImplementedError("AOT is not implemented for non-XLA lowerings. Give what jax.jit(function).lower() "
                                  f"gives; this is a {type(lowered).__module__}.{type(lowered).__qualname__} of another "
                                  "kind")


def get_cache_key(lowered, extra_info=None, add_loc=False):
    """(name, HashContext) of a lowering: its module's name and key, and what the key is made of.

    extra_info: texts that count as well, in their order. add_loc: the source's locations count. The key
    is that of compile_or_load(lowered) without options; nothing is compiled. NotImplementedError for
    a lowering for something else than XLA; ValueError where there is no key, with the reason."""
    check_lowering(lowered)
    extras = {"extra_info": json.dumps(list(extra_info))} if extra_info else {}
    said = key_of(lowered, locations=add_loc, extras=extras)
    return name_of(lowered, said), context_of(lowered, said, add_loc)


def name_of(lowered, said):
    """<module>_<key>. ValueError where there is no key."""
    name = _private.module_name(lowered.compiler_ir())
    if said["key"] is None:
        why = f"{said['reason']}: {said['detail']}" if said["detail"] else said["reason"]
        raise ValueError(f"{name} has no key ({why}); it is compiled each time")
    return f"{name}_{said['key']}"


def context_of(lowered, said, add_loc):
    """The HashContext of what key_of() gave."""
    fields = {name: tuple((item, value) for item, value in items) for name, items in said["fields"].items()}
    more = {name: items for name, items in fields.items() if name not in (*_KEPT, "schema", "program", "options")}
    more["extra"] = [(item, value) for item, value in more.pop("extra", ()) if value]
    return HashContext(
        hlo=_ADDRESS.sub(r"\1<address>", lowered.as_text(debug_info=add_loc)), args_info=_arguments(lowered),
        environment=_lines({name: fields[name] for name in _KEPT if name in fields}),
        additional_content=_lines(more).strip() or None, options=_lines({"": fields.get("options", ())}),
        fields=fields)


def _lines(fields):
    return "".join(f"{name}{'.' if name else ''}{item}={value.decode('utf-8', 'backslashreplace')}\n"
                   for name, items in fields.items() for item, value in items)


def _arguments(lowered):
    lines = []
    for path, one in jax.tree_util.tree_leaves_with_path(lowered.args_info):
        donated = ", donated" if one.donated else ""
        lines.append(f"{jax.tree_util.keystr(path)}: {one.dtype.name}{list(one.shape)}{donated}\n")
    return "".join(lines)
