"""One compile-or-load: between JAX's compile and the core.

JAX compiles through one private function, compile_or_get_cached. Precast stands in its place from
the first request on, and lets every module through that no request is about. JAX itself gives the
options with the device assignment, this process's callbacks, and builds shardings, layouts, effects
and arguments around the executable, compiled or loaded.
"""

import contextlib
import contextvars
import dataclasses
import functools
import logging
import os
import threading
import weakref

from precast import _precast
from precast.jax import _binding, _config, _private, _program, _rules
from precast.jax._report import Report, logger, made_by, mark_of, say

_current = contextvars.ContextVar("precast_request", default=None)
_lock = threading.Lock()
_caches = {}
_runtimes = {}
_process_wide = None  # a function that makes the request of a module that no call is about
_ambient = contextvars.ContextVar("precast_ambient", default=None)  # the same for this context
_installed = False
_sealed = None  # "error" or "warn": what a compile does after seal()
# (mark, Origin) of executables, by their ids: JAX's executables cannot be referred to weakly, and one that
# came past this module may get the id of another that is gone. Its mark tells them apart.
_origins = {}
_identify = None  # says of a program that was compiled what precast.aot needs once the program is gone
_options = {}  # those of origins; most compiles have the same


_OWN_PLUGIN = "the plugin is Precast's own (libprecast_pjrt.so), which asks the cache itself"


class SealedError(RuntimeError):
    """A compile after seal()."""


def _log(level, text):
    say(logging.WARNING if level >= 2 else logging.INFO, "%s", text)


def open_cache(cache, min_compile_ms=0.0):
    """The core's cache for what a caller gave: None, a folder, or one that is open."""
    if isinstance(cache, _precast.Cache):
        return cache
    directory = os.fsdecode(cache) if cache is not None else ""
    # What the core reads when it opens a cache.
    key = (directory, min_compile_ms, *(os.environ.get(name) for name in (
        "PRECAST_CACHE", "XDG_CACHE_HOME", "HOME", "PRECAST_NAMESPACE", "PRECAST_DISABLE",
        "XDG_STATE_HOME")))
    with _lock:
        if not _caches:
            _precast.release_leases_when_told_to_end()
        if key not in _caches:
            _caches[key] = _precast.Cache(directory=directory, log=_log,
                                           min_compile_ms=min_compile_ms)
        return _caches[key]


class Runtime:
    """A backend as the core sees it. facts: None where the plugin is Precast's own, which asks the
    cache itself. versions: what counts in keys beside a plugin's identity."""

    def __init__(self, backend):
        self.backend = backend  # kept, so that no other one gets its id
        self.is_plugin = not _private.is_built_in(backend)
        self.versions, self.facts, plugin = {}, None, {}
        known = _private.backend_facts(backend)
        if self.is_plugin:
            try:
                table, options = _private.plugin_of(backend)
                if _precast.opened_plugin(table)["is_wrapper"]:
                    return
                plugin = {"plugin": table, "client_options": options}
            except (LookupError, _precast.Error):
                if backend.platform == "cpu":
                    raise
                # No executable of this platform gets a key anyway.
            known |= {"library": "", "attributes": {}}
            self.versions = _private.versions(backend)
        # One of them says for which CPU this backend compiles; a sample is a compile.
        topology = _private.topology(backend) if backend.platform == "cpu" else b""
        sample = _private.sample(backend) if backend.platform == "cpu" and not topology else b""
        self.facts = _precast.Facts(name="jax", binds_callbacks=True, topology=topology, sample=sample, **known,
                                    **plugin)

    def load(self, serialized, front_end, devices, options, callbacks):
        """Loads bytes of an entry or of a saved file. Number of devices and callbacks were checked."""
        if self.is_plugin:
            serialized = _program.header_of(front_end) + serialized
        return _private.load(self.backend, serialized, devices, options, callbacks)


def runtime_of(backend):
    """The Runtime of a backend, once for each."""
    with _lock:
        if id(backend) not in _runtimes:
            _runtimes[id(backend)] = Runtime(backend)
        return _runtimes[id(backend)]


@dataclasses.dataclass(frozen=True)
class Origin:
    """Where an executable came from.

    kind: "compiled", "entry" (the cache has its first bytes), "bytes" (loaded from a caller's bytes),
    "unknown" (JAX's own cache may have loaded it), or "unseen" (it did not come from a compile that this
    module saw). path, root: of the entry. module: a weak reference to the program that was compiled.
    options: of that compile, serialized. identity: what set_identify()'s function said of it, or None."""

    kind: str
    path: str = ""
    root: str = ""
    module: weakref.ref | None = None
    options: bytes = b""
    identity: object = None


def origin_of(executable):
    """The Origin of an executable that JAX made in this process."""
    mark, origin = _origins.get(id(executable), (None, None))
    return origin if mark is not None and mark is mark_of(executable) else Origin("unseen")


def came_from(executable, origin):
    """Keeps the Origin of an executable for origin_of()."""
    _origins[id(executable)] = (mark_of(executable), origin)


def set_identify(identify):
    """From here on identify(backend, module, options) is asked about every program that is compiled; what it
    says is its Origin's identity."""
    global _identify  # pylint: disable=global-statement
    _identify = identify
    install()


def _compiled_here(executable, backend, module, options):
    options, identity = _options.setdefault(options, options), None
    if _identify is not None:
        try:
            identity = _identify(backend, module, options)
        except Exception as error:  # pylint: disable=broad-exception-caught  # a compile must not fail
            say(logging.DEBUG, "what a program is will not be known: %r", error)
    came_from(executable, Origin("compiled", module=weakref.ref(module), options=options, identity=identity))


class _KeyKnown(BaseException):
    """Ends a compile that was begun for its key alone."""

    def __init__(self, said):
        super().__init__("the key is known")
        self.said = said


class Request:
    """One compile-or-load of one module."""

    serves_always = False  # whether PRECAST_DISABLE and profile-guided compiles of JAX do not matter

    def __init__(self, *, cache, policy, module, seconds=None, annotations=b"", locations=False,
                 label=None, begin=None, end=None, profile=None, cancelled=None, extras=None):
        self.cache = cache
        self.policy = policy
        self.module = module
        self.seconds = dict(seconds or {})
        self.annotations = annotations
        self.locations = locations
        self.label = os.environ.get("PRECAST_LABEL", "") if label is None else label
        self.profile = profile  # bytes that guide the compiler; in the options, and so in the key
        self.extras = extras or {}  # by name, in the key
        self.cancelled = cancelled  # whether the caller gave up; None: asks for signals alone
        self.begin = begin  # called with the module's name, before anything is done
        self.end = end  # called with the report
        self.report = None
        self.beside = None  # compiles as JAX does without Precast, with its own cache, where this one has no part
        self._header = None  # what jaxlib put before a plugin's bytes
        self._versions = {}
        self.calling = None  # how JAX will call what comes out of this
        self._stored_binding = None

    def describe(self, lowered):
        """Says what is compiled, so that its binding is known. Without, the report has none."""
        try:
            self.calling = _private.calling_of_lowered(lowered)
        except Exception as error:  # pylint: disable=broad-exception-caught  # it is no part of the key
            say(logging.INFO, "no binding for %s: %r", type(lowered).__name__, error)

    def again(self):
        """Makes requests like this one for other lowerings. It does not keep this one's module."""
        wishes = {"cache": self.cache, "policy": self.policy, "annotations": self.annotations,
                  "locations": self.locations, "label": self.label, "profile": self.profile, "extras": self.extras}

        def request_of(lowered, kind=Request):
            made = kind(**wishes, module=lowered.compiler_ir())
            made.describe(lowered)
            return made
        return request_of

    @property
    def binding(self):
        """The digest of the binding; None where it is not known."""
        return None if self.calling is None else _binding.of(self.calling).digest

    @contextlib.contextmanager
    def active(self):
        """While it is entered, the compile of the module in this thread is this request's."""
        install()
        token = _current.set(self)
        try:
            yield self
        finally:
            _current.reset(token)

    def serve(self, backend, module, options, callbacks, devices):
        """The executable, loaded or compiled."""
        callbacks = list(callbacks)
        name = _private.module_name(module)
        if self.begin is not None:
            self.begin(name)

        def compiler():
            _refuse_if_sealed(name)
            return _private.compile_and_load(backend, module, devices, options, callbacks)

        def compile_beside():
            _refuse_if_sealed(name)
            return self.beside()

        try:
            runtime = runtime_of(backend)
            if runtime.facts is None:
                return self._leave("precast_plugin", _OWN_PLUGIN, name, backend, compile_beside)
            self._versions = runtime.versions
            serialized_options = _private.options_bytes(options)
            program, wishes = self.asked(module, devices, callbacks)
        except Exception as error:  # pylint: disable=broad-exception-caught  # a compile must not fail
            return self._without_cache(backend, name, error, compile_beside)

        def serialize(executable):
            crash = _private.crashes_on_serialize(module, devices, callbacks)
            if crash:
                raise RuntimeError(crash)
            serialized = _private.serialize(executable)
            if runtime.is_plugin:
                self._header, serialized = _private.split_header(serialized)
            return serialized

        def load(executable, front_end, load_options):
            wrong = _program.check_front_end(front_end, devices, callbacks)
            if wrong:
                error = _precast.Error(wrong)
                error.code = "incompatible"
                raise error
            self._stored_binding = _program.stored_binding(front_end)
            return runtime.load(executable, front_end, devices, load_options, callbacks)

        try:
            executable, said = self.cache.compile_or_load(
                runtime.facts, program, name, serialized_options, wishes, compiler, compile_beside,
                serialize, load, _private.description, self.cancelled)
        except _precast.Error as error:
            # What XLA said to another process, a policy that forbids a compile, a caller who gave up.
            if error.code in ("plugin_error", "unavailable"):
                raise _as_jax(error) from error
            return self._without_cache(backend, name, error, compile_beside)
        if said["root"]:
            came_from(executable, Origin("entry", said["artifact_path"], said["root"]))
        elif said["outcome"] != "bypass":
            _compiled_here(executable, backend, module, serialized_options)
        said["seconds"] = {**self.seconds, **said["seconds"]}
        self.report = Report(name=name, _made=made_by(executable), _calling=self.calling,
                             stored_binding=self._stored_binding,
                             device_ids=[device.id for device in devices], **said)
        self._finish(backend)
        return executable

    def _without_cache(self, backend, name, error, compiler):
        """What Precast could not make sense of is compiled, and told; under offline it is an error."""
        if self.policy is _precast.Policy.offline:
            raise error
        return self._leave("precast_error", repr(error), name, backend, compiler)

    def _leave(self, reason, detail, name, backend, compiler):
        """A bypass that the core was not asked about."""
        self.report = Report("bypass", reason, detail, name, seconds=self.seconds)
        self._finish(backend)
        return compiler()

    def _finish(self, backend):
        self.report.tell(backend.process_index())
        self.over()

    def over(self):
        """Calls `end` with the report."""
        try:
            if self.end is not None:
                self.end(self.report)
        except Exception as error:  # pylint: disable=broad-exception-caught  # the compile is done
            say(logging.DEBUG, "a report was not taken: %r", error)

    def asked(self, module, devices, callbacks):
        """(the program as the core reads it, the wishes of Cache.compile_or_load) for this request."""
        settled = _rules.settle(module, _program.program_bytes(module))
        wishes = settled.wishes()
        extras = {**_program.extras(callbacks, self._versions), **wishes.pop("extras"), **self.extras}
        if self.locations:
            extras["locations"] = _program.location_digest(module, settled)
        return settled.program, {
            **wishes, "policy": self.policy, "label": self.label, "extras": extras,
            "annotations": self.annotations,
            "front_end": lambda: _program.front_end(devices, callbacks, self._binding(), self._header)}

    def key_of_compile(self, cache, backend, module, options, callbacks, devices):
        """What the core says about the key of a compile that JAX asks for (Cache.key of the extension)."""
        runtime = runtime_of(backend)
        if runtime.facts is None:
            return {"key": None, "record": None, "fields": {}, "reason": "precast_plugin", "detail": _OWN_PLUGIN}
        self._versions = runtime.versions
        program, wishes = self.asked(module, devices, callbacks)
        return cache.key(runtime.facts, program, _private.module_name(module), _private.options_bytes(options), wishes)

    def _binding(self):
        """The Binding; None where it is not known, which is no reason to store nothing."""
        try:
            return None if self.calling is None else _binding.of(self.calling)
        except Exception as error:  # pylint: disable=broad-exception-caught  # as describe()
            say(logging.WARNING, "an executable is stored without its binding: %r", error)
            return None


@functools.cache
def no_cache():
    """Where there is a key, and nothing is stored."""
    return _precast.Cache(disabled=True)


class KeyRequest(Request):
    """A request that ends with what the core says about its key, before anything is compiled."""

    serves_always = True

    def serve(self, backend, module, options, callbacks, devices):
        raise _KeyKnown(self.key_of_compile(no_cache(), backend, module, options, list(callbacks), devices))

    def said_of(self, lowered, compiler_options=None):
        """What the core says about the key of this request's lowering (Cache.key of the extension)."""
        with self.active():
            try:
                lowered.compile(compiler_options)
            except _KeyKnown as known:
                return known.said
        raise RuntimeError("JAX compiled without asking precast.jax")  # its compile_or_get_cached was replaced


def _as_jax(error):
    """An error of the core as callers of JAX know it: what another process's XLA said stays XLA's."""
    if error.code == "plugin_error":
        import jax  # pylint: disable=import-outside-toplevel
        return jax.errors.JaxRuntimeError(error.message)
    return error


def _refuse_if_sealed(name):
    if _sealed == "error":
        raise SealedError(f"{name} would be compiled, and this process was sealed: nothing may be "
                          "compiled any more; compile it before, or store it in the cache")
    if _sealed == "warn":
        say(logging.WARNING, "%s is compiled although this process was sealed", name)


def _request_of(make, backend, module):
    """What `make` gives; None where there is none, and where it fails: then the module is compiled."""
    if make is None:
        return None
    try:
        return make(module)
    except Exception as error:  # pylint: disable=broad-exception-caught  # a compile must not fail
        if getattr(getattr(make, "__self__", None), "_policy", None) is _precast.Policy.offline:
            raise
        Report("bypass", "precast_error", repr(error), _private.module_name(module)).tell(backend.process_index())
        return None


def _compile_or_get_cached(backend, computation, devices, compile_options, host_callbacks,
                           executable_devices, pgle_profiler=None):
    def beside():
        executable = _private.jax_compile_or_get_cached(
            backend, computation, devices, compile_options, host_callbacks, executable_devices, pgle_profiler)
        if _private.uses_own_cache():
            came_from(executable, Origin("unknown"))
        else:
            _compiled_here(executable, backend, computation, _private.options_bytes(compile_options))
        return executable

    request = _current.get()
    if request is None or computation is not request.module:
        request = _request_of(_ambient.get() or _process_wide, backend, computation)
    if request is not None and request.profile:
        _private.set_profile(compile_options, request.profile)
    if request is not None:
        request.beside = beside
    if request is not None and request.serves_always:
        return request.serve(backend, computation, compile_options, host_callbacks, executable_devices)
    if request is None or _config.disabled() or pgle_profiler is not None or \
            _private.is_compile_only(backend):
        if request is not None:
            reason = "disabled" if _config.disabled() else "platform_unknown"
            request.report = Report("bypass", reason, name=_private.module_name(computation),
                                    seconds=request.seconds)
            request.over()
        _refuse_if_sealed(_private.module_name(computation))
        return beside()
    return request.serve(backend, computation, compile_options, host_callbacks, executable_devices)


def install():
    """Stands in the place of JAX's function. Idempotent."""
    global _installed  # pylint: disable=global-statement
    _installed = True
    _private.set_compile_or_get_cached(_compile_or_get_cached)


def set_process_wide(make):
    """`make` gives the request of a module that no call is about; None: there is none."""
    global _process_wide  # pylint: disable=global-statement
    previous, _process_wide = _process_wide, make
    install()
    return previous


def set_sealed(on_compile):
    """What a compile does from here on; what was before."""
    global _sealed  # pylint: disable=global-statement
    previous, _sealed = _sealed, on_compile
    install()
    return previous


class ambient:  # pylint: disable=invalid-name  # a context manager, on the path of every call
    """While it is entered, `make` gives the request of every module that this context compiles."""

    __slots__ = ("_make", "_token")

    def __init__(self, make):
        self._make = make

    def __enter__(self):
        if not _installed:
            install()
        self._token = _ambient.set(self._make)

    def __exit__(self, *raised):
        _ambient.reset(self._token)
