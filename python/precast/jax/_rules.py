"""custom_partitioning: the program holds the address of a rule, which XLA calls while it compiles.

In what is hashed a number stands for the address, and the rule itself counts in the key: its code and
all that this reads (_stable.py), the static arguments, the mesh by position, the trees, and the settings
of JAX under which it is traced. The executable holds what the rule gave, and needs none when it is loaded.
"""

import json
import typing

import numpy as np

from precast.jax import _private
from precast.jax._libraries import versions
from precast.jax._references import Unseen
from precast.jax._stable import Digest


class Settled(typing.NamedTuple):
    """A program as it is hashed. extras: what counts beside it, by name. calls: the targets that hold
    no address any more. because: why not all; empty where there is nothing to say. names: what stands
    for each address."""

    program: bytes
    extras: dict = {}
    calls: list = []
    because: str = ""
    names: dict = {}

    def wishes(self):
        """What the core is told about it."""
        return {"extras": self.extras, "settled_calls": self.calls, "unsettled_because": self.because}

    def without_addresses(self, text):
        """The program's text as it is hashed."""
        for address, name in self.names.items():
            text = text.replace(f'"{address}"', f'"{name}"')
        return text


def settle(module, program):
    """The Settled of a module. program: its bytecode."""
    if _private.PARTITIONING_CALL.encode() not in program:
        return Settled(program)
    names = {}

    def number(address):
        return names.setdefault(address, f"rule {len(names)}")

    try:
        renamed = _private.replace_partition_rules(module, number)
        rules = [_parts(address) for address in names]
        # What JAX lowered for: a lowering that was moved to other devices keeps the rules' meshes.
        devices = rules[0]["lowered for"]
        said = {"versions": versions(), "settings": _settings(devices),
                "rules": [_rule(parts, devices) for parts in rules]}
    except Unseen as error:
        return Settled(program, because=str(error))
    except Exception as error:  # pylint: disable=broad-exception-caught  # of objects that are looked at
        return Settled(program, because=f"a rule cannot be looked at: {error!r}")
    return Settled(renamed, {"custom_partitioning": json.dumps(said, sort_keys=True)},
                   [_private.PARTITIONING_CALL], names=names)


def _settings(devices):
    digest = Digest(devices)
    digest.put("the settings of JAX", _private.settings())
    digest.put("what JAX traces under", _private.trace_context())
    digest.put("the settings of NumPy", [np.geterr(), np.geterrcall(), np.getbufsize(), np.get_printoptions()])
    return digest.hex()


def _parts(address):
    parts = _private.partition_rule(address)
    if parts is None:
        raise Unseen("a call of custom_partitioning names a rule that this process does not know")
    return parts


def _rule(parts, devices):
    """The digests of the parts of one rule, by name."""
    digests, last = {}, None
    for name, value in parts.items():
        digests[name] = last = Digest(devices, after=last)
        last.put(name, value)
    compares = any(digest.compares_identities for digest in digests.values())
    said = {}
    for name, digest in digests.items():
        digest.compares_identities = compares
        said[name] = digest.hex()
    if any(digest.asks_for_devices for digest in digests.values()):
        said["devices"] = [[device.id, device.process_index] for device in devices]
    return said
