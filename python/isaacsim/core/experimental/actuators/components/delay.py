"""Command delay in physics steps.

    command acting at step k = command set at step max(k − d, 0)     d  delay_steps, k counted from the last reset

Delayed are position target, velocity target and feedforward; measurements never are. Edges: d = 0 is no delay; until d
steps have passed, the oldest command since the reset acts.

The plan keeps a ring of `max d + 1` rows and writes before it reads, so d = 0 needs no branch; the first command after
a reset fills every row, so no count of pushes is needed.
Source: NewtonActuatorDelayAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 Delay.
"""

from __future__ import annotations

from typing import Any, ClassVar, Self

import warp as wp

from ..specs.configs import DelayConfig
from .base import Component, repeated, resolved_scalars

wp.set_module_options({"enable_backward": False})


@wp.func
def ring_row(newest: int, lag: int, depth: int) -> int:
    """Return the ring row that was written `lag` steps before row `newest`."""
    return (newest - lag + depth) % depth


class Delay(Component):
    """Command delay of `N` actuators.

    Args:
        delay_steps: Delay in physics steps, int32, shape `(N,)`; 0 means none.
        max_delay: Largest delay that `delay_steps` may hold.

    Raises:
        ValueError: `max_delay` is negative.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("delay_steps",)

    def __init__(self, delay_steps: wp.array, max_delay: int) -> None:
        if max_delay < 0:
            raise ValueError(f"max_delay = {max_delay}: must be >= 0. Give the largest delay in physics steps.")
        self.delay_steps, self.max_delay = delay_steps, max_delay

    @classmethod
    def from_config(cls, config: DelayConfig, num_actuators: int, device: Any) -> Self:
        """Return the component of a config, its delay repeated for `num_actuators` actuators."""
        steps = repeated(config.delay_steps, num_actuators, device, wp.int32)
        return cls(steps, max_delay=config.delay_steps)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill `delay_steps` with the schema's fallback of 1 where absent and check it."""
        return resolved_scalars(DelayConfig, args, delay_steps=1)
