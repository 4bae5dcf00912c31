"""Mechanical power of joints: effort times the mean velocity over the step.

An effort holds for a step while the velocity changes, so the work of the step is effort times way, and the way is `dt`
times the mean of the velocities before and after. With the velocity before alone a joint that vibrates, whose effort
and velocity change sign in every step, seems to brake while it drives.
"""

from __future__ import annotations

import numpy as np


def mean_power(efforts: np.ndarray, before: np.ndarray, last: np.ndarray | None, is_reset: np.ndarray) -> np.ndarray:
    """Power in each step [W]; the velocity after a step is that before the next one.

    Args:
        efforts: Applied efforts, `(steps, robots, joints)`.
        before: Velocities before each step, alike.
        last: Velocities after the last step, `(robots, joints)`; None means unknown.
        is_reset: Whether a robot was reset after a step, `(steps, robots)`. There, and where the velocity after the
            step is unknown or not finite, that before the step stands for the mean.
    """
    if not len(before):
        return efforts
    after = np.concatenate([before[1:], before[-1:] if last is None else last[None]])
    after = np.where(is_reset[:, :, None] | ~np.isfinite(after), before, after)
    # a robot with a fault may have any velocity
    with np.errstate(invalid="ignore", over="ignore"):
        return efforts * (0.5 * before + 0.5 * after)


class Resets:
    """When robots were reset between the steps of a tape.

    Args:
        robots: Rows that are noted.
        capacity: How many steps the tape keeps, the last ones; None means all.
    """

    def __init__(self, robots: list[int], capacity: int | None) -> None:
        self._robots, self._capacity = robots, capacity
        # robots by the number of steps noted before
        self._masks: dict[int, np.ndarray] = {}

    def note(self, count: int, mask: np.ndarray) -> None:
        """Robots of this mask, of all robots, are reset after so many steps."""
        chosen = mask[self._robots]
        if not count or not chosen.any():
            return
        self._masks[count] = self._masks.get(count, False) | chosen
        if self._capacity is not None:
            self._masks = {at: one for at, one in self._masks.items() if at > count - self._capacity}

    def after_steps(self, count: int, kept: int) -> np.ndarray:
        """Whether a robot was reset after each of the kept steps, `(kept, robots)`, of `count` steps in all."""
        found = np.zeros((kept, len(self._robots)), bool)
        for at, mask in self._masks.items():
            if at > count - kept:
                found[at - 1 - (count - kept)] = mask
        return found
