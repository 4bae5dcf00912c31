"""The rhythm of the step in Warp: one text, from which the kernel of every plan is generated.

Per slot and robot: signals in, guard, delay, law, limits, guard, state out, efforts out; `_PHASES` puts the blocks in
their order. Before a transmission, law and limits work on the motor: what is handed over between the phases is the
motor's then, and the effort becomes that at the joint in the second one. A step may be cut in two where the law is
done: the second phase puts back what the first one wrote where a limit has a fault, unless it was written in place. The
two bindings differ only in how signals come in and efforts go out.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from string import Template
from typing import Any

import warp as wp

from ...components.curve import curve_at
from ...components.law import (
    CLAMPING_SIGNALS,
    CONTROLLER_SIGNALS,
    MOTOR_SIGNALS,
    LawClass,
    curve_inputs,
    generated_kernel,
    prepared_of,
    prepares_for_dt,
    signals_of,
)
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

    # transmission: of the motor, instead of the joint
    $to_motor

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
    keep($law_q, handed_q, robot, slot)
    keep($law_qd, handed_qd, robot, slot)
    keep($law_q_target, handed_q_target, robot, slot)
    keep($law_qd_target, handed_qd_target, robot, slot)
    keep($law_ff, handed_ff, robot, slot)
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
    $motor_state
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
    "curve_at": curve_at,
}


class _Law:
    """Lines that evaluate one law of the plan.

    Args:
        owner: Its class.
        signals: Those of its kind.
        name: What its functions are called in the kernel.
        rows: What its parameters are called there.
        among_stateful: Its number among the laws with a state, None without one.
        first_curve: Number of its first curve among those of all laws.
        seen: What its signals are called there.
    """

    def __init__(
        self,
        owner: LawClass,
        signals: Sequence[str],
        name: str,
        rows: Sequence[str],
        among_stateful: int | None,
        first_curve: int,
        seen: Mapping[str, str] = _SIGNAL_NAMES,
    ) -> None:
        self.owner, self.signals, self.name, self.among_stateful = owner, signals, name, among_stateful
        self.rows, self._seen, self._first_curve = list(rows), seen, first_curve

    @property
    def functions(self) -> dict[str, Any]:
        """What the kernel calls."""
        prepare = {} if self.owner.PREPARE is None else {f"{self.name}_prepare": self.owner.PREPARE}
        motor = {f"{self.name}_motor": self.owner.MOTOR} if self.converts else {}
        return {self.name: self.owner.LAW} | prepare | motor

    @property
    def converts(self) -> bool:
        """Whether it is that of a transmission."""
        return KINDS[self.owner.KIND].converts

    def lines(self, state_fault: str, results: Sequence[str] = ("effort",)) -> list[str]:
        """Assign to `effort`, NaN where it is not finite; take over the state if all is good.

        Args:
            state_fault: What happens where that is not so.
            results: What else the law assigns to; the caller looks at it. Nothing for a law that changes no effort.
        """
        names = range(len(self.owner.STATE))
        states, new = [f"{self.name}_kept_{k}" for k in names], [f"{self.name}_new_{k}" for k in names]
        curves = self._curves()
        asked = {name: f"asked_{name}[robot, slot]" for name in self.owner.ASKS}
        signals = [({**self._seen} | asked)[name] for name in signals_of(self.owner, self.signals)]
        lines = [f"{name} = {value}" for name, value in curves.items()]
        lines += self._called(self.name, signals, list(curves), [*results, *new])
        if names or len(results) > 1:
            lines.append(f"if {' and '.join(f'wp.isfinite({name})' for name in (*results, *new))}:")
            lines += [f"    {kept} = {name}" for kept, name in zip(states, new, strict=True)] or ["    pass"]
            if state_fault:
                lines += ["else:", f"    {state_fault}"]
        return lines if len(results) > 1 else [*lines, "if not wp.isfinite(effort):", "    effort = wp.nan"]

    def motor_lines(self, given: Sequence[str], results: Sequence[str], watched: int, failing: str) -> list[str]:
        """Assign signals of the motor where there is no fault, of those of the joint; of a transmission.

        Args:
            given: Signals of the joint.
            results: What the signals of the motor are assigned to.
            watched: How many of them have to be finite, the first ones.
            failing: What happens where that is not so.
        """
        asked = [f"asked_{name}[robot, slot]" for name in self.owner.ASKS]
        lines = self._called(f"{self.name}_motor", [*given, *asked], [], results)
        lines += [f"if not ({' and '.join(f'wp.isfinite({name})' for name in results[:watched])}):", f"    {failing}"]
        return self.remembering(["if fault == 0:", *_indented(lines)])

    def _called(
        self, function: str, signals: Sequence[str], curves: Sequence[str], results: Sequence[str]
    ) -> list[str]:
        """Lines that assign the results of one of its functions, of signals, state, prepared numbers and curves."""
        rows = [f"{name}[robot, slot]" for name in self.rows]
        lines, values = self._prepared(rows)
        states = [f"{self.name}_kept_{k}" for k in range(len(self.owner.STATE))]
        arguments = ", ".join([*signals, *states, *values, *curves])
        lines.append(f"{', '.join(results)} = {function}({arguments})")
        if base_of(self.owner) is None:
            # built-in laws hand a NaN on, the user's own may lose it in a minimum
            lines += [f"{results[0]} += nan_or_zero({row})" for row in rows]
        return lines

    def _prepared(self, rows: Sequence[str]) -> tuple[list[str], Sequence[str]]:
        """Lines that prepare the parameters, and what the law takes in their place."""
        if self.owner.PREPARE is None:
            return [], rows
        values = [f"{self.name}_{name}" for name in prepared_of(self.owner, self.signals)]
        given = [*rows, *(["dt"] if prepares_for_dt(self.owner) else [])]
        return [f"{', '.join(values)} = {self.name}_prepare({', '.join(given)})"], values

    def _curves(self) -> dict[str, str]:
        """The values of its curves, by what the kernel calls them."""
        found = {}
        for n, over in enumerate(curve_inputs(self.owner, self._seen["position"], self._seen["velocity"])):
            number = self._first_curve + n
            where = f"slots.curve_first[{number}, slot], slots.curve_count[{number}, slot]"
            found[f"{self.name}_curve_{n}"] = f"curve_at({over}, slots.curves, {where})"
        return found

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


class _Motor:
    """Lines that give signals of the motor where a transmission is, for the laws before it.

    Args:
        stages: What the plan has after its controllers; without transmissions the signals are those of the joint.
        sensed: What the signals of the joint are called that the controller sees.
    """

    def __init__(self, stages: Sequence[LawClass], sensed: Mapping[str, str]) -> None:
        is_there = any(KINDS[law.KIND].converts for law in stages)
        self._given = [sensed[name] for name in MOTOR_SIGNALS]
        self._names = [f"motor_{_SIGNAL_NAMES[name]}" for name in MOTOR_SIGNALS]
        # of the true state: position, velocity, and commands that nobody reads
        self._true = [name.replace("motor", "rotor") for name in self._names]
        named = dict(zip(MOTOR_SIGNALS, self._names, strict=True))
        acting = dict(zip(CLAMPING_SIGNALS[1:], self._true, strict=False))
        self.commanded: Mapping[str, str] = {**sensed} | (named if is_there else {})
        """What signals are called that controllers get."""
        self._acting: Mapping[str, str] = _SIGNAL_NAMES | (acting if is_there else {})
        self.signals, self.state = ([], []) if not is_there else self._copied()

    def seen_by(self, stage: LawClass) -> Mapping[str, str]:
        """What signals are called that a stage after the controllers gets."""
        return self._acting if KINDS[stage.KIND].coordinates == "motor" else _SIGNAL_NAMES

    def add(self, number: int, law: _Law) -> None:
        """Add a stage by its number, if it is a transmission."""
        if not law.converts:
            return
        at_rest = ["q", "qd", "0.0", "0.0", "0.0"]
        signals = law.motor_lines(self._given, self._names, len(MOTOR_SIGNALS), "fault = EFFORT_FAULT")
        state = law.motor_lines(at_rest, self._true, 2, "effort = wp.nan")
        for lines, own in ((self.signals, signals), (self.state, state)):
            lines += [f"if slots.used[{number}, slot] != 0:", *_indented(own)]

    def _copied(self) -> tuple[list[str], list[str]]:
        """Where there is no transmission."""
        signals = [f"{name} = {given}" for name, given in zip(self._names, self._given, strict=True)]
        return signals, [f"{name} = {given}" for name, given in zip(self._true[:2], ("q", "qd"), strict=True)]


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
    sensed = _SIGNAL_NAMES | ({"position": "seen_q", "velocity": "seen_qd"} if feedback else {})
    motor = _Motor(limits, sensed)
    called = dict(_FUNCTIONS)
    rows = list(dict.fromkeys(name for controller in controllers for name in controller.PARAMETERS))
    stateful: list[LawClass] = []
    curves = 0

    def numbers_of(owner: LawClass) -> tuple[int | None, int]:
        nonlocal curves
        curves += len(owner.CURVES)
        if owner.STATE:
            stateful.append(owner)
        return len(stateful) - 1 if owner.STATE else None, curves - len(owner.CURVES)

    laws: list[str] = []
    state_out: list[str] = []
    for kind, controller in enumerate(controllers):
        law = _Law(
            controller,
            CONTROLLER_SIGNALS,
            f"law_{kind}",
            controller.PARAMETERS,
            *numbers_of(controller),
            motor.commanded,
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
        law = _Law(clamp, CLAMPING_SIGNALS, f"clamp_{number}", names, *numbers_of(clamp), motor.seen_by(clamp))
        called |= law.functions
        motor.add(number, law)
        good = law.lines("effort = wp.nan", ["effort"][: KINDS[clamp.KIND].gives])
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
        law = _Law(sensor, KINDS[sensor.KIND].takes, f"feedback_{number}", names, *numbers_of(sensor))
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
        to_motor="\n    ".join(motor.signals),
        motor_state="\n    ".join(motor.state),
        **{f"law_{_SIGNAL_NAMES[name]}": motor.commanded[name] for name in MOTOR_SIGNALS},
        limits="\n    ".join(limiting or ["pass"]),
        joint="\n    ".join(joint),
        state_out="\n    ".join(state_out or ["pass"]),
        observe=_OBSERVE if observed else "",
    )
    return generated_kernel("step_kernel", text, called)
