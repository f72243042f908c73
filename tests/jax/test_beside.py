"""enable() beside JAX's own persistent cache: what Precast has no part in goes there, and nothing else."""

import json

SCRIPT = """
import json, jax, jax.numpy as jnp, numpy as np
{before}
events = []
jax.monitoring.register_event_listener(lambda event, **more: events.append(event))
def step(x):
    return jnp.sin(x) @ x
value = float(np.asarray(jax.jit(step)(np.ones((4, 4), np.float32)))[0, 0])
print(json.dumps([value, events.count("/jax/compilation_cache/cache_hits"),
                  [event for event in events if event.startswith("/precast/")]]))
"""
ENABLE = "import precast.jax; precast.jax.enable()"


def run(children, before="", **environment):
    """([value, hits of JAX's cache, Precast's events], how many entries JAX's cache has then)."""
    folder = children.folder / "jax-cache"
    said = children.python("-c", SCRIPT.format(before=before), **{
        "JAX_COMPILATION_CACHE_DIR": str(folder), "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1", **environment})
    return json.loads(said.splitlines()[-1]), len(list(folder.glob("jit_step*-cache")))


def test_what_precast_serves_is_never_jaxs_nor_hidden_by_it(children):
    (value, *cold), entries = run(children, ENABLE)
    assert (cold, entries) == ([0, ["/precast/miss"]], 0)
    assert run(children, ENABLE) == ([value, 0, ["/precast/hit"]], 0)
    # The next process without Precast compiles, and its own entry runs in the one after it.
    assert run(children) == ([value, 0, []], 1)
    assert run(children) == ([value, 1, []], 1)
    # JAX has it now, and still Precast is asked.
    assert run(children, ENABLE) == ([value, 0, ["/precast/hit"]], 1)


def test_what_precast_has_no_part_in_is_jaxs_as_ever(children):
    """Turned off; without a usable folder; where Precast itself fails."""
    (value, *cold), entries = run(children, ENABLE, PRECAST_DISABLE="1")
    assert (cold, entries) == ([0, []], 1)
    assert run(children, ENABLE, PRECAST_DISABLE="1") == ([value, 1, []], 1)
    assert run(children, ENABLE, PRECAST_CACHE="/dev/null") == ([value, 1, ["/precast/bypass"]], 1)
    broken = ENABLE + "\nfrom precast.jax import _private\n_private.program_bytes = lambda module: 1 // 0"
    assert run(children, broken) == ([value, 1, ["/precast/bypass"]], 1)
    assert not list(children.cache.glob("v1/*/*.precast"))
