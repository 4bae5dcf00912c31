"""Tables of what joints did over a recording: limited efforts, friction, and the electrical side of motors."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import TypeVar

import numpy as np

from ..plots.units import are_mixed, heading, units_of

T = TypeVar("T")


def intervals(mask: np.ndarray) -> list[tuple[int, int]]:
    """Return the first step of each run of true, and the step after its last."""
    edges = np.flatnonzero(np.diff(np.r_[False, mask, False])).tolist()
    return list(zip(edges[::2], edges[1::2], strict=True))


def longest(mask: np.ndarray, durations: np.ndarray) -> float:
    """Return the longest run of true [s], 0 for none."""
    until = np.r_[0.0, np.cumsum(durations)]
    return max((float(until[end] - until[start]) for start, end in intervals(mask)), default=0.0)


class NotedTable(list[T]):
    """Results of joints, and a note on what they do not show."""

    note = ""
    """A sentence, empty for none."""

    def _noted(self, text: str) -> str:
        return f"{text}\n{self.note}" if self.note else text


def text_table(rows: Sequence[Sequence[str]], num_names: int) -> str:
    """Return rows as lines of equal length; the first columns are names, left-aligned, the others numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    lines = []
    for row in rows:
        words = [cell.ljust(width) for cell, width in zip(row[:num_names], widths, strict=False)]
        numbers = [cell.rjust(width) for cell, width in zip(row[num_names:], widths[num_names:], strict=True)]
        lines.append("  ".join([*words, *numbers]))
    return "\n".join(lines)


@dataclass(frozen=True)
class Saturation:
    """One clamp of one joint.

    Args:
        robot: Name of the robot.
        joint: Name of the joint.
        clamp: Class name of the clamp.
        share: Share of the recorded time in which it limited the effort, 0 … 1.
        longest: Longest interval of that [s].
    """

    robot: str
    joint: str
    clamp: str
    share: float
    longest: float


class SaturationTable(NotedTable[Saturation]):
    """The clamps that limited an effort, the largest share first; `print` shows a table."""

    def __str__(self) -> str:
        if not self:
            return self._noted("no effort was limited")
        head = ("robot", "joint", "clamp", "share", "longest [s]")
        cells = [(one.robot, one.joint, one.clamp, f"{one.share:.1%}", f"{one.longest:.4g}") for one in self]
        return self._noted(text_table([head, *cells], 3))


def saturation(
    limited_by: np.ndarray, durations: np.ndarray, robots: Sequence[str], joints: Sequence[str], of_all: bool = False
) -> SaturationTable:
    """Return the saturation of each robot, joint and clamp, from class names of clamps, empty for none.

    `of_all` takes all robots as one: shares of their time together, and the longest interval of any.
    """
    table, total = SaturationTable(), float(durations.sum())
    groups = (
        {f"{len(robots)} robots": range(len(robots))} if of_all else {name: [row] for row, name in enumerate(robots)}
    )
    for (robot, rows), joint in itertools.product(groups.items(), range(len(joints))):
        clamps = limited_by[:, rows, joint]
        for clamp in sorted({*clamps.ravel().tolist()} - {""}):
            limited = clamps == clamp
            share = float(durations @ limited.sum(axis=1)) / (total * len(rows))
            most = max(longest(column, durations) for column in limited.T)
            table.append(Saturation(robot, joints[joint], clamp, share, most))
    table.sort(key=lambda one: -one.share)
    return table


@dataclass(frozen=True)
class JointFriction:
    """The friction of one joint.

    Args:
        robot: Name of the robot.
        joint: Name of the joint.
        sticking: Share of the recorded time in which it sticks, 0 … 1.
        longest: Longest interval of that [s].
        largest_effort: Largest friction effort [N·m or N].
        dissipated: Energy that friction takes out of the motion [J].
        turns: Whether the joint turns; else it slides; None if that is unknown.
    """

    robot: str
    joint: str
    sticking: float
    longest: float
    largest_effort: float
    dissipated: float
    turns: bool | None = None


class FrictionTable(NotedTable[JointFriction]):
    """The joints on which friction acts, the largest share of sticking first; `print` shows a table."""

    def __str__(self) -> str:
        if not self:
            return self._noted("no friction acted")
        turns = [one.turns for one in self]
        head = "robot", "joint", "sticks", "longest [s]", heading("largest effort", "effort", turns), "dissipated [J]"
        rows: list[tuple[str, ...]] = []
        for row in self:
            # with its unit if the heading has none
            unit = f" {units_of([row.turns]).effort}" * are_mixed(turns)
            numbers = f"{row.longest:.4g}", f"{row.largest_effort:.4g}{unit}", f"{row.dissipated:.4g}"
            rows.append((row.robot, row.joint, f"{row.sticking:.1%}", *numbers))
        return self._noted(text_table([head, *rows], 2))


def friction(
    signals: tuple[np.ndarray, np.ndarray, np.ndarray],
    durations: np.ndarray,
    robots: Sequence[str],
    joints: Sequence[str],
    turns: Sequence[bool | None] | None = None,
) -> FrictionTable:
    """Return the friction of each robot and joint, without joints that have none.

    The signals are sticking, passive efforts [N·m or N] and passive power [W], `(steps, robots, joints)` each.
    """
    table, total = FrictionTable(), float(durations.sum())
    for robot, joint in itertools.product(range(len(robots)), range(len(joints))):
        sticking, efforts, power = (signal[:, robot, joint] for signal in signals)
        if not (sticking.any() or efforts.any()):
            continue
        table.append(
            JointFriction(
                robots[robot],
                joints[joint],
                sticking=float(durations[sticking].sum()) / total,
                longest=longest(sticking, durations),
                largest_effort=float(np.abs(efforts).max()),
                dissipated=-float(power.astype(float) @ durations),
                turns=None if turns is None else turns[joint],
            )
        )
    table.sort(key=lambda one: -one.sticking)
    return table


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

    The signals are `electrical_power` [W], `losses` [W], `currents` [A], `terminal_voltages` [V], `at_voltage_limit`,
    and `winding_temperatures` [°C] where there are some, `(steps, robots, joints)` each.
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
