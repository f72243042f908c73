"""What of a program and its surroundings goes into the key and beside the executable."""

import base64
import hashlib
import json
import sys

from precast.jax import _private

_BINDING_VERSION = 1


def extras(callbacks, versions=None):
    """What counts beside program, options and runtime, by name. versions: of what stands in front of
    a plugin, and is no part of its identity."""
    found = {f"jax.{name}": value for name, value in (versions or {}).items()}
    if callbacks:
        found["callbacks"] = str(len(callbacks))
    # JAX takes flags from there into its own key; whoever reads them may change the code.
    flags = [word for word in sys.argv if word.startswith("--xla")]
    if flags:
        found["argv"] = json.dumps(flags)
    return found


def front_end(devices, callbacks, binding=None, header=None):
    """The bytes that are kept beside an executable: a line of JSON with what must be equal where it
    is loaded, since the runtime ends the process otherwise, and with the digest of the binding under
    which it was stored; then that binding's record. header: what jaxlib puts before a plugin's bytes."""
    head = {"version": _BINDING_VERSION, "devices": len(devices), "callbacks": len(callbacks)}
    if header is not None:
        head["header"] = base64.b64encode(header).decode()
    if binding is None:
        return json.dumps(head, sort_keys=True).encode()
    head["binding"] = binding.digest
    return json.dumps(head, sort_keys=True).encode() + b"\n" + binding.encode()


def stored_binding(said):
    """The digest of the binding under which an executable was stored; None where there is none."""
    return json.loads(said.partition(b"\n")[0]).get("binding")


def header_of(said):
    """jaxlib's header of front_end()'s bytes, or of save()'s. ValueError where there is none."""
    try:
        return base64.b64decode(json.loads(said.partition(b"\n")[0])["header"], validate=True)
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError("the entry holds no header of jaxlib, without which a plugin's bytes are not "
                         "loaded") from error


def check_front_end(said, devices, callbacks):
    """Why an executable with these bytes beside it must not be loaded here; None when it may."""
    try:
        there = json.loads(said.partition(b"\n")[0])
        found = (there["version"], there["devices"], there["callbacks"])
    except (ValueError, KeyError, TypeError):
        return "the entry does not say for how many devices and callbacks it was made"
    wanted = (_BINDING_VERSION, len(devices), len(callbacks))
    if found == wanted:
        return None
    return (f"the entry was made for {found[1]} devices and {found[2]} callbacks (version "
            f"{found[0]}), this program has {wanted[1]} and {wanted[2]} (version {wanted[0]})")


def location_digest(module, settled):
    """The digest of a program with its locations, for callers to whom they matter."""
    text = settled.without_addresses(module.operation.get_asm(enable_debug_info=True))
    return hashlib.sha256(text.encode()).hexdigest()


def program_bytes(module):
    """The program as the core reads it."""
    return _private.program_bytes(module)
