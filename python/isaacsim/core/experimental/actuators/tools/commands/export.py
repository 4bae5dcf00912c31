"""`actuators export`: the motors of a robot for other systems."""

from __future__ import annotations

import math

from ...base.saving import require_place
from ..export.robot import FEATURES, ExportedRobot, read_robot
from ..export.targets import TARGETS, written
from .answer import Answer, Table
from .arguments import Export
from .opened import motors_in
from .show import with_units

_COLUMNS = {"dof": "DOF", "joint": "joint", "kp": "kp", "kd": "kd", "max_effort": "largest effort", "other": "other"}
_QUANTITIES = {"kp": "stiffness", "kd": "damping", "max_effort": "effort"}


def answer(arguments: Export) -> Answer:
    """Answer `actuators export`."""
    if arguments.strict and arguments.lossy:
        raise ValueError("--strict, --lossy: must not be given together. Give one of them.")
    if not TARGETS[arguments.to].is_folder:
        require_place(arguments.out)
    motors = motors_in(arguments.config)
    robot = read_robot(arguments.robot_file, motors, arguments.robot, arguments.dt)
    told, lost = written(robot, arguments.to, arguments.out, arguments.strict, arguments.into)
    title = f"{robot.path}: its motors, in DOF order"
    notes = [f"The motors are in {arguments.out}, for {arguments.to}.", *told, *lost]
    is_wrong = bool(lost) and not arguments.lossy
    table = Table("joints", _COLUMNS, _rows(robot), title=title)
    return Answer([with_units(table, _QUANTITIES, [not joint.is_linear for joint in robot.joints])], notes, is_wrong)


def _rows(robot: ExportedRobot) -> list[dict[str, object]]:
    return [
        {
            "dof": number,
            "joint": joint.name,
            "kp": joint.features.get("kp"),
            "kd": joint.features.get("kd"),
            "max_effort": joint.largest_effort if math.isfinite(joint.largest_effort) else None,
            "other": [*(name for name in FEATURES if name in joint.features and name not in _COLUMNS), *joint.laws],
        }
        for number, joint in enumerate(robot.joints)
    ]
