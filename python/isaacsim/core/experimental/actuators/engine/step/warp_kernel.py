"""The step in Warp: source text, from which the kernel of every plan is generated.

Per slot and robot: signals in, guard, delay, law, limits, guard, state out, efforts out; `_PHASES` lists the blocks of
each phase. Before a transmission, law and limits work in the coordinates of the motor: the phases hand over signals of
the motor, and the second phase converts the effort to that at the joint. A step is cut in two after the law where the
phases hand over arrays, and with linkages before and behind them, whose threads are of several joints. If a limit has a
fault, a later phase restores the state that an earlier one overwrote, except a state updated in place. The bindings
differ only in how signals come in and efforts go out.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from string import Template

import warp as wp

from ...laws.contract.curve import curve_at
from ...laws.contract.law import (
    CLAMPING_SIGNALS,
    FELT_SIGNALS,
    MOTOR_SIGNALS,
    LawClass,
    curve_inputs,
    generated_kernel,
    prepared_of,
    prepares_for_dt,
    signals_of,
    state_names,
)
from ...specs.signals import INERTIAS, SIGNALS
from ...specs.stages import KINDS, Kind, follows_limits
from ..plan import base_of
from . import warp_end
from . import warp_functions as functions
from .binding import SIGNALS as INPUTS
from .fault import EFFORT_FAULT, IDLE, SIGNAL_FAULT, fault_bit, fault_bit_unbounded

_SIGNATURE = """
def step_kernel(
    # Params:
    slots: Slots,
    $rows
    step: int,
    counts: int,
    dt: float,
    # In:
    $signals
    $asked
    # State in, state out; apart is 0 if they are the same:
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

    # what the slot has: read at once, before anything depends on it
    $slot_has
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
    # signals in: elements, by index arrays
    i = robot * slots.num_slots + slot
    q = element(positions, positions_at[i])
    qd = element(velocities, velocities_at[i])
    q_target = element(position_targets, position_targets_at[i])
    qd_target = element(velocity_targets, velocity_targets_at[i])
    ff = element_or_zero(feedforward, feedforward_at, i)
""",
}

_COMMAND = """
    # guard: only finite values enter state and law
    late = bad(q_target, 4) | bad(qd_target, 8) | bad(ff, 16)
    fault = bad(q, 1) | bad(qd, 2) | late
    $guard

    # linkage: signals of the shafts
    $from_shafts

    # rate: whether the controller runs in this step, and its time step
    $tick

    # delay: read the command that acts, then write this one; the first command must be finite
    if delay_place >= 0:
        j = robot * slots.num_delayed + delay_place
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
            push(pos, now.pos, after.pos, newest, j, pushes, apart)
            push(vel, now.vel, after.vel, newest, j, pushes, apart)
            push(act, now.act, after.act, newest, j, pushes, apart)
            after.pushes[j] = slots.depth
        else:
            after.pushes[j] = 0

    # feedback: signals of the joint that the law gets
    $feedback

    # transmission: signals of the motor that the law gets
    $to_motor

    # feedback at the motor; what the law gets is kept as what it measures
    $motor_feedback

    # effort mode: what the joint does in the step without its motor
    $ends

    # law: NaN on a fault
    effort = wp.float32(wp.nan)
    if fault == 0 and kind < 0:
        effort = 0.0
    $laws
"""

_STATE_OUT = """
    # state out: a fault keeps the state; one of the effort alone not that of laws that act late
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
    $tick
"""

_HAND_BACK = """
    # hand back
    handed_bad[robot, slot] = fault$or_idle
"""

_GATHER = """
    # joints: position and velocity for the end of the step, and signals that become those of the shafts
    joint_q[robot, slot] = q
    joint_qd[robot, slot] = qd
    shaft_q[robot, slot] = q
    shaft_qd[robot, slot] = qd
    shaft_q_target[robot, slot] = q_target
    shaft_qd_target[robot, slot] = qd_target
    shaft_ff[robot, slot] = ff
"""

_TAKE_SHAFTS = """
    q = shaft_q[robot, slot]
    qd = shaft_qd[robot, slot]
"""

_MOTOR = """
    # limits, in their order; none gets a value that is not finite
    $motor_state
    limiter = wp.int32(0)
    $limits
"""

_HAND_ON = """
    # hand on
    handed_efforts[robot, slot] = effort
    $note_limiter
"""

_SHAFT = """
    # shafts at the end of the step
    $joint
"""

_HAND_ON_INPUTS = """
    # faults of inputs, and what the controller asks for
    handed_bad[robot, slot] = fault
    handed_computed[robot, slot] = raw
"""

_RECALL_LIMITER = """
    limiter = wp.int32(0)
    $recall_limiter
"""

_JOINT = """
    $behind
    $joint

    # guard: the first fault since the reset is kept
    if not wp.isfinite(effort):
        effort = 0.0
        raw = 0.0
        motor = 0.0
        limiter = 0
        if fault == 0:
            fault = EFFORT_FAULT
    if fault != 0 and counts == 0:
        latched = faults.codes[robot, slot]
    if latched != 0:
        # behind the count of the device, which goes on
        if counts != 0:
            faults.steps[robot, slot] = faults.steps[robot, slot] - 1
    elif fault != 0:
        faults.codes[robot, slot] = fault
        faults.steps[robot, slot] = step - counts
    if counts != 0 and robot == 0 and slot == 0:
        faults.counted[0] = faults.counted[0] + 1
    $observe
"""

_EFFORTS_OUT = {
    "columns": """
    # efforts out: set
    efforts[robot, column] = effort
""",
    "indices": """
    # efforts out: added to the array
    if fault == 0:
        add(efforts, efforts_at[i], effort)
        add(computed_efforts, efforts_at[i], raw)
""",
}

_PASS_ON = """
    raw = effort
"""

_PHASES = {
    "step": ("in", _COMMAND, _PASS_ON, _MOTOR, _JOINT, _STATE_OUT, "out"),
    "command": ("in", _COMMAND, _STATE_OUT, _HAND_OVER),
    "limit": ("in", _TAKE_OVER, _MOTOR, _JOINT, _STATE_OUT, _HAND_BACK, "out"),
    # with linkages, before and behind which threads of several joints run
    "gather": ("in", _GATHER),
    "motor": ("in", _TAKE_SHAFTS, _TAKE_OVER, _MOTOR, _STATE_OUT, _HAND_ON),
    "shaft": ("in", _COMMAND, _PASS_ON, _MOTOR, _SHAFT, _STATE_OUT, _HAND_ON_INPUTS, _HAND_ON),
    "joint": ("in", _TAKE_OVER, _RECALL_LIMITER, _JOINT, _STATE_OUT, _HAND_BACK, "out"),
}
LINKED = {False: ("gather", "command", "motor", "joint"), True: ("gather", "shaft", "joint")}
"""Phases of a step with linkages; True with an effort mode, which solves what motors do up to the shaft."""
COMMANDING = ("step", "command", "shaft")
"""Phases that evaluate controllers and sensors."""
OBSERVING = ("step", "limit", "motor", "shaft", "joint")
# phases that end a step: they keep faults and count
_LATCHING = ("step", "limit", "joint")
# phases that evaluate stages at motors, and stages at joints
_EVALUATING = (("step", "limit", "motor", "shaft"), ("step", "limit", "joint"))
_BETWEEN = "".join(f"handed_{name}: wp.array2d[float], " for name in ("q", "qd", "q_target", "qd_target", "ff"))
_BETWEEN += "handed_bad: wp.array2d[int], handed_efforts: wp.array2d[float], handed_computed: wp.array2d[float],"
_SHAFTS = "".join(f"shaft_{name}: wp.array2d[float], " for name in ("q", "qd", "q_target", "qd_target", "ff"))
_SHAFTS += "joint_q: wp.array2d[float], joint_qd: wp.array2d[float],"
# arrays of what an observed step records, and the line that records it
_OBSERVED = {
    False: ("", ""),
    True: (
        "computed: wp.array2d[float], limited_by: wp.array2d[int], motor_efforts: wp.array2d[float],",
        "computed[robot, slot] = raw; limited_by[robot, slot] = limiter; motor_efforts[robot, slot] = motor",
    ),
}
# what controllers measure
_MEASURED = "measured_{}: wp.array2d[float], "
_ARRAYS = {
    "columns": ("".join(f"{name}: wp.array2d[float], " for name in INPUTS), "efforts: wp.array2d[float],"),
    "indices": (
        "".join(f"{name}: wp.array[float], " for name in INPUTS)
        + "".join(f"{name}_at: wp.array[wp.uint32], " for name in INPUTS),
        "efforts: wp.array[float], efforts_at: wp.array[wp.uint32], computed_efforts: wp.array[float],",
    ),
}
# names of the signals of laws in the kernel
_SIGNAL_NAMES = {
    "effort": "effort",
    "position": "q",
    "velocity": "qd",
    "position_target": "q_target",
    "velocity_target": "qd_target",
    "feedforward": "ff",
    "dt": "dt",
    # of a motor whose effort is explicit
    "motor_damping": "0.0",
    "motor_lift": "0.0",
}
# a command of another joint of the linkage that is not finite is a fault of this one, too
_FROM_SHAFTS = (
    *(f"{name} = shaft_{name}[robot, slot]" for name in ("q", "qd", "q_target", "qd_target", "ff")),
    "late = bad(q_target, 4) | bad(qd_target, 8) | bad(ff, 16)",
    "if fault == 0 and (late | bad(q, 1) | bad(qd, 2)) != 0:",
    "    fault = EFFORT_FAULT",
)
# effort of the motor, with the friction behind it
_MOTOR_BEFORE = ("motor_qd = end_qd", "motor_slope = slope")
_MOTOR_AFTER = ("motor = motor + motor_slope * (end_qd - motor_qd)",)
# number of parameters up to which a kernel reads all of them at its start, whether a slot has the law or not
_MOST_HOISTED = 4
# effort of a controller that does not run, which its rate replaces
_IDLE_EFFORT = ("if fault == 0 and due == 0:", "    effort = 0.0")
# names of a law's results in the kernel: of one after the controller, and of a sensor at the joint
_RESULTS, _SENSED = ("effort",), ("seen_q", "seen_qd")
_COMMANDS = ("q_target", "qd_target", "ff")
_FUNCTIONS: dict[str, object] = {
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
    "acting": functions.acting,
    "carry": functions.carry,
    "IDLE": wp.constant(IDLE),
    "newest_after": functions.newest_after,
    "curve_at": curve_at,
} | {**warp_end.FUNCTIONS}


@dataclass(frozen=True)
class _Law:
    """Source lines that evaluate one law of the plan."""

    owner: LawClass
    name: str  # prefix of its functions and variables in the kernel
    rows: Sequence[str]  # names of its parameters in the kernel
    state_number: int | None  # among the laws with a state
    first_curve: int  # among the curves of all laws
    signals: Mapping[str, str]  # names in the kernel
    hoists: bool  # the kernel has read its parameters before
    sensed: tuple[str, ...] = _SENSED  # names of position and velocity that a sensor returns

    @property
    def _results(self) -> tuple[str, ...]:
        """Names of its results in the kernel."""
        return self.sensed if self.kind.senses else _COMMANDS if self.kind.commands else _RESULTS[: self.kind.gives]

    @property
    def row_names(self) -> list[str]:
        """Its parameters in the kernel."""
        return [f"row_{name}" if self.hoists else f"{name}[robot, slot]" for name in self.rows]

    @property
    def kind(self) -> Kind:
        """Kind of its stage."""
        return KINDS[self.owner.KIND]

    @property
    def functions(self) -> dict[str, object]:
        """Functions that its lines call, by name."""
        owner = self.owner
        found = {"": owner.LAW, "_prepare": owner.PREPARE}
        found |= {"_motor": owner.MOTOR, "_felt": owner.FELT} if self.kind.converts else {}
        found |= {"_tick": owner.TICK, "_end": owner.END}
        return {f"{self.name}{suffix}": function for suffix, function in found.items() if function is not None}

    def lines(self) -> list[str]:
        """Assign the results of the law, NaN or a fault if one is not finite; keep the new state if all are finite."""
        results, curves, kept, new = [*self._results], self._curves(), self._law_state("kept"), self._law_state("new")
        results += [f"{self.name}_lag"] if self.owner.LATE else []
        names = {name: f"asked_{name}[robot, slot]" for name in self.owner.ASKS} | {**self.signals}
        signals = list(map(names.__getitem__, signals_of(self.owner, self.kind.takes)))
        lines = list(itertools.starmap("{} = {}".format, curves.items()))
        lines += self._call(self.name, signals, list(curves), [*results, *new])
        precedes = not self.kind.takes_effort and self.kind.name != "controller"
        if kept or precedes or self.owner.LATE:
            assigned = itertools.starmap("{} = {}".format, zip(kept, new, strict=True))
            lines += _under(f"if {_all_finite([*results, *new])}:", [*assigned, *self._late_lines()] or ["pass"])
            lines += _under("else:", ["fault = EFFORT_FAULT" if precedes else "effort = wp.nan"])
        return lines if precedes else [*lines, "if not wp.isfinite(effort):", "    effort = wp.nan"]

    def _late_lines(self) -> list[str]:
        """Replace results, or commands, by those that act, and keep the row that was written."""
        if not self.owner.LATE:
            return []
        newest, n, first = self._state("kept")[-1], self.state_number, len(self._state("kept"))
        lines = []
        for k, value in enumerate(self._results or _COMMANDS, first):
            lines.append(f"{value} = acting({value}, {self.name}_lag, {newest}, after_{n}_{k}, {self.name}_at)")
        return [*lines, f"{newest} = newest_after({newest}, after_{n}_{first}.shape[0])"]

    def motor_lines(self, joint: Sequence[str], motor: Sequence[str], checked: int, on_fault: str) -> list[str]:
        """Convert signals of the joint to those of the motor, unless there is a fault; of a transmission."""
        asked = [f"asked_{name}[robot, slot]" for name in self.owner.ASKS]
        lines = self._call(f"{self.name}_motor", [*joint, *asked], [], motor)
        lines += _under(f"if not ({_all_finite(motor[:checked])}):", [on_fault])
        return self.after_state(_under("if fault == 0:", lines))

    def unless_hidden(self, lines: Sequence[str], seen: str) -> list[str]:
        """Return lines of a transmission, without what is unknown after a reset where the joint is `seen`."""
        named = zip(self._state("kept"), self.owner.STATE, strict=True)
        kept = [name for name, state in named if math.isnan(self.owner.START.get(state, 0.0))]
        place = next((at for at, line in enumerate(lines) if line.startswith("if fault == 0:")), 0)
        hidden = _under(f"if {seen}:", [f"{name} = wp.float32(wp.nan)" for name in kept]) if kept else []
        return [*lines[:place], *hidden, *lines[place:]]

    def felt_lines(self, names: Sequence[str]) -> list[str]:
        """Convert `FELT_SIGNALS` of the joint to what the motor feels; of a transmission."""
        if self.owner.FELT is None:
            return []
        return self.after_state(self._call(f"{self.name}_felt", names, [], names))

    def value_lines(self, result: str) -> list[str]:
        """Assign the first result of the law to a variable, and keep no state."""
        curves = self._curves()
        names = {name: f"asked_{name}[robot, slot]" for name in self.owner.ASKS} | {**self.signals}
        signals = [names[name] for name in signals_of(self.owner, self.kind.takes)]
        unused = [f"{self.name}_unused_{k}" for k in range(len(self.owner.STATE))]
        lines = [f"{name} = {value}" for name, value in curves.items()]
        return [*lines, *self._call(self.name, signals, list(curves), [result, *unused])]

    def end_lines(self) -> list[str]:
        """Find out what the joint does in the step without its motor; of an effort mode."""
        lines, values = self._prepared(self.row_names)
        # the slope of the motor is not known yet
        known = [name for name in self.owner.ASKS if not SIGNALS[name].is_of_engine]
        asked = [f"asked_{name}[robot, slot]" if name in known else "0.0" for name in self.owner.ASKS]
        arguments = ", ".join(["q", "qd", "dt", *asked, *self._law_state("kept"), *values])
        return self.after_state([*lines, f"free_qd, gain = {self.name}_end({arguments})"])

    def tick_lines(self) -> list[str]:
        """Find out whether the controller is due, and its time step; of a rate."""
        lines, values = self._prepared(self.row_names)
        arguments = ", ".join(["dt", *self._law_state("kept"), *values])
        lines += [f"law_dt = {values[0]} * dt", f"if {self.name}_tick({arguments}) < 0.5:", "    due = wp.int32(0)"]
        return self.after_state(lines)

    def after_state(self, lines: Sequence[str]) -> list[str]:
        """Return the lines after those that read the state."""
        n, at = self.state_number, f"{self.name}_at"
        kept = [f"{name} = now_{n}_{k}[{at}]" for k, name in enumerate(self._state("kept"))]
        rings = range(len(kept), len(kept) + len(self.owner.LATE))
        carried = [f"carry(now_{n}_{k}, after_{n}_{k}, {at}, apart)" for k in rings]
        return [*([self._place] if kept else []), *kept, *carried, *lines]

    def state_out(self, *, evaluated: bool) -> list[str]:
        """Write the state of every slot that has the law."""
        n, at, kept = self.state_number, f"{self.name}_at", self._state("kept")
        # a value that is too large would never leave a ring
        goes_on = bool(self.owner.LATE)
        lines = [
            self._place,
            *_under(
                "if (fault & ~EFFORT_FAULT) != 0:" if goes_on else "if fault != 0:",
                [f"after_{n}_{k}[{at}] = now_{n}_{k}[{at}]" for k in range(len(kept))],
            ),
        ]
        new = [f"after_{n}_{k}[{at}] = {name}" for k, name in enumerate(kept)]
        return [*lines, *_under("else:", new)] if evaluated else lines

    def _call(self, function: str, signals: Sequence[str], curves: Sequence[str], results: Sequence[str]) -> list[str]:
        """Assign the results of one of its functions, called with signals, state, prepared parameters and curves."""
        rows = self.row_names
        lines, values = self._prepared(rows)
        arguments = ", ".join([*signals, *self._law_state("kept"), *values, *curves])
        lines.append(f"{', '.join(results)} = {function}({arguments})")
        if base_of(self.owner) is None:
            # built-in laws propagate NaN; a custom one may lose it in a minimum
            lines += [f"{results[0]} += nan_or_zero({row})" for row in rows]
        return lines

    def _prepared(self, rows: Sequence[str]) -> tuple[list[str], Sequence[str]]:
        """Lines that prepare the parameters, and the arguments of the law that replace them."""
        if self.owner.PREPARE is None:
            return [], rows
        values = [f"{self.name}_{name}" for name in prepared_of(self.owner, self.kind.takes)]
        given = [*rows, *([self.signals["dt"]] if prepares_for_dt(self.owner) else [])]
        return [f"{', '.join(values)} = {self.name}_prepare({', '.join(given)})"], values

    def _curves(self) -> dict[str, str]:
        """Expressions of the values of its curves, by name."""
        found = {}
        for n, over in enumerate(curve_inputs(self.owner, self.signals["position"], self.signals["velocity"])):
            number = self.first_curve + n
            where = f"slots.curve_first[{number}, slot], slots.curve_count[{number}, slot]"
            found[f"{self.name}_curve_{n}"] = f"curve_at({over}, slots.curves, {where})"
        return found

    def _state(self, which: str) -> list[str]:
        """Names of its state variables, `kept` or `new`, with the newest row of its rings."""
        return [f"{self.name}_{which}_{k}" for k in range(len(self.owner.STATE) + bool(self.owner.LATE))]

    def _law_state(self, which: str) -> list[str]:
        """Names of the state variables that the law takes and returns."""
        return self._state(which)[: len(self.owner.STATE)]

    @property
    def _place(self) -> str:
        n = self.state_number
        return f"{self.name}_at = robot * slots.law_count[{n}] + slots.law_place[{n}, slot]"


@dataclass(frozen=True)
class _Laws:
    """Classes of the laws of a kernel; `feedback` has sensors and laws that delay commands.

    `at_motor` is true for each that is at the motor, before the transmission.
    """

    controllers: Sequence[LawClass]
    stages: Sequence[LawClass]
    feedback: Sequence[LawClass]
    at_motor: Sequence[bool]

    @property
    def hoists(self) -> bool:
        """True if the kernel reads all parameters at its start."""
        everywhere = (*self.controllers, *self.stages, *self.feedback)
        return sum(len(law.PARAMETERS) for law in everywhere) <= _MOST_HOISTED

    @property
    def linkage(self) -> int:
        """Number of the stage that couples joints; without one all limits run together, before the number returned."""
        return next((number for number, law in enumerate(self.stages) if KINDS[law.KIND].couples), len(self.stages))

    @property
    def transmission(self) -> int | None:
        """Number of the first stage that converts to the joint, or None."""
        return next((number for number, law in enumerate(self.stages) if KINDS[law.KIND].converts), None)

    @property
    def is_rated(self) -> bool:
        """True with a rate: what comes up to the controller runs only in some steps."""
        return any(law.TICK is not None for law in self.stages)

    @property
    def has_mode(self) -> bool:
        """True with an effort mode: laws are solved for the end of the step."""
        return any(law.END is not None for law in self.stages)

    @property
    def sensors_at_joint(self) -> list[int]:
        """Numbers of the sensors at the joint, counted behind the stages."""
        sensors = zip(self.feedback, self.at_motor, strict=True)
        at_joint = [number for number, (law, motor) in enumerate(sensors) if KINDS[law.KIND].senses and not motor]
        return [len(self.stages) + number for number in at_joint]

    def asked_before(self, stage: int | None) -> set[str]:
        """Signals that controllers ask for, and the stages before one; None for all stages."""
        return {name for law in (*self.controllers, *self.stages[:stage]) for name in law.ASKS}


class _Motor:
    """Source lines that compute the signals of the motor for the laws before a transmission; else the joint's.

    `sensed` names the joint signals that the controller gets. `seen` is the condition that a slot has a sensor at its
    joint, or empty: its motor gets the position of the joint, not that of a rotor that moves by itself.
    """

    def __init__(self, laws: _Laws, sensed: Mapping[str, str], seen: str) -> None:
        self._seen = seen
        # without a transmission both coordinates are the same
        self._first = laws.transmission or 0
        self._joint = list(map(sensed.__getitem__, MOTOR_SIGNALS))
        self._names = [f"motor_{_SIGNAL_NAMES[name]}" for name in MOTOR_SIGNALS]
        # converted from the true state: position, velocity, and unused commands
        self._true = [name.replace("motor", "rotor") for name in self._names]
        self.commanded: dict[str, str] = {**sensed}
        """Names of the signals of controllers."""
        self._acting = _SIGNAL_NAMES | dict(zip(CLAMPING_SIGNALS[1:], self._true, strict=False))
        self._felt: dict[str, str] = {}
        self.signals: list[str] = []
        self.state: list[str] = []
        if laws.transmission is None:
            return
        # if a law of a motor asks for any of them
        if not laws.asked_before(self._first).isdisjoint(FELT_SIGNALS):
            self._felt = {name: f"felt_{name}" for name in FELT_SIGNALS}
        self.commanded |= {**dict(zip(MOTOR_SIGNALS, self._names, strict=True)), **self._felt}
        self._acting |= self._felt
        asked = laws.asked_before(None)
        feel = [
            f"{own} = {f'asked_{name}[robot, slot]' if name in asked else '0.0'}" for name, own in self._felt.items()
        ]
        # of slots without a transmission
        copied = [f"{name} = {joint}" for name, joint in zip(self._names, self._joint, strict=True)]
        self.signals += [*copied, *feel]
        self.state += [f"{self._true[0]} = q", f"{self._true[1]} = qd", *feel]

    def signals_of(self, number: int) -> Mapping[str, str]:
        """Names of the signals of a stage after the controllers."""
        return self._acting if number < self._first else _SIGNAL_NAMES

    def add(self, where: str, law: _Law) -> None:
        """Add the lines of a transmission, under the condition that a slot has it."""
        at_rest = ["q", "qd", "0.0", "0.0", "0.0"]
        signals = law.motor_lines(self._joint, self._names, len(MOTOR_SIGNALS), "fault = EFFORT_FAULT")
        self.signals += _under(where, law.unless_hidden(signals, self._seen) if self._seen else signals)
        self.state += _under(where, law.motor_lines(at_rest, self._true, 2, "effort = wp.nan"))
        felt = law.felt_lines(list(self._felt.values())) if self._felt else []
        self.signals += _under(where, felt) if felt else []
        self.state += _under(where, felt) if felt else []


class _KernelText:
    """Blocks of source text for the laws of a plan, and the functions that they call; `phase` is a key of `_PHASES`.

    Kernels that are `observed` record efforts before the limits, and the limit that changed each.
    """

    def __init__(self, laws: _Laws, phase: str, observed: bool) -> None:
        self._phase, self._observed = phase, observed
        self._linkage, self._hoists, self._num_stages = laws.linkage, laws.hoists, len(laws.stages)
        self._is_rated, self._has_mode = laws.is_rated, laws.has_mode
        self.functions = dict(_FUNCTIONS)
        self._rows: list[str] = []
        # lines at the start of the kernel
        lines = ["kind = slots.controller[slot]"]
        if phase in COMMANDING:
            lines.append("delay_place = slots.delay_place[slot]")
        if phase in _LATCHING:
            lines.append("latched = wp.int32(0)")
            lines += _under("if counts != 0:", ["latched = faults.codes[robot, slot]"])
        self._slot_has = lines
        self._asks: set[str] = set()
        self._num_stateful = self._num_curves = self._measures = 0
        self._state_arrays: list[str] = []
        self._laws: list[str] = []
        self._limits: list[str] = []
        self._behind: list[str] = []
        # stages that follow the limits change the effort at the joint
        self._joint = ["motor = effort"]
        # with an effort mode: laws of the motors, and of what steps the joint behind them
        self._chain: list[tuple[str, _Law]] = []
        self._steps_joint: list[str] = []
        self._rubs: list[str] = []
        self._at_last: list[str] = []
        self._chords: list[str] = []
        # and all that have states there
        self._replayed: list[tuple[str, _Law]] = []
        self._state_out: list[str] = []
        self._sensing = ["seen_q = q", "seen_qd = qd"] if laws.feedback else []
        self._sensing_motor: list[str] = []
        self._ends: list[str] = []
        # cables that only pull: their flags are behind those of all laws
        self._pulls = self._has(len(laws.stages) + len(laws.feedback)) if laws.has_mode else ""
        seen = " or ".join(map(self._has, laws.sensors_at_joint))
        self._see_end = _see_end(seen)
        self._see_ahead = _see_ahead(seen)
        # with a rate, what comes up to the controller runs only in some steps
        self._runs = "if fault == 0 and due != 0:" if self._is_rated else "if fault == 0:"
        self._tick = ["due = wp.int32(1)", "law_dt = wp.float32(dt)"] if self._is_rated else []
        self._timed = _SIGNAL_NAMES | ({"dt": "law_dt"} if self._is_rated else {})
        sensed = {"position": "seen_q", "velocity": "seen_qd"} if laws.feedback else {}
        self._motor = _Motor(laws, self._timed | sensed, seen)
        self._add_laws(laws)

    def _add_laws(self, laws: _Laws) -> None:
        for number, law in enumerate(laws.controllers):
            self._add_controller(number, law)
        for number, law in enumerate(laws.stages):
            self._add_stage(number, law)
        for number, (law, motor) in enumerate(zip(laws.feedback, laws.at_motor, strict=True)):
            self._add_sensor(number, law, motor)
        if laws.feedback:
            seen = [self._motor.commanded[name] for name in ("position", "velocity")]
            seen += [] if all(KINDS[law.KIND].senses for law in laws.feedback) else _COMMANDS[:2]
            self._measures = len(seen) if self._phase in COMMANDING else 0
            kept = [f"keep({one}, measured_{k}, robot, slot)" for k, one in enumerate(seen)]
            self._sensing_motor += _under("if due != 0:", kept) if self._is_rated else kept

    def blocks(self) -> dict[str, str]:
        """Text of each placeholder of the templates but `signals` and `efforts`, which depend on the binding."""
        _, record = _OBSERVED[self._observed]
        return {
            **self._arguments(),
            "slot_has": _joined(self._slot_has if self._phase != "gather" else ()),
            "guard": _joined(line for number, name in enumerate(self._asked) for line in _guard(number, name)),
            "from_shafts": _joined(_FROM_SHAFTS if self._is_linked else ()),
            "tick": _joined(self._tick),
            "or_idle": " | (IDLE if due == 0 else 0)" if self._is_rated else "",
            **{f"law_{_SIGNAL_NAMES[name]}": self._motor.commanded[name] for name in MOTOR_SIGNALS},
            "behind": _joined(self._behind),
            "laws": _block([*self._laws, *(_IDLE_EFFORT if self._is_rated else ())]),
            "feedback": _block(self._sensing),
            "to_motor": _joined(self._motor.signals),
            "motor_feedback": _joined(self._sensing_motor),
            "motor_state": _joined(self._motor.state),
            "limits": _block(self._limits),
            "ends": _joined(self._ends),
            "joint": _block(self._of_joint()),
            "state_out": _block(self._state_out),
            "note_limiter": "limited_by[robot, slot] = limiter" if self._observed else "",
            "recall_limiter": "limiter = limited_by[robot, slot]" if self._observed else "",
            "observe": record,
        }

    def _arguments(self) -> dict[str, str]:
        """Arguments of the kernel."""
        arrays, _ = _OBSERVED[self._observed]
        handed = "" if self._phase == "step" else _BETWEEN + (_SHAFTS if self._is_linked else "")
        return {
            "rows": _joined(f"{name}: wp.array2d[float]," for name in self._rows),
            "asked": "".join(f"asked_{name}: wp.array2d[float], " for name in self._asked),
            "laws_now": _joined(f"now_{one}" for one in self._state_arrays),
            "laws_after": _joined(f"after_{one}" for one in self._state_arrays),
            "outputs": "".join(_MEASURED.format(k) for k in range(self._measures)) + arrays + handed,
        }

    @property
    def _asked(self) -> list[str]:
        """Signals that laws ask for, in the order of the arguments."""
        return [name for name in SIGNALS if name in self._asks]

    @property
    def _is_linked(self) -> bool:
        return self._linkage < self._num_stages

    def _of_joint(self) -> list[str]:
        """Lines from the end of the limits on."""
        if not self._has_mode or self._phase == "joint":
            return self._joint
        lines = [*_MOTOR_BEFORE, *self._joint, *self._step_joint(), *_MOTOR_AFTER]
        return [*lines, *self._chords, *self._write_states(), *self._at_last]

    def _add_controller(self, number: int, owner: LawClass) -> None:
        # controllers of a slot exclude each other: they share the rows of parameters of the same name
        rows = [f"control_{name}" for name in owner.PARAMETERS]
        self._rows += [name for name in rows if name not in self._rows]
        law = self._law(owner, f"law_{number}", rows, self._motor.commanded)
        where = f"if kind == {number}:"
        lines = self._solved_controller(law, where) if self._has_mode else law.lines()
        self._laws += _under(where, law.after_state(_under(self._runs, lines)))
        self._add_state_out(where, law, evaluated=self._phase in COMMANDING)

    def _solved_controller(self, law: _Law, where: str) -> list[str]:
        """Lines of a controller at the end of the step, without its state."""
        names = {**law.signals}
        law = dataclasses.replace(law, signals={**names, "position": "law_q", "velocity": "law_qd"})
        self._chain.append((where, law))
        self._replayed.append((where, law))
        ahead = dataclasses.replace(law, signals={**names, "position": "ahead_q", "velocity": "ahead_qd"})
        further = [*self._see_ahead, *ahead.value_lines("further")]
        return warp_end.solving(law.value_lines("found"), further, "0.0", self._see_end)

    def _stage_lines(self, number: int, law: _Law) -> tuple[_Law, list[str]]:
        """A stage with the signals on which it acts, and its lines."""
        if not self._has_mode:
            return law, law.lines()
        if law.owner.END is not None:
            law = dataclasses.replace(law, signals={**law.signals} | dict(warp_end.OF_LAST))
            self._chords = self._lines_of_chords(law)
            return law, law.lines()
        follows, names = follows_limits(law.owner.KIND), {**law.signals}
        end = {"position": "end_q", "velocity": "end_qd"}
        if self._is_behind_motor(law.owner):
            law = dataclasses.replace(law, signals=names | dict(warp_end.OF_JOINT))
            return law, [*warp_end.damping_lines(warp_end.OF_JOINT), *law.lines(), *warp_end.note_end("effort")]
        if law.kind.couples:
            slack = ["effort = 0.0", "slope = 0.0", *warp_end.note_end("effort"), f"limiter = {number + 1}"]
            return law, _under(f"if {self._pulls} and effort < 0.0:", slack)
        if not warp_end.acts_at_end(law.owner):
            law = dataclasses.replace(law, signals=names | end)
            self._replayed.append((self._if_it_has(number), law))
            return law, ["pass"]
        names |= dict(warp_end.OF_JOINT) if follows else dict.fromkeys(INERTIAS, "0.0")
        self._replayed.append((self._if_it_has(number), dataclasses.replace(law, signals=names | end)))
        law = dataclasses.replace(law, signals=names | end | {"effort": "given"})
        self._chain.append((self._if_it_has(number), law))
        further = {"position": "ahead_q", "velocity": "ahead_qd", "effort": "further_given"}
        ahead = dataclasses.replace(law, signals=names | further)
        given = "given = line_effort + line_slope * (gain * (tried - line_effort))"
        shifted = ["further_given = given + line_slope * apart_qd"]
        shifted += ["ahead_q = end_q + dt * apart_qd", "ahead_qd = end_qd + apart_qd"]
        solving = warp_end.solving(
            law.value_lines("found"), [*shifted, *ahead.value_lines("further")], "effort", [given]
        )
        return law, ["line_effort = effort", "line_slope = slope", *solving]

    def _is_behind_motor(self, owner: LawClass) -> bool:
        """True for the first law that steps the joint with the slope of its motor, and for those behind it."""
        steps = follows_limits(owner.KIND) and not warp_end.acts_at_end(owner)
        return self._has_mode and owner.END is None and (steps or bool(self._steps_joint))

    def _evaluate_chain(self, result: str, names: Mapping[str, str]) -> list[str]:
        """Lines that assign the effort of the motor at a given end of the step, without friction."""
        lines = [f"{result} = wp.float32(0.0)"]
        for where, law in self._chain:
            signals = {name: names.get(value, value) for name, value in law.signals.items()} | {"effort": result}
            lines += _under(where, dataclasses.replace(law, signals=signals).value_lines(result))
        return [
            *lines,
            *(_under(f"if {self._pulls} and {result} < 0.0:", [f"{result} = 0.0"]) if self._is_linked else ()),
        ]

    def _step_joint(self) -> list[str]:
        """Lines of friction, which is evaluated again where the line of the motor bends."""
        if not self._steps_joint:
            return []
        chain = self._evaluate_chain("found", {})
        further = self._evaluate_chain(
            "further", {"law_q": "ahead_q", "law_qd": "ahead_qd"} | {**warp_end.AHEAD_OF_END}
        )
        lines = warp_end.stepping(self._steps_joint, [*self._see_end, *chain], [*self._see_ahead, *further])
        # others stay as they are
        return _under(f"if {' or '.join(self._rubs)}:", lines)

    def _write_states(self) -> list[str]:
        """Lines that write states at the end of the step, which limits and friction have changed."""
        if not any(law.owner.STATE for _, law in self._replayed):
            return []
        lines = [line for where, law in self._replayed for line in _under(where, law.lines())]
        lines = ["replayed = wp.float32(effort)", "effort = wp.float32(0.0)", *self._see_end, *lines]
        lines += ["if wp.isfinite(effort):", "    effort = replayed"]
        return _under("if fault == 0 and wp.isfinite(effort):", lines)

    def _lines_of_chords(self, mode: _Law) -> list[str]:
        """Lines that assign how the effort falls with the final velocity, for the effort mode."""
        names = dict(zip(mode.owner.PARAMETERS, mode.row_names, strict=True))
        lines = warp_end.damping_lines(warp_end.OF_LAST)
        if "in_engine" not in names:
            return lines
        chain = [*self._see_end, *self._evaluate_chain("found", {})]
        return [*lines, *_under(f"if {names['in_engine']} > 0.5:", warp_end.chord_lines(chain))]

    def _block_of(self, number: int, owner: LawClass) -> list[str]:
        """Return the lines to which those of a stage belong; what rubs behind the motor is noted."""
        if self._is_behind_motor(owner):
            self._rubs.append(self._has(number))
            return self._steps_joint
        if owner.END is not None:
            return self._at_last
        if follows_limits(owner.KIND):
            return self._joint
        return self._behind if number > self._linkage else self._limits

    def _add_stage(self, number: int, owner: LawClass) -> None:
        rows = self._own_rows(f"limit_{number}", owner)
        law = self._law(owner, f"clamp_{number}", rows, self._motor.signals_of(number))
        where = self._if_it_has(number)
        if law.kind.converts:
            self._motor.add(where, law)
        if owner.END is not None:
            self._ends = [
                *law.end_lines(),
                "slope = wp.float32(0.0)",
                *warp_end.note_end("0.0"),
                "joint_inertia = dt / gain",
                "joint_load = (qd - free_qd) / gain",
                "joint_is_whole = wp.max(asked_load_is_whole[robot, slot], 0.5)",
            ]
        law, lines = self._stage_lines(number, law)
        if owner.TICK is not None:
            self._tick += _under(where, law.tick_lines())
            # held efforts are those before the limits
            lines.append("raw = effort")
        if self._observed and law.kind.is_limit:
            lines = ["before = effort", *lines, *_under("if effort != before:", [f"limiter = {number + 1}"])]
        self._block_of(number, owner).extend(_under(where, law.after_state(_under("if wp.isfinite(effort):", lines))))
        at_motor, at_joint = _EVALUATING
        before = number <= max(self._linkage, self._num_stages * self._has_mode)
        evaluated = self._phase in (at_motor if before else at_joint)
        # the last phase restores states after a fault at the joint
        if evaluated or (self._phase == "joint" and before):
            self._add_state_out(where, law, evaluated=evaluated)

    def _add_sensor(self, number: int, owner: LawClass, at_motor: bool) -> None:
        name = f"feedback_{number}"
        law = self._law(owner, name, self._own_rows(f"sensor_{number}", owner), self._timed)
        if law.kind.commands:
            # of what the sensors before it measure
            law = dataclasses.replace(law, signals={**law.signals, "position": "seen_q", "velocity": "seen_qd"})
        if at_motor:
            seen = tuple(self._motor.commanded[signal] for signal in ("position", "velocity"))
            law = dataclasses.replace(law, signals=self._motor.commanded, sensed=seen)
        where = self._if_it_has(self._num_stages + number)
        block = self._sensing_motor if at_motor else self._sensing
        block += _under(where, law.after_state(_under(self._runs, law.lines())))
        self._add_state_out(where, law, evaluated=self._phase in COMMANDING)

    def _add_state_out(self, where: str, law: _Law, *, evaluated: bool) -> None:
        if law.state_number is not None:
            self._state_out += _under(where, law.state_out(evaluated=evaluated))

    def _law(self, owner: LawClass, name: str, rows: Sequence[str], signals: Mapping[str, str]) -> _Law:
        """Number the state and the curves of a law among those of all laws."""
        states = state_names(owner)
        number = self._num_stateful if states else None
        law = _Law(owner, name, rows, number, self._num_curves, signals, self._hoists)
        if self._hoists:
            lines = [f"row_{row} = {row}[robot, slot]" for row in rows]
            self._slot_has += [line for line in lines if line not in self._slot_has]
        self.functions |= law.functions
        self._asks |= {name for name in owner.ASKS if not SIGNALS[name].is_of_engine}
        self._state_arrays += [
            f"{self._num_stateful}_{k}: wp.array{'2d' if state in owner.LATE else ''}[float],"
            for k, state in enumerate(states)
        ]
        self._num_stateful += bool(states)
        self._num_curves += len(owner.CURVES)
        return law

    def _if_it_has(self, number: int) -> str:
        """Head of lines for slots with a stage after the controllers, or a sensor, which are counted behind them."""
        return f"if {self._has(number)}:"

    def _has(self, number: int) -> str:
        """Condition that a slot has that stage."""
        word, bit = divmod(number, functions.BITS)
        line = f"has_{word} = slots.has[{word}, slot]"
        self._slot_has += [line] if line not in self._slot_has else []
        return f"(has_{word} & {1 << bit}) != 0"

    def _own_rows(self, prefix: str, owner: LawClass) -> list[str]:
        """Add rows for the parameters of a stage, which it does not share with other stages."""
        rows = [f"{prefix}_{name}" for name in owner.PARAMETERS]
        self._rows += rows
        return rows


def _see_end(seen: str) -> list[str]:
    """Lines that assign what a controller sees at the end of the step: what its sensor does, if `seen` is true."""
    lines = [f"law_{name} = end_{name}" for name in ("q", "qd")]
    return [*lines, *(_under(f"if {seen}:", ["law_q = seen_q", "law_qd = seen_qd"]) if seen else ())]


def _see_ahead(seen: str) -> list[str]:
    """Lines that assign what a controller sees at another end of the step."""
    lines = ["ahead_q = law_q + dt * apart_qd", "ahead_qd = law_qd + apart_qd"]
    return [*lines, *(_under(f"if {seen}:", ["ahead_q = law_q", "ahead_qd = law_qd"]) if seen else ())]


def _guard(number: int, name: str) -> list[str]:
    """Check a signal that laws ask for."""
    bad = "bad_unbounded" if SIGNALS[name].is_unbounded else "bad"
    check = f"fault = fault | {bad}(asked_{name}[robot, slot], SIGNAL_FAULT)"
    return _under(f"if slots.asked[{number}, slot] != 0:", [check])


def _all_finite(names: Sequence[str]) -> str:
    return " and ".join(f"wp.isfinite({name})" for name in names)


def _under(condition: str, lines: Sequence[str]) -> list[str]:
    return [condition, *(f"    {line}" for line in lines)]


def _joined(lines: Iterable[str]) -> str:
    return "\n    ".join(lines)


def _block(lines: Sequence[str]) -> str:
    return _joined(lines or ["pass"])


@functools.cache
def step_kernel(
    controllers: tuple[LawClass, ...],
    stages: tuple[LawClass, ...],
    feedback: tuple[LawClass, ...],
    at_motor: tuple[bool, ...],
    binding: str,
    phase: str,
    observed: bool,
) -> wp.Kernel:
    """Return the kernel of these laws: a whole step or one of its phases, for one of the two bindings.

    An observed step records efforts before the limits, and the limit that changed each.
    """
    laws = _Laws(controllers, stages, feedback, at_motor)
    text = _KernelText(laws, phase, observed and phase in OBSERVING)
    signals, efforts = _ARRAYS[binding]
    ends = {"in": _SIGNALS_IN[binding], "out": _EFFORTS_OUT[binding]}
    template = Template(_SIGNATURE + "".join(ends[block] if block in ends else block for block in _PHASES[phase]))
    source = template.substitute(text.blocks(), signals=signals, efforts=efforts)
    return generated_kernel("step_kernel", source, text.functions)


@functools.cache
def publishing_kernel(count: int) -> wp.Kernel:
    """Return the kernel that publishes this many states of laws as signals; another value where they are NaN.

    Its arguments are the place of each slot among those with the law, int32 `(count, slots)`, -1 without it; how many
    slots have it, `(count,)`; the states, `(robots · slots with the law,)` each; and the values where they are NaN and
    the signals, `(robots, slots)` each.
    """
    lines = []
    for n in range(count):
        lines += _under(
            f"if places[{n}, slot] >= 0:",
            [
                f"value_{n} = state_{n}[robot * counts[{n}] + places[{n}, slot]]",
                *_under(f"if wp.isnan(value_{n}):", [f"value_{n} = unset_{n}[robot, slot]"]),
                f"signal_{n}[robot, slot] = value_{n}",
            ],
        )
    states = "".join(f"state_{n}: wp.array[float], " for n in range(count))
    unset = "".join(f"unset_{n}: wp.array2d[float], " for n in range(count))
    signals = "".join(f"signal_{n}: wp.array2d[float], " for n in range(count))
    text = f"""
def publish(places: wp.array2d[int], counts: wp.array[int], {states}{unset}{signals}):
    robot, slot = wp.tid()
    {_joined(lines)}
"""
    return generated_kernel("publish", text, {})
