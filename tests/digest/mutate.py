"""Changes to a program's text that may make another program: one place at a time, at random.

Whether a change gives a valid program is for MLIR to say.
"""

import re
import string as characters

LETTERS = characters.ascii_lowercase

# Operations that take and give the same types.
ALIKE = [
    "add subtract multiply divide maximum minimum power remainder atan2".split(),
    "sine cosine tanh exponential log sqrt rsqrt negate abs floor ceil sign cbrt tan logistic".split(),
    "and or xor".split(),
]
WORDS = [
    "DEFAULT HIGH HIGHEST".split(),
    "EQ NE LT LE GT GE".split(),
    "FLOAT TOTALORDER SIGNED UNSIGNED".split(),
    "true false".split(),
    "FFT IFFT RFFT IRFFT".split(),
    "THREE_FRY PHILOX".split(),
    "public private".split(),
]


def _replace(text, match, new):
    return text[: match.start()] + new + text[match.end() :]


def _pick(random, pattern, text):
    matches = list(re.finditer(pattern, text))
    return random.choice(matches) if matches else None


def operation(random, text):
    match = _pick(random, r"(?<=stablehlo\.)\w+", text)
    group = match and next((g for g in ALIKE if match[0] in g), None)
    return group and _replace(text, match, random.choice(group))


def word(random, text):
    match = _pick(random, r"\b(%s)\b" % "|".join(w for g in WORDS for w in g), text)
    group = match and next(g for g in WORDS if match[0] in g)
    return group and _replace(text, match, random.choice(group))


def whole_number(random, text):
    """In an attribute or a constant; not in a type, a name of a value or a hexadecimal string."""
    match = _pick(random, r"(?<![\w.%#@x\"-])\d{1,6}(?![\w.])", text)
    return match and _replace(text, match, str(max(0, int(match[0]) + random.choice([-1, 1, 2]))))


def float_number(random, text):
    match = _pick(random, r"\d\.\d+(?=[eE])", text)
    return match and _replace(text, match, f"{random.uniform(1, 9.9):.6f}")


def sign(random, text):
    match = _pick(random, r"dense<(-?)(?=\d)", text)
    return match and _replace(text, match, "dense<" if match[1] else "dense<-")


def hexadecimal(random, text):
    match = _pick(random, r"(?<=[0-9A-F]{8})[0-9A-F](?=[0-9A-F]{4})", text)
    return match and _replace(text, match, random.choice("0123456789ABCDEF"))


def dimension(random, text):
    """Everywhere, so that shapes still agree."""
    sizes = sorted(set(re.findall(r"(?<=[<x])\d+(?=x)", text)))
    if not sizes:
        return None
    size = random.choice(sizes)
    return re.sub(rf"(?<=[<x]){size}(?=x)", str(int(size) + random.randint(1, 5)), text)


def element_type(random, text):
    types = sorted(set(re.findall(r"\b(?:f16|bf16|f32|f64|i8|i16|i32|i64|ui8|ui32|ui64)\b", text)))
    if not types:
        return None
    new = random.choice("f16 bf16 f32 f64 i16 i32 i64 ui32".split())
    return re.sub(rf"\b{random.choice(types)}\b", new, text)


def operand(random, text):
    """Two operands change places, or one becomes another value."""
    match = _pick(random, r"(%[\w#]+), (%[\w#]+)(?! *:[^:]*\bloc)", text)
    if match and random.random() < 0.6:
        return _replace(text, match, f"{match[2]}, {match[1]}")
    values = re.findall(r"%\w+", text)
    match = _pick(random, r"(?<=[ (])%\w+(?=[ ,):])", text)
    return match and _replace(text, match, random.choice(values))


def string(random, text):
    match = _pick(random, r'(?<=")[\w ./-]+(?=")', text)
    if not match:
        return None
    others = re.findall(r'(?<=")[\w ./-]+(?=")', text)
    return _replace(text, match, random.choice([match[0] + random.choice(LETTERS), random.choice(others)]))


def name(random, text):
    """A function's or a mesh's name, everywhere."""
    names = sorted(set(re.findall(r"@(\w*[A-Za-z])\b(?!_)", text)))
    if not names:
        return None
    return re.sub(rf"@{random.choice(names)}\b", "@renamed" + random.choice(LETTERS) + random.choice(LETTERS), text)


def callee(random, text):
    names = sorted(set(re.findall(r"func private @(\w+)", text)))
    match = _pick(random, r"(?<=call @)\w+", text)
    return match and names and _replace(text, match, random.choice(names))


def attribute(random, text):
    """A new discardable attribute, on the module or a function's argument."""
    new = f"jax.{random.choice(LETTERS)} = {random.randint(0, 99)} : i32"
    match = _pick(random, r"(?<=attributes \{)(?=\w)|(?<=> \{)(?=jax|mhlo|sdy)", text)
    if match:
        return _replace(text, match, new + ", ")
    match = re.search(r"(?<=^module @)(\w+) \{", text, re.M)
    return match and _replace(text, match, f"{match[1]} attributes {{{new}}} {{")


def axis(random, text):
    """Two neighbours of a list change places: axes, dimensions, device ids."""
    match = _pick(random, r'(?<=[\[{])("\w+"|\{[^{}]*\}|\d+), ("\w+"|\{[^{}]*\}|\d+)', text)
    return match and _replace(text, match, f"{match[2]}, {match[1]}")


def drop(random, text):
    """A line is gone."""
    lines = text.split("\n")
    del lines[random.randrange(len(lines))]
    return "\n".join(lines)


KINDS = [
    operation, word, whole_number, float_number, sign, hexadecimal, dimension, element_type,
    operand, string, name, callee, attribute, axis, drop,
]  # fmt: skip


def mutants(random, text):
    """Texts that differ from `text` in one place, without end."""
    while True:
        kind = random.choice(KINDS)
        changed = kind(random, text)
        if changed and changed != text:
            yield kind.__name__, changed
