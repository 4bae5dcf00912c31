"""Actuators for MuJoCo: an MJCF file with `<actuator>`, and joint attributes as comments, to be included in a model.

force = kp·ctrl + const − kp·q − kd·q̇, within forcerange
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from .numbers_as_text import text_of
from .robot import ExportedJoint, ExportedRobot

SAYS = frozenset({"kp", "kd", "const_effort", "max_effort", "armature", "friction", "viscous_friction"})
WITH_GAINS = frozenset({"max_effort"})
ALWAYS_LOST = ("velocity targets and feedforward: `ctrl` is the position target",)
_OF_JOINT = {"armature": "armature", "friction": "frictionloss", "viscous_friction": "damping"}


def mjcf_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return the file.

    Args:
        robot: The robot.
        losses: What it does not say, a sentence each.
    """
    joints = [comment for joint in robot.joints if (comment := _joint(joint))]
    actuators = [_actuator(joint) for joint in robot.joints if joint.has_gains]
    lines = [
        "<mujoco>",
        f"  <!-- Motors of {_in_comment(robot.name)}. Add it to a model by <include>. -->",
        *(f"  <!-- {_in_comment(loss)} -->" for loss in losses),
        *(["  <!-- Set on the joints of the model:", *joints, "  -->"] if joints else []),
        "  <actuator>",
        *actuators,
        "  </actuator>",
        "</mujoco>",
    ]
    return "\n".join(lines) + "\n"


def _actuator(joint: ExportedJoint) -> str:
    kp, kd, bias = (joint.value(name) for name in ("kp", "kd", "const_effort"))
    most = joint.largest_effort
    limit = f' forcelimited="true" forcerange="{text_of(-most)} {text_of(most)}"' if math.isfinite(most) else ""
    name = quoteattr(joint.name)
    return (
        f'    <general name={name} joint={name} gainprm="{text_of(kp)}" biastype="affine" '
        f'biasprm="{text_of(bias)} {text_of(-kp)} {text_of(-kd)}"{limit}/>'
    )


def _joint(joint: ExportedJoint) -> str:
    said = " ".join(
        f'{name}="{text_of(joint.features[own])}"' for own, name in _OF_JOINT.items() if own in joint.features
    )
    return f"       joint {_in_comment(joint.name)}: {said}" if said else ""


def _in_comment(text: str) -> str:
    """Return text that cannot end a comment of XML."""
    return text.replace("--", "- -")
