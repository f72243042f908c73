"""get_cache_key: the core's key, without a compile."""

import json
import os

import jax
import jax.numpy as jnp
import pytest
from jax.sharding import AbstractMesh, NamedSharding, PartitionSpec as P

import precast.jax
from precast import aot
from precast.jax import _private


def lower(scale=2.0):
    def scaled(state, x, unused):
        return {"w": state["w"] * scale + x}, x.sum()
    return jax.jit(scaled, donate_argnums=0).lower({"w": jnp.ones(4)}, jnp.ones(4), 0)


def test_it_is_the_key_of_compile_or_load(cache):
    lowered = lower()
    name, context = aot.get_cache_key(lowered)
    compiled = precast.jax.compile_or_load(lowered)
    assert name == f"jit_scaled_{precast.jax.report(compiled).key}"
    # Also where JAX remembers the compile, and where the cache is off.
    assert aot.get_cache_key(lowered) == (name, context)
    precast.jax.compile_or_load(lowered, compiler_options={})
    os.environ["PRECAST_DISABLE"] = "1"
    try:
        assert aot.get_cache_key(lowered)[0] == name
    finally:
        del os.environ["PRECAST_DISABLE"]


def test_nothing_is_compiled(cache, monkeypatch):
    aot.get_cache_key(lower())  # the sample that says for which CPU
    for function in ("compile_and_load", "jax_compile_or_get_cached"):
        monkeypatch.setattr(_private, function, lambda *args: pytest.fail("a compile"))
    assert aot.get_cache_key(lower(3.0))[0]
    assert not cache.exists()


def test_what_counts_and_what_is_said(cache):
    lowered = lower()
    plain, context = aot.get_cache_key(lowered)
    assert aot.get_cache_key(lower())[0] == plain
    assert aot.get_cache_key(lower(3.0))[0] != plain
    more, said = aot.get_cache_key(lowered, extra_info=["a", "b"])
    assert said.additional_content == 'extra.extra.extra_info=["a", "b"]'
    names = {plain, more, aot.get_cache_key(lowered, ["b", "a"])[0], aot.get_cache_key(lowered, ["a:b"])[0],
             aot.get_cache_key(lowered, add_loc=True)[0]}
    assert len(names) == 5
    assert aot.get_cache_key(lowered, extra_info=[])[0] == plain

    assert "stablehlo.multiply" in context.hlo and "loc(" not in context.hlo
    assert "loc(" in aot.get_cache_key(lowered, add_loc=True)[1].hlo
    assert context.args_info.splitlines() == ["[0][0]['w']: float32[4], donated", "[0][1]: float32[4]",
                                              "[0][2]: int32[]"]
    assert f"plugin.attribute.jaxlib=string:{_private.jaxlib_version()}" in context.environment
    assert "cpu.name=" in context.environment and "placement.partitions=1" in context.environment
    assert context.additional_content is None
    assert "executable_build_options.num_partitions=1" in context.options
    assert dict(context.fields["program"])["format"] == b"mlir_bytecode"


def test_an_abstract_mesh_has_a_key_too(cache):
    sharding = NamedSharding(AbstractMesh((4,), ("x",)), P("x"))
    lowered = jax.jit(lambda x: x * 2).trace(jax.ShapeDtypeStruct((4,), jnp.float32, sharding=sharding)).lower(
        lowering_platforms=("cpu",))
    name, _ = aot.get_cache_key(lowered)
    compiled = precast.jax.compile_or_load(lowered, devices=jax.devices()[4:])
    assert name.endswith(precast.jax.report(compiled).key)


def test_a_program_without_a_key_says_why(cache, monkeypatch):
    from precast.jax import _request
    runtime = _request.runtime_of(jax.devices()[0].client)
    monkeypatch.setattr(runtime, "facts", None)
    with pytest.raises(ValueError, match="jit_scaled has no key .precast_plugin.*compiled each time"):
        aot.get_cache_key(lower())


NAMES = """
import json, sys, jax, precast.aot, programs
devices = [jax.devices()[i] for i in json.loads(sys.argv[1])]
said = {}
for name in ("axes_ab", "donation", "keywords", "static_data", "two_callbacks", "pinned_host"):
    key, context = precast.aot.get_cache_key(programs.PROGRAMS[name](devices)[0].lower())
    said[name] = [key, context.as_text()]
print(json.dumps(said))
"""


def test_equal_in_any_process_under_any_hash_seed_on_any_devices(children):
    first, second = (json.loads(children.python("-c", NAMES, ids, seed=seed))
                     for seed, ids in ((1, "[0, 1, 2, 3]"), (2, "[7, 5, 3, 1]")))
    assert first == second
    assert len({key for key, _ in first.values()}) == len(first)
