"""Protobuf messages without protobuf: fields by number, and the effective options of a compile."""

import struct

# CompileOptionsProto with one replica and one partition.
ONE_DEVICE = bytes.fromhex("1a0420012801")
# One kernel, so that there is code to compare.
PROGRAM = """module {
  func.func public @main(%a: tensor<64xf32>) -> tensor<64xf32> {
    %0 = stablehlo.tanh %a : tensor<64xf32>
    return %0 : tensor<64xf32>
  }
}"""


def varint(number):
    number &= (1 << 64) - 1
    out = bytearray()
    while number > 127:
        out.append(number & 127 | 128)
        number >>= 7
    return bytes(out) + bytes([number])


def field(number, value):
    """An int as a varint, a float as a double, bytes and text with their length."""
    if isinstance(value, float):
        return varint(number << 3 | 1) + struct.pack("<d", value)
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    value = value.encode() if isinstance(value, str) else value
    return varint(number << 3 | 2) + varint(len(value)) + value


def read_varint(message, at):
    number = shift = 0
    while True:
        byte = message[at]
        number |= (byte & 127) << shift
        shift += 7
        at += 1
        if byte < 128:
            return number, at


def read(message):
    """(number, value, the field's own bytes) of each field; varints as ints, the rest as bytes."""
    at = 0
    while at < len(message):
        start = at
        tag, at = read_varint(message, at)
        kind = tag & 7
        if kind == 0:
            value, at = read_varint(message, at)
        else:
            size = {1: 8, 5: 4}.get(kind)
            if size is None:
                assert kind == 2, f"wire type {kind}"
                size, at = read_varint(message, at)
            value, at = message[at:at + size], at + size
        yield tag >> 3, value, message[start:at]


def fields(message):
    """{number: [values]}"""
    found = {}
    for number, value, _ in read(message):
        found.setdefault(number, []).append(value)
    return found


def without(message, dropped):
    return b"".join(raw for number, _, raw in read(message) if number != dropped)


def effective_options(serialized):
    """The DebugOptions of a serialized CPU executable, as bytes."""
    for number in (1, 1, 2, 14):
        serialized = fields(serialized)[number][-1]
    return serialized


def object_code(serialized):
    """The object files of a serialized CPU executable."""
    return b"".join(fields(fields(serialized)[1][-1])[8])


class Encoded:
    """Compile options for pypjrt, already encoded."""

    def __init__(self, message):
        self.message = message

    def encode(self, _abi):
        return self.message
