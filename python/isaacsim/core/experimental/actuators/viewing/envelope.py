"""Between which efforts the clamps of an actuator would let one through, at the velocity that a joint has now."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..pipeline.plan import has_law


def envelope(clamps: Any, at: int, position: float, velocity: float) -> tuple[float, float]:
    """Return the least and the largest effort [N·m or N]; infinite without a clamp.

    Clamps that compute arrays, or remember something, are passed over.

    Args:
        clamps: Of an actuator, in their order.
        at: Number of the joint among those of the actuator, robot by robot.
        position: Of the joint [rad or m].
        velocity: Of the joint [rad/s or m/s].
    """
    lower, upper = -math.inf, math.inf
    for clamp in clamps:
        if not has_law(clamp) or clamp.STATE:
            continue
        values = [float(clamp.read(name)[at]) for name in clamp.PARAMETERS]
        if clamp.PREPARE is not None:
            prepared = clamp.PREPARE(*values)
            values = list(prepared) if isinstance(prepared, tuple) else [prepared]
        values += [float(np.interp(position, *clamp.curve(name))) for name in clamp.CURVES]
        lower, upper = (float(clamp.LAW(effort, position, velocity, *values)) for effort in (lower, upper))
    return lower, upper
