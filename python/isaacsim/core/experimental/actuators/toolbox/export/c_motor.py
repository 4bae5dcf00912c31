"""The function in C of motors with the same stages: a step of one joint, stage by stage in the order of the core.

A step ends with an effort of zero, and leaves the state as it was, as soon as a number is not finite: as the plan does,
whose laws hand on NaN to the end. With a linkage there are two functions, from signals of the shaft to its effort, and
from the effort at the joint to that with friction. They return NaN for a fault, which is one of all joints that the
linkage moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...components.catalogue import build, snake_case
from ...components.curve import rows_of
from ...components.late import SPARE_ROWS
from ...components.law import (
    FELT_SIGNALS,
    MOTOR_SIGNALS,
    UNSET,
    late_results,
    prepared_of,
    prepares_for_dt,
    results_of,
    signals_of,
)
from ...specs.configs import Config
from ...specs.fields import parameters_of
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS
from .c_laws import FUNCTIONS
from .c_literals import c_float

_BAD, _FAULT = "return 0.0f;", "return NAN;"


@dataclass(frozen=True)
class Stage:
    """A stage of motors with the same stages.

    Args:
        component: The class of its law.
        at_motor: True for a sensor in front of the transmission.
        depth: Number of rows of its rings of past results; 0 if its results act at once.
    """

    component: Any
    at_motor: bool
    depth: int

    @property
    def kind(self) -> str:
        """Its kind."""
        return self.component.KIND

    @property
    def name(self) -> str:
        """Name of its law."""
        return snake_case(self.component.__name__)

    @property
    def starts(self) -> list[float]:
        """First value of each of its states."""
        start = [self.component.START.get(name, 0.0) for name in self.component.STATE]
        return [*start, UNSET] if self.depth else start

    @property
    def past(self) -> int:
        """How many past results it keeps."""
        return self.depth * late_results(self.component) if self.depth else 0


@dataclass(frozen=True)
class Numbers:
    """Numbers of a stage of a joint.

    Args:
        parameters: Values by name, in the order of the law, with the unit.
        tables: Rows (point, value, slope) by name of the table, float32 `(count, 3)`.
    """

    parameters: dict[str, tuple[float, str]]
    tables: dict[str, np.ndarray]


def stage_of(config: Config) -> tuple[Stage, Numbers]:
    """Return a stage, and the numbers of its joint."""
    component: Any = build(config, 1, "cpu")
    depth = component.depth if component.depth > SPARE_ROWS else 0
    stage = Stage(type(component), getattr(component, "side", "joint") == "motor", depth)
    described = parameters_of(config)
    parameters = {
        name: (float(component.read(name)[0]), described[name].unit if name in described else "")
        for name in component.PARAMETERS
    }
    return stage, Numbers(parameters, {name: rows_of(component, name) for name in component.CURVES})


class Shape:
    """Stages that several joints have in common.

    Args:
        stages: In the order in which they act, without a delay in steps.
    """

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        gears = [at for at, one in enumerate(self.stages) if KINDS[one.kind].converts]
        self._gear = gears[0] if gears else None
        linked = [at for at, one in enumerate(self.stages) if KINDS[one.kind].couples]
        self._linkage = linked[0] if linked else None
        self._placed: list[_Placed] = []
        for at, stage in enumerate(self.stages):
            self._placed.append(_Placed(self, stage, at, self._placed[-1].end if self._placed else (0, 0, 0, 0)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Shape) and self.stages == other.stages

    def __hash__(self) -> int:
        return hash(self.stages)

    @property
    def starts(self) -> list[float]:
        """First value of each state."""
        return [start for one in self.stages for start in one.starts]

    @property
    def past(self) -> int:
        """How many past results a motor keeps."""
        return sum(one.past for one in self.stages)

    @property
    def is_numbered(self) -> bool:
        """True if a law draws random numbers by the number of the joint."""
        return any("joint_number" in one.component.ASKS for one in self.stages)

    @property
    def has_tables(self) -> bool:
        """True if a law has tables."""
        return any(one.component.CURVES for one in self.stages)

    @property
    def is_linked(self) -> bool:
        """True if a linkage moves the joint: stages before it and behind it are then functions of their own."""
        return self._linkage is not None

    @property
    def gear(self) -> _Placed | None:
        """The transmission, or None."""
        return None if self._gear is None else self._placed[self._gear]

    @property
    def hides_joint(self) -> bool:
        """True if the controller sees its joint by a sensor only."""
        return any(KINDS[one.kind].senses and not one.at_motor for one in self.stages)

    def signals_at(self, at: int) -> str:
        """Return the variable with the signals that a stage gets."""
        kind = KINDS[self.stages[at].kind]
        if not kind.takes_effort:
            return "seen"
        return "motor" if self.is_before_gear(at) else "joint"

    def is_before_gear(self, at: int) -> bool:
        """Return True if a transmission follows a stage."""
        return self._gear is not None and at < self._gear

    def arguments(self) -> list[str]:
        """Return the arguments of the function."""
        given = {
            "const float p[]": True,
            "const @table tables[]": self.has_tables,
            "float state[]": True,
            "float past[]": bool(self.past),
            "float joint_number": self.is_numbered,
            "@signals joint": True,
            "float dt": True,
            "float next[]": self.is_linked,
        }
        return [text for text, is_given in given.items() if is_given]

    def text(self, number: int) -> str:
        """Return the text of the function, or of both with a linkage."""
        count, laws = len(self.starts), ", ".join(one.name for one in self.stages)
        head = f"/* {laws} */\nstatic inline float @motor_{number}({', '.join(self.arguments())}) {{"
        if self._linkage is None:
            own = [f"    float next[{count}];"] if count else []
            kept = [f"    memcpy(state, next, {count} * sizeof(float));"] if count else []
            return "\n".join([head, *own, *self._motor_lines(self._placed), *kept, "    return effort;", "}"])
        # the linkage between the two has to know of a fault
        motor = [one.replace(_BAD, _FAULT) for one in self._motor_lines(self._placed[: self._linkage])]
        joint = [one.replace(_BAD, _FAULT) for one in self._joint_lines(self._placed[self._linkage + 1 :])]
        second = f"static inline float @joint_{number}(float effort, {', '.join(self.arguments())}) {{"
        return "\n".join([head, *motor, "    return effort;", "}", "", second, *joint, "    return effort;", "}"])

    def _motor_lines(self, placed: Sequence[_Placed]) -> list[str]:
        """Return the lines of a function that begins with signals."""
        before = [one for one in placed if not KINDS[one.stage.kind].takes_effort]
        early = [one for one in before if one.stage.kind != "controller" and not one.stage.at_motor]
        return [
            "    float effort = 0.0f;",
            "    @signals seen = joint; /* what the controller gets */",
            f"    if (!@all_finite(&joint.position, {len(MOTOR_SIGNALS)})) {_BAD}",
            *(line for one in placed for line in one.ready_lines()),
            *(line for one in early for line in one.lines()),
            *(self.gear.motor_lines() if self.gear else []),
            *(line for one in placed if one not in early for line in one.lines()),
            f"    {', '.join(f'(void){one}' for one in ('seen', *self._names()))};",
        ]

    def _joint_lines(self, placed: Sequence[_Placed]) -> list[str]:
        """Return the lines of a function that begins with the effort that a linkage has at a joint."""
        return [
            f"    if (!@finite(effort) || !@all_finite(&joint.position, {len(MOTOR_SIGNALS)})) {_BAD}",
            *(line for one in placed for line in one.ready_lines()),
            *(line for one in placed for line in one.lines()),
            f"    {', '.join(f'(void){one}' for one in self._names())};",
        ]

    def _names(self) -> list[str]:
        """Return the names of the arguments."""
        return [one.split()[-1].removesuffix("[]") for one in self.arguments()]


class _Placed:
    """A stage at its place: where its parameters, tables, states and past results begin in the arrays of its motor."""

    def __init__(self, shape: Shape, stage: Stage, at: int, first: tuple[int, int, int, int]) -> None:
        self.stage, self._shape, self._at = stage, shape, at
        self._parameter, self._table, self._state, self._past = first
        component = stage.component
        self.end = (
            self._parameter + len(component.PARAMETERS),
            self._table + len(component.CURVES),
            self._state + len(stage.starts),
            self._past + stage.past,
        )

    def ready_lines(self) -> list[str]:
        """Return the lines that prepare the parameters."""
        component = self.stage.component
        if component.PREPARE is None:
            return []
        name = component.PREPARE.func.__name__
        values = ", ".join([*self._parameters(), *(["dt"] if prepares_for_dt(component) else [])])
        return [f"    const {_type(FUNCTIONS[name][0])} ready_{self._at} = @{name}({values});"]

    def lines(self) -> list[str]:
        """Return the lines of the stage."""
        return [f"    {{ /* {self.stage.name} */", *LINES[self.stage.kind](self), "    }"]

    def motor_lines(self) -> list[str]:
        """Return the lines of a transmission that make signals of the joint those of the motor."""
        component = self.stage.component
        name = component.MOTOR.func.__name__
        type_ = _type(FUNCTIONS[name][0])
        rest = [*self._asked(component.ASKS), *self._states(), *self._prepared()]
        shown = [*self._asked(component.ASKS), *self._states(self._shape.hides_joint), *self._prepared()]
        seen = ", ".join([*(f"seen.{one}" for one in MOTOR_SIGNALS), *shown])
        true = ", ".join(["joint.position", "joint.velocity", "0.0f", "0.0f", "0.0f", *rest])
        results = ", ".join(f"result.at[{k}]" for k in range(len(MOTOR_SIGNALS)))
        return [
            "    @signals motor = joint; /* what the stages before the transmission get */",
            f"    {{ /* {self.stage.name}: what the controller gets */",
            f"        const {type_} result = @{name}({seen});",
            f"        if (!@all_finite(result.at, {len(MOTOR_SIGNALS)})) {_BAD}",
            f"        seen = (@signals){{{results}}};",
            "    }",
            f"    {{ /* {self.stage.name}: the true state */",
            f"        const {type_} result = @{name}({true});",
            f"        if (!@all_finite(result.at, 2)) {_BAD}",
            "        motor.position = result.at[0], motor.velocity = result.at[1];",
            "        (void)motor;",
            "    }",
            *self._felt_lines(),
        ]

    def _felt_lines(self) -> list[str]:
        asked = {name for one in self._shape.stages[: self._at] for name in one.component.ASKS}
        if not asked & set(FELT_SIGNALS):
            return []
        name = self.stage.component.FELT.func.__name__
        given = [*(c_float(SIGNALS[one].neutral) for one in FELT_SIGNALS), *self._states(), *self._prepared()]
        wrong = " || ".join(f"!@finite(felt.at[{k}])" for k, one in enumerate(FELT_SIGNALS) if one in asked)
        return [
            f"    const @values_{len(FELT_SIGNALS)} felt = @{name}({', '.join(given)}); /* inertia and load */",
            f"    if ({wrong}) {_BAD}",
        ]

    def law_lines(self, outputs: Sequence[str]) -> list[str]:
        """Return the lines that call the law and keep its states.

        Args:
            outputs: Variables of its results, or of what acts late by its results.
        """
        component, depth = self.stage.component, self.stage.depth
        results, gives = results_of(component), KINDS[self.stage.kind].gives
        total = results + len(component.STATE)
        if total == 1:
            return [f"        {outputs[0]} = {self._call()};", f"        if (!@finite({outputs[0]})) {_BAD}"]
        name = "values" if gives == 0 else "result.at"
        own = f"        float values[{len(outputs)}] = {{{', '.join(outputs)}}};"
        states = [
            f"        next[{self._state + k}] = result.at[{results + k}]; /* {one} */"
            for k, one in enumerate(component.STATE)
        ]
        newest = self._state + len(component.STATE)
        past = f"past + {self._past}, {depth}, state[{newest}], result.at[{gives}], {name}, {len(outputs)}"
        return [
            f"        @values_{total} result = {self._call()};",
            f"        if (!@all_finite(result.at, {total})) {_BAD}",
            *([own] if gives == 0 else []),
            *([f"        next[{newest}] = @act_late({past});"] if depth else []),
            *([f"        if (!@all_finite({name}, {len(outputs)})) {_BAD}"] if depth else []),
            *(f"        {one} = {name}[{k}];" for k, one in enumerate(outputs)),
            *states,
        ]

    def _call(self) -> str:
        """Return the call of the law."""
        component, signals = self.stage.component, self._shape.signals_at(self._at)
        kind = KINDS[self.stage.kind]
        named = {one: f"{signals}.{one}" for one in MOTOR_SIGNALS} | {"effort": "effort", "dt": "dt"}
        taken = signals_of(component, kind.takes)
        asked = dict(zip(component.ASKS, self._asked(component.ASKS), strict=True))
        over = {"speed": f"fabsf({signals}.velocity)"} | named
        tables = [
            f"@table_at(tables[{self._table + k}], {over[one]})" for k, one in enumerate(component.CURVES.values())
        ]
        values = [*((named | asked)[one] for one in taken), *self._states(), *self._prepared(), *tables]
        return f"@{component.LAW.func.__name__}({', '.join(values)})"

    def _asked(self, names: Sequence[str]) -> list[str]:
        """Return what a stage gets of the signals that it asks for: nothing is known, but for its motor and number."""
        is_felt = self._shape.is_before_gear(self._at) and KINDS[self.stage.kind].coordinates == "motor"
        felt = {name: f"felt.at[{k}]" for k, name in enumerate(FELT_SIGNALS)} if is_felt else {}
        known = {"joint_number": "joint_number"} | felt
        return [known.get(name, c_float(SIGNALS[name].neutral)) for name in names]

    def _parameters(self) -> list[str]:
        return [f"p[{self._parameter + k}]" for k in range(len(self.stage.component.PARAMETERS))]

    def _prepared(self) -> list[str]:
        component = self.stage.component
        if component.PREPARE is None:
            return self._parameters()
        count = len(prepared_of(component, KINDS[self.stage.kind].takes))
        is_one = FUNCTIONS[component.PREPARE.func.__name__][0] == 1
        return [f"ready_{self._at}" if is_one else f"ready_{self._at}.at[{k}]" for k in range(count)]

    def _states(self, hidden: bool = False) -> list[str]:
        """Return the states; hidden ones that follow the joint after a reset are not known."""
        component = self.stage.component
        is_unset = [hidden and np.isnan(component.START.get(name, 0.0)) for name in component.STATE]
        return ["NAN" if unset else f"state[{self._state + k}]" for k, unset in enumerate(is_unset)]


def _type(results: int) -> str:
    return f"@values_{results}" if results > 1 else "float"


def _sensed(stage: _Placed) -> list[str]:
    return stage.law_lines(["seen.position", "seen.velocity"])


def _commanded(stage: _Placed) -> list[str]:
    return stage.law_lines([f"seen.{one}" for one in MOTOR_SIGNALS[2:]])


def _changed(stage: _Placed) -> list[str]:
    return stage.law_lines(["effort"])


def _linked(_stage: _Placed) -> list[str]:
    # the functions of its joints stand before and behind it
    return []


LINES: dict[str, Callable[[_Placed], list[str]]] = {
    "feedback": _sensed,
    "delay": _commanded,
    "controller": _changed,
    "effort_delay": _changed,
    "electrical": _changed,
    "clamping": _changed,
    "transmission": _changed,
    "linkage": _linked,
    "passive": _changed,
}
"""What writes the lines of a stage, by kind; a header has no stages of other kinds."""
