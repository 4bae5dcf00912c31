"""`actuators stability`: stability margins of a robot, and remedies for vibration."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from ..stability.table import IMPLICIT_REMEDY, QUANTITIES, Stability, cures_of, idle_columns, late_joints
from .answer import Answer, Table, headings
from .arguments import Stability as Arguments
from .opened import columns_of, opened, require_actuators, simulate
from .show import with_units

_ROBOT = headings("robot | verdict | margin | spectral_radius | largest_step: largest step [s]")
_JOINT = headings(
    "robot | joint | effort_mode | kp | kd | ki | latency: latency [s] | inertia | margin | armature | "
    "smallest_armature | largest_step: largest step [s]"
)


_MEANING = (
    "margin: the gain margin, the factor by which all gains may grow; below 1 it vibrates, and at 0 only more "
    "damping or a smaller step helps. smallest armature: with those of all rows the robot is just stable; of a robot "
    "that is stable, none is above the present one. largest step: the largest stable physics step, of the robot or of "
    "the joint alone."
)


def answer(arguments: Arguments) -> Answer:
    """Answer `actuators stability`."""
    with opened(
        simulate(arguments, arguments.file, arguments.dt, engine=arguments.engine),
        arguments.robot,
        arguments.config,
        warn=False,
    ) as one:
        actuators = require_actuators(one, arguments.file)
        one.simulation.play()
        margins, columns = actuators.stability(), columns_of(_JOINT, one.robots)
    robots = [dataclasses.asdict(robot) | {"verdict": robot.verdict} for robot in margins.robots]
    if margins.unknown and not margins.joints:
        robots = [row | dict.fromkeys(("margin", "spectral_radius", "largest_step")) for row in robots]
    title = f"{arguments.file}, dt = {margins.dt:.4g} s"
    # armatures are those of the file, which `inspect` shows
    hidden = {*idle_columns(margins.joints), "armature"}
    shown = {name: words for name, words in columns.items() if name not in hidden}
    table = Table("joints", shown, list(map(dataclasses.asdict, margins.joints)))
    return Answer(
        [
            Table("robots", _ROBOT, robots, title=title),
            with_units(table, QUANTITIES, [joint.turns for joint in margins.joints]),
        ],
        [_MEANING, *_cures(margins), *late_joints(margins), *_limits(margins)],
        not margins.stable or bool(margins.chatter),
    )


def _cures(margins: Stability) -> Iterator[str]:
    """Yield what would make robots stable."""
    for robot in margins.robots:
        if cures := cures_of(margins, robot):
            yield f"<{robot.robot}> would be stable with {cures}."
    for robot in margins.robots:
        if robot.implicit_helps:
            yield (f"<{robot.robot}> would be stable with {IMPLICIT_REMEDY}, its efforts those of the end of the step.")


def _limits(margins: Stability) -> Iterator[str]:
    """Yield what the margins leave out, and joints that may chatter."""
    if margins.sensed:
        yield (
            f"Explicit: {', '.join(margins.sensed)}. Their actuators are implicit, but their controllers get what a "
            "sensor measured before the step, so that their gains have a limit."
        )
    if margins.unknown:
        yield (
            f"Unknown: {', '.join(margins.unknown)}. They have a network, a law of one's own, a linkage or no control "
            "law, or are implicit and of an inertia that is not known; the margins are those of the other joints."
        )
    yield from (f"Left out: {left}." for left in margins.left_out)
    for joint in margins.chatter:
        yield f"<{joint.robot}> may chatter: {joint}. {joint.remedy}"
