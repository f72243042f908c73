"""XLA's compile options, as jaxlib has them."""

import jax
import numpy as np

from precast.jax import _private


def devices_of(devices):
    """A list of the devices that a caller gave, in a sequence or in an array of any shape.

    ValueError for anything but JAX's devices."""
    given = list(devices.flat) if isinstance(devices, np.ndarray) else devices
    if not isinstance(given, list | tuple) and not hasattr(given, "__iter__"):
        given = [given]
        found = False
    else:
        given = list(given)
        found = bool(given) and all(isinstance(device, jax.Device) for device in given)
    if not found:
        raise ValueError(f"execution_devices must be a list of xc.Device. Got: {devices}. Give jax.devices(), or a "
                         "mesh's `devices`")
    return given


def clear_xla_dump_flags(compile_options):
    """Takes everything out of jaxlib's CompileOptions that makes XLA dump. Gives the same object; None for None."""
    if compile_options is not None:
        _private.clear_dumps(compile_options)
    return compile_options


def remap_compile_options_device_assignment(compile_options, execution_devices):
    """Puts devices in the place of those of jaxlib's CompileOptions, by position.

    execution_devices: one for each of replicas x computations, column-major: all replicas of the
    first computation come first. Gives the same object; None for None, and unchanged where there is
    no assignment. ValueError: not as many devices as the assignment has, or no devices."""
    counts = None if compile_options is None else _private.assignment_counts(compile_options)
    if counts is None:
        return compile_options
    devices = devices_of(execution_devices)
    replicas, computations = counts
    if len(devices) != replicas * computations:
        raise ValueError(cannot_remap(replicas, computations, len(devices)))
    ids = np.array([device.id for device in devices], dtype=np.int64)
    _private.set_assignment(compile_options, ids.reshape(replicas, computations, order="F"))
    return compile_options


def cannot_remap(replicas, computations, count):
    """The words about another number of devices than an assignment has."""
    return ("Cannot remap XLA compile options device assignment: assignment expects "
            f"{replicas * computations} devices (replica_count={replicas} x computation_count={computations}), but "
            f"got {count} execution devices. Give one device for each position of the compile")
