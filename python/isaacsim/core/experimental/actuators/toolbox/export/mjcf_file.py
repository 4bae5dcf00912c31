"""An MJCF file that gets actuators: its joints, its own actuators, its includes and the folders of its assets."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
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
    own = [one for section in children(root, "actuator") for one in children(section)]
    on_joint: dict[str, list[Element]] = {joint: [] for joint in actuators}
    for one in own:
        on_joint.get(one.getAttribute("joint") or one.getAttribute("jointinparent"), []).append(one)
    staying = [one for one in own if not any(one in found for found in on_joint.values())]
    taken = {one.getAttribute("name") for one in staying}
    neutral = _neutral(root)
    for joint, attributes in actuators.items():
        _replace(root, on_joint[joint], {**attributes, **neutral}, taken)
    lost = [one.getAttribute("name") or one.getAttribute("joint") for found in on_joint.values() for one in found[1:]]
    is_same = not lost and all(on_joint.values())
    return [
        *_said("Actuators of the model that stay", [one.getAttribute("name") or _target(one) for one in staying]),
        *_said("Actuators of the model that are left out, for their joint has another", lost),
        *_said("Sensors of the model that are left out with them", _remove_sensors(root, lost)),
        *_repair_keys(root, is_same and bool(own), len(own)),
    ]


def _said(what: str, names: list[str]) -> list[str]:
    return [f"{what}: {', '.join(dict.fromkeys(names))}."] if names else []


def _target(actuator: Element) -> str:
    """Return the kind of an actuator without a name, and what it acts on."""
    places = ("joint", "jointinparent", "tendon", "site", "body", "cranksite")
    return f"{actuator.tagName} {next(filter(None, map(actuator.getAttribute, places)), '')}"


def _neutral(root: Element) -> dict[str, str]:
    """Return attributes against the defaults of all actuators of a model."""
    defaults = [one for default in children(root, "default") for one in children(default)]
    # joints and tendons have some of the same names
    actuators = [one for one in defaults if one.tagName not in ("joint", "tendon", "default")]
    return {name: value for name, value in _NEUTRAL.items() if any(one.hasAttribute(name) for one in actuators)}


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


def _remove_sensors(root: Element, actuators: list[str]) -> list[str]:
    """Remove the sensors of actuators, and return their names."""
    sensors = [one for section in children(root, "sensor") for one in children(section)]
    lost = [one for one in sensors if one.getAttribute("actuator") in actuators and one.hasAttribute("actuator")]
    for one in lost:
        _remove(one)
    return [one.getAttribute("name") or one.tagName for one in lost]


def _repair_keys(root: Element, is_same: bool, count: int) -> list[str]:
    """Remove the controls of keyframes that no longer fit, and their activations; return what is to be said of it."""
    keys = [one for section in children(root, "keyframe") for one in children(section, "key")]
    said = []
    for key in keys:
        if key.hasAttribute("act"):
            key.removeAttribute("act")
        if not key.hasAttribute("ctrl"):
            continue
        if is_same and len(key.getAttribute("ctrl").split()) == count:
            said.append("Controls of keyframes stay: those of motors are position targets.")
        else:
            key.removeAttribute("ctrl")
            said.append("Controls of keyframes are left out, for the actuators are others: they are 0.")
    return list(dict.fromkeys(said))


def move(root: Element, before: Path, after: Path | None) -> None:
    """Let a model find its assets from another folder; from any folder if that is None."""
    elements = root.getElementsByTagName("*")
    has_files = any(name.startswith("file") for one in elements for name in one.attributes.keys())
    if not has_files or (after is not None and before.resolve() == after.resolve()):
        return

    def moved(path: str) -> str:
        full = (before / path).resolve()
        return full.as_posix() if after is None else relative_path(full, after.resolve())

    folders = _take_folders(root)
    compiler = next(children(root, "compiler"), None) or add(root, "compiler", {}, next(children(root), None))
    for name, folder in folders.items():
        compiler.setAttribute(name, moved(folder))
    for model in [one for asset in children(root, "asset") for one in children(asset, "model")]:
        model.setAttribute("file", moved(model.getAttribute("file")))


def _take_folders(root: Element) -> dict[str, str]:
    """Remove and return the folders of meshes and textures; later ones count, and `assetdir` is both."""
    folders = {"meshdir": "", "texturedir": ""}
    for compiler in children(root, "compiler"):
        for name, sets in {"assetdir": tuple(folders), "meshdir": ("meshdir",), "texturedir": ("texturedir",)}.items():
            if compiler.hasAttribute(name):
                folders |= dict.fromkeys(sets, compiler.getAttribute(name))
                compiler.removeAttribute(name)
    return folders
