"""`precast run` holds a large input once, beside the device's own copy."""

import json
import os
import pathlib
import subprocess

import numpy as np

GIB = 1 << 30
PROGRAM = """
module @large {
  func.func public @main(%a: tensor<268435456xf32>) -> tensor<f32> {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.reduce(%a init: %zero) applies stablehlo.maximum across dimensions = [0]
      : (tensor<268435456xf32>, tensor<f32>) -> tensor<f32>
    return %0 : tensor<f32>
  }
}
"""


def test_an_input_of_a_gigabyte(tmp_path):
    values = np.lib.format.open_memmap(tmp_path / "x.npy", mode="w+", dtype=np.float32,
                                       shape=(1 << 28,))
    values[12345] = 7
    values.flush()
    del values
    (tmp_path / "large.mlir").write_text(PROGRAM)
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    process = subprocess.Popen(
        [pathlib.Path(os.environ["PRECAST_BIN"]).resolve(), "run", "large.mlir", "--input", "x.npy",
         "--json"],
        cwd=tmp_path, env=env, stdout=subprocess.PIPE)
    done = json.loads(process.stdout.read())
    _, status, usage = os.wait4(process.pid, 0)
    (tmp_path / "x.npy").unlink()
    assert status == 0
    assert done["outputs"][0]["first_values"] == "7"
    peak = usage.ru_maxrss * 1024
    print(f"peak {peak / GIB:.2f} GiB")
    assert 2 * GIB <= peak < 2.6 * GIB  # the file's bytes, the device's copy; the rest is the plugin
