"""compile_or_load_all()."""

import json
import signal
import subprocess
import sys

import pytest
from conftest import HERE

SCRIPT = """
import json, logging, pathlib, jax, jax.numpy as jnp, precast.jax
from precast.jax import Spec, compile_or_load_all
x = jnp.arange(4.0)
def program(scale):
    def function(x):
        return x * scale
    function.__name__ = f"times_{{scale}}"
    return jax.jit(function).trace(x)
{body}
"""


def say(children, body, **environment):
    return children.python("-c", SCRIPT.format(body=body), **environment).splitlines()


def test_all_come_back_in_order_and_with_reports(children):
    body = """
programs = {f"p{i}": program(i) if i % 2 else Spec(program(i).lower()) for i in range(6)}
done = compile_or_load_all(programs, max_workers=3, label="batch")
print(json.dumps([list(done), [done.reports[name].outcome for name in done],
                  [float(done[name](x)[1]) for name in done], len(done)]))
"""
    for outcome in ("miss", "hit"):
        said = json.loads(say(children, body)[-1])
        assert said == [[f"p{i}" for i in range(6)], [outcome] * 6, [float(i) for i in range(6)], 6]


def test_several_failures_are_one_group_and_one_failure_is_itself(children):
    said = say(children, """
bad = Spec(program(2), compiler_options={"xla_no_such_option": 1})
try:
    compile_or_load_all({"good": program(1), "first": bad, "second": 7})
except ExceptionGroup as group:
    print(group.message)
    for error in group.exceptions:
        print(type(error).__name__, error.__notes__)
try:
    compile_or_load_all({"good": program(1), "first": bad})
except Exception as error:
    print(isinstance(error, jax.errors.JaxRuntimeError), error.__notes__)
print(compile_or_load_all({"good": program(1)}).reports["good"].outcome)
""")
    assert said[0] == "2 of 3 programs failed: first, second"
    assert said[1] == "JaxRuntimeError [\"in the program 'first'\"]"
    assert said[2] == "TypeError [\"in the program 'second'\"]"
    assert said[3] == "True [\"in the program 'first'\"]"
    assert said[4] == "hit"  # what could be done was done


def test_locations_annotations_and_profiles_count_where_they_are_asked_for(children, tmp_path):
    (tmp_path / "notes").write_text("one")
    (tmp_path / "p.fdo").write_bytes(b"")
    body = f"""
import pathlib
folder = pathlib.Path({str(tmp_path)!r})
def key(**spec):
    return compile_or_load_all({{"p": Spec(program(3), **spec)}}).reports["p"].key
keys = [key(), key(annotations_file=folder / "notes")]
(folder / "notes").write_text("two")
located = [key(add_location_info=True) for _ in range(2)]  # from one place in the source
keys += [key(annotations_file=folder / "notes"), located[0]]
(folder / "p.fdo").write_bytes(b"\\x0a\\x00")
guided = compile_or_load_all({{"p": program(3)}}, fdo_profile_dir=folder).reports["p"]
assert keys[0] in guided.detail and "with a profile" in guided.detail, guided
keys.append(guided.key)
print(json.dumps([keys, key() == keys[0], located[0] == located[1]]))
try:
    key(annotations_file=folder / "absent")
except FileNotFoundError as error:
    print(error)
"""
    said = say(children, body)
    keys, plain_again, located_again = json.loads(said[-2])
    assert len(set(keys)) == 5, keys
    assert plain_again
    assert located_again
    assert str(tmp_path / "absent") in said[-1]


@pytest.mark.parametrize("disabled", ["0", "1"])
def test_a_profile_guides_the_compile_with_and_without_the_cache(children, tmp_path, disabled):
    (tmp_path / "p.fdo").write_bytes(b"\x0a\x00")
    said = say(children, f"""
import pathlib
from precast.jax import _private
seen = []
def look(real):
    def wrapped(*args):
        options = [one for one in args if hasattr(one, "executable_build_options")][0]
        seen.append(bytes(options.executable_build_options.fdo_profile))
        return real(*args)
    return wrapped
_private.compile_and_load = look(_private.compile_and_load)
_private.jax_compile_or_get_cached = look(_private.jax_compile_or_get_cached)
traced = program(3)
seen.clear()
compile_or_load_all({{"p": traced, "q": program(4)}}, fdo_profile_dir={str(tmp_path)!r}, max_workers=1)
print(seen.count(b"\\x0a\\x00"), len([one for one in seen if one]))
# Another profile for what JAX has compiled before.
pathlib.Path({str(tmp_path)!r}, "p.fdo").write_bytes(b"\\x0a\\x01\\x00")
again = compile_or_load_all({{"p": traced}}, fdo_profile_dir={str(tmp_path)!r})
print(seen[-1], again.reports["p"].reason)
""", PRECAST_DISABLE=disabled)
    assert said[-2] == "1 1"
    assert said[-1] == f"{bytes([0x0a, 1, 0])!r} {'disabled' if disabled == '1' else 'not_found'}"


def test_the_optimized_program_is_dumped_on_a_hit_too(children, tmp_path):
    texts = []
    for outcome in ("miss", "hit"):
        folder = tmp_path / outcome
        body = f"""
done = compile_or_load_all({{"a/b": program(3)}}, dump_dir={str(folder)!r})
print(done.reports["a/b"].outcome)
"""
        assert say(children, body)[-1] == outcome
        texts.append((folder / "a_b.hlo.txt").read_text())
        assert "HloModule jit_times_3" in texts[-1]
    assert texts[0].split("\n\n")[1:] == texts[1].split("\n\n")[1:]


def test_ctrl_c_leaves_the_waiters_behind(children):
    """Another process holds the lease of the only program."""
    def start(role):
        body = f"""
import sys
from precast.jax import _private
if {role!r} == "hold":
    def forever(*args):
        print("compiling", flush=True)
        sys.stdin.read()
    traced = program(5)
    _private.sample(jax.devices()[0].client)
    from precast.jax import _request
    _request.runtime_of(jax.devices()[0].client)
    _private.compile_and_load = forever
else:
    traced = program(5)
print("asking", flush=True)
try:
    compile_or_load_all({{"p": traced}})
except KeyboardInterrupt:
    print("interrupted", flush=True)
"""
        return subprocess.Popen([sys.executable, "-c", SCRIPT.format(body=body)],
                                stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=HERE,
                                env=children.environment())
    holder = start("hold")
    assert [holder.stdout.readline().strip() for _ in range(2)] == ["asking", "compiling"]
    waiter = start("wait")
    try:
        assert waiter.stdout.readline().strip() == "asking"
        with pytest.raises(subprocess.TimeoutExpired):
            waiter.wait(1)
        waiter.send_signal(signal.SIGINT)
        assert waiter.communicate(timeout=60)[0].strip() == "interrupted"
        assert waiter.returncode == 0
    finally:
        for process in (holder, waiter):
            process.kill()
            process.wait()


OTHERS = """
import tempfile
def ask(**how):
    if {many}:
        return compile_or_load_all({{"p": traced}}, **how).reports["p"]
    return precast.jax.report(precast.jax.compile_or_load(traced, **how))
traced = program(9)
other, empty = tempfile.mkdtemp(), tempfile.mkdtemp()
said = [ask().reason, ask().reason]
for how in {{"policy": "refresh"}}, {{"policy": "offline"}}, {{"cache": other}}, {{"cache": other}}:
    report = ask(**how)
    said.append([report.outcome, report.reason])
said.append(ask(policy="read-only").reason)
try:
    ask(cache=empty, policy="offline")
except precast.Error as error:
    said.append(type(error).__name__)
function = jax.jit(lambda x: x - 7)
function(x)
traced = function.trace(x)
try:
    ask(policy="offline")
except precast.Error as error:
    said.append(type(error).__name__)
print(json.dumps(said))
"""


@pytest.mark.parametrize("many", [True, False])
def test_what_jax_compiled_before_is_asked_for_where_the_answer_may_be_another(children, many):
    said = json.loads(say(children, OTHERS.format(many=many))[-1])
    assert said[:2] == ["not_found", "compiled_before"]
    assert [outcome for outcome, _ in said[2:6]] == ["miss", "hit", "miss", "hit"]
    assert said[6:] == ["compiled_before", "Error", "Error"]
