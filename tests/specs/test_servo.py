"""Presets of servos, what has to follow a servo, and its gains at the joint."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import ActuatorParseError
from isaacsim.core.experimental.actuators.files.usd.discover import parse_prim
from isaacsim.core.experimental.actuators.specs.configs import ForeignConfig
from isaacsim.core.experimental.actuators.specs.joint_side import gains_at_joint
from isaacsim.core.experimental.actuators.specs.motors import motor_of
from isaacsim.core.experimental.actuators.specs.servo import PRESETS, voltage_problems
from isaacsim.core.experimental.actuators.specs.stand_ins import stand_ins
from isaacsim.core.experimental.actuators.tools.feedback import feedback_gains
from pxr import Sdf
from small_stages import pendulum

SERVO = aa.ServoControlConfig.of("XL330", kp=200.0, kd=20.0)
VOLTS = aa.ElectricalConfig(torque_constant=0.4, resistance=4.0, command="voltage")
EFFORT = aa.ElectricalConfig(torque_constant=0.4, resistance=4.0)
PD = aa.PDControlConfig(3.0, 0.1)


def test_presets() -> None:
    """Published numbers; a count of the PWM per count of the error, over 256, of the XL330."""
    assert aa.ServoControlConfig.of("MX") == aa.ServoControlConfig(32.0, 0.158, 15.0, 0.9625)
    assert aa.ServoControlConfig.of("STS3215", voltage=12.0).voltage == 12.0
    xl330 = aa.ServoControlConfig.of("XL330")
    assert xl330.kp * xl330.error_gain * (2 * np.pi / 4096) * 885 == pytest.approx(400 / 256)
    with pytest.raises(ValueError, match="series = 'XL430': must be one of MX, XL320, XL330, STS3215"):
        aa.ServoControlConfig.of("XL430")
    assert all(not aa.ServoControlConfig.of(name).conflicts() for name in PRESETS)


def test_smallest_duty_is_below_the_largest() -> None:
    """Said with both values."""
    with pytest.raises(ValueError, match=r"min_duty = 0.5: must be at most max_duty, 0.4"):
        aa.ActuatedArrays(["j"], {".*": [aa.ServoControlConfig.of("MX", max_duty=0.4, min_duty=0.5), VOLTS]})
    by_joint = {"a": 0.5, "b": 0.2}
    servo = aa.ServoControlConfig.of("MX", max_duty=by_joint, min_duty=0.3)
    zero = np.zeros((1, 2), np.float32)
    efforts = aa.ActuatedArrays(["a", "b"], {".*": [servo, VOLTS]}).step(zero, zero, zero + 0.01, 0.01)
    np.testing.assert_allclose(efforts, [[0.3 * 15.0 * 0.1, 0.2 * 15.0 * 0.1]], rtol=1e-6)


@pytest.mark.parametrize(
    ("stages", "problem"),
    [
        ([SERVO], "has ServoControlConfig, which returns a voltage, without ElectricalConfig"),
        ([SERVO, EFFORT], "has ServoControlConfig, which returns a voltage, without ElectricalConfig"),
        ([PD, VOLTS], 'has ElectricalConfig(command="voltage") and PDControlConfig, which returns an effort'),
        ([aa.NeuralControlConfig("a.pt"), VOLTS], "and NeuralControlConfig, which returns an effort"),
        ([SERVO, VOLTS], ""),
        ([PD, EFFORT], ""),
        ([PD], ""),
        ([ForeignConfig("AControlAPI", "controller", {}), VOLTS], ""),
        ([ForeignConfig("AControlAPI", "controller", {}), EFFORT], ""),
        ([SERVO, ForeignConfig("AWindingAPI", "electrical", {})], ""),
        ([VOLTS], ""),
    ],
)
def test_volts_need_a_winding_that_takes_them(stages, problem) -> None:
    """Both in volts, or neither; what the host program registered may be either."""
    found = voltage_problems(motor_of(stages), "motor")
    assert len(found) == bool(problem) and all(problem in one and one.startswith("motor ") for one in found)


def test_motors_in_python_are_refused() -> None:
    """By the pattern of the motor, also where the command differs from joint to joint."""
    with pytest.raises(ValueError, match=r"motors\['.*'\] has ServoControlConfig, which returns a voltage"):
        aa.ActuatedArrays(["j"], {".*": [SERVO]})
    command = {"a": "voltage", "b": "effort"}
    mixed = aa.ElectricalConfig(torque_constant=0.4, resistance=4.0, command=command)
    for controller in (SERVO, PD):
        with pytest.raises(ValueError, match=r"a voltage, without|an effort: must have"):
            aa.ActuatedArrays(["a", "b"], {".*": [controller, mixed]})
    mixed.command = {"a": "voltage", "b": "voltage"}  # pyright: ignore[reportAttributeAccessIssue]
    aa.ActuatedArrays(["a", "b"], {".*": [SERVO, mixed]})
    mixed.command = np.array([1, 1])  # pyright: ignore[reportAttributeAccessIssue]
    aa.ActuatedArrays(["a", "b"], {".*": [SERVO, mixed]}, num_robots=2)


def test_prims_are_refused() -> None:
    """By path, unless the winding itself is what is wrong."""
    stage = pendulum().stage
    prim = aa.add_actuator("/World/Robot", "hinge", "act", SERVO, stage=stage)
    for parse in (parse_prim, aa.parse_actuator_prim):
        with pytest.raises(ActuatorParseError, match=r"</World/Robot/.*act> has ServoControlConfig, which returns"):
            parse(prim)
    prim.AddAppliedSchema(aa.ElectricalConfig.SCHEMA)
    prim.CreateAttribute("actuator:electrical:command", Sdf.ValueTypeNames.Token).Set("voltage")
    with pytest.raises(ActuatorParseError) as caught:
        parse_prim(prim)
    assert "torqueConstant" in str(caught.value) and "returns a voltage" not in str(caught.value)


def test_prims_read_back_as_written() -> None:
    """All fields; newton's PD with the slopes of servo and winding stands in."""
    stage = pendulum().stage
    config = aa.ServoControlConfig(100.0, 0.01, 12.0, 0.9, 0.1, 0.02, 5.0, 30.0, 4.0, 8.0)
    prim = aa.add_actuator("/World/Robot", "hinge", "act", config, others=[VOLTS], stage=stage)
    spec = parse_prim(prim)
    assert spec is not None
    assert vars(spec.controller) == pytest.approx(vars(config), rel=1e-7)
    assert prim.GetAttribute("newton:kp").Get() == pytest.approx(0.1 * 12.0 * 0.01 * 100.0)
    assert prim.GetAttribute("newton:kd").Get() == pytest.approx(0.1 * 12.0 * 0.01 * 5.0 + 0.04)


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_files_read_back_as_written(suffix, tmp_path) -> None:
    """Of motors, by pattern; a servo alone is refused where the file is used."""
    config = aa.ServoControlConfig(100.0, 0.01, 12.0, 0.9, 0.1, 0.02, 5.0, 30.0, 4.0, 8.0)
    aa.save_motors(tmp_path / f"motors.{suffix}", {"j": [config, VOLTS]})
    assert aa.load_motors(tmp_path / f"motors.{suffix}")["j"] == motor_of([config, VOLTS])
    aa.save_motors(tmp_path / f"alone.{suffix}", {"j": [config]})
    with pytest.raises(ValueError, match="returns a voltage"):
        aa.ActuatedArrays(["j"], aa.load_motors(tmp_path / f"alone.{suffix}"))


def test_gains_are_the_slopes_of_servo_and_winding() -> None:
    """Of the running pair, by differences; without a winding there are none."""
    arrays = aa.ActuatedArrays(["j"], {".*": [SERVO, VOLTS]})
    small, zero = 1e-3, np.zeros((1, 1), np.float32)
    pushed, slowed = (
        arrays.step(zero, zero, zero + small, 0.01)[0, 0],
        arrays.step(zero, zero + small, zero, 0.01)[0, 0],
    )
    gains = gains_at_joint(motor_of([SERVO, VOLTS]))
    assert gains is not None and gains == pytest.approx((pushed / small, -slowed / small, 0.0), rel=1e-5)
    running = feedback_gains(arrays.actuators[0], 1)
    np.testing.assert_allclose(running[:, 0, 0], gains, rtol=1e-6)
    assert gains_at_joint(motor_of([SERVO])) is None and gains_at_joint(motor_of([VOLTS])) is None
    assert gains_at_joint(motor_of([PD, EFFORT])) == (3.0, 0.1, 0.0)
    assert stand_ins([SERVO]) == {} and stand_ins([SERVO, VOLTS])[0] == aa.PDControlConfig(*gains[:2])
