"""XLA reads XLA_FLAGS when JAX makes its backends, and never again."""

import pytest

FAST = "--xla_cpu_enable_fast_math=true"
BODY = """
import os
{before}
import jax, jax.numpy as jnp
{between}
report = precast.jax.report(precast.jax.compile_or_load(jax.jit(lambda x: jnp.sin(x) @ x).trace(jnp.ones((4, 4)))))
print(report.outcome, report.reason, report.key, report.detail)
"""
SET = f"os.environ['XLA_FLAGS'] = {FAST!r}"


def ask(children, before, between, flags):
    body = BODY.format(before="\n".join(before), between="\n".join(between))
    return children.python("-c", body, XLA_FLAGS=flags).split(maxsplit=3)


@pytest.fixture
def keys(children):
    """Of processes that were started with flags, and with none."""
    return [ask(children, ["import precast.jax"], [], flags)[2] for flags in (FAST, "")]


def test_what_counts_is_what_xla_read(children, keys):
    with_flags, without = keys
    assert with_flags != without
    # Set after the import and before the backends.
    assert ask(children, ["import precast.jax"], [SET, "jax.devices()"], "")[2] == with_flags
    # Set when XLA has read them.
    assert ask(children, ["import precast.jax"], ["jax.devices()", SET], "")[2] == without
    # Nobody changed them before precast.jax came.
    assert ask(children, [], ["jax.devices()", "import precast.jax"], FAST)[2] == with_flags


def test_where_nobody_looked_there_is_no_key(children):
    for between in ([SET, "jax.devices()"], ["jax.devices()", SET]):
        outcome, reason, key, detail = ask(children, [], [*between, "import precast.jax"], "")
        assert (outcome, reason, key) == ("bypass", "flags_unknown", "None")
        assert "XLA_FLAGS was changed" in detail
