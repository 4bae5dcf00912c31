"""Run a plan with Warp: one kernel, one launch per step, on CPU or CUDA.

Per slot and robot: guard the inputs, write and read the delay ring, evaluate the law, guard the raw effort, limit,
store. A slot with an input that is not finite gets effort 0 for that step, keeps its state and latches a fault; no
other slot sees it.
"""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..components.clamping_dc_motor import ClampingDCMotor, dc_motor_clamp
from ..components.clamping_max_effort import ClampingMaxEffort, max_effort_clamp
from ..components.clamping_position_based import ClampingPositionBased, table_limit
from ..components.controller_pd import pd_effort
from ..components.controller_pid import ControllerPID, pid_effort, pid_integral
from ..components.delay import ring_row
from .fault import EFFORT_FAULT, Fault, faults_of
from .plan import CLAMP_WIDTH, CLAMPS, CONTROLLERS, Plan

wp.set_module_options({"enable_backward": False})

_PLAN_ARRAYS = ("base", "pitch", "controller_kind", "clamp_kind", "table_start", "table_count")
_WARP_TYPE = {"i": wp.int32, "f": wp.float32}
# arrays of the state: delay rings, and integers per slot and robot
_RINGS = ("position_targets", "velocity_targets", "feedforward")
_COUNTERS = ("newest", "fresh", "fault", "fault_step")
_PID = wp.constant(CONTROLLERS.index(ControllerPID))
_MAX_EFFORT = wp.constant(CLAMPS.index(ClampingMaxEffort))
_DC_MOTOR = wp.constant(CLAMPS.index(ClampingDCMotor))
_POSITION_BASED = wp.constant(CLAMPS.index(ClampingPositionBased))
_WIDTH = wp.constant(CLAMP_WIDTH)
_EFFORT_FAULT = wp.constant(EFFORT_FAULT)


@wp.struct
class _Parameters:
    base: wp.array[int]
    pitch: wp.array[int]
    columns: wp.array[int]
    controller_kind: wp.array[int]
    kp: wp.array[float]
    ki: wp.array[float]
    kd: wp.array[float]
    integral_max: wp.array[float]
    const_effort: wp.array[float]
    # clamps in order: kind per (clamp, slot), three numbers each per (clamp, slot and robot)
    num_clamps: int
    clamp_kind: wp.array2d[int]
    clamp: wp.array2d[float]
    table_start: wp.array2d[int]
    table_count: wp.array2d[int]
    table_positions: wp.array[float]
    table_efforts: wp.array[float]
    lag: wp.array[int]
    depth: int


@wp.struct
class _State:
    # ring rows, then (slot, robot) as the parameters are laid out
    position_targets: wp.array2d[float]
    velocity_targets: wp.array2d[float]
    feedforward: wp.array2d[float]
    newest: wp.array[int]
    integral: wp.array[float]
    fresh: wp.array[int]
    fault: wp.array[int]
    fault_step: wp.array[int]


@wp.func
def _bad(value: float, bit: int) -> int:
    if wp.isfinite(value):
        return 0
    return bit


@wp.func
def _limit(params: _Parameters, slot: int, i: int, q: float, qd: float, effort: float) -> float:
    """Return the effort after the clamps of a slot, in their order."""
    limited = effort
    for clamp in range(params.num_clamps):
        kind = params.clamp_kind[clamp, slot]
        row = clamp * _WIDTH
        if kind == _MAX_EFFORT:
            limited = max_effort_clamp(limited, params.clamp[row, i])
        elif kind == _DC_MOTOR:
            stall, no_load, peak = params.clamp[row, i], params.clamp[row + 1, i], params.clamp[row + 2, i]
            limited = dc_motor_clamp(limited, qd, stall, no_load, peak)
        elif kind == _POSITION_BASED:
            start, count = params.table_start[clamp, slot], params.table_count[clamp, slot]
            here = table_limit(q, params.table_positions, params.table_efforts, start, count)
            limited = max_effort_clamp(limited, here)
    return limited


@wp.kernel
def _step_kernel(
    # Params:
    params: _Parameters,
    step: int,
    dt: float,
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

        q_target = state.position_targets[row_read, i]
        qd_target = state.velocity_targets[row_read, i]
        ff = state.feedforward[row_read, i]

        # law
        integral = state.integral[i]
        if params.controller_kind[slot] == _PID:
            integral = pid_integral(integral, q, q_target, dt, params.integral_max[i])
            effort = pid_effort(
                q,
                qd,
                q_target,
                qd_target,
                ff,
                params.kp[i],
                params.ki[i],
                params.kd[i],
                params.const_effort[i],
                integral,
            )
        else:
            effort = pd_effort(q, qd, q_target, qd_target, ff, params.kp[i], params.kd[i], params.const_effort[i])

        # guard before the clamps, which would make full torque of it, and after them
        if wp.isfinite(effort):
            state.integral[i] = integral
            effort = _limit(params, slot, i, q, qd, effort)
        if not wp.isfinite(effort):
            fault = _EFFORT_FAULT
            effort = 0.0

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
    state.integral[i] = 0.0
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
        arrays = {name: getattr(plan, name) for name in _PLAN_ARRAYS}
        for name, values in {**arrays, **plan.parameters}.items():
            setattr(params, name, wp.array(values, dtype=_WARP_TYPE[values.dtype.char], device=device))
        params.num_clamps, params.depth = len(plan.clamp_kind), plan.depth
        self._params = params
        self._state = self._new_state(plan.num_values)
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
        self._arrays = tuple(as_warp(array) for array in (*inputs, efforts))

    def step(self, dt: float) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""
        if not self.plan.num_slots:
            return
        *inputs, efforts = self._arrays
        wp.launch(
            _step_kernel,
            dim=(self.plan.num_robots, self.plan.num_slots),
            inputs=[self._params, self.steps, dt, *inputs, self._state],
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

    def memory(self) -> dict[str, wp.array]:
        """All arrays that carry something from one step to the next, by name."""
        return {name: getattr(self._state, name) for name in (*_RINGS, *_COUNTERS, "integral")}

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        at = self.plan.base + self.plan.pitch * np.arange(self.plan.num_robots)[:, None]
        slots = list(zip(self.plan.labels, self.plan.dof_names, strict=True))
        return faults_of(slots, self._state.fault.numpy()[at], self._state.fault_step.numpy()[at])

    def _new_state(self, size: int) -> _State:
        state = _State()
        for name in _RINGS:
            setattr(state, name, wp.zeros((self.plan.depth, size), dtype=wp.float32, device=self.device))
        state.integral = wp.zeros(size, dtype=wp.float32, device=self.device)
        for name in _COUNTERS:
            setattr(state, name, wp.zeros(size, dtype=wp.int32, device=self.device))
        state.fresh.fill_(1)
        return state

    def _show_parameters(self) -> None:
        """Let each component show its part of the flat arrays, so that writing to it acts at the next step."""
        for view in self.plan.views:
            array = getattr(self._params, view.array)
            flat = array if view.row is None else array[view.row]
            setattr(view.component, view.attribute, flat[view.start : view.stop])


def as_warp(array: Any) -> wp.array:
    """Return the array itself, or a Warp array over the same CPU memory."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.float32, device="cpu", copy=False)
