"""When the plugin reads XLA_FLAGS."""

import messages

WIDTH = 308
PASSES = 30
COMPILE = {"options": messages.ONE_DEVICE.hex()}


def values(answers, number):
    return [messages.fields(bytes.fromhex(answer["options"])).get(number) for answer in answers]


def test_the_first_client_reads_the_flags_and_nothing_later_does(witness):
    answers = witness.run(
        [COMPILE, {"environment": "--xla_cpu_prefer_vector_width=512"}, COMPILE, {"client": True},
         COMPILE], flags=b"--xla_cpu_prefer_vector_width=128")
    assert values(answers, WIDTH) == [[128]] * 3


def test_a_later_flag_that_would_end_the_process_does_not(witness):
    answers = witness.run([COMPILE, {"environment": "--no_such_flag"}, {"client": True}, COMPILE])
    assert len(answers) == 2


def test_xla_flags_reset_reads_them_again(precast, witness):
    """With this flag there is no snapshot: every compile reads the environment, on top of what was
    there before, so that lists grow from one compile to the next."""
    flags = b"--xla_flags_reset --xla_cpu_prefer_vector_width=128 --xla_disable_hlo_passes=a"
    later = "--xla_flags_reset --xla_cpu_prefer_vector_width=512"
    answers = witness.run([COMPILE, COMPILE, {"environment": later}, COMPILE], flags=flags)
    assert values(answers, WIDTH) == [[128], [128], [512]]
    first, second, _ = values(answers, PASSES)
    assert len(second) > len(first) > 1
    assert precast.flags("text", flags)["again"]
