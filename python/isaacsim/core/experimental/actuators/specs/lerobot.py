"""Calibration files of LeRobot: what positions of a servo mean at its joint.

A file is a JSON object with an object per motor: `id`, `drive_mode` 0 or 1, `homing_offset`, `range_min` and
`range_max` in ticks of the encoder. The servo applies the homing offset itself, so that the ticks t which it reports
are those of the range. LeRobot writes positions in one of three units:

    normalized  200·(t − range_min)/(range_max − range_min) − 100, times −1 with drive mode 1
    percent     100·(t − range_min)/(range_max − range_min), or 100 minus that with drive mode 1
    degrees     360·(t − middle)/(resolution − 1), of either drive mode; middle = (range_min + range_max)/2

The position at the joint is q = sign·2π·(t − middle)/resolution in every unit, where sign is −1 with drive mode 1.
LeRobot's degree is thus 1 + 1/(resolution − 1) degrees. Positions beyond the range, which LeRobot cuts off, are kept.
Source: LeRobot as known, `motors/motors_bus.py`, `_normalize`; Dynamixel servos apply the drive mode themselves, and
LeRobot leaves it out for them: give `in_servo=True`.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final, cast

from ..base.errors import shown
from .arguments import json_of, path_of

UNITS: Final = ("normalized", "percent", "degrees", "ticks")
"""Units of positions: from -100 to 100, from 0 to 100, LeRobot's degrees, and ticks of the encoder."""

_FIELDS = ("id", "drive_mode", "homing_offset", "range_min", "range_max")
# a file of LeRobot has a few hundred bytes per motor
_MOST_BYTES = 1_000_000


@dataclass(frozen=True)
class ServoCalibration:
    """The calibration of one servo.

    Args:
        id: Number of the servo on its bus.
        drive_mode: 1 where the servo turns the other way, else 0.
        homing_offset: Ticks that the servo adds to or subtracts from those of its encoder.
        range_min: Smallest position of the joint [ticks].
        range_max: Largest position of the joint [ticks], greater than `range_min`.
        resolution: Ticks of a turn.
        in_servo: True if the servo applies the drive mode itself, so that positions have it already.
    """

    id: int
    drive_mode: int
    homing_offset: int
    range_min: int
    range_max: int
    resolution: int = 4096
    in_servo: bool = False

    @property
    def sign(self) -> float:
        """−1 where the joint turns against the ticks of the servo, else 1."""
        return -1.0 if self.drive_mode and not self.in_servo else 1.0

    @property
    def offset(self) -> float:
        """Angle of the servo at the zero of its joint, the middle of the range [rad]."""
        return 2.0 * math.pi / self.resolution * self._middle

    @property
    def limits(self) -> tuple[float, float]:
        """Least and largest position of the joint [rad]."""
        half = math.pi / self.resolution * (self.range_max - self.range_min)
        return -half, half

    def to_joint(self, values: Any, units: str = "normalized") -> Any:
        """Return positions at the joint [rad], a number or an array, of those in one of `UNITS`.

        Raises:
            ValueError: There are no such units.
        """
        scale, zero = self._line(units)
        return (values - zero) * scale

    def from_joint(self, positions: Any, units: str = "normalized") -> Any:
        """Return positions in one of `UNITS`, a number or an array, of those at the joint [rad].

        Raises:
            ValueError: There are no such units.
        """
        scale, zero = self._line(units)
        return positions / scale + zero

    @property
    def _middle(self) -> float:
        return (self.range_min + self.range_max) / 2.0

    def _line(self, units: str) -> tuple[float, float]:
        """Return radians at the joint per unit, and the zero of the joint in these units."""
        tick = 2.0 * math.pi / self.resolution
        span = self.range_max - self.range_min
        if units == "ticks":
            return self.sign * tick, self._middle
        if units == "degrees":
            return self.sign * tick * (self.resolution - 1) / 360.0, 0.0
        # the drive mode is in these units already
        if units == "normalized":
            return tick * span / 200.0, 0.0
        if units == "percent":
            return tick * span / 100.0, 50.0
        raise ValueError(f"units = {shown(units)}: must be one of {', '.join(UNITS)}. Name one.")


def load_lerobot_calibration(
    path: str | os.PathLike[str], *, resolution: int | Mapping[str, int] = 4096, in_servo: bool = False
) -> dict[str, ServoCalibration]:
    """Return the calibrations of a file of LeRobot by name of the motor, `shoulder_pan` for instance.

    Args:
        path: The file.
        resolution: Ticks of a turn, of all motors or by name; 4096 by default, as STS3215 and XL330 have.
        in_servo: True if the servos apply their drive mode themselves, as those of Dynamixel do.

    Raises:
        ValueError: It is no such file; a line for each problem.
        OSError: The file cannot be read.
    """
    file = path_of("path", path)
    given = json_of(file, _MOST_BYTES, "a calibration of LeRobot")
    if problems := [why for name, one in given.items() for why in _problems(f"{file}: {name}", one)]:
        raise ValueError("\n".join(problems))
    ticks = dict(resolution) if isinstance(resolution, Mapping) else dict.fromkeys(given, resolution)
    return {
        name: ServoCalibration(
            **{field: one[field] for field in _FIELDS}, resolution=ticks.get(name, 4096), in_servo=in_servo
        )
        for name, one in given.items()
    }


def _problems(subject: str, given: object) -> list[str]:
    if not isinstance(given, dict):
        return [f"{subject} = {shown(given)}: must be an object with {', '.join(_FIELDS)}. Correct it."]
    one = cast(dict[str, Any], given)
    problems = [
        f"{subject} has {shown(name)}: must have {', '.join(_FIELDS)}. Remove it."
        for name in one
        if name not in _FIELDS
    ]
    for name in _FIELDS:
        if name not in one:
            problems.append(f"{subject} has no {name}: must have it. Calibrate the robot again.")
        elif type(one[name]) is not int or not _RULES.get(name, lambda _: True)(one[name]):
            problems.append(
                f"{subject}.{name} = {shown(one[name])}: must be {_WORDS.get(name, 'an integer')}. Correct it."
            )
    if not problems and one["range_min"] >= one["range_max"]:
        problems.append(
            f"{subject}.range_min = {one['range_min']}: must be less than range_max, {one['range_max']}. Calibrate the "
            "robot again, moving each joint through its range."
        )
    return problems


_RULES: dict[str, Callable[[int], bool]] = {"id": lambda value: value >= 0, "drive_mode": lambda value: value in (0, 1)}
_WORDS = {"id": "an integer >= 0", "drive_mode": "0 or 1"}
