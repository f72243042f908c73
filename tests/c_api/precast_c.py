"""The C ABI through ctypes: what a binding in another language does, in the small.

Every call raises precast_c.Error when it fails. Handles are freed by their finalizers.
"""

import ctypes
import json
import weakref
from ctypes import POINTER, byref, c_char_p, c_double, c_int32, c_int64, c_size_t, c_uint64, c_void_p

import numpy


class Struct(ctypes.Structure):
    """Begins with its size; everything else is zero."""

    def __init__(self, **values):
        super().__init__(struct_size=ctypes.sizeof(self), **values)


class ClientFacts(Struct):
    _fields_ = [("struct_size", c_size_t), ("platform_name", c_char_p),
                ("platform_version", c_char_p), ("device_count", c_size_t),
                ("process_index", c_int32), ("cpu_count", c_int32)]


class CacheConfig(Struct):
    _fields_ = [("struct_size", c_size_t), ("directory", c_char_p), ("trusted_keys", c_void_p),
                ("trusted_key_count", c_size_t), ("log", c_void_p), ("log_user", c_void_p),
                ("disabled", c_int32), ("strict", c_int32), ("require_signature", c_int32),
                ("no_proof", c_int32)]


class Request(Struct):
    _fields_ = [("struct_size", c_size_t), ("program", c_char_p), ("program_size", c_size_t),
                ("program_name", c_char_p), ("compile_options", c_char_p),
                ("compile_options_size", c_size_t), ("xla_options", POINTER(c_char_p)),
                ("xla_option_count", c_size_t), ("device_ids", POINTER(c_int64)),
                ("device_id_count", c_size_t), ("label", c_char_p), ("salt", c_char_p),
                ("replicas", c_int32), ("partitions", c_int32), ("use_spmd", c_int32),
                ("keep_program", c_int32)]


class ExecutableFacts(Struct):
    _fields_ = [("struct_size", c_size_t), ("name", c_char_p), ("key", c_char_p),
                ("device_ids", POINTER(c_int64)), ("device_count", c_size_t),
                ("parameter_count", c_size_t), ("result_count", c_size_t), ("replicas", c_int32),
                ("partitions", c_int32), ("has_signature", c_int32), ("reserved", c_int32)]


class TensorSpec(Struct):
    _fields_ = [("struct_size", c_size_t), ("text", c_char_p), ("dimensions", POINTER(c_int64)),
                ("dimension_count", c_size_t), ("minor_to_major", POINTER(c_int64)),
                ("minor_to_major_count", c_size_t), ("memory_kind", c_char_p),
                ("host_bytes", c_uint64), ("element_type", c_int32), ("donation", c_int32)]


class Tensor(Struct):
    _fields_ = [("struct_size", c_size_t), ("dimensions", POINTER(c_int64)),
                ("dimension_count", c_size_t), ("data", c_void_p), ("data_size", c_size_t),
                ("element_type", c_int32), ("reserved", c_int32)]


class OutputsFacts(Struct):
    _fields_ = [("struct_size", c_size_t), ("device_count", c_size_t), ("result_count", c_size_t),
                ("transfer_ms", c_double), ("run_ms", c_double), ("fetch_ms", c_double)]


TYPES = {1: "bool", 2: "int8", 3: "int16", 4: "int32", 5: "int64", 6: "uint8", 7: "uint16",
         8: "uint32", 9: "uint64", 10: "float16", 11: "float32", 12: "float64", 14: "complex64",
         15: "complex128"}
NUMBERS = {numpy.dtype(name): number for number, name in TYPES.items()}


class Error(Exception):
    def __init__(self, code, text):
        super().__init__(text)
        self.code = code


class Library:
    def __init__(self, path):
        self.c = ctypes.CDLL(str(path))
        for name in ("error_text", "report_json", "library_version", "code_name",
                     "cache_problem"):
            getattr(self.c, "precast_" + name).restype = c_char_p
        for name in ("error_text", "error_free", "report_json", "cache_problem"):
            getattr(self.c, "precast_" + name).argtypes = [c_void_p]

    def call(self, name, *arguments):
        error = c_void_p()
        code = getattr(self.c, "precast_" + name)(*arguments, byref(error))
        if code:
            text = self.c.precast_error_text(error).decode()
            self.c.precast_error_free(error)
            raise Error(code, text)

    def handle(self, kind, value):
        """Frees a handle with the Python object that stands for it."""
        keeper = Handle(value)
        free = getattr(self.c, f"precast_{kind}_free")
        free.argtypes = [c_void_p]
        weakref.finalize(keeper, free, value)
        return keeper

    def make(self, kind, name, *arguments):
        made = c_void_p()
        self.call(name, *arguments, byref(made))
        return self.handle(kind, made)

    def client(self, plugin_name, *options):
        plugin = self.make("plugin", "plugin_open", plugin_name.encode())
        texts = (c_char_p * len(options))(*[option.encode() for option in options])
        return self.make("client", "client_create", plugin, texts, c_size_t(len(options)))

    def cache(self, directory):
        return self.make("cache", "cache_open", byref(CacheConfig(directory=str(directory).encode())))

    def compile_or_load(self, cache, client, request):
        executable, report = c_void_p(), c_void_p()
        self.call("compile_or_load", cache, client, byref(request), byref(executable),
                  byref(report))
        kept = self.handle("report", report)
        facts = json.loads(self.c.precast_report_json(kept))
        return self.handle("executable", executable), facts

    def facts(self, struct, name, *arguments):
        self.call(name, *arguments, byref(struct))
        return struct

    def run(self, executable, arrays):
        """Returns the results by device position."""
        arrays = [numpy.ascontiguousarray(array) for array in arrays]
        shapes = [(c_int64 * array.ndim)(*array.shape) for array in arrays]
        inputs = (Tensor * len(arrays))(*[
            Tensor(dimensions=shape, dimension_count=array.ndim, data=array.ctypes.data,
                   data_size=array.nbytes, element_type=NUMBERS[array.dtype])
            for array, shape in zip(arrays, shapes)])
        outputs = self.make("outputs", "run", executable, inputs, c_size_t(len(arrays)), None)
        facts = self.facts(OutputsFacts(), "outputs_get_facts", outputs)
        return [[self.array(outputs, position, result) for result in range(facts.result_count)]
                for position in range(facts.device_count)]

    def array(self, outputs, position, result):
        tensor = self.facts(Tensor(), "outputs_get_tensor", outputs, c_size_t(position),
                            c_size_t(result))
        data = ctypes.string_at(tensor.data, tensor.data_size)
        shape = tensor.dimensions[:tensor.dimension_count]
        return numpy.frombuffer(data, TYPES[tensor.element_type]).reshape(shape)


class Handle:
    """An argument of a call."""

    def __init__(self, value):
        self._as_parameter_ = value
