"""compile_or_load over processes: saved on devices 0-3 of 8, loaded elsewhere."""

import pytest


@pytest.fixture(scope="module")
def cold(tmp_path_factory):
    from conftest import Children
    children = Children(tmp_path_factory.mktemp("jax"))
    return children, children.ask(seed=1, devices=[0, 1, 2, 3])


def test_the_first_process_compiles_and_stores(cold):
    said = cold[1]
    assert {name: one["outcome"] for name, one in said.items()} == dict.fromkeys(said, "miss")
    assert said["donation"]["consumed"] == [True, False]
    assert said["keywords"]["tree"] == "Pair"
    assert said["ordered_callback"]["printed"] == [5.0, 6.0, ""]
    assert said["debug_print"]["printed"] == ["the sum is 6.0\n"]
    assert said["pinned_host"]["values"][0][3] == "pinned_host"
    assert said["layouts"]["values"][0][4] == [1, 0]


def test_swapped_axes_have_another_key(cold):
    said = cold[1]
    assert said["axes_ab"]["key"] != said["axes_ba"]["key"]
    assert said["axes_ab"]["values"][0][1] == said["axes_ba"]["values"][0][1]


def test_each_program_has_a_key_of_its_own(cold):
    keys = [one["key"] for one in cold[1].values()]
    assert len(set(keys)) == len(keys)


@pytest.mark.parametrize("seed, devices", [(2, [4, 5, 6, 7]), (3, [3, 2, 1, 0]), (4, [0, 2, 4, 6])])
def test_other_processes_load_on_other_devices(cold, seed, devices):
    children, first = cold
    said = children.ask(seed=seed, devices=devices, policy="offline")
    place = dict(zip([0, 1, 2, 3], devices))
    for name, one in said.items():
        assert (one["outcome"], one["reason"]) == ("hit", "none"), (name, one)
        assert one["key"] == first[name]["key"], name
        assert one["binding"] == one["stored_binding"] == first[name]["binding"], name
        assert "compile" not in one["seconds"], name
        for field in ("printed", "consumed", "tree", "output_size", "flops"):
            assert one[field] == first[name][field], (name, field)
        for got, expected in zip(one["values"], first[name]["values"], strict=True):
            assert got[:2] == expected[:2], name
            assert got[2] == sorted(place[i] for i in expected[2]), name
            assert got[3:] == expected[3:], name


def test_a_callback_is_this_processes_own(cold):
    """The program does not hold it: sin and cos look alike."""
    children, first = cold
    said = children.ask(programs=["pure_callback", "two_callbacks"], host_function="cos")
    for name, one in said.items():
        assert one["outcome"] == "hit", name
        assert one["key"] == first[name]["key"], name
    import numpy as np
    expected = (np.cos(np.arange(4.0)) + 1).astype(np.float32)
    assert np.allclose(said["pure_callback"]["values"][0][1], expected)


def test_another_partition_rule_is_another_key(cold):
    """The rule reads a global; the program does not hold it."""
    children, first = cold
    said = children.ask(programs=["custom_partitioning"], rule_factor=3.0)["custom_partitioning"]
    assert (said["outcome"], said["reason"]) == ("miss", "not_found")
    assert said["key"] != first["custom_partitioning"]["key"]
    assert said["values"][0][1] == [value * 1.5 for value in first["custom_partitioning"]["values"][0][1]]


def test_constants_as_arguments_are_found_again(children):
    """A setting of JAX that takes captured constants out of the program."""
    own = {"JAX_USE_SIMPLIFIED_JAXPR_CONSTANTS": "1"}
    wanted = {"programs": ["constant", "one_axis"]}
    cold = children.ask(environment=own, **wanted)
    warm = children.ask(environment=own, seed=5, **wanted)
    for name in wanted["programs"]:
        assert (cold[name]["outcome"], warm[name]["outcome"]) == ("miss", "hit")
        assert cold[name]["values"] == warm[name]["values"]
