"""The position loop of a hobby servo: against a real log, its duty, its profile of the setpoint, its voltage."""

import math

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ActuatedArrays, ControllerServo, ElectricalConfig, ServoControlConfig
from one_inertia import signals_of, state_of, tell

WINDING = ElectricalConfig(torque_constant=0.4, resistance=4.0, command="voltage")
H = 0.005
# of the log of an XL330 (Rhoban/bam, af22604): kp, target and position [rad], present PWM [1/885], at rest
LOG = [
    (100, 1.434282, 0.443320, 252),
    (100, -0.736259, -0.314466, -106),
    (100, -1.570770, -0.342078, -312),
    (100, 1.570785, 0.372757, 304),
    (200, -1.759210, -0.733243, -522),
    (200, 1.570695, 0.521553, 534),
    (200, 1.257194, 0.520019, 375),
    (400, 1.434288, 1.069185, 375),
    (400, -1.570771, -0.656544, -885),
    (400, 1.256641, 0.871301, 393),
    (800, -1.434279, -1.125942, -629),
    (800, 1.570461, 0.882039, 885),
    (800, 1.256684, 0.882039, 765),
    (800, 0.999988, 0.678020, 653),
]


def servos(robots: int = 1, **values) -> ActuatedArrays:
    """Robots of one XL330."""
    return ActuatedArrays(["j"], {".*": [ServoControlConfig.of("XL330", **values), WINDING]}, num_robots=robots)


def duties(arrays: ActuatedArrays, targets, positions=0.0, velocities=0.0) -> np.ndarray:
    q, qd, target = (np.broadcast_to(np.float32(one), arrays.num_robots) for one in (positions, velocities, targets))
    arrays.step(q[:, None].copy(), qd[:, None].copy(), target[:, None].copy(), H)
    return state_of(arrays, "duty")


def test_has_the_pwm_of_a_real_servo() -> None:
    kp, targets, positions, pwm = np.array(LOG).T
    found = np.array([885.0 * duties(servos(kp=k), t, q)[0] for k, t, q in zip(kp, targets, positions, strict=True)])
    assert np.abs(found - pwm).max() < 4.0 and np.abs(found - pwm).mean() < 1.2
    assert (np.abs(found[np.abs(pwm) == 885]) == 885.0).all()


def test_duty_times_battery_is_the_voltage_at_the_winding() -> None:
    arrays = servos(3, voltage=7.5)
    kp, error_gain = 400.0, 4096 / (2 * math.pi) / (256 * 885)
    duty = duties(arrays, [0.1, -0.2, 3.0])
    np.testing.assert_allclose(duty, [kp * error_gain * 0.1, -kp * error_gain * 0.2, 1.0], rtol=1e-6)
    np.testing.assert_allclose(state_of(arrays, "terminal_voltage"), 7.5 * duty, rtol=1e-6)
    given = {name: np.full(3, 6.0 if name == "supply_voltage" else 0.0) for name in signals_of(arrays)}
    tell(arrays, given | {"derating": np.ones(3), "supply_share": np.ones(3)})
    np.testing.assert_allclose(duties(arrays, [0.1, -0.2, 3.0]), duty, rtol=1e-6)
    np.testing.assert_allclose(state_of(arrays, "terminal_voltage"), 6.0 * duty, rtol=1e-6)


def test_feedforward_is_a_voltage() -> None:
    zero = np.zeros((1, 1), np.float32)
    effort = servos(max_duty=0.1).step(zero, zero, zero + 2, H, feedforward=zero + 1.5)
    np.testing.assert_allclose(effort, [[0.4 / 4.0 * (0.1 * 7.5 + 1.5)]], rtol=1e-6)


def test_deadband_and_punch() -> None:
    arrays = servos(5, deadband=0.05, min_duty=0.2, max_duty=0.6)
    np.testing.assert_allclose(duties(arrays, [0.05, -0.04, 0.06, -0.06, 1.0]), [0.0, 0.0, 0.2, -0.2, 0.6], rtol=1e-6)


def test_beyond_the_deadband_the_whole_error_counts() -> None:
    targets = [0.051, -0.08, 0.2, -0.3]
    np.testing.assert_array_equal(duties(servos(4, deadband=0.05), targets), duties(servos(4), targets))


def test_duty_changes_at_its_rate() -> None:
    arrays = servos(max_duty_rate=20.0)
    found = [duties(arrays, target)[0] for target in [1.0] * 3 + [-1.0] * 5]
    np.testing.assert_allclose(found, [0.1, 0.2, 0.3, 0.2, 0.1, 0.0, -0.1, -0.2], atol=1e-6)


@pytest.mark.parametrize("distance", [0.003, 0.2, 2.0, -2.0])
@pytest.mark.slow
def test_profile_is_the_trapezoid(distance) -> None:
    top, a, h = 1.5, 4.0, 0.001
    arrays = servos(profile_velocity=top, profile_acceleration=a)
    zero, places, speeds = np.zeros((1, 1), np.float32), [], []
    for _ in range(4000):
        arrays.step(zero, zero, zero + np.float32(distance), h)
        places.append(state_of(arrays, "setpoint")[0])
        speeds.append(state_of(arrays, "setpoint_velocity")[0])
    far, fastest = abs(distance), min(top, math.sqrt(a * abs(distance)))
    wanted = far / fastest + fastest / a
    assert abs((np.flatnonzero(np.abs(np.array(places) - distance) > 1e-6)[-1] + 2) * h - wanted) < 4 * h
    assert np.abs(speeds).max() == pytest.approx(fastest, rel=0.01, abs=a * h)
    assert (np.abs(places) <= far + 5e-6).all() and np.abs(np.diff(speeds)).max() <= a * h * 1.001
    assert places[-1] == pytest.approx(distance, abs=1e-6) and abs(speeds[-1]) < 1e-3


def test_profile_brakes_by_its_acceleration_in_each_step() -> None:
    """From v = n·a·h it goes on by a·h² times n − 1, n − 2, …, 1: the velocities at which it stops at the target."""
    a, most = 4.0, 6
    arrays, speeds = servos(profile_acceleration=a), []
    # up in `most` steps, and down in as many
    target = a * H * H * most * most
    for _ in range(2 * most):
        duties(arrays, target)
        speeds.append(state_of(arrays, "setpoint_velocity")[0])
    ramp = np.arange(1, most + 1)
    np.testing.assert_allclose(speeds, a * H * np.r_[ramp, ramp[-2::-1], 0], rtol=1e-4, atol=1e-6)
    assert state_of(arrays, "setpoint")[0] == pytest.approx(target, rel=1e-6)


def test_profile_with_one_limit() -> None:
    ramp, zero = servos(profile_velocity=2.0), np.zeros((1, 1), np.float32)
    for _ in range(50):
        ramp.step(zero, zero, zero + 1, H)
    assert state_of(ramp, "setpoint")[0] == pytest.approx(0.5, rel=1e-5)
    triangle, speeds = servos(profile_acceleration=4.0), []
    for _ in range(400):
        triangle.step(zero, zero, zero + 1, H)
        speeds.append(state_of(triangle, "setpoint_velocity")[0])
    assert max(speeds) == pytest.approx(2.0, rel=0.02)
    assert state_of(triangle, "setpoint")[0] == pytest.approx(1.0, abs=1e-6)


def test_profile_starts_where_the_joint_is() -> None:
    arrays = servos(profile_velocity=1.0)
    duties(arrays, 2.0, positions=0.5)
    assert state_of(arrays, "setpoint")[0] == pytest.approx(0.5 + H)
    arrays.reset()
    duties(arrays, 2.0, positions=-1.0)
    assert state_of(arrays, "setpoint")[0] == pytest.approx(-1.0 + H)


@pytest.mark.parametrize("name", ControllerServo.PARAMETERS)
@pytest.mark.parametrize("value", [-1.0, math.nan])
def test_parameters_out_of_range_are_a_fault(name, value) -> None:
    arrays = servos(profile_velocity=1.0, profile_acceleration=1.0)
    getattr(arrays.actuators[0].controller, name).fill_(value)
    duties(arrays, 1.0)
    assert len(arrays.faults) == 1


def test_component_alone() -> None:
    arguments = ControllerServo.resolve_arguments({"kp": 400.0, "error_gain": 0.003, "voltage": 7.5})
    assert arguments["max_duty"] == 1.0 and arguments["profile_velocity"] == math.inf
    with pytest.raises(ValueError, match="voltage = 0"):
        ControllerServo.resolve_arguments({"kp": 1.0, "error_gain": 1.0, "voltage": 0.0})


def test_settles_as_a_motor_in_volts_does() -> None:
    """Under a load the joint droops by load·R/(K·V·gain); the winding damps it with its back-EMF."""
    arrays = servos(1)
    stiffness = 0.4 / 4.0 * 7.5 * 400.0 * 4096 / (2 * math.pi) / (256 * 885)
    q = v = 0.0
    for _ in range(8000):
        now, speed, target = (np.full((1, 1), one, np.float32) for one in (q, v, 0.5))
        v += 0.001 * (float(arrays.step(now, speed, target, 0.001)[0, 0]) - 0.1) / 0.002
        q += 0.001 * v
    assert q == pytest.approx(0.5 - 0.1 / stiffness, rel=1e-4) and abs(v) < 1e-5
