"""Drivers and saturation of a winding: bandwidth, dead zone, resistance, and a torque constant that falls."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import Plant, efforts_of
from refusals import cases, refused
from scipy.integrate import solve_ivp

K, R, VOLTS, INERTIA = 0.5, 0.2, 24.0, 0.01


def config(**values) -> aa.ElectricalConfig:
    return aa.ElectricalConfig(**{"torque_constant": K, "resistance": R, "voltage": VOLTS} | values)


def test_bandwidth_is_a_lag_that_is_stepped_exactly() -> None:
    """i⁺ and mean effort of a step of the demand, against an integration, at any step size, within 1e-5."""
    for dt in (5e-3, 1e-3, 1e-4):
        plant = Plant(config(bandwidth=40.0), math.inf, dt)
        for step in range(1, 5):
            plant.run(1, effort=3.0)
            rate = 2 * math.pi * 40.0
            lag = solve_ivp(
                lambda _t, y, rate=rate: [rate * (6.0 - y[0]), K * y[0]], (0, step * dt), [0.0, 0.0],
                method="LSODA", rtol=1e-11, atol=1e-12, t_eval=[(step - 1) * dt, step * dt],
            )  # fmt: skip
            assert plant.state("current")[0] == pytest.approx(lag.y[0, -1], rel=1e-5)
            assert plant.effort[0] == pytest.approx((lag.y[1, -1] - lag.y[1, 0]) / dt, rel=1e-5)


def test_bandwidth_keeps_the_voltage() -> None:
    """R·i + K·v of the mean and of the last current are never beyond the supply, and reach it."""
    plant = Plant(config(bandwidth=100.0), INERTIA, 0.001, told=True)
    highest = 0.0
    for _ in range(400):
        plant.run(1, effort=50.0)
        volts = [R * one + K * plant.v[0] for one in (plant.effort[0] / K, plant.state("current")[0])]
        highest = max(highest, *volts)
    assert highest == pytest.approx(VOLTS, rel=1e-6) and plant.v[0] == pytest.approx(VOLTS / K, rel=1e-3)


def test_dead_zone_leaves_the_current_alone() -> None:
    plant = Plant(config(dead_zone=0.5), math.inf, 0.001)
    expected = 0.0
    for demand in (0.2, 0.4, 1.1, 1.3, 0.9, 5.0, 4.8):
        plant.run(1, effort=demand * K)
        expected = demand if abs(demand - expected) > 0.5 else expected
        assert plant.state("current")[0] == pytest.approx(expected, rel=1e-6)
        assert plant.effort[0] == pytest.approx(expected * K, rel=1e-6)


def test_driver_has_a_resistance() -> None:
    """In series: at the supply the stalled current is V/(R + R_driver), of which R alone warms the winding."""
    heat = aa.ThermalConfig(5.0, 1e6, temperature_coefficient=0.0)
    plant = Plant([config(driver_resistance=0.1), heat], math.inf, 0.01)
    plant.run(101, effort=1e3)
    current = VOLTS / 0.3
    assert plant.effort[0] == pytest.approx(K * current, rel=1e-6)
    assert plant.state("power")[0] == pytest.approx(VOLTS * current, rel=1e-6)
    # its loss acts from the second step on
    assert plant.state("temperature")[0] == pytest.approx(25.0 + 1.0 * R * current**2 / 5.0, rel=1e-4)


def test_saturated_torque() -> None:
    """K·i/√(1 + (i/i_s)²) of the demanded current within the supply; the driver does not know."""
    efforts = np.array([0.5, 5.0, -10.0, 20.0])
    found, state = efforts_of(config(voltage=math.inf, saturation_current=20.0), np.zeros(4), efforts, 0.01, {})
    current = efforts / K
    np.testing.assert_allclose(found, K * current / np.sqrt(1 + (current / 20.0) ** 2), rtol=1e-6)
    np.testing.assert_allclose(state["current"], current, rtol=1e-6)


def test_saturated_motor_runs_up_as_an_integration_says() -> None:
    """At its supply, where the constant is that of the step before: first order, to 1e-5 as steps get short."""
    knee, load = 40.0, -1.0

    def rates(_t, y):
        # R·i + K(i)·v = V
        low, high = -200.0, 200.0
        for _ in range(80):
            i = (low + high) / 2
            k = K / math.sqrt(1 + (i / knee) ** 2)
            low, high = (low, i) if R * i + k * y[0] > VOLTS else (i, high)
        return [(k * i + load) / INERTIA]

    expected = solve_ivp(rates, (0, 0.02), [0.0], method="LSODA", rtol=1e-9, atol=1e-9).y[0, -1]
    errors = []
    for dt in (4e-5, 2e-5, 1e-5):
        plant = Plant(config(saturation_current=knee), INERTIA, dt, told=True)
        plant.run(round(0.02 / dt), effort=1e3, load=load)
        errors.append(plant.v[0] - expected)
    assert abs(errors[-1]) < 2e-3 * expected
    # a straight line through the last two is 0 at dt = 0
    assert abs(2 * errors[2] - errors[1]) < 2e-5 * expected, errors


def test_ripple_grows_with_the_torque() -> None:
    turns = np.linspace(0.0, math.tau, 721)[:-1].astype(np.float32)[:, None].copy()
    stages = [aa.PDControlConfig(0.0, 0.0), aa.RippleConfig(0.1, 12.0, 0.4)]
    arrays = aa.ActuatedArrays(["j"], {"j": stages}, num_robots=len(turns))
    zero = np.zeros_like(turns)
    found = arrays.step(turns, zero, zero, 0.001, feedforward=zero - 5.0)
    np.testing.assert_allclose(found, -5.0 * (1 + 0.1 * np.cos(12.0 * turns.astype(float) + 0.4)), rtol=2e-6)
    assert found.mean() == pytest.approx(-5.0, rel=1e-5)


@cases(
    "values, said",
    ({"bandwidth": 50.0, "inductance": 1e-3}, "bandwidth = 50.0 beside inductance = 0.001: must be one of both"),
    ({"dead_zone": 0.1, "command": "voltage"}, "dead_zone = 0.1: must be left out where the command is a voltage"),
    ({"saturation_current": 9.0, "discretization": "mujoco"}, "saturation_current = 9.0: must be left out with"),
)
def test_what_does_not_go_together_is_named(values, said) -> None:
    refused(ValueError, lambda: aa.ActuatedArrays(["j"], {"j": [aa.PDControlConfig(1.0, 0.0), config(**values)]}), said)
