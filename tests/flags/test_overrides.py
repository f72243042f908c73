"""Overrides of options by effect, against what a real plugin makes of them.

Two overrides of one option have one text exactly when the plugin makes the same options of both. A
value that the plugin refuses is no other value's equal.
"""

import fields_of_flags
import messages
import pytest

TEXT, BOOLEAN, INTEGER, REAL = 1, 2, 3, 4

VALUES = {
    "xla_cpu_enable_fast_math": [
        (BOOLEAN, 1), (BOOLEAN, 5), (BOOLEAN, 0), (TEXT, "True"), (TEXT, "False"), (TEXT, "true"),
        (TEXT, "1"), (INTEGER, 1), (REAL, 1.0)],
    "xla_cpu_prefer_vector_width": [
        (INTEGER, 128), (TEXT, "128"), (TEXT, " +0128 "), (INTEGER, -1), (TEXT, "-1"),
        (INTEGER, 1 << 32), (TEXT, "4294967296"), (REAL, 128.0), (BOOLEAN, 1), (TEXT, "")],
    "xla_reduce_window_rewrite_base_length": [
        (INTEGER, 5), (TEXT, "5"), (INTEGER, (1 << 63) - 1), (TEXT, "9223372036854775807"),
        (TEXT, "9223372036854775808"), (INTEGER, -5)],
    "xla_gpu_autotune_gemm_rtol": [
        (REAL, 0.5), (TEXT, "0.5"), (TEXT, "5e-1"), (TEXT, " +.5 "), (TEXT, "0"), (TEXT, "-0"),
        (REAL, 0.0), (REAL, -1.0), (TEXT, "-1"), (TEXT, "inf"), (TEXT, "INFINITY"), (REAL, 0.1),
        (TEXT, "0.1"), (TEXT, "0.09999999776"), (TEXT, "nan"), (TEXT, "nan(1)"), (TEXT, "-nan"),
        (TEXT, "1e-40"), (TEXT, "1e"), (TEXT, ""), (INTEGER, 1), (REAL, 1e39), (REAL, 1e-40)],
    "xla_gpu_shape_checks": [
        (TEXT, "RUNTIME"), (TEXT, "1"), (INTEGER, 1), (TEXT, "COMPILE_TIME"), (TEXT, " 2 "),
        (INTEGER, (1 << 32) + 2), (TEXT, "IGNORE"), (INTEGER, 77), (TEXT, "77"), (TEXT, ""),
        (BOOLEAN, 1)],
    "xla_dump_hlo_pass_re": [
        (TEXT, ""), (TEXT, "a,b"), (TEXT, "a"), (TEXT, "refused:0x1801"), (TEXT, "text:a"),
        (INTEGER, 1)],
    "xla_disable_hlo_passes": [
        (TEXT, "a,b"), (TEXT, "b,a"), (TEXT, "a"), (TEXT, ""), (TEXT, ","), (TEXT, "a,"),
        (INTEGER, 1)],
    "xla_gpu_disable_async_collectives": [
        (TEXT, "ALLREDUCE,REDUCESCATTER"), (TEXT, "1,3"), (TEXT, "ALLREDUCE"), (INTEGER, 1),
        (TEXT, ""), (TEXT, "+1"), (TEXT, "ALLREDUCE,"), (TEXT, "77, 78"), (BOOLEAN, 1)],
    "xla_gpu_analytical_latency_estimator_options": [(TEXT, ""), (TEXT, "a=b"), (INTEGER, 1)],
    "xla_enable_nccl_symmetric_buffers_for_collectives": [(TEXT, ""), (TEXT, "allreduce")],
}


def override(name, value):
    entry = messages.field(1, name) + messages.field(2, value)
    return messages.ONE_DEVICE + messages.field(7, entry)


@pytest.mark.parametrize("name", VALUES)
def test_one_text_for_one_effect(precast, witness, name):
    encoded = [messages.field(kind, value) for kind, value in VALUES[name]]
    answers = witness.run([{"options": override(name, value).hex()} for value in encoded])
    effects = [bytes.fromhex(precast.ask("override", name, value)["effect"]) for value in encoded]
    for value, answer, effect in zip(VALUES[name], answers, effects):
        assert effect.startswith(b"refused:") == ("error" in answer), (value, answer, effect)
    options = fields_of_flags.Options(precast.ask("options"))
    outcomes = [options.comparable(messages.fields(bytes.fromhex(answer["options"])))
                if "options" in answer else f"refused {number}"
                for number, answer in enumerate(answers)]
    for a, first in enumerate(VALUES[name]):
        for b, second in enumerate(VALUES[name]):
            same = outcomes[a] == outcomes[b]
            assert (effects[a] == effects[b]) == same, (first, second, effects[a], effects[b])


def test_an_explicit_zero_is_not_an_absent_option(witness):
    """Why presence counts in the debug options: under the preset for fast compiles, XLA chooses the
    optimization level itself unless one is given, and a given zero is one."""
    preset, level = 467, 31
    (answer,) = witness.run([{"options": messages.ONE_DEVICE.hex()}])
    absent = messages.without(bytes.fromhex(answer["options"]), level) + messages.field(preset, 2)
    answers = witness.run([
        {"options": messages.field(3, messages.field(4, 1) + messages.field(5, 1)
                                   + messages.field(3, debug_options)).hex()}
        for debug_options in (absent, absent + messages.field(level, 0))])
    assert answers[0]["code"] != answers[1]["code"]
