"""Actuators for MuJoCo: `<actuator>` and attributes of joints, as a fragment or in a whole MJCF file.

force = kp·ctrl + const − kp·q − kd·q̇, within forcerange
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.dom.minidom import Document
from xml.sax.saxutils import quoteattr

from . import mjcf_file
from .numbers_as_text import text_of
from .robot import ExportedJoint, ExportedRobot
from .xml_file import add, add_comments, driven, new_document, require_kind, root_of, update, xml_text

SAYS = frozenset({"kp", "kd", "const_effort", "max_effort", "armature", "friction", "viscous_friction"})
WITH_GAINS = frozenset({"max_effort"})
ALWAYS_LOST = ("velocity targets and feedforward: `ctrl` is the position target",)
ROOT = "mujoco"
_OF_JOINT = {"armature": "armature", "friction": "frictionloss", "viscous_friction": "damping"}
# what defaults of a model may change
_PLAIN = {"gear": "1", "dyntype": "none", "gaintype": "fixed", "ctrllimited": "false"}


def mjcf_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return a fragment, with what it does not say as comments, a sentence each."""
    document = new_document(ROOT, {})
    actuators = add(root_of(document), "actuator", {})
    comments = [f"Motors of {robot.name}. Add it to a model by <include>.", *losses]
    for joint in robot.joints:
        if joint.has_gains:
            add(actuators, "general", _actuator(joint))
        if of_joint := _joint(joint):
            attributes = " ".join(f"{name}={quoteattr(value)}" for name, value in of_joint.items())
            comments.append(f"Set on joint {joint.name}: {attributes}")
    add_comments(document, comments)
    return xml_text(document)


def fill(robot: ExportedRobot, document: Document, file: Path, folder: Path) -> list[str]:
    """Put the motors into a model, see `Target.fill`.

    Raises:
        ValueError: The model lacks joints that have motors, or has some of another kind, or MuJoCo cannot open it.
    """
    # the only one that needs a simulator
    from ...simulators.mujoco.file_reader import sliding_joints

    root = root_of(document)
    notes = mjcf_file.take_in_includes(root, file)
    elements = mjcf_file.joints(root)
    joints = driven(robot, file, elements)
    for joint in joints:
        update(elements[joint.name], _joint(joint))
    actuators = {joint.name: _actuator(joint) for joint in joints if joint.has_gains}
    notes += mjcf_file.replace_actuators(root, actuators)
    before = file.absolute().parent
    # a text has no folder
    checked = document.cloneNode(True)
    assert checked is not None
    mjcf_file.move(root_of(checked), before, None)
    sliding = sliding_joints(file, xml_text(checked))
    for joint in joints:
        require_kind(joint, file, joint.name in sliding)
    mjcf_file.move(root, before, folder)
    return notes


def _actuator(joint: ExportedJoint) -> dict[str, str]:
    kp, kd, bias = (joint.value(name) for name in ("kp", "kd", "const_effort"))
    most = joint.largest_effort
    law = {"gainprm": text_of(kp), "biastype": "affine", "biasprm": f"{text_of(bias)} {text_of(-kp)} {text_of(-kd)}"}
    limit = {"forcelimited": "false"}
    if math.isfinite(most):
        limit = {"forcelimited": "true", "forcerange": f"{text_of(-most)} {text_of(most)}"}
    return {"name": joint.name, "joint": joint.name, **_PLAIN, **law, **limit}


def _joint(joint: ExportedJoint) -> dict[str, str]:
    # the limit is the motor's, which a smaller one of the joint would cut
    return joint.stated(_OF_JOINT) | ({"actuatorfrclimited": "false"} if joint.has_gains else {})
