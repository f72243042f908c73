"""What became of a request, and who is told."""

import dataclasses
import logging

from precast.jax import _private

logger = logging.getLogger("precast.jax")

# Reasons that mean that something is wrong with a cache or an entry.
_BAD = {"entry_corrupt", "entry_untrusted", "entry_unreadable", "load_failed", "refused_here",
        "store_failed", "proof_failed", "store_unavailable", "store_hung", "store_full",
        "plugin_bytes_unknown", "lease_unavailable"}


@dataclasses.dataclass
class Report:
    """What became of one compile-or-load.

    outcome: "hit", "miss", "skip" or "bypass"; reason: why, from the core's list, or
    "compiled_before" (this very lowering was compiled in this process before), "disabled",
    "precast_error" (Precast failed, and JAX compiled); detail: one sentence, or empty. Seconds by
    phase: trace, lower, key, lookup, verify, load, wait, compile, serialize, encode, prove, publish.
    Sizes in bytes; memory is of one device."""

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
    warnings: list = dataclasses.field(default_factory=list)
    code_size: int = 0
    argument_size: int = 0
    output_size: int = 0
    alias_size: int = 0
    temp_size: int = 0
    host_offload_size: int = 0
    flops: float | None = None

    def describe(self, executable):
        """Fills in what the executable says about itself."""
        memory, costs = _private.description(executable)
        if memory is not None:
            (self.code_size, self.argument_size, self.output_size, self.alias_size,
             self.temp_size, _) = memory
        self.host_offload_size = _private.host_offload_bytes(executable)
        self.flops = costs.get("flops")

    def tell(self, rank):
        """Logs the outcome, INFO on process 0 and DEBUG elsewhere; WARNING where something is
        wrong. Adds events to jax.monitoring."""
        level = logging.INFO if rank == 0 else logging.DEBUG
        if self.reason in _BAD or self.reason == "precast_error":
            level = logging.WARNING
        if logger.isEnabledFor(level):
            key = self.key[:12] if self.key else "no key"
            why = "" if self.reason == "none" else f" ({self.reason})"
            detail = f": {self.detail}" if self.detail else ""
            logger.log(level, "rank %d: %s%s %s, %s%s", rank, self.outcome, why, self.name, key,
                       detail)
        _private.record_event(f"/precast/{self.outcome}")
        for phase, seconds in self.seconds.items():
            _private.record_seconds(f"/precast/phase/{phase}", seconds)
