"""`actuators export`: the motors of a robot for other systems."""

from __future__ import annotations

import itertools
import math
from typing import Any

from ...base.saving import require_place
from ..export.robot import FEATURES, OF_JOINT, ExportedJoint, read_robot
from ..export.targets import TARGETS, written
from ..inspection.described import at_shaft, gains, largest_effort
from .answer import Answer, Table
from .arguments import Export
from .opened import motors_in
from .show import with_units

_COLUMNS = {"dof": "DOF", "joint": "joint", "kp": "kp", "kd": "kd", "max_effort": "largest effort", "other": "other"}
# properties that nearly all joints have are for programs
_OF_JOINT = OF_JOINT | {"position_limits", "velocity_limit"}
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
    rows = list(map(_row, itertools.count(), robot.joints))
    shown = [row | {"other": [one for one in row["other"] if one not in _OF_JOINT]} for row in rows]
    table = Table("joints", _COLUMNS, rows, title, shown)
    return Answer([with_units(table, _QUANTITIES, [not joint.is_linear for joint in robot.joints])], notes, is_wrong)


def _row(number: int, joint: ExportedJoint) -> dict[str, Any]:
    """Return the row of a joint, with values at the joint."""
    features, most, shaft = joint.features, joint.largest_effort, ""
    kp, kd = features.get("kp"), features.get("kd")
    if joint.motor is not None and joint.is_geared:
        (kp, kd), most, shaft = gains(joint.motor) or (None, None), largest_effort(joint.motor), at_shaft(joint.motor)
    others = [name for name in FEATURES if name in features and name not in _COLUMNS]
    return {
        "dof": number,
        "joint": joint.name,
        "kp": kp,
        "kd": kd,
        "max_effort": most if math.isfinite(most) else None,
        "other": [*others, *joint.laws, *filter(None, [shaft])],
    }
