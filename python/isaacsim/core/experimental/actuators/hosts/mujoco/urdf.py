"""A URDF file as MuJoCo can read it: meshes found, and what MuJoCo would drop or refuse said or set right.

MuJoCo's defaults for URDF are made for speed: links on fixed joints are fused into their parents, what is only seen is
dropped, and paths of meshes lose their folders. Here links keep their names and masses, and meshes of the same name in
two folders stay two.
"""

from __future__ import annotations

import re
import warnings
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from ...errors import UnsupportedSceneError
from ...usd.physics.inertias import ROUNDING, repaired, report_inertias

_READABLE = (".stl", ".obj", ".msh")
_FIXED = "fixed"
_INERTIA = (("ixx", 0, 0), ("iyy", 1, 1), ("izz", 2, 2), ("ixy", 0, 1), ("ixz", 0, 2), ("iyz", 1, 2))
# MuJoCo refuses STL files with more
_MOST_FACES = 200000
# what a binary STL file is, after 80 bytes and the number of faces
_FACE = np.dtype([("normal", "<f4", 3), ("corners", "<f4", (3, 3)), ("rest", "<u2")])


@dataclass
class Urdf:
    """What MuJoCo is to read, and what it does not.

    Args:
        xml: The file, for MuJoCo.
        meshes: Files by the names that `xml` has for them.
        mimics: Follower, leader, offset and ratio.
        velocity_limits: By joint.
        fixed: Names of fixed joints, by the link that each carries.
        without_inertia: Links that state none.
        massless: Links that state that they have no mass.
        lost_inertias: Those of them that state an inertia all the same.
    """

    xml: str = ""
    meshes: dict[str, bytes] = field(default_factory=dict)
    mimics: list[tuple[str, str, float, float]] = field(default_factory=list)
    velocity_limits: dict[str, float] = field(default_factory=dict)
    fixed: dict[str, str] = field(default_factory=dict)
    without_inertia: set[str] = field(default_factory=set)
    massless: set[str] = field(default_factory=set)
    lost_inertias: list[str] = field(default_factory=list)


def prepare(path: Path, robot: ET.Element, strict_inertia: bool) -> Urdf:
    """Return a URDF file as MuJoCo can read it.

    Args:
        path: Of the file.
        robot: Its root element; it is changed.
        strict_inertia: Whether inertias that no body can have are refused, and not repaired.

    Raises:
        UnsupportedSceneError: It is a template.

    Warns:
        UserWarning: Meshes were left out, inertias were repaired, or a joint mimics none; names links and joints.
    """
    values = (value for element in robot.iter() for value in element.attrib.values())
    if (value := next((value for value in values if "${" in value or "$(" in value), None)) is not None:
        raise UnsupportedSceneError(
            f"{path}: {value!r} is to be expanded by xacro, for the file is a template. Expand it: `xacro {path.name} "
            "> robot.urdf`."
        )
    made = Urdf()
    made.mimics = _take_mimics(path, robot)
    for joint in robot.iter("joint"):
        limit, child = joint.find("limit"), joint.find("child")
        if joint.get("type") == _FIXED and child is not None:
            made.fixed[child.get("link", "")] = joint.get("name", "")
        if limit is not None and (velocity := float(limit.get("velocity", 0))) > 0:
            made.velocity_limits[joint.get("name", "")] = velocity
    made.without_inertia = {link.get("name", "") for link in robot.iter("link") if link.find("inertial") is None}
    folder = _set_options(robot, path.parent)
    _take_meshes(path, robot, folder, made.meshes)
    _repair_inertias(path, robot, made, strict_inertia)
    _free_root(robot)
    made.xml = ET.tostring(robot, "unicode")
    return made


def _set_options(robot: ET.Element, folder: Path) -> Path:
    """Choose what MuJoCo does with links, where the file does not; return and forget the folder it has for meshes."""
    extension = robot.find("mujoco")
    if extension is None:
        extension = ET.SubElement(robot, "mujoco")
    compiler = extension.find("compiler")
    if compiler is None:
        compiler = ET.SubElement(extension, "compiler")
    # a link that is fused loses its name, its frame and its contacts
    for option in ("fusestatic", "discardvisual"):
        compiler.set(option, compiler.get(option, "false"))
    given = [compiler.attrib.pop(name, "") for name in ("meshdir", "assetdir")]
    return folder / (given[0] or given[1])


def _take_mimics(path: Path, robot: ET.Element) -> list[tuple[str, str, float, float]]:
    """Take mimics out of the file: not every version of MuJoCo reads them, and none says which leader is missing."""
    moving = {joint.get("name") for joint in robot.iter("joint") if joint.get("type") not in (None, _FIXED)}
    found = []
    for joint in robot.iter("joint"):
        for mimic in joint.findall("mimic"):
            joint.remove(mimic)
            name, leader = joint.get("name", ""), mimic.get("joint", "")
            # what is fixed follows nobody
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
    """Find the files of meshes, and give each a name of its own."""
    dropped: dict[str, list[str]] = {"visual": [], "collision": []}
    names: dict[Path, str] = {}
    for link in robot.iter("link"):
        for element in [*link.findall("visual"), *link.findall("collision")]:
            # names of shapes are used by nobody, and often by two
            element.attrib.pop("name", None)
            if (mesh := element.find("geometry/mesh")) is None:
                # what has no size is neither seen nor touched, and MuJoCo refuses it
                if any(_is_empty(shape) for shape in element.iterfind("geometry/*")):
                    link.remove(element)
                continue
            uri = mesh.get("filename", "")
            file = _find(uri, path.parent, folder)
            if file is None or not _is_readable(file):
                link.remove(element)
                why = "is missing" if file is None else "MuJoCo cannot read it"
                dropped[element.tag].append(f"{link.get('name')} ({uri}: {why})")
            else:
                names.setdefault(file, f"{len(names)}_{file.name}")
                mesh.set("filename", names[file])
    for kind, what in (("visual", "are not drawn"), ("collision", "do not collide")):
        if dropped[kind]:
            warnings.warn(
                f"{path}: meshes of these links {what}: {', '.join(dict.fromkeys(dropped[kind]))}. Put them there, in "
                f"one of the formats {', '.join(_READABLE)}, of up to {_MOST_FACES} faces; packages are looked for in "
                "the folder of the file and in those above it.",
                stacklevel=7,
            )
    meshes.update({name: _content(file) for file, name in names.items()})


def _is_empty(shape: ET.Element) -> bool:
    """Whether a box, cylinder or sphere has no size."""
    sizes = " ".join(shape.get(name, "") for name in ("size", "radius", "length")).split()
    return any(float(size) <= 0 for size in sizes)


def _is_readable(file: Path) -> bool:
    """Whether MuJoCo has the format, and is not overtaxed."""
    suffix, size = file.suffix.lower(), file.stat().st_size
    return suffix in _READABLE and not (suffix == ".stl" and size > 84 + _FACE.itemsize * _MOST_FACES)


def _find(uri: str, here: Path, folder: Path) -> Path | None:
    """The file that a URI of a mesh means."""
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
    """A mesh as MuJoCo reads it, which knows STL in its binary form only."""
    content = file.read_bytes()
    if file.suffix.lower() != ".stl" or len(content) == 84 + _FACE.itemsize * int.from_bytes(content[80:84], "little"):
        return content
    numbers = re.findall(rb"vertex\s+(\S+)\s+(\S+)\s+(\S+)", content)
    faces = np.zeros(len(numbers) // 3, _FACE)
    faces["corners"] = np.array(numbers[: 3 * len(faces)], float).reshape(-1, 3, 3)
    return bytes(80) + len(faces).to_bytes(4, "little") + faces.tobytes() if len(faces) else content


def _repair_inertias(path: Path, robot: ET.Element, made: Urdf, strict: bool) -> None:
    """Make inertias that no body has the nearest ones that a body can have, and note links that have no mass."""
    changed: dict[str, float] = {}
    for link in robot.iter("link"):
        inertial, mass = link.find("inertial"), link.find("inertial/mass")
        if inertial is None:
            continue
        if mass is None:
            mass = ET.SubElement(inertial, "mass", value="0")
        element = inertial.find("inertia")
        if element is None:
            element = ET.SubElement(inertial, "inertia")
        inertia = _inertia(element)
        if float(mass.get("value", 0)) <= 0:
            # what has no mass has no inertia, and MuJoCo wants one
            mass.set("value", "0")
            element.attrib.update({name: str(float(row == column)) for name, row, column in _INERTIA})
            made.massless.add(link.get("name", ""))
            if inertia.any():
                made.lost_inertias.append(link.get("name", ""))
            continue
        new, change = repaired(inertia)
        if change > 0.0:
            if change > ROUNDING:
                changed[link.get("name", "")] = change
            for name, row, column in _INERTIA:
                element.set(name, repr(float(new[row, column])))
    report_inertias(f"{path}: ", changed, strict, stacklevel=8)


def _inertia(element: ET.Element) -> np.ndarray:
    """The 3 × 3 matrix that an `<inertia>` states."""
    inertia = np.zeros((3, 3))
    for name, row, column in _INERTIA:
        inertia[row, column] = inertia[column, row] = float(element.get(name, 0))
    return inertia


def _free_root(robot: ET.Element) -> None:
    """Call a root on which a floating joint stands the world: MuJoCo has free joints at the top only."""
    joints = list(robot.iter("joint"))
    children = {child.get("link") for joint in joints for child in joint.findall("child")}
    for joint in joints:
        parent = joint.find("parent")
        if joint.get("type") == "floating" and parent is not None and (root := parent.get("link")) not in children:
            for element in robot.iter():
                for name in ("name", "link"):
                    if element.tag in ("link", "parent") and element.get(name) == root:
                        element.set(name, "world")
