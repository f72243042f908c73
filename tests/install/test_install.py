"""An installed Precast, moved to another folder, serves programs that know nothing of the build.

PRECAST_BUILD_DIR is a build tree with the command and the library in it.
"""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PROGRAM = ROOT / "tests/cli/programs/add.mlir"


def run(*words, **kwargs):
    done = subprocess.run([*map(str, words)], capture_output=True, text=True, timeout=600, **kwargs)
    assert done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


@pytest.fixture(scope="module")
def prefix():
    """Not below pytest's folder: others may be able to write there, and a cache would refuse it."""
    with tempfile.TemporaryDirectory(prefix="precast-install-") as name:
        first = pathlib.Path(name).resolve() / "first"
        run("cmake", "--install", os.environ["PRECAST_BUILD_DIR"], "--prefix", first)
        moved = first.with_name("moved")
        first.rename(moved)
        yield moved


@pytest.fixture(scope="module")
def env(prefix):
    """Without anything that leads to the build."""
    return {"PATH": os.environ["PATH"], "HOME": str(prefix.parent), "TMPDIR": str(prefix.parent),
            "PRECAST_CACHE": str(prefix.parent / "cache"),
            "PRECAST_PLUGIN": os.environ["PRECAST_FAKE_PLUGIN"]}


def libdir(prefix):
    [config] = prefix.rglob("precast-config.cmake")
    return config.parents[2]


def test_what_is_installed(prefix):
    lib = libdir(prefix).relative_to(prefix)
    names = {str(path.relative_to(prefix)) for path in prefix.rglob("*") if not path.is_dir()}
    headers = {f"include/precast/{path.name}" for path in (ROOT / "include/precast").glob("*.h")}
    documents = {f"share/doc/precast/{path.relative_to(ROOT)}" for path in (ROOT / "docs").rglob("*.md")}
    documents |= {f"share/doc/precast/{name}" for name in
                  ("CHANGELOG.md", "LICENSE", "README.md", "SECURITY.md")}
    package = {f"{lib}/cmake/precast/{name}" for name in
               ("precast-config.cmake", "precast-config-version.cmake", "precast-targets.cmake")}
    libraries = {f"{lib}/libprecast_pjrt.so", f"{lib}/libprecast.so", f"{lib}/libprecast.so.0.1", f"{lib}/libprecast.so.0.1.0"}
    other = {"bin/precast", f"{lib}/pkgconfig/precast.pc"}
    build_type = {name for name in names if re.fullmatch(rf"{lib}/cmake/precast/precast-targets-\w+\.cmake", name)}
    assert len(build_type) == 1
    assert names == headers | documents | package | libraries | other | build_type


def test_the_library_has_a_soname(prefix):
    said = run("readelf", "-d", libdir(prefix) / "libprecast.so")
    assert "[libprecast.so.0.1]" in said
    assert "RPATH" not in said and "RUNPATH" not in said


def test_installed_files_name_no_folder_of_the_build(prefix):
    places = [str(ROOT).encode(), os.environ["PRECAST_BUILD_DIR"].encode()]
    for path in prefix.rglob("*"):
        if path.is_file() and path.suffix in {".cmake", ".pc", ".h"}:
            data = path.read_bytes()
            assert not [place for place in places if place in data], path


def test_headers_include_only_what_is_installed(prefix):
    include = prefix / "include"
    for header in (include / "precast").iterdir():
        for quoted in re.findall(r'^\s*#\s*include\s*"([^"]+)"', header.read_text(), re.M):
            assert (include / quoted).is_file(), f"{header.name} includes {quoted}"
        for system in re.findall(r"^\s*#\s*include\s*<([^>]+)>", header.read_text(), re.M):
            # Nothing but the languages' own headers: a user needs no package of ours.
            assert re.fullmatch(r"\w+(\.h)?", system), f"{header.name} includes {system}"


def test_the_command_finds_its_library(prefix, env):
    said = run(prefix / "bin/precast", "compile", PROGRAM, "--json", env=env)
    assert '"schema":"precast.compile/1"' in said
    [found] = re.findall(r"libprecast\S+ => (\S+)", run("ldd", prefix / "bin/precast"))
    assert pathlib.Path(found).resolve() == libdir(prefix) / "libprecast.so.0.1.0"


def test_find_package(prefix, env, tmp_path):
    for file in (ROOT / "examples/cpp").iterdir():
        shutil.copy(file, tmp_path)
    build = tmp_path / "build"
    run("cmake", "-S", tmp_path, "-B", build, f"-DCMAKE_PREFIX_PATH={prefix}", env=env)
    run("cmake", "--build", build, env=env)
    lines = run(build / "compile_or_load", PROGRAM, env=env).splitlines()
    assert lines[0].split()[0] in {"miss", "hit"}
    assert lines[1:] == ["takes f32[4]", "takes f32[4]", "gives f32[4]"]
    # A version that has not come yet, and one that has gone.
    for version in ("0.2", "0.0", "1.0"):
        text = (ROOT / "examples/cpp/CMakeLists.txt").read_text()
        (tmp_path / "CMakeLists.txt").write_text(text.replace("precast 0.1", f"precast {version}"))
        refused = subprocess.run(["cmake", "-S", tmp_path, "-B", tmp_path / version,
                                  f"-DCMAKE_PREFIX_PATH={prefix}"], capture_output=True, env=env)
        assert refused.returncode != 0 and b"0.1.0" in refused.stderr


def test_pkg_config(prefix, env, tmp_path):
    for file in (ROOT / "examples/c").iterdir():
        shutil.copy(file, tmp_path)
    env = {**env, "PKG_CONFIG_PATH": str(libdir(prefix) / "pkgconfig")}
    assert run("pkg-config", "--modversion", "precast", env=env) == "0.1.0\n"
    run("make", "-C", tmp_path, "CFLAGS=-Wall -Wextra -Werror", env=env)
    lines = run(tmp_path / "compile_or_load", PROGRAM, env=env).splitlines()
    assert '"schema":"precast.report/1"' in lines[0]
    assert lines[1:] == ["result 0: 16 bytes"]
