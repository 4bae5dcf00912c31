"""The `<transmission>` elements of a URDF file, of ROS 1 and of ros2_control, as numbers and as gears of motors.

With actuators a, joints j, reductions n and joint offsets o, positions are

    SimpleTransmission            j = a/n + o
    DifferentialTransmission      j1 = (a1/n_a1 + a2/n_a2)/(2·n_j1) + o1,  j2 = (a1/n_a1 − a2/n_a2)/(2·n_j2) + o2
    FourBarLinkageTransmission    j1 = a1/(n_a1·n_j1) + o1,                j2 = (a2/n_a2 − a1/(n_a1·n_j1))/n_j2 + o2

The last two couple joints: they are read and named, and no motor has them.
Source: transmission_interface of ROS 1 and ros2_control, as far as known: its code was not at hand. Efforts follow from
these positions by virtual work.
"""

from __future__ import annotations

import math
import xml.etree.ElementTree as ET
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from ...specs.transmission import TransmissionConfig

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


def gears_of(
    transmissions: Sequence[UrdfTransmission], joints: Collection[str]
) -> tuple[dict[str, TransmissionConfig], list[str]]:
    """Return the gears of simple transmissions by joint, and the other transmissions by joint, with reasons.

    Args:
        transmissions: All transmissions of a file.
        joints: Names of the joints that have motors.
    """
    count = Counter(joint for one in transmissions for joint in one.joints)
    gears: dict[str, TransmissionConfig] = {}
    problems: list[str] = []
    for one in transmissions:
        joint = one.joints[0] if one.joints else ""
        if why := _problem(one, joints) or (f"{count[joint]} transmissions" if count[joint] > 1 else ""):
            problems += [f"{name!r} ({why})" for name in one.joints]
        else:
            ratio, offset = _reduction(one), one.offsets[0]
            if (ratio, offset) != (1.0, 0.0):
                # the offset of a motor is its angle where the joint is at 0
                gears[joint] = TransmissionConfig(ratio, -ratio * offset if offset else 0.0)
    return gears, list(dict.fromkeys(problems))


def _problem(one: UrdfTransmission, joints: Collection[str]) -> str:
    """Return why a transmission is no gear of a joint; empty if it is one."""
    if one.kind != _SIMPLE or len(one.joints) != 1:
        return f"{one.kind or 'no type'}{f' of {len(one.joints)} joints' * (one.kind == _SIMPLE)}"
    if one.joints[0] not in joints:
        return "no joint with a motor"
    reduction = _reduction(one)
    if not (math.isfinite(reduction) and reduction):
        given = " and ".join(f"{value:g}" for value in (*one.actuator_reductions, *one.joint_reductions))
        return f"its reductions {given} are no single number other than 0"
    return "" if math.isfinite(one.offsets[0]) else "its offset is no number"


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
