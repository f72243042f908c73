"""The private names of JAX, in the version that runs the tests."""

import jax
import pytest
from precast.jax import _private


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
