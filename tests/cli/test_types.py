"""Every type that NumPy and ml_dtypes know, from .npy files through a program and back."""

import pathlib
import re

import ml_dtypes
import numpy as np

TYPES = pathlib.Path(__file__).resolve().parents[2] / "docs" / "types.md"
COLUMN = "CPU 0.115 program"
STABLEHLO = {"pred": "i1", "c64": "complex<f32>", "c128": "complex<f64>"}


def rows():
    lines = [[cell.strip(" `") for cell in line.strip().strip("|").split("|")]
             for line in TYPES.read_text().splitlines() if line.startswith("| ")]
    head = next(line for line in lines if line[0] == "type")
    return [dict(zip(head, line)) for line in lines if len(line) == len(head) and line is not head]


def dtype_of(row):
    return np.dtype(getattr(np, row["array"], None) or getattr(ml_dtypes, row["array"]))


def stablehlo(name):
    if name in STABLEHLO:
        return STABLEHLO[name]
    if re.fullmatch(r"[su]\d+", name):
        return ("ui" if name[0] == "u" else "i") + name[1:]
    return "f" + name[1:].upper() if re.match(r"f[864]e", name) else name


def values(dtype):
    """Every value of a narrow type but NaNs, whose bits a program may change; some of the others."""
    if dtype.kind == "b":
        return np.array([True, False, False, True])
    if dtype.itemsize == 1:
        bits = {"int4": 4, "uint4": 4, "int2": 2, "uint2": 2, "float4_e2m1fn": 4,
                "float6_e2m3fn": 6, "float6_e3m2fn": 6}.get(dtype.name, 8)
        every = np.arange(2 ** bits, dtype=np.uint8).view(dtype)
        return every[~np.isnan(every.astype(np.float32))]
    return np.arange(-8, 8).astype(dtype) / (1 if dtype.kind in "iu" else np.array(4, dtype))


def test_the_table_has_every_type():
    names = [row["type"] for row in rows()]
    assert len(names) == len(set(names)) == 33


def test_all_types_through_one_program(real):
    known = [row for row in rows() if row[COLUMN] == "yes" and row["array"]]
    assert len(known) >= 20
    arrays = {row["type"]: values(dtype_of(row)) for row in known}
    arrays = {name: array.astype(dtype_of(row)) if array.dtype.kind in "fiuc" and array.dtype.itemsize > 1
              else array for (name, array), row in zip(arrays.items(), known)}
    files = []
    for name, array in arrays.items():
        np.save(real.folder / f"{name}.npy", array)
        files.append(f"{name}.npy")
    types = [f"tensor<{array.size}x{stablehlo(name)}>" for name, array in arrays.items()]
    body = "".join(f"    %r{i} = stablehlo.reverse %a{i}, dims = [0] : {t}\n"
                   for i, t in enumerate(types))
    (real.folder / "all.mlir").write_text(
        "module @all {\n  func.func public @main("
        + ", ".join(f"%a{i}: {t}" for i, t in enumerate(types)) + ") -> ("
        + ", ".join(types) + ") {\n" + body + "    return "
        + ", ".join(f"%r{i}" for i in range(len(types))) + " : " + ", ".join(types) + "\n  }\n}\n")
    done = real.json("run", "all.mlir", "--input", *files, "--out", "results")
    for output, (name, array) in zip(done["outputs"], arrays.items(), strict=True):
        assert output["type"] == name
        back = np.load(real.folder / output["file"])
        assert back.dtype.itemsize == array.dtype.itemsize
        assert back.view(array.dtype)[::-1].tobytes() == array.tobytes(), name
