"""jit(), enable() and seal()."""

import json


def test_jit_is_a_drop_in(children):
    script = """
import json, logging, jax, jax.numpy as jnp, precast.jax
def plain(x, *, by=2.0, flag):
    "its words"
    return x * by if flag else x
step = precast.jax.jit(plain, static_argnames="flag")
x = jnp.arange(4.0)
said = [step(x, flag=True).tolist(), step(x, flag=True).tolist(), step(x[:2], flag=False).tolist(),
        jax.grad(lambda v: step(v, flag=True).sum())(x).tolist(),
        jax.vmap(lambda v: step(v, flag=True))(x).tolist(),
        step.lower(x, flag=True).compile()(x).tolist(), step.trace(x, flag=True).jaxpr is not None]
print(json.dumps([said, [report.outcome for report in step.reports], step.__name__, step.__doc__]))
"""
    expected = [[0, 2, 4, 6], [0, 2, 4, 6], [0, 1], [2, 2, 2, 2], [0, 2, 4, 6], [0, 2, 4, 6], True]
    for outcome in ("miss", "hit"):
        said = json.loads(children.python("-c", script).splitlines()[-1])
        assert said[0] == expected
        assert said[1][:2] == [outcome] * 2
        assert said[2:] == ["plain", "its words"]


def test_a_new_signature_is_an_error_where_that_is_wanted(children):
    said = children.python("-c", """
import jax, jax.numpy as jnp, precast.jax
@precast.jax.jit(on_mismatch="error") if False else lambda f: precast.jax.jit(f, on_mismatch="error")
def step(x):
    return x * 2
two, three = jnp.ones(2), jnp.ones(3)
print(step(two).sum(), step(two).sum())
try:
    step(three)
except TypeError as error:
    print(error)
try:
    precast.jax.jit(step, on_mismatch="maybe")
except ValueError as error:
    print(error)
""").splitlines()
    assert said[0] == "4.0 4.0"
    assert "step was called with a new signature, number 2" in said[1]
    assert "maybe" in said[2]


MODULES = """
import collections, json, jax, jax.numpy as jnp, precast.jax
from precast.jax import _private
outcomes = collections.Counter()
jax.monitoring.register_event_listener(
    lambda name, **more: outcomes.update([name]) if name.startswith("/precast/") else None)
{before}
def big(x):
    return jnp.tanh(x @ x) + jnp.linalg.norm(x)
value = float(jax.jit(big)(jnp.eye(4)).sum())
print(json.dumps([value, dict(outcomes)]))
"""


def modules(children, before, **environment):
    said = children.python("-c", MODULES.format(before=before), **environment)
    return json.loads(said.splitlines()[-1])


def test_enable_serves_every_compile(children):
    cold = modules(children, "precast.jax.enable(); precast.jax.enable()")
    warm = modules(children, "", PRECAST_JAX="1")
    assert cold[0] == warm[0]
    assert set(cold[1]) == {"/precast/miss"} and cold[1]["/precast/miss"] >= 2
    assert warm[1] == {"/precast/hit": cold[1]["/precast/miss"]}


def test_enable_ends_with_its_block(children):
    said = modules(children, "with precast.jax.enable():\n"
                   "    jax.jit(lambda x: x * 3)(1.0)\n"
                   "outside = dict(outcomes)\n")
    assert sum(said[1].values()) == 1


def test_a_sealed_process_loads_and_does_not_compile(children):
    assert modules(children, "precast.jax.enable()")[1]
    sealed = "precast.jax.enable()\nscope = precast.jax.seal()\n"
    assert set(modules(children, sealed)[1]) == {"/precast/hit"}
    done = children.python("-c", MODULES.format(before=sealed).replace("tanh", "sin"), ok=False)
    assert done.returncode == 1
    assert "SealedError" in done.stderr and "jit_big would be compiled" in done.stderr
    # Also what no request is about, and only as long as it lasts.
    said = children.python("-c", """
import jax, precast.jax
with precast.jax.seal():
    try:
        jax.jit(lambda x: x * 5)(1.0)
    except precast.jax.SealedError as error:
        print("sealed")
print(jax.jit(lambda x: x * 5)(1.0))
with precast.jax.seal("warn"):
    print(jax.jit(lambda x: x * 7)(1.0))
""").split()
    assert said == ["sealed", "5.0", "7.0"]


def test_what_compiles_fast_is_not_stored(children):
    said = modules(children, "precast.jax.enable(min_compile_secs=600)")
    assert set(said[1]) == {"/precast/skip"}
    assert not list(children.cache.glob("v1/*/*.precast"))


ATTRIBUTES = """
import copy, functools, json, jax, jax.numpy as jnp, precast.jax
x = jnp.arange(3.0)
said = []
class Model:
    def __init__(self):
        self._cache, self._policy, self._jitted, self.reports, self.weight = {}, "sgd", None, None, 3
    def __call__(self, x):
        return x * self.weight
make = {make}
said.append(make(Model())(x).tolist())
given = jnp.arange(3.0)
nested = make(make(lambda x: x + 1), donate_argnums=0)
said.append([nested(given).tolist(), given.is_deleted()])
class Method:
    by = 2
    def times(self, x):
        return x * self.by
    partial = functools.partial(make, static_argnums=0)(times)
said.append([Method().partial(x).tolist(), Method.partial(Method(), x).tolist()])
def marked(x):
    return x + 2
marked.mark = 7
one = make(marked)
said.append([one.mark, one.__name__, one.__wrapped__ is marked])
for other in copy.copy(one), copy.deepcopy(one):
    said.append([other(x).tolist(), other is one])
print(json.dumps(said))
"""


def test_objects_methods_and_copies_are_as_under_jax_jit(children):
    said = [json.loads(children.python("-c", ATTRIBUTES.replace("{make}", make)).splitlines()[-1])
            for make in ("jax.jit", "precast.jax.jit")]
    assert said[0] == said[1]
    assert said[1][:3] == [[0, 3, 6], [[1, 2, 3], True], [[0, 2, 4], [0, 2, 4]]]


def test_a_function_can_be_pickled_where_the_python_function_can(children):
    said = children.python("-c", """
import pickle, jax.numpy as jnp, precast.jax
def plain(x):
    return x * 2
step = precast.jax.jit(plain, policy="read-only", name="named")
again = pickle.loads(pickle.dumps(step))
print(again(jnp.arange(3.0)).tolist(), again.__name__, again.__wrapped__ is plain, len(again.reports))
""")
    assert said.strip() == "[0.0, 2.0, 4.0] named True 1"


SCOPES = """
import jax, precast.jax
from precast.jax import _request
{begin}
for order in (0, 1), (1, 0), (1, 2, 0), (0, 2, 1), (2, 0, 1):
    scopes = []
    states = []
    for value in {values}[:len(order)]:
        scopes.append(begin(value))
        states.append(state())
    assert len(set(map(str, states))) == len(order), states
    open_ = dict(enumerate(states))
    for i in order:
        scopes[i].close()
        scopes[i].close()
        del open_[i]
        assert state() == (open_[max(open_)] if open_ else None), (order, i, state())
print("fine")
"""


def test_scopes_end_in_any_order(children):
    enable = SCOPES.format(values='"abc"', begin="""
begin = lambda value: precast.jax.enable("/nonexistent/" + value)
state = lambda: _request._process_wide
""")
    seal = SCOPES.format(values='["error", "warn", "error"]', begin="""
begin = precast.jax.seal
state = lambda: _request._sealed
""").replace("len(set(map(str, states))) == len(order)", "states == ['error', 'warn', 'error'][:len(order)]")
    for script in enable, seal:
        assert children.python("-c", script).strip() == "fine"
