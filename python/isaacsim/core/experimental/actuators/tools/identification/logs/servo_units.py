"""Units in which programs for servos write positions, and what they are in radians."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np

from ....specs.lerobot import UNITS
from .asked import Asked

Convert = Callable[[np.ndarray], np.ndarray]
"""Returns positions [rad] of those in another unit."""

_PLAIN = {"radians": 1.0, "degrees": math.pi / 180.0}
_KNOWN = (*_PLAIN, *(unit for unit in UNITS if unit not in _PLAIN))


def conversion(joint: str, asked: Asked) -> Convert:
    """Return what makes positions of a joint [rad] of those in its unit.

    With calibrations, degrees are those of LeRobot and turn with the drive mode of the servo; else they are plain.
    """
    unit, calibration = asked.units.get(joint, asked.units.get("", "")), asked.calibration.get(joint)
    if unit not in _KNOWN:
        rule = f"must be one of {', '.join(_KNOWN)}, which the dataset does not tell"
        raise ValueError(f"unit of {joint} = {unit or 'none'}: {rule}. Give --units UNIT {joint}=UNIT.")
    if unit == "radians":
        return np.asarray
    if calibration is not None:
        return functools.partial(calibration.to_joint, units=unit)
    if asked.calibration or unit not in _PLAIN:
        rule = "must have the calibration of its servo"
        raise ValueError(f"unit of {joint} = {unit}: {rule}. Give --calibration FILE, a file of LeRobot with {joint}.")
    return functools.partial(np.multiply, _PLAIN[unit])
