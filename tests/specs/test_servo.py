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
from refusals import cases, refused
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
    with pytest.raises(ValueError, match=r"min_duty = 0.5: must be at most max_duty, 0.4"):
        aa.ActuatedArrays(["j"], {".*": [aa.ServoControlConfig.of("MX", max_duty=0.4, min_duty=0.5), VOLTS]})
    servo = aa.ServoControlConfig.of("MX", max_duty={"a": 0.5, "b": 0.2}, min_duty=0.3)
    zero = np.zeros((1, 2), np.float32)
    efforts = aa.ActuatedArrays(["a", "b"], {".*": [servo, VOLTS]}).step(zero, zero, zero + 0.01, 0.01)
    np.testing.assert_allclose(efforts, [[0.3 * 15.0 * 0.1, 0.2 * 15.0 * 0.1]], rtol=1e-6)


@cases(
    "stages, problem",
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
)
def test_volts_need_a_winding_that_takes_them(stages, problem) -> None:
    found = voltage_problems(motor_of(stages), "motor")
    assert len(found) == bool(problem) and all(problem in one and one.startswith("motor ") for one in found)


def test_motors_in_python_are_refused() -> None:
    with pytest.raises(ValueError, match=r"motors\['.*'\] has ServoControlConfig, which returns a voltage"):
        aa.ActuatedArrays(["j"], {".*": [SERVO]})
    mixed = aa.ElectricalConfig(torque_constant=0.4, resistance=4.0, command={"a": "voltage", "b": "effort"})
    for controller in (SERVO, PD):
        with pytest.raises(ValueError, match=r"a voltage, without|an effort: must have"):
            aa.ActuatedArrays(["a", "b"], {".*": [controller, mixed]})
    mixed.command = {"a": "voltage", "b": "voltage"}  # pyright: ignore[reportAttributeAccessIssue]
    aa.ActuatedArrays(["a", "b"], {".*": [SERVO, mixed]})
    mixed.command = np.array([1, 1])  # pyright: ignore[reportAttributeAccessIssue]
    aa.ActuatedArrays(["a", "b"], {".*": [SERVO, mixed]}, num_robots=2)


def test_prims_are_refused() -> None:
    stage = pendulum().stage
    prim = aa.add_actuator("/World/Robot", "hinge", "act", SERVO, stage=stage)
    for parse in (parse_prim, aa.parse_actuator_prim):
        with pytest.raises(ActuatorParseError, match=r"</World/Robot/.*act> has ServoControlConfig, which returns"):
            parse(prim)
    prim.AddAppliedSchema(aa.ElectricalConfig.SCHEMA)
    prim.CreateAttribute("actuator:electrical:command", Sdf.ValueTypeNames.Token).Set("voltage")
    text = refused(ActuatorParseError, lambda: parse_prim(prim))
    assert "torqueConstant" in text and "returns a voltage" not in text


def test_prims_read_back_as_written() -> None:
    stage = pendulum().stage
    config = aa.ServoControlConfig(100.0, 0.01, 12.0, 0.9, 0.1, 0.02, 5.0, 30.0, 4.0, 8.0)
    prim = aa.add_actuator("/World/Robot", "hinge", "act", config, others=[VOLTS], stage=stage)
    spec = parse_prim(prim)
    assert spec is not None and vars(spec.controller) == pytest.approx(vars(config), rel=1e-7)
    assert prim.GetAttribute("newton:kp").Get() == pytest.approx(0.1 * 12.0 * 0.01 * 100.0)
    assert prim.GetAttribute("newton:kd").Get() == pytest.approx(0.1 * 12.0 * 0.01 * 5.0 + 0.04)


@pytest.mark.parametrize("suffix", ["yaml", "json"])
def test_files_read_back_as_written(suffix, tmp_path) -> None:
    config = aa.ServoControlConfig(100.0, 0.01, 12.0, 0.9, 0.1, 0.02, 5.0, 30.0, 4.0, 8.0)
    aa.save_motors(tmp_path / f"motors.{suffix}", {"j": [config, VOLTS]})
    assert aa.load_motors(tmp_path / f"motors.{suffix}")["j"] == motor_of([config, VOLTS])
    aa.save_motors(tmp_path / f"alone.{suffix}", {"j": [config]})
    with pytest.raises(ValueError, match="returns a voltage"):
        aa.ActuatedArrays(["j"], aa.load_motors(tmp_path / f"alone.{suffix}"))


def test_gains_are_the_slopes_of_servo_and_winding() -> None:
    arrays = aa.ActuatedArrays(["j"], {".*": [SERVO, VOLTS]})
    small, zero = 1e-3, np.zeros((1, 1), np.float32)
    pushed, slowed = (
        arrays.step(zero, zero, zero + small, 0.01)[0, 0],
        arrays.step(zero, zero + small, zero, 0.01)[0, 0],
    )
    gains = gains_at_joint(motor_of([SERVO, VOLTS]))
    assert gains is not None and gains == pytest.approx((pushed / small, -slowed / small, 0.0), rel=1e-5)
    np.testing.assert_allclose(feedback_gains(arrays.actuators[0], 1)[:, 0, 0], gains, rtol=1e-6)
    assert gains_at_joint(motor_of([SERVO])) is None and gains_at_joint(motor_of([VOLTS])) is None
    assert gains_at_joint(motor_of([PD, EFFORT])) == (3.0, 0.1, 0.0)
    assert stand_ins([SERVO]) == {} and stand_ins([SERVO, VOLTS])[0] == aa.PDControlConfig(*gains[:2])


def test_registers_are_those_of_the_control_table() -> None:
    """Of an MX: Kp = P/8, Kd = D·4/1000 s, Ki = I·1000/2048 per s; dead bands are in ticks of a turn."""
    servo = aa.ServoControlConfig.of("MX", p=64, d=50, i=8, deadband_ticks=2)
    assert (servo.kp / 8, servo.kd / 8, servo.ki / 8) == pytest.approx((8.0, 0.2, 8 * 1000 / 2048))
    assert servo.deadband == pytest.approx(2 * 2 * np.pi / 4096)
    assert aa.ServoControlConfig.of("XL320", deadband_ticks=1).deadband == pytest.approx(np.radians(300) / 1024)
    assert aa.ServoControlConfig.of("STS3215", p=16, d=0, i=0).kp == 16.0


@cases(
    "series, given, problem",
    ("STS3215", {"d": 32}, r"d = 32: must be left out for STS3215, .* Give kd \[s\] as identified, or 0"),
    ("XL330", {"i": 10}, r"i = 10: must be left out for XL330, .* Give ki \[1/s\]"),
    ("MX", {"p": 32, "kp": 16.0}, "p = 32 and kp = 16.0: must be one. Remove either"),
)
def test_registers_without_a_published_scale_are_refused(series, given, problem) -> None:
    refused(ValueError, lambda: aa.ServoControlConfig.of(series, **given), problem)


def test_a_register_is_no_time() -> None:
    servo = aa.ServoControlConfig.of("MX", kd=200.0)
    with pytest.raises(ValueError, match=r"kd = 200.0: is in seconds, .* Give the register D as ServoControlConfig.of"):
        aa.ActuatedArrays(["j"], {".*": [servo, VOLTS]})
    assert not aa.ServoControlConfig.of("MX", d=200).conflicts()
    assert not aa.ServoControlConfig(0.0, 0.1, 7.5, kd=1.0).conflicts()
    assert not aa.ServoControlConfig(2.0, 0.1, 7.5, kd=2.0).conflicts()


def test_integral_of_a_servo_ends_at_its_largest_duty() -> None:
    servo = aa.ServoControlConfig.of("MX", p=32, i=32, max_duty=0.5)
    arrays = aa.ActuatedArrays(["j"], {".*": [servo, VOLTS]})
    zero, found = np.zeros((1, 1), np.float32), []
    for _ in range(400):
        arrays.step(zero, zero, zero + np.float32(0.01), 0.005)
        state = arrays.save_state()
        found.append(next(float(v.ravel()[0]) for k, v in state.items() if k.endswith(".integral_duty")))
    slope = 0.158 * servo.ki * 0.01 * 0.005
    np.testing.assert_allclose(found, np.minimum(slope * np.arange(1, 401), 0.5), rtol=1e-5)


def lever_angle(mass: float, target, start: float, stiffness: float = 200.0) -> float:
    """Angle [rad] at which the catalogue's STS3215 of 12 V comes to rest, its play included, with a lever of 10 cm."""
    figures = aa.motor_figures("feetech_sts3215_12v")
    assert figures.torque_constant and figures.resistance and figures.backlash and figures.efficiency
    servo = [
        aa.ServoControlConfig.of("STS3215-12V"),
        aa.ElectricalConfig(figures.torque_constant, figures.resistance, voltage=12.0, command="voltage"),
        aa.ElasticTransmissionConfig(
            1.0,
            rotor_inertia=aa.motor_figures("feetech_sts3215").armature,
            **{"stiffness": stiffness, "damping": 1.0, "backlash": figures.backlash, "efficiency": figures.efficiency},
        ),
        aa.FrictionConfig(coulomb=0.05, viscous=0.06, assumed_inertia=0.01),
    ]
    arrays, inertia, dt = aa.ActuatedArrays(["j"], {"j": servo}), mass * 0.1**2, 0.001
    arrays.set_mass_matrix(np.full((1, 1), inertia))
    q, v = start, 0.0
    given = np.zeros((3, 1, 1), np.float32)
    for step in range(5000):
        given[:, 0, 0] = q, v, target(step * dt)
        effort = float(arrays.step(*given, dt)[0, 0])
        v += dt * (effort - mass * 9.81 * 0.1 * np.cos(q)) / inertia
        q += dt * v
    assert abs(v) < 1e-3 and not arrays.faults
    return q


@pytest.mark.slow
def test_a_servo_from_the_catalogue_hangs_as_measured() -> None:
    """1.5 kg on 10 cm, lowered onto the target: 1.8° to 2.6° measured, within 20 %, whatever its stiffness."""
    for stiffness in (200.0, 2000.0):
        angle = lever_angle(1.5, lambda time: max(0.3 - 0.1 * time, 0.0), 0.3, stiffness)
        assert 0.8 * 1.8 < np.degrees(-angle) < 1.2 * 2.6


@pytest.mark.slow
def test_a_servo_from_the_catalogue_stalls_as_measured() -> None:
    """3.4 N·m measured, within 20 %: it lifts 2.72 N·m, and not 4.08."""
    assert lever_angle(2.72 / 0.981, lambda _: 0.6, -0.2) > 0.0
    assert lever_angle(4.08 / 0.981, lambda _: 0.6, -0.2) < -0.1
