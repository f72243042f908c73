"""Settings of precast.jax, each with where it comes from."""

import os

from precast import _precast

POLICIES = {
    "read-write": _precast.Policy.read_write,
    "read-only": _precast.Policy.read_only,
    "refresh": _precast.Policy.refresh,
    "offline": _precast.Policy.offline,
}


def policy_of(name):
    """The core's policy of this name. ValueError names those that there are."""
    if name not in POLICIES:
        raise ValueError(f"there is no policy {name!r}; there are {', '.join(POLICIES)}")
    return POLICIES[name]


def is_on(variable):
    """Whether an environment variable asks for something, as Precast's core reads them."""
    return os.environ.get(variable, "") not in ("", "0")


def disabled():
    """Whether PRECAST_DISABLE turns the cache off."""
    return is_on("PRECAST_DISABLE")


def _from_environment(variable, default):
    value = os.environ.get(variable, "")
    return (value, variable) if value else (default, "default")


def config():
    """Every setting that a call without arguments would use: name -> (value, where it is from)."""
    try:
        directory = _precast.default_cache_directory()
    except _precast.Error as error:
        directory = (None, str(error))
    return {
        "cache": directory,
        "disabled": (disabled(), "PRECAST_DISABLE" if "PRECAST_DISABLE" in os.environ
                     else "default"),
        "namespace": _from_environment("PRECAST_NAMESPACE", ""),
        "label": _from_environment("PRECAST_LABEL", ""),
        "policy": ("read-write", "default"),
        "enabled": (is_on("PRECAST_JAX"), "PRECAST_JAX" if "PRECAST_JAX" in os.environ
                    else "default"),
    }
