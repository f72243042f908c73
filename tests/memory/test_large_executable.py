"""An executable beyond what XLA's messages can hold is compiled, counted and not stored."""

import json
import os
import pathlib
import subprocess

LIMIT = (1 << 31) - 1  # kMaxExecutableBytes


def test_an_executable_of_two_gibibytes_is_a_counted_skip(tmp_path):
    # The fake plugin's executables hold their program.
    head = b"// fake: params=f32[4] results=f32[4]\nmodule @large {}\n"
    with open(tmp_path / "large.mlir", "wb") as file:
        file.write(head)
        for _ in range(16):
            file.write(b" " * ((LIMIT - len(head)) // 16))
    env = {"HOME": str(tmp_path), "PATH": os.environ["PATH"], "PRECAST_PLUGIN": os.environ["PRECAST_FAKE_PLUGIN"]}
    command = [pathlib.Path(os.environ["PRECAST_BIN"]).resolve(), "compile", "large.mlir", "--json"]
    done = subprocess.run(command, cwd=tmp_path, env=env, capture_output=True, check=False)
    (tmp_path / "large.mlir").unlink()
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert (answer["outcome"], answer["reason"]) == ("skip", "too_large")
    assert "kMaxExecutableBytes" in answer["detail"]
    assert answer["bytes"]["executable"] == 0 and answer["artifact"] is None
