"""The step in Warp: one generated kernel, one launch per step, on the CPU or CUDA.

Per slot and robot: signals in, guard, delay, law, limits, guard, efforts out. `_PHASES` below is this rhythm; a step
may be cut in two where the law is done, and the two bindings differ in nothing but how signals come in and efforts go
out. The kernel is generated for the laws of the plan.
"""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from string import Template
from typing import Any

import numpy as np
import warp as wp

from ...components.curve import curve_row, curve_value, prepare_curve
from ...components.law import CLAMPING_SIGNALS, CONTROLLER_SIGNALS, generated_kernel, prepared_of, signals_of
from ..plan import Plan, Row, base_of
from .binding import SIGNALS, Columns, Indices, as_warp
from .fault import EFFORT_FAULT, fault_bit
from .state import StepState, new_state

wp.set_module_options({"enable_backward": False})

_EFFORT_FAULT = wp.constant(EFFORT_FAULT)
# how many launches stay recorded: bindings and states that alternate
_KEPT = 16


@wp.struct
class _Slots:
    # per slot: column, controller, place among those with a delay, -1 for none
    column: wp.array[int]
    controller: wp.array[int]
    delay_place: wp.array[int]
    num_slots: int
    num_delayed: int
    depth: int
    lag: wp.array2d[int]
    # per stateful law: how many slots have it, and the place of each slot among them
    law_count: wp.array[int]
    law_place: wp.array2d[int]
    # per stage and slot: whether it has the stage, and where its curve is
    used: wp.array2d[int]
    curve_first: wp.array2d[int]
    curve_count: wp.array2d[int]
    # prepared rows of all curves
    curves: wp.array2d[float]


@wp.func
def _element(values: wp.array[float], at: wp.uint32) -> float:
    """Return an element of a flat array; NaN beyond its end, which is a fault."""
    if at < wp.uint32(values.shape[0]):
        return values[at]
    return wp.nan


@wp.func
def _element_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], i: int) -> float:
    """Return what an index stands for in an optional array; without the array, zero."""
    if values:
        return _element(values, indices[i])
    return 0.0


@wp.func
def _add(values: wp.array[float], at: wp.uint32, value: float):
    """Add to an element of an optional array."""
    if values:
        if at < wp.uint32(values.shape[0]):
            # several joints may share a place
            wp.atomic_add(values, int(at), value)


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
def _wrapped(row: int, depth: int) -> int:
    """Return the row of the ring that a number stands for, whatever it is."""
    return (row % depth + depth) % depth


@wp.func
def _entering(command: float, ring: wp.array2d[float], newest: int, j: int, pushes: int) -> float:
    """Return the command; one that is not finite is as it was before, once there was one."""
    if pushes > 0 and not wp.isfinite(command):
        return ring[newest, j]
    return command


@wp.func
def _delayed(command: float, ring: wp.array2d[float], newest: int, j: int, lag: int, depth: int) -> float:
    """Return the command of `lag` steps ago; row `newest` holds that of one step ago."""
    if lag > 0:
        return ring[_wrapped(newest - lag + 1, depth), j]
    return command


@wp.func
def _push(
    command: float,
    now: wp.array2d[float],
    after: wp.array2d[float],
    newest: int,
    j: int,
    pushes: int,
    depth: int,
    apart: int,
):
    """Write the row after `newest`, which is the oldest one; rows without a command get the oldest there is."""
    if apart != 0 or pushes < depth:
        for age in range(depth - 1):
            row = _wrapped(newest - age, depth)
            if pushes == 0:
                after[row, j] = command
            else:
                after[row, j] = now[_wrapped(newest - wp.min(age, pushes - 1), depth), j]
    after[_wrapped(newest + 1, depth), j] = command


@wp.func
def _curve(position: float, rows: wp.array2d[float], first: int, count: int) -> float:
    """Return the value of a curve at `position`, from its `count` prepared rows."""
    point = rows[first, 0]
    value = rows[first, 1]
    slope = wp.float32(0.0)
    for row in range(first, first + count):
        point, value, slope = curve_row(position, point, value, slope, rows[row, 0], rows[row, 1], rows[row, 2])
    return curve_value(position, point, value, slope)


_SIGNATURE = """
def step_kernel(
    # Params:
    slots: Slots,
    $rows
    step: int,
    dt: float,
    # In:
    $signals
    # State in, state out; whether they are two:
    now_pos: wp.array2d[float], now_vel: wp.array2d[float], now_act: wp.array2d[float],
    now_pushes: wp.array[int], now_newest: wp.array[int],
    $laws_now
    after_pos: wp.array2d[float], after_vel: wp.array2d[float], after_act: wp.array2d[float],
    after_pushes: wp.array[int], after_newest: wp.array[int],
    $laws_after
    apart: int,
    # Faults, in/out:
    latched: wp.array2d[int], latched_step: wp.array2d[int], counted: wp.array[int],
    # Out:
    $outputs
    $efforts
):
    robot, slot = wp.tid()
"""

_SIGNALS_IN = {
    "columns": """
    # signals in: columns of this robot's row
    column = slots.column[slot]
    q = positions[robot, column]
    qd = velocities[robot, column]
    q_target = position_targets[robot, column]
    qd_target = velocity_targets[robot, column]
    ff = feedforward[robot, column]
""",
    "indices": """
    # signals in: elements that index arrays name
    i = robot * slots.num_slots + slot
    q = element(positions, positions_at[i])
    qd = element(velocities, velocities_at[i])
    q_target = element(position_targets, position_targets_at[i])
    qd_target = element(velocity_targets, velocity_targets_at[i])
    ff = element_or_zero(feedforward, feedforward_at, i)
""",
}

_COMMAND = """
    # guard: nothing that is not finite enters state or law
    late = bad(q_target, 4) | bad(qd_target, 8) | bad(ff, 16)
    fault = bad(q, 1) | bad(qd, 2) | late

    # delay: read the command that acts, then write this one; before the first good one nothing enters
    if slots.delay_place[slot] >= 0:
        j = robot * slots.num_delayed + slots.delay_place[slot]
        newest = wrapped(now_newest[0], slots.depth)
        pushes = wp.clamp(now_pushes[j], 0, slots.depth)
        lag = wp.min(slots.lag[robot, slot], pushes)
        pos = entering(q_target, now_pos, newest, j, pushes)
        vel = entering(qd_target, now_vel, newest, j, pushes)
        act = entering(ff, now_act, newest, j, pushes)
        q_target = delayed(pos, now_pos, newest, j, lag, slots.depth)
        qd_target = delayed(vel, now_vel, newest, j, lag, slots.depth)
        ff = delayed(act, now_act, newest, j, lag, slots.depth)
        if pushes > 0 or late == 0:
            push(pos, now_pos, after_pos, newest, j, pushes, slots.depth, apart)
            push(vel, now_vel, after_vel, newest, j, pushes, slots.depth, apart)
            push(act, now_act, after_act, newest, j, pushes, slots.depth, apart)
            after_pushes[j] = slots.depth
        else:
            after_pushes[j] = 0

    # law: NaN for a fault, which keeps the state
    effort = wp.float32(wp.nan)
    kind = slots.controller[slot]
    if fault == 0 and kind < 0:
        effort = 0.0
    $laws
"""

_HAND_OVER = """
    # hand over
    handed_bad[robot, slot] = fault
    handed_efforts[robot, slot] = effort
    handed_computed[robot, slot] = effort
    keep(q, handed_q, robot, slot)
    keep(qd, handed_qd, robot, slot)
    keep(q_target, handed_q_target, robot, slot)
    keep(qd_target, handed_qd_target, robot, slot)
    keep(ff, handed_ff, robot, slot)
"""

_TAKE_OVER = """
    # take over
    fault = handed_bad[robot, slot]
    effort = handed_efforts[robot, slot]
    raw = handed_computed[robot, slot]
"""

_LIMIT = """
    # limits, in their order; none sees what is not finite
    limiter = wp.int32(0)
    $limits

    # guard: the first fault since the reset is kept
    if not wp.isfinite(effort):
        effort = 0.0
        raw = 0.0
        if fault == 0:
            fault = EFFORT_FAULT
    if fault != 0 and latched[robot, slot] == 0:
        latched[robot, slot] = fault
        latched_step[robot, slot] = step + counted[0]
    $observe
"""

_EFFORTS_OUT = {
    "columns": """
    # efforts out: set
    efforts[robot, column] = effort
""",
    "indices": """
    # efforts out: added to what is there
    if fault == 0:
        add(efforts, efforts_at[i], effort)
        add(computed_efforts, efforts_at[i], raw)
""",
}

_PASS_ON = """
    raw = effort
"""

_PHASES = {
    "step": ("in", _COMMAND, _PASS_ON, _LIMIT, "out"),
    "command": ("in", _COMMAND, _HAND_OVER),
    "limit": ("in", _TAKE_OVER, _LIMIT, "out"),
}
_HANDED = "".join(f"handed_{name}: wp.array2d[float], " for name in ("q", "qd", "q_target", "qd_target", "ff"))
_HANDED += "handed_bad: wp.array2d[int], handed_efforts: wp.array2d[float], handed_computed: wp.array2d[float],"
_OBSERVED = "computed: wp.array2d[float], limited_by: wp.array2d[int],"
_ARRAYS = {
    "columns": ("".join(f"{name}: wp.array2d[float], " for name in SIGNALS), "efforts: wp.array2d[float],"),
    "indices": (
        "".join(f"{name}: wp.array[float], " for name in SIGNALS)
        + "".join(f"{name}_at: wp.array[wp.uint32], " for name in SIGNALS),
        "efforts: wp.array[float], efforts_at: wp.array[wp.uint32], computed_efforts: wp.array[float],",
    ),
}
# what the kernel calls the signals of laws
_SIGNAL_NAMES = {
    "effort": "effort",
    "position": "q",
    "velocity": "qd",
    "position_target": "q_target",
    "velocity_target": "qd_target",
    "feedforward": "ff",
    "dt": "dt",
}
_FUNCTIONS: dict[str, Any] = {
    "Slots": _Slots,
    "EFFORT_FAULT": _EFFORT_FAULT,
    "bad": fault_bit,
    "element": _element,
    "element_or_zero": _element_or_zero,
    "add": _add,
    "nan_or_zero": _nan_or_zero,
    "keep": _keep,
    "wrapped": _wrapped,
    "entering": _entering,
    "delayed": _delayed,
    "push": _push,
    "curve": _curve,
}


class _Law:
    """Lines that evaluate one law of the plan.

    Args:
        owner: Its class.
        signals: Those of its kind.
        name: What its functions are called in the kernel.
        rows: What its parameters are called there.
        memory: Its number among the laws with a state, None without one.
    """

    def __init__(self, owner: Any, signals: Sequence[str], name: str, rows: Sequence[str], memory: int | None) -> None:
        self.owner, self.signals, self.name, self.rows, self.memory = owner, signals, name, list(rows), memory

    @property
    def functions(self) -> dict[str, Any]:
        """What the kernel calls."""
        prepare = {} if self.owner.PREPARE is None else {f"{self.name}_prepare": self.owner.PREPARE}
        return {self.name: self.owner.LAW} | prepare

    def lines(self, state_fault: str) -> list[str]:
        """Assign to `effort`, NaN where it is not finite; take over the state if all is good.

        Args:
            state_fault: What happens where that is not so.
        """
        names = range(len(self.owner.STATE))
        states, new = [f"{self.name}_kept_{k}" for k in names], [f"{self.name}_new_{k}" for k in names]
        rows = [f"{name}[robot, slot]" for name in self.rows]
        lines = []
        values = rows
        if self.owner.PREPARE is not None:
            values = [f"{self.name}_{name}" for name in prepared_of(self.owner, self.signals)]
            lines.append(f"{', '.join(values)} = {self.name}_prepare({', '.join(rows)})")
        curves = [f"{self.name}_curve"] if self.owner.CURVES else []
        signals = [_SIGNAL_NAMES[name] for name in signals_of(self.owner, self.signals)]
        arguments = ", ".join([*signals, *states, *values, *curves])
        lines.append(f"{', '.join(['effort', *new])} = {self.name}({arguments})")
        if base_of(self.owner) is None:
            # built-in laws hand a NaN on, the user's own may lose it in a minimum
            lines += [f"effort += nan_or_zero({row})" for row in rows]
        if names:
            lines.append(f"if wp.isfinite(effort){''.join(f' and wp.isfinite({name})' for name in new)}:")
            lines += [f"    {kept} = {name}" for kept, name in zip(states, new, strict=True)]
            if state_fault:
                lines += ["else:", f"    {state_fault}"]
        lines += ["if not wp.isfinite(effort):", "    effort = wp.nan"]
        return lines

    def remembering(self, lines: Sequence[str]) -> list[str]:
        """The lines between reading the state and writing it, which happens to every slot that has the law."""
        if self.memory is None:
            return list(lines)
        n, names = self.memory, range(len(self.owner.STATE))
        place = f"{self.name}_at"
        before = [f"{place} = robot * slots.law_count[{n}] + slots.law_place[{n}, slot]"]
        before += [f"{self.name}_kept_{k} = now_{n}_{k}[{place}]" for k in names]
        return [*before, *lines, *(f"after_{n}_{k}[{place}] = {self.name}_kept_{k}" for k in names)]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@functools.cache
def _step_kernel(
    controllers: tuple[Any, ...], stages: tuple[Any, ...], binding: str, phase: str, observed: bool
) -> wp.Kernel:
    """The kernel that knows these laws, of a whole step or of one of its phases, for one of the two bindings.

    On request it tells efforts before the limits, and what limited them.
    """
    functions = dict(_FUNCTIONS)
    rows = list(dict.fromkeys(name for controller in controllers for name in controller.PARAMETERS))
    stateful: list[Any] = []

    def memory_of(owner: Any) -> int | None:
        if not owner.STATE:
            return None
        stateful.append(owner)
        return len(stateful) - 1

    laws: list[str] = []
    for kind, controller in enumerate(controllers):
        law = _Law(controller, CONTROLLER_SIGNALS, f"law_{kind}", controller.PARAMETERS, memory_of(controller))
        functions |= law.functions
        good = law.lines("effort = wp.nan")
        laws += [f"if kind == {kind}:", *_indented(law.remembering(["if fault == 0:", *_indented(good)]))]

    limits: list[str] = []
    for number, clamp in enumerate(stages):
        names = [f"stage_{number}_{name}" for name in clamp.PARAMETERS]
        rows += names
        law = _Law(clamp, CLAMPING_SIGNALS, f"clamp_{number}", names, memory_of(clamp))
        functions |= law.functions
        good = law.lines("")
        if clamp.CURVES:
            where = f"slots.curve_first[{number}, slot], slots.curve_count[{number}, slot]"
            good.insert(0, f"clamp_{number}_curve = curve(q, slots.curves, {where})")
        if observed:
            good = ["before = effort", *good, "if effort != before:", f"    limiter = {number + 1}"]
        limited = law.remembering(["if wp.isfinite(effort):", *_indented(good)])
        limits += [f"if slots.used[{number}, slot] != 0:", *_indented(limited)]

    observed = observed and phase != "command"
    signals, efforts = _ARRAYS[binding]
    memory = [f"{n}_{k}: wp.array[float]," for n, owner in enumerate(stateful) for k in range(len(owner.STATE))]
    blocks = {"in": _SIGNALS_IN[binding], "out": _EFFORTS_OUT[binding]}
    text = _SIGNATURE + "".join(blocks.get(block, block) for block in _PHASES[phase])
    text = Template(text).substitute(
        rows="\n    ".join(f"{name}: wp.array2d[float]," for name in rows),
        signals=signals,
        laws_now="\n    ".join(f"now_{one}" for one in memory),
        laws_after="\n    ".join(f"after_{one}" for one in memory),
        outputs=(_OBSERVED if observed else "") + ("" if phase == "step" else _HANDED),
        efforts=efforts,
        laws="\n    ".join(laws or ["pass"]),
        limits="\n    ".join(limits or ["pass"]),
        observe="computed[robot, slot] = raw; limited_by[robot, slot] = limiter" if observed else "",
    )
    return generated_kernel("step_kernel", text, functions)


@wp.kernel
def _advance_kernel(depth: int, steps: int, now: wp.array[int], after: wp.array[int], counted: wp.array[int]):
    # by itself, when every thread of the step has read where it stood
    after[0] = _wrapped(now[0] + 1, depth)
    counted[0] = counted[0] + steps


@wp.kernel
def _count_kernel(counted: wp.array[int]):
    counted[0] = counted[0] + 1


@wp.kernel
def _reset_kernel(chosen: wp.array[bool], slots: _Slots, pushes: wp.array[int], latched: wp.array2d[int]):
    robot, slot = wp.tid()
    if chosen[robot]:
        if slots.delay_place[slot] >= 0:
            pushes[robot * slots.num_delayed + slots.delay_place[slot]] = 0
        latched[robot, slot] = 0


@wp.kernel
def _clear_kernel(chosen: wp.array[bool], each: int, values: wp.array[float]):
    n = wp.tid()
    if chosen[n / each]:
        values[n] = 0.0


class WarpStep:
    """The step of a plan on a device.

    Args:
        plan: What to run; it has slots.
        device: Warp device.
    """

    name = "warp"

    def __init__(self, plan: Plan, device: Any) -> None:
        self.plan, self.device = plan, device
        self._dt, self._steps, self._counts_there = 0.0, 0, False
        self._observed: tuple[wp.array, ...] = ()
        self._handed_over: tuple[wp.array, ...] = ()
        size = (plan.num_robots, plan.num_slots)
        self._latched, self._latched_step = (wp.zeros(size, dtype=wp.int32, device=device) for _ in range(2))
        # steps counted on the device, since Python does not see those of a replayed graph
        self._counted = wp.zeros(1, dtype=wp.int32, device=device)
        self._slots = self._new_slots()
        rows = [row for row in plan.rows() if row is not plan.lag]
        self._rows = {id(row): self._on_device(row) for row in rows}
        self._slots.lag = self._on_device(plan.lag)
        self._binding: Columns | Indices | None = None
        self._now = self._after = self.new_state()
        # launches by phase, binding and states, which they keep alive
        self._launches: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._kernels: dict[tuple[str, str], wp.Kernel] = {}

    def new_state(self) -> StepState:
        """Return a state that remembers nothing."""
        return new_state(self.plan, self.device)

    def bind(self, binding: Columns | Indices) -> None:
        """Read signals and write efforts this way from now on.

        Raises:
            ValueError: By name: an array, column or index does not fit.
            TypeError: A law of the user's own does not compile.
        """
        if any(known is binding for _, known, *_ in self._launches.values()):
            if isinstance(binding, Indices):
                binding.check_indices()
        else:
            binding.check(self.plan.num_robots, self.plan.num_slots, self.device)
            self._compile(_kind(binding))
        if isinstance(binding, Columns):
            self._slots.column = self._ints(binding.columns)
            self._launches.clear()
        self._binding = binding

    def use(self, now: StepState, after: StepState) -> None:
        """Read the state `now` and write `after` from now on; the same one twice is updated in place."""
        self._now, self._after = now, after

    def step(self, dt: float) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""
        self._launch("step", dt)
        self._advance(counts=True)

    def command(self, dt: float) -> None:
        """The first phase of a step: guard, delay and law, see `hand_over`."""
        self._dt = dt
        self._launch("command", dt)
        self._advance(counts=False)

    def limit(self) -> None:
        """The second phase of a step: limits, guard and efforts out."""
        self._launch("limit", self._dt)
        self._count()

    def hand_over(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array, computed: wp.array) -> None:
        """Step in two halves from now on, `command` and `limit`, with these arrays between them.

        Args:
            signals: Positions, velocities and the delayed targets, float32 `(robots, slots)`; what is not finite leaves
                the value before.
            bad: Fault codes of the inputs, int32 `(robots, slots)`.
            efforts: Efforts that the second phase limits, float32 `(robots, slots)`, NaN for a fault.
            computed: Efforts that it tells as those before all limits, alike.
        """
        self._handed_over = (*signals, bad, efforts, computed)
        self._forget_kernels()

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Forget state and faults of `robots`, indices or a mask, all by default; a mask is read on the device.

        Raises:
            ValueError: A mask of another type, length or device.
        """
        if robots is None:
            self._set_steps(0)
        plan = self.plan
        mask = mask_of(robots, plan.num_robots, self.device)
        inputs = [mask, self._slots, self._now.num_pushes, self._latched]
        wp.launch(_reset_kernel, (plan.num_robots, plan.num_slots), inputs, device=self.device)
        for law in self._now.laws:
            for values in law:
                each = len(values) // plan.num_robots
                wp.launch(_clear_kernel, len(values), [mask, each], [values], device=self.device)

    @property
    def stage_names(self) -> list[str]:
        """Class names of the limits."""
        return self.plan.stage_names

    @property
    def now(self) -> StepState:
        """The state that the next step reads."""
        return self._now

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        size = (self.plan.num_robots, self.plan.num_slots)
        self._observed = tuple(wp.zeros(size, dtype=t, device=self.device) for t in (wp.float32, wp.int32) if on)
        self._forget_kernels()

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the limits, 0 for a fault, and the stage that changed each last, from 1; `(robots, slots)`."""
        computed, limited_by = (array.numpy() for array in self._observed)
        return computed, limited_by

    @property
    def computed(self) -> wp.array:
        """Efforts before the limits, 0 for a fault, as far as they are observed; float32 `(robots, slots)`."""
        return self._observed[0]

    def spread(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        if not row.per_robot:
            row.spread(self.plan.num_robots)
            array = self._on_device(row)
            if row is self.plan.lag:
                self._slots.lag = array
            else:
                self._rows[id(row)] = array
            self._launches.clear()
        return self._slots.lag if row is self.plan.lag else self._rows[id(row)]

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Robot, slot, code and step of the first fault of each since its reset, by slot and robot."""
        codes, steps = self._latched.numpy(), self._latched_step.numpy()
        return [
            (int(robot), int(slot), int(codes[robot, slot]), int(steps[robot, slot]))
            for slot, robot in np.argwhere(codes.T)
        ]

    def clear_faults(self) -> None:
        """Forget all faults and count steps from 0 again."""
        self._latched.zero_()
        self._set_steps(0)

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Take these faults over, and go on from this number of steps."""
        codes, when = (np.zeros(self._latched.shape, np.int32) for _ in range(2))
        for robot, slot, code, step in faults:
            codes[robot, slot], when[robot, slot] = code, step
        self._latched.assign(codes)
        self._latched_step.assign(when)
        self._set_steps(steps)

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all; reads the device once a graph was captured."""
        return self._steps + (int(self._counted.numpy()[0]) if self._counts_there else 0)

    def _compile(self, binding: str) -> None:
        """Choose the kernels of a binding, and compile them now rather than in the first step."""
        stages = tuple(stage.clamp for stage in self.plan.stages)
        for phase in ("command", "limit") if self._handed_over else ("step",):
            if (binding, phase) not in self._kernels:
                kernel = _step_kernel(self.plan.controllers, stages, binding, phase, bool(self._observed))
                _load(kernel, self.plan, self.device)
                self._kernels[binding, phase] = kernel

    def _forget_kernels(self) -> None:
        bindings = {binding for binding, _ in self._kernels}
        self._kernels.clear()
        self._launches.clear()
        for binding in bindings:
            self._compile(binding)

    def _advance(self, *, counts: bool) -> None:
        """Let the delays go on by a row, and the count of steps by one."""
        if not self.plan.num_delayed:
            if counts:
                self._count()
            return
        there = counts and self._counts_steps_there()
        if counts and not there:
            self._steps += 1
        key = ("advance", there, self._now, self._after)
        launch = self._recorded(key)
        if launch is None:
            inputs = [self.plan.depth, int(there), self._now.write_idx]
            outputs = [self._after.write_idx, self._counted]
            launch = wp.launch(_advance_kernel, 1, inputs, outputs, device=self.device, record_cmd=True)
            self._record(key, launch)
        launch.launch()

    def _count(self) -> None:
        if self._counts_steps_there():
            wp.launch(_count_kernel, 1, [], [self._counted], device=self.device)
        else:
            self._steps += 1

    def _counts_steps_there(self) -> bool:
        """Whether steps are counted on the device: from the first captured graph on."""
        self._counts_there = self._counts_there or wp.get_device(self.device).is_capturing
        return self._counts_there

    def _set_steps(self, steps: int) -> None:
        """Go on from this number of steps; graphs keep the number that Python had when they were captured."""
        if self._counts_there:
            self._counted.fill_(steps - self._steps)
        else:
            self._steps = steps

    def _launch(self, phase: str, dt: float) -> None:
        """Launch the kernel of a phase; its arguments are put together once per binding and pair of states."""
        binding = self._binding
        if isinstance(binding, Indices):
            binding.check_indices()
        key = (phase, binding, self._now, self._after)
        launch = self._recorded(key)
        if launch is None:
            launch = self._put_together(phase)
            self._record(key, launch)
        first = 1 + len(self._rows)
        launch.set_param_at_index(first, self._steps)
        launch.set_param_at_index(first + 1, dt)
        launch.launch()

    def _recorded(self, key: tuple[Any, ...]) -> Any:
        found = self._launches.get(tuple(map(id, key)))
        return found and found[-1]

    def _record(self, key: tuple[Any, ...], launch: Any) -> None:
        # what the key stands for is kept, so that no other object gets its identity
        self._launches[tuple(map(id, key))] = (*key, launch)
        if len(self._launches) > _KEPT:
            del self._launches[next(iter(self._launches))]

    def _put_together(self, phase: str) -> Any:
        binding = self._binding
        if binding is None:
            raise ValueError("the step has no arrays yet. Call bind first.")
        inputs = [None if array is None else as_warp(array) for array in binding.inputs]
        efforts = [as_warp(binding.efforts)]
        if isinstance(binding, Indices):
            inputs += [None if array is None else as_warp(array) for array in binding.indices]
            computed = binding.computed
            efforts += [as_warp(binding.effort_indices), None if computed is None else as_warp(computed)]
        told = self._observed if phase != "command" else ()
        arguments = [self._slots, *self._rows.values(), self._steps, 0.0, *inputs]
        arguments += [*self._now.arrays(), *self._after.arrays(), int(self._now is not self._after)]
        arguments += [self._latched, self._latched_step, self._counted, *told, *self._handed_over, *efforts]
        kernel, shape = self._kernels[_kind(binding), phase], (self.plan.num_robots, self.plan.num_slots)
        return wp.launch(kernel, shape, arguments, device=self.device, record_cmd=True)

    def _on_device(self, row: Row) -> wp.array:
        """The values of a row for every robot and slot; shared ones are one row that all robots read."""
        dtype = wp.int32 if row.shared.dtype == np.int32 else wp.float32
        shape, size = (self.plan.num_robots, self.plan.num_slots), row.shared.itemsize
        if row.live is not None:
            array, strides = as_warp(row.live), (row.live.strides[0], size)
        else:
            array = wp.array(row.shared if row.own is None else row.own, dtype=dtype, device=self.device)
            # the array on the device takes over from the one in the plan
            row.own = None
            if array.ndim == 2:
                return array
            strides = (0, size)
        view = wp.array(ptr=array.ptr, dtype=dtype, shape=shape, strides=strides, device=self.device)
        view._ref = array
        return view

    def _ints(self, values: Any) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _new_slots(self) -> _Slots:
        plan, slots = self.plan, _Slots()
        slots.column = self._ints(np.arange(plan.num_slots))
        slots.controller = self._ints(plan.controller_kind)
        slots.delay_place = self._ints(np.where(plan.delayed, np.cumsum(plan.delayed) - 1, -1))
        slots.num_slots, slots.num_delayed, slots.depth = plan.num_slots, plan.num_delayed, plan.depth
        stateful = plan.stateful
        slots.law_count = self._ints([one.count for one in stateful])
        places = [one.places for one in stateful] or [np.zeros(plan.num_slots)]
        slots.law_place = self._ints(np.stack(places))
        first = np.zeros((max(len(plan.stages), 1), plan.num_slots), np.int32)
        counts, used = np.zeros_like(first), np.zeros_like(first)
        rows = [np.zeros((0, 3), np.float32)]
        for number, stage in enumerate(plan.stages):
            used[number] = stage.used
            for points, values, served in stage.curves:
                first[number, served], counts[number, served] = sum(map(len, rows)), len(points)
                rows.append(prepare_curve(points, values))
        slots.used, slots.curve_first, slots.curve_count = self._ints(used), self._ints(first), self._ints(counts)
        slots.curves = wp.array(np.concatenate(rows), dtype=wp.float32, ndim=2, device=self.device)
        return slots


def mask_of(robots: Any, num_robots: int, device: Any) -> wp.array:
    """Which robots are meant by indices, a mask or None for all: bool `(robots,)` on the device.

    Raises:
        ValueError: A mask of another type, length or device.
    """
    if isinstance(robots, wp.array):
        has = f"{robots.dtype.__name__} {tuple(robots.shape)} on {robots.device}"
        if robots.dtype is not wp.bool or robots.shape != (num_robots,) or robots.device != wp.get_device(device):
            raise ValueError(f"mask is {has}: must be bool ({num_robots},) on {device}. Make one of that kind.")
        return robots
    chosen = np.zeros(num_robots, bool)
    chosen[slice(None) if robots is None else list(robots)] = True
    return wp.array(chosen, dtype=wp.bool, device=device)


def _kind(binding: Columns | Indices) -> str:
    return "columns" if isinstance(binding, Columns) else "indices"


def _load(kernel: wp.Kernel, plan: Plan, device: Any) -> None:
    """Compile a kernel."""
    try:
        wp.load_module(kernel.module, device=device)
    except Exception as error:
        names = ", ".join(law.__name__ for law in (*plan.controllers, *(stage.clamp for stage in plan.stages)))
        raise TypeError(f"the laws of {names} do not compile together: {error} Correct the wp.func.") from error
