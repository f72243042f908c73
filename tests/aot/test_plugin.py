"""precast.aot where JAX runs on a plugin of PJRT's C API."""

import json
import os
import pathlib

import pytest

ROOT = pathlib.Path(__file__).parents[2]
SCRIPT = """
import json, pathlib, sys, jax, jax.numpy as jnp, numpy as np, precast.jax
from precast import aot
folder = pathlib.Path(sys.argv[1])
x = np.arange(16.0, dtype=np.float32).reshape(4, 4)
lowered = jax.jit(lambda x: (jnp.sin(x) @ x, x.astype(jnp.bfloat16).sum())).lower(x)
key = aot.get_cache_key(lowered)[0]
said = [key]
if sys.argv[2] == "save":
    compiled = precast.jax.compile_or_load(lowered)
    said.append(key.endswith(precast.jax.report(compiled).key))
    (folder / "entry").write_bytes(aot.partially_serialize(compiled, jax.devices()))
    (folder / "fresh").write_bytes(aot.partially_serialize(lowered.compile({}), jax.devices()))
    expected = compiled(x)
else:
    for name in ("entry", "fresh"):
        loaded = aot.load_compiled_from_serialized(lowered, (folder / name).read_bytes(), jax.devices())
        said.append(isinstance(loaded, jax.stages.Compiled))
        expected = loaded(x)
        said.append([np.asarray(one.astype(jnp.float32)).tolist() for one in expected])
print(json.dumps([said, [np.asarray(one.astype(jnp.float32)).tolist() for one in expected]]))
"""


@pytest.fixture(scope="module")
def plugin():
    [found] = (ROOT / "build/venv/lib").glob("python*/site-packages/lammps_jax_pjrt_cpu/pjrt_c_api_cpu_plugin.so")
    return {"PJRT_NAMES_AND_LIBRARY_PATHS": f"real:{found}", "JAX_PLATFORMS": "real"}


def test_keys_and_bytes_are_those_of_the_plugin(children, plugin):
    (key, is_that_of_the_cache), expected = json.loads(
        children.python("-c", SCRIPT, str(children.folder), "save", seed=1, **plugin).splitlines()[-1])
    assert is_that_of_the_cache
    said, got = json.loads(
        children.python("-c", SCRIPT, str(children.folder), "load", seed=2, **plugin,
                        PRECAST_DISABLE="1").splitlines()[-1])
    assert said == [key, True, expected, True, expected] and got == expected
    # JAX's built-in backend takes no such bytes.
    refused = children.python("-c", SCRIPT, str(children.folder), "load", ok=False, XLA_FLAGS="")
    assert refused.returncode == 1 and "incompatible" in refused.stderr and "sha256" in refused.stderr


def test_precasts_own_plugin_says_so(children, plugin):
    wrapper = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "lib" / "libprecast_pjrt.so"
    own = {"PJRT_NAMES_AND_LIBRARY_PATHS": f"own:{wrapper}", "JAX_PLATFORMS": "own",
           "PRECAST_PJRT_PLUGIN": plugin["PJRT_NAMES_AND_LIBRARY_PATHS"].removeprefix("real:")}
    done = children.python("-c", SCRIPT, str(children.folder), "save", ok=False, **own)
    assert "has no key (precast_plugin" in done.stderr
