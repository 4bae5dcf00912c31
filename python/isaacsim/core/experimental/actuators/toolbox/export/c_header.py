"""A C99 header with a step of the motors of a robot, without dependencies but the C library.

The functions of the laws are those of the native core, in C (`c_laws.py`), and take the same float32 numbers in the
same order, so that the efforts have the same bits if the compiler neither contracts nor reorders: `-ffp-contract=off`
and no `-ffast-math`. As in the core, an effort that is not finite becomes zero and leaves the state as it was.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...components.catalogue import class_of, snake_case
from ...components.law import prepared_of, prepares_for_dt, signals_of
from ...specs.configs import Config, DelayConfig, FrictionConfig
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS
from .c_laws import FUNCTIONS
from .robot import FEATURES, ExportedJoint, ExportedRobot

SAYS = frozenset(FEATURES) - {"armature", "friction", "viscous_friction", "position_limits", "velocity_limit"}
_KINDS = ("controller", "electrical", "clamping", "passive")
_RESULTS = 15
_NEVER_ASKED = ("robot_number", "joint_number")
_SIGNALS = {
    "effort": "effort",
    "position": "position",
    "velocity": "velocity",
    "position_target": "command[0]",
    "velocity_target": "command[1]",
    "feedforward": "command[2]",
    "dt": "dt",
}


def _stages(joint: ExportedJoint) -> list[Config] | None:
    return None if joint.motor is None or joint.motor.controller is None else list(joint.motor.stages)


@dataclass(frozen=True)
class _Shape:
    """Motors of the same laws: components in order."""

    classes: tuple[Any, ...]

    @property
    def parameters(self) -> int:
        """How many parameters a motor has."""
        return sum(len(one.PARAMETERS) for one in self.classes)

    @property
    def states(self) -> int:
        """How many states a motor has."""
        return sum(len(one.STATE) for one in self.classes)


def c_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the header.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.

    Raises:
        ValueError: A motor has a law that the header cannot have; a line for each.
    """
    if problems := [why for joint in robot.joints for why in _refused(joint)]:
        raise ValueError("\n".join(problems))
    return _Header(robot, losses).text()


def _refused(joint: ExportedJoint) -> Iterator[str]:
    for config in _stages(joint) or []:
        why = _reason(config)
        if why:
            name = f"{config.KIND} {snake_case(type(config).stem())}"
            yield f"{joint.name}: {name} {why}. Change the motor by --config, or choose another target."


def _reason(config: Config) -> str:
    """Return why the header cannot have a law; empty if it can."""
    if isinstance(config, DelayConfig):
        return ""
    if config.KIND not in _KINDS:
        return f"is of a kind that a C header cannot have: must be one of {', '.join(_KINDS)} and a delay in steps"
    component: Any = class_of(config) if type(config).stem() != "Neural" else None
    if component is None or component.LAW is None or component.LAW.func.__name__ not in FUNCTIONS:
        return "has no twin in C: must be a law without curves and networks"
    if set(_NEVER_ASKED) & set(component.ASKS):
        return "needs random numbers: must be a law without them"
    if isinstance(config, FrictionConfig) and not config.assumed_inertia > 0.0:
        return "has no assumed_inertia, and a C header has no simulator that knows it: must be above zero"
    return ""


class _Header:
    """Parts of the header of a robot."""

    def __init__(self, robot: ExportedRobot, losses: Sequence[str]) -> None:
        self._robot, self._losses = robot, losses
        self._prefix = re.sub(r"\W", "_", f"m_{robot.name}" if robot.name[:1].isdigit() else robot.name, flags=re.A)
        self._motors = [_stages(joint) or [] for joint in robot.joints]
        laws = [[one for one in stages if not isinstance(one, DelayConfig)] for stages in self._motors]
        self._laws = laws
        self._shapes = [_Shape(tuple(map(class_of, stages))) for stages in laws]
        self._kinds = list(dict.fromkeys(shape for shape in self._shapes if shape.classes))
        self._delays = [
            next((int(one.delay_steps) for one in stages if isinstance(one, DelayConfig)), 0) for stages in self._motors
        ]

    def text(self) -> str:
        """Return the whole text."""
        parts = [
            self._top(),
            _PRIMITIVES,
            *self._functions(),
            *map(self._motor, range(len(self._kinds))),
            self._robot_text(),
        ]
        guard = f"{self._prefix.upper()}_MOTORS_H"
        text = "\n\n".join(part.strip("\n") for part in parts)
        return f"#ifndef {guard}\n#define {guard}\n\n{text}\n\n#endif\n".replace("@", f"{self._prefix}_")

    def _top(self) -> str:
        said = [
            f"Motors of {_in_comment(self._robot.name)}, {len(self._robot.joints)} joints in DOF order, in SI. C99.",
            "Compile with -ffp-contract=off and without -ffast-math for the bits of the package.",
            "Call @init once, then @step at every control step of dt seconds; arrays have @JOINTS numbers.",
            *map(_in_comment, self._losses),
        ]
        comment = "\n".join(f" * {line}" for line in said)
        return f"/*\n{comment}\n */\n#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>"

    def _functions(self) -> Iterator[str]:
        needed = {function for shape in self._kinds for one in shape.classes for function in _called(one)}
        # callees come first, so those of a function are found by going backwards
        for name, (_, text) in reversed(FUNCTIONS.items()):
            if name in needed:
                needed |= set(re.findall(r"@(\w+)\(", text))
        yield from (text for name, (_, text) in FUNCTIONS.items() if name in needed)

    def _motor(self, number: int) -> str:
        shape = self._kinds[number]
        lines = [
            f"static inline float @motor_{number}(const float p[], float state[], float position, float velocity,",
            "                               const float command[3], float dt) {",
            "    float effort = 0.0f;",
            *([f"    float next[{shape.states}];"] if shape.states else []),
        ]
        first, first_state = 0, 0
        for component in shape.classes:
            lines += _stage_lines(component, first, first_state)
            first, first_state = first + len(component.PARAMETERS), first_state + len(component.STATE)
        lines += [
            "    (void)position, (void)velocity, (void)dt, (void)state, (void)p;",
            "    if (!@finite(effort)) return 0.0f;",
            *([f"    memcpy(state, next, {shape.states} * sizeof(float));"] if shape.states else []),
            "    return effort;",
            "}",
        ]
        return "\n".join(lines)

    def _robot_text(self) -> str:
        joints = self._robot.joints
        states = max([shape.states for shape in self._shapes] + [1])
        depth = max([*self._delays, 1])
        names = ", ".join(_c_string(joint.name) for joint in joints)
        lines = [
            f"enum {{ @JOINTS = {len(joints)}, @STATES = {states}, @DEPTH = {depth} }};",
            "typedef struct {\n    float commands[@DEPTH][3];\n    int row, begun;\n} @ring;",
            *([_LATE] if any(self._delays) else []),
            f"static const char *const @joint_names[@JOINTS] = {{{names}}};",
            "typedef struct {",
            "    float state[@JOINTS][@STATES];",
            "    @ring past[@JOINTS];",
            "} @motors;",
        ]
        for at, (joint, stages) in enumerate(zip(joints, self._laws, strict=True)):
            if stages:
                values = ", ".join(_c_float(value) for one in stages for value in _parameters(one))
                lines.append(f"static const float @parameters_{at}[] = {{{values}}}; /* {_in_comment(joint.name)} */")
        lines += [
            "static inline void @init(@motors *m) {",
            "    memset(m, 0, sizeof *m);",
            *(f"    m->state[{at}][{k}] = {_c_float(value)};" for at, k, value in self._starts()),
            "}",
            "/* position, velocity, their targets, feedforward, effort: arrays of @JOINTS numbers. */",
            "static inline void @step(@motors *m, const float position[], const float velocity[],",
            "                         const float position_target[], const float velocity_target[],",
            "                         const float feedforward[], float dt, float effort[]) {",
        ]
        for at, (shape, delay) in enumerate(zip(self._shapes, self._delays, strict=True)):
            lines += self._joint_lines(at, shape, delay)
        return "\n".join([*lines, "}"])

    def _starts(self) -> Iterator[tuple[int, int, float]]:
        for at, shape in enumerate(self._shapes):
            states = [(one.START.get(name, 0.0)) for one in shape.classes for name in one.STATE]
            yield from ((at, k, value) for k, value in enumerate(states) if value)

    def _joint_lines(self, at: int, shape: _Shape, delay: int) -> list[str]:
        if not shape.classes:
            return [f"    effort[{at}] = 0.0f;"]
        signals = f"position[{at}], velocity[{at}], command, dt"
        call = f"@motor_{self._kinds.index(shape)}(@parameters_{at}, m->state[{at}], {signals})"
        lines = [
            "    {",
            f"        float command[3] = {{position_target[{at}], velocity_target[{at}], feedforward[{at}]}};",
            *([f"        @late(&m->past[{at}], {delay}, command);"] if delay else []),
            f"        effort[{at}] = {call};",
            "    }",
        ]
        return lines


_LATE = """
/* The command of `steps` steps ago; the first good one stands for all before it. One that is not finite is not kept:
   the one before it is, and there is no effort in that step. */
static inline void @late(@ring *ring, int steps, float command[3]) {
    const int good = @finite(command[0]) && @finite(command[1]) && @finite(command[2]);
    const float unknown[3] = {NAN, NAN, NAN};
    float late[3], *at = ring->commands[ring->row];
    if (!ring->begun && good) {
        for (int k = 0; k < steps; ++k) memcpy(ring->commands[k], command, sizeof late);
        ring->begun = 1;
    }
    memcpy(late, at, sizeof late);
    memcpy(at, good ? command : ring->commands[(ring->row + steps - 1) % steps], sizeof late);
    memcpy(command, good ? late : unknown, sizeof late);
    ring->row = (ring->row + 1) % steps;
}
"""


def _called(component: Any) -> list[str]:
    return [one.func.__name__ for one in (component.LAW, component.PREPARE) if one is not None]


def _stage_lines(component: Any, first: int, first_state: int) -> list[str]:
    """Return the lines that call the law of a stage."""
    kind = KINDS[component.KIND]
    values = [f"p[{first + k}]" for k in range(len(component.PARAMETERS))]
    lines = []
    prepared = values
    if component.PREPARE is not None:
        name = component.PREPARE.func.__name__
        given = ", ".join([*values, *(["dt"] if prepares_for_dt(component) else [])])
        count = FUNCTIONS[name][0]
        kind_of_result = f"@values_{count}" if count > 1 else "float"
        lines.append(f"        const {kind_of_result} ready = @{name}({given});")
        names = prepared_of(component, kind.takes)
        prepared = [f"ready.at[{k}]" if count > 1 else "ready" for k in range(len(names))]
    asked = {name: _c_float(SIGNALS[name].neutral) for name in component.ASKS}
    signals = [({**asked, **_SIGNALS})[name] for name in signals_of(component, kind.takes)]
    states = [f"state[{first_state + k}]" for k in range(len(component.STATE))]
    call = f"@{component.LAW.func.__name__}({', '.join([*signals, *states, *prepared])})"
    if component.STATE:
        count = FUNCTIONS[component.LAW.func.__name__][0]
        lines += [f"        const @values_{count} result = {call};", "        effort = @guarded(result.at[0]);"]
        lines += [f"        next[{first_state + k}] = result.at[{k + 1}];" for k in range(len(component.STATE))]
    else:
        lines.append(f"        effort = @guarded({call});")
    return ["    {", *lines, "    }"]


def _parameters(config: Config) -> list[float]:
    """Return the parameters of the law of a config, of one joint."""
    component = class_of(config)
    given = component.resolve_arguments({name: getattr(config, name) for name in component.PARAMETERS})
    return [float(np.asarray(given[name]).reshape(-1)[0]) for name in component.PARAMETERS]


def _c_float(value: float) -> str:
    single = np.float32(value)
    if np.isnan(single):
        return "NAN"
    if np.isinf(single):
        return "-INFINITY" if single < 0 else "INFINITY"
    text = f"{float(single):.9g}"
    return f"{text}f" if "." in text or "e" in text else f"{text}.0f"


def _c_string(text: str) -> str:
    """Return a string literal, bytes beyond printable ASCII as octal numbers."""
    return '"' + "".join(chr(b) if 32 <= b < 127 and b not in b'"\\?@' else f"\\{b:03o}" for b in text.encode()) + '"'


def _in_comment(text: str) -> str:
    """Return text that cannot end a comment of C, on one line, without the sign for the prefix."""
    return " ".join(text.replace("*/", "* /").replace("/*", "/ *").replace("@", "(at)").split())


_VALUES = "\n".join(f"typedef struct {{ float at[{n}]; }} @values_{n};" for n in range(2, _RESULTS + 1))
_PRIMITIVES = (
    _VALUES
    + """
static inline float @negative(float x) { return 0.0f - x; }
static inline float @magnitude(float x) { return fabsf(x); }
static inline float @square_root(float x) { return sqrtf(x); }
static inline int @finite(float x) { return fabsf(x) <= FLT_MAX; }
static inline float @pick(int first, float one, float other) { return first ? one : other; }
static inline float @nan_unless(int good, float value) { return good ? value : NAN; }
static inline float @guarded(float x) { return @finite(x) ? x : NAN; }
static inline uint32_t @bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}
static inline float @float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}
/* 2^n of an integer n from -126 to 127 */
static inline float @power_of_two(float n) {
    return @float_of((@bits_of(n + 12582912.0f) - @bits_of(12582912.0f) + 127u) << 23);
}
/* m and e with x = m 2^e and sqrt(1/2) <= m < sqrt(2), of a positive finite number */
static inline @values_2 @mantissa_and_exponent(float x) {
    const int tiny = x < FLT_MIN;
    const uint32_t bits = @bits_of(tiny ? x * 4294967296.0f : x);
    const float m = @float_of((bits & 0x007fffffu) | 0x3f800000u);
    const float e = @float_of((bits >> 23) + @bits_of(12582912.0f)) - 12582912.0f - (tiny ? 159.0f : 127.0f);
    const int large = (double)m >= 1.4142135623730951;
    return (@values_2){{large ? m * 0.5f : m, large ? e + 1.0f : e}};
}
"""
)
