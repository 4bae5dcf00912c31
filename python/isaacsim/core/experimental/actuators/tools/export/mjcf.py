"""Actuators for MuJoCo: `<actuator>` and attributes of joints, as a fragment or in a whole MJCF file.

force = kp·ctrl + const − kp·q − kd·q̇, within forcerange
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from xml.dom.minidom import Document, Element, Text
from xml.sax.saxutils import quoteattr

from ...base.saving import relative_path
from .robot import ExportedJoint, ExportedRobot, text_of
from .xml_file import (
    add,
    add_comments,
    child,
    children,
    driven,
    new_document,
    read_xml,
    require_kind,
    root_of,
    update,
    xml_text,
)

SAYS = frozenset(
    {"kp", "kd", "const_effort", "max_effort", "time_constant", "armature", "friction", "viscous_friction"}
)
WITH_GAINS = frozenset({"max_effort", "time_constant"})
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
    """Put the motors into a model, see `Target.fill`."""
    # the only one that needs a simulator
    from ...simulators.mujoco.file_reader import sliding_joints

    root = root_of(document)
    main = file.absolute().parent
    names = list(_take_in(root, main, main))
    notes = [f"The files that {file.name} includes are in it: {', '.join(names)}."] if names else []
    elements = _joints_of(root)
    joints = driven(robot, file, elements)
    for joint in joints:
        update(elements[joint.name], _joint(joint))
    actuators = {joint.name: _actuator(joint) for joint in joints if joint.has_gains}
    notes += _replace_actuators(root, actuators)
    # a text has no folder
    checked = document.cloneNode(True)
    assert checked is not None
    _move(root_of(checked), main, None)
    sliding = sliding_joints(file, xml_text(checked))
    for joint in joints:
        require_kind(joint, file, joint.name in sliding)
    _move(root, main, folder)
    return notes


def _actuator(joint: ExportedJoint) -> dict[str, str]:
    kp, kd, bias = (joint.value(name) for name in ("kp", "kd", "const_effort"))
    most = joint.largest_effort
    law = {"gainprm": text_of(kp), "biastype": "affine", "biasprm": f"{text_of(bias)} {text_of(-kp)} {text_of(-kd)}"}
    limit = {"forcelimited": "false"}
    if math.isfinite(most):
        limit = {"forcelimited": "true", "forcerange": f"{text_of(-most)} {text_of(most)}"}
    if lag := joint.value("time_constant"):
        law |= {"dyntype": "filterexact", "dynprm": text_of(lag), "actearly": "true"}
    return {"name": joint.name, "joint": joint.name, **_PLAIN, **law, **limit}


def _joint(joint: ExportedJoint) -> dict[str, str]:
    # the limit is the motor's, which a smaller one of the joint would cut
    return joint.stated(_OF_JOINT) | ({"actuatorfrclimited": "false"} if joint.has_gains else {})


# neutral values of what only newer versions of MuJoCo know
_NEUTRAL = {"actlimited": "false", "armature": "0", "damping": "0", "delay": "0", "input": "", "nsample": "0"}
_ON_JOINT = ("joint", "jointinparent")


def _take_in(parent: Element, main: Path, here: Path) -> Iterator[str]:
    """Replace the includes in an element, and yield their names; paths are from the main file or else from `here`."""
    for element in parent.getElementsByTagName("include"):
        name, above = element.getAttribute("file"), _above(element)
        included = main / name if (main / name).is_file() else here / name
        inner = root_of(read_xml(included, "mujoco", "mujocoinclude"))
        yield name
        yield from _take_in(inner, main, included.parent)
        for node in list(inner.childNodes):
            above.insertBefore(node, element)
        above.removeChild(element)


def _joints_of(root: Element) -> dict[str, Element]:
    """Return the joints of all bodies by name."""
    elements = [one for one in root.getElementsByTagName("joint") if _above(one).tagName in ("body", "frame")]
    return {joint.getAttribute("name"): joint for joint in elements if joint.hasAttribute("name")}


def _replace_actuators(root: Element, actuators: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Put actuators, attributes by joint, in place of those on their joints, whose names and order stay."""
    own = _inside(root, "actuator")
    staying: list[Element] = []
    replaced: dict[str, Element] = {}
    further: list[Element] = []
    for one in own:
        if (joint := _target(one, *_ON_JOINT)) not in actuators:
            staying.append(one)
        elif replaced.setdefault(joint, one) is not one:
            further.append(one)
    lost = {one.getAttribute("name") for one in further} - {""}
    sensors = [one for one in _inside(root, "sensor") if one.getAttribute("actuator") in lost]
    for one in [*further, *sensors]:
        _remove(one)
    are_as_many = not further and len(replaced) == len(actuators)
    _put(root, replaced, actuators, staying)
    return [
        *_named("Actuators of the model that stay", staying),
        *_named("Actuators of the model that are left out, for their joint has another", further),
        *_named("Sensors of the model that are left out with them", sensors),
        *_repair_keys(root, len(own) if are_as_many else 0),
    ]


def _put(
    root: Element,
    replaced: Mapping[str, Element],
    actuators: Mapping[str, Mapping[str, str]],
    staying: Sequence[Element],
) -> None:
    """Make elements the actuators of their joints, and add those that are missing, with names of their own."""
    neutral, taken = _neutral(root), {one.getAttribute("name") for one in staying}
    for joint, attributes in actuators.items():
        element = replaced.get(joint) or add(child(root, "actuator"), "general", {})
        name = element.getAttribute("name") or attributes["name"]
        while name in taken:
            name += "_motor"
        taken.add(name)
        element.tagName = element.nodeName = "general"
        for old in list(element.attributes.keys()):
            element.removeAttribute(old)
        element.childNodes.clear()
        update(element, {**attributes, **neutral, "name": name})


def _above(element: Element) -> Element:
    """Return the element that an element is in."""
    assert isinstance(element.parentNode, Element)
    return element.parentNode


def _inside(root: Element, section: str) -> list[Element]:
    """Return the elements in all sections of a name."""
    return [one for found in children(root, section) for one in children(found)]


def _named(what: str, elements: Sequence[Element]) -> list[str]:
    """Return a note with the names of elements; one without a name is called by its kind and target."""
    names = dict.fromkeys(
        one.getAttribute("name") or f"{one.tagName} {_target(one, *_ON_JOINT, 'tendon', 'site', 'body')}".strip()
        for one in elements
    )
    return [f"{what}: {', '.join(names)}."] if names else []


def _target(actuator: Element, *attributes: str) -> str:
    """Return the name of what an actuator acts on, by the first of some attributes that it has; empty for none."""
    return next(filter(None, map(actuator.getAttribute, attributes)), "")


def _neutral(root: Element) -> dict[str, str]:
    """Return attributes against the defaults of all actuators of a model."""
    # joints and tendons have some of the same names
    defaults = [one for one in _inside(root, "default") if one.tagName not in ("joint", "tendon", "default")]
    return {name: value for name, value in _NEUTRAL.items() if any(one.hasAttribute(name) for one in defaults)}


def _remove(element: Element) -> None:
    """Remove an element with the blank line that it leaves."""
    before = element.previousSibling
    if isinstance(before, Text) and not before.data.strip():
        _above(element).removeChild(before)
    _above(element).removeChild(element)


def _repair_keys(root: Element, controls: int) -> list[str]:
    """Remove activations of keyframes, and controls unless they are so many; return notes of it."""
    notes: dict[str, None] = {}
    for key in _inside(root, "keyframe"):
        if key.hasAttribute("act"):
            key.removeAttribute("act")
            notes["Activations of keyframes are left out: they are 0."] = None
        if key.hasAttribute("ctrl") and len(key.getAttribute("ctrl").split()) == controls:
            notes["Controls of keyframes stay: those of motors are position targets."] = None
        elif key.hasAttribute("ctrl"):
            key.removeAttribute("ctrl")
            notes["Controls of keyframes are left out, for the actuators are others: they are 0."] = None
    return list(notes)


def _move(root: Element, before: Path, after: Path | None) -> None:
    """Let a model find its files from another folder; from any folder if that is None."""
    elements = root.getElementsByTagName("*")
    has_files = any(name.startswith("file") for one in elements for name in one.attributes.keys())
    if not has_files or (after and before.resolve() == after.resolve()):
        return
    # without a folder, files are looked for from that of the model
    if not any(one.hasAttribute("assetdir") for one in children(root, "compiler")):
        add(root, "compiler", {"assetdir": ""}, next(children(root), None))
    for element, name in _paths(root):
        full = (before / element.getAttribute(name)).resolve()
        element.setAttribute(name, full.as_posix() if after is None else relative_path(full, after.resolve()))


def _paths(root: Element) -> Iterator[tuple[Element, str]]:
    """Yield elements and attributes with paths from the folder of a model; those of its meshes are from `meshdir`."""
    for compiler in children(root, "compiler"):
        yield from ((compiler, name) for name in ("assetdir", "meshdir", "texturedir") if compiler.hasAttribute(name))
    yield from ((one, "file") for one in _inside(root, "asset") if one.tagName == "model")
