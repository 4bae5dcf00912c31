"""Rules on values that contradict the catalogue of real motors."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Sequence

from ....specs.motor_catalogue import MOTORS
from ..described import InspectedJoint
from ..figures import largest_effort
from ..findings import Finding
from .rule import Checked

_HIPS = re.compile("hip|thigh|abad|haa|hfe", re.IGNORECASE)
_KNEES = re.compile("calf|knee|shank|kfe", re.IGNORECASE)
# limits are often rounded
_SAME = 0.02


def knee_without_linkage(checked: Checked) -> Iterator[Finding]:
    """Knees have the limit of their motor, although a linkage between them multiplies its torque.

    The motors are those of the catalogue that drive a joint through a linkage, of robots whose hips have the same motor
    without one. A robot with the name of such a robot in its path is compared with that one only.
    """
    knees, limits = _turning(checked, _KNEES), _limits(checked)
    hips = [joint for joint in _turning(checked, _HIPS) if joint not in knees]
    meant = _linkages(checked.robot.path, [*hips, *knees], limits) if knees and hips else []
    if not meant:
        return
    right = " or ".join(f"{MOTORS[name].max_torque:g} ({name})" for name in meant)
    yield Finding(
        "knee-without-linkage",
        "warning",
        knees[0].driver or knees[0].path,
        f"joints {', '.join(joint.name for joint in knees)} have the limit of the hips, {limits[knees[0].name]:g} N·m, "
        f"which is that of the motor. Through the linkage of the knee it is {right} N·m in the catalogue of motors.",
        f"Give them that limit, with MotorConfig.from_catalogue({meant[0]!r}, …) for instance.",
    )


def _linkages(robot: str, joints: Sequence[InspectedJoint], limits: dict[str, float]) -> list[str]:
    """Return the motors behind a linkage, of the robot with that name or of all, if all joints have their limit."""
    linkages = [name for name, figures in MOTORS.items() if figures.motor]
    candidates = [name for name in linkages if _have_limit(MOTORS[name].motor, joints, limits)]
    return [name for name in candidates if _robot_of(name) in robot.lower()] or candidates


def _turning(checked: Checked, names: re.Pattern[str]) -> list[InspectedJoint]:
    """Return the revolute joints with such names."""
    return [joint for joint in checked.robot.joints if not joint.linear and names.search(joint.name)]


def _limits(checked: Checked) -> dict[str, float]:
    """Return the largest effort of each joint, of its actuator or else of its drive."""
    found = {joint.name: joint.value("effort_limit") for joint in checked.robot.joints}
    for joint, actuator in checked.actuated:
        if actuator.controller is not None:
            found[joint.name] = largest_effort(actuator)
    return found


def _have_limit(motor: str, joints: Sequence[InspectedJoint], limits: dict[str, float]) -> bool:
    """Return True if all joints have the limit of a motor of the catalogue."""
    most = MOTORS[motor].max_torque or math.inf
    return all(abs(limits[joint.name] - most) <= _SAME * most for joint in joints)


def _robot_of(name: str) -> str:
    """Return the robot in the name of a motor: `go2` of `unitree_go2_knee`."""
    return name.split("_")[1]
