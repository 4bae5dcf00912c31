"""Run a plan with Warp: one kernel, one launch per step, on CPU or CUDA.

Per slot and robot: guard the inputs, write and read the delay ring, evaluate the law, guard the raw effort, limit,
store. A slot with an input that is not finite gets effort 0 for that step, keeps its state and latches a fault; no
other slot sees it. The kernel is generated for the laws of the plan, which it calls; all plans of built-in laws share
one.
"""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np
import warp as wp

from ..components.clamping_position_based import ClampingPositionBased, table_limit
from ..components.delay import ring_row
from ..components.law import bounded, each, generated_kernel
from .fault import EFFORT_FAULT, Fault, faults_of
from .plan import CLAMPS, CONTROLLERS, Plan

wp.set_module_options({"enable_backward": False})

_EFFORT_FAULT = wp.constant(EFFORT_FAULT)
_PLAN_ARRAYS = ("base", "pitch", "controller_kind", "clamp_kind", "table_start", "table_count")
_WARP_TYPE = {"i": wp.int32, "f": wp.float32}
# arrays of the state: delay rings, and integers per slot and robot
_RINGS = ("position_targets", "velocity_targets", "feedforward")
_COUNTERS = ("newest", "fresh", "fault", "fault_step")


@wp.struct
class _Parameters:
    base: wp.array[int]
    pitch: wp.array[int]
    columns: wp.array[int]
    # a row per parameter of the law
    controller_kind: wp.array[int]
    control: wp.array2d[float]
    # clamps in order: kind per (clamp, slot), `clamp_width` rows of numbers each
    num_clamps: int
    clamp_width: int
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
    # a row per value that the law remembers
    law: wp.array2d[float]
    fresh: wp.array[int]
    fault: wp.array[int]
    fault_step: wp.array[int]


@wp.func
def _bad(value: float, bit: int) -> int:
    if wp.isfinite(value):
        return 0
    return bit


@wp.func
def _nan_or_zero(value: float) -> float:
    if wp.isnan(value):
        return value
    return 0.0


_STEP = """
def step_kernel(
    # Params:
    params: Parameters,
    step: int,
    dt: float,
    # In:
    positions: wp.array2d[float],
    velocities: wp.array2d[float],
    position_targets: wp.array2d[float],
    velocity_targets: wp.array2d[float],
    feedforward: wp.array2d[float],
    # State in/out:
    state: State,
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
    fault = bad(q, 1) | bad(qd, 2) | bad(q_target, 4) | bad(qd_target, 8) | bad(ff, 16)

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
        controller = params.controller_kind[slot]
        $laws

        # guard before the clamps, after them, and before the state is written
        if wp.isfinite(effort)$and_finite_state:
            $store_state
            for clamp in range(params.num_clamps):
                kind = params.clamp_kind[clamp, slot]
                at = clamp * params.clamp_width
                $clamps
        else:
            effort = wp.nan
        if not wp.isfinite(effort):
            fault = EFFORT_FAULT
            effort = 0.0

    # keep the first fault since the reset
    if fault != 0 and state.fault[i] == 0:
        state.fault[i] = fault
        state.fault_step[i] = step

    efforts[robot, column] = effort
"""


@functools.cache
def _step_kernel(controllers: tuple[Any, ...], clamps: tuple[Any, ...]) -> wp.Kernel:
    """The kernel that knows these laws; a kind is a position in the tuples."""
    functions: dict[str, Any] = {"Parameters": _Parameters, "State": _State, "EFFORT_FAULT": _EFFORT_FAULT}
    functions |= {
        "bad": _bad,
        "nan_or_zero": _nan_or_zero,
        "ring_row": ring_row,
        "table_limit": table_limit,
        "bounded": bounded,
    }
    states = range(max(len(controller.STATE) for controller in controllers))
    laws = [f"new_{n} = state.law[{n}, i]" for n in states]
    for kind, controller in enumerate(controllers):
        functions[f"law_{kind}"] = controller.LAW
        results = "effort" + each(", new_{}", controller.STATE)
        values = each(", state.law[{}, i]", controller.STATE) + each(", params.control[{}, i]", controller.PARAMETERS)
        laws.append(f"if controller == {kind}:")
        laws.append(f"    {results} = law_{kind}(q, qd, q_target, qd_target, ff, dt{values})")
        if controller not in CONTROLLERS:
            # built-in laws hand a NaN on, the user's own may lose it in a minimum
            laws += [f"    effort += nan_or_zero(params.control[{n}, i])" for n in range(len(controller.PARAMETERS))]
    limits = []
    for kind, clamp in enumerate(clamps):
        if clamp is None:
            continue
        limits.append(f"if kind == {kind}:")
        if clamp is ClampingPositionBased:
            rows = "params.table_start[clamp, slot], params.table_count[clamp, slot]"
            limits.append(f"    here = table_limit(q, params.table_positions, params.table_efforts, {rows})")
            limits.append("    effort = bounded(effort, -here, here)")
        else:
            functions[f"clamp_{kind}"] = clamp.LAW
            values = each(", params.clamp[at + {}, i]", clamp.PARAMETERS)
            limits.append(f"    effort = clamp_{kind}(effort, q, qd{values})")
            if clamp not in CLAMPS:
                limits += [
                    f"    effort += nan_or_zero(params.clamp[at + {n}, i])" for n in range(len(clamp.PARAMETERS))
                ]
    text = Template(_STEP).substitute(
        laws="\n        ".join(laws),
        and_finite_state="".join(f" and wp.isfinite(new_{n})" for n in states),
        store_state="\n            ".join(f"state.law[{n}, i] = new_{n}" for n in states),
        clamps="\n                ".join(limits),
    )
    return generated_kernel("step_kernel", text, functions)


@wp.kernel
def _reset_kernel(robots: wp.array[int], params: _Parameters, num_states: int, state: _State):
    n, slot = wp.tid()
    i = params.base[slot] + robots[n] * params.pitch[slot]
    state.fresh[i] = 1
    for row in range(num_states):
        state.law[row, i] = 0.0
    state.fault[i] = 0


class WarpEngine:
    """A plan on a device, bound to the arrays of one articulation.

    Args:
        plan: What to run.
        device: Warp device.

    The components of the plan's actuators show its parameters as live views from here on.

    Raises:
        TypeError: A law of the user's own does not compile.
    """

    def __init__(self, plan: Plan, device: Any) -> None:
        self.plan, self.device = plan, device
        self.steps = 0
        params = _Parameters()
        arrays = {name: getattr(plan, name) for name in _PLAN_ARRAYS}
        for name, values in {**arrays, **plan.parameters}.items():
            setattr(params, name, wp.array(values, dtype=_WARP_TYPE[values.dtype.char], device=device))
        params.num_clamps, params.clamp_width, params.depth = len(plan.clamp_kind), plan.clamp_width, plan.depth
        self._params = params
        self._kernel = _step_kernel(plan.controllers, plan.clamps)
        _compile(self._kernel, plan, device)
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
            self._kernel,
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
                inputs=[wp.array(picked, dtype=wp.int32, device=self.device), self._params]
                + [self.plan.num_states, self._state],
                device=self.device,
            )

    def memory(self) -> dict[str, wp.array]:
        """All arrays that carry something from one step to the next, by name."""
        return {name: getattr(self._state, name) for name in (*_RINGS, *_COUNTERS, "law")}

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        at = self.plan.base + self.plan.pitch * np.arange(self.plan.num_robots)[:, None]
        slots = list(zip(self.plan.labels, self.plan.dof_names, strict=True))
        return faults_of(slots, self._state.fault.numpy()[at], self._state.fault_step.numpy()[at])

    def _new_state(self, size: int) -> _State:
        state = _State()
        for name in _RINGS:
            setattr(state, name, wp.zeros((self.plan.depth, size), dtype=wp.float32, device=self.device))
        state.law = wp.zeros((self.plan.num_states, size), dtype=wp.float32, device=self.device)
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


def _compile(kernel: wp.Kernel, plan: Plan, device: Any) -> None:
    """Compile now rather than in the first step."""
    try:
        wp.load_module(kernel.module, device=device)
    except Exception as error:
        names = ", ".join(law.__name__ for law in (*plan.controllers, *plan.clamps) if law)
        raise TypeError(f"the laws of {names} do not compile together: {error} Correct the wp.func.") from error


def as_warp(array: Any) -> wp.array:
    """Return the array itself, or a Warp array over the same CPU memory."""
    if isinstance(array, wp.array):
        return array
    return wp.array(array, dtype=wp.float32, device="cpu", copy=False)
