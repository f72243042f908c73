"""What of a partition rule counts in the key, and what keeps a program out of the cache."""

import collections
import collections.abc
import dataclasses
import enum
import functools
import io
import logging
import re
import textwrap
import threading
import types

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.sharding import Mesh, NamedSharding, PartitionSpec as P

from precast.jax import _private, _rules
from precast.jax._libraries import versions
from precast.jax._references import Unseen
from precast.jax._stable import Digest


def made(source, name="rule", file="rule.py", **scope):
    """What a module of this source has under this name."""
    module = types.ModuleType("somebodys_rules")
    vars(module).update(scope)
    exec(compile(textwrap.dedent(source), file, "exec"), vars(module))  # pylint: disable=exec-used
    return getattr(module, name)


def digest(value, devices=()):
    found = Digest(devices)
    found.put("rule", value)
    return found.hex()


RULE = """
import functools, math, jax, jax.numpy as jnp
from jax.sharding import NamedSharding, PartitionSpec as P
factor = 2.0
table = {"a": [1, 2.5, None], "b": (True, b"x", 1j, {3, 4}, frozenset({"p", "q"}))}
class Box:
    scale = 3
    def __init__(self, inner): self.inner = inner
    def times(self, x): return x * self.inner * self.scale
box = Box(4)
def helper(x, power=2): return jnp.sin(x) ** power * factor
def around(k):
    def inner(x): return helper(x) * k * math.sqrt(2)
    return inner
held = around(5)
partly = functools.partial(helper, power=3)
twice = jax.jit(lambda x: x * 2)
def plain(x): return x + 7
def rule(mesh, args, result, *, extra=8):
    def lower(x):
        return held(x) + partly(x) + box.times(x) + table["a"][1] + twice(x) + plain(1) + bound(x)
    return mesh, lower, NamedSharding(mesh, P("x")), (args[0].sharding,)
bound = box.times
"""


def test_where_it_stands_and_what_is_not_read_do_not_count():
    plain = digest(made(RULE))
    assert digest(made("# a comment\n\n" + RULE, file="/another/folder.py")) == plain
    assert digest(made(RULE + "\nunused = object()\n")) == plain
    assert digest(made(RULE)) == plain


def test_every_process_comes_to_the_same_digest(children):
    """Under any hash seed, with the code at another place."""
    script = "import test_rules; print(test_rules.digest(test_rules.made(test_rules.RULE, file='/{}/r.py')))"
    said = {children.python("-c", script.format(seed), seed=seed).splitlines()[-1] for seed in (11, 12)}
    assert said == {digest(made(RULE))}


@pytest.mark.parametrize("old, new", [
    ("factor = 2.0", "factor = 3.0"), ("factor = 2.0", "factor = 2"), ("2.5", "2.6"), ("None]", "0]"),
    ("True, b", "1, b"), ("{3, 4}", "{3, 5}"), ('"q"})', '"r"})'), ("scale = 3", "scale = 4"),
    ("Box(4)", "Box(5)"), ("self.inner * self", "self.inner + self"), ("around(5)", "around(6)"),
    ("power=3)", "power=4)"), ("power=2", "power=1"), ("jnp.sin", "jnp.cos"), ("math.sqrt", "math.cbrt"),
    ("math.sqrt(2)", "math.sqrt(3)"), ("lambda x: x * 2", "lambda x: x * 3"), ("x + 7", "x + 8"),
    ("extra=8", "extra=9"), ('P("x")', 'P("y")'), ("jax.jit(lambda", "jax.jit(donate_argnums=0)(lambda"),
    ("class Box", "class Bix"), ("def plain(x): return", 'def plain(x): "7"; return')])
def test_everything_that_is_read_counts(old, new):
    changed = RULE.replace(old, new)
    assert changed != RULE
    if new == "class Bix":
        changed = changed.replace("Box(", "Bix(")
    assert digest(made(changed)) != digest(made(RULE))


@dataclasses.dataclass
class Point:
    x: int
    y: object = None


@dataclasses.dataclass(frozen=True, order=True, slots=True)
class Frozen:
    x: int = 3
    many: list = dataclasses.field(default_factory=list)


def twice(x):
    return x * 2


Pair = collections.namedtuple("Pair", "left right")


class Colour(enum.Enum):
    RED = 1
    BLUE = 2


def test_each_value_has_a_digest_of_its_own():
    mesh = Mesh(np.array(jax.devices()[:1]), ("x",))
    values = [
        None, 0, 1, True, False, 0.0, -0.0, float("inf"), 1.5, 1j, "", "1", b"1", (), (1,), [1], [1, 2], {1},
        frozenset({1}) | {2}, {1: 2}, {2: 1}, {"1": 2}, range(3), slice(1, 2), Point(1), Point(2), Point(1, 3),
        Frozen(), Frozen(4), Frozen, re.compile("a"), re.compile("a", re.I), Pair(1, 2), Pair(2, 1), Pair,
        collections.OrderedDict(a=1, b=2), collections.OrderedDict(b=2, a=1), collections.defaultdict(list),
        collections.defaultdict(dict), jax.vmap(jnp.sin), jax.vmap(jnp.cos), jax.vmap(jnp.sin, in_axes=1),
        jax.custom_jvp(jnp.sin), jax.nn.relu, jax.nn.gelu,
        Colour.RED, Colour.BLUE, np.float32(1), np.float64(1), np.arange(3), np.arange(3.0),
        np.arange(4).reshape(2, 2), np.arange(4).reshape(4, 1), np.dtype("f4"), jnp.bfloat16, np.float32,
        np.dtype(">f4"), np.array([1], ">i4"), np.array([1], "<i4"), np.array([16777216], "<i4"),
        jnp.arange(3), jnp.arange(4), len, abs, int, dict, jnp.sin, jnp.cos, jnp.add, jax.lax.psum, Point, Colour,
        functools.partial(len), functools.partial(abs), functools.partial(len, 1), Point(1).__eq__,
        P("x"), P(None, "x"), P(("x", "y")), mesh, NamedSharding(mesh, P("x")), NamedSharding(mesh, P()),
        NamedSharding(mesh, P("x"), memory_kind="pinned_host"), jax.sharding.SingleDeviceSharding(jax.devices()[0]),
        jax.ShapeDtypeStruct((1,), "float32"), jax.ShapeDtypeStruct((2,), "float32"),
        jax.tree.structure((1, 2)), jax.tree.structure([1, 2]), jax.jit(twice),
        types.MappingProxyType({1: 3})]
    digests = [digest(value, jax.devices()[:1]) for value in values]
    assert len(set(digests)) == len(digests)


def test_classes_that_jax_was_told_to_take_apart_are_refused():
    class Node:
        """A container."""
        x = 1
    digest(Node)
    jax.tree_util.register_pytree_node(Node, lambda node: ((node.x,), None), lambda static, children: children)
    with pytest.raises(Unseen, match="pytree node .*Node, whose functions are in tables"):
        digest(Node)


def test_cycles_end():
    circle = [1]
    circle.append({"again": circle})
    assert digest(circle) == digest(circle)
    source = "def even(n): return n == 0 or odd(n - 1)\ndef odd(n): return n != 0 and even(n - 1)\n"
    assert digest(made(source, "even")) == digest(made(source, "even"))
    assert digest(made(source, "even")) != digest(made(source.replace("n != 0", "n > 0"), "even"))


@pytest.mark.parametrize("source, what", [
    ("import os\ndef rule(): return os.environ['X']", "it uses os._Environ"),
    ("import time\ndef rule(): return time.time()", "global 'time'.time: it uses time.time"),
    ("import jax\ndef rule(): return jax.devices()", "jax._src.xla_bridge.devices, which depends on more"),
    ("import jax\ndef rule(): return jax.process_index()", "process_index"),
    ("import jax\ndef rule(x): return jax.pure_callback(len, x, x)", "jax._src.callback.pure_callback"),
    ("import jax\ndef rule(x): jax.debug.print('{}', x)", "jax._src.debugging"),
    ("import numpy as np\ndef rule(): return np.random.rand()", "rand"),
    ("import numpy as np\ndef rule(): return np.load('f')", "numpy.load"),
    ("import numpy as np\ndef rule(): return getattr(np, 'lo' + 'ad')('f')", "hands the module 'numpy' on"),
    ("def rule(): return open('f').read()", "it calls open()"),
    ("def rule(): return eval('1')", "it calls eval()"),
    ("def rule(x): return id(x)", "it calls id()"),
    ("def rule(x): return rule.__globals__['x']", "asks for __globals__"),
    ("def rule(x): return getattr(rule, '__globals__')['x']", "asks for __globals__"),
    ("name = '__globals__'\ndef rule(x): return getattr(rule, name)['x']", "asks for __globals__"),
    ("def rule(x): return rule.__annotations__", "asks for __annotations__"),
    ("def rule():\n    from .jax import numpy\n    return numpy", "imports the module 'jax' of its own package"),
    ("def rule():\n    from os import getpid\n    return getpid()", "it uses posix.getpid"),
    ("def rule(x): return ().__class__.__base__.__subclasses__()", "asks for __subclasses__"),
    ("e = eval\ndef rule(x): return e('1')", "builtins.eval"),
    ("import jax\np = jax.lax.add_p\ndef rule(x): return p.bind(x, x)", "it uses the primitive 'add'"),
    ("import numpy as np\ndef rule(): return np.memmap('f')", "memmap"),
    ("count = 0\ndef rule():\n    global count\n    count += 1", "writes to the global 'count'"),
    ("def rule():\n    import os\n    return os.getpid()", "imports the module 'os' where it runs"),
    ("handle = None\ndef helper(): return handle\ndef rule(): return helper()", "global 'handle'"),
])
def test_what_no_digest_covers_is_named(source, what):
    scope = {}
    rule = made(source, **scope)
    if "handle" in source:
        rule.__globals__["handle"] = io.StringIO()
    with pytest.raises(Unseen, match="^rule") as raised:
        digest(rule)
    assert what in str(raised.value)


class Counted(np.ndarray):
    """Somebody's own array, with more to it than its values."""


class Looked(property):
    """Somebody's own property."""


class Hidden(tuple):
    """A tuple that does not show all that it holds."""

    def __iter__(self):
        return iter(())


class Loud(logging.Logger):
    """Somebody's own logger."""


def test_what_a_container_hides_counts():
    assert digest(Hidden((1, 2))) != digest(Hidden((1, 3)))


def test_what_was_added_to_an_enumeration_counts():
    source = "import enum\nclass Kind(enum.Enum):\n    A = 1\n{}def rule(x): return x * Kind.factor\n"
    plain = digest(made(source.format("Kind.factor = 2\n")))
    assert plain == digest(made(source.format("Kind.factor = 2\n")))
    assert plain != digest(made(source.format("Kind.factor = 3\n")))


# Each: what both have, and what tells two rules apart that give different results.
OTHERWISE = {
    "aliases of an enumeration": ("import enum\nclass M(enum.Enum):\n A = 2; B = 3; C = {}\ndef rule(): return M.C.value", "2", "3"),
    "names of an enumeration": ("import enum\nclass M(enum.Enum):\n A = 2; {} = 2\ndef rule(): return M['B']", "B", "C"),
    "composite flags": ("import enum\nclass M(enum.Flag):\n A = 1; B = 2; C = {}\ndef rule(): return M.A in M.C", "3", "2"),
    "_missing_": ("""import enum
class M(enum.Enum):
    A = 2; B = 3
    @classmethod
    def _missing_(cls, value): return cls.{}
def rule(): return M(7).value""", "A", "B"),
    "_generate_next_value_": ("""import enum
class M(enum.Enum):
    def _generate_next_value_(*args): return {}
    A = 2
def rule(): return M._generate_next_value_()""", "2", "3"),
    "what values stand for": ("""import enum
class M(enum.Enum):
    A = 2; B = 3
M._value2member_map_[7] = M.{}
def rule(): return M(7)""", "A", "B"),
    "attributes of members": ("import enum\nclass M(enum.Enum):\n A = 2\nM.A.f = {}\ndef rule(): return M.A.f", "2", "3"),
    "attributes of combinations": (
        "import enum\nclass M(enum.Flag):\n A = 1; B = 2\n(M.A | M.B).f = {}\ndef rule(): return (M.A | M.B).f", "2", "3"),
    "methods of a dataclass": ("""import dataclasses
@dataclasses.dataclass
class C:
    n: int = 1
    def scale(self): return {}
def rule(): return C().scale()""", "2", "3"),
    "defaults of a dataclass": ("""import dataclasses
@dataclasses.dataclass
class C:
    n: int = 2
C.__init__.__defaults__ = ({},)
def rule(): return C().n""", "2", "3"),
    "__hash__ of a dataclass": ("""import dataclasses
@dataclasses.dataclass(frozen=True)
class C:
    n: int = 2
    def __hash__(self): return {}
def rule(): return C().__hash__()""", "2", "3"),
    "__repr__ of a dataclass": ("""import dataclasses
@dataclasses.dataclass
class C:
    n: int = 2
C.__repr__.__closure__[1].cell_contents.__defaults__ = ({},)
def rule(): return repr(C())""", "2", "3"),
    "types of fields": ("""import dataclasses
@dataclasses.dataclass
class C:
    n: int = 0
dataclasses.fields(C)[0].type = {}
def rule(): return dataclasses.fields(C)[0].type""", "2", "3"),
    "types of fields, by name": ("""import dataclasses
@dataclasses.dataclass
class C:
    n: int = 0
dataclasses.fields(C)[0].type = {}
def rule(): return C.__dataclass_fields__['n'].type""", "2", "3"),
    "__new__ of a named tuple": ("""import collections
class Q(collections.namedtuple('N', 'a b')):
    def __new__(cls, a, b): return super().__new__(cls, {}, b)
def rule(): return Q(1, 1).a""", "2", "3"),
    "_replace of a named tuple": ("""import collections
Q = collections.namedtuple('Q', 'a b')
Q._replace = lambda self: {}
def rule(): return Q(1, 1)._replace()""", "2", "3"),
    "properties of a named tuple": ("""import collections
class Q(collections.namedtuple('N', 'a b')):
    @property
    def a(self): return {}
def rule(): return Q(1, 1).a""", "2", "3"),
    "fields of a named tuple": ("""import collections
Q = collections.namedtuple('Q', 'a b')
Q.a = Q.{}
def rule(): return Q(2, 3).a""", "a", "b"),
    "defaults of a named tuple": ("""import typing
class Q(typing.NamedTuple):
    a: int = 2
Q.__new__.__defaults__ = ({},)
def rule(): return Q().a""", "2", "3"),
    "content of an lru_cache": ("""import functools
K = [2]
@functools.lru_cache
def f(): return K[0]
if {}: f()
K[0] = 3
def rule(): return f()""", "True", "False"),
    "content of a cached_property": ("""import functools
class C:
    @functools.cached_property
    def f(self): return 2
c = C()
c.f = {}
def rule(): return c.f""", "2", "3"),
    "sets of objects": ("""class C: pass
A, B = C(), C()
S = {{A}}
T = {}
def rule(): return T in S""", "A", "B"),
    "the order of a set of numbers": ("S = {{{}}}\nS.add(0)\nS.add(8)\ndef rule(): return list(S)", "8", "0"),
    "a logger's level": ("import logging\nL = logging.getLogger('a rule')\nL.setLevel({})\ndef rule(): return L.level", "20", "30"),
    "loggers by name": (
        "import logging\nlogging.getLogger('a rule').setLevel({})\ndef rule(): return logging.getLogger('a rule').level",
        "20", "30"),
    "warnings": ("import warnings\ndef rule(): return warnings.warn('{}')", "2", "3"),
    "classes registered with somebody's own": ("""import abc
class F(abc.ABC): pass
class C: pass
if {}: F.register(C)
def rule(): return isinstance(C(), F)""", "True", "False"),
    "__doc__": ("def f(): pass\nf.__doc__ = '{}'\ndef rule(): return f.__doc__", "2", "3"),
    "__doc__ of a class": ("class C: '{}'\ndef rule(): return C.__doc__", "2", "3"),
    "__qualname__": ("def f(): pass\nf.__qualname__ = '{}'\ndef rule(): return f.__qualname__", "a", "b"),
    "__module__": ("def f(): pass\nf.__module__ = '{}'\ndef rule(): return f.__module__", "a", "b"),
    "attributes of a staticmethod": ("""class C:
    @staticmethod
    def f(): pass
vars(C)['f'].k = {}
def rule(): return C.__dict__['f'].k""", "2", "3"),
    "attributes of a jitted function": ("import jax\nf = jax.jit(lambda: 1)\nf.k = {}\ndef rule(): return f.k", "2", "3"),
    "which tuples are one": ("A = tuple([1, 2])\nB = {}\ndef rule(): return A is B", "A", "tuple([1, 2])"),
    "which numbers are one": ("A = float('1.5')\nB = {}\ndef rule(): return A is B", "A", "float('1.5')"),
    "which texts are one": (
        "import operator\nA = ' '.join('ab')\nB = {}\ndef rule(): return operator.is_(A, B)", "A", "' '.join('ab')"),
    "which NaN it is": ("A, B = float('nan'), float('nan')\nC = [{}]\ndef rule(): return A in C, B", "A", "B"),
}


@pytest.mark.parametrize("what", OTHERWISE)
def test_rules_that_give_different_results_are_told_apart(what):
    """Or are refused, both or the one that has what no digest covers."""
    source, *ways = OTHERWISE[what]
    said = []
    for way in ways:
        rule = made(source.format(way))
        try:
            said.append(digest(rule))
            assert said[-1] == digest(made(source.format(way)))
        except Unseen as error:
            said.append(str(error))
    assert said[0] != said[1] or said[0].startswith("rule")


@pytest.mark.parametrize("source, what", [
    (OTHERWISE["attributes of members"][0].format(2), "the member M.A of an enumeration has attributes of its own"),
    (OTHERWISE["attributes of combinations"][0].format(2), "what M(3) gives was changed"),
    (OTHERWISE["types of fields"][0].format(2), "it uses dataclasses.fields, which depends on more"),
    (OTHERWISE["types of fields, by name"][0].format(2), "it asks for __dataclass_fields__"),
    (OTHERWISE["content of an lru_cache"][0].format(True), "it uses the lru_cache of f(), whose content"),
    (OTHERWISE["content of a cached_property"][0].format(2), "it uses a cached_property, whose content"),
    (OTHERWISE["sets of objects"][0].format("A"), "it holds a set of other things than numbers and texts (C)"),
    (OTHERWISE["a logger's level"][0].format(20), "it uses logging.Logger"),
    (OTHERWISE["loggers by name"][0].format(20), "it uses logging.getLogger"),
    (OTHERWISE["classes registered with somebody's own"][0].format(True),
     "it uses somebodys_rules.F, which somebodys_rules.C was registered with"),
])
def test_what_holds_more_than_a_digest_sees_is_refused(source, what):
    with pytest.raises(Unseen) as raised:
        digest(made(source))
    assert what in str(raised.value)


def test_classes_registered_with_a_librarys_are_refused():
    class Words(collections.abc.Sequence):
        """Somebody's own."""
    digest(collections.abc.Sequence)
    Words.register(Point)
    with pytest.raises(Unseen, match="collections.abc.Sequence, which .*Point was registered with"):
        digest(collections.abc.Sequence)


def test_enumerations_of_each_kind_have_a_digest():
    kinds = [enum.Enum("K", "A B", module=__name__), enum.IntEnum("K", "A B", module=__name__),
             enum.Flag("K", "A B", module=__name__), enum.IntFlag("K", "A B", module=__name__),
             enum.StrEnum("K", "A B", module=__name__)]
    said = [digest(kind) for kind in kinds]
    assert len(set(said)) == len(kinds)
    assert ~kinds[2].A == kinds[2].B and kinds[2].A | kinds[2].B
    assert [digest(kind) for kind in kinds] == said  # combinations are made where code asks for them


def test_one_object_in_two_parts_of_a_rule_counts():
    """The rule gets the static arguments, and may compare them with what it holds."""
    one, other = object.__new__(Point), object.__new__(Point)
    assert _rules._rule({"partition": one, "static_args": (one,)}, ()) != \
        _rules._rule({"partition": one, "static_args": (other,)}, ())
    compare, text = made("def rule(x): return x is held\nheld = ' '.join('ab')"), " ".join("ab")
    assert _rules._rule({"partition": compare, "static_args": (text,)}, ()) != \
        _rules._rule({"partition": compare, "static_args": (compare.__globals__["held"],)}, ())


def test_settings_of_numpy_count():
    plain = _rules._settings(())
    with np.errstate(under="raise"):
        assert _rules._settings(()) != plain
    with np.printoptions(precision=3):
        assert _rules._settings(()) != plain
    assert _rules._settings(()) == plain


def test_imports_where_a_rule_runs_count():
    source = "def rule(x):\n    from math import {0}\n    return {0}(x)\n"
    assert digest(made(source.format("sqrt"))) == digest(made(source.format("sqrt")))
    assert digest(made(source.format("sqrt"))) != digest(made(source.format("floor")))


@pytest.mark.parametrize("value", [
    np.arange(3).view(Counted), Looked(len), Loud("x"), type("Int", (int,), {})(3), type("Text", (str,), {})("x"),
    threading.Lock(), io.BytesIO(), (i for i in "x"), iter([1]), [].append, object.__new__, memoryview(b"x"),
    np.array([object()]), types.ModuleType("m"), {"deep": [threading.Lock()]}, jax.random.key(0)])
def test_objects_that_are_more_than_they_show_are_refused(value):
    with pytest.raises(Unseen):
        digest(value)


def test_a_rule_that_asks_for_devices_counts_which_they_are():
    for source, asks in (("def rule(mesh): return mesh.shape", False),
                         ("def rule(mesh): return mesh.devices.flat[0].id", True),
                         ("def rule(mesh): return getattr(mesh, 'devices')", True),
                         ("name = 'devices'\ndef rule(mesh): return getattr(mesh, name)", True),
                         ("import operator\nask = ('mesh.device_ids',)\ndef rule(x): return operator.attrgetter(*ask)(x)",
                          True),
                         ("def rule(mesh): return (lambda: mesh.device_ids)()", True)):
        found = Digest()
        found.put("rule", made(source))
        assert found.asks_for_devices == asks, source


def test_other_devices_than_the_programs_are_refused():
    with pytest.raises(Unseen, match="other devices"):
        digest(Mesh(np.array(jax.devices()[:1]), ("x",)))
    with pytest.raises(Unseen, match="does not run on"):
        digest(jax.devices()[0])


def test_builds_that_are_no_releases_have_no_version(monkeypatch):
    assert versions()["jax"] == jax.__version__
    monkeypatch.setattr(jax, "__version__", "0.10.2.dev20260101")
    with pytest.raises(Unseen, match="is no release"):
        versions()


def test_a_program_without_rules_stays_as_it_is():
    module = jax.jit(lambda x: x + 1).lower(1.0).compiler_ir()
    program = _private.program_bytes(module)
    assert _rules.settle(module, program) == _rules.Settled(program)


def test_a_program_with_locations_has_no_address():
    settled = _rules.Settled(b"", names={"1234": "rule 0"})
    assert settled.without_addresses('call {backend_config = "1234"} 1234') == \
        'call {backend_config = "rule 0"} 1234'


def test_settings_of_jax_count():
    plain = _rules._settings(())
    with jax.default_matmul_precision("float32"):
        assert _rules._settings(()) != plain
    with jax.enable_x64(True):
        assert _rules._settings(()) != plain
    with jax.log_compiles(True):
        assert _rules._settings(()) == plain or jax.config.jax_log_compiles
    assert _rules._settings(()) == plain
