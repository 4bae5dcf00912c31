"""Share of time in which clamps limit efforts, and the longest interval."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .intervals import NotedTable, longest, text_table


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
    limited_by: np.ndarray, durations: np.ndarray, robots: Sequence[str], joints: Sequence[str]
) -> SaturationTable:
    """Return the saturation of each robot, joint and clamp.

    Args:
        limited_by: Class names of clamps, empty for none, `(steps, robots, joints)`.
        durations: Duration of each step [s], `(steps,)`.
        robots: Names of the robots.
        joints: Names of the joints.
    """
    table, total = SaturationTable(), float(durations.sum())
    for robot, joint in itertools.product(range(len(robots)), range(len(joints))):
        clamps = limited_by[:, robot, joint]
        for clamp in sorted({*clamps.tolist()} - {""}):
            limited = clamps == clamp
            share = float(durations[limited].sum()) / total
            table.append(Saturation(robots[robot], joints[joint], clamp, share, longest(limited, durations)))
    table.sort(key=lambda one: -one.share)
    return table
