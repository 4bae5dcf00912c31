"""What a step remembers: one layout on every engine."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ..plan import Plan


@dataclass(eq=False)
class StepState:
    """Commands that wait and what laws remember, in NumPy or Warp arrays of one device.

    Columns of the delay stand for robots times delayed slots, robot-major, as those of `Delay.State` do; so do the
    numbers of a law for robots times the slots that have it.

    Args:
        buffer_pos: Position targets of the last steps, float32 `(depth, ·)`.
        buffer_vel: Velocity targets, alike.
        buffer_act: Feedforward, alike.
        num_pushes: How many rows hold a command, int32 `(·,)`: 0 or `depth` after a step.
        write_idx: The row written last, int32 `(1,)`.
        laws: Per stateful law of the plan one float32 array `(·,)` for each name in its `STATE`.
    """

    buffer_pos: Any
    buffer_vel: Any
    buffer_act: Any
    num_pushes: Any
    write_idx: Any
    laws: list[tuple[Any, ...]] = field(default_factory=list)

    @property
    def ring(self) -> tuple[Any, ...]:
        """The five arrays of the delay."""
        return self.buffer_pos, self.buffer_vel, self.buffer_act, self.num_pushes, self.write_idx

    def arrays(self) -> Iterator[Any]:
        """All arrays."""
        yield from self.ring
        for law in self.laws:
            yield from law


def new_state(plan: Plan, device: Any = None) -> StepState:
    """Return a state that remembers nothing, in Warp arrays of `device`, or in NumPy arrays without one."""

    def zeros(shape: Any, dtype: Any = np.float32) -> Any:
        return np.zeros(shape, dtype) if device is None else wp.zeros(shape, wp.dtype_from_numpy(dtype), device)

    delayed = plan.num_robots * plan.num_delayed
    buffers = [zeros((plan.depth, delayed)) for _ in range(3)]
    newest = zeros(1, np.int32)
    newest.fill(plan.depth - 1) if device is None else newest.fill_(plan.depth - 1)
    laws = [
        tuple(zeros(plan.num_robots * int(one.used.sum())) for _ in one.law.STATE) for one in plan.stateful
    ]
    return StepState(*buffers, zeros(delayed, np.int32), newest, laws)
