"""Kernels of the gradients of a pipeline, generated from its laws.

`record` copies the inputs of a step, `efforts` computes efforts and states from the copy, `gather` reads the gradients
by the outputs, and `scatter` adds the gradients by the inputs to their arrays. A network behind a sensor or a gear
reads the signals that `convert` computes. Only `efforts` and `convert` have an adjoint: Warp's adjoint of the laws.
They evaluate each law twice. The first evaluation decides if the results are finite; no gradient passes through it,
because zero times infinity would be NaN. The second one is skipped if a result is not finite.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportReturnType=false
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

import warp as wp

from ...laws.contract.curve import curve_row, curve_value
from ...laws.contract.law import (
    CONTROLLER_SIGNALS,
    MOTOR_SIGNALS,
    LawClass,
    curve_inputs,
    generated_kernels,
    indexed_or_zero,
    prepared_of,
    prepares_for_dt,
    signals_of,
    value_or_zero,
)
from ...specs.signals import SIGNALS as ASKABLE
from ...specs.stages import KINDS
from ..plan import base_of
from ..step import warp_functions as functions

SIGNALS = ("q", "qd", "q_target", "qd_target", "ff")
"""Names of the five signals in the kernels."""

COMMANDS = SIGNALS[2:]
"""The signals that a delay delays."""

# names of the signals of laws in the kernels: of the joint, as sensed, of the motor as commanded, and of its true state
_JOINT = dict(zip(CONTROLLER_SIGNALS, SIGNALS, strict=False)) | {"effort": "effort", "dt": "dt"}
_SENSED = {"position": "sensed_q", "velocity": "sensed_qd"}
_MOTOR = {signal: f"motor_{name}" for signal, name in zip(MOTOR_SIGNALS, SIGNALS, strict=True)}
_ROTOR = {"position": "rotor_q", "velocity": "rotor_qd"}
# bits of finite commands if all commands of a step are finite
_ALL = 7


@wp.func
def cut(value: float) -> float:
    """Return the value; no gradient passes through it."""
    return value


@wp.func_grad(cut)
def _cut_back(value: float, by: float):
    pass


@wp.func
def piece(x: float, rows: wp.array2d[float]) -> wp.vec3:
    """Return point, value and slope of the row of `x`; no gradient passes through them."""
    point = rows[0, 0]
    value = rows[0, 1]
    slope = wp.float32(0.0)
    for row in range(rows.shape[0]):
        point, value, slope = curve_row(x, point, value, slope, rows[row, 0], rows[row, 1], rows[row, 2])
    return wp.vec3(point, value, slope)


@wp.func_grad(piece)
def _piece_back(x: float, rows: wp.array2d[float], by: wp.vec3):
    pass


@wp.func
def taken(values: wp.array[float], k: int) -> float:
    """Return an element of an optional array, and set it to zero."""
    value = value_or_zero(values, k)
    if values:
        values[k] = 0.0
    return value


@wp.func
def taken_from(rows: wp.array2d[float], row: int, k: int) -> float:
    """Return an element of an optional array of rows, and set it to zero."""
    value = wp.float32(0.0)
    if rows:
        value = rows[row, k]
        rows[row, k] = 0.0
    return value


@wp.func
def give(values: wp.array[float], k: int, value: float):
    """Add to an element of an optional array."""
    if values:
        values[k] = values[k] + value


@wp.func
def finite_bit(value: float, bit: int) -> int:
    """Return `bit` for a finite value, else 0."""
    return bit if wp.isfinite(value) else 0


@wp.func
def row_of(newest: int, lag: int, depth: int) -> int:
    """Return the row of the ring whose command acts with this lag; a step writes the row of lag 0."""
    # both numbers are within the ring: no division is needed
    row = newest + 1 - lag
    if row < 0:
        return row + depth
    if row >= depth:
        return row - depth
    return row


@wp.func
def back_ring(
    by_command: float,
    after: wp.array2d[float],
    before: wp.array2d[float],
    noted: wp.array2d[int],
    k: int,
    bit: int,
    depth: int,
) -> float:
    """Propagate the gradients by a ring after a step and by the delayed command to the ring before the step."""
    source = noted[0, k]
    held = noted[1, k]
    newest = noted[3, k]
    # the written row has the command of the step, or the previous command again
    pushed = taken_from(after, row_of(newest, 0, depth), k)
    now = wp.float32(0.0)
    again = wp.float32(0.0)
    if (noted[2, k] & bit) != 0:
        now = pushed
    elif held >= 0:
        again = pushed
    if source < 0:
        now += by_command
    for lag in range(1, depth + 1):
        row = row_of(newest, lag, depth)
        value = taken_from(after, row, k)
        if row == source:
            value += by_command
        if lag == 1:
            value += again
        if held == 0:
            # the command of the step filled the ring
            now += value
        elif held > 0:
            if before:
                # rows without a command have a copy of the oldest command
                oldest = row_of(newest, wp.min(lag, held), depth)
                before[oldest, k] = before[oldest, k] + value
    return now


_FUNCTIONS: dict[str, object] = {
    "indexed_or_zero": indexed_or_zero,
    "value_or_zero": value_or_zero,
    "curve_value": curve_value,
    "cut": cut,
    "piece": piece,
    "taken": taken,
    "taken_from": taken_from,
    "give": give,
    "finite_bit": finite_bit,
    "row_of": row_of,
    "back_ring": back_ring,
    "add": functions.add,
    "wrapped": functions.wrapped,
    "nan_or_zero": functions.nan_or_zero,
}


class Kernels(NamedTuple):
    """The kernels of a pipeline, whose arrays have a column per joint.

    `numbers` is the copy of the inputs: rows of the signals, then states, then requested signals and parameters of each
    law. Its commands are the delayed ones, or NaN if a command of the step is not finite. Rows of `delay` are:

    - the row of the ring that the delayed command came from, -1 for the command of the step;
    - the number of rows with a command, 0 if the command of the step fills the ring, -1 if that is not finite;
    - bits of the finite commands of the step;
    - the row that was written last.

    Rows of `outputs` are effort, effort before the limits, and states.
    """

    record: wp.Kernel
    efforts: wp.Kernel
    gather: wp.Kernel
    scatter: wp.Kernel
    convert: wp.Kernel | None = None
    """Only for a network behind a sensor or transmission."""


class PipelineLaws(NamedTuple):
    """Classes of the laws of a pipeline; the controller is None for a network or without a controller."""

    controller: LawClass | None
    limits: tuple[LawClass, ...]
    """The stages after the controller; those behind a transmission act at the joint."""
    sensor: LawClass | None = None

    @property
    def all(self) -> list[LawClass]:
        """The laws in the order of their rows."""
        return [one for one in (self.controller, *self.limits, self.sensor) if one is not None]

    @property
    def transmission(self) -> int:
        """Number of the transmission among the limits, counted from 1; 0 without one."""
        return next((number for number, law in enumerate(self.limits, 1) if KINDS[law.KIND].converts), 0)


def given_to(owner: LawClass) -> int:
    """Number of arguments of a law besides the signals of its kind and its state: requested signals and parameters."""
    return len(owner.ASKS) + len(owner.PARAMETERS)


class _Law:
    """Source lines that evaluate one law, of the state and parameters from certain rows on."""

    def __init__(self, owner: LawClass, number: int, state: int, parameter: int, names: Mapping[str, str]) -> None:
        self._owner, self._number, self._kind = owner, number, KINDS[owner.KIND]
        self.states = [f"state_{row}" for row in range(state, state + len(owner.STATE))]
        given = [f"parameter_{row}" for row in range(parameter, parameter + given_to(owner))]
        self.asked, self._parameters = given[: len(owner.ASKS)], given[len(owner.ASKS) :]
        self._names = {**names} | dict(zip(owner.ASKS, self.asked, strict=True))
        self._results = list(_SENSED.values()) if self._kind.senses else ["effort"]

    @property
    def asked_good(self) -> list[str]:
        """Conditions that the requested signals have valid values."""
        named = zip(self._owner.ASKS, self.asked, strict=True)
        patterns = ("wp.isfinite({0})", "(wp.isfinite({0}) or {0} == wp.inf)")
        return [patterns[ASKABLE[signal].is_unbounded].format(name) for signal, name in named]

    @property
    def functions(self) -> dict[str, object]:
        """Functions that its lines call, by name."""
        owner, number = self._owner, self._number
        found = {"law": owner.LAW, "prepare": owner.PREPARE, "motor": owner.MOTOR if self._kind.converts else None}
        return {f"{name}_{number}": function for name, function in found.items() if function is not None}

    @property
    def curves(self) -> list[str]:
        """Names of the rows of its curves in the kernel."""
        return [f"curve_{self._number}_{n}" for n in range(len(self._owner.CURVES))]

    def lines(self) -> list[str]:
        """Update its results and its state while `alive` is nonzero; clear `alive` if one is not finite."""
        new = [f"new_{name}" for name in self.states]
        kept = [f"{state} = {name}" for state, name in zip(self.states, new, strict=True)]
        results = [*self._results, *new]
        return self._guarded(results, len(results), self._law_call, kept)

    def motor_lines(self, sensed: Mapping[str, str]) -> list[str]:
        """Assign the signals of the motor while `alive` is nonzero; clear `alive` if one is not finite."""
        commanded, rotor = [*_MOTOR.values()], [name.replace("motor", "rotor") for name in _MOTOR.values()]
        lines = _declared([*commanded, *rotor])
        given = [sensed[name] for name in MOTOR_SIGNALS]
        lines += self._guarded(commanded, len(commanded), functools.partial(self._motor_call, given))
        # the true state, without commands
        given = [*SIGNALS[:2], *("0.0" for _ in COMMANDS)]
        return lines + self._guarded(rotor, len(_ROTOR), functools.partial(self._motor_call, given))

    def _guarded(
        self,
        results: Sequence[str],
        checked: int,
        call: Callable[[Sequence[str], str], list[str]],
        after: Sequence[str] = (),
    ) -> list[str]:
        """Lines that assign results while `alive` is nonzero, and clear `alive` if one is not finite."""
        seen = [f"seen_{self._number}_{name}" for name in results]
        lines = call(seen, "cut({})")
        if base_of(self._owner) is None:
            # as in the step
            lines += [f"{seen[0]} += nan_or_zero({name})" for name in self._parameters]
        lines.append(f"if {' and '.join(f'wp.isfinite({name})' for name in seen[:checked])}:")
        lines += _indented([*call(results, "{}"), *after])
        return ["if alive != 0:", *_indented([*lines, "else:", "    alive = 0"])]

    def _law_call(self, results: Sequence[str], pattern: str) -> list[str]:
        """Lines that evaluate the law with inputs in this pattern."""
        owner, names = self._owner, self._names
        lines, prepared = self._prepared(results[0], pattern)
        signals = [names[name] for name in signals_of(owner, self._kind.takes)]
        arguments = [name if name == "dt" else pattern.format(name) for name in (*signals, *self.states)] + prepared
        over = curve_inputs(owner, *(pattern.format(names[name]) for name in ("position", "velocity")))
        for curve, place in zip(self.curves, over, strict=True):
            found = f"{results[0]}_{curve}"
            lines.append(f"{found} = piece({place}, {curve})")
            at = [f"{found}[{n}]" for n in range(3)]
            arguments.append(f"curve_value({', '.join([place, *at])})")
        return [*lines, f"{', '.join(results)} = law_{self._number}({', '.join(arguments)})"]

    def _motor_call(self, signals: Sequence[str], results: Sequence[str], pattern: str) -> list[str]:
        """Lines that convert signals to those of the motor, with inputs in this pattern."""
        lines, prepared = self._prepared(results[0], pattern)
        arguments = [pattern.format(name) for name in (*signals, *self.asked, *self.states)] + prepared
        return [*lines, f"{', '.join(results)} = motor_{self._number}({', '.join(arguments)})"]

    def _prepared(self, prefix: str, pattern: str) -> tuple[list[str], list[str]]:
        """Lines that prepare the parameters, and the arguments of the law that replace them."""
        owner, inputs = self._owner, [pattern.format(name) for name in self._parameters]
        if owner.PREPARE is None:
            return [], inputs
        names = [f"{prefix}_{self._number}_{name}" for name in prepared_of(owner, self._kind.takes)]
        given = [*inputs, *(["dt"] if prepares_for_dt(owner) else [])]
        return [f"{', '.join(names)} = prepare_{self._number}({', '.join(given)})"], names


class _Lines:
    def __init__(self, laws: PipelineLaws) -> None:
        sensed = _JOINT | (_SENSED if laws.sensor else {})
        first = laws.transmission
        commanded, acting = (sensed | _MOTOR, _JOINT | _ROTOR) if first else (sensed, _JOINT)
        owners = laws.controller, *laws.limits, laws.sensor
        names = [commanded, *(acting if number < first else _JOINT for number in range(1, len(owners)))]
        self.states = range(len(SIGNALS), len(SIGNALS) + sum(len(owner.STATE) for owner in laws.all))
        """Rows of the states."""
        self.parameters = range(self.states.stop, self.states.stop + sum(map(given_to, laws.all)))
        """Rows of requested signals and parameters."""
        numbered = dict(_with_rows(owners, names, self.states))
        self.controller, sensor = numbered.get(0), numbered.get(len(laws.limits) + 1)
        self.limits = [numbered[number] for number in range(1, len(laws.limits) + 1)]
        self.laws = list(numbered.values())
        """All laws, in the order of their rows."""
        self.converting: list[str] = []
        """Lines that assign the signals of the controller."""
        if sensor is not None:
            self.converting += [*_declared(_SENSED.values()), *sensor.lines()]
        if first:
            self.converting += self.limits[first - 1].motor_lines(sensed)
        self.converted = [commanded[name] for name in MOTOR_SIGNALS]
        """Names of the signals of the controller."""

    @property
    def curves(self) -> str:
        """Arguments of a kernel for the rows of all curves."""
        return "".join(f"{curve}: wp.array2d[float], " for law in self.laws for curve in law.curves)

    @property
    def start(self) -> str:
        """Read the inputs; `alive` is nonzero if all are valid."""
        checked = [f"wp.isfinite({name})" for name in SIGNALS] + [one for law in self.laws for one in law.asked_good]
        return f"""
    k = wp.tid()
    {"; ".join(f"{name} = numbers[{row}, k]" for row, name in enumerate(SIGNALS))}
    {_each("state_{0} = numbers[{0}, k]; ", self.states)}
    {_each("parameter_{0} = numbers[{0}, k]; ", self.parameters)}
    alive = wp.int32(0)
    if {" and ".join(checked)}:
        alive = 1
    {_lines(self.converting)}
"""


def _with_rows(
    owners: Sequence[LawClass | None], names: Sequence[Mapping[str, str]], states: range
) -> Iterator[tuple[int, _Law]]:
    """Yield number and source of each law, whose states and parameters follow those of the laws before it."""
    state, parameter = states.start, states.stop
    for number, (owner, signals) in enumerate(zip(owners, names, strict=True)):
        if owner is not None:
            yield number, _Law(owner, number, state, parameter, signals)
            state, parameter = state + len(owner.STATE), parameter + given_to(owner)


@functools.cache
def gradient_kernels(laws: PipelineLaws, delayed: bool, network: bool = False) -> Kernels:
    """Return the kernels of a pipeline, with or without a delay.

    Without a controller the effort is that of a network if `network` is True, otherwise zero.
    """
    lines = _Lines(laws)
    texts = {
        "record": _record_text(lines.states, lines.parameters, delayed),
        "efforts": _efforts_text(lines, network=network),
        "gather": _gather_text(lines.states),
        "scatter": _scatter_text(lines.states, lines.parameters, delayed),
    }
    if network and lines.converting:
        texts["convert"] = _convert_text(lines)
    called = _FUNCTIONS | {name: function for law in lines.laws for name, function in law.functions.items()}
    return Kernels(**generated_kernels(texts, called, differentiable=("efforts", "convert")))


def _each(pattern: str, names: Sequence[object]) -> str:
    return "".join(pattern.format(name) for name in names)


def _record_text(states: Sequence[int], parameters: Sequence[int], delayed: bool) -> str:
    delay = f"""
    newest = wrapped(now[0], depth)
    held = wp.clamp(pushes[k], 0, depth)
    finite = finite_bit(q_target, 1) | finite_bit(qd_target, 2) | finite_bit(ff, 4)
    steps = wp.clamp(lag[k], 0, depth)
    delay[0, k] = row_of(newest, steps, depth) if steps > 0 else -1
    steps = wp.min(steps, held)
    if held == 0:
        held = 0 if finite == {_ALL} else -1
    delay[1, k] = held
    delay[2, k] = finite
    delay[3, k] = newest
    if steps > 0:
        row = row_of(newest, steps, depth)
        q_target = ring_q_target[row, k]
        qd_target = ring_qd_target[row, k]
        ff = ring_ff[row, k]
    if finite != {_ALL}:
        q_target = wp.float32(wp.nan)
        qd_target = wp.float32(wp.nan)
        ff = wp.float32(wp.nan)
"""
    ring = _each("ring_{}: wp.array2d[float], ", COMMANDS)
    return f"""
def record(
    # In:
    {_each("{0}_in: wp.array[float], ", SIGNALS)}
    {_each("{0}_at: wp.array[wp.uint32], ", SIGNALS)}
    {_each("state_{}: wp.array[float], ", states)}
    {_each("parameter_{}: wp.array[float], ", parameters)}
    {ring} pushes: wp.array[int], now: wp.array[int], lag: wp.array[int], depth: int,
    # Out:
    numbers: wp.array2d[float],
    delay: wp.array2d[int],
):
    k = wp.tid()
    {_each("{0} = indexed_or_zero({0}_in, {0}_at, k); ", SIGNALS)}
    {delay if delayed else ""}
    {"; ".join(f"numbers[{row}, k] = {name}" for row, name in enumerate(SIGNALS))}
    {_each("numbers[{0}, k] = value_or_zero(state_{0}, k); ", states)}
    {_each("numbers[{0}, k] = value_or_zero(parameter_{0}, k); ", parameters)}
"""


def _efforts_text(lines: _Lines, *, network: bool) -> str:
    controlling = ["effort = network[k]", "if not wp.isfinite(effort):", "    alive = 0"] if network else []
    controlling += lines.controller.lines() if lines.controller else []
    limiting = itertools.chain(*(law.lines() for law in lines.limits))
    return f"""
def efforts(
    # In:
    numbers: wp.array2d[float],
    dt: float,
    {lines.curves}
    {"network: wp.array[float]," if network else ""}
    # Out:
    outputs: wp.array2d[float],
):
    {lines.start}
    effort = wp.float32(0.0)
    {_lines([*controlling, "raw = effort", *limiting])}
    if alive != 0:
        outputs[0, k] = effort
        outputs[1, k] = raw
        {_states_out("state_{}", lines.states)}
    else:
        # a fault keeps the state
        {_states_out("numbers[{}, k]", lines.states)}
"""


def _convert_text(lines: _Lines) -> str:
    return f"""
def convert(
    # In:
    numbers: wp.array2d[float],
    dt: float,
    {lines.curves}
    # Out:
    signals: wp.array2d[float],
):
    {lines.start}
    if alive != 0:
        {"; ".join(f"signals[{row}, k] = {name}" for row, name in enumerate(lines.converted))}
    else:
        {"; ".join(f"signals[{row}, k] = wp.float32(wp.nan)" for row in range(len(SIGNALS)))}
"""


def _states_out(pattern: str, states: Sequence[int]) -> str:
    return "; ".join(f"outputs[{2 + n}, k] = {pattern.format(row)}" for n, row in enumerate(states)) or "pass"


def _gather_text(states: Sequence[int]) -> str:
    return f"""
def gather(
    # In; gradients by states are set to zero:
    efforts: wp.array[float],
    computed: wp.array[float],
    at: wp.array[wp.uint32],
    {_each("state_{}: wp.array[float], ", states)}
    # Out:
    by_outputs: wp.array2d[float],
    by_numbers: wp.array2d[float],
):
    k = wp.tid()
    by_outputs[0, k] = indexed_or_zero(efforts, at, k)
    by_outputs[1, k] = indexed_or_zero(computed, at, k)
    {"; ".join(f"by_outputs[{2 + n}, k] = taken(state_{row}, k)" for n, row in enumerate(states))}
    for row in range(by_numbers.shape[0]):
        by_numbers[row, k] = 0.0
"""


def _scatter_text(states: Sequence[int], parameters: Sequence[int], delayed: bool) -> str:
    back = "{0} = back_ring({0}, after_{0}, before_{0}, delay, k, {1}, depth)"
    ring = [back.format(name, 1 << bit) for bit, name in enumerate(COMMANDS)]
    return f"""
def scatter(
    # In:
    by_numbers: wp.array2d[float],
    delay: wp.array2d[int],
    depth: int,
    # In/out:
    {_each("after_{}: wp.array2d[float], ", COMMANDS)}
    {_each("before_{}: wp.array2d[float], ", COMMANDS)}
    # Out:
    {_each("by_{}: wp.array[float], ", SIGNALS)}
    {_each("{}_at: wp.array[wp.uint32], ", SIGNALS)}
    {_each("by_{}: wp.array[float], ", (*states, *parameters))}
):
    k = wp.tid()
    {"; ".join(f"{name} = by_numbers[{row}, k]" for row, name in enumerate(SIGNALS))}
    {"; ".join(ring) if delayed else ""}
    {_each("add(by_{0}, {0}_at[k], {0}); ", SIGNALS)}
    {_each("give(by_{0}, k, by_numbers[{0}, k]); ", (*states, *parameters))}
"""


def _declared(names: Iterable[str]) -> list[str]:
    return [f"{name} = wp.float32(0.0)" for name in names]


def _indented(lines: Sequence[str]) -> list[str]:
    return [f"    {line}" for line in lines]


def _lines(lines: Iterable[str]) -> str:
    return "\n    ".join(lines)
