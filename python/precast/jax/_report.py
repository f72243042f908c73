"""What became of a request, and who is told."""

import dataclasses
import functools
import logging

from precast.jax import _binding, _private

logger = logging.getLogger("precast.jax")

# Reasons that mean that something is wrong with a cache or an entry.
_BAD = {"entry_corrupt", "entry_untrusted", "entry_unreadable", "load_failed", "refused_here",
        "store_failed", "proof_failed", "store_unavailable", "store_hung", "store_full",
        "plugin_bytes_unknown", "lease_unavailable"}


def say(level, text, *words):
    """Logs. What a user's handlers and filters raise is no reason to fail a compile."""
    try:
        logger.log(level, text, *words)
    except Exception:  # pylint: disable=broad-exception-caught
        pass


def mark_of(executable):
    """An object that this executable has and no other, as long as somebody holds it: where it was made.
    Each compile and each load makes one. None where JAX notes none."""
    return getattr(executable, "traceback", None)


def made_by(executable):
    """(client, mark) of an executable, from which a Report finds it while it is in use; nothing of it is held."""
    return getattr(executable, "client", None), mark_of(executable)


@dataclasses.dataclass
class Report:
    """What became of one compile-or-load.

    outcome: "hit", "miss", "skip" or "bypass"; reason: why, from the core's list, or
    "compiled_before" (this very lowering was compiled in this process before), "disabled",
    "precast_plugin" (the plugin is Precast's own), "precast_error" (Precast failed, and JAX
    compiled); detail: one sentence, or empty. Seconds by phase: trace, lower, key, lookup, verify,
    load, wait, compile, serialize, encode, prove, publish; of those that ran here and were seen:
    what was traced before the call has no trace in it. saved_seconds: of a hit, what the compile had
    taken, less what this request took from its key to the load. Sizes in bytes; memory is of one
    device, and None where the executable is gone before anybody asked. stored_binding: the digest of the binding under which the entry was stored, which is
    another one than `binding` where other code compiled the same."""

    outcome: str
    reason: str
    detail: str = ""
    name: str = ""
    key: str | None = None
    artifact_path: str = ""
    root: str | None = None
    seconds: dict = dataclasses.field(default_factory=dict)
    program_bytes: int = 0
    executable_bytes: int = 0
    artifact_bytes: int = 0
    saved_seconds: float = 0.0
    device_ids: list = dataclasses.field(default_factory=list)
    warnings: list = dataclasses.field(default_factory=list)
    stored_binding: str | None = None
    _made: tuple | None = dataclasses.field(default=None, repr=False, compare=False)
    _calling: object = dataclasses.field(default=None, repr=False, compare=False)

    @functools.cached_property
    def _bound(self):
        return None if self._calling is None else _binding.of(self._calling)

    @property
    def binding(self):
        """The digest of how the executable is called (hex), equal in every process; None where it is
        not known, as for compiles of enable() and jit()."""
        return None if self._bound is None else self._bound.digest

    @property
    def binding_record(self):
        """What that digest is of, as plain data; None as binding. `left_out` in it names the types of
        pytree nodes whose static data does not count, since no encoder was registered for it."""
        return None if self._bound is None else self._bound.record

    # Asking an executable takes as long as a tenth of its load, so only who wants it waits for it. A report
    # may outlive its executable, and does not keep it: it looks for it among those that there are.

    @property
    def _executable(self):
        client, mark = self._made or (None, None)
        if client is None or mark is None:
            return None
        return next((one for one in client.live_executables() if mark_of(one) is mark), None)

    @functools.cached_property
    def _memory(self):
        executable = self._executable
        return None if executable is None and self._made is not None else _private.memory(executable)

    def _size(self, kind):
        return None if self._memory is None else self._memory.get(kind, 0)

    @property
    def code_size(self):
        """Bytes of generated code."""
        return self._size("code")

    @property
    def argument_size(self):
        """Bytes of all arguments."""
        return self._size("argument")

    @property
    def output_size(self):
        """Bytes of all results."""
        return self._size("output")

    @property
    def alias_size(self):
        """Bytes that results share with donated arguments."""
        return self._size("alias")

    @property
    def temp_size(self):
        """Bytes of temporaries on the device."""
        return self._size("temp")

    @property
    def host_offload_size(self):
        """Bytes of temporaries in the host's memory."""
        return self._size("host_temp")

    @functools.cached_property
    def flops(self):
        """As the compiler estimates; None where it does not."""
        return _private.costs(self._executable).get("flops")

    def tell(self, rank):
        """Logs the outcome as INFO, or as WARNING where something is wrong. Adds events to
        jax.monitoring. A logger that nobody gave a level gets INFO on process 0, WARNING elsewhere.
        What listeners, handlers and filters raise goes nowhere else."""
        for work in (self._log, self._record):
            try:
                work(rank)
            except Exception as error:  # pylint: disable=broad-exception-caught  # a compile must not fail
                say(logging.DEBUG, "a report was not told: %r", error)

    def _log(self, rank):
        if logger.level == logging.NOTSET:
            logger.setLevel(logging.INFO if rank == 0 else logging.WARNING)
        bad = self.reason in _BAD or self.reason == "precast_error"
        level = logging.WARNING if bad else logging.INFO
        if logger.isEnabledFor(level):
            key = self.key[:12] if self.key else "no key"
            why = "" if self.reason == "none" else f" ({self.reason})"
            detail = f": {self.detail}" if self.detail else ""
            logger.log(level, "rank %d: %s%s %s, %s%s", rank, self.outcome, why, self.name, key,
                       detail)

    def _record(self, _):
        _private.record_event(f"/precast/{self.outcome}")
        for phase, seconds in self.seconds.items():
            _private.record_seconds(f"/precast/phase/{phase}", seconds)
        if self.outcome == "hit":
            _private.record_seconds("/precast/time_saved", self.saved_seconds)
