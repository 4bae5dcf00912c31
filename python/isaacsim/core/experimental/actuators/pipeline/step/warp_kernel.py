"""The rhythm of the step in Warp: one text, from which the kernel of every plan is generated.

Per slot and robot: signals in, guard, delay, law, limits, guard, state out, efforts out; `_PHASES` puts the blocks in
their order. A step may be cut in two where the law is done: the second phase puts back what the first one wrote where a
limit has a fault, unless it was written in place. The two bindings differ only in how signals come in and efforts go
out.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import warp as wp

from ...components.law import CLAMPING_SIGNALS, CONTROLLER_SIGNALS, LawClass, generated_kernel, prepared_of, signals_of
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS, follows_limits
from ..plan import base_of
from . import warp_functions as functions
from .binding import SIGNALS as INPUTS
from .fault import EFFORT_FAULT, SIGNAL_FAULT, fault_bit, fault_bit_unbounded

_SIGNATURE = """
def step_kernel(
    # Params:
    slots: Slots,
    $rows
    step: int,
    dt: float,
    # In:
    $signals
    $asked
    # State in, state out; whether they are two:
    now: Ring,
    $laws_now
    after: Ring,
    $laws_after
    apart: int,
    # Faults, in/out:
    faults: Faults,
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
    $guard

    # delay: read the command that acts, then write this one; before the first good one nothing enters
    if slots.delay_place[slot] >= 0:
        j = robot * slots.num_delayed + slots.delay_place[slot]
        newest = wrapped(now.newest[0], slots.depth)
        pushes = wp.clamp(now.pushes[j], 0, slots.depth)
        lag = wp.min(slots.lag[robot, slot], pushes)
        pos = entering(q_target, now.pos, newest, j, pushes)
        vel = entering(qd_target, now.vel, newest, j, pushes)
        act = entering(ff, now.act, newest, j, pushes)
        q_target = delayed(pos, now.pos, newest, j, lag, slots.depth)
        qd_target = delayed(vel, now.vel, newest, j, lag, slots.depth)
        ff = delayed(act, now.act, newest, j, lag, slots.depth)
        if pushes > 0 or late == 0:
            push(pos, now.pos, after.pos, newest, j, pushes, slots.depth, apart)
            push(vel, now.vel, after.vel, newest, j, pushes, slots.depth, apart)
            push(act, now.act, after.act, newest, j, pushes, slots.depth, apart)
            after.pushes[j] = slots.depth
        else:
            after.pushes[j] = 0

    # feedback: what the law sees of the joint
    $feedback

    # law: NaN for a fault
    effort = wp.float32(wp.nan)
    kind = slots.controller[slot]
    if fault == 0 and kind < 0:
        effort = 0.0
    $laws
"""

_STATE_OUT = """
    # state out: a fault keeps the state
    $state_out
"""

_HAND_OVER = """
    # hand over
    handed_bad[robot, slot] = fault
    handed_efforts[robot, slot] = effort
    handed_computed[robot, slot] = effort
    keep($seen_q, handed_q, robot, slot)
    keep($seen_qd, handed_qd, robot, slot)
    keep(q_target, handed_q_target, robot, slot)
    keep(qd_target, handed_qd_target, robot, slot)
    keep(ff, handed_ff, robot, slot)
"""

_TAKE_OVER = """
    # take over
    fault = handed_bad[robot, slot]
    effort = handed_efforts[robot, slot]
    raw = handed_computed[robot, slot]
    kind = slots.controller[slot]
"""

_HAND_BACK = """
    # hand back
    handed_bad[robot, slot] = fault
"""

_LIMIT = """
    # limits, in their order; none sees what is not finite
    limiter = wp.int32(0)
    $limits
    $joint

    # guard: the first fault since the reset is kept
    if not wp.isfinite(effort):
        effort = 0.0
        raw = 0.0
        motor = 0.0
        if fault == 0:
            fault = EFFORT_FAULT
    if fault != 0 and faults.codes[robot, slot] == 0:
        faults.codes[robot, slot] = fault
        faults.steps[robot, slot] = step + faults.counted[0]
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
    "step": ("in", _COMMAND, _PASS_ON, _LIMIT, _STATE_OUT, "out"),
    "command": ("in", _COMMAND, _STATE_OUT, _HAND_OVER),
    "limit": ("in", _TAKE_OVER, _LIMIT, _STATE_OUT, _HAND_BACK, "out"),
}
_HANDED = "".join(f"handed_{name}: wp.array2d[float], " for name in ("q", "qd", "q_target", "qd_target", "ff"))
_HANDED += "handed_bad: wp.array2d[int], handed_efforts: wp.array2d[float], handed_computed: wp.array2d[float],"
_OBSERVED = "computed: wp.array2d[float], limited_by: wp.array2d[int], motor_efforts: wp.array2d[float],"
_OBSERVE = "computed[robot, slot] = raw; limited_by[robot, slot] = limiter; motor_efforts[robot, slot] = motor"
_ARRAYS = {
    "columns": ("".join(f"{name}: wp.array2d[float], " for name in INPUTS), "efforts: wp.array2d[float],"),
    "indices": (
        "".join(f"{name}: wp.array[float], " for name in INPUTS)
        + "".join(f"{name}_at: wp.array[wp.uint32], " for name in INPUTS),
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
    "EFFORT_FAULT": wp.constant(EFFORT_FAULT),
    "SIGNAL_FAULT": wp.constant(SIGNAL_FAULT),
    "Slots": functions.Slots,
    "Ring": functions.Ring,
    "Faults": functions.Faults,
    "bad": fault_bit,
    "bad_unbounded": fault_bit_unbounded,
    "element": functions.element,
    "element_or_zero": functions.element_or_zero,
    "add": functions.add,
    "nan_or_zero": functions.nan_or_zero,
    "keep": functions.keep,
    "wrapped": functions.wrapped,
    "entering": functions.entering,
    "delayed": functions.delayed,
    "push": functions.push,
    "curve": functions.curve,
}


class _Law:
    """Lines that evaluate one law of the plan.

    Args:
        owner: Its class.
        signals: Those of its kind.
        name: What its functions are called in the kernel.
        rows: What its parameters are called there.
        among_stateful: Its number among the laws with a state, None without one.
        seen: What its signals are called there.
    """

    def __init__(
        self,
        owner: LawClass,
        signals: Sequence[str],
        name: str,
        rows: Sequence[str],
        among_stateful: int | None,
        seen: Mapping[str, str] = _SIGNAL_NAMES,
    ) -> None:
        self.owner, self.signals, self.name, self.among_stateful = owner, signals, name, among_stateful
        self.rows, self._seen = list(rows), seen

    @property
    def functions(self) -> dict[str, Any]:
        """What the kernel calls."""
        prepare = {} if self.owner.PREPARE is None else {f"{self.name}_prepare": self.owner.PREPARE}
        return {self.name: self.owner.LAW} | prepare

    def lines(self, state_fault: str, results: Sequence[str] = ("effort",)) -> list[str]:
        """Assign to `effort`, NaN where it is not finite; take over the state if all is good.

        Args:
            state_fault: What happens where that is not so.
            results: What else the law assigns to; the caller looks at it. Nothing for a law that changes no effort.
        """
        names = range(len(self.owner.STATE))
        states, new = [f"{self.name}_kept_{k}" for k in names], [f"{self.name}_new_{k}" for k in names]
        rows = [f"{name}[robot, slot]" for name in self.rows]
        lines: list[str] = []
        values = rows
        if self.owner.PREPARE is not None:
            values = [f"{self.name}_{name}" for name in prepared_of(self.owner, self.signals)]
            lines.append(f"{', '.join(values)} = {self.name}_prepare({', '.join(rows)})")
        curves = [f"{self.name}_curve"] if self.owner.CURVES else []
        asked = {name: f"asked_{name}[robot, slot]" for name in self.owner.ASKS}
        signals = [({**self._seen} | asked)[name] for name in signals_of(self.owner, self.signals)]
        arguments = ", ".join([*signals, *states, *values, *curves])
        lines.append(f"{', '.join([*results, *new])} = {self.name}({arguments})")
        if base_of(self.owner) is None:
            # built-in laws hand a NaN on, the user's own may lose it in a minimum
            lines += [f"{[*results, *new][0]} += nan_or_zero({row})" for row in rows]
        if names or len(results) > 1:
            lines.append(f"if {' and '.join(f'wp.isfinite({name})' for name in (*results, *new))}:")
            lines += [f"    {kept} = {name}" for kept, name in zip(states, new, strict=True)] or ["    pass"]
            if state_fault:
                lines += ["else:", f"    {state_fault}"]
        return lines if len(results) > 1 else [*lines, "if not wp.isfinite(effort):", "    effort = wp.nan"]

    def remembering(self, lines: Sequence[str]) -> list[str]:
        """The lines after those that read the state."""
        if self.among_stateful is None:
            return list(lines)
        n, names = self.among_stateful, range(len(self.owner.STATE))
        return [self._place, *(f"{self.name}_kept_{k} = now_{n}_{k}[{self.name}_at]" for k in names), *lines]

    def state_out(self, *, found: bool) -> list[str]:
        """Write the state, which happens to every slot that has the law.

        Args:
            found: Whether this phase evaluated the law; else a fault puts back the state before.
        """
        n, names, at = self.among_stateful, range(len(self.owner.STATE)), f"{self.name}_at"
        lines = [self._place, "if fault != 0:", *(f"    after_{n}_{k}[{at}] = now_{n}_{k}[{at}]" for k in names)]
        new = [f"    after_{n}_{k}[{at}] = {self.name}_kept_{k}" for k in names]
        return [*lines, "else:", *new] if found else lines

    @property
    def _place(self) -> str:
        n = self.among_stateful
        return f"{self.name}_at = robot * slots.law_count[{n}] + slots.law_place[{n}, slot]"


def _guarding(number: int, name: str) -> list[str]:
    """Lines that look at a signal that laws ask for."""
    bad = "bad_unbounded" if SIGNALS[name].is_unbounded else "bad"
    return [
        f"if slots.asked[{number}, slot] != 0:",
        f"    fault = fault | {bad}(asked_{name}[robot, slot], SIGNAL_FAULT)",
    ]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


@functools.cache
def step_kernel(
    controllers: tuple[LawClass, ...],
    limits: tuple[LawClass, ...],
    feedback: tuple[LawClass, ...],
    binding: str,
    phase: str,
    observed: bool,
) -> wp.Kernel:
    """The kernel that knows these laws, of a whole step or of one of its phases, for one of the two bindings.

    On request it tells efforts before the limits, and what limited them.
    """
    seen = {"q": "seen_q", "qd": "seen_qd"} if feedback else {"q": "q", "qd": "qd"}
    commanded = _SIGNAL_NAMES | {"position": seen["q"], "velocity": seen["qd"]}
    called = dict(_FUNCTIONS)
    rows = list(dict.fromkeys(name for controller in controllers for name in controller.PARAMETERS))
    stateful: list[LawClass] = []

    def number_of(owner: LawClass) -> int | None:
        if not owner.STATE:
            return None
        stateful.append(owner)
        return len(stateful) - 1

    laws: list[str] = []
    state_out: list[str] = []
    for kind, controller in enumerate(controllers):
        law = _Law(
            controller, CONTROLLER_SIGNALS, f"law_{kind}", controller.PARAMETERS, number_of(controller), commanded
        )
        called |= law.functions
        good = law.lines("effort = wp.nan")
        laws += [f"if kind == {kind}:", *_indented(law.remembering(["if fault == 0:", *_indented(good)]))]
        if controller.STATE:
            state_out += [f"if kind == {kind}:", *_indented(law.state_out(found=phase != "limit"))]

    limiting: list[str] = []
    # what the stages that follow the limits do to the effort of the motor
    joint: list[str] = ["motor = effort"]
    for number, clamp in enumerate(limits):
        names = [f"limit_{number}_{name}" for name in clamp.PARAMETERS]
        rows += names
        law = _Law(clamp, CLAMPING_SIGNALS, f"clamp_{number}", names, number_of(clamp))
        called |= law.functions
        good = law.lines("effort = wp.nan", ["effort"][: KINDS[clamp.KIND].gives])
        if clamp.CURVES:
            where = f"slots.curve_first[{number}, slot], slots.curve_count[{number}, slot]"
            good.insert(0, f"clamp_{number}_curve = curve(q, slots.curves, {where})")
        if observed and KINDS[clamp.KIND].is_limit:
            good = ["before = effort", *good, "if effort != before:", f"    limiter = {number + 1}"]
        limited = law.remembering(["if wp.isfinite(effort):", *_indented(good)])
        acting = joint if follows_limits(clamp.KIND) else limiting
        acting += [f"if slots.used[{number}, slot] != 0:", *_indented(limited)]
        if clamp.STATE and phase != "command":
            state_out += [f"if slots.used[{number}, slot] != 0:", *_indented(law.state_out(found=True))]

    sensing = ["seen_q = q", "seen_qd = qd"] if feedback else []
    for number, sensor in enumerate(feedback):
        names = [f"feedback_{number}_{name}" for name in sensor.PARAMETERS]
        rows += names
        law = _Law(sensor, KINDS[sensor.KIND].takes, f"feedback_{number}", names, number_of(sensor))
        called |= law.functions
        good = law.lines("fault = EFFORT_FAULT", ("seen_q", "seen_qd"))
        found = law.remembering(["if fault == 0:", *_indented(good)])
        sensing += [f"if slots.sensed[{number}, slot] != 0:", *_indented(found)]
        if sensor.STATE:
            out = law.state_out(found=phase != "limit")
            state_out += [f"if slots.sensed[{number}, slot] != 0:", *_indented(out)]

    asked = [name for name in SIGNALS if any(name in law.ASKS for law in (*controllers, *limits, *feedback))]
    observed = observed and phase != "command"
    signals, efforts = _ARRAYS[binding]
    remembered = [f"{n}_{k}: wp.array[float]," for n, owner in enumerate(stateful) for k in range(len(owner.STATE))]
    blocks = {"in": _SIGNALS_IN[binding], "out": _EFFORTS_OUT[binding]}
    text = _SIGNATURE + "".join(blocks[block] if block in blocks else block for block in _PHASES[phase])
    text = Template(text).substitute(
        rows="\n    ".join(f"{name}: wp.array2d[float]," for name in rows),
        signals=signals,
        asked="".join(f"asked_{name}: wp.array2d[float], " for name in asked),
        guard="\n    ".join(line for number, name in enumerate(asked) for line in _guarding(number, name)),
        laws_now="\n    ".join(f"now_{one}" for one in remembered),
        laws_after="\n    ".join(f"after_{one}" for one in remembered),
        outputs=(_OBSERVED if observed else "") + ("" if phase == "step" else _HANDED),
        efforts=efforts,
        laws="\n    ".join(laws or ["pass"]),
        feedback="\n    ".join(sensing or ["pass"]),
        seen_q=seen["q"],
        seen_qd=seen["qd"],
        limits="\n    ".join(limiting or ["pass"]),
        joint="\n    ".join(joint),
        state_out="\n    ".join(state_out or ["pass"]),
        observe=_OBSERVE if observed else "",
    )
    return generated_kernel("step_kernel", text, called)
