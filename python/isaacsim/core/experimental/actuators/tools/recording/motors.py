"""Electrical side of motors over a recording: energy, losses, currents and temperatures."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields

import numpy as np

from .intervals import text_table


@dataclass(frozen=True)
class JointMotor:
    """The motor of one joint.

    Args:
        robot: Name of the robot.
        joint: Name of the joint.
        drawn: Electrical energy that the motor draws [J].
        returned: Electrical energy that it returns [J].
        losses: Energy that becomes heat in the winding [J].
        current: Root mean square of the current [A].
        largest_current: Largest current [A].
        largest_voltage: Largest voltage at the winding [V].
        at_voltage_limit: Share of the recorded time in which the supply limits the effort, 0 … 1.
        hottest: Highest temperature of the winding [°C]; 0 without a thermal law.
    """

    robot: str
    joint: str
    drawn: float
    returned: float
    losses: float
    current: float
    largest_current: float
    largest_voltage: float
    at_voltage_limit: float
    hottest: float


_HEADS = {
    "drawn": "drawn [J]",
    "returned": "returned [J]",
    "losses": "losses [J]",
    "current": "current, rms [A]",
    "largest_current": "largest [A]",
    "largest_voltage": "largest [V]",
    "at_voltage_limit": "at voltage limit",
    "hottest": "hottest [°C]",
}


_FORMATS = {"robot": "{}", "joint": "{}", "at_voltage_limit": "{:.1%}"}


class MotorTable(list[JointMotor]):
    """The joints with an electrical law, the largest losses first; `print` shows a table."""

    def __str__(self) -> str:
        if not self:
            return "no motor has a winding"
        names = [one.name for one in fields(JointMotor)]
        cells = [[_FORMATS.get(name, "{:.4g}").format(getattr(one, name)) for name in names] for one in self]
        return text_table([[_HEADS.get(name, name) for name in names], *cells], 2)


def motors(
    signals: Mapping[str, np.ndarray], durations: np.ndarray, robots: Sequence[str], joints: Sequence[str]
) -> MotorTable:
    """Return the electrical side of each robot and joint, without joints that have no electrical law.

    Args:
        signals: Recorded signals by name, `(steps, robots, joints)` each: `electrical_power` [W], `losses` [W],
            `currents` [A], `terminal_voltages` [V], `at_voltage_limit`, and `winding_temperatures` [°C] where there
            are some.
        durations: Duration of each step [s], `(steps,)`.
        robots: Names of the robots.
        joints: Names of the joints.
    """
    table, total = MotorTable(), float(durations.sum())
    for robot, joint in itertools.product(range(len(robots)), range(len(joints))):
        here = {name: signal[:, robot, joint].astype(float) for name, signal in signals.items()}
        currents, voltages, power = here["currents"], here["terminal_voltages"], here["electrical_power"]
        if not (currents.any() or voltages.any()):
            continue
        table.append(
            JointMotor(
                robots[robot],
                joints[joint],
                drawn=float(np.maximum(power, 0.0) @ durations),
                returned=-float(np.minimum(power, 0.0) @ durations),
                losses=float(here["losses"] @ durations),
                current=float(np.sqrt(currents**2 @ durations / total)),
                largest_current=float(np.abs(currents).max()),
                largest_voltage=float(np.abs(voltages).max()),
                at_voltage_limit=float(here["at_voltage_limit"] @ durations) / total,
                hottest=float(here["winding_temperatures"].max()) if "winding_temperatures" in here else 0.0,
            )
        )
    table.sort(key=lambda one: -one.losses)
    return table
