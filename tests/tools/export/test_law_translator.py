"""Laws in C++ from the source of their functions: the bits of Warp, and an error for what has no translation."""

import ctypes
import re
import subprocess
from typing import Any

import numpy as np
import pytest
import warp as wp
from cpp_compiler import FLAGS, compiler
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract import law as law_module
from isaacsim.core.experimental.actuators.laws.contract.law import within
from isaacsim.core.experimental.actuators.tools.export.c_stage import LINES
from isaacsim.core.experimental.actuators.tools.export.law_translator import Translator, UnsupportedError, functions
from refusals import cases, refused

HALF = wp.constant(0.5)


@wp.func
def pair(value: float, other: float):
    return value - other, value * other


@wp.func
def made_up(value: float, other: float, third: float) -> float:
    ordered = value <= other <= third
    odd = (not ordered and (wp.isnan(value) or wp.isfinite(third))) or value == other
    difference, product = pair(value, other + third)
    first = wp.abs(difference) if odd else -(product / third)
    first = first - (value - other) - 2.0 * (third if value > HALF else wp.inf)
    return within(first, -1e30, 1e30) if first != 3.0 else law_module.bounded(wp.nan, -2.5, 1.0)


def test_twin_of_a_made_up_law_has_its_bits(tmp_path, rng) -> None:
    translator = Translator()
    twin = translator.function(made_up)
    assert twin.reads == {"value", "other", "third"}
    assert list(translator.functions) == ["pair", "within", "bounded", "made_up"]
    text = "\n".join(function.text for function in translator.functions.values())
    file, library = tmp_path / "made_up.cpp", tmp_path / "made_up.so"
    file.write_text(f"""
#include "arithmetic.h"
namespace ACTUATORS_VARIANT {{
{text}
}}
extern "C" void call(const float* in, float* out, long count) {{
    for (long i = 0; i < count; ++i)
        out[i] = ACTUATORS_VARIANT::made_up(in[3 * i], in[3 * i + 1], in[3 * i + 2]);
}}
""")
    command = [compiler(), *FLAGS, "-DACTUATORS_VARIANT=trial", "-shared", "-fPIC", str(file), "-o", str(library)]
    subprocess.run(command, check=True)
    edges = [0.0, -0.0, 0.5, 1.0, -3.0, 1e30, np.inf, -np.inf, np.nan]
    table = np.array([(a, b, c) for a in edges for b in edges for c in edges], np.float32)
    table = np.concatenate([table, rng.normal(size=(2000, 3)).astype(np.float32)])
    found = np.zeros(len(table), np.float32)
    pointers = [array.ctypes.data_as(ctypes.POINTER(ctypes.c_float)) for array in (table, found)]
    ctypes.CDLL(str(library)).call(*pointers, ctypes.c_long(len(table)))
    kernel = law_module.generated_kernel(
        "made_up_kernel",
        "def made_up_kernel(table: wp.array2d[float], out: wp.array[float]):\n"
        "    i = wp.tid()\n    out[i] = made_up(table[i, 0], table[i, 1], table[i, 2])\n",
        {"made_up": made_up},
    )
    out = wp.zeros(len(table), dtype=wp.float32, device="cpu")
    wp.launch(kernel, len(table), [wp.array(table, dtype=wp.float32, device="cpu")], [out], device="cpu")
    expected = out.numpy()
    same = (found.view(np.int32) == expected.view(np.int32)) | (np.isnan(found) & np.isnan(expected))
    assert same.all(), (table[~same][:5], found[~same][:5], expected[~same][:5])


@wp.func
def looping(value: float) -> float:
    total = value
    for _ in range(3):
        total = total + value
    return total


@wp.func
def branching(value: float) -> float:
    if value > 0.0:
        return value
    return -value


@wp.func
def losing_nan(value: float) -> float:
    return wp.max(value, 0.0)


@wp.func
def whole_number(value: float) -> float:
    return value * 2


@wp.func
def not_a_float(value: int) -> float:
    return wp.float32(value)


@wp.func
def power(value: float) -> float:
    return value**2.0


@wp.func
def adding_up(value: float) -> float:
    value += 1.0
    return value


@wp.func
def number_for_condition(value: float) -> float:
    return value if value else 0.0


@wp.func
def condition_for_number(value: float) -> float:
    return value + (value > 0.0)


@wp.func
def pair_for_one(value: float) -> float:
    return value + pair(value, value)


@wp.func
def three_of_two(value: float) -> float:
    one, two, three = pair(value, value)
    return one + two + three


@wp.func
def taken_name(value: float) -> float:
    double = value + value
    return double


@wp.func
def too_large(value: float) -> float:
    return value * 1e39


@cases(
    "function, line, what",
    (looping, 2, "this statement"),
    (branching, 1, "this statement"),
    (losing_nan, 1, "`wp.max`"),
    (whole_number, 1, "`2`"),
    (not_a_float, 0, "not annotated as float"),
    (power, 1, r"`value \*\* 2.0`"),
    (adding_up, 1, "this statement"),
    (number_for_condition, 1, "a number where a condition is due"),
    (condition_for_number, 1, "a condition where a number is due"),
    (pair_for_one, 1, "2 results where one value is due"),
    (three_of_two, 1, "taking 2 results apart into 3 names"),
    (taken_name, 1, "the name double"),
    (too_large, 1, "beyond the range of float32"),
    ids=lambda item: getattr(item, "key", None),
)
def test_what_has_no_twin_is_refused_by_file_and_line(function: Any, line: int, what: str) -> None:
    at = function.func.__code__.co_firstlineno + 1 + line
    with pytest.raises(UnsupportedError, match=rf"test_law_translator.py, line {at}: .*{what}.*no C\+\+ twin"):
        Translator().function(function)


def test_two_functions_of_one_name_are_refused() -> None:
    """They would be one in C++."""

    @wp.func
    def within(value: float) -> float:
        return value

    translator = Translator()
    translator.function(law_module.within)
    refused(UnsupportedError, lambda: translator.function(within), r"within is also a function of .*law\.py")


def test_laws_of_carried_kinds_have_twins() -> None:
    for law in catalogue.laws():
        if law.kind in LINES and law.component.LAW is not None:
            one = law.component
            called = (one.LAW, one.PREPARE, one.MOTOR, one.FELT, one.TICK)
            assert {one.func.__name__ for one in called if one is not None} <= set(functions()), law.name


def test_nothing_of_cpp_is_left() -> None:
    for name, (results, text) in functions().items():
        returned = f"@values_{results}" if results > 1 else "float"
        assert text.startswith(f"static inline {returned} @{name}("), name
        assert not re.search(r"\bauto\b|\bV\b|splat|Values|kNaN|kInfinity|template|<V>", text), name
        assert max(map(len, text.splitlines())) <= 118, name
