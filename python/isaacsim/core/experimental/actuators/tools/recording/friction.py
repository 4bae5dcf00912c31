"""Friction of joints over a recording: how long they stick, and the energy that is lost."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..plots.units import are_mixed, heading, units_of
from .intervals import NotedTable, longest, text_table


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
        return self._noted(text_table([head, *(_cells(one, are_mixed(turns)) for one in self)], 2))


def _cells(one: JointFriction, with_unit: bool) -> tuple[str, ...]:
    """Return the cells of a row, the effort with the unit of its joint if the heading has none."""
    unit = f" {units_of([one.turns]).effort}" if with_unit else ""
    numbers = f"{one.longest:.4g}", f"{one.largest_effort:.4g}{unit}", f"{one.dissipated:.4g}"
    return one.robot, one.joint, f"{one.sticking:.1%}", *numbers


def friction(
    signals: tuple[np.ndarray, np.ndarray, np.ndarray],
    durations: np.ndarray,
    robots: Sequence[str],
    joints: Sequence[str],
    turns: Sequence[bool | None] | None = None,
) -> FrictionTable:
    """Return the friction of each robot and joint, without joints that have none.

    Args:
        signals: Sticking, passive efforts [N·m or N] and passive power [W], `(steps, robots, joints)` each.
        durations: Duration of each step [s], `(steps,)`.
        robots: Names of the robots.
        joints: Names of the joints.
        turns: Whether each joint turns; None where that is unknown.
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
