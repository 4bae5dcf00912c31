"""The lines in C of a stage: its parameters prepared, its law called, its results and states kept.

A number that is not finite ends the function of the motor at once.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...laws.contract.catalogue import build, snake_case
from ...laws.contract.curve import rows_of
from ...laws.contract.late import SPARE_ROWS
from ...laws.contract.law import (
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
from .c_literals import c_float
from .law_translator import functions

if TYPE_CHECKING:
    from ...laws.contract.base import Component

BAD = "return 0.0f;"
"""Statement after a number that is not finite."""


@dataclass(frozen=True)
class Stage:
    """A stage of motors with the same stages; `at_motor` is True for a sensor in front of the transmission.

    `depth` is the number of rows of its rings of past results; 0 if its results act at once.
    """

    component: type[Component]
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
    """Numbers of a stage of a joint: parameters, with units, in the order of the law.

    Rows of tables are (point, value, slope), float32 `(count, 3)`.
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


class Placed:
    """A stage at its place in the function of its motor; `number` counts those of the motor.

    `first` says where its parameters, tables, states and past results begin in the arrays of the motor; `signals` and
    `dt` are variables, and `known` are the signals that it may ask for and get, by name; others are neutral.
    """

    def __init__(
        self,
        stage: Stage,
        number: int,
        first: tuple[int, int, int, int],
        signals: str,
        known: Mapping[str, str] = {},
        dt: str = "dt",
    ) -> None:
        self.stage, self._number, self._signals, self._known, self._dt = stage, number, signals, known, dt
        self._parameter, self._table, self.first_state, self._past = first
        component = stage.component
        self.end = (
            self._parameter + len(component.PARAMETERS),
            self._table + len(component.CURVES),
            self.first_state + len(stage.starts),
            self._past + stage.past,
        )

    def ready_lines(self) -> list[str]:
        """Return the lines that prepare the parameters."""
        component = self.stage.component
        if component.PREPARE is None:
            return []
        name = component.PREPARE.func.__name__
        values = ", ".join([*self._parameters(), *([self._dt] if prepares_for_dt(component) else [])])
        results = functions()[name][0]
        kind = f"@values_{results}" if results > 1 else "float"
        return [f"    const {kind} ready_{self._number} = @{name}({values});"]

    def lines(self) -> list[str]:
        """Return the lines of the stage."""
        changed = LINES[self.stage.kind]
        lines = [] if changed is None else self._law_lines(changed)
        return [f"    {{ /* {self.stage.name} */", *lines, "    }"]

    def tick_lines(self) -> list[str]:
        """Return the lines of a rate that say whether the controller is due, and its step of time."""
        given = ", ".join(["dt", *self._states(), *self._prepared()])
        return [
            *self.ready_lines(),
            f"    const float due = @{self.stage.component.TICK.func.__name__}({given});",
            f"    const float period = {self._prepared()[0]} * dt;",
        ]

    def commanded_lines(self, hides_joint: bool) -> list[str]:
        """Return the lines of a transmission that give the controller signals of the motor, or of a sensor."""
        asked = self._asked(self.stage.component.ASKS)
        seen = [*(f"seen.{one}" for one in MOTOR_SIGNALS), *asked, *self._states(hides_joint), *self._prepared()]
        results = ", ".join(f"result.at[{k}]" for k in range(len(MOTOR_SIGNALS)))
        return [
            f"    {{ /* {self.stage.name}: what the controller gets */",
            f"        const @values_{len(MOTOR_SIGNALS)} result = {self._motor(seen)};",
            f"        if (!@all_finite(result.at, {len(MOTOR_SIGNALS)})) {BAD}",
            f"        seen = (@signals){{{results}}};",
            "    }",
        ]

    def true_lines(self, asked: Collection[str]) -> list[str]:
        """Return the lines of a transmission that give the stages before it the state of the motor."""
        true = ["joint.position", "joint.velocity", "0.0f", "0.0f", "0.0f"]
        true += [*self._asked(self.stage.component.ASKS), *self._states(), *self._prepared()]
        return [
            "    @signals motor = joint; /* what the stages before the transmission get */",
            f"    {{ /* {self.stage.name}: the true state */",
            f"        const @values_{len(MOTOR_SIGNALS)} result = {self._motor(true)};",
            f"        if (!@all_finite(result.at, 2)) {BAD}",
            "        motor.position = result.at[0], motor.velocity = result.at[1];",
            "        (void)motor;",
            "    }",
            *self._felt_lines(asked),
        ]

    def _motor(self, given: Sequence[str]) -> str:
        return f"@{self.stage.component.MOTOR.func.__name__}({', '.join(given)})"

    def _felt_lines(self, asked: Collection[str]) -> list[str]:
        if not set(asked) & set(FELT_SIGNALS):
            return []
        name = self.stage.component.FELT.func.__name__
        given = [*(c_float(SIGNALS[one].neutral) for one in FELT_SIGNALS), *self._states(), *self._prepared()]
        wrong = " || ".join(f"!@finite(felt.at[{k}])" for k, one in enumerate(FELT_SIGNALS) if one in asked)
        return [
            f"    /* {', '.join(FELT_SIGNALS)} */",
            f"    const @values_{len(FELT_SIGNALS)} felt = @{name}({', '.join(given)});",
            f"    if ({wrong}) {BAD}",
        ]

    def _law_lines(self, outputs: Sequence[str]) -> list[str]:
        """Return the lines that call the law and keep its states, with variables of its results or of late ones."""
        component, depth = self.stage.component, self.stage.depth
        results, gives = results_of(component), KINDS[self.stage.kind].gives
        total = results + len(component.STATE)
        if total == 1 and outputs:
            return [f"        {outputs[0]} = {self._call()};", f"        if (!@finite({outputs[0]})) {BAD}"]
        is_own = gives == 0 and len(outputs) > 0
        name = "values" if is_own else "result.at"
        own = f"        float values[{len(outputs)}] = {{{', '.join(outputs)}}};"
        states = [
            f"        next[{self.first_state + k}] = result.at[{results + k}]; /* {one} */"
            for k, one in enumerate(component.STATE)
        ]
        newest = self.first_state + len(component.STATE)
        to, count = f"state + {self.first_state}, next + {self.first_state}", len(self.stage.starts)
        past = f"past + {self._past}, {depth}, state[{newest}], result.at[{gives}], {name}, {len(outputs)}"
        acting = [
            f"        next[{newest}] = @act_late({past});",
            f"        if (!@all_finite({name}, {len(outputs)})) {BAD}",
        ]
        return [
            f"        @values_{total} result = {self._call()};",
            f"        if (!@all_finite(result.at, {total})) {BAD}",
            *([own] if is_own else []),
            *(acting if depth else []),
            *(f"        {one} = {name}[{k}];" for k, one in enumerate(outputs)),
            *states,
            # what acts late goes on where an effort is a fault
            *([f"        memcpy({to}, {count} * sizeof(float)); /* with a fault, too */"] if component.LATE else []),
        ]

    def _call(self) -> str:
        """Return the call of the law."""
        component, signals = self.stage.component, self._signals
        kind = KINDS[self.stage.kind]
        named = {one: f"{signals}.{one}" for one in MOTOR_SIGNALS} | {"effort": "effort", "dt": self._dt}
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
        return [self._known.get(name, c_float(SIGNALS[name].neutral)) for name in names]

    def _parameters(self) -> list[str]:
        return [f"p[{self._parameter + k}]" for k in range(len(self.stage.component.PARAMETERS))]

    def _prepared(self) -> list[str]:
        component = self.stage.component
        if component.PREPARE is None:
            return self._parameters()
        count = len(prepared_of(component, KINDS[self.stage.kind].takes))
        is_one = functions()[component.PREPARE.func.__name__][0] == 1
        return [f"ready_{self._number}" if is_one else f"ready_{self._number}.at[{k}]" for k in range(count)]

    def _states(self, hidden: bool = False) -> list[str]:
        """Return the states; hidden ones that follow the joint after a reset are not known."""
        component = self.stage.component
        is_unset = [hidden and np.isnan(component.START.get(name, 0.0)) for name in component.STATE]
        return ["NAN" if unset else f"state[{self.first_state + k}]" for k, unset in enumerate(is_unset)]


_EFFORT = ("effort",)
LINES: dict[str, Sequence[str] | None] = {
    "feedback": ("seen.position", "seen.velocity"),
    "delay": tuple(f"seen.{one}" for one in MOTOR_SIGNALS[2:]),
    "command": tuple(f"seen.{one}" for one in MOTOR_SIGNALS[2:]),
    "controller": _EFFORT,
    "rate": _EFFORT,
    "effort_delay": _EFFORT,
    "effort_lag": _EFFORT,
    "electrical": _EFFORT,
    "clamping": _EFFORT,
    "losses": (),
    "thermal": (),
    "transmission": _EFFORT,
    "shaft": _EFFORT,
    # the functions of its joints stand before and behind it
    "linkage": None,
    "passive": _EFFORT,
}
"""Variables that a stage changes, by kind; None for no lines of its own. A header has no stages of other kinds."""
