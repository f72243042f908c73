"""run: inputs, outputs, devices, artifacts."""

import hashlib

import ml_dtypes
import numpy as np
import pytest

from conftest import RANKER


def save(precast, name, array, **kwargs):
    np.save(precast.folder / name, array, **kwargs)
    return name


def load(precast, name):
    return np.load(precast.folder / name)


def floats(*values):
    return np.array(values, dtype=np.float32)


def test_a_program_on_files(real):
    a = save(real, "a.npy", floats(1, 2, 3, 4))
    b = save(real, "b.npy", floats(10, 20, 30, 40))
    done = real.json("run", "add.mlir", "--input", a, b, "--out", "results")
    (output,) = done["outputs"]
    expected = floats(11, 22, 33, 44)
    assert (output["type"], output["shape"]) == ("f32", [4])
    assert output["digest"] == "sha256:" + hashlib.sha256(expected.tobytes()).hexdigest()
    assert output["first_values"] == "11, 22, 33, 44"
    assert output["file"] == "results/output_0.npy"
    assert (load(real, "results/output_0.npy") == expected).all()
    assert [i["from"] for i in done["inputs"]] == ["a.npy", "b.npy"]


def test_text_shows_types_values_and_times(real):
    out = real("run", "add.mlir", "--fill", "iota").out
    assert "f32[4]  0, 2, 4, 6" in out
    for word in ("miss: add.mlir", "iota", "transfer", "run", "fetch", "total"):
        assert word in out


def test_repeat_gives_median_and_bounds(precast):
    times = precast.json("run", "add.mlir", "--fill", "zeros", "--repeat", "5")["phases_ms"]
    assert times["run_min"] <= times["run"] <= times["run_max"]
    assert "run_min" not in precast.json("run", "add.mlir", "--fill", "zeros")["phases_ms"]


@pytest.mark.parametrize("plugin", ["precast", "real"])
def test_one_artifact_on_two_devices_gives_equal_outputs(request, plugin):
    precast = request.getfixturevalue(plugin)
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    on = {device: precast.json("run", "a.precast", "--fill", "random:5", "--devices", device, "--out", f"out{device}")
          for device in (0, 3)}
    assert on[0]["devices"] == [0] and on[3]["devices"] == [3]
    assert on[0]["outputs"][0]["digest"] == on[3]["outputs"][0]["digest"]
    assert (load(precast, "out0/output_0.npy") == load(precast, "out3/output_0.npy")).all()
    assert "outcome" not in on[0] and on[0]["source"] == "artifact"
    assert "compile" not in on[0]["phases_ms"]


def test_an_artifact_by_standard_input(precast):
    precast("compile", "add.mlir", "-q", "-o", "a.precast")
    done = precast.json("run", "-", "--fill", "zeros", stdin=(precast.folder / "a.precast").read_bytes())
    assert done["source"] == "artifact"


def test_several_devices_write_a_file_each(real):
    done = real.json("run", "add.mlir", "--replicas", "2", "--devices", "3,1", "--fill", "iota", "--out", "out")
    assert [(o["device"], o["file"]) for o in done["outputs"]] == [
        (3, "out/output_0_device_3.npy"), (1, "out/output_0_device_1.npy")]
    assert (load(real, "out/output_0_device_3.npy") == load(real, "out/output_0_device_1.npy")).all()


def test_the_ranker_agrees_with_jax(real):
    inputs = sorted((RANKER / "inputs").glob("*.npy"))
    for _ in range(2):  # compiled, then loaded
        real("run", RANKER / "ranker.mlirbc", "--input", *inputs, "--out", "out")
        expected = np.load(RANKER / "expected" / "00_scores.npy")
        np.testing.assert_allclose(load(real, "out/output_0.npy"), expected, atol=1e-5)


def test_types_that_numpy_lacks(real):
    s = np.arange(6, dtype=np.int32).reshape(2, 3)
    b = np.array([1.5, -2, 3], dtype=ml_dtypes.bfloat16)
    p = np.array([True, False])
    save(real, "s.npy", s)
    save(real, "p.npy", p)
    save(real, "b.npy", b)  # numpy writes '<V2'
    save(real, "raw.npy", b.view(np.uint16))
    for name in ("b.npy", "raw.npy"):
        done = real.json("run", "kinds.mlir", "--input", "s.npy", name, "p.npy", "--out", "out")
        assert (load(real, "out/output_0.npy") == 2 * s).all()
        assert (load(real, "out/output_1.npy").view(ml_dtypes.bfloat16) == 2 * b).all()
        assert (load(real, "out/output_2.npy") == ~p).all()
        assert [o["first_values"] for o in done["outputs"]] == ["0, 2, 4, 6, 8, 10", "3, -4, 6", "false, true"]


def test_fortran_order_is_transposed(real):
    s = np.asfortranarray(np.arange(6, dtype=np.int32).reshape(2, 3))
    assert not s.flags.c_contiguous
    save(real, "s.npy", s)
    real("run", "kinds.mlir", "--input", "s.npy", "--fill", "zeros", "--out", "out")
    assert (load(real, "out/output_0.npy") == 2 * s).all()


@pytest.mark.parametrize("version", [(1, 0), (2, 0), (3, 0)])
def test_every_version_of_npy(precast, version):
    with open(precast.folder / "a.npy", "wb") as file:
        np.lib.format.write_array(file, floats(1, 2, 3, 4), version=version)
    precast("run", "add.mlir", "--input", "a.npy", "--fill", "zeros")


@pytest.mark.parametrize("array, message", [
    (np.zeros(4), "it holds f64[4], but f32[4] is wanted; save it as x.astype('float32')"),
    (np.zeros(5, np.float32), "it holds f32[5], but f32[4] is wanted"),
    (np.zeros((4, 1), np.float32), "it holds f32[4,1], but f32[4] is wanted"),
    (np.zeros(4, ">f4"), "its values are big-endian ('>f4'); save it as x.astype('<f4')"),
    (np.zeros(4, "S4"), "it holds values of type '|S4', but f32[4] is wanted; save it as x.astype('float32')"),
    (np.array([1, None]), "it holds Python objects, which Precast never loads; save an array of numbers"),
    (np.zeros(4, [("a", "<f4")]), "it holds structures; save each field as an array of its own"),
])
def test_an_input_of_another_kind(precast, calls, array, message):
    save(precast, "a.npy", array, allow_pickle=True)
    done = precast("run", "add.mlir", "--input", "a.npy", "--fill", "zeros", code=3)
    assert done.err == f"precast: error: input 'a.npy' (parameter 0, f32[4]): {message}\n"
    assert "PJRT_LoadedExecutable_Execute" not in calls()
    assert "PJRT_Client_BufferFromHostBuffer" not in calls()


def test_inputs_that_are_no_arrays(precast):
    whole = save(precast, "a.npy", floats(1, 2, 3, 4))
    data = (precast.folder / whole).read_bytes()
    for content, message in [(b"", "it is empty"), (data[:-1], "it is cut short"), (data + b"x", "1 bytes follow"),
                             (b"hello", "it is not a .npy file")]:
        (precast.folder / "b.npy").write_bytes(content)
        done = precast("run", "add.mlir", "--input", "b.npy", "--fill", "zeros", code=3)
        assert f"input 'b.npy' (parameter 0, f32[4]): {message}" in done.err
    done = precast("run", "add.mlir", "--input", "missing.npy", "--fill", "zeros", code=3)
    assert "missing.npy" in done.err


def test_missing_and_surplus_inputs_list_the_parameters(precast):
    save(precast, "a.npy", floats(1, 2, 3, 4))
    done = precast("run", "add.mlir", "--input", "a.npy", code=3)
    assert done.err.startswith("precast: error: 1 input given, but the program takes 2")
    assert "0: f32[4]  a.npy\n" in done.err and "1: f32[4]\n" in done.err
    done = precast("run", "add.mlir", "--input", "a.npy", "a.npy", "a.npy", code=3)
    assert done.err.startswith("precast: error: 3 inputs given, but the program takes 2")


def test_fill_is_the_same_every_time_and_by_seed(precast):
    def digest(how):
        return precast.json("run", "add.mlir", "--fill", how)["outputs"][0]["digest"]

    assert digest("random:1") == digest("random:1") != digest("random:2")


def test_out_that_cannot_be_written(precast):
    done = precast("run", "add.mlir", "--fill", "zeros", "--out", "add.mlir", code=3)
    assert "'add.mlir'" in done.err


def test_quiet_prints_nothing(precast):
    done = precast("run", "add.mlir", "--fill", "zeros", "--quiet")
    assert (done.out, done.err) == ("", "")
