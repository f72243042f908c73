"""env: the variables with which a client that knows nothing of Precast uses its cache."""

import os
import shlex
import subprocess

import pytest

VENV = "lib/python3.11/site-packages"


@pytest.fixture
def wrapper(precast):
    path = precast.folder / "a folder" / "libprecast_pjrt.so"
    path.parent.mkdir()
    path.write_bytes(b"\x7fELF")
    return path


@pytest.fixture
def variables(precast, wrapper):
    """What a shell has after it evaluated what was printed."""
    def evaluated(client, *words, **env):
        out = precast("env", client, "--wrapper", wrapper, *words, env=env).out
        exported = [shlex.split(line)[1].partition("=")[0] for line in out.splitlines() if line.startswith("export ")]
        script = "eval \"$1\"; for name in $2; do printf '%s\\0' \"$(printenv \"$name\")\"; done"
        done = subprocess.run(["sh", "-euc", script, "sh", out, " ".join(exported)], capture_output=True, check=True,
                              env={"PATH": os.environ["PATH"]})
        values = dict(zip(exported, done.stdout.decode().split("\0")))
        asked = precast.json("env", client, "--wrapper", wrapper, *words, env=env)
        assert asked["variables"] == values
        assert asked["wrapper"] == str(wrapper)
        return values
    return evaluated


def test_jax(variables, precast, wrapper):
    assert variables("jax") == {
        "PJRT_NAMES_AND_LIBRARY_PATHS": f"precast:{wrapper}", "JAX_PLATFORMS": "precast",
        "PRECAST_PJRT_PLUGIN": precast.env["PRECAST_PLUGIN"]}


def test_other_clients(variables, precast, wrapper):
    plugin = {"PRECAST_PJRT_PLUGIN": precast.env["PRECAST_PLUGIN"]}
    assert variables("pytorch-xla") == {"PJRT_DEVICE": "LIBRARY", "PJRT_LIBRARY_PATH": str(wrapper), **plugin}
    assert variables("pypjrt") == {"PYPJRT_PLUGIN": str(wrapper), **plugin}
    assert variables("gomlx") == {"GOMLX_BACKEND": f"xla:{wrapper}", **plugin}
    assert variables("other") == plugin
    out = precast("env", "other", "--wrapper", wrapper).out
    assert out.splitlines()[0] == f"# the client has to open '{wrapper}' in place of the plugin"


@pytest.mark.parametrize("client, call", [
    ("gopjrt", 'in Go: pjrt.GetPlugin("{}")'),
    ("exla", 'in Elixir: EXLA.NIF.load_pjrt_plugin("precast", "{}")'),
    ("reactant", 'in Julia: Reactant.XLA.PJRT.MakeClientUsingPluginAPI("{}", "precast", "precast")'),
    ("zml", 'in Zig: pjrt.Api.loadFrom("{}")'),
])
def test_clients_that_take_the_path_in_code(variables, precast, wrapper, client, call):
    assert variables(client) == {"PRECAST_PJRT_PLUGIN": precast.env["PRECAST_PLUGIN"]}
    assert precast("env", client, "--wrapper", wrapper).out.splitlines()[0] == "# " + call.format(wrapper)


def test_a_tpu(variables, precast, wrapper):
    venv = precast.folder / "venv"
    library = venv / VENV / "libtpu" / "libtpu.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF")
    expected = {"TPU_LIBRARY_PATH": str(wrapper), "PRECAST_PJRT_PLUGIN": str(library)}
    assert variables("jax", "--plugin", "tpu", VIRTUAL_ENV=str(venv)) == {"JAX_PLATFORMS": "tpu", **expected}
    # By its path it is the same plugin.
    assert variables("jax", "--plugin", library, VIRTUAL_ENV=str(venv)) == {"JAX_PLATFORMS": "tpu", **expected}
    assert variables("pytorch-xla", "--plugin", "tpu", VIRTUAL_ENV=str(venv)) == {"PJRT_DEVICE": "TPU", **expected}


def test_a_gpu_comes_with_a_note(precast, wrapper):
    venv = precast.folder / "venv"
    library = venv / VENV / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF")
    words = ["env", "jax", "--wrapper", wrapper, "--plugin", "cuda"]
    seen = precast.json(*words, env={"VIRTUAL_ENV": str(venv)})
    assert seen["variables"]["PRECAST_PJRT_PLUGIN"] == str(library)
    assert "JAX's CUDA package opens its own library" in seen["notes"][0]
    out = precast(*words, env={"VIRTUAL_ENV": str(venv)}).out
    assert out.startswith("# JAX's CUDA package ")


def test_a_gpu_with_the_python_package(variables, precast, wrapper):
    venv = precast.folder / "venv"
    library = venv / VENV / "jax_plugins" / "xla_cuda13" / "xla_cuda_plugin.so"
    library.parent.mkdir(parents=True)
    library.write_bytes(b"\x7fELF")
    folder = wrapper.parents[1] / "jax_cuda"
    (folder / "jax_plugins").mkdir(parents=True)
    env = {"VIRTUAL_ENV": str(venv), "PYTHONPATH": "/before"}
    assert variables("jax", "--plugin", "cuda", **env) == {
        "PYTHONPATH": f"{folder}:/before", "JAX_PLATFORMS": "cuda", "PRECAST_PJRT_PLUGIN": str(library)}


def test_the_plugins_path_is_absolute_and_real(variables, precast):
    link = precast.folder / "link.so"
    link.symlink_to(precast.env["PRECAST_PLUGIN"])
    real = os.path.realpath(precast.env["PRECAST_PLUGIN"])
    assert variables("pypjrt", "--plugin", "./link.so")["PRECAST_PJRT_PLUGIN"] == real


def test_what_cannot_be(precast, wrapper):
    done = precast("env", "jax", "--wrapper", "missing.so", code=3)
    assert "there is no file 'missing.so'" in done.err
    done = precast("env", "jax", "--wrapper", wrapper, "--plugin", "abacus", code=3)
    assert "no plugin is named 'abacus'; the names are libprecast_fake_pjrt.so" in done.err
    done = precast("env", "jax", "--wrapper", wrapper, "--plugin", "./missing.so", code=3)
    assert "there is no plugin './missing.so'" in done.err
    done = precast("env", "jax", "--wrapper", wrapper, env={"PRECAST_PLUGIN": None}, code=3)
    assert "no plugin is found" in done.err
    assert "did you mean" not in precast("env", "abacus", code=2).err


def test_jax_parts_its_list_at_colons(precast, wrapper):
    odd = wrapper.rename(wrapper.parent / "a:b.so")
    done = precast("env", "jax", "--wrapper", odd, code=3)
    assert "JAX cannot be told of" in done.err and "copy or a link" in done.err
    precast("env", "pypjrt", "--wrapper", odd)
