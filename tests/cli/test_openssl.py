"""Digests do not depend on how OpenSSL is configured: wrong ones that are equal would be equal keys."""

import pytest

CONFIGS = {
    "only_base": "base = base_sect\n[base_sect]\nactivate = 1\n",
    "fips_that_may_not_be_there": "fips = fips_sect\nbase = base_sect\n[fips_sect]\nactivate = 1\n[base_sect]\nactivate = 1\n",
}


@pytest.mark.parametrize("config", CONFIGS)
def test_a_key_is_the_same_under_any_configuration_of_openssl(precast, tmp_path, config):
    key = precast.json("key", "add.mlir")["key"]
    path = tmp_path / "openssl.cnf"
    path.write_text("openssl_conf = init\n[init]\nproviders = providers\n[providers]\n" + CONFIGS[config])
    assert precast.json("key", "add.mlir", env={"OPENSSL_CONF": str(path)})["key"] == key
    done = precast.json("compile", "add.mlir", env={"OPENSSL_CONF": str(path)})
    assert done["outcome"] == "miss" and done["key"] == key
    assert precast.json("compile", "add.mlir")["outcome"] == "hit"
