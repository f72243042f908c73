"""What of a partition rule counts in the key, and what keeps a program out of the cache."""

import collections
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
@functools.lru_cache
def cached(x): return x + 7
def rule(mesh, args, result, *, extra=8):
    def lower(x):
        return held(x) + partly(x) + box.times(x) + table["a"][1] + twice(x) + cached(1) + bound(x)
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
    ("@functools.lru_cache", "@functools.lru_cache(maxsize=1)"), ("class Box", "class Bix")])
def test_everything_that_is_read_counts(old, new):
    changed = RULE.replace(old, new)
    assert changed != RULE
    if new == "class Bix":
        changed = changed.replace("Box(", "Bix(")
    if new.startswith("math.cbrt") and not hasattr(__import__("math"), "cbrt"):
        pytest.skip("this Python has no math.cbrt")
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
