"""The winding against the actuator `dcmotor` of MuJoCo, step by step: ten seconds of random commands."""

import math

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from mujoco_joint import SECONDS, mujoco_steps, our_steps

K, R, L = 0.3, 0.7, 0.002
MOTOR = f'<dcmotor joint="j" motorconst="{K}" resistance="{R}" '
HEAT = 'thermal="2 5 0 0.00393 25 25"'
# of a warm room
WARM = 'thermal="2 5 0 0.00393 25 60"'
# a servo without gain hands on its feedforward, a voltage
VOLTS = aa.ServoControlConfig(kp=0.0, error_gain=0.0, voltage=1.0)


def winding(discretization: str = "mujoco", **values) -> aa.ElectricalConfig:
    return aa.ElectricalConfig(torque_constant=K, resistance=R, discretization=discretization, **values)


def warm(ambient: float = 25.0, **values) -> list:
    """The winding of copper in a motor that gets hot within seconds, and its heat."""
    step = "mujoco_inductance" if "inductance" in values else "mujoco"
    heat = aa.ThermalConfig(
        *(5.0, 2.0),
        ambient=ambient,
        motor_constant=K / math.sqrt(R),
        temperature_coefficient=0.00393,
        discretization=step,
    )
    return [winding(temperature_coefficient=0.00393, **values), heat]


def commands(dt: float, most: float, in_volts: bool) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    held = np.repeat(rng.uniform(-most, most, round(20 * SECONDS)), round(0.05 / dt)).astype(np.float32)
    return (np.zeros_like(held), held) if in_volts else (held, np.zeros_like(held))


CASES: dict[str, tuple[str, list, float]] = {
    "R": ("", [VOLTS, winding(command="voltage")], 10.0),
    "R L": (f'inductance="{L}"', [VOLTS, winding(command="voltage", inductance=L)], 10.0),
    "L rate": (
        f'inductance="{L}" saturation="0 0 600"',
        [VOLTS, winding(command="voltage", inductance=L, max_current_rate=600.0)],
        10.0,
    ),
    "R torque limit": (
        'saturation="0 4 0"',
        [VOLTS, winding(command="voltage"), aa.MaxEffortClampingConfig(4 * K)],
        10.0,
    ),
    "R L cogging bristles": (
        f'inductance="{L}" cogging="0.05 4 0.3" lugre="30 0.3 0.05 0.08 0.2"',
        [
            VOLTS,
            winding(command="voltage", inductance=L),
            aa.CoggingConfig(0.05, 4.0, 0.3),
            aa.LuGreFrictionConfig(30.0, 0.3, 0.0, 0.05, 0.08, 0.2, mujoco_discretization=True),
        ],
        10.0,
    ),
    "R heat": (f"{HEAT}", [VOLTS, *warm(command="voltage")], 10.0),
    "R heat in a warm room": (f"{WARM}", [VOLTS, *warm(60.0, command="voltage")], 10.0),
    "R L heat": (f'inductance="{L}" {HEAT}', [VOLTS, *warm(command="voltage", inductance=L)], 10.0),
    "L rate heat": (
        f'inductance="{L}" saturation="0 0 600" {HEAT}',
        [VOLTS, *warm(command="voltage", inductance=L, max_current_rate=600.0)],
        10.0,
    ),
    "PD within the supply": ('input="pos" controller="5 0 0.2"', [aa.PDControlConfig(5.0, 0.2), winding()], 2.0),
    "PD at the supply": (
        'input="pos" controller="5 0 0.2 0 0 3"',
        [aa.PDControlConfig(5.0, 0.2), winding(voltage=3.0)],
        2.0,
    ),
    "PD L supply": (
        f'input="pos" controller="5 0 0.2 0 0 3" inductance="{L}"',
        [aa.PDControlConfig(5.0, 0.2), winding(voltage=3.0, inductance=L)],
        2.0,
    ),
    "PD L supply rate": (
        f'input="pos" controller="5 0 0.2 0 0 3" inductance="{L}" saturation="0 0 900"',
        [aa.PDControlConfig(5.0, 0.2), winding(voltage=3.0, inductance=L, max_current_rate=900.0)],
        2.0,
    ),
    "PD supply heat": (
        f'input="pos" controller="5 0 0.2 0 0 3" {HEAT}',
        [aa.PDControlConfig(5.0, 0.2), *warm(voltage=3.0)],
        2.0,
    ),
    "PD supply heat in a warm room": (
        f'input="pos" controller="5 0 0.2 0 0 3" {WARM}',
        [aa.PDControlConfig(5.0, 0.2), *warm(60.0, voltage=3.0)],
        2.0,
    ),
    "PD L heat": (
        f'input="pos" controller="5 0 0.2" inductance="{L}" {HEAT}',
        [aa.PDControlConfig(5.0, 0.2), *warm(inductance=L)],
        2.0,
    ),
}


@pytest.mark.parametrize("dt", [0.005, 0.001])
@pytest.mark.parametrize("case", CASES)
def test_has_the_numbers_of_mujoco(case, dt) -> None:
    more, stages, most = CASES[case]
    targets, feedforward = commands(dt, most, stages[0] is VOLTS)
    theirs = mujoco_steps(dt, f"{MOTOR}{more}/>", targets + feedforward)
    ours = our_steps(dt, stages, targets, feedforward)
    scale = np.abs(theirs).max(axis=0)
    assert (scale > [1.0, 0.5, 0.3]).all()
    assert (np.abs(ours - theirs).max(axis=0) <= 1e-5 * scale).all(), np.abs(ours - theirs).max(axis=0) / scale


@pytest.mark.parametrize("supply", [0.0, 3.0])
def test_integral_is_a_step_ahead_of_mujocos(supply) -> None:
    """It has the error of the same step: a proportional gain that is less by ki·dt gives the same numbers."""
    dt, ki = 0.002, 8.0
    targets, feedforward = commands(dt, 2.0, False)
    theirs = mujoco_steps(dt, f'{MOTOR}input="pos" controller="5 {ki} 0.2 0 0 {supply}"/>', targets)
    limit = winding(voltage=supply) if supply else winding()
    ours = our_steps(dt, [aa.PIDControlConfig(5.0 - ki * dt, ki, 0.2), limit], targets, feedforward)
    assert (np.abs(ours - theirs).max(axis=0) <= 1e-5 * np.abs(theirs).max(axis=0)).all()


@pytest.mark.parametrize("case", ["R L", "PD L supply"])
@pytest.mark.slow
def test_the_default_converges_to_the_same(case) -> None:
    """The mean current differs from MuJoCo's by less for shorter steps; without an inductance by nothing here."""
    more, stages, most = CASES[case]
    errors = []
    for dt in (0.001, 0.00025):
        targets, feedforward = commands(dt, most, stages[0] is VOLTS)
        theirs = mujoco_steps(dt, f"{MOTOR}{more}/>", targets + feedforward)
        values = {name: value for name, value in vars(stages[1]).items() if name != "discretization"}
        ours = our_steps(dt, [stages[0], aa.ElectricalConfig(**values)], targets, feedforward)
        errors.append(np.abs(ours - theirs)[:, :2].max(axis=0) / np.abs(theirs)[:, :2].max(axis=0))
    assert (errors[1] < 0.35 * errors[0]).all() and (errors[1] < 0.01).all(), errors


@pytest.mark.parametrize("command", ["voltage", "effort"])
def test_rate_limits_a_current_that_starts_to_change(command) -> None:
    rate, dt = 500.0, 0.002
    first = aa.PDControlConfig(0.0, 0.0) if command == "effort" else VOLTS
    zero, big = np.zeros(1, np.float32), np.full(1, 10.0, np.float32)
    for inductance, wanted in ((L, rate * L / R * (1 - np.exp(-dt * R / L))), (0.0, rate * dt)):
        stages = [first, winding(command=command, inductance=inductance, max_current_rate=rate)]
        assert our_steps(dt, stages, zero, big)[0, 2] == pytest.approx(K * wanted, rel=1e-5)
