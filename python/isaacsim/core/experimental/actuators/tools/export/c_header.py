"""A C99 header with a step of the motors of a robot, without dependencies but the C library.

The functions of the laws are those of the native core, in C (`law_translator.py`), and take the same float32 numbers
in the same order, so that the efforts have the same bits if the compiler neither contracts nor reorders:
`-ffp-contract=off` and no `-ffast-math`. As in the core, an effort that is not finite becomes zero and leaves the
state as it was.
"""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...specs.configs import DelayConfig
from .c_carried import refused, stages_of
from .c_linkage import LINKAGES, linkage_text, linkages_of
from .c_literals import c_float, c_string, in_comment, wrapped
from .c_motor import Shape
from .c_stage import Numbers, Stage, stage_of
from .law_translator import functions
from .robot import FEATURES, OF_JOINT, ExportedJoint, ExportedRobot

SAYS = frozenset(FEATURES) - OF_JOINT - {"position_limits", "velocity_limit"}

_FUNCTION = re.compile(r"^(static inline [^(]*\(([^)]*)\) \{\n)(.*?^\})", re.MULTILINE | re.DOTALL)


def c_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the header, with what it does not say, a sentence each."""
    if problems := [why for joint in robot.joints for why in refused(joint)]:
        raise ValueError("\n".join(problems))
    return _Header(robot, losses).text()


@dataclass(frozen=True)
class _Joint:
    """A joint, its number among those of the robot, the shape of its motor and the numbers of each stage."""

    at: int
    name: str
    shape: Shape
    numbers: list[Numbers]
    delay: int


def _joint(at: int, joint: ExportedJoint) -> _Joint:
    configs = stages_of(joint)
    laws: list[tuple[Stage, Numbers]] = [stage_of(one) for one in configs if not isinstance(one, DelayConfig)]
    delay = next((int(one.delay_steps) for one in configs if isinstance(one, DelayConfig)), 0)
    return _Joint(at, in_comment(joint.name), Shape([one for one, _ in laws]), [one for _, one in laws], delay)


class _Header:
    """Parts of the header of a robot."""

    def __init__(self, robot: ExportedRobot, losses: Sequence[str]) -> None:
        self._robot, self._losses = robot, losses
        self._prefix = re.sub(r"\W", "_", f"m_{robot.name}" if robot.name[:1].isdigit() else robot.name, flags=re.A)
        self._joints = [_joint(at, joint) for at, joint in enumerate(robot.joints)]
        self._driven = [joint for joint in self._joints if joint.shape.stages]
        self._shapes = list(dict.fromkeys(joint.shape for joint in self._driven))
        self._linkages = linkages_of(robot.joints)
        self._tables: dict[bytes, tuple[str, np.ndarray]] = {}

    def text(self) -> str:
        """Return the whole text."""
        motors = [shape.text(number) for number, shape in enumerate(self._shapes)]
        robot = [*self._numbers(), self._memory(), self._init(), self._step()]
        text = _apart([self._top(), self._sizes(), *used_by([*motors, *robot]), *motors, *robot])
        guard = f"{self._prefix.upper()}_MOTORS_H"
        whole = f"#ifndef {guard}\n#define {guard}\n\n{text}\n\n#endif".replace("@", f"{self._prefix}_")
        return "".join(f"{wrapped(line)}\n" for line in _FUNCTION.sub(_with_unused, whole).splitlines())

    def _top(self) -> str:
        said = [
            f"Motors of {in_comment(self._robot.name)}, {len(self._robot.joints)} joints in DOF order, in SI. C99.",
            "Compile with -ffp-contract=off and without -ffast-math for the bits of the package.",
            "Call @init once, then @step at every control step of dt seconds; arrays have @JOINTS numbers.",
            *map(in_comment, self._losses),
        ]
        comment = "\n".join(f" * {line}" for line in said)
        return f"/*\n{comment}\n */\n#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>"

    @property
    def _past(self) -> int:
        """How many past results the motor that keeps most of them keeps."""
        return max((joint.shape.past for joint in self._joints), default=0)

    @property
    def _depth(self) -> int:
        """The longest delay of commands in steps."""
        return max((joint.delay for joint in self._driven), default=0)

    def _sizes(self) -> str:
        states = max((len(joint.shape.starts) for joint in self._joints), default=0)
        sizes = {"JOINTS": len(self._joints), "STATES": max(states, 1), "DEPTH": self._depth, "PAST": self._past}
        return f"enum {{ {', '.join(f'@{name} = {size}' for name, size in sizes.items() if size)} }};"

    def _numbers(self) -> Iterator[str]:
        """Yield the parameters and tables of each joint, equal tables once."""
        for joint in self._driven:
            names = []
            for stage, numbers in zip(joint.shape.stages, joint.numbers, strict=True):
                for name, rows in numbers.tables.items():
                    if rows.tobytes() not in self._tables:
                        self._tables[rows.tobytes()] = f"@table_{len(self._tables)}", rows
                        yield _table_text(*self._tables[rows.tobytes()], f"{stage.name}, {name}")
                    names.append(self._tables[rows.tobytes()])
            yield _parameters_text(joint)
            if names:
                tables = ", ".join(f"{{{name}, {len(rows)}}}" for name, rows in names)
                yield f"static const @table @tables_{joint.at}[] = {{{tables}}}; /* {joint.name} */"
        for number, linkage in enumerate(self._linkages):
            yield linkage_text(number, linkage, (self._joints[at].name for at in linkage.slots))

    def _memory(self) -> str:
        names = ", ".join(c_string(joint.name) for joint in self._robot.joints)
        lines = [
            f"static const char *const @joint_names[@JOINTS] = {{{names}}};",
            "typedef struct {",
            "    float state[@JOINTS][@STATES];",
            *(["    @ring late[@JOINTS]; /* commands that act later */"] if self._depth else []),
            *(["    float past[@JOINTS][@PAST]; /* results that act later */"] if self._past else []),
            "} @motors;",
        ]
        return "\n".join(lines)

    def _init(self) -> str:
        lines = [
            "static inline void @init(@motors *m) {",
            "    memset(m, 0, sizeof *m);",
            *(
                f"    m->state[{joint.at}][{k}] = {c_float(value)};"
                for joint in self._driven
                for k, value in enumerate(joint.shape.starts)
                if value
            ),
            "}",
        ]
        return "\n".join(lines)

    def _step(self) -> str:
        lines = [
            "/* position, velocity, their targets, feedforward, effort: arrays of @JOINTS numbers. */",
            "static inline void @step(@motors *m, const float position[], const float velocity[],",
            "                         const float position_target[], const float velocity_target[],",
            "                         const float feedforward[], float dt, float effort[]) {",
        ]
        for joint in self._joints:
            lines += self._joint_lines(joint) if not joint.shape.is_linked else []
        for number, linkage in enumerate(self._linkages):
            lines += self._linked_lines(number, [self._joints[at] for at in linkage.slots])
        return "\n".join([*lines, "}"])

    def _joint_lines(self, joint: _Joint) -> list[str]:
        at = joint.at
        if not joint.shape.stages:
            return [f"    effort[{at}] = 0.0f; /* {joint.name}: no motor */"]
        return [
            f"    {{ /* {joint.name} */",
            f"        @signals joint = {_signals(at)};",
            *self._late_lines(joint, "joint"),
            f"        effort[{at}] = {self._call('motor', joint, 'joint')};",
            "    }",
        ]

    def _linked_lines(self, number: int, joints: Sequence[_Joint]) -> list[str]:
        """Return the lines of the joints of a linkage."""
        count = len(joints)
        lines = [
            f"    {{ /* {', '.join(joint.name for joint in joints)} */",
            f"        const @signals joints[{count}] = {{",
            *(f"            {_signals(joint.at)}," for joint in joints),
            "        };",
            f"        @signals shafts[{count}];",
            f"        float efforts[{count}], next[{count}][@STATES] = {{{{0.0f}}}};",
            f"        @link_in(&@linkage_{number}, joints, shafts);",
        ]
        for k, joint in enumerate(joints):
            lines += self._late_lines(joint, f"shafts[{k}]")
            lines.append(f"        efforts[{k}] = {self._call('motor', joint, f'shafts[{k}]', next_=f'next[{k}]')};")
        lines.append(f"        @link_out(&@linkage_{number}, joints, dt, efforts);")
        for k, joint in enumerate(joints):
            call = self._call("joint", joint, f"joints[{k}]", (f"efforts[{k}]",), f"next[{k}]")
            kept = f"m->state[{joint.at}], next[{k}], {len(joint.shape.starts)}"
            lines.append(f"        effort[{joint.at}] = @settled({call}, {kept});")
        return [*lines, "    }"]

    def _late_lines(self, joint: _Joint, signals: str) -> list[str]:
        return [f"        @late(&m->late[{joint.at}], {joint.delay}, &{signals});"] if joint.delay else []

    def _call(
        self, function: str, joint: _Joint, signals: str, first: Sequence[str] = (), next_: str | None = None
    ) -> str:
        """Return the call of `motor` or `joint` of a joint; a linked joint has its next states at `next_`."""
        at, shape = joint.at, joint.shape
        given = {
            f"@parameters_{at}": True,
            f"@tables_{at}": shape.has_tables,
            f"m->state[{at}]": True,
            f"m->past[{at}]": bool(shape.past),
            c_float(self._driven.index(joint)): shape.is_numbered,
            signals: True,
            "dt": True,
            f"{next_}": next_ is not None,
        }
        arguments = ", ".join([*first, *(text for text, is_given in given.items() if is_given)])
        return f"@{function}_{self._shapes.index(shape)}({arguments})"


def _signals(at: int) -> str:
    names = ("position", "velocity", "position_target", "velocity_target", "feedforward")
    return f"{{{', '.join(f'{name}[{at}]' for name in names)}}}"


def _with_unused(function: re.Match[str]) -> str:
    """Return a function in which a line uses the parameters that nothing else does, for compilers that warn of them."""
    head, parameters, body = function.groups()
    names = [re.findall(r"\w+", one)[-1] for one in parameters.split(",")]
    code = re.sub(r"/\*.*?\*/", "", body, flags=re.DOTALL)
    unused = [name for name in names if not re.search(rf"(?<![.>])\b{name}\b", code)]
    return f"{head}    {', '.join(f'(void){name}' for name in unused)};\n{body}" if unused else head + body


def _apart(parts: Sequence[str]) -> str:
    """Return parts with an empty line between two of which one has several lines."""
    text = parts[0]
    for before, part in itertools.pairwise(parts):
        text += f"\n{part}" if "\n" not in before + part else f"\n\n{part}"
    return text


def _parameters_text(joint: _Joint) -> str:
    lines = [f"static const float @parameters_{joint.at}[] = {{ /* {joint.name} */"]
    for stage, numbers in zip(joint.shape.stages, joint.numbers, strict=True):
        for name, (value, unit) in numbers.parameters.items():
            lines.append(f"    {c_float(value)}, /* {stage.name}: {name}{f' [{unit}]' if unit else ''} */")
    return "\n".join([*lines, "};"])


def _table_text(name: str, rows: np.ndarray, words: str) -> str:
    lines = [f"static const float {name}[][3] = {{ /* {words}: point, value, slope */"]
    lines += (f"    {{{', '.join(map(c_float, row))}}}," for row in rows)
    return "\n".join([*lines, "};"])


_MOST_RESULTS = 16

_BEFORE_LAWS: dict[str, str] = {
    **{f"values_{n}": f"typedef struct {{ float at[{n}]; }} @values_{n};" for n in range(2, _MOST_RESULTS + 1)},
    "signals": "typedef struct { float position, velocity, position_target, velocity_target, feedforward; } @signals;",
    "negative": "static inline float @negative(float x) { return 0.0f - x; }",
    "magnitude": "static inline float @magnitude(float x) { return fabsf(x); }",
    "square_root": "static inline float @square_root(float x) { return sqrtf(x); }",
    "finite": "static inline int @finite(float x) { return fabsf(x) <= FLT_MAX; }",
    "all_finite": """\
static inline int @all_finite(const float x[], int count) {
    int good = 1;
    for (int k = 0; k < count; ++k) good &= @finite(x[k]);
    return good;
}""",
    "known": """\
static inline int @known(@signals of) {
    const float x[] = {of.position, of.velocity, of.position_target, of.velocity_target, of.feedforward};
    return @all_finite(x, 5);
}""",
    "pick": "static inline float @pick(int first, float one, float other) { return first ? one : other; }",
    "nan_unless": "static inline float @nan_unless(int good, float value) { return good ? value : NAN; }",
    "bits_of": """\
static inline uint32_t @bits_of(float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}""",
    "float_of": """\
static inline float @float_of(uint32_t bits) {
    float x;
    memcpy(&x, &bits, sizeof x);
    return x;
}""",
    "power_of_two": """\
/* 2^n of an integer n from -126 to 127 */
static inline float @power_of_two(float n) {
    return @float_of((@bits_of(n + 12582912.0f) - @bits_of(12582912.0f) + 127u) << 23);
}""",
    "mantissa_and_exponent": """\
/* m and e with x = m 2^e and sqrt(1/2) <= m < sqrt(2), of a positive finite number */
static inline @values_2 @mantissa_and_exponent(float x) {
    const int tiny = x < FLT_MIN;
    const uint32_t bits = @bits_of(tiny ? x * 4294967296.0f : x);
    const float m = @float_of((bits & 0x007fffffu) | 0x3f800000u);
    const float e = @float_of((bits >> 23) + @bits_of(12582912.0f)) - 12582912.0f - (tiny ? 159.0f : 127.0f);
    const int large = (double)m >= 1.4142135623730951;
    return (@values_2){{large ? m * 0.5f : m, large ? e + 1.0f : e}};
}""",
    "mixed": """\
/* 32 bits of which each depends on all that are given */
static inline uint32_t @mixed(uint32_t bits) {
    const uint32_t state = bits * 747796405u + 2891336453u;
    const uint32_t word = ((state >> ((state >> 28) + 4u)) ^ state) * 277803737u;
    return (word >> 22) ^ word;
}""",
    "uniform": """\
/* a random number in [0, 1) that three integers from 0 to 2^24 determine */
static inline float @uniform(float seed, float place, float count) {
    const uint32_t of_place = @mixed(@mixed((uint32_t)(int32_t)seed) + (uint32_t)(int32_t)place);
    return (float)(int32_t)(@mixed(of_place + (uint32_t)(int32_t)count) >> 8) * 5.9604644775390625e-08f;
}""",
}
_AFTER_LAWS: dict[str, str] = {
    "table": """\
/* rows of point, value and slope behind the point */
typedef struct { const float (*rows)[3]; int count; } @table;""",
    "table_at": """\
/* The value at x: on the line of the last row whose point is below x, that of the first row before it. */
static inline float @table_at(@table table, float x) {
    int passed = 0, end = table.count;
    while (passed < end) {
        const int middle = (passed + end) / 2;
        if (x > table.rows[middle][0]) passed = middle + 1;
        else end = middle;
    }
    const float *row = table.rows[passed ? passed - 1 : 0];
    return @curve_value(x, row[0], row[1], passed ? row[2] : 0.0f);
}""",
    "ring": "typedef struct { float commands[@DEPTH][3]; int row, begun; } @ring;",
    "late": """\
/* The command of `steps` steps ago; the first good one stands for all before it. A number that is not finite is not
   kept: the one before it is, and there is no effort in that step. */
static inline void @late(@ring *ring, int steps, @signals *joint) {
    const float command[3] = {joint->position_target, joint->velocity_target, joint->feedforward};
    const float *before = ring->commands[(ring->row + steps - 1) % steps];
    const int good = @all_finite(command, 3);
    float late[3], *at = ring->commands[ring->row];
    if (!ring->begun && good) {
        for (int k = 0; k < steps; ++k) memcpy(ring->commands[k], command, sizeof late);
        ring->begun = 1;
    }
    memcpy(late, at, sizeof late);
    for (int c = 0; c < 3; ++c) at[c] = @finite(command[c]) ? command[c] : before[c];
    joint->position_target = good ? late[0] : NAN;
    joint->velocity_target = good ? late[1] : NAN;
    joint->feedforward = good ? late[2] : NAN;
    ring->row = (ring->row + 1) % steps;
}""",
    "act_late": """\
/* Replaces values by those of `lag` steps ago, between two steps on a line, of rings of `depth` rows each; the first
   ones stand for all before them. Returns the newest row, which is NaN before the first. */
static inline float @act_late(float rings[], int depth, float newest, float lag, float values[], int count) {
    const float most = (float)(depth - 2), below = lag < most ? lag : most, bounded = below > 0.0f ? below : 0.0f;
    const int steps = (int)bounded, row = newest < (float)(depth - 1) ? (int)newest + 1 : 0;
    const float rest = bounded - (float)steps;
    for (int r = 0; r < count; ++r, rings += depth) {
        for (int k = 0; newest != newest && k < depth; ++k) rings[k] = values[r];
        rings[row] = values[r];
        const float one = rings[(row - steps + depth) % depth], other = rings[(row - steps - 1 + depth) % depth];
        values[r] = one + rest * (other - one);
    }
    return (float)row;
}""",
}


@functools.cache
def library() -> dict[str, str]:
    """Return types and functions by name, each after those that it uses."""
    laws = {name: text for name, (_, text) in functions().items()}
    return _BEFORE_LAWS | laws | _AFTER_LAWS | LINKAGES


def used_by(texts: Iterable[str]) -> list[str]:
    """Return the text of all of `library()` that some texts use, directly or not, in its order."""
    needed = {name for text in texts for name in _names(text)}
    found: list[str] = []
    for name, text in reversed(library().items()):
        if name in needed:
            needed |= set(_names(text))
            found.append(text)
    return found[::-1]


def _names(text: str) -> list[str]:
    return re.findall(r"@(\w+)", text)
