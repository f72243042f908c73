"""Executables as files, for processes that do not trace."""

import base64
import json
import os

import jax
import jax.numpy as jnp
import numpy as np

from precast import _precast
from precast.jax import _files, _private, _program, _request, _serve, _stub, _trees

_VERSION = 2
# All constants that JAX passes as arguments, together: they are kept as text.
MAX_CONSTANT_BYTES = 16 << 20


def _leaf(aval, format_, device_ids, path, **more):
    layout = None if format_ is None or format_.layout is None else list(format_.layout.major_to_minor)
    if layout == list(range(len(layout or ()))):
        layout = None  # the usual one; a key of jax.random has one more dimension than its shape
    return {"path": path, "shape": list(aval.shape), "dtype": _stub.type_name(aval.dtype, path), "layout": layout,
            "sharding": None if format_ is None else _trees.encode_sharding(format_.sharding, device_ids, path), **more}


def _callbacks(compiled):
    """The host's functions as plain data. Two of one name get numbers."""
    said, names = [], {}
    for one in _private.host_callbacks(compiled):
        name = _private.callback_name(one.function)
        names[name] = names.get(name, 0) + 1
        leaves = one.in_tree.num_leaves
        said.append({
            "name": name if names[name] == 1 else f"{name}#{names[name]}", "kind": one.kind, "ordered": one.ordered,
            "leaves": leaves, "in": _trees.encode_tree(jax.tree.unflatten(one.in_tree, range(leaves)), name),
            "results": [{"shape": list(aval.shape), "dtype": _stub.type_name(aval.dtype, name), "sharding": None,
                         "layout": None} for aval in one.results]})
    return said


def _constants(calling, compiled):
    values = [np.asarray(value) for value in _private.constants_of(compiled)]
    total = sum(value.nbytes for value in values)
    if total > MAX_CONSTANT_BYTES:
        raise ValueError(f"its constants, which JAX passes as arguments, have {total} bytes, more than save keeps "
                         f"({MAX_CONSTANT_BYTES}): make them arguments of the function")
    return [{"shape": list(value.shape), "dtype": _stub.type_name(value.dtype, "a constant"),
             "data": base64.b64encode(value.tobytes()).decode()} for value in values[:calling.constants]]


def _calling(compiled, device_ids, name):
    """How to call an executable, as plain data. ValueError for what that cannot say."""
    calling = _private.calling_of_compiled(compiled)
    if calling.writes_to_references:
        raise ValueError("it writes to references")
    in_tree, out_tree, first = compiled.in_tree, compiled.out_tree, calling.constants
    (args, kwargs) = jax.tree.unflatten(in_tree, range(first, first + in_tree.num_leaves))
    paths = [jax.tree_util.keystr(path) for path, _ in jax.tree_util.tree_leaves_with_path((args, kwargs))]
    paths = [*["a constant"] * first, *paths]
    formats = [_private.format_of(layout, sharding) if i in calling.kept else None
               for i, (layout, sharding) in enumerate(zip(calling.in_layouts, calling.in_shardings, strict=True))]
    outs = zip(calling.out_avals, map(_private.format_of, calling.out_layouts, calling.out_shardings), strict=True)
    return {
        "version": _VERSION, "devices": len(device_ids), "callbacks": _callbacks(compiled),
        "effects": [_private.effect_names(calling.ordered_effects),
                    sorted(_private.effect_names(calling.unordered_effects))],
        "in": ["tuple", [_trees.encode_tree((tuple(range(first)), *args) if first else args, "args"),
                         _trees.encode_tree(kwargs, "kwargs")]],
        "out": _trees.encode_tree(jax.tree.unflatten(out_tree, range(out_tree.num_leaves)), "results"),
        "arguments": [_leaf(aval, format_, device_ids, path, kept=i in calling.kept, weak=bool(aval.weak_type))
                      for i, (aval, format_, path) in enumerate(zip(calling.in_avals, formats, paths, strict=True))],
        "results": [_leaf(out, format_, device_ids, f"result {i}") for i, (out, format_) in enumerate(outs)],
        "constants": _constants(calling, compiled), "name": name,
    }


def _lowered(said, devices, functions):
    """The stub of a saved executable; ValueError where JAX does not call it as it called the original."""
    lowered = _stub.lower(said, devices, functions, said["name"])
    calling = _private.calling_of_lowered(lowered)
    kept = {i for i, one in enumerate(said["arguments"]) if one["kept"]}
    effects = [_private.effect_names(calling.ordered_effects), sorted(_private.effect_names(calling.unordered_effects))]
    avals = [[list(aval.shape), aval.dtype] for aval in calling.in_avals]
    wanted = [[one["shape"], _stub.dtype_of(one["dtype"])] for one in said["arguments"]]
    for what, there, here in (("kept arguments", kept, calling.kept), ("effects", said["effects"], effects),
                              ("functions of the host", len(said["callbacks"]), calling.callbacks),
                              ("types of arguments", wanted, avals)):
        if there != here:
            raise ValueError(f"it has other {what} ({there}) than JAX gives a function that is called like it ({here})"
                             + ("; jax_enable_x64 is another here" if what.startswith("types") else ""))
    return lowered


def save(compiled, file):
    """Writes an executable into one file, with all that load() needs to call it.

    compiled: what compile_or_load gave, stored in its cache. The file holds containers (dict, OrderedDict,
    defaultdict, list, tuple, namedtuple, and registered nodes whose type can be imported and whose static
    data is plain), shapes, types, shardings by mesh and position, layouts, memory kinds, donation, constants
    that JAX passes as arguments (up to MAX_CONSTANT_BYTES), the names of the host's functions, and none of
    the model's code. ValueError says what cannot be kept, or that there is no entry to take the bytes from."""
    report = _serve.reports.get(compiled)
    if report is None or report.root is None:
        why = "compile_or_load did not give it" if report is None else \
            f"the cache has no entry of it ({report.outcome}, {report.reason})"
        raise ValueError(f"this executable cannot be saved: {why}")
    artifact = _precast.Artifact.read(report.artifact_path)
    if artifact.root != report.root:
        raise ValueError(f"the entry '{report.artifact_path}' was replaced after it was loaded; get "
                         "the executable again")
    devices = _private.calling_of_compiled(compiled).devices
    try:
        said = _calling(compiled, report.device_ids, artifact.program_name)
        _lowered(said, list(devices), [_never] * len(said["callbacks"]))
    except ValueError as error:
        raise ValueError(f"this executable cannot be saved: {error}") from error
    if _request.runtime_of(devices[0].client).is_plugin:
        said["header"] = base64.b64encode(_program.header_of(artifact.front_end)).decode()
    _files.write(file, artifact.with_front_end(json.dumps(said, sort_keys=True).encode()))


def _never(*_, **__):
    raise AssertionError("a stub was run")


class _Load(_request.Request):
    """Puts a saved executable in the place of its stub's compile."""

    serves_always = True

    def __init__(self, artifact, said, module):
        super().__init__(cache=None, policy=None, module=module)
        self._artifact, self._said = artifact, said

    def serve(self, backend, module, options, callbacks, devices):
        callbacks, devices = list(callbacks), list(devices)
        if len(callbacks) != len(self._said["callbacks"]) or len(devices) != self._said["devices"]:
            raise ValueError(f"the saved executable is for {self._said['devices']} devices and "
                             f"{len(self._said['callbacks'])} functions of the host, not for {len(devices)} and "
                             f"{len(callbacks)}")
        runtime = _request.runtime_of(backend)
        if runtime.facts is None:
            raise ValueError("Precast's own plugin loads no saved executable; give JAX the plugin that it wraps")

        def load_bytes(serialized, front_end, load_options):
            return runtime.load(serialized, front_end, _private.device_list(devices), load_options, callbacks)

        executable = _precast.load_artifact(runtime.facts, self._artifact, [device.id for device in devices],
                                            load_bytes)
        _request.came_from(executable, _request.Origin("bytes"))
        return executable


class Loaded:
    """A saved executable on devices: a function of containers and arrays."""

    def __init__(self, compiled, said, devices):
        self._compiled = compiled
        self._said = said
        self._in = [_stub.placed(one, devices) for one in said["arguments"]]
        self._constants = [jnp.asarray(np.frombuffer(base64.b64decode(one["data"]), _stub.dtype_of(one["dtype"]))
                                       .reshape(one["shape"])) for one in said["constants"]]
        self._first = (tuple(self._constants),) if self._constants else ()
        self.name = said["name"]
        self.devices = list(devices)
        self.callbacks = [one["name"] for one in said["callbacks"]]

    def __call__(self, *args, **kwargs):
        """Runs it. TypeError names the argument that is another one than it was compiled for. Arguments
        that are elsewhere are moved to where it takes them."""
        try:
            return self._compiled(*self._first, *args, **kwargs)
        except (TypeError, ValueError) as error:
            given = self._moved(args, kwargs, error)
        args, kwargs = _trees.decode_tree(self._said["in"], given)
        return self._compiled(*args, **kwargs)

    def _moved(self, args, kwargs, error):
        """The leaves where the executable takes them. TypeError, because of `error`, names one that is wrong."""
        leaves = [None] * len(self._said["arguments"])
        positional, keywords = self._said["in"][1]
        if self._first:  # the constants, which no caller gives
            _trees.match_tree(positional[1][0], self._first[0], "constants", leaves)
            positional = ["tuple", positional[1][1:]]
        try:
            _trees.match_tree(positional, args, "args", leaves)
            _trees.match_tree(keywords, kwargs, "kwargs", leaves)
            return [self._placed(one, path, value, place) for one, (path, value), place in
                    zip(self._said["arguments"], leaves, self._in, strict=True)]
        except TypeError as wrong:
            raise wrong from error

    @staticmethod
    def _placed(wanted, path, value, place):
        if isinstance(value, jax.core.Tracer):
            raise TypeError(f"{path} is a tracer: a saved executable cannot be transformed")
        array = value if isinstance(value, jax.Array) else jnp.asarray(value)
        if list(array.shape) != wanted["shape"] or array.dtype != _stub.dtype_of(wanted["dtype"]):
            raise TypeError(f"{path} must be {wanted['dtype']}{wanted['shape']}, and is "
                            f"{array.dtype.name}{list(array.shape)}")
        return array if place is None else jax.device_put(array, place)


def _functions(said, callbacks, file):
    """The host's functions in the order of the program. ValueError for missing and for extra ones."""
    names = [one["name"] for one in said["callbacks"]]
    if isinstance(callbacks, dict):
        missing, extra = [name for name in names if name not in callbacks], sorted(set(callbacks) - set(names))
        functions = [callbacks.get(name) for name in names]
    else:
        functions = list(callbacks or ())
        missing, extra = names[len(functions):], [f"number {i}" for i in range(len(names), len(functions))]
    if missing or extra:
        raise ValueError(f"'{file}' calls {len(names)} functions of the host ({', '.join(names) or 'none'}); give them as "
                         "callbacks=, by name or in order"
                         + (f"; missing: {', '.join(missing)}" if missing else "")
                         + (f"; not called: {', '.join(extra)}" if extra else ""))
    for name, function in zip(names, functions, strict=True):
        if not callable(function):
            raise TypeError(f"the callback {name} must be a function, and is {type(function).__name__}")
    return functions


def load(file, *, devices=None, callbacks=None):
    """Loads what save() wrote, without tracing and without the model's code.

    devices: one for each position; None: the first ones of the default backend. callbacks: the functions
    of the host that the program calls, by name or in order (Loaded.callbacks has the names); they take and
    give what the original ones did. Gives a Loaded. Errors: precast.Error where the file is damaged, or was
    made by another build of jaxlib or of the plugin, for other devices or for another CPU; ValueError where
    it was not written by save(), where callbacks are missing or too many, and where a node cannot be made."""
    artifact = _precast.Artifact.read(os.fspath(file))
    try:
        said = json.loads(artifact.front_end)
        count = said["devices"]
        if said["version"] != _VERSION or "arguments" not in said:
            raise KeyError("arguments")
    except (ValueError, KeyError, TypeError) as error:
        raise ValueError(f"'{file}' holds an executable, but not how to call it: precast.jax.save() "
                         "writes that") from error
    functions = _functions(said, callbacks, file)
    chosen = list(devices) if devices is not None else jax.devices()[:count]
    if len(chosen) != count:
        raise ValueError(f"'{file}' runs on {count} devices, and {len(chosen)} were given or are there")
    lowered = _lowered(said, chosen, functions)
    with _Load(artifact, said, lowered.compiler_ir()).active():
        return Loaded(lowered.compile(), said, chosen)
