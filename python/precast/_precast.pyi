import enum
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

version: str

class Error(Exception):
    code: str
    plugin_code: int
    message: str

class Policy(enum.Enum):
    read_write = 1
    read_only = 2
    refresh = 3
    offline = 4

class Facts:
    def __init__(self, *, name: str, library: str | bytes | os.PathLike, platform: str, platform_version: str,
                 attributes: dict[str, str], devices: list[tuple[int, int, bool, str]],
                 xla_flags: str | None, topology: bytes, sample: bytes, binds_callbacks: bool,
                 client_options: Mapping[str, str | bool | int | float | Sequence[int]] = ...,
                 plugin: Any | None = ...) -> None: ...

class Cache:
    def __init__(self, *, directory: str | bytes | os.PathLike = ..., policy: Policy = ..., disabled: bool = ...,
                 strict: bool = ..., min_compile_ms: float = ..., name_space: str = ...,
                 wait_limit_s: float = ..., log: Callable[[int, str], None] | None = ...) -> None: ...
    @property
    def directory(self) -> str: ...
    @property
    def unusable(self) -> str | None: ...
    def compile_or_load(self, facts: Facts, program: bytes, name: str, options: bytes,
                        wishes: dict[str, Any], compile: Callable[[], Any],
                        compile_bypassed: Callable[[], Any],
                        serialize: Callable[[Any], bytes],
                        load: Callable[[bytes, bytes, bytes], Any],
                        describe: Callable[[Any], Any],
                        cancelled: Callable[[], bool] | None = ...) -> tuple[Any, dict[str, Any]]: ...
    def key(self, facts: Facts, program: bytes, name: str, options: bytes,
            wishes: dict[str, Any]) -> dict[str, Any]: ...

class Artifact:
    @staticmethod
    def read(path: str | bytes | os.PathLike, /) -> Artifact: ...
    @staticmethod
    def decode(data: bytes, /) -> Artifact: ...
    @property
    def fields(self) -> dict[str, list[tuple[str, bytes]]]: ...
    @property
    def root(self) -> str: ...
    @property
    def program_name(self) -> str: ...
    @property
    def front_end(self) -> bytes: ...
    def with_front_end(self, front_end: bytes, /) -> bytes: ...

def load_artifact(facts: Facts, artifact: Artifact, device_ids: list[int],
                  load: Callable[[bytes, bytes, bytes], Any]) -> Any: ...
def make_artifact(facts: Facts, record: bytes, executable: bytes, options: bytes, name: str,
                  front_end: bytes) -> bytes: ...
def opened_plugin(table: Any) -> dict[str, Any]: ...
def default_cache_directory() -> tuple[str, str]: ...
def mapped_library(path: str | bytes | os.PathLike, /) -> tuple[str, str]: ...
def release_leases_when_told_to_end() -> None: ...
