"""The private names of JAX, in the version that runs the tests."""

import collections

import jax
import pytest
from precast import _precast
from precast.jax import _private, _program


def test_this_version_is_known():
    _private.check_version(jax.__version__)


@pytest.mark.parametrize("version", ["0.9.1", "0.13.0", "1.0.0"])
def test_another_version_is_refused_by_name(version):
    with pytest.raises(ImportError, match=f"does not know jax {version}.*0.10.x.*path"):
        _private.check_version(version)


def test_what_a_backend_says(tmp_path):
    backend = jax.devices()[0].client
    facts = _private.backend_facts(backend)
    assert facts["library"].endswith(".so")
    assert facts["attributes"]["jax"] == jax.__version__
    assert len(facts["devices"]) == jax.device_count()
    assert _private.is_built_in(backend)
    assert b"x86_64" in _private.sample(backend) or b"aarch64" in _private.sample(backend)


def test_the_topology_names_the_cpu_that_a_sample_was_compiled_for():
    backend = jax.devices()[0].client
    topology, sample = _private.topology(backend), _private.sample(backend)
    assert (topology == b"") == jax.__version__.startswith("0.10.")

    def cpu(**said):
        facts = _precast.Facts(name="jax", binds_callbacks=True, **_private.backend_facts(backend),
                               **{"topology": b"", "sample": b"", **said})
        lowered = jax.jit(lambda x: x + 1).lower(1.0)
        options = _private.options_bytes(_private.options_for(jax.devices()[:1]))
        return _precast.Cache(disabled=True).key(facts, _program.program_bytes(lowered.compiler_ir()), "f", options,
                                                 {})["fields"].get("cpu")
    assert cpu(sample=sample)
    assert cpu(topology=topology) == (cpu(sample=sample) if topology else None)


def test_jaxlibs_header_is_a_length_and_a_message():
    assert _private.split_header(b"\x03\x08\x03\x12rest") == (b"\x03\x08\x03\x12", b"rest")
    long = b"\x08" + bytes(199)
    assert _private.split_header(b"\xc8\x01" + long + b"rest") == (b"\xc8\x01" + long, b"rest")
    for wrong in (b"", b"\x03\x08\x03", b"\x00rest", b"\x03\x12\x03\x12rest", b"\xff" * 9):
        with pytest.raises(ValueError, match="header"):
            _private.split_header(wrong)


def test_the_built_in_backend_is_no_plugin():
    with pytest.raises(LookupError, match="how it opened"):
        _private.plugin_of(jax.devices()[0].client)


def test_ordered_effects_are_seen():
    def noted(x):
        jax.experimental.io_callback(lambda v: None, None, x, ordered=True)
        return x
    assert _private.takes_tokens(jax.jit(noted).lower(1.0).compiler_ir())
    assert not _private.takes_tokens(jax.jit(lambda x: x).lower(1.0).compiler_ir())


def test_only_known_crashes_are_refused():
    def noted(x):
        jax.experimental.io_callback(lambda v: None, None, x, ordered=True)
        return x
    module = jax.jit(noted).lower(1.0).compiler_ir()
    refused = _private.crashes_on_serialize(module, [0, 1], [len])
    assert (refused is not None) == jax.__version__.startswith("0.10.")
    assert _private.crashes_on_serialize(module, [0], [len]) is None
    assert _private.crashes_on_serialize(module, [0, 1], []) is None


def _lowered():
    return jax.jit(lambda state, x, unused: ({"w": state["w"] + x}, x.sum()), donate_argnums=0).lower(
        {"w": jax.numpy.ones(4)}, 1.0, 2.0)


def test_a_lowering_anew_is_the_same_program_in_another_object():
    lowered = _lowered()
    again = _private.lowered_anew(lowered, jax.devices()[:1], lambda value: value)
    assert again.compiler_ir() is not lowered.compiler_ir()
    for debug_info in (False, True):
        assert again.as_text(debug_info=debug_info) == lowered.as_text(debug_info=debug_info)
    assert _private.module_name(again.compiler_ir()) == _private.module_name(lowered.compiler_ir())
    assert _private.program_bytes(again.compiler_ir()) == _private.program_bytes(lowered.compiler_ir())
    assert _private.devices_of_lowering(again) == _private.devices_of_lowering(lowered) == (jax.devices()[0],)
    assert _private.device_count(again) == 1 and _private.backend_of(again) is jax.devices()[0].client
    assert again.compile()({"w": jax.numpy.ones(4)}, 1.0, 2.0)[1] == 1.0


def test_what_a_lowering_and_a_compiled_say():
    lowered = _lowered()
    assert _private.program_name(lowered) == _private.program_name(lowered.compile()) == "jit(<lambda>)"
    assert _private.devices_of_compiled(lowered.compile()) == (jax.devices()[0],)
    assert _private.has_executable(lowered.compile()) and _private.is_for_xla(lowered)
    assert not _private.has_executable(lowered) and not _private.is_for_xla(lowered.compile())


def test_references_are_seen():
    reference = jax.new_ref(jax.numpy.zeros(2))
    assert not _private.writes_references(_lowered())

    def write(x):
        reference[...] = x
        return x
    assert _private.writes_references(jax.jit(write).lower(jax.numpy.ones(2)))


def test_which_options_there_are():
    backend = jax.devices()[0].client
    assert _private.lacks_option(backend, "xla_no_such_option", "1")
    assert not _private.lacks_option(backend, "xla_cpu_enable_fast_math", True)


def test_jaxs_own_cache_is_seen(tmp_path):
    assert not _private.uses_own_cache()
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        assert _private.uses_own_cache()
    finally:
        jax.config.update("jax_compilation_cache_dir", None)


def test_xlas_own_shardings_move():
    from jax._src.sharding_impls import GSPMDSharding
    devices = jax.devices()[:1]
    sharding = GSPMDSharding.get_replicated(devices, memory_kind="device")
    moved = _private.gspmd_on(sharding, devices)
    assert moved == sharding and moved.memory_kind == "device"
    assert _private.gspmd_on(jax.sharding.SingleDeviceSharding(devices[0]), devices) is None


def test_a_traced_remembers_its_function_unless_it_has_static_arguments():
    function = jax.jit(lambda x: x)
    assert _private.function_of(function.trace(1.0)) is function
    static = jax.jit(lambda x, y: x, static_argnums=1)
    assert _private.function_of(static.trace(1.0, 2)) is None
    assert _private.function_of(object.__new__(jax.stages.Traced)) is None


def test_remembering_leaves_no_trace_in_locations():
    text = jax.jit(lambda x: x + 1).trace(1.0).lower().compiler_ir().operation.get_asm(enable_debug_info=True)
    assert "jax/_private/" not in text and "test_private.py" in text


def test_how_an_executable_is_called():
    lowered = jax.jit(lambda x, unused: {"y": x + 1}, donate_argnums=0).lower(jax.numpy.ones(4), 2)
    before, after = _private.calling_of_lowered(lowered), _private.calling_of_compiled(lowered.compile())
    assert before._replace(in_shardings=0, out_shardings=0, in_layouts=0, out_layouts=0) == \
        after._replace(in_shardings=0, out_shardings=0, in_layouts=0, out_layouts=0)
    assert before.kept == {0} and before.donated == [True, False]
    assert before.in_shardings[1] is None and _private.is_unspecified(before.out_shardings[0])
    assert after.out_layouts[0].major_to_minor == (0,)


def test_a_call_is_handed_on_to_other_trees_of_the_same_executable():
    lowered = jax.jit(lambda x: x[0] + 1).lower((1.0,))
    compiled, other = lowered.compile(), jax.jit(lambda x: x[0] + 1).lower([1.0])
    again = _private.rebound(compiled, other)
    assert again([2.0]) == 3 and _private.copy_of(compiled)((2.0,)) == 3
    _private.dispatch_to(compiled, again)
    assert compiled([4.0]) == 5
    assert again.runtime_executable() is compiled.runtime_executable()


def test_rules_of_custom_partitioning_are_found_by_what_stands_in_the_program(children):
    # In a process of eight devices: on one JAX makes no such call.
    assert children.python("-c", """
import jax, programs
from precast.jax import _private
stage, _, _ = programs.PROGRAMS["custom_partitioning"](jax.devices())
module, found = stage.lower().compiler_ir(), []
before = str(module)
renamed = _private.replace_partition_rules(module, lambda address: found.append(address) or "rule")
[address] = found
assert address in before and str(module) == before
assert address.encode() not in renamed and _private.PARTITIONING_CALL.encode() in renamed
rule = _private.partition_rule(address)
assert rule["partition"] is programs._partition and rule["decode"][0] is True
assert _private.partition_rule("12") is None
print("found")
""") == "found\n"


def test_settings_and_the_context_of_tracing():
    assert {"jax_enable_x64", "jax_default_matmul_precision"} <= set(_private.settings())
    assert not [name for name in _private.settings() if "cache_dir" in name]
    with jax.default_matmul_precision("float32"):
        assert _private.settings()["jax_default_matmul_precision"] == "float32"
    assert _private.trace_context() == _private.trace_context()
    settings = _private.without_source(_private.jit_parts(jax.jit(len, donate_argnums=0))[1])
    assert settings["donate_argnums"] == (0,)
    assert isinstance(jax.jit(len), _private.JITTED)


def test_classes_that_jax_takes_apart_are_known():
    kinds = [type("Node", (base,), {}) for base in (object, dict, list, tuple)]
    assert [_private.is_node_type(kind) for kind in kinds] == [False] * 4
    for kind in kinds:
        jax.tree_util.register_pytree_node(kind, lambda node: ((), None), lambda static, children: None)
    assert [_private.is_node_type(kind) for kind in kinds] == [True] * 4
    failing = type("Failing", (), {})
    jax.tree_util.register_pytree_node(failing, lambda node: ((node.x,), None), lambda static, children: None)
    assert _private.is_node_type(failing)


def test_names_of_results_are_taken_for_a_moment():
    named = jax.jit(lambda x: {"a": x + 1, "b": x}).lower(1.0).compiler_ir()
    before = str(named)
    assert "jax.result_info" in before
    assert b"result_info" not in _private.program_bytes(named)
    assert str(named) == before
    undo = _private.take_result_names(named.operation)
    assert "jax.result_info" not in str(named)
    undo()
    assert str(named) == before


def test_functions_of_the_host_are_found_again():
    def mine(value, *, more):
        return value + more

    def step(x):
        y = jax.pure_callback(mine, x, x, more=x)
        jax.experimental.io_callback(mine, x, y, more=x, ordered=True)
        jax.debug.callback(print, y)
        jax.debug.print("{}", y)
        return y
    found = _private.host_callbacks(jax.jit(step).lower(1.0).compile())
    assert [(one.kind, one.ordered, len(one.results)) for one in found] == \
        [("pure", False, 1), ("io", True, 1), ("debug", False, 0), ("debug", False, 0)]
    assert [_private.callback_name(one.function).rpartition(".")[2] for one in found] == \
        ["mine", "mine", "print", "print"]
    assert _private.callback_name(found[3].function) == "jax.debug.print"
    assert found[0].in_tree == jax.tree.structure(((0,), {"more": 0}))


def test_nodes_of_trees_are_made_of_their_parts():
    tree = collections.OrderedDict(b=1, a=2)
    children, static = _private.flatten_node(tree)
    assert _private.node_structure(collections.OrderedDict, static, len(children)).unflatten(children) == tree
    assert _private.flatten_node(3) is None
