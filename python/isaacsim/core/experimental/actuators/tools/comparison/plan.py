"""The plan of a comparison: joints that both sides have, and commands for them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from ...simulators.dof_properties import DofType
from ..trials.targets import from_csv
from ..trials.trial import room_of
from .side import Side, opened

# default amplitudes [rad], [m]
TURN, SLIDE = 0.3, 0.03
# frequencies of the sweep, at the start and at the end [Hz]
_SLOW, _FAST = 0.4, 3.0
# shares of the amplitude
_SWEEP, _STEP = 0.5, 0.5
# time of the first step, and of the last of the first ones [s]; time between steps
_FIRST, _LAST = 0.15, 0.45
_SHORT, _LONG = 0.35, 0.6
# what spreads any number of joints evenly
_GOLDEN = (np.sqrt(5.0) - 1.0) / 2.0


@dataclass(frozen=True, eq=False)
class Plan:
    """Commands for both sides, from the same pose.

    Args:
        joints: Names of the joints, one per column.
        start: Positions at which the motion begins [rad or m], shape `(joints,)`.
        targets: Returns position targets [rad or m], shape `(times, joints)`, for times [s], shape `(times,)`.
        seconds: Duration [s].
    """

    joints: tuple[str, ...]
    start: np.ndarray
    targets: Callable[[np.ndarray], np.ndarray]
    seconds: float


def sweep(
    joints: Sequence[str],
    pose: np.ndarray,
    limits: tuple[np.ndarray, np.ndarray],
    amplitude: np.ndarray,
    seconds: float,
) -> Plan:
    """Return a sweep of sines with steps around a pose, different for each joint.

    The sweep shows inertia, damping and delay, steps show limits of effort and speed, and rests between them friction.
    Arrays are `(joints,)` [rad or m]. Near limits, a joint moves less than its amplitude, or around a pose farther off.
    """
    for name, value in (("seconds", seconds), ("amplitude", amplitude)):
        if not (np.isfinite(value).all() and np.all(np.asarray(value) > 0)):
            raise ValueError(f"{name} = {value}: must be a finite number > 0. Correct it.")
    lower, upper = limits
    swing = np.minimum(amplitude, (upper - lower) / 2)
    middle = np.clip(pose, lower + swing, upper - swing)
    place = np.arange(1, len(joints) + 1) * _GOLDEN % 1.0
    first, apart = _FIRST + (_LAST - _FIRST) * place, _SHORT + (_LONG - _SHORT) * (1 - place)
    side = np.where(np.arange(len(joints)) % 2, -1.0, 1.0)

    def targets(times: np.ndarray) -> np.ndarray:
        time = times[:, None]
        phase = 2 * np.pi * (_SLOW * time + (_FAST - _SLOW) * time**2 / (2 * seconds))
        count = np.floor((time - first) / apart)
        steps = np.where(count < 0, 0.0, np.where(count % 2, -1.0, 1.0))
        return middle + swing * side * (_SWEEP * np.sin(phase * (0.75 + 0.5 * place)) + _STEP * steps)

    return Plan(tuple(joints), middle, targets, seconds)


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
    """Return the joints that two sides have in common; ValueError if there are none."""
    joints = [name for name in first.joints if name in second.joints]
    if not joints:
        raise ValueError(
            f"{second.file}: has joints {', '.join(second.joints)}, and {first.file} has {', '.join(first.joints)}: "
            "must have some in common. Give two files of the same robot with the same names of joints."
        )
    return joints
