"""Losses of a motor: iron, friction, driver and weak field; where their heat goes, and that no energy is missing."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import Plant, joints_of, state_of
from refusals import cases
from scipy.integrate import solve_ivp

K, R, INERTIA, VOLTS, DT = 0.5, 0.2, 0.01, 24.0, 0.002
LOSSES = {"hysteresis": 0.02, "eddy": 1e-3, "idle_power": 1.5, "flux_speed": 30.0, "flux_loss": 40.0}
NODES = {"housing_capacity": 40.0, "housing_resistance": 3.0, "max_temperature": math.inf}


def turned(stages: list, speed: float, steps: int, dt: float, effort: float = 0.0) -> aa.ActuatedArrays:
    plant = Plant(stages, math.inf, dt)
    for _ in range(steps):
        plant.v[:] = speed
        plant.run(1, effort=effort)
    return plant.arrays


def test_losses_of_each_kind() -> None:
    for speed in (0.0, -12.0, 50.0):
        arrays = turned([aa.LossesConfig(**LOSSES, friction=0.1, viscous=2e-3, gear=0.2, share=0.5)], speed, 1, DT, 3.0)
        v = abs(speed)
        iron = 0.02 * v + 1e-3 * v**2
        flux = 40.0 * max(0.0, 1 - 30.0 / max(v, 30.0)) ** 2
        assert state_of(arrays, "loss_power")[0] == pytest.approx(iron + flux + 1.5, rel=1e-6)
        rubbed = 0.1 * v + 2e-3 * v**2 + 0.2 * 3.0 * v
        assert state_of(arrays, "housing_heat")[0] == pytest.approx(iron + 0.5 * rubbed, rel=1e-6)
        assert state_of(arrays, "flux_heat")[0] == pytest.approx(flux, rel=1e-6)


@cases(
    "extra",
    {},
    {"inductance": 1e-3},
    {"inductance": 1e-4, "driver_resistance": 0.1},
    # within its supply: there, the mean current tells no mean square
    {"bandwidth": 150.0, "driver_resistance": 0.05, "voltage": 200.0},
    {"saturation_current": 30.0},
    {"saturation_current": 20.0, "inductance": 5e-4},
    ids=str,
)
def test_no_energy_is_missing(extra, rng) -> None:
    """Electrical − mechanical − stored = losses, within 1e-6 of what flows, of a joint that moves, also at its supply.

    Mechanical power is effort·(v + v⁺)/2, the loss (R + R_driver)·mean(i²), and what is stored ½·L·i².
    """
    volts = extra.get("voltage", VOLTS)
    winding = aa.ElectricalConfig(K, R, max_current=60.0, **{"voltage": volts} | extra)
    plant = Plant([winding, aa.LossesConfig(**LOSSES)], INERTIA, DT, told=True)
    inductance, bandwidth = extra.get("inductance", 0.0), extra.get("bandwidth", 0.0)
    resistance = R + extra.get("driver_resistance", 0.0)
    x = DT * resistance / inductance if inductance else math.tau * DT * bandwidth

    def mean_square(first: float, last: float) -> float:
        if not x:
            return last**2
        away = (first - last) / -math.expm1(-x)
        mean, squares = (-math.expm1(-n * x) / (n * x) for n in (1, 2))
        return (first - away) ** 2 + 2 * (first - away) * away * mean + away**2 * squares

    def now(name: str) -> float:
        return float(plant.state(name)[0])

    drawn = lost = work = flow = at_supply = 0
    for step in range(600):
        before, speed = now("current"), plant.v[0]
        plant.run(1, effort=20.0 * math.sin(0.01 * step) + 4.0 * rng.normal(), load=-0.1 * plant.v[0])
        stored = 0.5 * inductance * (now("current") ** 2 - before**2)
        mechanical = plant.effort[0] * (speed + plant.v[0]) / 2
        drawn += DT * (now("power") + now("loss_power"))
        lost += DT * (resistance * mean_square(before, now("current")) + now("loss_power"))
        work += DT * mechanical + stored
        flow += DT * (abs(now("power")) + abs(mechanical)) + abs(stored)
        at_supply += abs(now("terminal_voltage")) >= volts
    assert at_supply > 5 or bandwidth
    assert drawn - work == pytest.approx(lost, abs=1e-6 * flow)


@pytest.mark.parametrize("inductance", [0.0, 1e-3])
def test_heat_is_that_of_an_integration(inductance) -> None:
    """Temperatures of winding, housing and magnets within 1e-5 of their rise, of copper, iron, friction, weak field."""
    winding = aa.ElectricalConfig(K, R, voltage=200.0, inductance=inductance)
    heat = aa.ThermalConfig(6.0, 2.0, **NODES, temperature_coefficient=0.0, magnet_share=0.3, magnet_time=25.0)
    losses = aa.LossesConfig(**LOSSES, friction=0.1, viscous=1e-3)
    speed, dt, seconds, effort = 50.0, 0.02, 60.0, 4.0
    arrays = turned([winding, losses, heat], speed, round(seconds / dt) + 1, dt, effort)
    iron = 0.02 * speed + 1e-3 * speed**2
    copper = R * (effort / K) ** 2 + 40.0 * (1 - 30.0 / speed) ** 2
    housing = iron + 0.1 * speed + 1e-3 * speed**2

    def rates(_t, T):
        q = (T[0] - T[1]) / 2.0
        return [(copper - q) / 6.0, (q + housing - (T[1] - 25) / 3.0) / 40.0, (T[1] + 0.3 * (T[0] - T[1]) - T[2]) / 25]

    # what is published acts in the step after
    found = np.array([state_of(arrays, name)[0] for name in ("temperature", "housing_temperature", "magnet_rise")])
    found[2] += found[1]
    expected = solve_ivp(rates, (0, seconds), [25.0] * 3, method="LSODA", rtol=1e-10, atol=1e-10).y[:, -1]
    late = solve_ivp(rates, (0, seconds + dt), [25.0] * 3, method="LSODA", rtol=1e-10, atol=1e-10).y[:, -1]
    rise = np.abs(late - 25.0)
    # between a start with all of the heat in the first step and with none of it
    assert (found >= expected - 1e-5 * rise).all() and (found <= late + 1e-5 * rise).all()
    assert np.abs(late - expected).max() < 2e-2 * rise.max()


def test_magnets_weaken_the_motor() -> None:
    for extra in ({}, {"magnet_share": 0.5, "magnet_time": 9.0}):
        heat = aa.ThermalConfig(2.0, 2.0, **NODES, **extra)
        winding = aa.ElectricalConfig(K, R, voltage=VOLTS, magnet_coefficient=2e-3, command="voltage")
        arrays = turned([winding, heat], 0.0, 400, 0.05, 6.0)
        before = state_of(arrays, "housing_temperature")[0] + state_of(arrays, "magnet_rise")[0]
        zero = np.zeros((1, 1), np.float32)
        effort = arrays.step(zero, zero, zero, 0.05, feedforward=np.full((1, 1), 6.0, np.float32))[0, 0]
        current = state_of(arrays, "current")[0]
        assert before > 26.0 and effort == pytest.approx(current * K * (1 - 2e-3 * (before - 25.0)), rel=1e-6)


def test_robot_draws_its_losses() -> None:
    losses = aa.LossesConfig(hysteresis=2.0, idle_power=10.0)
    stages = [aa.ElectricalConfig(K, R, voltage=VOLTS), losses, aa.SupplyConfig(VOLTS, resistance=0.5)]
    volts = state_of(turned(stages, 10.0, 3, DT), "supply_voltage")[0]
    assert volts == pytest.approx(VOLTS - 0.5 * 30.0 / volts, rel=1e-5)


def test_recordings_have_losses() -> None:
    arrays = joints_of([aa.ElectricalConfig(K, R), aa.LossesConfig(**LOSSES)], 1)
    zero = np.zeros((1, 1), np.float32)
    with arrays.record() as log:
        for _ in range(3):
            arrays.step(zero, zero + 8.0, zero, DT, feedforward=zero + 3.0)
    iron = 0.02 * 8.0 + 1e-3 * 64.0
    np.testing.assert_allclose(log.loss_power[:, 0, 0], iron + 1.5, rtol=1e-5)
    np.testing.assert_allclose(log.losses[:-1, 0, 0], R * 36.0 + iron + 1.5, rtol=1e-5)
    np.testing.assert_allclose(log.housing_heat[:, 0, 0], iron, rtol=1e-5)
