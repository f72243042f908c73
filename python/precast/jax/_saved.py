"""Executables as files, for processes that do not trace."""

import json
import os

import jax
import jax.numpy as jnp

from precast import _precast
from precast.jax import _files, _private, _request, _serve, _trees

_VERSION = 1


def _leaf(aval, sharding, device_ids, path, **more):
    if not isinstance(aval.dtype, jnp.dtype):
        raise ValueError(f"{path} has the type {aval.dtype}; save keeps numbers alone")
    return {"path": path, "shape": list(aval.shape), "dtype": aval.dtype.name,
            "sharding": None if sharding is None
            else _trees.encode_sharding(sharding, device_ids, path), **more}


def _calling(compiled, device_ids):
    """How to call an executable, as plain data. ValueError for what that cannot say."""
    reason = _private.needs_its_process(compiled)
    if reason:
        raise ValueError(f"this executable cannot be saved: {reason}")
    kept = _private.kept_arguments(compiled)
    in_tree, out_tree = compiled.in_tree, compiled.out_tree
    arguments = jax.tree.unflatten(in_tree, range(in_tree.num_leaves))
    results = jax.tree.unflatten(out_tree, range(out_tree.num_leaves))
    names = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path(arguments)]
    avals = in_tree.flatten_up_to(compiled.in_avals)
    placed = in_tree.flatten_up_to(compiled.input_shardings)
    outs = out_tree.flatten_up_to(compiled.out_info)
    return {
        "version": _VERSION, "devices": len(device_ids), "callbacks": 0,
        "in": _trees.encode_tree(arguments, "arguments"),
        "out": _trees.encode_tree(results, "results"),
        "arguments": [_leaf(aval, sharding if i in kept else None, device_ids, name, kept=i in kept)
                      for i, (aval, sharding, name) in enumerate(zip(avals, placed, names, strict=True))],
        "results": [_leaf(out, out.sharding, device_ids, f"result {i}")
                    for i, out in enumerate(outs)],
    }


def save(compiled, file):
    """Writes an executable into one file, with all that load() needs to call it.

    compiled: what compile_or_load gave, stored in its cache. The file holds containers (dict, list,
    tuple, namedtuple), shapes, types, shardings by mesh and position, memory kinds and donation, and
    none of the model's code. ValueError says what cannot be kept: callbacks, other containers, other
    shardings; or that there is no entry to take the bytes from."""
    report = _serve.reports.get(compiled)
    if report is None or report.root is None:
        why = "compile_or_load did not give it" if report is None else \
            f"the cache has no entry of it ({report.outcome}, {report.reason})"
        raise ValueError(f"this executable cannot be saved: {why}")
    said = _calling(compiled, report.device_ids)
    artifact = _precast.Artifact.read(report.artifact_path)
    if artifact.root != report.root:
        raise ValueError(f"the entry '{report.artifact_path}' was replaced after it was loaded; get "
                         "the executable again")
    _files.write(file, artifact.with_front_end(json.dumps(said, sort_keys=True).encode()))


class Loaded:
    """A saved executable on devices: a function of plain containers and arrays."""

    def __init__(self, executable, said, devices, name):
        self._executable = executable
        self._said = said
        self._in = [None if one["sharding"] is None else
                    _trees.decode_sharding(one["sharding"], devices) for one in said["arguments"]]
        self._out = [(tuple(one["shape"]), _trees.decode_sharding(one["sharding"], devices),
                      jnp.dtype(one["dtype"])) for one in said["results"]]
        self.name = name
        self.devices = list(devices)

    def __call__(self, *args, **kwargs):
        """Runs it. TypeError names the argument that is another one than it was compiled for."""
        arguments = self._said["arguments"]
        leaves = [None] * len(arguments)
        positional, keywords = self._said["in"][1]
        _trees.match_tree(positional, args, "args", leaves)
        _trees.match_tree(keywords, kwargs, "kwargs", leaves)
        given = [self._placed(one, path, value, sharding)
                 for one, (path, value), sharding in zip(arguments, leaves, self._in, strict=True)]
        results = self._executable.execute_sharded([value for value in given if value is not None])
        parts = results.disassemble_into_single_device_arrays()
        arrays = [jax.make_array_from_single_device_arrays(shape, sharding, list(pieces), dtype=dtype)
                  for (shape, sharding, dtype), pieces in zip(self._out, parts, strict=True)]
        return _trees.decode_tree(self._said["out"], arrays)

    @staticmethod
    def _placed(wanted, path, value, sharding):
        if isinstance(value, jax.core.Tracer):
            raise TypeError(f"{path} is a tracer: a saved executable cannot be transformed")
        array = value if isinstance(value, jax.Array) else jnp.asarray(value)
        if list(array.shape) != wanted["shape"] or array.dtype.name != wanted["dtype"]:
            raise TypeError(f"{path} must be {wanted['dtype']}{wanted['shape']}, and is "
                            f"{array.dtype.name}{list(array.shape)}")
        if not wanted["kept"]:
            return None
        if array.committed and array.sharding.is_equivalent_to(sharding, array.ndim):
            return array
        return jax.device_put(array, sharding)


def load(file, *, devices=None):
    """Loads what save() wrote, without tracing and without the model's code.

    devices: one for each position; None: the first ones of the default backend. Gives a Loaded. Errors:
    precast.Error where the file is damaged, or was made by another build of jaxlib, for other
    devices or for another CPU; ValueError where it was not written by save()."""
    artifact = _precast.Artifact.read(os.fspath(file))
    try:
        said = json.loads(artifact.front_end)
        count = said["devices"]
        if said["version"] != _VERSION or said["callbacks"] != 0 or "arguments" not in said:
            raise KeyError("arguments")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"'{file}' holds an executable, but not how to call it: precast.jax.save() "
                         "writes that") from error
    chosen = list(devices) if devices is not None else jax.devices()[:count]
    if len(chosen) != count:
        raise ValueError(f"'{file}' runs on {count} devices, and {len(chosen)} were given or are there")
    backend = chosen[0].client
    wanted = _private.device_list(chosen)

    def load_bytes(serialized, _, options):
        return _private.load(backend, serialized, wanted, options, [])

    executable = _precast.load_artifact(_request.runtime_of(backend).facts, artifact,
                                        [device.id for device in chosen], load_bytes)
    return Loaded(executable, said, chosen, artifact.program_name)
