"""Interface of the step of a plan, the same for all engines."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

import numpy as np
import warp as wp

from ...base.memory import Array
from ..plan import Plan, Row
from .binding import Columns, Indices
from .state import StepState


class Step(Protocol):
    """A compiled plan with its bindings and its state: `NativeStep`, `WarpStep` or `ArrayStagesStep`.

    States are `StepState`, or `ArrayStagesState` for a step with array stages.
    """

    @property
    def name(self) -> str:
        """Name of the engine."""
        ...

    @property
    def plan(self) -> Plan:
        """The plan."""
        ...

    @property
    def signals(self) -> Mapping[str, wp.array]:
        """Signals that laws ask for, by name, float32 `(robots, slots)`."""
        ...

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages that `observed` counts from 1."""
        ...

    def new_state(self) -> Any:
        """Return a fresh state."""

    def bind(self, binding: Columns | Indices) -> None:
        """Read signals and write efforts this way from now on."""

    def use(self, now: Any, after: Any) -> None:
        """Read the state `now` and write `after` from now on; the same one twice is updated in place."""

    def step(self, dt: float, /) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Reset state and faults of `robots`, indices or a mask, all by default."""

    def publish(self) -> None:
        """Publish the values that the next step publishes at its start."""

    def add_up_totals(self, on: bool) -> None:
        """Add up totals over the slots of the plan in each step from now on, or leave them to the host."""

    @property
    def now(self) -> StepState:
        """The part of the plan in the state that the next step reads."""
        ...

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the limits, 0 on a fault, and the last limit that changed each, from 1; `(robots, slots)`."""
        ...

    def motor_efforts(self) -> np.ndarray:
        """Efforts of the motors behind all limits, 0 on a fault, if observed; `(robots, slots)`."""
        ...

    @property
    def measured(self) -> Sequence[Array]:
        """Position, velocity and targets that controllers get, see `Plan.num_measured`; NaN since a reset."""
        ...

    @property
    def computed(self) -> Array:
        """Efforts before the limits, 0 on a fault, if observed; NumPy or Warp array, float32 `(robots, slots)`."""
        ...

    def materialize(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        ...

    def take_piece(self, row: Row, slots: tuple[int, ...], piece: wp.array) -> None:
        """Read the values of these slots of a row with a value per robot from `piece`, `(robots, these slots)`."""

    def values(self, row: Row) -> np.ndarray:
        """Current values of a row, `(robots, slots)`, read-only."""
        ...

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Robot, slot, code and step of the first fault of each since its reset, by slot and robot."""
        ...

    def on_fault(self, call: Callable[[], None]) -> None:
        """Call this once, after the first step on the CPU with a fault; on a GPU only `faults` tells."""

    def clear_faults(self) -> None:
        """Clear all faults, and count steps from 0 again."""

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Replace the faults and the number of steps."""

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all."""
        ...
