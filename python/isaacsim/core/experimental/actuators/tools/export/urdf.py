"""Elements of URDF joints, `<limit>` and `<dynamics>`, as a fragment or in a whole robot."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from xml.dom.minidom import Document, Element

from .robot import ExportedJoint, ExportedRobot, text_of
from .xml_file import add, add_comments, child, children, driven, new_document, require_kind, root_of, update, xml_text

SAYS = frozenset({"max_effort", "friction", "viscous_friction", "position_limits", "velocity_limit"})
ROOT = "robot"
_USE = "Copy the attributes of each joint into the robot, and keep its own where there are none here."
_DYNAMICS = {"viscous_friction": "damping", "friction": "friction"}
_MOVING = ("revolute", "continuous", "prismatic")


def urdf_text(robot: ExportedRobot, losses: Sequence[str]) -> str:
    """Return a fragment, a robot of joints without links, with what it does not say as comments, a sentence each."""
    document = new_document(ROOT, {"name": robot.name})
    for joint in robot.joints:
        _set_values(add(root_of(document), "joint", {"name": joint.name, "type": _kind(joint)}), joint)
    add_comments(document, [_USE, *losses])
    return xml_text(document)


def fill(robot: ExportedRobot, document: Document, file: Path, folder: Path) -> list[str]:
    """Put limits and friction into a robot, see `Target.fill`."""
    root = root_of(document)
    moving = [one for one in children(root, "joint") if one.getAttribute("type") in _MOVING]
    elements = {one.getAttribute("name"): one for one in moving}
    limited = []
    for joint in driven(robot, file, elements):
        element = elements[joint.name]
        require_kind(joint, file, element.getAttribute("type") == "prismatic")
        if element.getAttribute("type") == "continuous":
            # one with limits turns forever no longer
            update(element, {"type": _kind(joint)})
        _set_values(element, joint)
        if math.isinf(joint.largest_effort) and any(one.hasAttribute("effort") for one in children(element, "limit")):
            limited.append(joint.name)
    notes = [f"Effort limits of the robot stay where motors have none: {', '.join(limited)}."] if limited else []
    return notes + _lost_meshes(document, file.absolute().parent, folder)


def _set_values(element: Element, joint: ExportedJoint) -> None:
    """Set what is said of a joint."""
    limits = {}
    if joint.position_limits is not None:
        limits["lower"], limits["upper"] = joint.position_limits
    if math.isfinite(joint.largest_effort):
        limits["effort"] = joint.largest_effort
    if "velocity_limit" in joint.features:
        limits["velocity"] = joint.features["velocity_limit"]
    values = {"limit": {name: text_of(value) for name, value in limits.items()}, "dynamics": joint.stated(_DYNAMICS)}
    for tag, attributes in values.items():
        if attributes:
            update(child(element, tag), attributes)


def _lost_meshes(document: Document, before: Path, after: Path) -> list[str]:
    """Return what is to be said of meshes beside the file, which goes to another folder."""
    files = [mesh.getAttribute("filename") for mesh in document.getElementsByTagName("mesh")]
    relative = [name for name in files if "://" not in name and not Path(name).is_absolute()]
    if not relative or before.resolve() == after.resolve():
        return []
    return [f"Meshes are looked for from the folder of the file, as {relative[0]}: copy them there from {before.name}."]


def _kind(joint: ExportedJoint) -> str:
    """Return the type of a joint."""
    return "prismatic" if joint.is_linear else "continuous" if joint.position_limits is None else "revolute"
