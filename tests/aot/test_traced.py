"""compile_or_load_all_traced: a trainer's programs."""

import json
import pathlib

# A trainer of three programs, which prints what it was given.
TRAINER = """
import json, logging, os, pathlib, sys, numpy as np, jax, jax.numpy as jnp, precast.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
from precast.aot import JittedOrCompiled, TracedWithOptions, compile_or_load_all_traced
logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
folder = pathlib.Path({folder!r})
mesh = Mesh(np.array(jax.devices()).reshape(4, 2), ("data", "model"))
rows = NamedSharding(mesh, P("data"))
def compute_grad(w, x):
    return jax.grad(lambda w: (jnp.tanh(x @ w) ** 2).sum())(w)
def apply_grad(w, grad):
    return w - 0.1 * grad
def evaluate(w):
    return w.sum()
w, x = jax.device_put(jnp.eye(8), rows), jax.device_put(jnp.ones((8, 8)), rows)
jitted = {{name: JittedOrCompiled(jax.jit(function, **how)) for name, function, how in (
    ("compute_grad", compute_grad, {{"out_shardings": rows}}), ("apply_grad", apply_grad, {{"donate_argnums": 0}}),
    ("evaluate", evaluate, {{}}))}}
arguments = {{"compute_grad": (w, x), "apply_grad": (w, w), "evaluate": (w,)}}
options = {{}}
more = {{}}
{before}
traced = {{name: TracedWithOptions(one.trace(*arguments[name]), **options.get(name, {{}}))
          for name, one in jitted.items()}}
compiled, metrics = compile_or_load_all_traced(traced, folder / "aot", devices=mesh.devices, **more)
reports = {{name: precast.jax.report(one) for name, one in compiled.items()}}
for name, one in compiled.items():
    jitted[name].jitted = one
grad = jitted["compute_grad"](w, x)
new = jitted["apply_grad"](w, grad)
print(json.dumps({{"names": list(compiled), "metrics": metrics, "consumed": w.is_deleted(),
                  "outcomes": [one.outcome for one in reports.values()],
                  "reasons": [one.reason for one in reports.values()],
                  "keys": {{name: one.key for name, one in reports.items()}},
                  "loss": float(jitted["evaluate"](new)),
                  "types": [isinstance(one, jax.stages.Compiled) for one in compiled.values()]}}))
"""


def train(children, before="", seed=0, **environment):
    """(what the trainer says, its other lines)."""
    lines = children.python("-c", TRAINER.format(folder=str(children.folder), before=before), seed=seed,
                            **environment).splitlines()
    return json.loads(lines[-1]), lines[:-1]


def test_a_trainer_compiles_once(children):
    dumps = """
more = {"run_dir": folder / "run", "aot_dump": True}
options = {"evaluate": {"options": {"xla_cpu_enable_fast_math": True}}}
"""
    first, _ = train(children, dumps, seed=1)
    assert first["names"] == ["compute_grad", "apply_grad", "evaluate"]
    assert first["outcomes"] == ["miss"] * 3 and first["types"] == [True] * 3 and first["consumed"]
    assert list(first["metrics"]) == first["names"]
    for sizes in first["metrics"].values():
        assert sorted(sizes) == ["host_offload_size", "output_size", "temp_size"]
        assert all(isinstance(size, int) for size in sizes.values())
    assert first["metrics"]["apply_grad"]["output_size"] == 8 * 8 * 4 // 4  # of one device

    hlos = children.folder / "run" / "hlos"
    assert sorted(path.name for path in hlos.iterdir()) == ["apply_grad.hlo.txt", "compute_grad.hlo.txt"]
    assert "HloModule jit_compute_grad" in (hlos / "compute_grad.hlo.txt").read_text()
    records = {path.name: path.read_text() for path in (children.folder / "aot").glob("*_debug")}
    assert sorted(records) == sorted(f"jit_{name}_{key}_debug" for name, key in first["keys"].items())
    one = records[f"jit_evaluate_{first['keys']['evaluate']}_debug"]
    assert "==== Hlo ====" in one and "stablehlo.reduce" in one and "[0][0]: float32[8, 8]" in one
    assert "xla_cpu_enable_fast_math=true" in one

    # Another process hits; the final HLO is there again, and the records are the same to the byte.
    for path in hlos.iterdir():
        path.unlink()
    for path in (children.folder / "aot").glob("*_debug"):
        path.unlink()
    second, _ = train(children, dumps, seed=2)
    assert second == {**first, "outcomes": ["hit"] * 3, "reasons": ["none"] * 3}
    assert len(list(hlos.iterdir())) == 2
    assert {path.name: path.read_text() for path in (children.folder / "aot").glob("*_debug")} == records


def test_without_a_run_dir_and_with_all_passes(children):
    before = """
options = {"evaluate": {"options": {"dump_all_hlos": True}}, "apply_grad": {"add_location_info": True}}
import tempfile
"""
    said, _ = train(children, before)
    [user] = children.folder.glob("hlos-*")
    assert user.stat().st_mode & 0o077 == 0
    names = {path.name for path in (user / "0").iterdir()}
    assert {"apply_grad.hlo.txt", "compute_grad.hlo.txt", "evaluate.hlo.txt"} <= names
    assert [name for name in names if "jit_evaluate" in name and "after_" in name], names
    assert not [name for name in names if "jit_apply_grad" in name]
    # Dumps are no part of the key, locations are.
    plain, _ = train(children, "")
    assert plain["outcomes"] == ["hit", "miss", "hit"]
    assert plain["keys"]["evaluate"] == said["keys"]["evaluate"]


# The same programs several times in one process: JAX's memory of compiles must not stand for the cache.
AGAIN = """
import json, logging, pathlib, sys, jax, jax.numpy as jnp, precast.jax
from precast.aot import TracedWithOptions, compile_or_load_all_traced
logging.basicConfig(format="%(levelname)s %(name)s %(message)s", stream=sys.stdout)
folder = pathlib.Path({folder!r})
x = jnp.ones(4)
traced = {{"one": jax.jit(lambda x: x * 2).trace(x), "two": jax.jit(lambda x: x + 1).trace(x)}}
def ask(options=None, **more):
    compiled, _ = compile_or_load_all_traced({{name: TracedWithOptions(one, options) for name, one in traced.items()}},
                                             folder / "aot", **more)
    reports = [precast.jax.report(one) for one in compiled.values()]
    return [one.outcome for one in reports], [one.key for one in reports]
said = []
{body}
print(json.dumps(said))
"""


def test_annotations_count_also_where_this_xla_has_no_option_for_them(children):
    lines = children.python("-c", AGAIN.format(folder=str(children.folder), body="""
for path, text in ((folder / "notes", "one"), (folder / "notes", "two"), (folder / "elsewhere", "one")):
    path.write_text(text)
    said.append(ask({"xla_gpu_compiler_annotations_file": str(path)}))
said.append(ask({"xla_gpu_compiler_annotations_file": ""}))
""")).splitlines()
    first, other, elsewhere, none = json.loads(lines[-1])
    assert (first[0], other[0], elsewhere[0], none[0]) == (["miss"] * 2, ["miss"] * 2, ["hit"] * 2, ["miss"] * 2)
    assert elsewhere[1] == first[1]
    assert len({*first[1], *other[1], *none[1]}) == 6
    warnings = [line for line in lines if line.startswith("WARNING precast.aot")]
    assert len(warnings) == 1, lines
    assert "has no option xla_gpu_compiler_annotations_file: it is left out" in warnings[0]


def test_an_option_that_this_xla_has_goes_to_it(children):
    """Any other option stands for one that this XLA has."""
    said = children.python("-c", AGAIN.format(folder=str(children.folder), body="""
from precast.aot import _traced
_traced.ANNOTATIONS_OPTION = "xla_cpu_max_isa"
(folder / "AVX2").write_text("notes")
import os
os.chdir(folder)
said.append(ask({"xla_cpu_max_isa": "AVX2"})[0])
from precast.jax import _private
said.append([dict(_traced._program(TracedWithOptions(None, {"xla_cpu_max_isa": "AVX2", "dump_all_hlos": False}),
                                   jax.devices()[0].client, None).spec.compiler_options)])
""")).splitlines()
    assert json.loads(said[-1]) == [["miss", "miss"], [{"xla_cpu_max_isa": "AVX2"}]]
    assert not [line for line in said if line.startswith("WARNING")]


def test_profiles_are_found_by_name_or_for_all(children):
    said = children.python("-c", AGAIN.format(folder=str(children.folder), body="""
profiles = folder / "profiles"
profiles.mkdir()
said.append(ask(fdo_profile_dir=profiles)[1])
(profiles / "one.pbtxt").write_text("# of one")
said.append(ask(fdo_profile_dir=profiles)[1])
(profiles / "fdo.pbtxt").write_text("# of all others")
said.append(ask(fdo_profile_dir=profiles)[1])
""")).splitlines()
    plain, one, every = json.loads(said[-1])
    assert plain[0] != one[0] == every[0]
    assert plain[1] == one[1] != every[1]


def test_what_cannot_be_serialized_is_compiled_and_counted(children):
    said, _ = train(children, """
from precast.jax import _private
def refuse(executable):
    raise RuntimeError("UNIMPLEMENTED: not this one")
_private.serialize = refuse
""")
    assert said["outcomes"] == ["skip"] * 3 and said["reasons"] == ["not_serializable"] * 3
    assert said["types"] == [True] * 3 and said["consumed"]
    import os
    import subprocess
    counted = subprocess.run([os.environ["PRECAST_BIN"], "stats", "--json"], capture_output=True, text=True, check=True,
                             env=children.environment(PRECAST_CACHE=str(children.folder / "aot"))).stdout
    assert "not_serializable" in counted, counted


def test_a_state_whose_static_data_alone_is_new_is_taken(children):
    """As TrainState is after a restart: its functions are other objects."""
    said = children.python("-c", AGAIN.format(folder=str(children.folder), body="""
import dataclasses, functools
@functools.partial(jax.tree_util.register_dataclass, data_fields=["w"], meta_fields=["apply"])
@dataclasses.dataclass
class State:
    w: jax.Array
    apply: object
def step(state, x):
    return dataclasses.replace(state, w=state.apply(state.w, x))
first, second = (State(x, lambda w, x: w + x) for _ in range(2))
jitted = jax.jit(step)
compiled, _ = compile_or_load_all_traced({"step": TracedWithOptions(jitted.trace(first, x))}, folder / "aot")
said.append([float(compiled["step"](state, x).w[0]) for state in (first, second)])
try:
    compiled["step"](State(x, lambda w, x: w * 5 + x), x)
except (TypeError, ValueError) as error:
    said.append("another program" in str(error))
""")).splitlines()
    assert json.loads(said[-1]) == [[2.0, 2.0], True]


def test_where_the_cache_is_off_everything_is_compiled(children):
    said, _ = train(children, PRECAST_DISABLE="1")
    assert said["reasons"] == ["disabled"] * 3 and said["types"] == [True] * 3
    assert said["metrics"]["apply_grad"]["output_size"] == 64
    assert not (children.folder / "aot").exists()


def test_the_example_of_the_page_runs(children):
    page = (pathlib.Path(__file__).parents[2] / "docs" / "aot.md").read_text()
    blocks = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    assert len(blocks) >= 2
    script = "\n".join(blocks).replace("/path/to/cache", str(children.folder / "aot"))
    assert children.python("-c", script).splitlines()[-1] == "trained"
