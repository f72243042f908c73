"""A lowering on other devices than those it was lowered for, by position."""

import jax
import numpy as np
from jax.sharding import AbstractMesh, Mesh, NamedSharding, SingleDeviceSharding

from precast.jax import _private


class _Moved:
    """Meshes, shardings and arrays of some devices, on others."""

    def __init__(self, old, new):
        self._place = {device.id: other for device, other in zip(old, new, strict=True)}
        self._new = list(new)

    def _device(self, device):
        if device.id not in self._place:
            raise ValueError(f"{device} is none of the devices of the lowering; lower it again for the "
                             "devices that it is to run on")
        return self._place[device.id]

    def _mesh(self, mesh):
        moved = np.array([self._device(device) for device in mesh.devices.flat], dtype=object)
        return Mesh(moved.reshape(mesh.devices.shape), mesh.axis_names, axis_types=mesh.axis_types)

    def __call__(self, value):
        if isinstance(value, Mesh):
            # One that has nothing to do with these devices only gives names to results.
            ours = all(device.id in self._place for device in value.devices.flat)
            return self._mesh(value) if ours else None
        if isinstance(value, SingleDeviceSharding):
            [device] = value.device_set
            return SingleDeviceSharding(self._device(device), memory_kind=value.memory_kind)
        if isinstance(value, NamedSharding):
            if isinstance(value.mesh, AbstractMesh):
                return value
            return NamedSharding(self._mesh(value.mesh), value.spec, memory_kind=value.memory_kind)
        if isinstance(value, jax.Array):
            return jax.device_put(value, self(value.sharding)) if value.committed else value
        moved = _private.gspmd_on(value, self._new)
        if moved is None:
            raise ValueError(f"a {type(value).__name__} cannot be moved to other devices; lower it again "
                             "for the devices that it is to run on")
        return moved


def afresh(lowered, devices=None):
    """A copy of a Lowered of which JAX remembers no compile, on these devices by position.

    devices: as many as the lowering has; None: its own, or the first ones of its backend where it was
    lowered for an abstract mesh. ValueError: another number, another client, or something in the
    lowering that belongs to its devices."""
    count = _private.device_count(lowered)
    own = _private.devices_of_lowering(lowered)
    backend = _private.backend_of(lowered)
    chosen = list(devices if devices is not None else own or backend.devices()[:count])
    if len(chosen) != count:
        raise ValueError(f"this lowering runs on {count} devices, and {len(chosen)} were given; give one for "
                         "each position")
    for device in chosen:
        if device.client is not backend:
            raise ValueError(f"{device} belongs to another client than this lowering, which is for the platform "
                             f"{backend.platform!r}; give devices of it, or lower it again for these")
    if own is None or chosen == list(own):
        anew = _private.lowered_anew(lowered, chosen, lambda value: value)
    elif _private.writes_references(lowered):
        raise ValueError("this lowering writes to references, which are on its own devices; lower it again for the "
                         "devices that it is to run on")
    else:
        anew = _private.lowered_anew(lowered, chosen, _Moved(own, chosen))
    _private.remember_function(anew, lowered)
    return anew


def on_devices(lowered, devices):
    """A Lowered that compiles for these devices; the same one where it does so already, or for None.

    Errors: as of afresh()."""
    own = _private.devices_of_lowering(lowered)
    if devices is None or own is not None and devices == list(own):
        return lowered
    return afresh(lowered, devices)


def listed(devices):
    """A list of the devices in a sequence, or in an array of any shape; None for None."""
    return None if devices is None else list(getattr(devices, "flat", devices))
