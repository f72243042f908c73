"""jaxlib swapped in place: other bytes under the same name, version, size and times."""

import os
import pathlib
import shutil

import jaxlib
import pytest

# It copies 350 MB and reads them twice.
pytestmark = pytest.mark.skipif(not os.environ.get("PRECAST_LONG"), reason="copies and hashes 350 MB four times: in make test-long")
LIBRARY = "libjax_common.so"

PROGRAM = """
import jax, jax.numpy as jnp, jaxlib, precast.jax
compiled = precast.jax.compile_or_load(jax.jit(lambda x: jnp.sin(x) @ x).trace(jnp.ones((8, 8))))
report = precast.jax.report(compiled)
print(jaxlib.__file__, report.outcome, report.key)
"""


@pytest.fixture
def site(tmp_path):
    """A folder whose jaxlib is the installed one, but for a library that may be swapped."""
    theirs, ours = pathlib.Path(jaxlib.__file__).parent, tmp_path / "site" / "jaxlib"
    shutil.copytree(theirs, ours, copy_function=os.symlink)
    (ours / LIBRARY).unlink()
    shutil.copy(theirs / LIBRARY, ours / LIBRARY)
    with open(ours / LIBRARY, "ab") as file:
        file.write(b"....")  # behind the ELF file's end, where nobody looks: these make it another build
    return ours.parent


def put(site, build):
    """Another build in the place of the first, with its size and times."""
    with open(site / "jaxlib" / LIBRARY, "r+b") as file:
        file.seek(-4, os.SEEK_END)
        file.write(build)
    os.utime(site / "jaxlib" / LIBRARY, (1_000_000_000, 1_000_000_000))


def test_another_build_in_the_same_place_is_another_key_both_ways(children, site):
    package = os.environ["PRECAST_PYTHON_PACKAGE"]

    def ask():
        words = children.python("-c", PROGRAM, PYTHONPATH=f"{site}{os.pathsep}{package}").split()
        assert words[0].startswith(str(site))
        return words[1:]

    put(site, b"one ")
    first = ask()
    assert first[0] == "miss"
    put(site, b"two ")
    second = ask()
    assert second[0] == "miss" and second[1] != first[1]
    put(site, b"one ")
    assert ask() == ["hit", first[1]]
    put(site, b"two ")
    assert ask() == ["hit", second[1]]
