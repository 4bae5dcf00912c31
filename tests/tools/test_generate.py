"""What is generated is up to date; the C++ twins of laws build without Warp, and say what has none."""

import re
import subprocess
import sys
from typing import Any, ClassVar

import api_pages
import generate
import laws_header
import public_names
import pytest
import warp as wp
from cpp_compiler import FLAGS, compiler
from isaacsim.core.experimental.actuators import Clamping, MaxEffortClampingConfig
from isaacsim.core.experimental.actuators.laws.contract import catalogue
from isaacsim.core.experimental.actuators.laws.contract.law import within
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from other_laws import replace_laws
from refusals import refused


@pytest.mark.slow
def test_all_that_is_generated_is_up_to_date() -> None:
    """In a process of its own: tests before this one may have put attributes on classes."""
    done = subprocess.run([sys.executable, generate.__file__, "--check"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}\nrun ./python.sh tools/generate.py"


def test_checking_writes_nothing(monkeypatch, tmp_path, capsys) -> None:
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
    refused(ValueError, lambda: public_names.overview("no marker"), "generated: laws")


def test_overview_has_every_kind_of_stage() -> None:
    rows = re.findall(r"^\| ([a-z ]+) \| .+ \| `\w+", public_names.OVERVIEW.read_text("utf-8"), re.MULTILINE)
    assert rows == [kind.replace("_", " ") for kind in KINDS] and list(public_names.STAGES) == list(KINDS)


def test_room_without_a_page_is_refused(monkeypatch) -> None:
    monkeypatch.delitem(api_pages.ROOMS, "extension.sharding")
    refused(ValueError, api_pages.index, r"Shard is in extension\.sharding: must be in a room of ROOMS")


@pytest.mark.parametrize("variant", ["baseline", "avx2"])
def test_header_builds_without_warp(variant, tmp_path) -> None:
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


@wp.func
def pair(value: float, other: float):
    return value - other, value * other


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
    warmed = heat + wp.abs(effort) * share - cooling * step
    return within(effort, -limit, limit) if warmed < most else 0.0, warmed


@wp.func
def heat_prepare(capacity: float, most: float, dt: float):
    return dt / capacity, most, dt


class ClampingHeat(Clamping):
    PARAMETERS = ("capacity", "most")
    STATE = ("heat",)
    CURVES: ClassVar = {"limit": "position", "unused": "position", "cooling": "speed"}
    PREPARE = heat_prepare
    LAW = heat_clamp


class Trial(catalogue.Law):
    component: Any = ClampingHeat


def test_header_of_a_made_up_stateful_limit_builds(monkeypatch, tmp_path) -> None:
    line = Trial(MaxEffortClampingConfig, "ClampingHeat")
    after = next(at for at, law in enumerate(catalogue.LAWS, 1) if law.name == "ClampingDCMotor")
    replace_laws(monkeypatch, (*catalogue.LAWS[:after], line, *catalogue.LAWS[after:]))
    text = laws_header.header()
    order = "RateHold, EffortDelayTimed, EffortLagFirstOrder, ElectricalWinding, ClampingDCMotor, ClampingHeat, "
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
    [("STATE", (), "returns 2 values: must return 1"), ("PREPARE", pair, "pair returns 2 values: must return the 6")],
)
def test_law_that_does_not_fit_its_class_is_refused(name, value, words, monkeypatch) -> None:
    monkeypatch.setattr(ClampingHeat, name, value)
    if name == "PREPARE":
        monkeypatch.setattr(ClampingHeat, "CURVES", {})
    replace_laws(monkeypatch, (Trial(MaxEffortClampingConfig, "ClampingHeat"),))
    if name == "STATE":
        monkeypatch.setattr(ClampingHeat, "PREPARE", None)
        monkeypatch.setattr(ClampingHeat, "PARAMETERS", ("dt", "heat", "capacity", "most", "step"))
    refused(laws_header.UnsupportedError, laws_header.header, words)
