"""Conventions of brushless motors, each against three phases; a data sheet whose motor comes out as published."""

import dataclasses
import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from one_inertia import Plant
from refusals import cases, refused

RPM = math.tau / 60
# published figures of a flat motor with block commutation, 24 V, 70 W
FLAT = aa.MotorDataSheet(
    voltage=24.0,
    torque_constant=0.0369,
    resistance=0.608,
    inductance=0.463e-3,
    stall_torque=1.46,
    stall_current=39.5,
    no_load_speed=6110 * RPM,
    no_load_current=0.234,
    rotor_inertia=181e-7,
    housing_resistance=3.56,
    winding_resistance=4.1,
    winding_time=29.6,
    motor_time=178.0,
    max_temperature=125.0,
)


@pytest.mark.parametrize("connection", ["star", "delta"])
@pytest.mark.parametrize("resistance_of", ["phase", "line_to_line"])
@pytest.mark.parametrize("constant_of", ["amplitude", "rms"])
def test_sine_winding_is_three_phases(connection, resistance_of, constant_of) -> None:
    flux, pairs, star, dc, current = 0.01, 7, 0.15, 48.0, 12.0
    phase = star if connection == "star" else 3 * star
    given = {"phase": phase, "line_to_line": 2 * star}[resistance_of]
    constant = 1.5 * pairs * flux * (math.sqrt(2.0) if constant_of == "rms" else 1.0)
    most = current / math.sqrt(2.0) if constant_of == "rms" else current
    winding = aa.ElectricalConfig.from_pmsm(
        constant, given, dc, resistance_of=resistance_of, connection=connection, constant_of=constant_of,
        commutation="sine", max_current=most, gear_ratio=5.0,
    )  # fmt: skip
    angle = np.linspace(0.0, math.tau, 3001)[:-1, None] + np.array([0.0, -math.tau / 3, math.tau / 3])
    currents = -current * np.sin(angle)
    torque = (currents * (-pairs * flux * np.sin(angle))).sum(axis=1).mean()
    loss = (star * currents**2).sum(axis=1).mean()
    assert winding.max_current == pytest.approx(current)
    assert winding.torque_constant * current == pytest.approx(5.0 * torque)
    assert winding.resistance * current**2 == pytest.approx(loss)
    # without current the back-EMF between two terminals is the DC voltage
    fastest = dc / (math.sqrt(3.0) * pairs * flux)
    assert winding.voltage / (winding.torque_constant / 5.0) == pytest.approx(fastest)


def test_block_winding_is_that_of_the_sheet() -> None:
    block = aa.ElectricalConfig.from_pmsm(0.0369, 0.608, 24.0, resistance_of="line_to_line", commutation="block")
    assert (block.torque_constant, block.resistance, block.voltage) == (0.0369, 0.608, 24.0)
    for words, said in (
        ({"resistance_of": "phase", "commutation": "six"}, "commutation = 'six': must be one of 'sine', 'block'"),
        ({"resistance_of": "phase", "commutation": "block", "constant_of": "rms"}, "constant_of = 'rms' beside"),
    ):
        with pytest.raises(ValueError, match=said):
            aa.ElectricalConfig.from_pmsm(0.1, 0.1, **words)  # pyright: ignore[reportArgumentType]


def settled(load: float, steps: int = 3000) -> dict[str, float]:
    """Speed, current and electrical power of the motor of the sheet at its voltage under a load, cold."""
    motor = aa.motor_from_datasheet(FLAT, kp=0.0, kd=0.0)
    winding = next(one for one in motor.others if isinstance(one, aa.ElectricalConfig))
    friction = aa.FrictionConfig(coulomb=motor.friction, assumed_inertia=FLAT.rotor_inertia)
    plant = Plant([winding, friction], FLAT.rotor_inertia, 5e-4, velocity=600.0, told=True)
    plant.run(steps, effort=10.0, load=-load)
    return {"speed": plant.v[0], "current": plant.state("current")[0], "power": plant.state("power")[0]}


def test_flat_motor_of_its_sheet_runs_as_published() -> None:
    """No-load speed and current, gradient of speed over torque, largest efficiency: within 5 %."""
    idle, loaded = settled(0.0), settled(0.1)
    assert idle["speed"] / RPM == pytest.approx(6110, rel=0.05) and idle["current"] == pytest.approx(0.234, rel=0.05)
    assert ((idle["speed"] - loaded["speed"]) / RPM / 100) == pytest.approx(4.26, rel=0.05)
    best = max(load * now["speed"] / now["power"] for load in np.linspace(0.06, 0.2, 8) for now in [settled(load)])
    assert best == pytest.approx(0.85, rel=0.05)


def test_flat_motor_of_its_sheet_gets_as_warm_as_published() -> None:
    """At the nominal speed, 125 °C is reached at the continuous torque of 0.128 N·m, within 5 %."""
    motor = aa.motor_from_datasheet(FLAT, kp=0.0, kd=0.0)
    winding, losses, heat = (
        next(one for one in motor.others if isinstance(one, kind))
        for kind in (aa.ElectricalConfig, aa.LossesConfig, aa.ThermalConfig)
    )
    heat = dataclasses.replace(heat, max_temperature=math.inf)
    winding = dataclasses.replace(winding, voltage=math.inf, inductance=0.0, temperature_coefficient=0.00393)

    def temperature(current: float) -> float:
        plant = Plant([winding, losses, heat], math.inf, 5.0, robots=1)
        for _ in range(600):
            plant.v[:] = 4860 * RPM
            plant.run(1, effort=0.0369 * current)
        return float(plant.state("temperature")[0])

    low, high = 2.0, 6.0
    for _ in range(20):
        middle = (low + high) / 2
        low, high = (low, middle) if temperature(middle) > 125.0 else (middle, high)
    assert 0.0369 * low - motor.friction == pytest.approx(0.128, rel=0.05)
    # that of the free-running motor, which the sheet gives by itself
    assert FLAT.continuous_current == pytest.approx(low, rel=0.05)


def test_servo_never_exceeds_the_stall_torque_of_its_sheet() -> None:
    """A servo whose no-load speed tells a larger constant: the line of the sheet bounds it at every speed."""
    sheet = aa.MotorDataSheet(voltage=12.0, stall_torque=4.1, stall_current=2.3, no_load_speed=46 * RPM)
    with pytest.warns(UserWarning, match="stall_torque = 4.1"):
        motor = aa.motor_from_datasheet(sheet, kp=0.0, kd=0.0)
    for speed in np.linspace(0.0, 46 * RPM, 9):
        plant = Plant([*motor.others, *motor.clamping], math.inf, 0.001)
        plant.v[:] = speed
        plant.run(1, effort=100.0)
        assert plant.effort[0] <= 4.1 * (1 - speed / (46 * RPM)) + 1e-5
    plant = Plant([*motor.others, *motor.clamping], math.inf, 0.001)
    plant.run(1, effort=100.0)
    assert plant.effort[0] == pytest.approx(4.1, rel=1e-5)


def test_gear_that_loses_something() -> None:
    sheet = dataclasses.replace(FLAT, gear_ratio=50.0, gear_efficiency=0.8, no_load_split=0.4)
    motor = aa.motor_from_datasheet(sheet, kp=1.0, kd=0.1)
    friction = next(one for one in motor.others if isinstance(one, aa.FrictionConfig))
    losses = next(one for one in motor.others if isinstance(one, aa.LossesConfig))
    assert motor.friction is None and motor.viscous_friction is None
    lost = 0.0369 * 0.234 * 50.0
    assert friction.coulomb == pytest.approx(0.6 * lost) == losses.friction and losses.gear == pytest.approx(0.2)
    assert friction.coulomb + friction.viscous * (24.0 - 0.608 * 0.234) / (0.0369 * 50) == pytest.approx(lost)
    assert friction.motor_load + 0.8 * friction.external_load == pytest.approx(0.2)


@cases(
    "changed, said",
    ({"winding_time": None}, "winding_time = None: must be given with the other figures of heat"),
    ({"max_temperature": 20.0}, "max_temperature = 20.0: must be above ambient, 25.0"),
    ({"gear_efficiency": 1.5}, "gear_efficiency = 1.5: must be"),
)
def test_figures_of_heat_that_are_wrong_are_named(changed, said) -> None:
    refused(ValueError, lambda: dataclasses.replace(FLAT, **changed), said)
