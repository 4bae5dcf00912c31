"""The plan of a comparison: joints that both sides have, and commands for them."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from ...simulators.dof_properties import DofType
from ..trials.targets import from_csv
from ..trials.trial import room_of
from .commands import SLIDE, TURN, Plan, sweep
from .side import Side, opened

SECONDS = 3.0
"""Default duration [s]."""


def plan_of(
    first: Side,
    second: Side,
    *,
    seconds: float | None = None,
    amplitude: float | None = None,
    targets: Path | None = None,
) -> Plan:
    """Return commands for the joints that two sides have in common, around the pose of the first one.

    Args:
        first: The side whose pose and limits apply.
        second: The other side.
        seconds: Duration [s]; None means 3, or that of the file of targets.
        amplitude: Largest distance from the pose [rad or m]; None means 0.3 rad and 0.03 m. Joints near
            their limits move less.
        targets: CSV file of targets, as for `actuators run --targets`; None means a sweep with steps.

    Raises:
        ValueError: The sides have no joint in common, a number is out of range, or the file is invalid.
        OSError: The file cannot be read.
        HostError: The simulator of the first side is not installed.
    """
    joints = _common(first, second)
    with opened(first) as (simulation, robot, _):
        simulation.play()
        room, names = room_of(robot), list(robot.dof_names)
        columns = [names.index(name) for name in joints]
        turns = np.array([one is DofType.Rotation for one in robot.dof_types])[columns]
    if targets is not None:
        told, end = from_csv(targets, names, room)
        length = end if seconds is None else seconds

        def from_file(times: np.ndarray) -> np.ndarray:
            return np.stack([told(float(time))[0, columns] for time in times])

        return Plan(tuple(joints), told(0.0)[0, columns], from_file, length)
    lower, upper = (one[0, columns] for one in room.within())
    swing = np.where(turns, TURN, SLIDE) if amplitude is None else np.full(len(joints), amplitude)
    return sweep(joints, room.pose[0, columns], (lower, upper), swing, SECONDS if seconds is None else seconds)


def _common(first: Side, second: Side) -> list[str]:
    """Return the joints that two sides have in common.

    Raises:
        ValueError: There are none.
    """
    joints = [name for name in first.joints if name in second.joints]
    if not joints:
        raise ValueError(
            f"{second.file}: has joints {', '.join(second.joints)}, and {first.file} has {', '.join(first.joints)}: "
            "must have some in common. Give two files of the same robot with the same names of joints."
        )
    return joints
