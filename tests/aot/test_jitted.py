"""JittedOrCompiled, and XLA's options."""

import functools

import jax
import jax.numpy as jnp
import pytest

from precast import aot
from precast.jax import _private


def test_a_call_goes_where_it_is_told_to():
    both = aot.JittedOrCompiled(jax.jit(lambda x: x + 1), name="plus")
    assert isinstance(both, jax.stages.Wrapped)
    traced = both.trace(jnp.ones(3))
    assert isinstance(traced, jax.stages.Traced)
    lowered = both.lower(jnp.ones(3))
    assert isinstance(lowered, jax.stages.Lowered)
    assert both(jnp.ones(3))[0] == 2
    both.jitted = lowered.compile()
    assert both(jnp.ones(3))[0] == 2 and both.name() == "plus"
    with pytest.raises(TypeError):
        both(jnp.ones(4))
    assert isinstance(aot.JittedOrCompiled(traced).lower(), jax.stages.Lowered)


def test_the_name_is_the_functions():
    def step(x, y):
        return x + y
    assert aot.JittedOrCompiled(jax.jit(step)).name() == "step"
    assert aot.JittedOrCompiled(jax.jit(functools.partial(step, 1))).name() == "step"
    assert aot.JittedOrCompiled(jax.jit(step), name="other").name() == "other"

    class Model:
        def __call__(self, x):
            return x
    assert aot.JittedOrCompiled(jax.jit(Model())).name() == "Model"


def test_dump_flags_are_cleared_and_nothing_else():
    options = _private.options_for(jax.devices()[:2])
    build = options.executable_build_options
    build.debug_options.xla_cpu_enable_fast_math = True
    build.debug_options.xla_dump_to = "/somewhere"
    build.debug_options.xla_dump_hlo_pass_re = ".*"
    build.debug_options.xla_dump_hlo_as_text = True
    options.env_option_overrides = [("xla_dump_to", "/elsewhere"), ("xla_cpu_enable_fast_math", True)]
    assert aot.clear_xla_dump_flags(options) is options
    debug = build.debug_options
    assert (debug.xla_dump_to, debug.xla_dump_hlo_pass_re, debug.xla_dump_hlo_as_text) == ("", "", False)
    assert options.env_option_overrides == [("xla_cpu_enable_fast_math", True)]
    assert debug.xla_cpu_enable_fast_math
    assert _assignment(options) == _assignment(_private.options_for(jax.devices()[:2]))
    assert aot.clear_xla_dump_flags(None) is None


def _assignment(options):
    """The ids of an assignment, replicas x computations, as XLA's own message has them."""
    from jax._src.lib import xla_client
    again = xla_client.CompileOptions.ParseFromString(options.SerializeAsString())
    return again.device_assignment.serialize()


def test_an_assignment_is_remapped_by_position_column_major():
    from jax._src.lib import xla_client
    import numpy as np
    devices = jax.devices()
    options = _private.options_for(devices[:4])
    assert aot.remap_compile_options_device_assignment(options, devices[4:]) is options
    assert _assignment(options) == _assignment(_private.options_for(devices[4:]))
    # All replicas of the first computation come first.
    options.device_assignment = xla_client.DeviceAssignment.create(np.array([[0, 1, 2], [3, 4, 5]]))
    aot.remap_compile_options_device_assignment(options, devices[2:])
    wanted = xla_client.DeviceAssignment.create(np.array([[2, 4, 6], [3, 5, 7]]))
    assert _assignment(options) == wanted.serialize()
    assert aot.remap_compile_options_device_assignment(None, devices) is None
    plain = xla_client.CompileOptions()
    assert aot.remap_compile_options_device_assignment(plain, devices) is plain
