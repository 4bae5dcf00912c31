"""Which files are robots, and which of two files are the same robot."""

import json
import re
from dataclasses import dataclass
from pathlib import Path

MOVES = {
    "mjcf": re.compile(r"<(joint|include|attach|freejoint|motor|position|general)\b"),
    "urdf": re.compile(r"type\s*=\s*[\"'](revolute|continuous|prismatic)[\"']"),
}
MOVING_PRIMS = ("PhysicsRevoluteJoint", "PhysicsPrismaticJoint", "PhysicsJoint")


@dataclass(frozen=True)
class Robot:
    """A file to open, USD, MJCF or URDF, and the `original` that it was made from, if known."""

    file: Path
    original: Path | None
    name: str
    wheel: str = ""


def robots_of(place: Path, *, originals: bool = False) -> list[Robot]:
    """The robots in a folder, or the one in a file.

    A `manifest.json` of the folder says which they are, see `gather.py`; otherwise all files are looked at that hold
    joints, and the original of `arm.usda` is `arm.xml` or `arm.urdf` beside it.

    `originals`: Whether to take the originals in place of what was made from them.
    """
    manifest = place / "manifest.json"
    found = []
    if manifest.exists():
        for entry in json.loads(manifest.read_text()):
            original = None if entry["kind"] == "usd" else Path(entry["original"])
            file = original if originals else entry.get("file")
            if file:
                name = entry["original"].partition(f"/{entry['wheel']}/")[2]
                found.append(Robot(Path(file), original, name, entry["wheel"]))
        return found
    for file in sorted(place.rglob("*")) if place.is_dir() else [place]:
        if not file.is_file() or not (kind := kind_of(file)):
            continue
        beside = [file] if kind != "usd" else [file.with_suffix(end) for end in (".xml", ".urdf")]
        original = next((one for one in beside if one.exists()), None)
        if not originals or original == file:
            found.append(Robot(file, original, str(file.relative_to(place) if place.is_dir() else file.name)))
    return found


def kind_of(path: Path) -> str | None:
    """What a file is: "usd", "mjcf" or "urdf" where it may hold joints that move, None otherwise."""
    if path.suffix.lower() in (".usd", ".usda", ".usdc", ".usdz"):
        # layers that another file is made of
        part = {"payload", "payloads"} & {name.lower() for name in path.parts}
        return "usd" if not part and moves(path) else None
    if path.suffix.lower() not in (".xml", ".urdf", ".mjcf"):
        return None
    text = re.sub(r"<!--.*?-->", "", path.read_text("utf-8", "replace"), flags=re.DOTALL)
    root = re.search(r"<(mujoco|robot|\w+)\b", re.sub(r"<\?.*?\?>|<!DOCTYPE.*?>", "", text, flags=re.DOTALL))
    kind = {"mujoco": "mjcf", "robot": "urdf"}.get(root[1]) if root else None
    return kind if kind and MOVES[kind].search(text) else None


def moves(path: Path) -> bool:
    from pxr import Tf, Usd

    try:
        stage = Usd.Stage.Open(str(path))
    except Tf.ErrorException:
        return False
    return any(prim.GetTypeName() in MOVING_PRIMS for prim in stage.Traverse())


def plain(name: str) -> str:
    return re.sub(r"\W", "_", name)


def with_meshes(urdf: Path) -> str:
    """The text of a URDF with meshes named by full paths: packages are folders at or above the file, or below these."""
    text = urdf.read_text("utf-8", "replace")

    def place(found: re.Match[str]) -> str:
        name = found[2]
        for scheme in ("file://", "package://", "model://"):
            name = name.removeprefix(scheme)
        known = package_of(urdf, name.partition("/")[0])
        places = [known.parent / name] if known else []
        places += [above / name for above in (urdf.parent, *list(urdf.parents)[1:4])]
        return found[1] + str(next((one for one in places if one.exists()), Path(name))) + found[3]

    return re.sub(r"(<mesh\b[^>]*?filename\s*=\s*[\"'])([^\"']+)([\"'])", place, text, flags=re.DOTALL)


def package_of(urdf: Path, name: str) -> Path | None:
    for above in list(urdf.parents)[:6]:
        if above.name == name:
            return above
        if (above / name).is_dir():
            return above / name
    return None


def packages(urdf: Path) -> dict[str, Path]:
    named = set(re.findall(r"package://([^/\"']+)/", urdf.read_text("utf-8", "replace")))
    return {name: found for name in sorted(named) if (found := package_of(urdf, name))}
