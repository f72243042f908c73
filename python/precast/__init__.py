"""Precast: XLA executables, compiled once and loaded everywhere.

`precast.jax` is the cache for JAX (docs/jax.md); `precast.pjrt.path()` is the plugin for any other
client of PJRT; `python -m precast` is the command.
"""

from precast._precast import Error
from precast._precast import version as __version__

__all__ = ["Error", "__version__"]
