"""`actuators export`: the motors of a robot for other systems."""

from __future__ import annotations

from ...motor_files.files import load_motors
from ...saving import require_place
from ..export.robot import FEATURES, ExportedRobot, read_robot
from ..export.targets import TARGETS, export
from .answer import Answer, Table
from .arguments import Export

_COLUMNS = {"dof": "DOF", "joint": "joint", "kp": "kp", "kd": "kd", "max_effort": "largest effort", "other": "other"}


def answer(arguments: Export) -> Answer:
    """Answer `actuators export`.

    Raises:
        ValueError: The robot cannot be read, or the target refuses it.
    """
    if not TARGETS[arguments.to].is_folder:
        require_place(arguments.out)
    motors = None if arguments.config is None else load_motors(arguments.config)
    robot = read_robot(arguments.robot_file, motors, arguments.robot)
    told = export(robot, arguments.to, arguments.out, arguments.strict)
    title = f"{robot.path}: its motors, in DOF order"
    notes = [f"The motors are in {arguments.out}, for {arguments.to}.", *told]
    return Answer([Table("joints", _COLUMNS, _rows(robot), title=title)], notes)


def _rows(robot: ExportedRobot) -> list[dict[str, object]]:
    return [
        {
            "dof": number,
            "joint": joint.name,
            "kp": joint.features.get("kp"),
            "kd": joint.features.get("kd"),
            "max_effort": joint.features.get("max_effort"),
            "other": [
                *(name for name in FEATURES if name in joint.features and name not in _COLUMNS),
                *joint.laws,
            ],
        }
        for number, joint in enumerate(robot.joints)
    ]
