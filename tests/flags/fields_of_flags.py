"""What DebugOptions must hold when Precast's list of effective flags is right.

Written from the meaning of the list (src/proto/flags_parse.h), and not from the code that makes it.
"""

import math
import struct

import messages

# Values of enumerations that the cases use, by the text that stands in the list.
NUMBERS = {
    "xla_gpu_shape_checks": {"IGNORE": 0, "RUNTIME": 1, "COMPILE_TIME": 2},
    "xla_gpu_detect_nan": {"none": 0, "warning": 1, "fail": 2},
    "xla_gpu_enable_while_loop_unrolling": {"WHILE_LOOP_UNROLLING_NO_UNROLL": 0},
    "xla_cpu_opt_preset": {"FAST_RUNTIME": 1, "CPU_OPT_PRESET_FAST_COMPILE": 2},
    "xla_cpu_scheduler_type": {"CPU_SCHEDULER_TYPE_MEMORY_OPTIMIZED": 1,
                               "CPU_SCHEDULER_TYPE_CONCURRENCY_OPTIMIZED": 2},
    "xla_gpu_pipeline_all_gather": {"off": 1, "on": 2},
    "xla_gpu_all_gather_mode": {"private": 1, "symmetric": 2, "peer": 3},
    "xla_gpu_enable_command_buffer": {"FUSION": 1, "CUBLAS": 2, "CUDNN": 3, "CONVOLUTION": 11},
    "xla_gpu_experimental_use_collective_kernels": {"ALL_REDUCE": 1, "ALL_GATHER": 2},
    "xla_cpu_experimental_ynn_fusion_type": {"INDIVIDUAL_DOT": 4, "DOT": 1},
}
# Flags that write another field than their name says: the field, and the number for each value.
ELSEWHERE = {
    "xla_cpu_enable_concurrency_optimized_scheduler":
        ("xla_cpu_scheduler_type", {b"true": 2, b"false": 1}),
    "xla_gpu_graph_enable_concurrent_region":
        ("xla_gpu_command_buffer_scheduling_mode", {b"true": 1, b"false": 0}),
    "xla_gpu_enable_pipelined_all_gather":
        ("xla_gpu_pipeline_all_gather", {b"true": 2, b"false": 0}),
    "xla_gpu_executable_warn_stuck_timeout":
        ("xla_gpu_executable_warn_stuck_timeout_seconds", None),
}
ONE_SHOT = "xla_gpu_unsupported_use_all_reduce_one_shot_kernel"
WITHOUT_FIELD = {"xla_fuel", "xla_cpu_use_thunk_runtime", "xla_gpu_strict_conv_algorithm_picker"}
TYPE_OF_LIST = "list of enumeration values"


class Options:
    """The options that Precast knows."""

    def __init__(self, table):
        self.by_name = {option["name"]: (option["number"], option["type"]) for option in table}
        self.by_number = {option["number"]: option["type"] for option in table}

    def comparable(self, found):
        """Fields in a form in which equal means equal: maps as dicts, lists of numbers unpacked."""
        result = {}
        for number, values in found.items():
            kind = self.by_number.get(number)
            if kind == TYPE_OF_LIST:
                result[number] = unpacked(values)
            elif kind == "map of texts":
                result[number] = dict(map(entry, values))
            else:
                result[number] = values
        return without_empty(result)


def without_empty(found):
    return {number: values for number, values in found.items() if values}


def unpacked(values):
    numbers = []
    for value in values:
        if isinstance(value, int):
            numbers.append(value)
            continue
        at = 0
        while at < len(value):
            number, at = messages.read_varint(value, at)
            numbers.append(number)
    return numbers


def entry(message):
    found = messages.fields(message)
    return found.get(1, [b""])[-1], found.get(2, [b""])[-1]


def apply_changes(numbers, names, text):
    """One occurrence of a list that can be changed with + and -."""
    elements = [element.strip() for element in text.decode().split(",") if element.strip()]
    if not text or (elements and elements[0][0] not in "+-"):
        numbers.clear()
    for element in elements:
        number = names[element.lstrip("+-")]
        if element.startswith("-"):
            if number in numbers:
                numbers.remove(number)
        elif number not in numbers:
            numbers.append(number)


def as_float(text):
    text = text.removeprefix("text:")
    number = float.fromhex(text) if "0x" in text else float(text)
    try:
        return struct.pack("<f", number)
    except OverflowError:
        return struct.pack("<f", math.copysign(math.inf, number))


def scalar(kind, name, value):
    if kind == "boolean":
        return {b"true": 1, b"false": 0}[value]
    if kind in ("32-bit integer", "64-bit integer"):
        return int(value) & (1 << 64) - 1
    if kind == "number":
        return as_float(value.decode())
    if kind == "enumeration":
        return NUMBERS[name][value.decode()]
    return value


def apply(options, base, flags):
    """The fields of a compile under flags, from those of a compile without any."""
    found = {number: list(values) if isinstance(values, list) else dict(values)
             for number, values in options.comparable(base).items()}
    for name, value in flags:
        if name in WITHOUT_FIELD:
            continue
        if name == ONE_SHOT:
            number, _ = options.by_name["xla_gpu_experimental_use_collective_kernels"]
            apply_changes(found.setdefault(number, []), {"ALL_REDUCE": 1},
                          b"+ALL_REDUCE" if value == b"true" else b"-ALL_REDUCE")
            continue
        if name in ELSEWHERE:
            field, numbers = ELSEWHERE[name]
            found[options.by_name[field][0]] = [numbers[value] if numbers else int(value)]
            continue
        number, kind = options.by_name[name]
        if kind == TYPE_OF_LIST:
            apply_changes(found.setdefault(number, []), NUMBERS[name], value)
        elif kind == "map of texts":
            key, _, rest = value.partition(b"=")
            found.setdefault(number, {})[key] = rest
        elif kind == "list of texts":
            found.setdefault(number, []).append(value)
        else:
            found[number] = [scalar(kind, name, value)]
    return without_empty(found)
