"""Draw the delays of robots anew whenever they are reset, so that a policy meets them all."""

from __future__ import annotations

import numbers
from collections.abc import Sequence

import numpy as np

from .actuator import Actuator


class DelayDraw:
    """Uniform random delays, one per robot and the same for all its joints.

    Args:
        actuators: Those with a delay get one, up to its `max_delay`.
        low: Smallest delay [physics steps].
        high: Largest delay [physics steps].
        seed: Of the random numbers; the same seed and resets give the same delays.

    Raises:
        ValueError: No actuator has a delay, one of them cannot hold `high`, the range is none, or a number is not an
            integer >= 0.
    """

    def __init__(self, actuators: Sequence[Actuator], low: int, high: int, seed: int) -> None:
        for name, value in (("low", low), ("high", high), ("seed", seed)):
            if isinstance(value, bool) or not isinstance(value, numbers.Integral) or value < 0:
                raise ValueError(
                    f"{name} = {value!r}: must be an integer >= 0. Give whole physics steps and a whole seed."
                )
        self._delays = [(actuator.delay, len(actuator.dof_names)) for actuator in actuators if actuator.delay]
        if not 0 <= low <= high:
            raise ValueError(f"low = {low}, high = {high}: must be 0 <= low <= high. Give delays in physics steps.")
        if not self._delays:
            raise ValueError("no actuator has a delay. Give one to those whose delay is to be drawn.")
        for actuator in actuators:
            if actuator.delay and high > actuator.delay.max_delay:
                raise ValueError(
                    f"actuator {actuator.label!r}: high = {high}: must be <= its largest delay, "
                    f"{actuator.delay.max_delay}. Lower it, or give the actuator a longer delay."
                )
        self._range = low, high + 1
        self._rng = np.random.default_rng(seed)

    def draw(self, robots: Sequence[int]) -> None:
        """Give some robots new delays."""
        steps = self._rng.integers(*self._range, size=len(robots))
        for delay, width in self._delays:
            now = delay.delay_steps.numpy().copy().reshape(-1, width)
            now[robots] = steps[:, None]
            delay.delay_steps.assign(now.ravel())
