"""JAX on a plugin of PJRT's C API: the entry holds the plugin's own bytes."""

import json
import os
import pathlib
import subprocess

import numpy as np
import pytest

ROOT = pathlib.Path(__file__).parents[2]
WRAPPER = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "lib" / "libprecast_pjrt.so"
ASK = """
import json, jax, jax.numpy as jnp, numpy as np, precast.jax
from jax.sharding import SingleDeviceSharding
x, y = np.arange(16.0, dtype=np.float32).reshape(4, 4), np.ones(3, np.int8)
def step(x, dead, y):
    return {"a": jnp.sin(x) @ x, "b": (y + 1, x.astype(jnp.bfloat16).sum())}
compiled = precast.jax.compile_or_load(jax.jit(step).trace(x, y, y))
report = precast.jax.report(compiled)
out = compiled(x, y, y)
state = {"w": jax.device_put(x)}
donating = precast.jax.compile_or_load(jax.jit(lambda state: {"w": state["w"] + 1}, donate_argnums=0).trace(state))
donating(state)
print(json.dumps([report.outcome, report.reason, report.detail, report.key, report.artifact_path,
                  [np.asarray(leaf.astype(jnp.float32)).tolist() for leaf in jax.tree.leaves(out)],
                  state["w"].is_deleted(), precast.jax.report(donating).outcome, report.saved_seconds]))
"""


@pytest.fixture(scope="module")
def plugin():
    [found] = (ROOT / "build/venv/lib").glob("python*/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")
    return {"PJRT_NAMES_AND_LIBRARY_PATHS": f"real:{found}", "JAX_PLATFORMS": "real", "PRECAST_PLUGIN": str(found)}


def ask(children, plugin, script=ASK, **environment):
    return json.loads(children.python("-c", script, **{**plugin, **environment}).splitlines()[-1])


def test_a_hit_and_the_command_load_what_the_plugin_compiled(children, plugin):
    cold = ask(children, plugin)
    assert cold[:2] == ["miss", "not_found"], cold
    assert cold[6:] == [True, "miss", 0.0]
    warm = ask(children, plugin, seed=1)
    assert warm[:2] == ["hit", "none"], warm
    assert warm[3:7] == cold[3:7]
    assert warm[7] == "hit"
    # The same plugin without JAX: the file holds nothing that only jaxlib understands.
    np.save(children.folder / "x.npy", np.arange(16, dtype=np.float32).reshape(4, 4))
    np.save(children.folder / "y.npy", np.ones(3, np.int8))
    ran = subprocess.run(
        [os.environ["PRECAST_BIN"], "run", cold[4], "--out", children.folder / "out", "-i", "x.npy", "-i", "y.npy"],
        env=children.environment(**plugin), cwd=children.folder, capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr
    first = np.load(sorted((children.folder / "out").glob("*.npy"))[0])
    assert first.tolist() == cold[5][0]


def test_precasts_own_plugin_is_not_asked_twice(children, plugin):
    own = {**plugin, "PJRT_NAMES_AND_LIBRARY_PATHS": f"own:{WRAPPER}", "JAX_PLATFORMS": "own",
           "PRECAST_PJRT_PLUGIN": plugin["PRECAST_PLUGIN"]}
    said = ask(children, own)
    assert said[:2] == ["bypass", "precast_plugin"] and "libprecast_pjrt.so" in said[2]
    # It served them all.
    assert len(list(children.cache.glob("v1/*/*.precast"))) >= 2


def test_a_plugin_for_another_platform_is_no_error(children):
    """JAX opens those of some platforms in ways of its own."""
    said = children.python("-c", """
import types, jax
from precast.jax import _request
device = types.SimpleNamespace(id=0, process_index=0, device_kind="moon")
backend = types.SimpleNamespace(platform="moon", platform_version="1", runtime_type="pjrt_ifrt",
                                process_index=lambda: 0, devices=lambda: [device])
runtime = _request.Runtime(backend)
print(runtime.is_plugin, runtime.facts is not None)
backend.platform = "cpu"
try:
    _request.Runtime(backend)
except LookupError as error:
    print(error)
""").splitlines()
    assert said[0] == "True True" and "how it opened the plugin of 'cpu'" in said[1]


def test_bytes_behind_another_header_are_not_stored(children, plugin):
    broken = "from precast.jax import _private\n" \
        "real = _private.serialize\n_private.serialize = lambda e: real(e)[1:]\n"
    said = ask(children, plugin, script=ASK.replace("x, y =", broken + "x, y =", 1))
    assert said[:2] == ["skip", "proof_failed"] and said[5], said
