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
from pathlib import Path

import numpy as np

from ...specs.configs import DelayConfig
from ...specs.linkage import MOST_JOINTS
from .c_carried import refused, stages_of
from .c_linkage import linkage_text, linkages_of
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
        names = ", ".join(c_string(joint.name) for joint in self._robot.joints)
        lines = [
            f"static const char *const @joint_names[@JOINTS] = {{{names}}};",
            "typedef struct {",
            "    float state[@JOINTS][@STATES];",
            *(["    @ring late[@JOINTS]; /* commands that act later */"] if self._depth else []),
            *(["    float past[@JOINTS][@PAST]; /* results that act later */"] if self._past else []),
            "} @motors;",
        ]
        start_lines = [
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
        robot = [*self._numbers(), "\n".join(lines), "\n".join(start_lines), self._step()]
        said = [
            f"Motors of {in_comment(self._robot.name)}, {len(self._robot.joints)} joints in DOF order, in SI. C99.",
            "Compile with -ffp-contract=off and without -ffast-math for the bits of the package.",
            "Call @init once, then @step at every control step of dt seconds; arrays have @JOINTS numbers.",
            *map(in_comment, self._losses),
        ]
        comment = "\n".join(f" * {line}" for line in said)
        text = _apart(
            [
                f"/*\n{comment}\n */\n#include <float.h>\n#include <math.h>\n#include <stdint.h>\n#include <string.h>",
                self._sizes(),
                *used_by([*motors, *robot]),
                *motors,
                *robot,
            ]
        )
        guard = f"{self._prefix.upper()}_MOTORS_H"
        whole = f"#ifndef {guard}\n#define {guard}\n\n{text}\n\n#endif".replace("@", f"{self._prefix}_")
        return "".join(f"{wrapped(line)}\n" for line in _FUNCTION.sub(_with_unused, whole).splitlines())

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


# results that a law may have, and what the library has for each block that declares a type or a function
_RESULTS = range(2, 17)
_DECLARED = re.compile(r"^(?:static inline .*?@(\w+)\(|typedef (?:struct \{\n(?:.*\n)*\}|.*\}) @(\w+);)", re.MULTILINE)


@functools.cache
def library() -> dict[str, str]:
    """Return types and functions by name, each after those that it uses: those of `library.h`, and the laws."""
    text = Path(__file__).with_name("library.h").read_text(encoding="utf-8")
    _, *blocks = text.replace("ROBOT_", "@").replace("[MOST]", f"[{MOST_JOINTS}]").strip().split("\n\n")
    laws = {name: law for name, (_, law) in functions().items()}
    texts = {f"values_{n}": f"typedef struct {{ float at[{n}]; }} @values_{n};" for n in _RESULTS}
    for block in blocks:
        declared = _DECLARED.search(block)
        texts |= {declared[1] or declared[2]: block} if declared else laws
    return texts


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
