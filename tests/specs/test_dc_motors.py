"""MuJoCo's `dcmotor` as a motor: what gears, limits and missing parts make of its numbers."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.specs.dc_motors import INPUTS, DCMotor, imported
from refusals import cases

POS, NONE = INPUTS["pos"], INPUTS["none"]


def motor_of(dynamics=(), gain=(0.5, 0.25), bias=(), **values):
    actuator = DCMotor(dynamics, gain, bias, **values)
    assert not actuator.problem
    found = imported(actuator, {"armature": 0.1, "friction": 0.0, "viscous_friction": 0.3})
    return found.motor, found.lost


def test_motor_in_volts() -> None:
    motor, lost = motor_of(gear=4.0, controls=(-12.0, 12.0), forces=(-2.0, 2.0))
    assert motor.controller == aa.ServoControlConfig(0.0, 0.0, 12.0)
    assert motor.clamping == [aa.MaxEffortClampingConfig(2.0)] and not lost
    assert motor.others == [
        aa.ElectricalConfig(0.25, 0.5, voltage=12.0, command="voltage", discretization="mujoco"),
        aa.TransmissionConfig(4.0, targets="motor"),
    ]
    assert (motor.armature, motor.friction, motor.viscous_friction) == (0.1, 0.0, 0.3)
    zero = np.zeros((1, 1), np.float32)
    arrays = aa.ActuatedArrays(["j"], {".*": motor})
    np.testing.assert_allclose(arrays.step(zero, zero + 0.5, zero, 0.01, feedforward=zero + 2.0), [[2.0 * 1.5]])
    np.testing.assert_allclose(arrays.step(zero, zero + 0.5, zero, 0.01, feedforward=zero + 20.0), [[8.0]])


def test_gear_that_reverses_a_motor_in_volts() -> None:
    motor, _ = motor_of(gear=-4.0)
    zero = np.zeros((1, 1), np.float32)
    arrays = aa.ActuatedArrays(["j"], {".*": motor})
    expected = -4.0 * 0.25 / 0.5 * (0.75 + 4.0 * 0.25 * 0.5)
    np.testing.assert_allclose(arrays.step(zero, zero + 0.5, zero, 0.01, feedforward=zero + 0.75), [[expected]])


def test_limit_of_the_joint() -> None:
    for gear, most in ((1.0, 2.0), (4.0, 1.5), (-8.0, 0.75)):
        motor = imported(DCMotor((), (0.5, 0.25), (), POS, gear, (-2.0, 2.0)), {}, 6.0).motor
        assert motor.clamping == [aa.MaxEffortClampingConfig(most)]
        assert motor.others[1:] == ([] if gear == 1.0 else [aa.TransmissionConfig(gear)])


def test_controllers() -> None:
    """Gains and the limit of the integral are those before the gear; 0 is no limit."""
    gains = (0.5, 0.25, 0.0, 0.0, 3.0, 2.0, 0.4, 24.0)
    motor, _ = motor_of((*[0.0] * 8, 0.2), gains, inputs=POS, gear=-2.0)
    assert motor.controller == aa.PIDControlConfig(3.0, 2.0, 0.4, 0.2)
    assert motor.others[0].voltage == 24.0 and motor.others[0].command == "effort"
    assert motor.others[1] == aa.TransmissionConfig(-2.0)
    motor, _ = motor_of((), gains, inputs=POS)
    assert motor.controller.integral_max == math.inf
    motor, lost = motor_of((*[0.0] * 7, 5.0, 0.2), gains, inputs=POS)
    assert motor.controller == aa.SlewedPIDControlConfig(3.0, 2.0, 0.4, 5.0, 0.2) and not lost
    motor, _ = motor_of((*[0.0] * 7, 5.0, 0.2), (*gains[:5], 0.0), inputs=POS)
    assert motor.controller == aa.SlewedPIDControlConfig(3.0, 0.0, 0.0, 5.0)
    motor, _ = motor_of((), (0.5, 0.25), inputs=INPUTS["ff"])
    assert motor.controller == aa.PDControlConfig(0.0, 0.0) and motor.others[0].voltage == math.inf


def test_passive_devices() -> None:
    """A shorted winding brakes; without a motor constant there is none, and no controller, unless a limit needs one."""
    motor, _ = motor_of(inputs=NONE, bias=(0.1, 3.0, 0.2))
    assert motor.controller == aa.PDControlConfig(0.0, 0.0) and motor.others[0].driver == "shorted"
    motor, _ = motor_of(inputs=NONE, gain=(1.0, 0.0), bias=(0.1, 3.0, 0.2), gear=-2.0)
    assert motor.controller is None and motor.others == [aa.CoggingConfig(0.2, -6.0, 0.2 + math.pi)]
    motor, lost = motor_of(inputs=NONE, gain=(1.0, 0.0), bias=(0.1, 3.0), forces=(-1.0, 1.0))
    assert motor.controller == aa.PDControlConfig(0.0, 0.0) and motor.clamping
    assert lost == ["a limit of the force that includes cogging and friction"]


def test_winding() -> None:
    """A rate without an inductance limits nothing; the resistance is that at 25 °C, and L/R that of the file there."""
    assert motor_of((0.0, 30.0))[0].others[0].max_current_rate == math.inf
    motor, lost = motor_of((0.004, 30.0, *[0.0] * 5, 7.0), (0.5, 0.25, 0.004, 50.0))
    (winding,) = motor.others
    assert winding.resistance == pytest.approx(0.45) and winding.inductance == pytest.approx(0.0018)
    assert winding.max_current_rate == 30.0 and lost == ["the slew rate of a control that is no position"]
    assert (winding.resistance * (1 + winding.temperature_coefficient * 25.0)) == pytest.approx(0.5)


def test_voltages_are_those_of_the_reference_temperature() -> None:
    """The drive of MuJoCo takes that resistance for its torque: gains are less by as much as ours at 25 °C is more."""
    gains = (0.5, 0.25, 0.004, 0.0, 3.0, 2.0, 0.4)
    motor, lost = motor_of((), gains, inputs=POS)
    assert motor.controller == aa.PIDControlConfig(*(pytest.approx(one / 1.1) for one in (3.0, 2.0, 0.4))) and not lost
    _, lost = motor_of((), gains, inputs=POS | INPUTS["ff"])
    assert lost == ["the voltage of its feedforward at another temperature than 25 °C"]


def test_heat() -> None:
    for lag, step in ((0.0, "mujoco"), (0.004, "mujoco_inductance")):
        motor, _ = motor_of((lag, 0.0, 2.0, 30.0, 15.0), (0.5, 0.25, 0.004, 50.0))
        heat = motor.others[1]
        assert (heat.winding_capacity, heat.winding_resistance, heat.ambient) == (30.0, 2.0, 15.0)
        assert heat.motor_constant == pytest.approx(0.25 / math.sqrt(0.45)) and heat.discretization == step
        assert heat.temperature_coefficient == pytest.approx(0.004 * 0.5 / 0.45)


def test_bristles_are_the_whole_friction() -> None:
    actuator = DCMotor((*[0.0] * 5, 100.0, 2.0), (0.5, 0.25), (0, 0, 0, 0.1, 0.15, 0.4), gear=2.0)
    found = imported(actuator, {"armature": None, "friction": 0.2, "viscous_friction": 0.3})
    assert found.motor.others[2] == aa.LuGreFrictionConfig(400.0, 8.0, 0.3, 0.2, 0.3, 0.2, mujoco_discretization=True)
    assert found.motor.friction is None and found.motor.viscous_friction is None
    assert found.lost == ["the frictionloss of its joint beside bristles"]
    aa.ActuatedArrays(["j"], {".*": found.motor})


@cases(
    "values, problem",
    ({"inputs": POS | INPUTS["voltage"]}, "adds a voltage"),
    ({"inputs": INPUTS["vel"], "gain": (0.5, 0.25, 0, 0, 1.0)}, "position setpoint is fixed at 0"),
    ({"gear": 0.0, "inputs": POS}, "a DC motor with the gear 0"),
    ({"gain": (0.0, 0.25)}, "a DC motor with the resistance 0"),
    ({"forces": (-1.0, 2.0)}, "its forcerange -1 … 2 is not symmetric"),
    ({"controls": (0.0, 2.0)}, "its ctrlrange 0 … 2, which limits the voltage"),
    ({"controls": (0.0, 2.0), "inputs": POS}, ""),
)
def test_actuators_that_no_motor_stands_for(values, problem) -> None:
    found = DCMotor(**{"dynamics": (), "gain": (0.5, 0.25), "bias": ()} | values).problem
    assert problem in found and bool(found) == bool(problem)
