"""JAX's package for CUDA on the wrapper, without a device: the module of its name that Precast's package brings."""

import importlib.metadata
import shutil
import sys

import pytest
from conftest import ROOT

PACKAGES = next(iter(ROOT.glob("build/accelerator-venv/lib/python3*/site-packages")), None)
ASK = """
import os
import jax
import jax_plugins.xla_cuda13 as package

try:
    print(jax.devices())
except Exception as error:
    print(type(error).__name__, str(error).splitlines()[:1])
print(package.__name__, package.__file__, package.__package__)
print(sorted(line.split()[-1] for line in open("/proc/self/maps") if "xla_cuda_plugin.so" in line and " r-xp " in line))
print("wrapper", any("libprecast_pjrt.so" in line for line in open("/proc/self/maps")))
"""


def packaged():
    """The version of JAX's package for CUDA in build/accelerator-venv."""
    found = list(PACKAGES.glob("jax_cuda13_pjrt-*.dist-info")) if PACKAGES else []
    return found[0].name.removesuffix(".dist-info").split("-")[1] if found else None


pytestmark = pytest.mark.skipif(packaged() != importlib.metadata.version("jax"),
                                reason="build/accelerator-venv has no package for CUDA of this version of JAX")


@pytest.fixture(scope="module")
def host(new_host):
    """With Precast's Python package as it is installed: the module, and the wrapper beside it."""
    host = new_host()
    package = host.folder / "precast"
    shutil.copytree(ROOT / "python" / "precast" / "jax_cuda", package / "jax_cuda")
    (package / "lib").mkdir()
    shutil.copy(host.library(True), package / "lib" / "libprecast_pjrt.so")
    return host


def ask(host, wrapped, env=None):
    path = f"{host.folder / 'precast' / 'jax_cuda'}:{PACKAGES}" if wrapped else str(PACKAGES)
    return host.run([sys.executable, "-c", ASK], wrapped, env={
        "PYTHONPATH": path, "JAX_PLATFORMS": "cuda", "JAX_SKIP_CUDA_CONSTRAINTS_CHECK": "1",
        "PRECAST_PJRT_PLUGIN": None, **(env or {})})


def test_jax_opens_the_wrapper_and_says_the_same(host):
    bare, wrapped = ask(host, False), ask(host, True)
    *said, opened = bare.out.splitlines()
    assert opened == "wrapper False" and "jax_plugins.xla_cuda13" in said[1] and "xla_cuda_plugin.so" in said[2]
    assert wrapped.out.splitlines() == [*said, "wrapper True"]
    assert any(line.endswith("xla_cuda_plugin.so") and "summary" in line for line in wrapped.said), wrapped


def test_turned_off_it_is_the_packages_own(host):
    assert ask(host, True, {"PRECAST_DISABLE": "1"}).out == ask(host, False).out


def test_without_jaxs_package_it_is_as_if_there_were_none(host):
    done = host.run([sys.executable, "-c", "import jax; print(jax.devices()[0].platform)"], True,
                    env={"PYTHONPATH": host.folder / "precast" / "jax_cuda", "JAX_PLATFORMS": "cpu",
                         "PRECAST_PJRT_PLUGIN": None, "PRECAST_SUMMARY": None})
    assert done.out == "cpu\n" and done.said == []
