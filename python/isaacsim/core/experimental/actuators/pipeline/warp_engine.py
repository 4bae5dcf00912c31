"""Run a plan with Warp: one kernel, one launch per step, on CPU or CUDA.

Per slot and robot: guard the inputs, write and read the delay ring, evaluate the law, guard the raw effort, limit,
store. A slot with an input that is not finite gets effort 0 for that step, keeps its state and latches a fault; no
other slot sees it.
"""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from ..components.clamping_max_effort import max_effort_clamp
from ..components.controller_pd import pd_effort
from ..components.delay import ring_row
from .plan import Plan

wp.set_module_options({"enable_backward": False})

# bits of the fault code, in the order of FAULT_INPUTS
FAULT_INPUTS = ("position", "velocity", "position target", "velocity target", "feedforward", "effort")


@dataclass(frozen=True)
class Fault:
    """An input or effort that was not finite; the joint's effort was 0 in that step.

    Args:
        label: Actuator prim path, or joint name of an actuator built in Python.
        dof_name: Joint.
        robot: Robot index.
        step: Step since the last reset of the wrapper, counted from 0.
        inputs: What was not finite.
        robot_path: Articulation root of the robot.
    """

    label: str
    dof_name: str
    robot: int
    step: int
    inputs: tuple[str, ...]
    robot_path: str = ""


@wp.struct
class _Parameters:
    base: wp.array[int]
    pitch: wp.array[int]
    columns: wp.array[int]
    kp: wp.array[float]
    kd: wp.array[float]
    const_effort: wp.array[float]
    max_effort: wp.array[float]
    lag: wp.array[int]
    depth: int


@wp.struct
class _State:
    # ring rows, then (slot, robot) as the parameters are laid out
    position_targets: wp.array2d[float]
    velocity_targets: wp.array2d[float]
    feedforward: wp.array2d[float]
    newest: wp.array[int]
    fresh: wp.array[int]
    fault: wp.array[int]
    fault_step: wp.array[int]


@wp.func
def _bad(value: float, bit: int) -> int:
    if wp.isfinite(value):
        return 0
    return bit


@wp.kernel
def _step_kernel(
    # Params:
    params: _Parameters,
    step: int,
    # In:
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
    position_targets: wp.array2d[float],
    velocity_targets: wp.array2d[float],
    feedforward: wp.array2d[float],
    # State in/out:
    state: _State,
    # Out:
    efforts: wp.array2d[float],
):
    robot, slot = wp.tid()
    column = params.columns[slot]
    i = params.base[slot] + robot * params.pitch[slot]

    # guard: nothing that is not finite enters state or law
    q = positions[robot, column]
    qd = velocities[robot, column]
    q_target = position_targets[robot, column]
    qd_target = velocity_targets[robot, column]
    ff = feedforward[robot, column]
    fault = _bad(q, 1) | _bad(qd, 2) | _bad(q_target, 4) | _bad(qd_target, 8) | _bad(ff, 16)

    effort = wp.float32(0.0)
    if fault == 0:
        # delay: write the newest command, read the one `lag` steps older; the first after a reset fills the ring
        newest = (state.newest[i] + 1) % params.depth
        first = newest
        last = newest + 1
        if state.fresh[i] != 0:
            first = 0
            last = params.depth
            state.fresh[i] = 0
        for row in range(first, last):
            state.position_targets[row, i] = q_target
            state.velocity_targets[row, i] = qd_target
            state.feedforward[row, i] = ff
        state.newest[i] = newest
        row_read = ring_row(newest, params.lag[i], params.depth)

        effort = pd_effort(
            q,
            qd,
            state.position_targets[row_read, i],
            state.velocity_targets[row_read, i],
            state.feedforward[row_read, i],
            params.kp[i],
            params.kd[i],
            params.const_effort[i],
        )
        if not wp.isfinite(effort):
            fault = 32
            effort = 0.0
        effort = max_effort_clamp(effort, params.max_effort[i])

    # keep the first fault since the reset
    if fault != 0 and state.fault[i] == 0:
        state.fault[i] = fault
        state.fault_step[i] = step

    efforts[robot, column] = effort


@wp.kernel
def _reset_kernel(robots: wp.array[int], params: _Parameters, state: _State):
    n, slot = wp.tid()
    i = params.base[slot] + robots[n] * params.pitch[slot]
    state.fresh[i] = 1
    state.fault[i] = 0


class WarpEngine:
    """A plan on a device, bound to the arrays of one articulation.

    Args:
        plan: What to run.
        device: Warp device.

    The components of the plan's actuators show its parameters as live views from here on.
    """

    def __init__(self, plan: Plan, device: Any) -> None:
        self.plan, self.device = plan, device
        self.steps = 0
        params = _Parameters()
        params.base = wp.array(plan.base, dtype=wp.int32, device=device)
        params.pitch = wp.array(plan.pitch, dtype=wp.int32, device=device)
        params.lag = wp.array(plan.lag, dtype=wp.int32, device=device)
        params.depth = plan.depth
        for name, values in plan.parameters.items():
            setattr(params, name, wp.array(values, dtype=wp.float32, device=device))
        self._params = params
        self._state = self._new_state(len(plan.lag))
        self._arrays: tuple[wp.array, ...] = ()
        self._show_parameters()

    def bind(self, columns: Sequence[int], inputs: Sequence[Any], efforts: Any) -> None:
        """Attach the articulation's arrays.

        Args:
            columns: Column of each slot.
            inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(N, D)`.
            efforts: Where efforts go, float32 `(N, D)`; only the slots' columns are written.
        """
        self._params.columns = wp.array(np.asarray(columns, np.int32), dtype=wp.int32, device=self.device)
        self._arrays = tuple(_as_warp(array) for array in (*inputs, efforts))

    def step(self) -> None:
        """Compute the efforts of all slots of all robots."""
        if not self.plan.num_slots:
            return
        *inputs, efforts = self._arrays
        wp.launch(
            _step_kernel,
            dim=(self.plan.num_robots, self.plan.num_slots),
            inputs=[self._params, self.steps, *inputs, self._state],
            outputs=[efforts],
            device=self.device,
        )
        self.steps += 1

    def reset(self, robots: Sequence[int] | None = None) -> None:
        """Forget state and faults of `robots`, all by default."""
        picked = np.arange(self.plan.num_robots) if robots is None else np.asarray(robots)
        if robots is None:
            self.steps = 0
        if len(picked) and self.plan.num_slots:
            wp.launch(
                _reset_kernel,
                dim=(len(picked), self.plan.num_slots),
                inputs=[wp.array(picked, dtype=wp.int32, device=self.device), self._params, self._state],
                device=self.device,
            )

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        codes, steps = self._state.fault.numpy(), self._state.fault_step.numpy()
        found = []
        for slot, (base, pitch) in enumerate(zip(self.plan.base, self.plan.pitch, strict=True)):
            at = base + pitch * np.arange(self.plan.num_robots)
            for robot in np.flatnonzero(codes[at]):
                code = int(codes[at[robot]])
                inputs = tuple(name for bit, name in enumerate(FAULT_INPUTS) if code >> bit & 1)
                step = int(steps[at[robot]])
                found.append(Fault(self.plan.labels[slot], self.plan.dof_names[slot], int(robot), step, inputs))
        return found

    def _new_state(self, size: int) -> _State:
        state = _State()
        for name in ("position_targets", "velocity_targets", "feedforward"):
            setattr(state, name, wp.zeros((self.plan.depth, size), dtype=wp.float32, device=self.device))
        for name in ("newest", "fault", "fault_step"):
            setattr(state, name, wp.zeros(size, dtype=wp.int32, device=self.device))
        state.fresh = wp.full(size, 1, dtype=wp.int32, device=self.device)
        return state

    def _show_parameters(self) -> None:
        """Let each component show its part of the flat arrays, so that writing to it acts at the next step."""
        for block in self.plan.blocks:
            for component in block.actuator.components:
                for name in component.PARAMETERS:
                    flat = self._params.lag if name == "delay_steps" else getattr(self._params, name)
                    setattr(component, name, flat[block.start : block.stop])


def _as_warp(array: Any) -> wp.array:
    """Return the array itself, or a Warp array over the same CPU memory."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.float32, device="cpu", copy=False)
