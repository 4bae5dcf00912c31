"""`actuators inspect`: what a robot file says of its joints and motors."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import tyro

from ..inspection.described import JOINT_UNITS, InspectedJoint, InspectedRobot, InspectedValue
from ..inspection.inspect import inspect_robots
from ..inspection.rules.drives import no_effort_limit
from ..inspection.rules.rule import Checked
from ..inspection.words import pipeline_of
from ..specs.configs import PDControlConfig
from .command import Answer, Command, Table
from .variants import choices

_JOINTS = {
    "robot": "robot",
    "joint": "joint",
    "type": "type",
    "lower_limit": "lower",
    "upper_limit": "upper",
    "effort_limit": "effort limit",
    "velocity_limit": "speed limit",
    "armature": "armature",
    "driven_by": "driven by",
}
_DRIVERS = {"robot": "robot", "actuator": "actuator", "joints": "joints", "pipeline": "what it does"}
_VALUES = {
    "robot": "robot",
    "of": "actuator or joint",
    "law": "law",
    "parameter": "parameter",
    "value": "value",
    "unit": "unit",
    "source": "from",
}
_TYPES = {"angular": "revolute", "linear": "prismatic"}


@dataclass(kw_only=True)
class Inspect(Command):
    """Show what a robot file says: joints, limits, what drives each, and the layer each value comes from.

    Values that no file says are left out of the second table, but for those of actuators.
    """

    file: tyro.conf.Positional[Path]
    """USD, MJCF (.xml, .mjcf) or URDF file."""
    variant: tuple[str, ...] = ()
    """Variants of a USD file to select, SET=CHOICE each."""

    def answer(self) -> Answer:
        """See the class."""
        robots = inspect_robots(self.file, choices(self.variant))
        problems = [{"robot": robot.path, "problem": line} for robot in robots for line in robot.problems]
        units = "rad, rad/s, N·m, kg·m² where a joint turns; m, m/s, N, kg where it slides"
        title = f"{robots[0].path}: {units}" if len(robots) == 1 else units
        joints = [_joint(robot, joint) for robot in robots for joint in robot.joints]
        drivers = [row for robot in robots for row in _drivers(robot)]
        values = [row for robot in robots for row in _values(robot)]
        tables = [
            Table("joints", _columns(_JOINTS, robots), joints, title),
            Table("actuators", _columns(_DRIVERS, robots), drivers),
            Table("values", _columns(_VALUES, robots), values),
        ]
        if problems:
            tables.append(Table("problems", {"robot": "robot", "problem": "problem"}, problems))
        notes = [line for robot in robots for line in robot.remarks]
        unlimited = (finding for robot in robots for finding in no_effort_limit(Checked(robot)))
        notes += [f"<{one.where}> {one.problem} {one.remedy}" for one in unlimited]
        if not robots:
            notes.append(f"{self.file}: no robot found, that is no prim with PhysicsArticulationRootAPI.")
        return Answer(tables, notes, bool(problems) or not robots)


def _columns(columns: dict[str, str], robots: Sequence[InspectedRobot]) -> dict[str, str]:
    """Without the robot, where there is one; without paths, which are for programs."""
    return {key: heading for key, heading in columns.items() if key != "robot" or len(robots) > 1}


def _joint(robot: InspectedRobot, joint: InspectedJoint) -> dict[str, Any]:
    numbers = {name: joint.values[name].value for name in JOINT_UNITS if name in _JOINTS}
    row = {"robot": robot.path, "joint": joint.name, "path": joint.path, "type": _TYPES.get(joint.axis, joint.axis)}
    return row | numbers | {"driven_by": joint.driven_by, "driver": joint.driver}


def _drivers(robot: InspectedRobot) -> list[dict[str, Any]]:
    """Actuators, and drives where there is no actuator."""
    rows = [
        {"robot": robot.path, "actuator": _name(one.path), "path": one.path, "joints": list(one.joints)}
        | {"pipeline": one.pipeline}
        for one in robot.actuators
    ]
    for joint in robot.joints:
        if joint.driven_by == "USD drive":
            drive = PDControlConfig(joint.value("drive_stiffness"), joint.value("drive_damping"))
            row = {"robot": robot.path, "actuator": "USD drive", "path": joint.path, "joints": [joint.name]}
            rows.append(row | {"pipeline": pipeline_of([drive])})
    return rows


def _name(path: str) -> str:
    return path.rsplit("/", 1)[-1]


def _values(robot: InspectedRobot) -> list[dict[str, Any]]:
    rows = [
        _row(robot, one.path, one.joints, law, name, value)
        for one in robot.actuators
        for (law, name), value in one.values.items()
    ]
    return rows + [
        _row(robot, joint.path, [joint.name], "joint", name, value)
        for joint in robot.joints
        for name, value in joint.values.items()
        if value.said
    ]


def _row(
    robot: InspectedRobot, path: str, joints: Sequence[str], law: str, parameter: str, value: InspectedValue
) -> dict[str, Any]:
    what = {"of": _name(path), "path": path, "joints": list(joints), "law": law, "parameter": parameter}
    return {"robot": robot.path, **what, **vars(value)}
