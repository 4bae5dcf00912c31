"""`Asked`: which joints, robot, topics and units a caller wants of the files of logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ....specs.lerobot import ServoCalibration


@dataclass(frozen=True)
class Asked:
    """What is wanted of the files of logs: joints, and the number of the robot in a recording of several.

    `topics` are those of a ROS 2 bag by role, `command` and `position`; see `choose`. `units` are by joint, with an
    empty name for all others, as are calibrations of servos. `columns` are names and units, `name:unit`; see
    `with_columns`.
    """

    joints: Sequence[str]
    robot: int | None = None
    topics: Mapping[str, str] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    calibration: Mapping[str, ServoCalibration] = field(default_factory=dict)
    columns: Mapping[str, str] = field(default_factory=dict)


def pairs_of(name: str, given: Sequence[str]) -> dict[str, str]:
    """Return the values of words such as `command=/x` by what stands before the sign; by an empty name without one."""
    pairs: dict[str, str] = {}
    for word in given:
        left, sign, right = word.partition("=")
        key, value = (left, right) if sign else ("", left)
        if not value or key in pairs:
            rule = "must have a value for each name, once. Correct it."
            raise ValueError(f"{name} = {' '.join(given)}: {rule}")
        pairs[key] = value
    return pairs
