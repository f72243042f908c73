"""What the wrapper exports, and which functions of the table are not the plugin's own pointers."""

import json
import pathlib
import shutil
import subprocess
import sys

import pytest
from conftest import plugin_path, wrapper_path
from pypjrt._abi import pjrt_0_114 as abi

HERE = pathlib.Path(__file__).parent
# What the wrapper has to know of; everything else it must not be in the way of.
REPLACED = {
    "PJRT_Client_Create", "PJRT_Client_Destroy",  # options, devices
    "PJRT_Client_Compile", "PJRT_Compile",
    # A plugin that was built for loading unloaded executables has it (0.110).
    "PJRT_Client_Load",
    # Of what came from the cache: the first bytes are handed out.
    "PJRT_LoadedExecutable_GetExecutable", "PJRT_Executable_Serialize",
    "PJRT_Executable_Destroy", "PJRT_LoadedExecutable_Destroy",
}
NAMES = {slot: name if name.startswith("PJRT_") else f"PJRT_{name}" for name, slot in abi.SLOT.items()}


@pytest.fixture(params=["0.115", "0.81"])
def host(request, new_host):
    return new_host(request.param)


def compare(host, wrapper=None, env=None):
    done = host.run([sys.executable, HERE / "tables.py", wrapper or host.library(True), host.plugin], wrapped=True,
                    env=env)
    return json.loads(done.out)


def test_it_exports_one_name():
    listed = subprocess.run(["nm", "-D", "--defined-only", wrapper_path()], check=True, capture_output=True, text=True)
    assert [line.split()[-1].split("@")[0] for line in listed.stdout.splitlines()] == ["GetPjrtApi"]


def test_it_needs_the_c_library_alone():
    """Whatever else it uses is inside, and cannot clash with the host's own."""
    read = subprocess.run(["readelf", "-d", wrapper_path()], check=True, capture_output=True, text=True).stdout
    needed = {line.split("[")[1].split("]")[0].split(".so")[0] for line in read.splitlines() if "(NEEDED)" in line}
    assert needed <= {"libc", "libm", "libdl", "libpthread", "ld-linux-x86-64", "ld-linux-aarch64"}, needed
    assert "NODELETE" in read


def test_every_other_function_is_the_plugins_own_pointer(host):
    seen = compare(host)
    assert seen["same header"] and not seen["same table"]
    assert {NAMES[slot] for slot in seen["replaced"]} <= REPLACED
    assert {"PJRT_Client_Compile", "PJRT_Executable_Serialize"} <= {NAMES[slot] for slot in seen["replaced"]}
    assert seen["missing"] == [], "a function that the plugin does not have stays away"


def test_turned_off_the_table_is_the_plugins_own(host):
    assert compare(host, env={"PRECAST_DISABLE": "1"})["same table"]


def test_a_copy_opens_what_its_name_says(host):
    copy = host.folder / "libprecast_pjrt_mine.so"
    shutil.copy(host.library(True), copy)
    env = {"PRECAST_PJRT_PLUGIN": None, "PJRT_NAMES_AND_LIBRARY_PATHS": f"mine:{host.plugin},other:/nowhere/x.so"}
    seen = compare(host, copy, env)
    assert seen["same header"] and not seen["same table"]


def test_two_copies_wrap_two_plugins_in_one_process(host):
    """Each has its own state: the first does not answer for the second."""
    names = {version: plugin_path(version) for version in ("0.115", "0.81")}
    paths = ",".join(f"v{version.replace('.', '_')}:{path}" for version, path in names.items())
    copies = []
    for version in names:
        copies.append(host.folder / f"libprecast_pjrt_v{version.replace('.', '_')}.so")
        shutil.copy(host.library(True), copies[-1])
    script = ("import sys, pypjrt\n"
              "print([list(pypjrt.Plugin(path).api_version) for path in sys.argv[1:]])\n")
    done = host.run([sys.executable, "-c", script, *copies], wrapped=True,
                    env={"PRECAST_PJRT_PLUGIN": None, "PJRT_NAMES_AND_LIBRARY_PATHS": paths})
    assert json.loads(done.out) == [[0, 115], [0, 81]]
