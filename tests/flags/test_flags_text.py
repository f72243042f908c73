"""XLA_FLAGS as Precast reads it, against the effective options of a compile in a real plugin.

Every text is given to a process of its own. What is in force there stands in the executable that it
serializes, and must be what Precast's list says; where the process ends, Precast must say so.
"""

from concurrent.futures import ThreadPoolExecutor

import fields_of_flags
import pytest

FAST = b"--xla_cpu_enable_fast_math"
WIDTH = b"--xla_cpu_prefer_vector_width="
PASSES = b"--xla_disable_hlo_passes="
TEXT = b"--xla_dump_hlo_pass_re="
RTOL = b"--xla_gpu_autotune_gemm_rtol="
BUFFERS = b"--xla_gpu_enable_command_buffer="
KERNELS = b"--xla_gpu_experimental_use_collective_kernels="
ONE_SHOT = b"--xla_gpu_unsupported_use_all_reduce_one_shot_kernel"
ESTIMATOR = b"--xla_gpu_analytical_latency_estimator_options="
SCHEDULER = b"--xla_cpu_scheduler_type=CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED"
OLD_SCHEDULER = b"--xla_cpu_enable_concurrency_optimized_scheduler"

TEXTS = [
    b"",
    # Booleans.
    FAST, FAST + b"=tRuE", FAST + b"=1", FAST + b'="true"', FAST + b"='0'", FAST + b" --xla_cpu_ftz=0",
    FAST + b"=01", FAST + b"=yes", FAST + b"=t", FAST + b"=", FAST + b'=" true"',
    # Numbers.
    WIDTH + b"+128", WIDTH + b"0128", WIDTH + b'" \v128\f"', WIDTH + b"-1", WIDTH + b"-0",
    WIDTH + b"-2147483648", WIDTH + b"128 " + WIDTH + b"512",
    b"--xla_reduce_window_rewrite_base_length=9223372036854775807",
    WIDTH[:-1], WIDTH, WIDTH + b"0x80", WIDTH + b"- 1", WIDTH + b"+-1", WIDTH + b"128.0",
    WIDTH + b"2147483648", b"--xla_reduce_window_rewrite_base_length=9223372036854775808",
    RTOL + b"0.5", RTOL + b'" +.5 "', RTOL + b"5.", RTOL + b"-1e-3", RTOL + b"inf", RTOL + b"1e60",
    RTOL + b"0x1p3", RTOL + b"1e",
    # Quotes, white space, and where XLA stops.
    TEXT + b'"a b"', TEXT + b"'a b'", TEXT + b'"a\\"b\\\\c"', TEXT + b"'a\\'b'", TEXT + b"a\\ b",
    TEXT + b'"abc', TEXT + b'"abc\\', TEXT + b'a"b c"', TEXT + b'"a"b ' + FAST, TEXT + b'"a"' + FAST,
    TEXT + b'"a""b"', TEXT + b"=x", TEXT + b" " + FAST, "--xla_dump_hlo_pass_re=é".encode(),
    b"\n" + FAST + b"\r\n\t" + WIDTH + b"128 ", FAST + b" foo " + WIDTH + b"128", FAST + b" false",
    FAST + b" #x " + WIDTH + b"128", FAST + b"\v" + FAST,
    # Lists and maps.
    PASSES + b"a,b " + PASSES + b"c", PASSES + b"a,,b", PASSES, PASSES[:-1],
    b"--xla_gpu_ptx_file=a,b --xla_gpu_ptx_file=c", b'--xla_gpu_ptx_compiler_extra_flags=" a  b,c "',
    ESTIMATOR + b"rtt_us=5,new " + ESTIMATOR + b"rtt_us=6=7",
    b"--xla_gpu_experimental_cost_model_gemm_tiling_options=b=c,a,=d",
    BUFFERS + b"fusion", BUFFERS + b"+convolution,-cublas", BUFFERS, BUFFERS + b",",
    BUFFERS + b"+convolution " + BUFFERS + b"-fusion", BUFFERS + b"+convolution " + BUFFERS + b"cudnn",
    BUFFERS + b'" fusion , cublas"', BUFFERS + b"fusion,+cublas",
    b"--xla_cpu_experimental_ynn_fusion_type=-individual_dot",
    # Names of values.
    b"--xla_gpu_shape_checks=COMPILE_TIME", b"--xla_cpu_opt_preset=fast_runtime",
    b"--xla_gpu_detect_nan=warning", b"--xla_gpu_pipeline_all_gather=On",
    b"--xla_gpu_all_gather_mode=Peer", b"--xla_cpu_max_isa=avx2",
    b"--xla_gpu_enable_while_loop_unrolling=while_loop_unrolling_no_unroll",
    # Two flags for one field: their order counts.
    SCHEDULER + b" " + OLD_SCHEDULER, OLD_SCHEDULER + b" " + SCHEDULER,
    OLD_SCHEDULER + b" " + SCHEDULER + b" " + OLD_SCHEDULER + b"=0",
    ONE_SHOT + b"=false", ONE_SHOT + b"=0 " + KERNELS + b"+all_reduce",
    KERNELS + b"all_gather " + ONE_SHOT, ONE_SHOT + b" " + KERNELS + b"all_gather",
    b"--xla_gpu_executable_warn_stuck_timeout=3", b"--xla_fuel=a=1", b"--xla_cpu_use_thunk_runtime",
    # Not flags.
    b"-xla_cpu_enable_fast_math", b"-", b"--", FAST + b" --", b"--help", b"-x foo",
    b"--noxla_cpu_enable_fast_math", b"---xla_cpu_enable_fast_math", b"--xla_nonsense=1",
    b"--XLA_CPU_ENABLE_FAST_MATH", b"--xla-cpu-enable-fast-math", FAST + b"#", FAST + b";" + FAST,
    b'--"xla_cpu_enable_fast_math"', b"--xla_dump_to", "--xla_cpu_enable_fast_mathé".encode(),
]
# What ends a process although Precast cannot know: names of values, options for LLVM, and what the
# plugin was built without.
ONLY_THE_PLUGIN_KNOWS = [
    b"--xla_gpu_shape_checks=compile_time", b"--xla_gpu_shape_checks=1", b"--xla_fuel=a",
    b"--xla_backend_extra_options=no-such-option", b"--xla_backend_extra_options=",
    b"--xla_gpu_enable_libnvptxcompiler", b"--xla_gpu_experimental_max_unroll_factor=0",
    BUFFERS + b"no_such_command",
]
FILES = [
    FAST + b"\n" + WIDTH + b"128\n", FAST + b"\n# a remark\n" + WIDTH + b"128\n", b"",
    b"other/flags", b"garbage " + FAST, b"\xef\xbb\xbf" + FAST, TEXT + b"\xff\xfe",
    TEXT + b"a\0b " + FAST, FAST + b"\0 " + WIDTH + b"128", TEXT + b"\0a b\0" + FAST,
    b"--xla_cpu_enable\0_fast_math", FAST + b" \0 " + WIDTH + b"128",
    FAST + b'\0xx="1" ' + WIDTH + b"128", TEXT + b'"a\0b" ' + FAST,
]
PATHS = [b" ", b"/nonexistent/flags", b"foo", b"\v--xla_cpu_ftz", b"# --xla_cpu_ftz",
         b'"--xla_cpu_ftz"']


@pytest.fixture(scope="module")
def options(precast):
    return fields_of_flags.Options(precast.ask("options"))


@pytest.fixture(scope="module")
def base(witness):
    return witness.effective()


@pytest.fixture(scope="module")
def seen(witness, tmp_path_factory):
    """What the plugin made of every text and file, two processes at a time."""
    folder = tmp_path_factory.mktemp("flags")
    for number, content in enumerate(FILES):
        (folder / f"file{number}").write_bytes(content)
    texts = TEXTS + ONLY_THE_PLUGIN_KNOWS + PATHS
    values = texts + [f"file{number}".encode() for number in range(len(FILES))]
    with ThreadPoolExecutor(2) as pool:
        found = pool.map(lambda value: witness.effective(value, folder), values)
        return dict(zip(texts + [("file", content) for content in FILES], found))


def hold_together(options, base, answer, found):
    if found is None:
        assert answer["fatal"] or answer["unknown"], "the process ended, and Precast knows no reason"
        return
    assert not answer["fatal"] and not answer["unknown"]
    assert options.comparable(found) == fields_of_flags.apply(options, base, answer["effective"])


@pytest.mark.parametrize("text", TEXTS, ids=repr)
def test_text(precast, options, base, seen, text):
    answer = precast.flags("text", text)
    assert answer["path"] is None
    hold_together(options, base, answer, seen[text])


@pytest.mark.parametrize("content", FILES, ids=repr)
def test_file(precast, options, base, seen, content):
    hold_together(options, base, precast.flags("file", content), seen["file", content])


@pytest.mark.parametrize("text", ONLY_THE_PLUGIN_KNOWS, ids=repr)
def test_what_only_the_plugin_knows(precast, seen, text):
    answer = precast.flags("text", text)
    assert not answer["fatal"] and not answer["unknown"]
    assert seen[text] is None


@pytest.mark.parametrize("text", PATHS, ids=repr)
def test_path(precast, seen, text):
    answer = precast.flags("text", text)
    assert bytes.fromhex(answer["path"]) == text and not answer["effective"]
    assert seen[text] is None


def test_a_folder_is_an_empty_file(options, base, witness, tmp_path):
    assert options.comparable(witness.effective(bytes(tmp_path))) == options.comparable(base)


def test_equal_lists_are_equal_options(precast, options, seen):
    """Beyond the single fields: whenever Precast's lists agree, so do all options, and the reverse
    but for the names of values and floats, which stand as they were written."""
    by_list = {}
    for text in TEXTS:
        if seen[text] is None:
            continue
        found = options.comparable(seen[text])
        key = tuple(precast.flags("text", text)["effective"])
        assert by_list.setdefault(key, found) == found, text
    assert len(by_list) > 40


def test_every_known_flag_is_of_the_known_type(precast, options, base, witness):
    """One flag of each kind that the plugin has, set to another value than its default."""
    kinds = {"boolean": b"", "32-bit integer": b"=7", "64-bit integer": b"=7", "text": b"=7"}
    crash_on_purpose = {"xla_unsupported_crash_on_hlo_pass_noop_change"}
    names = [name for name, (number, kind) in sorted(options.by_name.items())
             if kind in kinds and number in base and name not in crash_on_purpose][::5]
    texts = [b"--" + name.encode() + kinds[options.by_name[name][1]] for name in names]
    with ThreadPoolExecutor(2) as pool:
        found = dict(zip(texts, pool.map(witness.effective, texts)))
    checked = 0
    for text, fields in found.items():
        if fields is None:  # an option without a flag
            continue
        checked += 1
        hold_together(options, base, precast.flags("text", text), fields)
    assert checked > len(texts) / 2
