"""Shardings and meshes as plain data: devices stand by their position in a program."""

from jax.sharding import AbstractMesh, Mesh, NamedSharding, PartitionSpec, SingleDeviceSharding

from precast.jax import _private


def record(value, places):
    """A sharding, mesh or PartitionSpec. places: position by device id; a device that is not in it
    stands as None. Of other kinds of sharding `proto` is None where JAX does not say what they are."""
    if value is None or _private.is_unspecified(value):
        return None
    if isinstance(value, PartitionSpec):
        return _private.partitions(value)
    if isinstance(value, Mesh | AbstractMesh):
        return _mesh(value, places)
    memory = value.memory_kind
    if isinstance(value, SingleDeviceSharding):
        [device] = value.device_set
        return {"kind": "single", "position": places.get(device.id), "memory": memory}
    if isinstance(value, NamedSharding):
        return {"kind": "named", **_mesh(value.mesh, places), "memory": memory,
                **_private.partitions(value.spec)}
    bytes_ = _private.sharding_bytes(value)
    return {"kind": f"{type(value).__module__}.{type(value).__qualname__}", "memory": memory,
            "proto": None if bytes_ is None else bytes_.hex(),
            "positions": [places.get(device.id) for device in _private.device_order(value)]}


def _mesh(mesh, places):
    devices = mesh.devices.flat if isinstance(mesh, Mesh) else ()
    return {"axes": [[name if isinstance(name, str) else {"other": type(name).__name__}, int(size)]
                     for name, size in mesh.shape.items()],
            "axis_types": [kind.name for kind in mesh.axis_types],
            "positions": [places.get(device.id) for device in devices]}


def is_whole(said):
    """Whether a record names every device and leaves nothing out."""
    if said is None:
        return True
    axes = [entry for entry in said.get("spec", ()) if not isinstance(entry, str | list | type(None))]
    return None not in said.get("positions", ()) and said.get("position", 0) is not None \
        and said.get("proto", "") is not None and not axes \
        and all(isinstance(name, str) for name, _ in said.get("axes", ()))
