"""Prepare a URDF file for MuJoCo: find meshes, and repair or report what MuJoCo would drop or refuse.

MuJoCo's defaults for URDF are made for speed: links on fixed joints are fused into their parents, visual shapes are
dropped, and paths of meshes lose their folders. Here links keep their names and masses, and meshes of the same name in
two folders stay apart.

The `<transmission>` elements, of ROS 1 and of ros2_control, become stages of motors. With actuators a, joints j,
reductions n and joint offsets o, positions are

    SimpleTransmission            j = a/n + o
    DifferentialTransmission      j1 = (a1/n_a1 + a2/n_a2)/(2·n_j1) + o1,  j2 = (a1/n_a1 − a2/n_a2)/(2·n_j2) + o2
    FourBarLinkageTransmission    j1 = a1/(n_a1·n_j1) + o1,                j2 = (a2/n_a2 − a1/(n_a1·n_j1))/n_j2 + o2

Solved for the shafts a/n_a, the last two are linkages. Efforts follow from these positions by virtual work.
Source: transmission_interface of ROS 1 and ros2_control, as far as known: its code was not at hand.
"""

from __future__ import annotations

import math
import re
import warnings
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...base.errors import UnsupportedSceneError
from ...specs.linkage import LinkageConfig
from ...specs.transmission import TransmissionConfig
from ...specs.two_values import are_same, contradiction
from ..scene.inertias import ROUNDING, repaired, report_inertias

_READABLE = (".stl", ".obj", ".msh")
_FIXED = "fixed"
# command interfaces of ros2_control that a joint limits
_COMMANDS = ("position", "velocity", "effort")
_INERTIA = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))
# MuJoCo refuses STL files with more
_MOST_FACES = 200000
# record of a binary STL file, which begins with 80 bytes and the number of faces
_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])


@dataclass
class Urdf:
    """A URDF file for MuJoCo, `xml` and its meshes by name, and the data that MuJoCo does not read.

    Mimics are follower, leader, offset and ratio; `fixed` joints are named by their child links. Links
    `without_inertia` have no `<inertial>`; `massless` ones have mass 0 and the inertia that they state. `two_values`
    are limits that `<ros2_control>` exceeds, one line each.
    """

    xml: str = ""
    meshes: dict[str, bytes] = field(default_factory=dict)
    mimics: list[tuple[str, str, float, float]] = field(default_factory=list)
    velocity_limits: dict[str, float] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    without_inertia: set[str] = field(default_factory=set)
    massless: dict[str, np.ndarray] = field(default_factory=dict)
    transmissions: list[UrdfTransmission] = field(default_factory=list)
    two_values: list[str] = field(default_factory=list)


def prepare(path: Path, robot: ET.Element, strict_inertia: bool) -> Urdf:
    """A URDF file prepared for MuJoCo; its root element is changed in place.

    `strict_inertia` refuses physically impossible inertias instead of repairing them, and an `UnsupportedSceneError` a
    file that is a template. Warnings name the links and joints of meshes left out, of repaired inertias, and of a mimic
    without a leader.
    """
    _require_expanded(path, robot)
    made = Urdf(mimics=_take_mimics(path, robot), fixed=_fixed_joints(robot))
    for joint in robot.iter("joint"):
        limit = joint.find("limit")
        if limit is not None and (velocity := float(limit.get("velocity", 0))) > 0:
            made.velocity_limits[joint.get("name", "")] = velocity
    made.transmissions = transmissions_of(robot)
    made.two_values = list(_exceeded_limits(robot))
    made.without_inertia = {link.get("name", "") for link in robot.iter("link") if link.find("inertial") is None}
    # set compiler options that the file leaves open; remove and return its mesh folder
    compiler = _child(_child(robot, "mujoco"), "compiler")
    # a fused link loses its name, its frame and its contacts
    for option in ("fusestatic", "discardvisual"):
        compiler.set(option, compiler.get(option, "false"))
    given = [compiler.attrib.pop(name, "") for name in ("meshdir", "assetdir")]
    folder = path.parent / (given[0] or given[1])
    _take_meshes(path, robot, folder, made.meshes)
    _repair_inertias(path, robot, made, strict_inertia)
    _free_root(robot)
    made.xml = ET.tostring(robot, "unicode")
    return made


def _require_expanded(path: Path, robot: ET.Element) -> None:
    """Raise for a file that is a template."""
    values = (value for element in robot.iter() for value in element.attrib.values())
    if (value := next((value for value in values if "${" in value or "$(" in value), None)) is not None:
        raise UnsupportedSceneError(
            f"{path}: {value!r} is to be expanded by xacro, for the file is a template. Expand it: `xacro {path.name} "
            "> robot.urdf`."
        )


def _exceeded_limits(robot: ET.Element) -> Iterator[str]:
    """Limits of joints that are less than those of their commands in `<ros2_control>`, one line each."""
    limits = {joint.get("name"): joint.find("limit") for joint in robot.findall("joint")}
    for joint in robot.iterfind(".//ros2_control//joint"):
        if (limit := limits.get(name := joint.get("name", ""))) is None:
            continue
        bounds = {attribute: _number(limit.get(attribute)) for attribute in ("lower", "upper", "effort", "velocity")}
        for command in joint.findall("command_interface"):
            yield from _exceeded_by(command, name, bounds)


def _exceeded_by(command: ET.Element, name: str, bounds: Mapping[str, float]) -> Iterator[str]:
    """The bounds of a joint that are less than those of a command, one line each."""
    kind = command.get("name", "")
    low, high = ("lower", "upper") if kind == "position" else (kind, kind)
    # converters write 0 for no limit
    if kind not in _COMMANDS or bounds[low] == bounds[high] == 0.0:
        return
    for end, attribute, sign in (("min", low, -1.0), ("max", high, 1.0)):
        most = bounds[attribute] if kind == "position" else sign * bounds[attribute]
        given = _number(command.findtext(f"param[@name='{end}']"))
        if sign * given > sign * most and not are_same(given, most):
            used, other = f": its <limit {attribute}> = {most:g}", f"{end} of its {kind} command = {given:g}"
            yield contradiction(name, used, other, most, given)


def _number(text: str | None) -> float:
    """The number in a text; NaN if it is none, which exceeds nothing."""
    try:
        return float(text or "nan")
    except ValueError:
        return math.nan


def _fixed_joints(robot: ET.Element) -> dict[str, str]:
    """Names of fixed joints by their child links."""
    fixed = (joint for joint in robot.iter("joint") if joint.get("type") == _FIXED)
    return {child.get("link", ""): joint.get("name", "") for joint in fixed for child in joint.findall("child")[:1]}


def _child(element: ET.Element, tag: str, **attributes: str) -> ET.Element:
    """The first child of that tag, added with `attributes` where there is none."""
    found = element.find(tag)
    return ET.SubElement(element, tag, attributes) if found is None else found


def _take_mimics(path: Path, robot: ET.Element) -> list[tuple[str, str, float, float]]:
    """Take mimics out of the file: not every version of MuJoCo reads them, and none names a missing leader."""
    moving = {joint.get("name") for joint in robot.iter("joint") if joint.get("type") not in (None, _FIXED)}
    found = []
    for joint in robot.iter("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
            name, leader = joint.get("name", ""), mimic.get("joint", "")
            # a fixed joint follows no other
            if name not in moving:
                continue
            if leader not in moving:
                warnings.warn(
                    f"{path}: joint {name!r} mimics {leader!r}, which is no joint of the file that moves: it follows "
                    "nobody. Correct the name, or take the <mimic> out.",
                    stacklevel=7,
                )
                continue
            found.append((name, leader, float(mimic.get("offset", 0)), float(mimic.get("multiplier", 1))))
    return found


def _take_meshes(path: Path, robot: ET.Element, folder: Path, meshes: dict[str, bytes]) -> None:
    """Read the files of meshes and give each a unique name; drop shapes that MuJoCo would refuse."""
    dropped: dict[str, list[str]] = {"visual": [], "collision": []}
    names: dict[Path, str] = {}
    for link in robot.iter("link"):
        for element in [*link.findall("visual"), *link.findall("collision")]:
            # names of shapes are not used, and often not unique
            element.attrib.pop("name", None)
            mesh = element.find("geometry/mesh")
            if mesh is None:
                # a shape without size has no effect, and MuJoCo refuses it
                if any(_is_empty(shape) for shape in element.iterfind("geometry/*")):
                    link.remove(element)
            elif why := _take_mesh(mesh, path.parent, folder, names):
                link.remove(element)
                dropped[element.tag].append(f"{link.get('name')} ({mesh.get('filename', '')}: {why})")
    for kind, what in (("visual", "are not drawn"), ("collision", "do not collide")):
        if dropped[kind]:
            warnings.warn(
                f"{path}: meshes of these links {what}: {', '.join(dict.fromkeys(dropped[kind]))}. Put them there, in "
                f"one of the formats {', '.join(_READABLE)}, of up to {_MOST_FACES} faces; packages are looked for in "
                "the folder of the file and in those above it.",
                stacklevel=7,
            )
    meshes.update({name: _content(file) for file, name in names.items()})


def _take_mesh(mesh: ET.Element, here: Path, folder: Path, names: dict[Path, str]) -> str:
    """Find the file of a mesh and give it a unique name; return why it cannot be used, empty if it can."""
    file = _find(mesh.get("filename", ""), here, folder)
    if file is None:
        return "is missing"
    suffix, size = file.suffix.lower(), file.stat().st_size
    if not (suffix in _READABLE and not (suffix == ".stl" and size > 84 + _FACE.itemsize * _MOST_FACES)):
        return "MuJoCo cannot read it"
    names.setdefault(file, f"{len(names)}_{file.name}")
    mesh.set("filename", names[file])
    return ""


def _is_empty(shape: ET.Element) -> bool:
    """True if a box, cylinder or sphere has no size."""
    sizes = " ".join(shape.get(name, "") for name in ("size", "radius", "length")).split()
    return any(float(size) <= 0 for size in sizes)


def _find(uri: str, here: Path, folder: Path) -> Path | None:
    """The file of a mesh URI."""
    scheme, _, rest = uri.rpartition("://")
    candidates = [folder / rest, here / rest, folder / Path(rest).name]
    if scheme in ("package", "model"):
        package, _, inside = rest.partition("/")
        above = [here, *here.absolute().parents]
        candidates = [one / package / inside for one in above]
        candidates += [one / inside for one in above if one.name == package]
        candidates += [one / inside for one in above[:3]]
    return next((one.resolve() for one in candidates if one.is_file()), None)


def _content(file: Path) -> bytes:
    """Content of a mesh file, with text STL converted to binary, the only form MuJoCo reads."""
    content = file.read_bytes()
    if file.suffix.lower() != ".stl" or len(content) == 84 + _FACE.itemsize * int.from_bytes(content[80:84], "little"):
        return content
    numbers = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
    faces = np.zeros(len(numbers) // 3, _FACE)
    faces["corners"] = np.array(numbers[: 3 * len(faces)], float).reshape(-1, 3, 3)
    return bytes(80) + len(faces).to_bytes(4, "little") + faces.tobytes() if len(faces) else content


def _repair_inertias(path: Path, robot: ET.Element, made: Urdf, strict: bool) -> None:
    """Replace impossible inertias by the nearest possible ones, and note links without mass."""
    changed: dict[str, float] = {}
    for link in robot.iter("link"):
        name, inertial = link.get("name", ""), link.find("inertial")
        if inertial is None:
            continue
        mass, element = _child(inertial, "mass", value="0"), _child(inertial, "inertia")
        inertia = _inertia(element)
        is_massless = float(mass.get("value", 0)) <= 0
        new, change = repaired(inertia) if inertia.any() or not is_massless else (inertia, 0.0)
        if change > ROUNDING:
            changed[name] = change
        if is_massless:
            made.massless[name] = new
            # MuJoCo's parser requires an inertia
            mass.set("value", "0")
            new, change = np.eye(3), 1.0
        if change > 0.0:
            element.attrib.update({name: repr(float(new[row, column])) for name, row, column in _INERTIA})
    report_inertias(f"{path}: ", changed, strict, stacklevel=8)


def _inertia(element: ET.Element) -> np.ndarray:
    """The 3 × 3 matrix of an `<inertia>` element."""
    inertia = np.zeros((3, 3))
    for name, row, column in _INERTIA:
        inertia[row, column] = inertia[column, row] = float(element.get(name, 0))
    return inertia


def _free_root(robot: ET.Element) -> None:
    """Rename a root that carries a floating joint to `world`: MuJoCo allows free joints at the top only."""
    children = {child.get("link") for child in robot.iterfind(".//joint/child")}
    parents = {parent.get("link") for parent in robot.iterfind(".//joint[@type='floating']/parent")}
    for root in parents - children - {None}:
        for element in [*robot.iter("link"), *robot.iter("parent")]:
            for name in ("name", "link"):
                if element.get(name) == root:
                    element.set(name, "world")


BeforeJoint = TransmissionConfig | LinkageConfig
_SIMPLE = "SimpleTransmission"
_REDUCTIONS, _OFFSETS = ("mechanicalReduction", "mechanical_reduction"), ("offset",)


@dataclass(frozen=True)
class UrdfTransmission:
    """A transmission of a URDF file; its type has no package name, and is empty where there is none.

    Roles order joints and actuators. Reductions are 1 for none, NaN for no number; offsets are in rad or m.
    """

    kind: str
    joints: tuple[str, ...]
    actuator_reductions: tuple[float, ...]
    joint_reductions: tuple[float, ...]
    offsets: tuple[float, ...]


def transmissions_of(robot: ET.Element) -> list[UrdfTransmission]:
    """Return the transmissions of a file, those inside `<ros2_control>` included."""
    return [_read(element) for element in robot.iter("transmission")]


def stages_of(
    transmissions: Sequence[UrdfTransmission], joints: Collection[str]
) -> tuple[dict[str, list[BeforeJoint]], list[str]]:
    """The stages before each joint with a motor, and the transmissions that are none by joint, with reasons."""
    count = Counter(joint for one in transmissions for joint in one.joints)
    stages: dict[str, list[BeforeJoint]] = {}
    problems: list[str] = []
    for one in transmissions:
        several = next((f"{count[joint]} transmissions" for joint in one.joints if count[joint] > 1), "")
        if why := _problem(one, joints) or several:
            problems += [f"{name!r} ({why})" for name in one.joints]
        else:
            stages |= _SHAFTS[one.kind](one)
    return stages, list(dict.fromkeys(problems))


def _problem(one: UrdfTransmission, joints: Collection[str]) -> str:
    """Return why a transmission is no stage of motors; empty if it is one."""
    if one.kind not in _SHAFTS:
        return one.kind or "no type"
    wanted = 1 if one.kind == _SIMPLE else 2
    if (len(one.joints), len(one.actuator_reductions)) != (wanted, wanted):
        return f"{one.kind} of {len(one.joints)} joints and {len(one.actuator_reductions)} actuators"
    if lost := [name for name in one.joints if name not in joints]:
        return f"no motor at joint {lost[0]!r}"
    if why := _reductions_problem(one):
        return why
    return "" if all(map(math.isfinite, one.offsets)) else "its offset is no number"


def _reductions_problem(one: UrdfTransmission) -> str:
    """Return why reductions of a transmission are no ratios; empty if they are."""
    given = [*one.actuator_reductions, *one.joint_reductions]
    needed, reductions = ("one", [_reduction(one)]) if one.kind == _SIMPLE else ("each", given)
    if all(map(math.isfinite, reductions)) and all(reductions):
        return ""
    shown = " and ".join(f"{value:g}" for value in given)
    return f"its reductions {shown}, of which {needed} must be a number other than 0"


def _gear(one: UrdfTransmission) -> dict[str, list[BeforeJoint]]:
    """Return the gear of a simple transmission."""
    ratio, offset = _reduction(one), one.offsets[0]
    # the offset of a motor is its angle where the joint is at 0
    gear = TransmissionConfig(ratio, -ratio * offset if offset else 0.0)
    return {one.joints[0]: [gear]} if (ratio, offset) != (1.0, 0.0) else {}


def _differential(one: UrdfTransmission) -> dict[str, list[BeforeJoint]]:
    """Return gears and shafts of a differential."""
    first, second = one.joint_reductions
    return _linkage(one, [first, second], [first, -second])


def _four_bar(one: UrdfTransmission) -> dict[str, list[BeforeJoint]]:
    """Return gears and shafts of two links, of which the second motor turns the second one against the base."""
    first, second = one.joint_reductions
    return _linkage(one, [first, 0.0], [1.0, second])


def _linkage(one: UrdfTransmission, *shafts: list[float]) -> dict[str, list[BeforeJoint]]:
    """Return gears and shafts, each with its angle per position of each joint."""
    found: dict[str, list[BeforeJoint]] = {}
    for joint, ratio, shaft in zip(one.joints, one.actuator_reductions, shafts, strict=True):
        offset = -sum(slope * at for slope, at in zip(shaft, one.offsets, strict=True)) if any(one.offsets) else 0.0
        found[joint] = [LinkageConfig(list(one.joints), shaft, offset)]
        if ratio != 1.0:
            found[joint].insert(0, TransmissionConfig(ratio))
    return found


_SHAFTS = {_SIMPLE: _gear, "DifferentialTransmission": _differential, "FourBarLinkageTransmission": _four_bar}


def _reduction(one: UrdfTransmission) -> float:
    """Reduction of the actuator (ROS 1) or joint (ros2_control) of a simple transmission; NaN if they differ."""
    found = {value for value in (*one.actuator_reductions, *one.joint_reductions) if value != 1.0}
    return next(iter(found), 1.0) if len(found) < 2 else math.nan


def _read(element: ET.Element) -> UrdfTransmission:
    """Read one element: its type may be an attribute, or an element called `type` or `plugin`."""
    kind = element.get("type") or element.findtext("type") or element.findtext("plugin") or ""
    joints, actuators = (sorted(element.findall(tag), key=_role) for tag in ("joint", "actuator"))
    # older files have the reduction beside the actuator
    beside = _number_among(element, _REDUCTIONS, 1.0)
    return UrdfTransmission(
        kind=kind.strip().rpartition("/")[2],
        joints=tuple(joint.get("name", "") for joint in joints),
        actuator_reductions=tuple(_number_among(actuator, _REDUCTIONS, beside) for actuator in actuators) or (beside,),
        joint_reductions=tuple(_number_among(joint, _REDUCTIONS, 1.0) for joint in joints),
        offsets=tuple(_number_among(joint, _OFFSETS, 0.0) for joint in joints),
    )


def _role(element: ET.Element) -> str:
    """Return the role of a joint or an actuator, such as `joint1`; empty keeps the order of the file."""
    return (element.get("role") or element.findtext("role") or "").strip()


def _number_among(element: ET.Element, tags: Sequence[str], otherwise: float) -> float:
    """Return the number in the first child with one of the tags; NaN if it is none."""
    text = next((text for tag in tags if (text := element.findtext(tag)) is not None), None)
    try:
        return otherwise if text is None else float(text)
    except ValueError:
        return math.nan
