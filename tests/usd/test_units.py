"""Units of a stage, and the numbers of configs between them and SI."""

from __future__ import annotations

import math
from typing import Any

import pytest
from isaacsim.core.experimental.actuators.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.specs.configs import (
    CONFIGS,
    Config,
    DCMotorClampingConfig,
    DelayConfig,
    ElasticTransmissionConfig,
    GearedPIDControlConfig,
    MaxEffortClampingConfig,
    NeuralControlConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
    SlewedPIDControlConfig,
)
from isaacsim.core.experimental.actuators.specs.fields import parameters_of
from isaacsim.core.experimental.actuators.usd.units import StageUnits, from_stage, to_stage, units_of
from pxr import Usd, UsdGeom, UsdPhysics

# in centimeters and grams, 1 N is 1e5 units of force, 1 N·m is 1e7 units of torque
CGS = StageUnits(0.01, 0.001)
ANGULAR, LINEAR = 1e7, 1e5


def stage(length: float | None = None, mass: float | None = None) -> Usd.Stage:
    made = Usd.Stage.CreateInMemory()
    if length is not None:
        UsdGeom.SetStageMetersPerUnit(made, length)
    if mass is not None:
        UsdPhysics.SetStageKilogramsPerUnit(made, mass)
    return made


@pytest.mark.parametrize(
    ("length", "mass", "units"),
    [
        (None, None, StageUnits(1.0, 1.0)),
        (0.01, None, StageUnits(0.01, 1.0)),
        (None, 0.001, StageUnits(1.0, 0.001)),
        (1.0 + 1e-12, 1.0, StageUnits(1.0, 1.0)),
    ],
)
def test_units_are_those_authored_or_si(length: float | None, mass: float | None, units: StageUnits) -> None:
    """USD's own fallback is the centimeter."""
    assert units_of(stage(length, mass)) == units
    assert units.si is (units == StageUnits(1.0, 1.0))


@pytest.mark.parametrize("unit", [0.0, -1.0, math.nan, math.inf])
def test_unit_that_is_none_is_refused(unit: float) -> None:
    """By name and value."""
    for name, made in (("metersPerUnit", stage(unit)), ("kilogramsPerUnit", stage(1.0, unit))):
        with pytest.raises(UnsupportedSceneError, match=f"{name} = {unit:g}: must be finite and > 0"):
            units_of(made)


def test_force_and_torque() -> None:
    """Of the base units, with seconds."""
    assert (CGS.force, CGS.torque) == (pytest.approx(1e-5), pytest.approx(1e-7))


@pytest.mark.parametrize(
    ("config", "angular", "linear"),
    [
        (PDControlConfig(2.0, 3.0, 4.0), (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR), (2e3, 3e3, 4 * LINEAR)),
        (
            PIDControlConfig(2.0, 3.0, 4.0, 5.0, 6.0),
            (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 5.0, 6 * ANGULAR),
            (2e3, 3e3, 4e3, 5e2, 6 * LINEAR),
        ),
        (
            GearedPIDControlConfig(2.0, 3.0, 4.0, 5.0, 7.0, 6.0),
            (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 5.0, 7.0, 6 * ANGULAR),
            (2e3, 3e3, 4e3, 5e2, 7.0, 6 * LINEAR),
        ),
        (
            SlewedPIDControlConfig(2.0, 3.0, 4.0, 8.0, 5.0, 6.0),
            (2 * ANGULAR, 3 * ANGULAR, 4 * ANGULAR, 8.0, 5.0, 6 * ANGULAR),
            (2e3, 3e3, 4e3, 8e2, 5e2, 6 * LINEAR),
        ),
        (MaxEffortClampingConfig(2.0), (2 * ANGULAR,), (2 * LINEAR,)),
        (DCMotorClampingConfig(2.0, 3.0, math.inf), (2 * ANGULAR, 3.0, math.inf), (2 * LINEAR, 3e2, math.inf)),
        (
            PositionBasedClampingConfig([-1.0, 2.0], [3.0, 4.0]),
            ([-1.0, 2.0], [3 * ANGULAR, 4 * ANGULAR]),
            ([-1e2, 2e2], [3 * LINEAR, 4 * LINEAR]),
        ),
        (
            ElasticTransmissionConfig(
                50.0, 0.5, rotor_inertia=2.0, stiffness=3.0, damping=4.0, backlash=5.0, rotor_damping=6.0
            ),
            (50.0, 0.5, "joint", 2 * ANGULAR, 1.0, 0.0, *(one * ANGULAR for one in (3.0, 4.0)), 5.0, 6 * ANGULAR, 0.0),
            (50.0, 50.0, "joint", 2e3, 1.0, 0.0, 3e3, 4e3, 5e2, 6e3, 0.0),
        ),
        (DelayConfig(3), (3,), (3,)),
        (NeuralControlConfig("net.pt"), ("net.pt",), ("net.pt",)),
    ],
)
def test_numbers_are_converted_by_their_unit(config: Config, angular: tuple[Any, ...], linear: tuple[Any, ...]) -> None:
    """Of axes that turn and that slide, there and back."""
    for turns, expected in ((True, angular), (False, linear)):
        written = to_stage(config, CGS, [turns])
        assert list(vars(written).values()) == [
            pytest.approx(value) if not isinstance(value, str) else value for value in expected
        ]
        again = from_stage(written, CGS, [turns])
        assert list(vars(again).values()) == [
            pytest.approx(value) if not isinstance(value, str) else value for value in vars(config).values()
        ]


def test_metres_and_kilograms_change_nothing() -> None:
    """The config is the same one."""
    config = PDControlConfig(2.0, 3.0)
    assert from_stage(config, StageUnits(1.0, 1.0), [True, False]) is config


def test_joints_that_turn_and_that_slide_have_no_number_in_common() -> None:
    """Unless the length is that of SI, or the number has no such unit."""
    with pytest.raises(ValueError, match=r"PDControlConfig\.kp is of joints that turn and .* metersPerUnit = 0\.01 "):
        from_stage(PDControlConfig(2.0, 3.0), CGS, [True, False])
    assert from_stage(PDControlConfig(2.0, 3.0), StageUnits(1.0, 0.001), [True, False]).kp == 0.002
    assert from_stage(DelayConfig(3), CGS, [True, False]) == DelayConfig(3)


def test_every_parameter_has_a_dimension_that_fits_its_unit() -> None:
    """By the words of the unit, each of which is known here."""
    known = {
        "N·m/rad or N/m": (1, -1),
        "N·m·s/rad or N·s/m": (1, -1),
        "N·m/(rad·s) or N/(m·s)": (1, -1),
        "N·m or N": (1, 0),
        "kg·m² or kg": (1, -1),
        "1/(N·m) or 1/N": (-1, 0),
        "1/rad or 1/m": (0, -1),
        "rad": (0, 0),
        "rad or m": (0, 1),
        "rad/s or m/s": (0, 1),
        "rad·s or m·s": (0, 1),
        "physics steps": (0, 0),
        **dict.fromkeys(("s", "1/s", "Hz"), (0, 0)),
        "rad/s² or m/s²": (0, 1),
        **dict.fromkeys(("V", "A", "A/s", "Ω", "H", "°C", "1/K", "J/K", "K/W"), (0, 0)),
        "N·m/A or N/A": (1, 0),
        "N·m/√W or N/√W": (1, 0),
        "V/(N·m) or V/N": (-1, 0),
        "W": (1, 1),
        "": (0, 0),
    }
    found = {described.unit: described.dimension for config in CONFIGS for described in parameters_of(config).values()}
    assert found == known
