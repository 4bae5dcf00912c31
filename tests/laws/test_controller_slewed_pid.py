"""PID control of a setpoint of limited velocity: MuJoCo's `pid` and `dcmotor` step by step, and what its parts do."""

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from mujoco_joint import SECONDS, mujoco_steps, our_steps
from one_inertia import state_of
from refusals import cases

DC_MOTOR = '<dcmotor joint="j" motorconst="0.3" resistance="0.7" input="pos" controller="5 {ki} 0.3 3 0 {volts}"/>'


def slewed(**values) -> aa.SlewedPIDControlConfig:
    return aa.SlewedPIDControlConfig(**{"kp": 5.0, "ki": 0.0, "kd": 0.3, "max_rate": 3.0} | values)


@pytest.mark.parametrize("dt", [0.005, 0.001])
@cases(
    "actuator, ki, volts",
    ('<pid joint="j" input="pos" kp="5" kv="0.3" slewmax="3"/>', 0.0, None),
    ('<pid joint="j" input="pos" kp="5" kv="0.3" ki="2" slewmax="3"/>', 2.0, None),
    (DC_MOTOR.format(ki=2, volts=0), 2.0, np.inf),
    (DC_MOTOR.format(ki=0, volts=4), 0.0, 4.0),
)
def test_has_the_numbers_of_mujoco(actuator, ki, volts, dt) -> None:
    """Ten seconds of targets that jump; an integral of the step before is a proportional gain that is less by ki·dt."""
    rng = np.random.default_rng(5)
    targets = np.repeat(rng.uniform(-2, 2, round(10 * SECONDS)), round(0.1 / dt)).astype(np.float32)
    theirs = mujoco_steps(dt, actuator, targets)
    winding = {"torque_constant": 0.3, "resistance": 0.7, "voltage": volts, "discretization": "mujoco"}
    stages = [slewed(kp=5.0 - ki * dt, ki=ki), *([] if volts is None else [aa.ElectricalConfig(**winding)])]
    scale = np.abs(theirs).max(axis=0)
    assert (scale > [1.0, 0.5, 0.3]).all()
    assert (np.abs(our_steps(dt, stages, targets) - theirs).max(axis=0) <= 1e-5 * scale).all()


def test_setpoint_is_a_ramp_to_the_target() -> None:
    arrays = aa.ActuatedArrays(["j"], {"j": [slewed(max_rate=2.0)]})
    position, rest, target = (np.full(1, one, np.float32) for one in (0.5, 0.0, 0.73))
    for _ in range(2):
        found = []
        for _ in range(15):
            arrays.step(position, rest, target, 0.01)
            found.append(state_of(arrays, "setpoint")[0])
        np.testing.assert_allclose(found[:11], 0.5 + 0.02 * np.arange(1, 12), rtol=1e-6)
        assert (np.array(found[11:]) == np.float32(0.73)).all()
        arrays.step(position, rest, -target, 0.01)
        assert state_of(arrays, "setpoint")[0] == pytest.approx(0.71)
        arrays.reset()


def test_integral_is_that_of_the_setpoint() -> None:
    arrays = aa.ActuatedArrays(["j"], {"j": [slewed(kp=0.0, kd=0.0, ki=10.0, max_rate=2.0, integral_max=0.002)]})
    rest, target = np.zeros(1, np.float32), np.ones(1, np.float32)
    efforts = [float(arrays.step(rest, rest, target, 0.01)[0]) for _ in range(5)]
    np.testing.assert_allclose(efforts, 10.0 * np.array([2e-4, 6e-4, 12e-4, 2e-3, 2e-3]), rtol=1e-5)


def test_without_a_limit_it_is_a_pid(backend) -> None:
    laws = [
        aa.PIDControlConfig(5.0, 2.0, 0.3, 0.1, 0.2),
        slewed(ki=2.0, max_rate=np.inf, integral_max=0.1, const_effort=0.2),
    ]
    both = [aa.ActuatedArrays(["j"], {"j": [law, aa.DelayConfig(2)]}, num_robots=9) for law in laws]
    rng = np.random.default_rng(0)
    for _ in range(20):
        given = rng.normal(size=(3, 9, 1)).astype(np.float32)
        np.testing.assert_array_equal(*(np.array(one.step(*given, 0.01)) for one in both))


def test_gains_are_those_of_its_setpoint() -> None:
    assert slewed(ki=2.0).gains_at_joint() == (5.0, 0.3, 2.0)
    assert slewed(ki=2.0, integral_max=0.0).gains_at_joint() == (5.0, 0.3, 0.0)
