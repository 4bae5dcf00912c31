"""Joint elements of a URDF file: `<limit>` and `<dynamics>`, to be copied into the joints of a robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from .numbers_as_text import text_of
from .robot import ExportedJoint, ExportedRobot

SAYS = frozenset({"max_effort", "friction", "viscous_friction", "position_limits", "velocity_limit"})


def urdf_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the file: a robot of joints without links.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.
    """
    lines = [
        f"<robot name={quoteattr(robot.name)}>",
        "  <!-- Copy the attributes of each joint into the robot, and keep its own where there are none here. -->",
        *(f"  <!-- {loss.replace('--', '- -')} -->" for loss in losses),
        *(line for joint in robot.joints for line in _joint(joint)),
        "</robot>",
    ]
    return "\n".join(lines) + "\n"


def _joint(joint: ExportedJoint) -> list[str]:
    limits = {}
    if joint.position_limits is not None:
        limits["lower"], limits["upper"] = joint.position_limits
    if math.isfinite(joint.largest_effort):
        limits["effort"] = joint.largest_effort
    if "velocity_limit" in joint.features:
        limits["velocity"] = joint.features["velocity_limit"]
    dynamics = {"damping": joint.value("viscous_friction"), "friction": joint.value("friction")}
    bounded = "lower" in limits
    kind = "prismatic" if joint.is_linear else "revolute" if bounded else "continuous"
    return [
        f'  <joint name={quoteattr(joint.name)} type="{kind}">',
        f"    <limit {_attributes(limits)}/>" if limits else "    <!-- no limit -->",
        f"    <dynamics {_attributes(dynamics)}/>",
        "  </joint>",
    ]


def _attributes(values: dict[str, float]) -> str:
    return " ".join(f'{name}="{text_of(value)}"' for name, value in values.items())
