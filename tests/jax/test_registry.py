"""Registry."""

import json

SCRIPT = """
import json, jax, jax.numpy as jnp, precast.jax
from precast.jax import Registry
x = jnp.arange(4.0)
programs = Registry({mesh})

@programs.register("double", args=(jax.ShapeDtypeStruct((4,), jnp.float32),), donate_argnums=0)
def double(x):
    "Twice as much."
    return x * 2

@programs.register("shifted", args=(x,), kwargs={{"by": jnp.float32(1)}}, phase="late")
def shifted(x, *, by):
    return x + by
{body}
"""


def say(children, body, mesh="", **environment):
    return json.loads(children.python("-c", SCRIPT.format(body=body, mesh=mesh), **environment).splitlines()[-1])


def test_calls_go_to_jit_before_and_to_the_executable_after(children):
    body = """
before = double.compiled is None
early = programs.compile_or_load(phases=("early",))
state = [double.compiled is early["double"], shifted.compiled is None]
late = programs.compile_or_load(phases=("late",))
given = jnp.arange(4.0)
after = [double(given).tolist(), given.is_deleted(), shifted(x, by=jnp.float32(1)).tolist()]
print(json.dumps([before, state, after, list(early), list(late), early.reports["double"].outcome,
                  late.reports["shifted"].outcome, list(programs), double.__doc__, double.name]))
"""
    for outcome in ("miss", "hit"):
        said = say(children, body)
        assert said == [True, [True, True], [[0, 2, 4, 6], True, [1, 2, 3, 4]], ["double"], ["shifted"],
                        outcome, outcome, ["double", "shifted"], "Twice as much.", "double"]


def test_what_was_called_before_is_not_compiled_again(children):
    said = say(children, """
before = double(jnp.arange(4.0)).tolist()
done = programs.compile_or_load(phases=("early",))
print(json.dumps([before, double(jnp.arange(4.0)).tolist(), done.reports["double"].reason]))
""")
    assert said == [[0, 2, 4, 6], [0, 2, 4, 6], "compiled_before"]


def test_under_tracing_the_function_itself_is_called(children):
    said = say(children, """
programs.compile_or_load()
print(json.dumps([jax.jit(lambda y: double(y) + 1)(x).tolist(), jax.grad(lambda y: shifted(y, by=jnp.float32(0)).sum())(x).tolist()]))
""")
    assert said == [[1, 3, 5, 7], [1, 1, 1, 1]]


def test_arguments_of_another_kind_are_an_error_of_jax(children):
    said = say(children, """
programs.compile_or_load()
try:
    double(jnp.arange(5.0))
except TypeError as error:
    print(json.dumps(str(error)))
""")
    assert "float32[5]" in said and "float32[4]" in said


def test_wrong_names_and_phases_are_refused(children):
    said = say(children, """
said = []
for make in (lambda: programs.register("double"), lambda: programs.register("new", phase="never"),
             lambda: programs.compile_or_load(phases=("soon",))):
    try:
        make()
    except ValueError as error:
        said.append(str(error))
print(json.dumps(said))
""")
    assert said[0] == "there is a program 'double' already: double of __main__"
    assert said[1] == "there is no phase 'never'; there are early, late"
    assert said[2] == "there is no phase 'soon'; there are early, late"


def test_with_the_cache_off_it_is_jit(children):
    said = say(children, """
done = programs.compile_or_load()
print(json.dumps([len(done), double.compiled is None, double(jnp.arange(4.0)).tolist()]))
""", PRECAST_DISABLE="1")
    assert said == [0, True, [0, 2, 4, 6]]
    assert not children.cache.exists()


def test_a_failure_changes_nothing(children):
    said = say(children, """
@programs.register("bad", args=(x,), compiler_options={"xla_no_such_option": 1})
def bad(x):
    return x
try:
    programs.compile_or_load()
except Exception as error:
    print(json.dumps([error.__notes__, double.compiled is None, double(jnp.arange(4.0)).tolist()]))
""")
    assert said == [["in the program 'bad'"], True, [0, 2, 4, 6]]


def test_under_a_mesh_names_of_axes_are_known(children):
    said = say(children, """
from jax.sharding import PartitionSpec as P
@programs.register("spread", args=(jax.ShapeDtypeStruct((8,), jnp.float32),))
def spread(x):
    return jax.lax.with_sharding_constraint(x * 2, P("d"))
first = spread(jnp.arange(8.0))
done = programs.compile_or_load()
second = spread(jnp.arange(8.0))
print(json.dumps([second.tolist(), first.sharding == second.sharding, len(second.devices()), done.reports["spread"].outcome]))
""", mesh='jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,), devices=jax.devices()[:4])')
    assert said == [[0, 2, 4, 6, 8, 10, 12, 14], True, 4, "miss"]


STATIC = """
aval = jax.ShapeDtypeStruct((4,), jnp.float32)
@programs.register("number", args=(aval, 3), static_argnums=1)
def number(x, n): return x * n
@programs.register("last", args=(aval, 3), static_argnums=-1)
def last(x, n): return x * n
@programs.register("name", kwargs={"x": aval, "n": 3}, static_argnames="n")
def name(*, x, n): return x * n
@programs.register("default", args=(aval,), static_argnames=("n",))
def default(x, n=3): return x * n
class Options:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __hash__(self): return hash(self.n)
@programs.register("object", args=(Options(3), aval), static_argnums=0)
def object_(options, x): return x * options.n
def called():
    return [one.tolist() for one in (number(x, 3), number(x, n=3), last(x, 3), name(x=x, n=3), default(x), default(x, 3),
                                     default(x, n=3), object_(Options(3), x))]
before = called()
done = programs.compile_or_load()
with jax.disable_jit():
    eager = called() + [number([1.0], 3)]
wrong = []
for call in (lambda: number(x, 4), lambda: number(x, n=4), lambda: number(x), lambda: default(x, 3.0),
             lambda: object_(Options(4), x)):
    try:
        call()
    except TypeError as error:
        wrong.append(str(error))
print(json.dumps([before, called(), eager, wrong, jax.vmap(lambda v: number(v, 2))(x).tolist()]))
"""


def test_static_arguments_are_given_as_before(children):
    for environment in {}, {"PRECAST_DISABLE": "1"}:
        before, after, eager, wrong, mapped = say(children, STATIC, **environment)
        assert before == after == [[0, 3, 6, 9]] * 8
        assert eager == before + [[1.0] * 3]  # a list, which a function alone takes
        assert mapped == [0, 2, 4, 6]
        if not environment:
            assert len(wrong) == 5
            assert "'number' was compiled for the static arguments {'n': 3}, and is called with {'n': 4}" in wrong[0]
            assert "called with {}" in wrong[2]


def test_objects_methods_and_copies(children):
    said = say(children, """
import copy, pickle
class Model:
    def __init__(self):
        self._registry, self._jitted, self._compiled, self.name, self.phase, self.weight = None, None, 1, "own", "no", 3
    def __call__(self, x):
        return x * self.weight
model = programs.register("model", args=(x,))(Model())
class Method:
    by = 2
    @programs.register("method", args=(0, x), static_argnums=0)
    def times(self, x):
        return x * 2
before = [model(x).tolist(), Method().times(x).tolist()]
done = programs.compile_or_load(phases=("early",))
print(json.dumps([before, model(x).tolist(), model.name, model.phase, model.compiled is done["model"],
                  copy.copy(double) is double, copy.deepcopy([double])[0] is double,
                  pickle.loads(pickle.dumps(double)) is double]))
""")
    assert said == [[[0, 3, 6, 9], [0, 2, 4, 6]], [0, 3, 6, 9], "model", "early", True, True, True, True]
