"""Motors from electrical data sheets: figures derived from each other, and those that disagree."""

import math

import isaacsim.core.experimental.actuators as aa
import pytest
from refusals import cases, refused

# 24 V, 0.6 Ω, 0.05 N·m/A with 1 A of friction: by hand 40 A, 39·0.05 = 1.95 N·m, 23.4/0.05 = 468 rad/s
FULL = {
    "voltage": 24.0,
    "torque_constant": 0.05,
    "resistance": 0.6,
    "stall_torque": 1.95,
    "stall_current": 40.0,
    "no_load_speed": 468.0,
    "no_load_current": 1.0,
}


@cases(
    "missing",
    (),
    ("torque_constant",),
    ("torque_constant", "no_load_speed"),
    ("torque_constant", "stall_torque"),
    ("resistance",),
    ("stall_torque", "stall_current", "no_load_speed"),
    ("resistance", "torque_constant"),
)
def test_missing_figures_follow_from_the_others(missing) -> None:
    """A motor with a gear of 10, whatever is given."""
    given = {name: value for name, value in FULL.items() if name not in missing}
    sheet = aa.MotorDataSheet(**given, inductance=1e-4, max_current=20.0, gear_ratio=10.0, rotor_inertia=1e-5)
    assert sheet.disagreements == []
    motor = aa.motor_from_datasheet(sheet, kp=80.0, kd=2.0, delay_steps=1)
    (winding,) = motor.others
    assert isinstance(winding, aa.ElectricalConfig)
    expected = {"torque_constant": 0.5, "resistance": 0.6, "inductance": 1e-4, "voltage": 24.0, "max_current": 20.0}
    assert {name: getattr(winding, name) for name in expected} == pytest.approx(expected)
    (limit,) = motor.clamping
    assert isinstance(limit, aa.MaxEffortClampingConfig) and limit.max_effort == pytest.approx(10.0)
    assert (motor.armature, motor.friction) == (pytest.approx(0.001), pytest.approx(0.5))
    assert (motor.controller, motor.delay) == (aa.PDControlConfig(80.0, 2.0), aa.DelayConfig(1))


def test_without_driver_and_friction() -> None:
    motor = aa.motor_from_datasheet(aa.MotorDataSheet(24.0, 0.05, 0.6), kp=80.0, kd=2.0)
    assert motor.clamping == [aa.MaxEffortClampingConfig(0.05 * (24.0 / 0.6))]
    assert (motor.friction, motor.delay, motor.armature) == (None, None, 0.0)


@cases(
    "name, factor, said",
    ("stall_torque", 1.09, None),
    ("stall_torque", 0.89, "stall_torque = 1.7355 N·m: must be within 10 % of torque constant"),
    ("stall_current", 1.2, "stall_current = 48 A: must be within 10 % of voltage/resistance = 40 A"),
    ("no_load_speed", 60 / math.tau, "no_load_speed = 4469.07 rad/s: must be within 10 % of .* = 468 rad/s"),
)
def test_figures_that_disagree_are_named(name, factor, said) -> None:
    sheet = aa.MotorDataSheet(**FULL | {name: FULL[name] * factor})
    if said is None:
        assert sheet.disagreements == []
        return
    with pytest.warns(UserWarning, match=f"^{said}"):
        aa.motor_from_datasheet(sheet, kp=1.0, kd=1.0)


@cases(
    "figures, message",
    ({"voltage": 0.0}, "voltage = 0.0: must be"),
    ({"voltage": 24.0, "torque_constant": -1.0, "rotor_inertia": math.nan}, "torque_constant = -1.0.*\\nrotor_in"),
    ({"voltage": 24.0, "torque_constant": 0.1}, "resistance = None: must follow from the stall current"),
    ({"voltage": 24.0, "resistance": 1.0}, "torque_constant = None: must follow from no_load_speed or stall_torque"),
    ({**FULL, "no_load_current": 40.0}, "no_load_current = 40.0: must be below the current of the held rotor, 40"),
)
def test_impossible_data_sheets_are_refused(figures, message) -> None:
    refused(ValueError, lambda: aa.MotorDataSheet(**figures), message)


def test_gains_are_checked() -> None:
    with pytest.raises(ValueError, match=r"motor.controller.kp = -1.0"):
        aa.motor_from_datasheet(aa.MotorDataSheet(24.0, 0.05, 0.6), kp=-1.0, kd=1.0)
