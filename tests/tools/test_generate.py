"""What is generated is up to date; the C++ twins of laws build without Warp, and say what has none."""

from __future__ import annotations

import ctypes
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any, ClassVar

import api_pages
import generate
import laws_header
import numpy as np
import public_names
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Clamping, MaxEffortClampingConfig
from isaacsim.core.experimental.actuators.components import catalogue
from isaacsim.core.experimental.actuators.components import law as law_module
from isaacsim.core.experimental.actuators.components.law import within
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from other_laws import replace_laws
from places import REPOSITORY

FLAGS = ["-std=c++17", "-O3", "-Wall", "-Werror", "-ffp-contract=off", f"-I{REPOSITORY / 'native'}"]
HALF = wp.constant(0.5)


def compiler() -> str:
    """A C++ compiler; without one the test is skipped."""
    found = shutil.which("g++") or shutil.which("clang++")
    if found is None:
        pytest.skip("there is no C++ compiler")
    return found


@pytest.mark.slow
def test_all_that_is_generated_is_up_to_date() -> None:
    """A change of a law, a config or a public name is a change of what follows from it.

    In a process of its own, for tests before this one may have put attributes on classes.
    """
    command = [sys.executable, generate.__file__, "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun ./python.sh tools/generate.py"


def test_checking_writes_nothing(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: Any) -> None:
    """And its exit status says whether anything is stale."""
    file = tmp_path / "generated"
    monkeypatch.setattr(laws_header, "outputs", lambda: {file: "text"})
    # what is checked in is left alone
    monkeypatch.setattr(generate, "PIECES", (laws_header,))
    monkeypatch.setattr("sys.argv", ["generate.py", "--check"])
    assert generate.main() == 1 and "stale" in capsys.readouterr().out and not file.exists()
    monkeypatch.setattr("sys.argv", ["generate.py"])
    assert generate.main() == 0 and file.read_text() == "text"
    monkeypatch.setattr("sys.argv", ["generate.py", "--check"])
    assert generate.main() == 0


def test_page_without_its_marker_is_refused() -> None:
    """Rather than leaving a law out."""
    with pytest.raises(ValueError, match="generated: laws"):
        public_names.overview("no marker")


def test_overview_has_every_kind_of_stage() -> None:
    """In the order in which stages act, with what each does."""
    rows = re.findall(r"^\| ([a-z ]+) \| .+ \| `\w+", public_names.OVERVIEW.read_text("utf-8"), re.MULTILINE)
    assert rows == [kind.replace("_", " ") for kind in KINDS]
    assert list(public_names.STAGES) == list(KINDS)


def test_room_without_a_page_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """The API reference leaves no public name out."""
    monkeypatch.delitem(api_pages.ROOMS, "sharding")
    with pytest.raises(ValueError, match="Shard is in room sharding: must be a room of ROOMS"):
        api_pages.index()


@pytest.mark.parametrize("variant", ["baseline", "avx2"])
def test_header_builds_without_warp(variant: str, tmp_path: Path) -> None:
    """For numbers and for vectors of them, in the namespace of any instruction set."""
    file = tmp_path / "all.cpp"
    file.write_text(f"""
#include "generated_laws.h"
#if defined(__GNUC__)
typedef float Lanes __attribute__((vector_size(32)));
using namespace {variant};
Values<Lanes, 3> row(Lanes q, Lanes a) {{ return curve_row(q, a, a, a, a, a, a); }}
Lanes value(Lanes q, Lanes a) {{ return curve_value(q, a, a, a); }}
Lanes limited(Lanes x, Lanes a) {{ return dc_motor_clamp(x, a, a, a, a, a); }}
#endif
static_assert({variant}::Controllers::kCount >= 2 && {variant}::EffortStages::kCount >= 3, "laws are missing");
""")
    command = [compiler(), *FLAGS, f"-DACTUATORS_VARIANT={variant}", "-Wno-psabi", "-fsyntax-only", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


# ---- the translation of made-up laws


@wp.func
def pair(value: float, other: float):
    """Two results."""
    return value - other, value * other


@wp.func
def made_up(value: float, other: float, third: float) -> float:
    """All that is translated, in one law."""
    ordered = value <= other <= third
    odd = (not ordered and (wp.isnan(value) or wp.isfinite(third))) or value == other
    difference, product = pair(value, other + third)
    first = wp.abs(difference) if odd else -(product / third)
    first = first - (value - other) - 2.0 * (third if value > HALF else wp.inf)
    return within(first, -1e30, 1e30) if first != 3.0 else law_module.bounded(wp.nan, -2.5, 1.0)


def test_twin_of_a_made_up_law_has_its_bits(tmp_path: Path, rng: np.random.Generator) -> None:
    """Chained comparisons, logic, several results, constants, precedence; at numbers and at what is none."""
    translator = laws_header.Translator()
    twin = translator.function(made_up)
    assert twin.reads == {"value", "other", "third"} and list(translator.functions) == [
        "pair",
        "within",
        "bounded",
        "made_up",
    ]
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
def heat_clamp(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    heat: float,
    share: float,
    most: float,
    step: float,
    limit: float,
    unused: float,
    cooling: float,
):
    """A limit that falls with what it remembers, and follows a curve; it cools by another one."""
    warmed = heat + wp.abs(effort) * share - cooling * step
    return within(effort, -limit, limit) if warmed < most else 0.0, warmed


@wp.func
def heat_prepare(capacity: float, most: float, dt: float):
    """The share of a step in the capacity, and the step itself."""
    return dt / capacity, most, dt


class ClampingHeat(Clamping):
    """A made-up limit with everything that a limit may have."""

    PARAMETERS = ("capacity", "most")
    STATE = ("heat",)
    CURVES: ClassVar = {"limit": "position", "unused": "position", "cooling": "speed"}
    PREPARE = heat_prepare
    LAW = heat_clamp


class Trial(catalogue.Law):
    """A line whose class stands here."""

    component: Any = ClampingHeat


def test_header_of_a_made_up_stateful_limit_builds(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """State, preparation and curve get their places; the list keeps the order of the lines."""
    line = Trial(MaxEffortClampingConfig, "ClampingHeat")
    after = next(at for at, law in enumerate(catalogue.LAWS, 1) if law.name == "ClampingDCMotor")
    replace_laws(monkeypatch, (*catalogue.LAWS[:after], line, *catalogue.LAWS[after:]))
    text = laws_header.header()
    order = "RateHold, EffortDelayTimed, ElectricalWinding, ClampingDCMotor, ClampingHeat, ClampingDCMotorCutoff, "
    assert f"using EffortStages = List<{order}" in text
    (tmp_path / "generated_laws.h").write_text(text)
    file = tmp_path / "trial.cpp"
    file.write_text("""
#include "generated_laws.h"
using L = trial::ClampingHeat;
static_assert(L::kParameters == 2 && L::kPrepared == 3 && L::kStates == 1 && L::kCurves == 3 && L::kArguments == 11);
static_assert(L::kOver[0] == 0 && L::kOver[1] == 0 && L::kOver[2] == 2 && L::kTimed);
// the step that PREPARE hands on is no parameter
static_assert(L::kPasses[0] == -1 && L::kPasses[1] == 1 && L::kPasses[2] == -1);
// the position by its curve, the velocity by the speed
static_assert(L::kPrepares && L::kReads[0] && L::kReads[1] && L::kReads[2]);
static_assert(L::kFirst == 0 && trial::PassiveFriction::kFirst == 1 && trial::PassiveLuGreFriction::kFirst == 1);
using D = trial::ClampingDCMotor;
static_assert(D::kPrepares && !D::kTimed && D::kOver[0] == -1);
float heat(float x) { return L::law(x, 0.f, 0.f, 1.f, x, L::prepare(x, 1.f, x).at[0], 1.f, x, x, x, x).at[1]; }
""")
    command = [compiler(), f"-I{tmp_path}", *FLAGS, "-DACTUATORS_VARIANT=trial", "-fsyntax-only", str(file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("STATE", (), "returns 2 values: must return 1"),
        ("PREPARE", pair, "pair returns 2 values: must return the 6"),
    ],
)
def test_law_that_does_not_fit_its_class_is_refused(
    name: str, value: Any, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As many results as the class has states; as many prepared values as the law takes."""
    monkeypatch.setattr(ClampingHeat, name, value)
    if name == "PREPARE":
        monkeypatch.setattr(ClampingHeat, "CURVES", {})
    replace_laws(monkeypatch, (Trial(MaxEffortClampingConfig, "ClampingHeat"),))
    if name == "STATE":
        monkeypatch.setattr(ClampingHeat, "PREPARE", None)
        monkeypatch.setattr(ClampingHeat, "PARAMETERS", ("dt", "heat", "capacity", "most", "step"))
    with pytest.raises(laws_header.UnsupportedError, match=words):
        laws_header.header()


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


@pytest.mark.parametrize(
    ("function", "line", "what"),
    [
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
    ],
    ids=lambda item: getattr(item, "key", None),
)
def test_what_has_no_twin_is_refused_by_file_and_line(function: Any, line: int, what: str) -> None:
    """One error that says where and what."""
    at = function.func.__code__.co_firstlineno + 1 + line
    with pytest.raises(laws_header.UnsupportedError, match=rf"test_generate.py, line {at}: .*{what}.*no C\+\+ twin"):
        laws_header.Translator().function(function)


def test_two_functions_of_one_name_are_refused() -> None:
    """They would be one in C++."""

    @wp.func
    def within(value: float) -> float:
        return value

    translator = laws_header.Translator()
    translator.function(law_module.within)
    with pytest.raises(laws_header.UnsupportedError, match=r"within is also a function of .*law\.py"):
        translator.function(within)
