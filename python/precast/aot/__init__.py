"""Ahead-of-time compiles under the names that trainers know: a switch is a changed import (docs/aot.md).

    from precast.aot import JittedOrCompiled, TracedWithOptions, compile_or_load_all_traced

Everything here is precast.jax underneath: the same cache, the same keys, the same checks.
"""

from precast.aot._key import HashContext, get_cache_key
from precast.aot._jitted import JittedOrCompiled
from precast.aot._options import clear_xla_dump_flags, remap_compile_options_device_assignment
from precast.aot._serialized import load_compiled_from_serialized, partially_serialize
from precast.aot._traced import TracedWithOptions, compile_or_load_all_traced

__all__ = ["HashContext", "JittedOrCompiled", "TracedWithOptions", "clear_xla_dump_flags",
           "compile_or_load_all_traced", "get_cache_key", "load_compiled_from_serialized",
           "partially_serialize", "remap_compile_options_device_assignment"]
