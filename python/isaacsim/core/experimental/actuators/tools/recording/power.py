"""Mechanical power of joints: effort times the mean velocity over the step.

An effort is constant over a step while the velocity changes, so the work of the step is effort times distance, which
is `dt` times the mean of the velocities before and after. With the velocity before the step alone, a vibrating joint,
whose effort and velocity change sign in every step, would appear to brake while it drives.
"""

from __future__ import annotations

import numpy as np

from ...engine.recorded_signals import STICKING_SPEED


def velocities_after(before: np.ndarray, last: np.ndarray | None, is_reset: np.ndarray) -> np.ndarray:
    """Return the velocities after each step: those before the next one, `last` after the last one.

    Where a robot was reset, or that is unknown or not finite, the velocity before the step replaces it.
    """
    if not len(before):
        return before
    after = np.concatenate([before[1:], before[-1:] if last is None else last[None]])
    return np.where(is_reset[:, :, None] | ~np.isfinite(after), before, after)


def mean_power(efforts: np.ndarray, before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return the power in each step [W] from efforts and velocities before and after it, `(steps, robots, joints)`."""
    # a robot with a fault may have any velocity
    with np.errstate(invalid="ignore", over="ignore"):
        return efforts * (0.5 * before + 0.5 * after)


def at_rest(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    """Return a mask of the steps at whose start and end a joint is slower than `STICKING_SPEED`."""
    return (np.abs(before) < STICKING_SPEED) & (np.abs(after) < STICKING_SPEED)


class Resets:
    """The resets of recorded robots between the steps of a tape, of the last `capacity` steps or of all."""

    def __init__(self, robots: list[int], capacity: int | None) -> None:
        self._robots, self._capacity = robots, capacity
        # robots by the number of steps recorded before
        self._masks: dict[int, np.ndarray] = {}

    def note(self, count: int, mask: np.ndarray) -> None:
        """Record the reset of the robots of a mask, over all robots, after `count` steps."""
        chosen = mask[self._robots]
        if not count or not chosen.any():
            return
        self._masks[count] = self._masks.get(count, False) | chosen
        if self._capacity is not None:
            self._masks = {at: one for at, one in self._masks.items() if at > count - self._capacity}

    def after_steps(self, count: int, kept: int) -> np.ndarray:
        """Return which robots were reset after each of the kept steps, `(kept, robots)`, of `count` steps in all."""
        found = np.zeros((kept, len(self._robots)), bool)
        for at, mask in self._masks.items():
            if at > count - kept:
                found[at - 1 - (count - kept)] = mask
        return found
