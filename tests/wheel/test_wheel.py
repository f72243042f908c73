"""pip install . gives a package that works, from the library and the command of this build."""

import os
import pathlib
import subprocess
import sys
import zipfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """(the wheel, a folder with what it holds)."""
    folder = tmp_path_factory.mktemp("wheel")
    build = os.environ["PRECAST_BUILD_DIR"]
    clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, "-m", "pip", "wheel", str(ROOT), "--no-build-isolation", "--no-deps",
         "--no-index", "-w", str(folder), f"-Cbuild-dir={folder / 'build'}",
         f"-Ccmake.define.PRECAST_PREBUILT={build}"],
        capture_output=True, text=True, check=False, env=clean)
    assert done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:]
    [wheel] = folder.glob("precast-*.whl")
    target = folder / "site"
    subprocess.run([sys.executable, "-m", "pip", "install", "-q", "--no-deps", "--no-index",
                    "--target", str(target), str(wheel)], check=True, env=clean)
    return wheel, target


def python(target, *words, ok=True):
    done = subprocess.run([sys.executable, *words], capture_output=True, text=True, check=False,
                          env={**os.environ, "PYTHONPATH": str(target)}, cwd=target)
    assert not ok or done.returncode == 0, done.stderr
    return done


def test_the_wheel_holds_what_it_must_and_nothing_else(installed):
    names = zipfile.ZipFile(installed[0]).namelist()
    for wanted in ("precast/__init__.py", "precast/py.typed", "precast/_precast.pyi",
                   "precast/jax/__init__.py", "precast/aot/__init__.py", "precast/bin/precast", "precast/lib/libprecast.so.0.1",
                   "precast/jax_cuda/jax_plugins/xla_cuda13/__init__.py"):
        assert wanted in names, names
    assert any(name.startswith("precast/_precast.") and name.endswith(".so") for name in names)
    assert {name.split("/")[0] for name in names} == {"precast", "precast-0.1.0.dist-info"}


def test_the_package_is_of_one_version(installed):
    said = python(installed[1], "-c", "import precast; print(precast.__version__, precast.__file__)")
    version, file = said.stdout.split()
    assert version == "0.1.0" and file.startswith(str(installed[1]))


def test_the_command_runs(installed):
    expected = python(installed[1], "-m", "precast", "version").stdout
    assert "0.1.0" in expected
    script = installed[1] / "bin" / "precast"
    done = subprocess.run([sys.executable, str(script), "version"], capture_output=True, text=True,
                          check=True, env={**os.environ, "PYTHONPATH": str(installed[1])})
    assert done.stdout == expected
    assert python(installed[1], "-m", "precast", "no-such-verb", ok=False).returncode == 2


def test_the_wrapper_is_there_when_it_was_built(installed):
    built = pathlib.Path(os.environ["PRECAST_BUILD_DIR"], "lib", "libprecast_pjrt.so").exists()
    said = python(installed[1], "-c", "import precast.pjrt; print(precast.pjrt.path())", ok=built)
    if built:
        assert said.stdout.strip() == str(installed[1] / "precast" / "lib" / "libprecast_pjrt.so")
        # The command of the package finds it as well, and what stands beside it.
        plugin = installed[1] / "xla_cuda_plugin.so"
        plugin.touch()
        exported = python(installed[1], "-m", "precast", "env", "pypjrt", "--plugin", str(plugin)).stdout
        assert exported.splitlines()[0] == f"export PYPJRT_PLUGIN={said.stdout.strip()}"
        folder = python(installed[1], "-c", "import precast.pjrt; print(precast.pjrt.jax_cuda())").stdout.strip()
        assert (pathlib.Path(folder) / "jax_plugins" / "xla_cuda13" / "__init__.py").is_file()
    else:
        assert "FileNotFoundError" in said.stderr


def test_jax_works_from_it(installed, tmp_path):
    script = ("import os; os.environ['PRECAST_CACHE'] = " + repr(str(tmp_path / "cache")) + "\n"
              "import jax, precast.jax\n"
              "c = precast.jax.compile_or_load(jax.jit(lambda x: x + 1).trace(1.0))\n"
              "print(precast.jax.report(c).outcome, c(1.0))\n")
    assert python(installed[1], "-c", script).stdout.split() == ["miss", "2.0"]
    assert python(installed[1], "-c", script).stdout.split() == ["hit", "2.0"]
