"""Efforts at the end of the step in Warp: source lines that solve each law, and the functions that they call.

The equations are those of `laws/implicit_effort.py`; the core has them in `native/end_of_step.h`. A law is solved
by Newton's method, here with the slope of a secant. Efforts of the end of the step are solved: on one engine to the
same bits, whatever else a robot or other robots have, and on two engines within 1e-5 of an effort, behind friction
within 1e-4. All joints of a plan have them, or none.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

import warp as wp

from ...laws.contract.law import LawClass
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS

NEAR = wp.constant(1.0e-4)
"""Relative change at which an effort is solved, as in the core."""
ROUNDS = wp.constant(24)
"""Largest number of times that a law is evaluated, as in the core."""

LINES = wp.constant(4)
"""Largest number of times that friction takes the motor behind it as a line, as in the core."""
BEND = wp.constant(1.0e-2)
"""Relative difference above which a limit bends the line between the end of the step and its start, as in the core."""
RESOLVED = wp.constant(1.0e-5)
"""Change of position that counts as none in that [rad or m], as in the core."""

SAME_SLOPE = wp.constant(1.0e-2)
"""Relative difference of two secants that is no bend of a law."""
SECANTS = wp.constant(3)
"""Largest number of secants of which a slope is taken, each shorter than the one before by `SHORTER`."""
SHORTER = wp.constant(0.0625)
"""Length of a secant, of the one before."""
ROUNDING = wp.constant(1.0e-6)
"""Relative rounding of a difference."""


@wp.func
def bounded_slope(slope: float) -> float:
    """Return the slope of an effort by the final velocity; 0 for one that is above zero, or not finite."""
    return slope if (slope < 0.0) and wp.isfinite(slope) else 0.0


@wp.func
def resolved(position: float, apart: float, dt: float) -> float:
    """Return a change of velocity near `apart` by which the position moves without being rounded; 0 for none."""
    twice = 2.0 * wp.abs(position)
    return ((twice + dt * apart) - twice) / dt


@wp.func
def secant_step(position: float, velocity: float, dt: float, towards: float) -> float:
    """Return the change of velocity, with the sign of `towards`, of which the slope of a law is taken."""
    length = 0.02 * (1.0 + wp.abs(velocity))
    apart = length if towards >= 0.0 else -length
    exact = resolved(position, apart, dt)
    return exact if exact != 0.0 else apart


@wp.func
def secant_slope(known: float, further: float, found: float, apart: float, qd: float, is_first: bool) -> float:
    """Return the slope of a law by a secant that is shorter than the one before, so that it ends before most bends."""
    slope = (further - found) / apart
    noise = SAME_SLOPE * wp.abs(known) + ROUNDING * (wp.abs(found) + wp.abs(known) * wp.abs(qd)) / wp.abs(apart)
    return known if (not is_first) and wp.abs(slope - known) <= noise else slope


@wp.func
def improved(tried: float, found: float, slope: float, gain: float, low: float, high: float):
    """Return a better solution of a law and its bracket, of which it may be the middle; 1 to try it again."""
    off = found - tried
    lowest = tried if off > 0.0 else low
    highest = high if off > 0.0 else tried
    yielding = slope * gain
    newton = found if yielding == 0.0 else tried + off / (1.0 - yielding)
    # true without a bracket, too
    inside = not ((newton <= lowest) or (newton >= highest))
    apart = wp.abs(newton - tried) > NEAR * (wp.abs(newton) + wp.abs(tried))
    solution = newton if inside or not apart else 0.5 * lowest + 0.5 * highest
    return solution, lowest, highest, wp.int32(1) if apart else wp.int32(0)


@wp.func
def leaves_line(effort: float, change: float, found: float) -> bool:
    """Return True if a motor has another effort than its line, of which positions that are rounded are a part."""
    scale = wp.abs(effort) + wp.abs(change) + wp.abs(found)
    return wp.abs(found - (effort + change)) > NEAR * scale


@wp.func
def chord(at_end: float, held: float, slope: float, end_qd: float, qd: float, dt: float) -> float:
    """Return how an effort falls between the velocities of the end and the start of a step, as the core does."""
    expected = at_end + slope * (qd - end_qd)
    apart = end_qd - qd
    across = (at_end - held) / apart if apart != 0.0 else slope
    bounded = wp.min(wp.max(across, slope), 0.0)
    # positions are rounded
    least = BEND * (wp.abs(held) + wp.abs(expected)) - RESOLVED * slope / dt
    return bounded if wp.abs(held - expected) > least else slope


FUNCTIONS: Final[Mapping[str, object]] = {
    "bounded_slope": bounded_slope,
    "resolved": resolved,
    "secant_step": secant_step,
    "secant_slope": secant_slope,
    "SECANTS": SECANTS,
    "SHORTER": SHORTER,
    "improved": improved,
    "chord": chord,
    "ROUNDS": ROUNDS,
    "LINES": LINES,
    "leaves_line": leaves_line,
}
"""What the lines call, by name."""

OF_JOINT: Final[Mapping[str, str]] = {
    "inertia": "joint_inertia",
    "load": "joint_load",
    "load_is_whole": "joint_is_whole",
    "coupled_inertia": "joint_inertia",
    "motor_damping": "motor_damping",
    "motor_lift": "motor_lift",
}
"""Names of signals of stages behind the motor."""
AHEAD_OF_END: Final[Mapping[str, str]] = {"end_q": "further_q", "end_qd": "further_qd"}
"""Names of the end of the step at a velocity that is larger by `apart_qd`."""
OF_LAST: Final[Mapping[str, str]] = {"motor_damping": "last_damping", "motor_lift": "last_lift"}
"""Names of signals of the effort mode, which is the last stage."""


def damping_lines(names: Mapping[str, str]) -> list[str]:
    """Return lines that assign how the effort falls with the final velocity, to `motor_damping` and `motor_lift`."""
    damping, lift = names["motor_damping"], names["motor_lift"]
    return [f"{damping} = -slope", f"{lift} = {damping} * end_qd"]


def note_end(effort: str) -> tuple[str, str]:
    """Return lines that note velocity and position at the end of the step under an effort."""
    return f"end_qd = free_qd + gain * {effort}", "end_q = q + dt * end_qd"


def chord_lines(chain: Sequence[str]) -> list[str]:
    """Return lines that replace the slope by the chord between the end of the step and its start."""
    return [
        "there_qd = wp.float32(end_qd)",
        *chain,
        "at_end = wp.float32(found)",
        "end_qd = qd",
        "end_q = q + dt * qd",
        *chain,
        "end_qd = there_qd",
        "end_q = q + dt * there_qd",
        "last_damping = -chord(at_end, found, slope, there_qd, qd, dt)",
        "last_lift = last_damping * there_qd",
    ]


def acts_at_end(law: LawClass) -> bool:
    """Return True for a stage on the signals of the end of the step.

    It changes the effort, and does not itself step the joint with the slope of the motor.
    """
    kind = KINDS[law.KIND]
    own = any(SIGNALS[name].is_of_engine for name in law.ASKS)
    return kind.gives == 1 and not (kind.is_before_joint or law.LATE or law.TICK or own)


def _secants(towards: str, ahead: Sequence[str]) -> list[str]:
    """Return lines that assign `secant`, the slope of a law at the end of the step, where it gives `found`."""
    body = [
        *ahead,
        "longer = wp.float32(secant)",
        "secant = secant_slope(longer, further, found, apart_qd, end_qd, ahead_of == 0)",
        "apart_qd = resolved(end_q, SHORTER * apart_qd, dt)",
        # two that agree end before a bend
        "ahead_of = ahead_of + 1 if apart_qd != 0.0 and (ahead_of == 0 or secant != longer) else SECANTS",
    ]
    return [
        f"apart_qd = secant_step(end_q, end_qd, dt, {towards})",
        "secant = wp.float32(0.0)",
        "ahead_of = wp.int32(0)",
        "while ahead_of < SECANTS:",
        *(f"    {line}" for line in body),
    ]


def solving(evaluate: Sequence[str], ahead: Sequence[str], start: str, line: Sequence[str]) -> list[str]:
    """Return lines that solve a law for `effort`, NaN on a fault, and leave its slope and the end of the step."""
    body = [
        *note_end("tried"),
        *line,
        *evaluate,
        # towards the solution, as a law may bend where it is tried
        *_secants("found - tried", ahead),
        "slope = bounded_slope(secant)",
        "tried, low, high, again = improved(tried, found, slope, gain, low, high)",
        "round = round + 1",
    ]
    return [
        f"tried = wp.float32({start})",
        "low = wp.float32(-wp.inf)",
        "high = wp.float32(wp.inf)",
        "again = wp.int32(1)",
        "round = wp.int32(0)",
        "while again != 0 and round < ROUNDS:",
        *(f"    {one}" for one in body),
        *note_end("tried"),
        "effort = tried",
        "if not wp.isfinite(effort):",
        "    effort = wp.nan",
    ]


def stepping(friction: Sequence[str], evaluate: Sequence[str], ahead: Sequence[str]) -> list[str]:
    """Return lines of friction of a joint whose motor falls with the final velocity; see `step_joints` of the core."""
    again = [
        "change = line_slope * (end_qd - line_qd)",
        *evaluate,
        *_secants(
            "found - (motor_effort + change)",
            ["further_q = end_q + dt * apart_qd", "further_qd = end_qd + apart_qd", *ahead],
        ),
        "if leaves_line(motor_effort, change, found):",
        "    again = wp.int32(1)",
        "    effort = found",
        "    slope = bounded_slope(secant)",
        "    motor = found",
        "    motor_qd = end_qd",
        "    motor_slope = slope",
    ]
    body = [
        "round = round + 1",
        "again = wp.int32(0)",
        "if round == LINES:",
        "    slope = 0.0",
        "    motor_slope = 0.0",
        "motor_effort = effort",
        "line_slope = slope",
        "line_qd = end_qd",
        *friction,
        "if round < LINES and wp.isfinite(effort):",
        *(f"    {line}" for line in again),
    ]
    return [
        "again = wp.int32(1)",
        "round = wp.int32(0)",
        "while again != 0 and round < LINES:",
        *(f"    {one}" for one in body),
    ]
