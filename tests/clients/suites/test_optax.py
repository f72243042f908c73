"""optax's own tests on JAX: the same on the plugin, and through the wrapper cold and warm.

They run thousands of small programs, most of them one operation each. All of them would take half an hour: a few
in `make test`, more in `make test-long`. Not those that draw the shapes of their arrays anew each time
(losses/_regression_test.py): other programs are no hits.
"""

import os

import pytest
from suite import differences, outcomes_of, sources

OPTAX = sources("optax")
SOME = ["_src/update_test.py", "transforms/_adding_test.py"]
MORE = [*SOME, "_src/numerics_test.py", "_src/factorized_test.py", "_src/base_test.py", "_src/utils_test.py",
        "_src/combine_test.py", "losses/_fenchel_young_test.py", "losses/_ranking_test.py",
        "losses/_self_supervised_test.py", "losses/_smoothing_test.py", "projections", "schedules/_inject_test.py",
        "schedules/_join_test.py", "transforms/_clipping_test.py", "tree_utils/_tree_math_test.py"]
LONG = bool(os.environ.get("PRECAST_LONG"))
MODES = {"bare": False, "cold": True, "warm": True}


@pytest.fixture(scope="module")
def host(new_host):
    return new_host()


@pytest.fixture(scope="module")
def suites(host):
    tests = [f"optax/{name}" for name in (MORE if LONG else SOME)]
    return {mode: outcomes_of(host, wrapped, OPTAX, tests,
                              {"PJRT_NAMES_AND_LIBRARY_PATHS": f"theirs:{host.library(wrapped)}",
                               "JAX_PLATFORMS": "theirs"},
                              [sources("absl_py"), OPTAX])
            for mode, wrapped in MODES.items()}


def test_there_are_tests_and_most_pass(suites):
    outcomes, _ = suites["bare"]
    assert len(outcomes) >= (250 if LONG else 9)
    assert sum(outcome == "passed" for outcome in outcomes.values()) > 0.9 * len(outcomes)


@pytest.mark.parametrize("mode", ["cold", "warm"])
def test_the_same_pass_and_fail(suites, mode):
    assert differences(suites["bare"][0], suites[mode][0]) == {}


def test_cold_it_was_compiled_and_warm_it_was_loaded(suites, host):
    cold, warm = suites["cold"][1], suites["warm"][1]
    assert len(host.entries()) >= cold["misses"] > (100 if LONG else 30)
    assert warm["misses"] == warm["skips"] == 0, warm
    assert cold["hits"] + cold["misses"] == warm["hits"]
