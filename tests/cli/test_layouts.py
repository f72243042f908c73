"""A program that takes and gives arrays in layouts of its own, through the cache and an artifact."""

import numpy as np

PROGRAM = """
module @layouts {
  func.func public @main(%a: tensor<2x3x4xf32> {mhlo.layout_mode = "{0,2,1}"},
                         %b: tensor<2x3x4xf32>)
      -> (tensor<2x3x4xf32> {mhlo.layout_mode = "{1,0,2}"}, tensor<2x3x4xf32>) {
    %0 = stablehlo.subtract %a, %b : tensor<2x3x4xf32>
    return %0, %0 : tensor<2x3x4xf32>, tensor<2x3x4xf32>
  }
}
"""


def test_values_are_right_compiled_loaded_and_from_an_artifact(each_real):
    a = np.arange(24, dtype=np.float32).reshape(2, 3, 4) ** 2
    b = np.arange(24, dtype=np.float32).reshape(2, 3, 4)[::-1].copy()
    np.save(each_real.folder / "a.npy", a)
    np.save(each_real.folder / "b.npy", b)
    (each_real.folder / "layouts.mlir").write_text(PROGRAM)
    each_real("compile", "layouts.mlir", "--no-cache", "-o", "layouts.precast")
    for source, outcome in (("layouts.mlir", "miss"), ("layouts.mlir", "hit"),
                            ("layouts.precast", None)):
        done = each_real.json("run", source, "--input", "a.npy", "b.npy", "--out", f"out-{outcome}")
        assert done.get("outcome") == outcome
        for output in done["outputs"]:
            got = np.load(each_real.folder / output["file"])
            assert (got == a - b).all(), (source, outcome, output["index"])
    signature = each_real.json("inspect", "layouts.precast")["signature"]
    assert [p["minor_to_major"] for p in signature["parameters"]] == [[0, 2, 1], [2, 1, 0]]
    assert [r["minor_to_major"] for r in signature["results"]] == [[1, 0, 2], [2, 1, 0]]
