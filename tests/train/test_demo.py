"""The demo of a killed and restarted training, as a person runs it."""

import json
import os
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]


def demo(*words, **environment):
    return subprocess.run([sys.executable, ROOT / "examples" / "flax" / "demo.py", *map(str, words)], capture_output=True,
                          text=True, check=False, env={**os.environ, **environment})


def test_all_losses_are_the_same_and_precast_hits_on_other_devices(tmp_path):
    # Settings of the user do not disturb it.
    done = demo("--work", tmp_path / "work", "--json", tmp_path / "seconds.json", PRECAST_DISABLE="1", JAX_ENABLE_X64="1")
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith("\nDemo passed: all losses are the same, bit for bit.\n")
    said = json.loads((tmp_path / "seconds.json").read_text())
    assert list(said) == ["no cache", "JAX's cache", "JAX's, same devices", "Precast"]
    assert "load" in said["Precast"] and "load" not in said["no cache"]
    # The same folder again.
    assert demo("--work", tmp_path / "work").returncode == 0


def test_a_trainer_that_fails_is_named_with_its_log(tmp_path):
    (tmp_path / "nothing").mkdir()
    # No package to import: the trainer that needs it ends, and the others did not.
    script = (f"import sys; sys.argv = ['demo', '--work', {str(tmp_path / 'work')!r}]\n"
              f"sys.path.insert(0, {str(ROOT / 'examples' / 'flax')!r})\nimport demo, pathlib\n"
              f"demo.PACKAGE = pathlib.Path({str(tmp_path / 'nothing')!r})\n"
              "demo.train(pathlib.Path(sys.argv[2]), 'calm', demo.BEFORE, 'precast')")
    (tmp_path / "work").mkdir()
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert "DemoError: the trainer 'calm' on the devices 0,1,2,3 ended with 1" in done.stderr
    log = tmp_path / "work" / "calm.0.log"
    assert str(log) in done.stderr and "No module named 'precast'" in log.read_text()
