"""libprecast exports exactly the names of exports.txt: the public C++ API and the C ABI.

Programs are linked against these names, and what is exported by accident is soon used. After a
deliberate change of the API:

    PRECAST_UPDATE_EXPORTS=1 ctest --preset release -R '^abi$'

A name that goes, or changes its arguments, needs a line in CHANGELOG.md; a name precast_... of the
C ABI never goes.
"""

import os
import pathlib
import re
import shutil
import subprocess

import pytest

PINNED = pathlib.Path(__file__).parent / "exports.txt"
HEADER = pathlib.Path(__file__).parents[2] / "include/precast/precast_c.h"


@pytest.fixture(scope="module")
def exported():
    """Demangled names. A constructor stands once, though the library has two of it."""
    nm = shutil.which("nm")
    assert nm is not None, "there is no nm here (Debian package binutils, which every compiler needs)"
    library = pathlib.Path(os.environ["PRECAST_BUILD_DIR"]) / "lib" / "libprecast.so"
    done = subprocess.run([nm, "--dynamic", "--defined-only", "--demangle", library],
                          capture_output=True, text=True, check=True)
    # "0000000000012345 T precast::version()"
    return sorted({line[19:] for line in done.stdout.splitlines()})


def test_the_exported_names_are_the_pinned_ones(exported):
    if os.environ.get("PRECAST_UPDATE_EXPORTS"):
        PINNED.write_text("\n".join(exported) + "\n")
    assert exported == PINNED.read_text().splitlines()


def test_nothing_else_leaks(exported):
    """Only the API: no library inside, no module (precast::key::...), no implementation."""
    public = re.compile(r"precast_\w+$|precast::(?!\w+::Impl::)(?:[A-Z]\w*::.*|\w+(?:\[abi:cxx11\])?\(.*)")
    assert not [name for name in exported if not public.match(name)]


def test_the_header_declares_what_the_library_has(exported):
    declared = re.findall(r"^PRECAST_C_API [^(]*?(precast_\w+)\(", HEADER.read_text(), re.M)
    assert sorted(declared) == [name for name in exported if name.startswith("precast_")]
