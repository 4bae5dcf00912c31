"""An MJCF file that gets actuators: its joints, its own actuators, its includes and the folders of its assets."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from xml.dom.minidom import Element, Text

from ...saving import relative_path
from .xml_file import add, child, children, read_xml, root_of

# neutral values of what only newer versions of MuJoCo know
_NEUTRAL = {
    "actlimited": "false",
    "armature": "0",
    "damping": "0",
    "delay": "0",
    "input": "",
    "nsample": "0",
}


def take_in_includes(root: Element, file: Path) -> list[str]:
    """Put the content of included files in place of each `<include>`, and return what is to be said of it."""
    main = file.absolute().parent
    names = list(_take_in(root, main, main))
    return [f"The files that {file.name} includes are in it: {', '.join(names)}."] if names else []


def _take_in(parent: Element, main: Path, here: Path) -> Iterator[str]:
    """Replace the includes in an element, and yield their names; paths are from the main file or else from `here`."""
    for element in parent.getElementsByTagName("include"):
        name, above, document = element.getAttribute("file"), element.parentNode, parent.ownerDocument
        assert isinstance(above, Element) and document is not None
        found = main / name if (main / name).is_file() else here / name
        inner = root_of(read_xml(found, "mujoco", "mujocoinclude"))
        yield name
        yield from _take_in(inner, main, found.parent)
        for node in list(inner.childNodes):
            above.insertBefore(document.importNode(node, True), element)
        above.removeChild(element)


def joints(root: Element) -> dict[str, Element]:
    """Return the joints of all bodies by name."""
    bodies = [one for world in children(root, "worldbody") for one in world.getElementsByTagName("body")]
    frames = [frame for body in bodies for frame in body.getElementsByTagName("frame")]
    found = [joint for one in [*bodies, *frames] for joint in children(one, "joint")]
    return {joint.getAttribute("name"): joint for joint in found if joint.hasAttribute("name")}


def replace_actuators(root: Element, actuators: Mapping[str, Mapping[str, str]]) -> list[str]:
    """Put actuators in place of those on their joints, whose names and order stay.

    Args:
        root: The model.
        actuators: Attributes of each, by joint.

    Returns:
        What is to be said of it, a sentence each.
    """
    own = _inside(root, "actuator")
    on_joint = _by_joint(own, actuators)
    further = [one for found in on_joint.values() for one in found[1:]]
    staying = [one for one in own if _joint(one) not in actuators]
    are_as_many = not further and all(on_joint.values())
    neutral, taken = _neutral(root), {one.getAttribute("name") for one in staying}
    for joint, attributes in actuators.items():
        _replace(root, on_joint[joint], {**attributes, **neutral}, taken)
    return [
        *_said("Actuators of the model that stay", staying),
        *_said("Actuators of the model that are left out, for their joint has another", further),
        *_said("Sensors of the model that are left out with them", _remove_sensors(root, further)),
        *_repair_keys(root, len(own) if are_as_many else 0),
    ]


def _by_joint(actuators: list[Element], joints: Iterable[str]) -> dict[str, list[Element]]:
    return {joint: [one for one in actuators if _joint(one) == joint] for joint in joints}


def _inside(root: Element, section: str) -> list[Element]:
    """Return the elements in all sections of a name."""
    return [one for found in children(root, section) for one in children(found)]


def _joint(actuator: Element) -> str:
    """Return the name of the joint of an actuator; empty for one on something else."""
    return actuator.getAttribute("joint") or actuator.getAttribute("jointinparent")


def _said(what: str, elements: list[Element]) -> list[str]:
    names = dict.fromkeys(one.getAttribute("name") or f"{one.tagName} {_target(one)}".strip() for one in elements)
    return [f"{what}: {', '.join(names)}."] if names else []


def _target(actuator: Element) -> str:
    """Return the name of what an actuator acts on."""
    return _joint(actuator) or next(filter(None, map(actuator.getAttribute, ("tendon", "site", "body"))), "")


def _neutral(root: Element) -> dict[str, str]:
    """Return attributes against the defaults of all actuators of a model."""
    # joints and tendons have some of the same names
    defaults = [one for one in _inside(root, "default") if one.tagName not in ("joint", "tendon", "default")]
    return {name: value for name, value in _NEUTRAL.items() if any(one.hasAttribute(name) for one in defaults)}


def _replace(root: Element, own: list[Element], attributes: dict[str, str], taken: set[str]) -> None:
    """Put an actuator in place of the first one of a joint, and remove the others; add it where there is none."""
    name = (own[0].getAttribute("name") if own else "") or attributes["name"]
    while name in taken:
        name += "_motor"
    taken.add(name)
    first = own[0] if own else None
    section = child(root, "actuator") if first is None else first.parentNode
    assert isinstance(section, Element)
    add(section, "general", attributes | {"name": name}, first)
    for one in own:
        if one.parentNode is not None:
            _remove(one)


def _remove(element: Element) -> None:
    """Remove an element with the blank line that it leaves."""
    parent, before = element.parentNode, element.previousSibling
    assert isinstance(parent, Element)
    parent.removeChild(element)
    if isinstance(before, Text) and not before.data.strip():
        parent.removeChild(before)


def _remove_sensors(root: Element, actuators: list[Element]) -> list[Element]:
    """Remove and return the sensors of actuators."""
    names = {one.getAttribute("name") for one in actuators} - {""}
    lost = [one for one in _inside(root, "sensor") if one.getAttribute("actuator") in names]
    for one in lost:
        _remove(one)
    return lost


def _repair_keys(root: Element, controls: int) -> list[str]:
    """Remove activations of keyframes, and controls unless they are so many; return what is to be said of it."""
    said = []
    for key in _inside(root, "keyframe"):
        if key.hasAttribute("act"):
            key.removeAttribute("act")
        if key.hasAttribute("ctrl") and len(key.getAttribute("ctrl").split()) == controls:
            said.append("Controls of keyframes stay: those of motors are position targets.")
        elif key.hasAttribute("ctrl"):
            key.removeAttribute("ctrl")
            said.append("Controls of keyframes are left out, for the actuators are others: they are 0.")
    return list(dict.fromkeys(said))


def move(root: Element, before: Path, after: Path | None) -> None:
    """Let a model find its assets from another folder; from any folder if that is None."""
    if not _has_files(root) or (after is not None and before.resolve() == after.resolve()):
        return
    folders = _take_folders(root)
    compiler = next(children(root, "compiler"), None) or add(root, "compiler", {}, next(children(root), None))
    for name, folder in folders.items():
        compiler.setAttribute(name, _moved(folder, before, after))
    for model in _inside(root, "asset"):
        if model.tagName == "model":
            model.setAttribute("file", _moved(model.getAttribute("file"), before, after))


def _has_files(root: Element) -> bool:
    return any(name.startswith("file") for one in root.getElementsByTagName("*") for name in one.attributes.keys())


def _moved(path: str, before: Path, after: Path | None) -> str:
    """Return a path from one folder as one from another, or as a full one."""
    full = (before / path).resolve()
    return full.as_posix() if after is None else relative_path(full, after.resolve())


def _take_folders(root: Element) -> dict[str, str]:
    """Remove and return the folders of meshes and textures; later ones count, and `assetdir` is both."""
    folders = {"meshdir": "", "texturedir": ""}
    for compiler in children(root, "compiler"):
        for name, sets in {"assetdir": tuple(folders), "meshdir": ("meshdir",), "texturedir": ("texturedir",)}.items():
            if compiler.hasAttribute(name):
                folders |= dict.fromkeys(sets, compiler.getAttribute(name))
                compiler.removeAttribute(name)
    return folders
