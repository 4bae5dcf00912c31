"""Position and velocity of the joint as its controller measures them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ..base.memory import on_host

if TYPE_CHECKING:
    from .step.interface import Step


def measured_by(step: Step) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the position and velocity that the controllers of a step got last, `(robots, slots)` each.

    Those of a sensor at a motor are divided by the ratio of its transmission. They are NaN for robots that did not step
    since their reset. None if no joint of the step has a sensor.
    """
    if not step.measured:
        return None
    positions, velocities = (np.array(on_host(array)) for array in step.measured[:2])
    plan = step.plan
    at_motor = np.logical_or.reduce([stage.used & bool(stage.is_behind) for stage in plan.feedback])
    for gear in plan.transmissions:
        slots = np.flatnonzero(gear.used & at_motor)
        ratio, offset = (step.values(gear.rows[name])[:, slots] for name in ("ratio", "offset"))
        positions[:, slots] = (positions[:, slots] - offset) / ratio
        velocities[:, slots] /= ratio
    return positions, velocities
