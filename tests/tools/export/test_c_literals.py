"""Numbers, strings, comments and long lines of C."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.export.c_literals import c_float, c_string, in_comment, wrapped
from refusals import cases


@cases(
    "value, text",
    (0.1, "0.1f"),
    (80, "80.0f"),
    (-0.0, "-0.0f"),
    (1e-5, "1e-05f"),
    (np.inf, "INFINITY"),
    (-np.inf, "-INFINITY"),
    (np.nan, "NAN"),
)
def test_numbers(value, text) -> None:
    assert c_float(value) == text


def test_numbers_keep_their_bits() -> None:
    bits = np.random.default_rng(3).integers(0, 2**32, 20000, np.uint32)
    bits[:100] &= np.uint32(0x807FFFFF)
    numbers = bits.view(np.float32)
    numbers = numbers[np.isfinite(numbers)]
    assert np.float32([c_float(one).removesuffix("f") for one in numbers]).tobytes() == numbers.tobytes()


def test_strings() -> None:
    assert c_string('a"b ?@é\\') == '"a\\042b\\040\\077\\100\\303\\251\\134"'


def test_comments() -> None:
    assert in_comment("a */ b\n/* @c") == "a * / b / * (at)c"


def test_long_lines() -> None:
    line = f"    f({', '.join(f'float argument_{n}' for n in range(12))});"
    lines = wrapped(line).splitlines()
    assert all(len(one) <= 118 for one in lines) and len(lines) == 3
    assert not any(one.endswith("float") for one in lines) and " ".join(one.strip() for one in lines) == line.strip()
    assert wrapped("#define A " + "b " * 80) == "#define A " + "b " * 80
