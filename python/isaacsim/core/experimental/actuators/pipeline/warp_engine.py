"""Run a plan with Warp: one kernel, one launch per step, on CPU or CUDA.

Per slot and robot: guard the inputs, write and read the delay ring, evaluate the law, guard the raw effort, limit,
store. A slot with an input that is not finite gets effort 0 for that step, keeps its state and latches a fault; no
other slot sees it. The kernel is generated for the controllers and stages of the plan.
"""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import numpy as np
import warp as wp

from ..components.clamping_position_based import ClampingPositionBased
from ..components.delay import ring_row
from ..components.law import CLAMPING_SIGNALS, bounded, each, generated_kernel, prepare_lines
from .fault import EFFORT_FAULT, Fault, fault_bit, faults_of
from .plan import BUILT_IN, Plan, Row

wp.set_module_options({"enable_backward": False})

_EFFORT_FAULT = wp.constant(EFFORT_FAULT)


@wp.struct
class _Slots:
    # per slot: column, controller, place among those with a delay and with a state, -1 for none
    column: wp.array[int]
    controller: wp.array[int]
    delay_place: wp.array[int]
    state_place: wp.array[int]
    num_delayed: int
    num_stateful: int
    depth: int
    lag: wp.array2d[int]
    # per stage and slot: whether it has the stage, and its lookup table
    used: wp.array2d[int]
    table_start: wp.array2d[int]
    table_count: wp.array2d[int]
    table_positions: wp.array[float]
    table_efforts: wp.array[float]


@wp.struct
class _State:
    # ring rows, then (robot, delayed slot)
    position_targets: wp.array2d[float]
    velocity_targets: wp.array2d[float]
    feedforward: wp.array2d[float]
    newest: wp.array[int]
    fresh: wp.array[int]
    # a row per value that a law remembers, then (robot, slot with a state)
    law: wp.array2d[float]
    # (robot, slot)
    fault: wp.array2d[int]
    fault_step: wp.array2d[int]
    # steps counted on the device, since Python does not see those of a replayed graph
    counted: wp.array[int]


_MEMORY = ("position_targets", "velocity_targets", "feedforward", "newest", "fresh", "law", "fault", "fault_step")


@wp.func
def table_limit(position: float, positions: wp.array[float], efforts: wp.array[float], start: int, count: int) -> float:
    """Return the limit [N·m or N] at `position` from the `count` rows that begin at `start`."""
    # the first row at or beyond the position
    row = wp.int32(0)
    while row < count and positions[start + row] < position:
        row += 1
    if row == 0:
        return efforts[start]
    if row == count:
        return efforts[start + count - 1]
    before = positions[start + row - 1]
    share = (position - before) / (positions[start + row] - before)
    low = efforts[start + row - 1]
    return low + share * (efforts[start + row] - low)


@wp.func
def _nan_or_zero(value: float) -> float:
    if wp.isnan(value):
        return value
    return 0.0


@wp.func
def _keep(value: float, kept: wp.array2d[float], robot: int, slot: int):
    """Lay down a value; what is not finite leaves the value before."""
    if wp.isfinite(value):
        kept[robot, slot] = value


@wp.func
def _delayed(ring: wp.array2d[float], now: float, i: int, newest: int, fresh: int, lag: int, depth: int) -> float:
    """Write a command to the newest row and return the one `lag` steps older; the first one fills the ring."""
    if fresh != 0:
        for row in range(depth):
            ring[row, i] = now
    elif wp.isfinite(now):
        ring[newest, i] = now
    else:
        # what is not finite never enters: the command before it is held
        ring[newest, i] = ring[ring_row(newest, 1, depth), i]
    return ring[ring_row(newest, lag, depth), i]


_SIGNATURE = """
def step_kernel(
    # Params:
    slots: Slots,
    $rows
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
    $outputs
    efforts: wp.array2d[float],
):
    robot, slot = wp.tid()
    column = slots.column[slot]
    q = positions[robot, column]
    qd = velocities[robot, column]
"""

_COMMAND = """
    # guard: nothing that is not finite enters state or law
    q_target = position_targets[robot, column]
    qd_target = velocity_targets[robot, column]
    ff = feedforward[robot, column]
    late = bad(q_target, 4) | bad(qd_target, 8) | bad(ff, 16)
    fault = bad(q, 1) | bad(qd, 2) | late

    # delay
    if slots.delay_place[slot] >= 0:
        j = robot * slots.num_delayed + slots.delay_place[slot]
        newest = (state.newest[j] + 1) % slots.depth
        state.newest[j] = newest
        fresh = state.fresh[j]
        if fresh != 0 and late != 0:
            # a first command that is not finite waits for the next one
            q_target = 0.0
            qd_target = 0.0
            ff = 0.0
        if late == 0:
            state.fresh[j] = 0
        lag = slots.lag[robot, slot]
        q_target = delayed(state.position_targets, q_target, j, newest, fresh, lag, slots.depth)
        qd_target = delayed(state.velocity_targets, qd_target, j, newest, fresh, lag, slots.depth)
        ff = delayed(state.feedforward, ff, j, newest, fresh, lag, slots.depth)

    effort = wp.float32(wp.nan)
    if fault == 0:
        # law
        effort = 0.0
        controller = slots.controller[slot]
        memory = robot * slots.num_stateful + slots.state_place[slot]
        $laws

        # guard before the state is written
        if wp.isfinite(effort)$and_finite_state:
            if slots.state_place[slot] >= 0:
                $store_state
        else:
            effort = wp.nan
"""

_HAND_OVER = """
    handed_bad[robot, slot] = fault
    efforts[robot, slot] = effort
    keep(q, handed_q, robot, slot)
    keep(qd, handed_qd, robot, slot)
    keep(q_target, handed_q_target, robot, slot)
    keep(qd_target, handed_qd_target, robot, slot)
    keep(ff, handed_ff, robot, slot)
"""

_TAKE_BACK = """
    fault = handed_bad[robot, slot]
    effort = handed_efforts[robot, slot]
"""

_LIMIT = """
    $observe
    # guard before the limits and after them
    if wp.isfinite(effort):
        $limits
    if not wp.isfinite(effort):
        effort = 0.0
        if fault == 0:
            fault = EFFORT_FAULT

    # keep the first fault since the reset
    if fault != 0 and state.fault[robot, slot] == 0:
        state.fault[robot, slot] = fault
        state.fault_step[robot, slot] = step + state.counted[0]

    efforts[robot, column] = effort
"""

_PHASES = {
    "step": _SIGNATURE + _COMMAND + _LIMIT,
    "command": _SIGNATURE + _COMMAND + _HAND_OVER,
    "limit": _SIGNATURE + _TAKE_BACK + _LIMIT,
}
_SIGNALS = ("q", "qd", "q_target", "qd_target", "ff")
_HANDED_SIGNALS = "".join(f"handed_{name}: wp.array2d[float], " for name in _SIGNALS)
_OUTPUTS = {
    "step": "",
    "command": f"{_HANDED_SIGNALS}handed_bad: wp.array2d[int],",
    "limit": f"{_HANDED_SIGNALS}handed_bad: wp.array2d[int], handed_efforts: wp.array2d[float],",
}


@functools.cache
def _step_kernel(
    controllers: tuple[Any, ...], stages: tuple[Any, ...], observed: bool = False, phase: str = "step"
) -> wp.Kernel:
    """The kernel that knows these laws, of a whole step or of one of its phases.

    On request it tells efforts before the limits, and what limited them.
    """
    functions: dict[str, Any] = {"Slots": _Slots, "State": _State, "EFFORT_FAULT": _EFFORT_FAULT, "delayed": _delayed}
    functions |= {
        "keep": _keep,
        "bad": fault_bit,
        "nan_or_zero": _nan_or_zero,
        "bounded": bounded,
        "table_limit": table_limit,
    }
    rows = list(dict.fromkeys(name for controller in controllers for name in controller.PARAMETERS))
    states = range(max((len(controller.STATE) for controller in controllers), default=0))
    laws = [f"new_{n} = wp.float32(0.0)" for n in states]
    for kind, controller in enumerate(controllers):
        functions[f"law_{kind}"] = controller.LAW
        results = "effort" + each(", new_{}", controller.STATE)
        values = [*(f"state.law[{n}, memory]" for n in range(len(controller.STATE)))]
        values += [f"{name}[robot, slot]" for name in controller.PARAMETERS]
        laws.append(f"if controller == {kind}:")
        laws.append(f"    {results} = law_{kind}({', '.join(['q, qd, q_target, qd_target, ff, dt', *values])})")
        if controller not in BUILT_IN:
            # built-in laws hand a NaN on, the user's own may lose it in a minimum
            laws += [f"    effort += nan_or_zero({name}[robot, slot])" for name in controller.PARAMETERS]
    limits = []
    for number, clamp in enumerate(stages):
        names = [f"stage_{number}_{name}" for name in clamp.PARAMETERS]
        rows += names
        limits.append(f"if slots.used[{number}, slot] != 0:")
        limits.append("    before = effort")
        if clamp is ClampingPositionBased:
            table = f"slots.table_start[{number}, slot], slots.table_count[{number}, slot]"
            limits.append(f"    here = table_limit(q, slots.table_positions, slots.table_efforts, {table})")
            limits.append("    effort = bounded(effort, -here, here)")
        else:
            functions[f"clamp_{number}"] = clamp.LAW
            line, taken = prepare_lines(clamp, CLAMPING_SIGNALS, [f"{name}[robot, slot]" for name in names])
            functions[f"prepare_{number}"] = clamp.PREPARE
            limits.append(f"    {line.replace(' = prepare(', f' = prepare_{number}(')}")
            values = "".join(f", {name}" for name in taken)
            limits.append(f"    effort = clamp_{number}(effort, q, qd{values})")
            if clamp not in BUILT_IN:
                limits += [f"    effort += nan_or_zero({name}[robot, slot])" for name in names]
        if observed:
            limits += ["    if effort != before:", f"        limited_by[robot, slot] = {number + 1}"]
    observed = observed and phase != "command"
    told = "computed: wp.array2d[float], limited_by: wp.array2d[int], " if observed else ""
    text = Template(_PHASES[phase]).safe_substitute(
        outputs=told + _OUTPUTS[phase],
        observe="computed[robot, slot] = effort; limited_by[robot, slot] = 0" if observed else "",
        rows="\n    ".join(f"{name}: wp.array2d[float]," for name in rows),
        laws="\n        ".join(laws),
        and_finite_state="".join(f" and wp.isfinite(new_{n})" for n in states),
        store_state="\n                ".join([f"state.law[{n}, memory] = new_{n}" for n in states] or ["pass"]),
        limits="\n        ".join(limits or ["pass"]),
    )
    return generated_kernel("step_kernel", text, functions)


@wp.kernel
def _reset_kernel(chosen: wp.array[bool], slots: _Slots, num_states: int, state: _State):
    robot, slot = wp.tid()
    if not chosen[robot]:
        return
    if slots.delay_place[slot] >= 0:
        state.fresh[robot * slots.num_delayed + slots.delay_place[slot]] = 1
    if slots.state_place[slot] >= 0:
        for row in range(num_states):
            state.law[row, robot * slots.num_stateful + slots.state_place[slot]] = 0.0
    state.fault[robot, slot] = 0


@wp.kernel
def _count_kernel(steps: wp.array[int]):
    steps[0] = steps[0] + 1


class WarpEngine:
    """A plan on a device, bound to the arrays of one articulation.

    Args:
        plan: What to run; it has slots.
        device: Warp device.

    Raises:
        TypeError: A law of the user's own does not compile.
    """

    name = "warp"
    growing: frozenset[str] = frozenset()
    """Names in `save` whose size is no fixed one."""

    def __init__(self, plan: Plan, device: Any) -> None:
        self.plan, self.device = plan, device
        self.steps, self._counts_there = 0, False
        self._observed: tuple[wp.array, ...] = ()
        self._handed_over: tuple[wp.array, ...] = ()
        # what `command` changes, and where it is kept
        self._before: list[tuple[wp.array, wp.array]] = []
        self._dt = 0.0
        self._choose_kernels()
        stateful = np.array([kind >= 0 and bool(plan.controllers[kind].STATE) for kind in plan.controller_kind])
        self._slots = self._new_slots(stateful)
        self._state = self._new_state(int(stateful.sum()))
        rows = [row for row in plan.rows() if row is not plan.lag]
        self._rows = {id(row): self._on_device(row) for row in rows}
        self._slots.lag = self._on_device(plan.lag)
        self._arrays: tuple[wp.array, ...] = ()

    def bind(self, columns: Sequence[int], inputs: Sequence[wp.array], efforts: wp.array) -> None:
        """Attach the articulation's arrays.

        Args:
            columns: Column of each slot.
            inputs: Positions, velocities, position targets, velocity targets and feedforward, float32 `(N, D)`.
            efforts: Where efforts go, float32 `(N, D)`; only the slots' columns are written.
        """
        self._slots.column = self._ints(columns)
        self._arrays = (*inputs, efforts)
        self._launches.clear()

    def step(self, dt: float) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""
        self._launch("step", dt)
        self._count()

    def command(self, dt: float) -> None:
        """The first phase of a step: guard, delay and law, see `hand_over`."""
        self._dt = dt
        for array, kept in self._before:
            wp.copy(kept, array)
        self._launch("command", dt)

    def take_back(self) -> None:
        """After `command`: the state is what it was before."""
        for array, kept in self._before:
            wp.copy(array, kept)

    def limit(self) -> None:
        """The second phase of a step: limits and guard."""
        self._launch("limit", self._dt)
        self._count()

    def hand_over(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array) -> None:
        """Step in two halves from now on, `command` and `limit`, with these arrays between them.

        Args:
            signals: Positions, velocities and the delayed targets, float32 `(robots, slots)`; what is not finite leaves
                the value before.
            bad: Fault codes of the inputs, int32 `(robots, slots)`.
            efforts: Efforts before the limits, float32 `(robots, slots)`, NaN for a fault.
        """
        self._handed_over = (*signals, bad, efforts)
        memory = [getattr(self._state, name) for name in _MEMORY if not name.startswith("fault")]
        self._before = [(array, wp.empty_like(array)) for array in memory if array.size]
        self._choose_kernels()

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Forget state and faults of `robots`, indices or a mask, all by default; a mask is read on the device."""
        if robots is None:
            self._set_steps(0)
        mask = mask_of(robots, self.plan.num_robots, self.device)
        arguments = [mask, self._slots, self.plan.num_states, self._state]
        wp.launch(_reset_kernel, (self.plan.num_robots, self.plan.num_slots), arguments, device=self.device)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the limits."""
        return self.plan.stage_names

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        size = (self.plan.num_robots, self.plan.num_slots)
        self._observed = tuple(wp.zeros(size, dtype=t, device=self.device) for t in (wp.float32, wp.int32) if on)
        self._choose_kernels()

    def observed(self) -> tuple[Any, Any]:
        """Efforts before the limits, and the stage that changed each last, from 1; shape `(robots, slots)`."""
        computed, limited_by = (array.numpy() for array in self._observed)
        return computed, limited_by

    def spread(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        if row.per_robot:
            return self._slots.lag if row is self.plan.lag else self._rows[id(row)]
        row.spread(self.plan.num_robots)
        array = self._on_device(row)
        if row is self.plan.lag:
            self._slots.lag = array
        else:
            self._rows[id(row)] = array
        self._launches.clear()
        return array

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        slots = list(zip(self.plan.labels, self.plan.dof_names, strict=True))
        return faults_of(slots, self._state.fault.numpy(), self._state.fault_step.numpy())

    def save(self) -> dict[str, np.ndarray]:
        """A copy of everything that carries over from one step to the next, by name."""
        steps = {"steps": self.steps + self._state.counted.numpy()}
        return steps | {name: getattr(self._state, name).numpy().copy() for name in _MEMORY}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned."""
        for name in _MEMORY:
            getattr(self._state, name).assign(np.asarray(saved[name]))
        self._set_steps(int(saved["steps"][0]))

    def _choose_kernels(self) -> None:
        stages = tuple(stage.clamp for stage in self.plan.stages)
        phases = ("command", "limit") if self._handed_over else ("step",)
        self._kernels = {
            phase: _step_kernel(self.plan.controllers, stages, bool(self._observed), phase) for phase in phases
        }
        self._launches: dict[str, Any] = {}
        for kernel in self._kernels.values():
            _compile(kernel, self.plan, self.device)

    def _count(self) -> None:
        """One step more; from the first captured graph on they are counted on the device."""
        self._counts_there = self._counts_there or wp.get_device(self.device).is_capturing
        if self._counts_there:
            wp.launch(_count_kernel, 1, [], [self._state.counted], device=self.device)
        else:
            self.steps += 1

    def _set_steps(self, steps: int) -> None:
        """Go on from this number of steps; graphs keep the number that Python had when they were captured."""
        if self._counts_there:
            self._state.counted.fill_(steps - self.steps)
        else:
            self.steps = steps

    def _launch(self, phase: str, dt: float) -> None:
        """Launch the kernel of a phase; its arguments are put together once."""
        first = 1 + len(self._rows)
        launch = self._launches.get(phase)
        if launch is None:
            launch = self._launches[phase] = self._recorded(phase)
        launch.set_param_at_index(first, self.steps)
        launch.set_param_at_index(first + 1, dt)
        launch.launch()

    def _recorded(self, phase: str) -> Any:
        *inputs, efforts = self._arrays
        *handed, handed_efforts = self._handed_over or (None,)
        outputs = {
            "step": [*self._observed, efforts],
            "command": [*handed, handed_efforts],
            "limit": [*self._observed, *handed, handed_efforts, efforts],
        }
        arguments = [self._slots, *self._rows.values(), self.steps, 0.0, *inputs, self._state, *outputs[phase]]
        shape = (self.plan.num_robots, self.plan.num_slots)
        return wp.launch(self._kernels[phase], shape, arguments, device=self.device, record_cmd=True)

    def _on_device(self, row: Row) -> wp.array:
        """The values of a row for every robot and slot; shared ones are one row that all robots read."""
        dtype = wp.int32 if row.shared.dtype == np.int32 else wp.float32
        values = row.shared if row.own is None else row.own
        array = wp.array(values, dtype=dtype, device=self.device)
        # the array on the device takes over from the one in the plan
        row.own = None
        if array.ndim == 2:
            return array
        shape, strides = (self.plan.num_robots, len(array)), (0, values.itemsize)
        shared = wp.array(ptr=array.ptr, dtype=dtype, shape=shape, strides=strides, device=self.device)
        shared._ref = array
        return shared

    def _ints(self, values: Any) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _new_slots(self, stateful: np.ndarray) -> _Slots:
        plan, slots = self.plan, _Slots()
        slots.column = self._ints(np.arange(plan.num_slots))
        slots.controller = self._ints(plan.controller_kind)
        slots.delay_place = self._ints(np.where(plan.delayed, np.cumsum(plan.delayed) - 1, -1))
        slots.state_place = self._ints(np.where(stateful, np.cumsum(stateful) - 1, -1))
        slots.num_delayed, slots.num_stateful = int(plan.delayed.sum()), int(stateful.sum())
        slots.depth = plan.depth
        starts = np.zeros((max(len(plan.stages), 1), plan.num_slots), np.int32)
        counts, used = np.zeros_like(starts), np.zeros_like(starts)
        positions: list[float] = []
        efforts: list[float] = []
        for number, stage in enumerate(plan.stages):
            used[number] = stage.used
            for table_positions, table_efforts, served in stage.tables:
                starts[number, served], counts[number, served] = len(positions), len(table_positions)
                positions += table_positions
                efforts += table_efforts
        slots.used, slots.table_start, slots.table_count = self._ints(used), self._ints(starts), self._ints(counts)
        slots.table_positions = wp.array(positions, dtype=wp.float32, device=self.device)
        slots.table_efforts = wp.array(efforts, dtype=wp.float32, device=self.device)
        return slots

    def _new_state(self, num_stateful: int) -> _State:
        plan, state = self.plan, _State()
        delayed, slots = plan.num_robots * int(plan.delayed.sum()), (plan.num_robots, plan.num_slots)

        def zeros(shape: Any, dtype: Any) -> wp.array:
            return wp.zeros(shape, dtype=dtype, device=self.device)

        state.position_targets = zeros((plan.depth, delayed), wp.float32)
        state.velocity_targets = zeros((plan.depth, delayed), wp.float32)
        state.feedforward = zeros((plan.depth, delayed), wp.float32)
        state.newest, state.fresh = zeros(delayed, wp.int32), zeros(delayed, wp.int32)
        state.law = zeros((plan.num_states, plan.num_robots * num_stateful), wp.float32)
        state.fault, state.fault_step = zeros(slots, wp.int32), zeros(slots, wp.int32)
        state.fresh.fill_(1)
        state.counted = zeros(1, wp.int32)
        return state


def mask_of(robots: Any, num_robots: int, device: Any) -> wp.array:
    """Which robots are meant by indices, a mask or None for all: bool `(robots,)` on the device."""
    if isinstance(robots, wp.array):
        return robots
    chosen = np.zeros(num_robots, bool)
    chosen[slice(None) if robots is None else list(robots)] = True
    return wp.array(chosen, dtype=wp.bool, device=device)


def _compile(kernel: wp.Kernel, plan: Plan, device: Any) -> None:
    """Compile now rather than in the first step."""
    try:
        wp.load_module(kernel.module, device=device)
    except Exception as error:
        names = ", ".join(law.__name__ for law in (*plan.controllers, *(stage.clamp for stage in plan.stages)))
        raise TypeError(f"the laws of {names} do not compile together: {error} Correct the wp.func.") from error
