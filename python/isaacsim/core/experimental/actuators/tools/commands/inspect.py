"""`actuators inspect`: joints and motors of a robot file."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from ...files.motor_files.files import load_motors
from ...specs.configs import PDControlConfig
from ...specs.dry_friction import breakaway
from ...specs.transmission import transmission_of
from ..inspection.described import (
    JOINT_UNITS,
    InspectedActuator,
    InspectedJoint,
    InspectedOwnValue,
    InspectedRobot,
    InspectedValue,
    gains,
    largest_effort,
    passive_stages,
    pipeline_of,
)
from ..inspection.findings import Checked
from ..inspection.inspect import inspect_robots, with_motors
from ..inspection.rules.drives import no_effort_limit
from .answer import Answer, Table, headings
from .arguments import Inspect, choices
from .show import briefly, text_of, with_units

_JOINTS = headings(
    "robot | joint | type | lower_limit: lower | upper_limit: upper | effort_limit | velocity_limit: speed limit | "
    "armature | driven_by"
)
_DRIVERS = {"robot": "robot", "joints": "joints", "pipeline": "stages"}
_VALUES = headings("robot | law | parameter | value | unit | of | source: from")
_OWN = headings("robot | of: actuator | law | parameter | value | others | unit | source: from")
_QUANTITIES = {
    **dict.fromkeys(("lower_limit", "upper_limit"), "position"),
    "effort_limit": "effort",
    "velocity_limit": "velocity",
    "armature": "inertia",
}
_NO_ROBOT = "no robot found, that is no prim with PhysicsArticulationRootAPI."
_Row = dict[str, Any]
_Rows = Callable[[InspectedRobot, Sequence[Sequence[InspectedActuator]]], list[_Row]]
_TYPES = {"angular": "revolute", "linear": "prismatic"}


def answer(arguments: Inspect) -> Answer:
    """Answer `actuators inspect`."""
    robots = _robots(arguments)
    problems = [{"robot": robot.path, "problem": line} for robot in robots for line in robot.problems]
    tables = [_joints(robots), _of_actuators("actuators", _DRIVERS, robots, _drivers), _all_values(robots)]
    if own := [_own(one) for robot in robots for one in robot.own_values]:
        tables.append(Table("own_values", _OWN, own, "robots with values of their own"))
    if problems:
        tables.append(Table("problems", {"robot": "robot", "problem": "problem"}, problems))
    notes = _notes(robots) or ([] if robots else [f"{arguments.file}: {_NO_ROBOT}"])
    return Answer(tables, notes, bool(problems) or not robots)


def _robots(arguments: Inspect) -> list[InspectedRobot]:
    """Return the robots of a file, with the motors of another one if it is named."""
    robots = inspect_robots(arguments.file, choices(arguments.variant))
    if arguments.config is None:
        return robots
    motors = load_motors(arguments.config)
    return [with_motors(robot, motors, arguments.config.name) for robot in robots]


def _joints(robots: Sequence[InspectedRobot]) -> Table:
    """Return the table of joints."""
    rows = [_joint(robot, joint) for robot in robots for joint in robot.joints]
    title = robots[0].path if len(robots) == 1 else None
    turns = [not joint.linear for robot in robots for joint in robot.joints]
    columns = _columns(_JOINTS, robots)
    if len({*turns}) > 1:
        # the units tell
        del columns["type"]
    return with_units(Table("joints", columns, rows, title), _QUANTITIES, turns)


def _of_actuators(name: str, columns: dict[str, str], robots: Sequence[InspectedRobot], rows: _Rows) -> Table:
    """Return a table of actuators: equal ones in one row for people, each in its own for programs."""
    of_each = [row for robot in robots for row in rows(robot, [[one] for one in robot.actuators])]
    of_equal = [
        {**row, "joints": briefly(row["joints"], [joint.name for joint in robot.joints])}
        for robot in robots
        for row in rows(robot, _equal(robot.actuators))
    ]
    return Table(name, _columns(columns, robots), of_each, shown=of_equal)


def _all_values(robots: Sequence[InspectedRobot]) -> Table:
    """Return the table of values: for people, joints with one value, or with a value each, in one row."""
    rows = [row for robot in robots for row in _values(robot, [[one] for one in robot.actuators])]
    names = {robot.path: [joint.name for joint in robot.joints] for robot in robots}
    groups: dict[tuple[object, ...], list[_Row]] = {}
    for row in rows:
        groups.setdefault(tuple(row[key] for key in ("robot", "law", "parameter", "unit", "source")), []).append(row)
    shown = [row for group in groups.values() for row in _merged(group, names[group[0]["robot"]])]
    return Table("values", _columns(_VALUES, robots), rows, shown=shown)


def _merged(group: Sequence[_Row], joints: Sequence[str]) -> Iterator[_Row]:
    """Yield a row for each value of a parameter, a list for linkages; one with their range for several numbers."""
    by_text: dict[str, list[_Row]] = {}
    for row in group:
        by_text.setdefault(str(row["value"]), []).append(row)
    values: list[Any] = [same[0]["value"] for same in by_text.values()]
    merged: list[tuple[object, Sequence[_Row]]] = list(zip(values, by_text.values(), strict=True))
    if len(values) > 1 and all(isinstance(value, float) for value in values):
        merged = [(f"{text_of(min(values))} … {text_of(max(values))}", group)]
    for value, same in merged:
        own = [joint for row in same for joint in row["joints"]]
        yield {**same[0], "value": value, "of": briefly(own, joints)}


def _notes(robots: Sequence[InspectedRobot]) -> list[str]:
    """Return remarks, actuators without a limit, transmissions, and levels of friction."""
    unlimited = [finding for robot in robots for finding in no_effort_limit(Checked(robot))]
    remarks = [line for robot in robots for line in (*robot.remarks, *robot.two_values)]
    friction = [line for robot in robots for line in _friction(robot)]
    gears = [line for robot in robots for line in _gears(robot)]
    return remarks + [f"<{one.where}> {one.problem} {one.remedy}" for one in unlimited] + gears + friction


def _gears(robot: InspectedRobot) -> list[str]:
    """Return a line per transmission: joints, ratio, and gains and limit of motor and joint."""
    found: dict[str, list[str]] = {}
    for joint, actuator in Checked(robot).actuated:
        if (gear := transmission_of(actuator)) is None:
            continue
        words = f"{'a gear' if gear.IS_RIGID else 'a spring'} of ratio {gear.ratio:g}"
        if (law := gains(actuator)) is not None:
            of_motor = [gain / gear.ratio**2 for gain in law]
            words += f", kp = {law[0]:g} and kd = {law[1]:g} ({of_motor[0]:g} and {of_motor[1]:g} of the motor)"
        if (most := largest_effort(actuator)) < math.inf:
            words += f", largest effort {most:g} {joint.values['effort_limit'].unit}"
        found.setdefault(words, []).append(joint.name)
    return [f"At {', '.join(joints)}, behind {words}." for words, joints in found.items()]


def _friction(robot: InspectedRobot) -> list[str]:
    """Return a line per level of dry friction: joints, share of the motor's limit, and source of the inertia."""
    found: dict[str, list[str]] = {}
    for joint, actuator in Checked(robot).actuated:
        if not (level := breakaway(passive_stages(actuator))):
            continue
        unit, most = joint.values["friction"].unit, largest_effort(actuator)
        words = f"breaks away at {level:g} {unit}"
        if 0.0 < most < math.inf:
            words += f", {level / most:.0%} of the motor's limit of {most:g} {unit}"
        assumed = max(getattr(stage, "assumed_inertia", 0.0) for stage in passive_stages(actuator))
        inertia = f"it assumes {assumed:g} {joint.values['armature'].unit}" if assumed else "it cannot run"
        found.setdefault(f"{words}; where a simulator provides no inertia, {inertia}.", []).append(joint.name)
    return [f"Friction of {', '.join(joints)} {words}" for words, joints in found.items()]


def _columns(columns: dict[str, str], robots: Sequence[InspectedRobot]) -> dict[str, str]:
    """Return the columns for people, without the robot if there is one only."""
    return {key: heading for key, heading in columns.items() if key != "robot" or len(robots) > 1}


def _joint(robot: InspectedRobot, joint: InspectedJoint) -> _Row:
    numbers = {name: joint.values[name].value for name in JOINT_UNITS if name in _JOINTS}
    row = {"robot": robot.path, "joint": joint.name, "path": joint.path, "type": _TYPES.get(joint.axis, joint.axis)}
    return row | numbers | {"driven_by": joint.driven_by, "driver": joint.driver}


def _own(one: InspectedOwnValue) -> _Row:
    """Return the row of a value that a copy of a robot has for itself."""
    what = {"robot": one.robot, "of": _last(one.actuator), "path": one.actuator, "law": one.law}
    return what | {"parameter": one.parameter, **vars(one.value), "others": one.others}


def _equal(actuators: Sequence[InspectedActuator]) -> list[list[InspectedActuator]]:
    """Return groups of actuators with equal laws and values, from the same layers."""
    groups: dict[str, list[InspectedActuator]] = {}
    for one in actuators:
        alike = repr((one.pipeline, one.values)) if one.usable else one.path
        groups.setdefault(alike, []).append(one)
    return list(groups.values())


def _drivers(robot: InspectedRobot, groups: Sequence[Sequence[InspectedActuator]]) -> list[_Row]:
    """Return rows of actuators, and of drives of joints without actuator."""
    rows = [
        {"robot": robot.path, "actuator": _name(group), "path": group[0].path}
        | {"joints": [joint for one in group for joint in one.joints], "pipeline": group[0].pipeline}
        for group in groups
    ]
    for joint in robot.joints:
        if joint.driven_by == "USD drive":
            drive = PDControlConfig(joint.value("drive_stiffness"), joint.value("drive_damping"))
            row = {"robot": robot.path, "actuator": "USD drive", "path": joint.path, "joints": [joint.name]}
            rows.append(row | {"pipeline": pipeline_of([drive])})
    return rows


def _name(group: Sequence[InspectedActuator]) -> str:
    """Return the name of equal actuators."""
    first = _last(group[0].path)
    return first if len(group) == 1 else f"{first} and {len(group) - 1} more"


def _last(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _values(robot: InspectedRobot, groups: Sequence[Sequence[InspectedActuator]]) -> list[_Row]:
    """Return rows of the parameters of actuators, and of the properties of joints in the file."""
    rows = [
        _row(robot, _name(group), group[0].path, [joint for one in group for joint in one.joints], law, name, value)
        for group in groups
        for (law, name), value in group[0].values.items()
    ]
    return rows + [
        _row(robot, _last(joint.path), joint.path, [joint.name], "joint", name, value)
        for joint in robot.joints
        for name, value in joint.values.items()
        if value.said
    ]


def _row(
    robot: InspectedRobot, of: str, path: str, joints: Sequence[str], law: str, parameter: str, value: InspectedValue
) -> _Row:
    what = {"of": of, "path": path, "joints": list(joints), "law": law, "parameter": parameter}
    return {"robot": robot.path, **what, **vars(value)}
