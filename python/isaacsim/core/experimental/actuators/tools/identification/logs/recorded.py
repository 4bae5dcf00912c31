"""Logs in recordings of this package."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from ...recording.files import Found, Subject
from ..log import REQUIRED, MotorLog
from .asked import Asked

RECORDED = {
    "command": ("position_targets",),
    "position": ("positions", "measured_positions"),
    "velocity": ("velocities", "measured_velocities"),
    "effort": ("motor_efforts", "applied_efforts"),
    "current": ("currents",),
    "volts": ("supply_voltages",),
    "temperature": ("winding_temperatures",),
}
"""Signals of recordings for each signal of a log, the best one first; drivers report efforts without friction."""

_ELECTRICAL = ("current", "volts", "temperature")


def recorded(path: Path, found: Found, settings: Mapping[str, float], asked: Asked) -> MotorLog:
    """Return the log of a robot of a recording."""
    steps, subject, arrays = found
    robot = _robot(path, subject, asked.robot)
    there = [joint for joint in asked.joints if joint in subject.joints]
    if not there:
        rule = f"must have some of {', '.join(asked.joints)}. Rename them, or choose the robot of this log"
        raise ValueError(f"{path} has joints {', '.join(subject.joints)}: {rule}.")
    columns = [subject.joints.index(joint) for joint in there]
    signals = {}
    for name, choices in RECORDED.items():
        array = _array(path, arrays, name, choices)
        # joints without electrical and thermal laws have 0
        if array is not None and (name not in _ELECTRICAL or array.any()):
            signals[name] = array[:, robot, columns]
    return MotorLog(np.r_[0.0, np.cumsum(steps)][:-1], there, signals, str(path), settings)


def _robot(path: Path, subject: Subject, robot: int | None) -> int:
    numbers = range(len(subject.robots))
    if robot is None and len(numbers) == 1:
        return 0
    if robot is None or robot not in numbers:
        listed = ", ".join(f"{number} ({subject.robots[number]})" for number in numbers[:10])
        raise ValueError(
            f"{path}: robot = {robot}: must be the number of one of {listed}. Give robot=0 for the first; the command "
            "has --robot-index 0."
        )
    return robot


def _array(path: Path, arrays: Mapping[str, np.ndarray], name: str, choices: Sequence[str]) -> np.ndarray | None:
    """Return the array of a signal, None if it was not recorded."""
    found = next((arrays[one] for one in choices if one in arrays), None)
    if found is None and name in REQUIRED:
        raise ValueError(f"{path} has no {choices[0]}: must have it. Ask for it by record(signals=…).")
    return found
