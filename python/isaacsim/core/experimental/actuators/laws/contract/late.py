"""Laws whose results act late: their parameters besides those of the law, and the past that a plan keeps of them.

A law with `LATE` returns, after its results, by how many steps they act late. The plan keeps the results of the last
steps in a ring of rows for each, and interpolates linearly between two:

    result acting = (1 − f)·result n steps ago + f·result n + 1 steps ago,  n + f the delay in steps

The first step after a reset writes its result to all rows. A step whose results, or inputs, are not finite is a fault
of the joint, and leaves the ring as it is. One whose effort alone is not finite does not: a number in the ring that is
too large for what comes after leaves it as others do. Delays beyond the rows that are kept are cut to those; for a
delay that stays 0 nothing is kept.
"""

from __future__ import annotations

from typing import ClassVar, Self

import numpy as np
import warp as wp

from ...specs.late import MAX_DELAY_STEPS, SHORTEST_STEP, LateConfig
from .base import Component

SPARE_ROWS = 2
"""Rows beyond the largest delay: the one before it, and one that a step with a fault may have overwritten."""


def kept_steps(config: LateConfig) -> int:
    """Return for how many steps of delay the stage of a config keeps the past; 0 for a delay that stays 0."""
    steps, seconds = config.delay_parts()
    needed = np.ceil(np.max(steps) + np.max(seconds) / SHORTEST_STEP - 1e-6)
    return int(np.max(config.max_steps)) or min(int(needed), MAX_DELAY_STEPS)


class LateComponent(Component):
    """A component whose results act late.

    Args:
        values: One array per parameter, in their order or by name; None means zero.
        max_steps: For how many steps of delay the past is kept; 0 for a delay that stays 0.

    Raises:
        TypeError: An array is missing.
        ValueError: The arrays differ in shape, or `max_steps` is out of range.
    """

    STEPS: ClassVar[str]
    """Name of the parameter with the delay in steps."""
    SECONDS: ClassVar[str]
    """Name of the parameter with the delay in seconds."""
    CONFIG: ClassVar[type[LateConfig]]  # pyright: ignore[reportIncompatibleVariableOverride]
    """Its config."""

    def __init__(self, *values: wp.array | None, max_steps: int = 64, **named: wp.array | None) -> None:
        if isinstance(max_steps, bool) or not 0 <= max_steps <= MAX_DELAY_STEPS:
            raise ValueError(
                f"max_steps = {max_steps!r}: must be an integer >= 0 and <= {MAX_DELAY_STEPS}. Give the largest delay "
                "in physics steps."
            )
        super().__init__(*values, **named)
        self.max_steps = int(max_steps)

    @property
    def depth(self) -> int:
        """Number of rows of its rings."""
        return self.max_steps + SPARE_ROWS

    @classmethod
    def from_config(cls, config: LateConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config, each value repeated for `num_actuators` actuators."""
        made = super().from_config(config, num_actuators, device)
        made.max_steps = kept_steps(config)
        return made
