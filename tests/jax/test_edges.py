"""What is no plain hit or miss."""

import json
import os

import pytest

ONE = """
import json, jax, jax.numpy as jnp, precast.jax
{before}
compiled = precast.jax.compile_or_load(jax.jit(lambda x: jnp.sin(x) @ x).trace(jnp.ones((4, 4))))
print(json.dumps([precast.jax.report(compiled).outcome, precast.jax.report(compiled).reason,
                  float(compiled(jnp.ones((4, 4)))[0, 0])]))
"""


def one(children, before="", **environment):
    said = children.python("-c", ONE.format(before=before), **environment)
    return json.loads(said.splitlines()[-1])


def test_precast_disable_leaves_jax_alone(children):
    assert one(children, PRECAST_DISABLE="1")[:2] == ["bypass", "disabled"]
    assert not children.cache.exists()


@pytest.mark.parametrize("broken", ["options_bytes = lambda options: b'\\xff'",
                                    "program_bytes = lambda module: b''",
                                    "program_bytes = lambda module: 1 // 0",
                                    "backend_facts = lambda backend: {}"])
def test_what_precast_cannot_make_sense_of_is_compiled(children, broken):
    before = f"from precast.jax import _private\n_private.{broken}\n"
    assert one(children, before=before)[:2] == ["bypass", "precast_error"]
    offline = "_private = None\nkept = precast.jax.compile_or_load\n" \
        "precast.jax.compile_or_load = lambda traced: kept(traced, policy='offline')\n"
    assert children.python("-c", ONE.format(before=before + offline), ok=False).returncode == 1


def test_an_unusable_folder_compiles(children):
    children.cache.write_text("no folder")
    assert one(children)[:2] == ["bypass", "store_unavailable"]


def test_a_damaged_entry_never_reaches_the_client(children):
    first = one(children)
    assert first[:2] == ["miss", "not_found"]
    [entry] = children.cache.glob("v1/*/*.precast")
    damaged = bytearray(entry.read_bytes())
    damaged[len(damaged) // 2] ^= 0x40
    entry.write_bytes(damaged)
    # A load would be seen: it ends the process.
    again = one(children, before="import os\nfrom precast.jax import _private\n"
                "kept = _private.load\n"
                "def load(*args):\n"
                "    import traceback\n"
                "    if 'cold' not in globals(): os._exit(77)\n"
                "_private.compile_and_load, real = (lambda *a: (globals().update(cold=1), "
                "setattr(_private, 'load', kept), real(*a))[2]), _private.compile_and_load\n"
                "_private.load = load\n")
    assert again == ["miss", "entry_corrupt", first[2]]
    assert one(children)[:2] == ["hit", "none"]


@pytest.mark.parametrize("change", ["{}", '{"version": 1, "devices": 1, "callbacks": 2}', ""])
def test_another_number_of_callbacks_never_reaches_the_client(children, change):
    before = ("from precast.jax import _program\n"
              f"_program.front_end = lambda *args: {change!r}.encode()\n")
    # What is written is proven first, and this does not pass.
    assert one(children, before=before)[:2] == ["skip", "proof_failed"]


def test_another_value_of_a_flag_is_another_key(children):
    assert one(children)[0] == "miss"
    assert one(children, XLA_FLAGS="--xla_force_host_platform_device_count=8 "
               "--xla_cpu_enable_fast_math=true")[0] == "miss"
    assert one(children, before="import sys\nsys.argv.append('--xla_made_up=1')")[0] == "miss"
    # How many devices stand idle, and where dumps go, do not count.
    assert one(children, XLA_FLAGS="--xla_force_host_platform_device_count=2")[0] == "hit"
    assert one(children, XLA_FLAGS="--xla_dump_to=" + str(children.folder / "dump"))[0] == "hit"


def test_errors_of_the_compiler_are_jaxs_own(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, precast.jax
lowered = jax.jit(lambda x: x).lower(jnp.ones(4))
texts = []
for compile in (lambda: lowered.compile({"xla_no_such_option": 1}),
                lambda: precast.jax.compile_or_load(lowered, compiler_options={"xla_no_such_option": 1})):
    try:
        compile()
    except Exception as error:
        texts.append((type(error).__name__, str(error)))
assert len(texts) == 2 and texts[0] == texts[1], texts
print(texts[0])
""")
    assert "xla_no_such_option" in said


def test_arguments_are_checked_as_jax_checks_them_also_those_that_are_not_used(children):
    script = """
import jax, jax.numpy as jnp, precast.jax
traced = jax.jit(lambda x, unused: x + 1).trace(jnp.ones(4), {"never": jnp.ones(2)})
compiled = precast.jax.compile_or_load(traced)
print(precast.jax.report(compiled).outcome)
for wrong in ((jnp.ones(5), {"never": jnp.ones(2)}), (jnp.ones(4), {"never": jnp.ones(3)}),
              (jnp.ones(4), {"other": jnp.ones(2)})):
    try:
        compiled(*wrong)
    except TypeError as error:
        print("refused", str(error).replace(chr(10), " "))
"""
    for outcome in ("miss", "hit"):
        lines = children.python("-c", script).splitlines()
        assert lines[0] == outcome
        assert len(lines) == 4 and all(line.startswith("refused") for line in lines[1:]), lines
        assert "never" in lines[2], lines[2]


def test_a_second_call_with_the_same_lowering_says_so(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, precast.jax
lowered = jax.jit(lambda x: x * 2).lower(jnp.ones(4))
for _ in range(2):
    print(precast.jax.report(precast.jax.compile_or_load(lowered)).reason)
""")
    assert said.split() == ["not_found", "compiled_before"]


def test_input_that_is_wrong_is_named(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, precast.jax
traced = jax.jit(lambda x: x * 2).trace(jnp.ones(4))
for call in (lambda: precast.jax.compile_or_load(traced, policy="sometimes"),
             lambda: precast.jax.compile_or_load(lambda x: x),
             lambda: precast.jax.compile_or_load(traced, policy="offline")):
    try:
        call()
    except Exception as error:
        print(type(error).__name__, error)
""").splitlines()
    assert said[0].startswith("ValueError") and "read-only" in said[0]
    assert said[1].startswith("TypeError") and "jax.jit(function).trace" in said[1]
    assert said[2].startswith("Error") and "offline" in said[2]


def test_jaxs_own_cache_neither_hides_nor_gets_what_precast_serves(children):
    folder = children.folder / "jax-cache"
    own = {"JAX_COMPILATION_CACHE_DIR": str(folder),
           "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
           "JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES": "-1"}
    plain = """
import jax, jax.numpy as jnp
print(float(jax.jit(lambda x: jnp.sin(x) @ x).lower(jnp.ones((4, 4))).compile()(jnp.ones((4, 4)))[0, 0]))
"""
    assert one(children, **own)[0] == "miss"
    assert not [entry for entry in folder.glob("*lambda*")]
    expected = children.python("-c", plain, **own)
    assert [entry for entry in folder.glob("*lambda*")]
    # JAX has it now, and still Precast is asked.
    assert one(children, **own)[0] == "hit"
    assert children.python("-c", plain, **own) == expected


def test_an_ordered_callback_on_several_devices_is_never_serialized_where_that_crashes(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, numpy as np, precast.jax
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
mesh = Mesh(np.array(jax.devices()[:2]), ("x",))
x = jax.device_put(jnp.arange(8.0), NamedSharding(mesh, P("x")))
def noted(x):
    jax.experimental.io_callback(lambda v: None, None, x.sum(), ordered=True)
    return x * 2
try:
    compiled = precast.jax.compile_or_load(jax.jit(noted).trace(x))
    print(jax.__version__, precast.jax.report(compiled).outcome, precast.jax.report(compiled).reason)
except Exception as error:
    print(jax.__version__, "refused", type(error).__name__, error)
""").splitlines()[-1]
    assert "not_serializable" in said if said.startswith("0.10.") else "miss" in said, said


def test_settings_have_origins(children):
    said = json.loads(children.python("-c", "import json, precast.jax\n"
                                      "print(json.dumps(precast.jax.config()))"))
    assert said["cache"] == [str(children.cache), "PRECAST_CACHE"]
    assert said["disabled"] == [False, "default"]
    assert json.loads(children.python("-c", "import json, precast.jax\n"
                                      "print(json.dumps(precast.jax.config()))",
                                      PRECAST_DISABLE="1"))["disabled"] == \
        [True, "PRECAST_DISABLE"]


def test_many_threads_compile_once(children):
    said = children.python("-c", """
import concurrent.futures, collections, jax, jax.numpy as jnp, precast.jax
from precast.jax import _private
count = collections.Counter()
real = _private.compile_and_load
def counted(*args):
    count["compiles"] += 1
    return real(*args)
def work(i):
    traced = jax.jit(lambda x: jnp.sin(x) @ x).trace(jnp.ones((4, 4)))
    compiled = precast.jax.compile_or_load(traced)
    return precast.jax.report(compiled).outcome, float(compiled(jnp.ones((4, 4)))[0, 0])
work(0)
_private.compile_and_load = counted
with concurrent.futures.ThreadPoolExecutor(4) as pool:
    said = list(pool.map(work, range(12)))
print(count["compiles"], sorted({one[0] for one in said}), len({one[1] for one in said}))
""")
    assert said.splitlines()[-1] == "0 ['hit'] 1"


@pytest.mark.parametrize("broken", ["_program.extras = lambda *args: {'one': 1}",
                                    "_request.Request._binding = lambda self: 1 // 0"])
def test_what_fails_inside_the_extension_is_no_failed_compile(children, broken):
    before = f"from precast.jax import _program, _request\n{broken}\n"
    said = one(children, before=before)
    assert said[0] in ("bypass", "skip") and said[1] != "none", said
    if said[0] == "bypass":
        assert said[1] == "precast_error"
        offline = before + "kept = precast.jax.compile_or_load\n" \
            "precast.jax.compile_or_load = lambda traced: kept(traced, policy='offline')\n"
        assert "_precast.Error" in children.python("-c", ONE.format(before=offline), ok=False).stderr


BYTES = """
import json, os, jax, jax.numpy as jnp, precast.jax
precast.jax.enable()
said = [precast.jax.config()["cache"][0], float(jax.jit(lambda x: x * 3.5)(jnp.ones(3))[0])]
def asked(**more):
    report = precast.jax.report(precast.jax.compile_or_load(jax.jit(lambda x: x * 4.5).trace(jnp.ones(3)), **more))
    assert not report.artifact_path or os.path.isfile(report.artifact_path)
    return report.outcome
for cache in (None, said[0], os.fsencode(said[0])):
    said.append(asked(cache=cache))
jitted = precast.jax.jit(lambda x: x * 5.5, name=os.fsdecode(b"caf\\xe9"))
said += [float(jitted(jnp.ones(3))[0]), jitted.reports[0].outcome]
print(json.dumps(said))
"""


@pytest.mark.parametrize("what", ["PRECAST_CACHE", "HOME"])
def test_paths_and_labels_that_are_no_text(children, what):
    folder = children.folder / os.fsdecode(b"caf\xe9")
    folder.mkdir()
    words = {"PRECAST_CACHE": str(folder)} if what == "PRECAST_CACHE" else {"PRECAST_CACHE": "", "HOME": str(folder)}
    said = json.loads(children.python("-c", BYTES, PRECAST_LABEL=os.fsdecode(b"l\xff"), **words).splitlines()[-1])
    assert said[0].startswith(str(folder))
    assert said[1:] == [3.5, "miss", "hit", "hit", 5.5, "miss"]


def test_a_folder_that_is_no_text_and_no_folder_is_told(children):
    broken = children.folder / os.fsdecode(b"caf\xe9")
    broken.write_text("no folder")
    assert one(children, PRECAST_CACHE=str(broken))[:2] == ["bypass", "store_unavailable"]


def test_texts_come_back_from_the_extension_as_they_went_in():
    from precast import _precast
    lone = "a\ud800" + os.fsdecode(b"\xff")
    for path in (os.fsdecode(b"/no\xff"), b"/no\xff"):
        with pytest.raises(_precast.Error) as raised:
            _precast.Artifact.read(path)
        assert os.fsdecode(b"/no\xff") in str(raised.value) and os.fsdecode(b"/no\xff") in raised.value.message
    # A surrogate that stands for no byte.
    with pytest.raises(TypeError):
        _precast.Artifact.read(lone)
    assert _precast.Cache(disabled=True, name_space=lone).directory is not None


@pytest.mark.parametrize("which", ["listener", "handler", "filter", "end", "make"])
def test_what_a_user_raises_while_precast_reports_fails_no_compile(children, which):
    said = children.python("-c", """
import logging, sys, jax, jax.numpy as jnp, precast.jax
from precast.jax import _request
def refuse(*args, **kwargs):
    if which == "make" or not args or not isinstance(args[0], str) or args[0].startswith("/precast"):
        raise KeyError("the user's own")
which = sys.argv[1]
if which == "listener":
    jax.monitoring.register_event_listener(refuse)
elif which == "handler":
    handler = logging.Handler()
    handler.emit = refuse
    logging.getLogger("precast.jax").addHandler(handler)
elif which == "filter":
    logging.getLogger("precast.jax").addFilter(refuse)
    precast.jax.seal("warn")
precast.jax.enable()
if which == "make":
    _request.set_process_wide(refuse)
jitted = precast.jax.jit(lambda x: x + 1)
if which == "end":
    jitted.reports = type("Refusing", (), {"append": refuse})()
print(float(jax.jit(lambda x: x + 2)(jnp.ones(2))[0]), float(jitted(jnp.ones(2))[0]))
""", which)
    assert said.splitlines()[-1] == "3.0 2.0"


def test_a_cache_that_cannot_be_opened_is_a_bypass_and_under_offline_an_error(children):
    script = """
import jax.numpy as jnp, precast.jax
print(float(precast.jax.jit(lambda x: x + 1, cache=7, policy="{policy}")(jnp.ones(2))[0]))
"""
    assert children.python("-c", script.format(policy="read-write")).splitlines()[-1] == "2.0"
    assert "TypeError" in children.python("-c", script.format(policy="offline"), ok=False).stderr
