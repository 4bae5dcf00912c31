"""The `<transmission>` elements of a URDF file, of ROS 1 and of ros2_control, as numbers and as stages of motors.

With actuators a, joints j, reductions n and joint offsets o, positions are

    SimpleTransmission            j = a/n + o
    DifferentialTransmission      j1 = (a1/n_a1 + a2/n_a2)/(2·n_j1) + o1,  j2 = (a1/n_a1 − a2/n_a2)/(2·n_j2) + o2
    FourBarLinkageTransmission    j1 = a1/(n_a1·n_j1) + o1,                j2 = (a2/n_a2 − a1/(n_a1·n_j1))/n_j2 + o2

Solved for the shafts a/n_a, the last two are linkages. Efforts follow from these positions by virtual work.
Source: transmission_interface of ROS 1 and ros2_control, as far as known: its code was not at hand.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...specs.linkage import LinkageConfig
from ...specs.transmission import TransmissionConfig

BeforeJoint = TransmissionConfig | LinkageConfig
_SIMPLE = "SimpleTransmission"
_REDUCTIONS, _OFFSETS = ("mechanicalReduction", "mechanical_reduction"), ("offset",)


@dataclass(frozen=True)
class UrdfTransmission:
    """A transmission of a URDF file.

    Args:
        kind: Its type without the name of the package; empty where there is none.
        joints: Names of its joints, in the order of their roles, `joint1` first.
        actuator_reductions: Reduction of each actuator, in the order of their roles; 1 where there is none, NaN where
            it is no number.
        joint_reductions: Reduction of each joint.
        offsets: Offset of each joint [rad or m].
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
    """Return the stages before each joint, and the transmissions that are none by joint, with reasons.

    Args:
        transmissions: All transmissions of a file.
        joints: Names of the joints that have motors.
    """
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
    return _problem_of_numbers(one)


def _problem_of_numbers(one: UrdfTransmission) -> str:
    """Return why the numbers of a transmission of a known kind are none; empty if they are."""
    given = [*one.actuator_reductions, *one.joint_reductions]
    needed, reductions = ("one", [_reduction(one)]) if one.kind == _SIMPLE else ("each", given)
    if not all(map(math.isfinite, reductions)) or not all(reductions):
        shown = " and ".join(f"{value:g}" for value in given)
        return f"its reductions {shown}, of which {needed} must be a number other than 0"
    return "" if all(map(math.isfinite, one.offsets)) else "its offset is no number"


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
    """Return the reduction of a simple transmission; NaN if its actuator and its joint have different ones.

    ROS 1 reads that of the actuator, ros2_control that of the joint.
    """
    found = {value for value in (*one.actuator_reductions, *one.joint_reductions) if value != 1.0}
    return next(iter(found), 1.0) if len(found) < 2 else math.nan


def _read(element: ET.Element) -> UrdfTransmission:
    """Read one element: its type may be an attribute, or an element called `type` or `plugin`."""
    kind = element.get("type") or element.findtext("type") or element.findtext("plugin") or ""
    joints, actuators = (sorted(element.findall(tag), key=_role) for tag in ("joint", "actuator"))
    # older files have the reduction beside the actuator
    beside = _number(element, _REDUCTIONS, 1.0)
    return UrdfTransmission(
        kind=kind.strip().rpartition("/")[2],
        joints=tuple(joint.get("name", "") for joint in joints),
        actuator_reductions=tuple(_number(actuator, _REDUCTIONS, beside) for actuator in actuators) or (beside,),
        joint_reductions=tuple(_number(joint, _REDUCTIONS, 1.0) for joint in joints),
        offsets=tuple(_number(joint, _OFFSETS, 0.0) for joint in joints),
    )


def _role(element: ET.Element) -> str:
    """Return the role of a joint or an actuator, such as `joint1`; empty keeps the order of the file."""
    return (element.get("role") or element.findtext("role") or "").strip()


def _number(element: ET.Element, tags: Sequence[str], otherwise: float) -> float:
    """Return the number in the first child with one of the tags; NaN if it is none."""
    text = next((text for tag in tags if (text := element.findtext(tag)) is not None), None)
    try:
        return otherwise if text is None else float(text)
    except ValueError:
        return math.nan
