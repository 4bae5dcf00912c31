"""Run a plan with the native core: one call per step on the CPU. Without the compiled module there is none."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from ..components.clamping_dc_motor import ClampingDCMotor
from ..components.clamping_max_effort import ClampingMaxEffort
from ..components.clamping_position_based import ClampingPositionBased
from ..components.controller_pid import ControllerPID
from ..native import core
from .fault import Fault, fault_of
from .plan import Plan, Row

# how the core numbers things: parameters of controllers, followed by three per limit, and kinds of limits
CONTROL_ROWS = ("kp", "kd", "const_effort", "ki", "integral_max")
_STAGE_WIDTH = 3
LIMITS = (ClampingDCMotor, ClampingPositionBased, ClampingMaxEffort)


def is_native_there() -> bool:
    """Whether the native core was built."""
    return core is not None


class NativeEngine:
    """A plan of built-in laws on the CPU, bound to the arrays of one articulation.

    Args:
        plan: What to run; it has slots.

    `ACTUATORS_ISA` forces an instruction set: avx512, avx2 or baseline.
    """

    growing = frozenset({"waiting", "faults"})
    """Names in `save` whose size is no fixed one."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        integral = [kind >= 0 and plan.controllers[kind] is ControllerPID for kind in plan.controller_kind]
        tables = [
            (number, positions, efforts, [] if served.all() else served.tolist())
            for number, stage in enumerate(plan.stages)
            for positions, efforts, served in stage.tables
        ]
        stages = [LIMITS.index(stage.clamp) for stage in plan.stages]
        size = (plan.num_robots, plan.num_slots)
        self._core = core.Core(*size, integral, plan.delayed.tolist(), plan.depth, stages, tables)
        self._number = {id(row): CONTROL_ROWS.index(name) for name, row in plan.control.items()}
        for number, stage in enumerate(plan.stages):
            first = len(CONTROL_ROWS) + _STAGE_WIDTH * number
            self._number |= {id(row): first + place for place, row in enumerate(stage.rows.values())}
        for row in plan.rows():
            self._give(row)
        self._observed: tuple[Any, Any] = (None, None)
        self.step, self.command, self.limit = self._core.step, self._core.command, self._core.limit
        self.take_back = self._core.take_back

    @property
    def name(self) -> str:
        """Which instruction set runs."""
        return f"native {self._core.variant}"

    def bind(self, columns: Sequence[int], inputs: Sequence[wp.array], efforts: wp.array) -> None:
        """Attach the articulation's arrays.

        Args:
            columns: Column of each slot.
            inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(N, D)`.
            efforts: Where efforts go, float32 `(N, D)`; only the slots' columns are written.
        """
        self._core.bind([array.numpy() for array in inputs], efforts.numpy(), list(columns))

    def hand_over(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array) -> None:
        """Step in two halves from now on, `command` and `limit`, with these arrays between them.

        Args:
            signals: Positions, velocities and the delayed targets, float32 `(robots, slots)`; what is not finite leaves
                the value before.
            bad: Fault codes of the inputs, int32 `(robots, slots)`.
            efforts: Efforts before the limits, float32 `(robots, slots)`, NaN for a fault.
        """
        self._core.hand_over([array.numpy() for array in signals], bad.numpy(), efforts.numpy())

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Forget state and faults of `robots`, indices or a mask, all by default."""
        self._core.reset(np.flatnonzero(robots.numpy()).tolist() if isinstance(robots, wp.array) else robots)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the limits."""
        return self.plan.stage_names

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        size = (self.plan.num_robots, self.plan.num_slots)
        self._observed = (np.zeros(size, np.float32), np.zeros(size, np.uint8)) if on else (None, None)
        self._core.observe(*self._observed)

    def observed(self) -> tuple[Any, Any]:
        """Efforts before the limits, and the stage that changed each last, from 1; shape `(robots, slots)`."""
        return self._observed

    def spread(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        values = row.spread(self.plan.num_robots)
        self._give(row)
        return wp.array(values, dtype=wp.int32 if values.dtype == np.int32 else wp.float32, device="cpu", copy=False)

    @property
    def memory(self) -> int:
        """Bytes held besides the articulation's arrays and parameters of single robots."""
        return self._core.memory

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset, by slot and robot."""
        found = sorted(self._core.faults(), key=lambda fault: (fault[1], fault[0]))
        labels, names = self.plan.labels, self.plan.dof_names
        return [fault_of(labels[slot], names[slot], robot, step, code) for robot, slot, code, step in found]

    def save(self) -> dict[str, np.ndarray]:
        """A copy of everything that carries over from one step to the next, by name."""
        return self._core.save()

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned."""
        self._core.restore(dict(saved))

    def _give(self, row: Row) -> None:
        """Hand the values of a row to the core, which keeps those of every robot as they are."""
        values = row.shared if row.own is None else row.own
        if row is self.plan.lag:
            (self._core.share_lag if row.own is None else self._core.own_lag)(values)
        else:
            (self._core.share if row.own is None else self._core.own)(self._number[id(row)], values)
