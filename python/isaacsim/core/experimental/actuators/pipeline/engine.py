"""What computes the efforts of one articulation: the plan for the laws it knows, a custom stage beside it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from .actuator import Actuator
from .custom import CustomStage
from .entry import ActuatorEntry
from .fault import Fault
from .plan import compile_plan, is_custom
from .warp_engine import WarpEngine, as_warp


class Engine:
    """All actuators of an articulation on a device.

    Args:
        entries: What to run.
        num_robots: Number of robots.
        device: Warp device.

    Raises:
        ValueError: A parameter array has the wrong length or a value out of range.
    """

    def __init__(self, entries: Sequence[ActuatorEntry], num_robots: int, device: Any) -> None:
        self._num_robots, self._device = num_robots, device
        own = [is_custom(entry) for entry in entries]
        # which slots the plan runs; the others are the custom stage's
        self._planned = np.repeat(np.logical_not(own), [len(entry.dof_names) for entry in entries]).astype(bool)
        known = [entry for entry, mine in zip(entries, own, strict=True) if not mine]
        self._plan = WarpEngine(compile_plan(known, num_robots), device)
        self.actuators = [self._actuator(entry) for entry in entries]
        custom = [actuator for actuator, mine in zip(self.actuators, own, strict=True) if mine]
        self._custom = CustomStage(custom, num_robots, device)

    def bind(self, columns: Sequence[int], inputs: Sequence[Any], efforts: Any) -> None:
        """Attach the articulation's arrays.

        Args:
            columns: Column of each slot.
            inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(N, D)`.
            efforts: Where efforts go, float32 `(N, D)`; only the slots' columns are written.
        """
        *sources, target = (as_warp(array) for array in (*inputs, efforts))
        at = np.asarray(columns, np.int64)
        self._plan.bind(at[self._planned].tolist(), sources, target)
        self._custom.bind(at[~self._planned].tolist(), sources, target)
        self.place(columns, target.shape[1])

    def place(self, columns: Sequence[int], num_dofs: int) -> None:
        """Tell the actuators where they stand in flattened `(robots, num_dofs)` arrays."""
        slot, rows = 0, np.arange(self._num_robots)[:, None] * num_dofs
        for actuator in self.actuators:
            mine = np.asarray(columns[slot : slot + len(actuator.dof_names)])
            # into the same array, which the actuator's other index arrays are too
            actuator.indices.assign((rows + mine).ravel().astype(np.uint32))
            slot += len(actuator.dof_names)

    def step(self, dt: float) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""
        self._custom.step(dt)
        self._plan.step(dt)

    def reset(self, robots: Sequence[int] | None = None) -> None:
        """Forget state and faults of `robots`, all by default."""
        self._plan.reset(robots)
        self._custom.reset(robots)

    def save(self) -> dict[str, np.ndarray]:
        """Return a copy of everything that carries over from one step to the next, by name."""
        steps = {"steps": np.array([self._plan.steps, self._custom.steps])}
        return steps | {name: array.numpy().copy() for name, array in self._memory().items()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned.

        Raises:
            ValueError: It comes from other actuators; nothing is changed then.
        """
        memory = self._memory()
        expected = {name: array.shape for name, array in memory.items()} | {"steps": (2,)}
        given = {name: np.shape(values) for name, values in saved.items()}
        if given != expected:
            odd = sorted(name for name in {*given, *expected} if given.get(name) != expected.get(name))
            raise ValueError(
                f"saved state differs in {odd[:3]}: must come from the same actuators, robots and delays. "
                "Save it with the wrapper that restores it, or one like it."
            )
        for name, array in memory.items():
            array.assign(np.asarray(saved[name]))
        self._plan.steps, self._custom.steps = (int(steps) for steps in saved["steps"])

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        return [*self._plan.faults(), *self._custom.faults()]

    def _memory(self) -> dict[str, wp.array]:
        planned = {f"plan.{name}": array for name, array in self._plan.memory().items()}
        return planned | {f"custom.{name}": array for name, array in self._custom.memory().items()}

    def _actuator(self, entry: ActuatorEntry) -> Actuator:
        """What users see of an entry; `place` says where it stands."""
        count = self._num_robots * len(entry.dof_names)
        return Actuator(
            wp.zeros(count, dtype=wp.uint32, device=self._device),
            entry.controller,
            entry.delay,
            entry.clamping,
            control_feedforward_attr="joint_control_feedforward",
            label=entry.label,
            dof_names=entry.dof_names,
        )
