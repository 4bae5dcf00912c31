"""The function in C of motors with the same stages: a step of one joint, stage by stage in the order of the core.

A step ends with an effort of zero, and leaves the state as it was, as soon as a number is not finite: as the plan does,
whose laws hand on NaN to the end. With a linkage there are two functions, from signals of the shaft to its effort, and
from the effort at the joint to that with friction. They return NaN for a fault, which is one of all joints that the
linkage moves.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from ...laws.contract.law import FELT_SIGNALS
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS, Kind
from .c_literals import c_float
from .c_stage import BAD, Placed, Stage

_FAULT = "return NAN;"
# what acts before the controller, in front of a transmission unless it is at the motor, and all that a rate holds
_EARLY = ("feedback", "delay", "command")
_AT_RATE = (*_EARLY, "controller")


class Shape:
    """Stages that several joints have in common, in the order in which they act, without a delay in steps."""

    def __init__(self, stages: Sequence[Stage]) -> None:
        self.stages = tuple(stages)
        self._gear = _place(self.stages, lambda kind: kind.converts)
        self._linkage = _place(self.stages, lambda kind: kind.couples)
        self._rate = _place(self.stages, lambda kind: kind.name == "rate")
        self._placed: list[Placed] = []
        for at, stage in enumerate(self.stages):
            first = self._placed[-1].end if self._placed else (0, 0, 0, 0)
            dt = "period" if self._rate is not None and at < self._rate else "dt"
            seen = "seen" if not KINDS[stage.kind].takes_effort else "motor" if self._is_before_gear(at) else "joint"
            known = {"joint_number": "joint_number"} | self._published()
            if self._is_before_gear(at) and KINDS[self.stages[at].kind].coordinates == "motor":
                known |= {name: f"felt.at[{k}]" for k, name in enumerate(FELT_SIGNALS)}
            self._placed.append(Placed(stage, at, first, seen, known, dt))

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

    def _published(self) -> dict[str, str]:
        found: dict[str, str] = {}
        first = parameter = 0
        for one in self.stages:
            law = one.component
            for signal, state in law.PUBLISHES.items():
                unset = c_float(SIGNALS[signal].neutral)
                if state in law.UNSET_AS:
                    unset = f"p[{parameter + law.PARAMETERS.index(law.UNSET_AS[state])}]"
                found[signal] = f"@started(state[{first + law.STATE.index(state)}], {unset})"
            first, parameter = first + len(one.starts), parameter + len(law.PARAMETERS)
        return found

    def _is_before_gear(self, at: int) -> bool:
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
        motor = [one.replace(BAD, _FAULT) for one in self._motor_lines(self._placed[: self._linkage])]
        behind = self._placed[self._linkage + 1 :]
        joint = [
            f"    if (!@finite(effort) || !@known(joint)) {_FAULT}",
            *(line.replace(BAD, _FAULT) for line in _all(behind, Placed.ready_lines) + _all(behind, Placed.lines)),
        ]
        second = f"static inline float @joint_{number}(float effort, {', '.join(self.arguments())}) {{"
        return "\n".join([head, *motor, "    return effort;", "}", "", second, *joint, "    return effort;", "}"])

    def _motor_lines(self, placed: Sequence[Placed]) -> list[str]:
        """Return the lines of a function that begins with signals."""
        at_rate = [one for one in placed if one.stage.kind in _AT_RATE]
        rate = None if self._rate is None else self._placed[self._rate]
        return [
            "    float effort = 0.0f;",
            "    @signals seen = joint; /* what the controller gets */",
            f"    if (!@known(joint)) {BAD}",
            *(rate.tick_lines() if rate else []),
            *_all(_others(placed, [rate]), Placed.ready_lines),
            *(self._due_lines(rate, at_rate) if rate else self._controller_lines(at_rate)),
            *self._true_lines(),
            *_all(_others(placed, at_rate), Placed.lines),
            "    (void)seen;",
        ]

    def _due_lines(self, rate: Placed, at_rate: Sequence[Placed]) -> list[str]:
        """Return the lines of what runs when it is due only."""
        count = rate.first_state
        inside = [f"    {line}" for line in self._controller_lines(at_rate)]
        kept = [f"    else memcpy(next, state, {count} * sizeof(float));"] if count else []
        return ["    if (due > 0.5f) {", *inside, "    }", *kept, "    (void)period;"]

    def _controller_lines(self, at_rate: Sequence[Placed]) -> list[str]:
        """Return the lines of the controller and of what acts before it."""
        early = [one for one in at_rate if one.stage.kind in _EARLY and not one.stage.at_motor]
        hides = any(KINDS[one.kind].senses and not one.at_motor for one in self.stages)
        gear = [] if self._gear is None else self._placed[self._gear].commanded_lines(hides)
        return [*_all(early, Placed.lines), *gear, *_all(_others(at_rate, early), Placed.lines)]

    def _true_lines(self) -> list[str]:
        if self._gear is None:
            return []
        asked = {name for one in self.stages[: self._gear] for name in one.component.ASKS}
        return self._placed[self._gear].true_lines(asked)


def _place(stages: Sequence[Stage], is_it: Callable[[Kind], bool]) -> int | None:
    """Return the number of the stage of a kind, or None."""
    return next((at for at, one in enumerate(stages) if is_it(KINDS[one.kind])), None)


def _others(placed: Sequence[Placed], some: Sequence[Placed | None]) -> list[Placed]:
    return [one for one in placed if one not in some]


def _all(placed: Sequence[Placed], lines: Callable[[Placed], list[str]]) -> list[str]:
    return [line for one in placed for line in lines(one)]
