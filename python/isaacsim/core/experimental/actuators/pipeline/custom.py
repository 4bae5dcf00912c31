"""Actuators with a component of the user's own, stepped beside the plan.

Each is an `Actuator` over flat copies of the articulation's arrays, with two states that take turns. What the plan
promises holds here too: a joint with an input or effort that is not finite gets effort 0 for the step and latches a
fault, and the user's law never sees such an input.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp

from .actuator import Actuator
from .fault import EFFORT_FAULT, Fault, faults_of

wp.set_module_options({"enable_backward": False})

_EFFORT_FAULT = wp.constant(EFFORT_FAULT)
_INPUTS = ("joint_q", "joint_qd", "joint_target_pos", "joint_target_vel", "joint_control_feedforward")


@wp.kernel
def _take_kernel(values: wp.array2d[float], bit: int, flat: wp.array[float], bad: wp.array[int]):
    robot, column = wp.tid()
    i = robot * values.shape[1] + column
    value = values[robot, column]
    if wp.isfinite(value):
        flat[i] = value
    else:
        # the law goes on with the value before
        bad[i] = bad[i] | bit


@wp.kernel
def _check_kernel(indices: wp.array[wp.uint32], efforts: wp.array[float], bad: wp.array[int]):
    n = wp.tid()
    if not wp.isfinite(efforts[n]) and bad[indices[n]] == 0:
        bad[indices[n]] = _EFFORT_FAULT


@wp.kernel
def _hold_kernel(indices: wp.array[wp.uint32], bad: wp.array[int], before: wp.array[Any], after: wp.array[Any]):
    n = wp.tid()
    if bad[indices[n]] != 0:
        after[n] = before[n]


@wp.kernel
def _give_kernel(
    # In:
    columns: wp.array[int],
    flat: wp.array[float],
    bad: wp.array[int],
    step: int,
    # State in/out:
    fault: wp.array2d[int],
    fault_step: wp.array2d[int],
    # Out:
    efforts: wp.array2d[float],
):
    robot, slot = wp.tid()
    column = columns[slot]
    i = robot * efforts.shape[1] + column
    code = bad[i]
    effort = flat[i]
    if code == 0 and not wp.isfinite(effort):
        code = _EFFORT_FAULT
    if code != 0:
        effort = 0.0
        if fault[robot, slot] == 0:
            fault[robot, slot] = code
            fault_step[robot, slot] = step
    efforts[robot, column] = effort


class CustomStage:
    """Actuators stepped one by one, on the columns of one articulation.

    Args:
        actuators: With indices into flattened `(robots, DOFs)` arrays.
        num_robots: Number of robots.
        device: Warp device.
    """

    name = "custom"
    growing: frozenset[str] = frozenset()
    """Names in `save` whose size is no fixed one."""

    def __init__(self, actuators: Sequence[Actuator], num_robots: int, device: Any) -> None:
        self.actuators, self.num_robots, self.device = list(actuators), num_robots, device
        self.steps = 0
        self._labels = [(actuator.label, name) for actuator in actuators for name in actuator.dof_names]
        shape = (num_robots, len(self._labels))
        self._fault = wp.zeros(shape, dtype=wp.int32, device=device)
        self._fault_step = wp.zeros(shape, dtype=wp.int32, device=device)
        self._states = [(actuator.state(), actuator.state()) for actuator in self.actuators]

    def bind(self, columns: Sequence[int], inputs: Sequence[wp.array], efforts: wp.array) -> None:
        """Attach the articulation's arrays, as `Engine.bind`; `columns` are those of these actuators."""
        self._columns = wp.array(np.asarray(columns, np.int32), dtype=wp.int32, device=self.device)
        self._inputs, self._efforts = tuple(inputs), efforts
        size = efforts.shape[0] * efforts.shape[1]
        flat = {name: wp.zeros(size, dtype=wp.float32, device=self.device) for name in (*_INPUTS, "joint_f")}
        self._frame = SimpleNamespace(**flat)
        self._bad = wp.zeros(size, dtype=wp.int32, device=self.device)
        # compile before the first step, not in it
        parts = [part for one in self.actuators for part in (one.controller, one.delay, *one.clamping) if part]
        modules: set[Any] = {wp.get_module(type(part).__module__) for part in parts}
        modules |= {part.kernel().module for part in parts if part.LAW is not None}
        for module in (*modules, wp.get_module(__name__), wp.get_module(Actuator.__module__)):
            module.load(self.device)

    def step(self, dt: float) -> None:
        """Compute the efforts of all actuators; the states advance only when none of them raised."""
        self._bad.zero_()
        self._frame.joint_f.zero_()
        for number, (name, values) in enumerate(zip(_INPUTS, self._inputs, strict=True)):
            arrays = [values, 1 << number, getattr(self._frame, name), self._bad]
            wp.launch(_take_kernel, values.shape, arrays, device=self.device)
        for actuator, (now, after) in zip(self.actuators, self._states, strict=True):
            actuator.step(self._frame, self._frame, now, after, dt)
            self._hold_what_is_bad(actuator, now, after)
        self._states = [(after, now) for now, after in self._states]
        wp.launch(
            _give_kernel,
            self._fault.shape,
            [self._columns, self._frame.joint_f, self._bad, self.steps, self._fault, self._fault_step, self._efforts],
            device=self.device,
        )
        self.steps += 1

    def _hold_what_is_bad(self, actuator: Actuator, now: Any, after: Any) -> None:
        """A raw effort that is not finite is a fault before any clamp sees it; a law with a fault keeps its state."""
        indices, count = actuator.indices, actuator.num_actuators
        wp.launch(_check_kernel, count, [indices, actuator.computed_efforts, self._bad], device=self.device)
        if now is None or now.controller_state is None:
            return
        for name, before in vars(now.controller_state).items():
            if not isinstance(before, wp.array) or before.shape[-1] != count or before.ndim > 2:
                continue
            kept = getattr(after.controller_state, name)
            rows = [slice(None)] if before.ndim == 1 else range(before.shape[0])
            for old, new in ((before[row], kept[row]) for row in rows):
                wp.launch(_hold_kernel, count, [indices, self._bad, old, new], device=self.device)

    def observe(self, on: bool) -> None:
        """Nothing to prepare: each actuator keeps the effort it computed last."""

    def observed(self) -> tuple[Any, Any]:
        """Efforts before the limits, and 1 where the limits changed them; shape `(robots, slots)`."""
        columns = self._columns.numpy()
        shape = (self.num_robots, -1)
        computed = np.hstack([one.computed_efforts.numpy().reshape(shape) for one in self.actuators])
        return computed, (computed != self._frame.joint_f.numpy().reshape(shape)[:, columns]).astype(np.uint8)

    def reset(self, robots: Sequence[int] | None = None) -> None:
        """Forget state and faults of `robots`, all by default."""
        chosen = np.ones(self.num_robots, bool)
        if robots is None:
            self.steps = 0
        else:
            chosen[:] = False
            chosen[np.asarray(robots, np.int64)] = True
        for actuator, (now, _after) in zip(self.actuators, self._states, strict=True):
            if now is not None:
                mask = np.repeat(chosen, len(actuator.dof_names))
                now.reset(None if robots is None else wp.array(mask, dtype=wp.bool, device=self.device))
        self._fault.assign(np.where(chosen[:, None], 0, self._fault.numpy()))

    def save(self) -> dict[str, np.ndarray]:
        """A copy of everything that carries over from one step to the next, by name.

        Raises:
            TypeError: A component keeps its state in something else than a dataclass of Warp arrays.
        """
        return {"steps": np.array([self.steps])} | {name: array.numpy().copy() for name, array in self._memory()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned."""
        for name, array in self._memory():
            array.assign(np.asarray(saved[name]))
        self.steps = int(saved["steps"][0])

    def _memory(self) -> Iterator[tuple[str, wp.array]]:
        yield from {"fault": self._fault, "fault_step": self._fault_step}.items()
        for number, (now, _after) in enumerate(self._states):
            for part, state in vars(now).items() if now is not None else ():
                for name, array in vars(state).items() if state is not None else ():
                    if not isinstance(array, wp.array):
                        where = f"actuator {self.actuators[number].label!r}: {part}.{name}"
                        raise TypeError(f"{where} is no Warp array and cannot be saved. Keep the state in arrays.")
                    yield f"{number}.{part}.{name}", array

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        return faults_of(self._labels, self._fault.numpy(), self._fault_step.numpy())
