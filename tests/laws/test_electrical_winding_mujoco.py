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


def commands(dt: float, law: object) -> tuple[np.ndarray, np.ndarray]:
    """Targets and feedforward: volts, or angles, at random."""
    most = 10.0 if law is VOLTS else 2.0
    drawn = np.random.default_rng(5).uniform(-most, most, round(20 * SECONDS))
    held = np.repeat(drawn, round(0.05 / dt)).astype(np.float32)
    return (np.zeros_like(held), held) if law is VOLTS else (held, np.zeros_like(held))


def in_volts(**values) -> list:
    return [VOLTS, winding(command="voltage", **values)]


PD = aa.PDControlConfig(5.0, 0.2)
SUPPLY, INDUCTANCE = 'input="pos" controller="5 0 0.2 0 0 3" ', f'inductance="{L}" '
BRISTLES = 'cogging="0.05 4 0.3" lugre="30 0.3 0.05 0.08 0.2"'
RUBBING = [
    aa.CoggingConfig(0.05, 4.0, 0.3),
    aa.LuGreFrictionConfig(30.0, 0.3, 0.0, 0.05, 0.08, 0.2, mujoco_discretization=True),
]
CASES: dict[str, tuple[str, list]] = {
    "R": ("", in_volts()),
    "R L": (INDUCTANCE, in_volts(inductance=L)),
    "L rate": (INDUCTANCE + 'saturation="0 0 600"', in_volts(inductance=L, max_current_rate=600.0)),
    "R torque limit": ('saturation="0 4 0"', [*in_volts(), aa.MaxEffortClampingConfig(4 * K)]),
    "R L cogging bristles": (INDUCTANCE + BRISTLES, [*in_volts(inductance=L), *RUBBING]),
    "R heat": (HEAT, [VOLTS, *warm(command="voltage")]),
    "R heat in a warm room": (WARM, [VOLTS, *warm(60.0, command="voltage")]),
    "R L heat": (INDUCTANCE + HEAT, [VOLTS, *warm(command="voltage", inductance=L)]),
    "L rate heat": (
        f'{INDUCTANCE} saturation="0 0 600" {HEAT}',
        [VOLTS, *warm(command="voltage", inductance=L, max_current_rate=600.0)],
    ),
    "PD within the supply": ('input="pos" controller="5 0 0.2"', [PD, winding()]),
    "PD at the supply": (SUPPLY, [PD, winding(voltage=3.0)]),
    "PD L supply": (SUPPLY + INDUCTANCE, [PD, winding(voltage=3.0, inductance=L)]),
    "PD L supply rate": (
        f'{SUPPLY} {INDUCTANCE} saturation="0 0 900"',
        [PD, winding(voltage=3.0, inductance=L, max_current_rate=900.0)],
    ),
    "PD supply heat": (SUPPLY + HEAT, [PD, *warm(voltage=3.0)]),
    "PD supply heat in a warm room": (SUPPLY + WARM, [PD, *warm(60.0, voltage=3.0)]),
    "PD L heat": (f'input="pos" controller="5 0 0.2" {INDUCTANCE} {HEAT}', [PD, *warm(inductance=L)]),
}


@pytest.mark.parametrize("dt", [0.005, 0.001])
@pytest.mark.parametrize("case", CASES)
def test_has_the_numbers_of_mujoco(case, dt) -> None:
    more, stages = CASES[case]
    targets, feedforward = commands(dt, stages[0])
    theirs = mujoco_steps(dt, f"{MOTOR}{more}/>", targets + feedforward)
    ours = our_steps(dt, stages, targets, feedforward)
    scale = np.abs(theirs).max(axis=0)
    assert (scale > [1.0, 0.5, 0.3]).all()
    assert (np.abs(ours - theirs).max(axis=0) <= 1e-5 * scale).all(), np.abs(ours - theirs).max(axis=0) / scale


@pytest.mark.parametrize("supply", [0.0, 3.0])
def test_integral_is_a_step_ahead_of_mujocos(supply) -> None:
    """It has the error of the same step: a proportional gain that is less by ki·dt gives the same numbers."""
    dt, ki = 0.002, 8.0
    targets, feedforward = commands(dt, PD)
    theirs = mujoco_steps(dt, f'{MOTOR}input="pos" controller="5 {ki} 0.2 0 0 {supply}"/>', targets)
    limit = winding(voltage=supply) if supply else winding()
    ours = our_steps(dt, [aa.PIDControlConfig(5.0 - ki * dt, ki, 0.2), limit], targets, feedforward)
    assert (np.abs(ours - theirs).max(axis=0) <= 1e-5 * np.abs(theirs).max(axis=0)).all()


@pytest.mark.parametrize("case", ["R L", "PD L supply"])
@pytest.mark.slow
def test_the_default_converges_to_the_same(case) -> None:
    """The mean current differs from MuJoCo's by less for shorter steps; without an inductance by nothing here."""
    more, stages = CASES[case]
    errors = []
    for dt in (0.001, 0.00025):
        targets, feedforward = commands(dt, stages[0])
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
