"""What differs between the joints and motors of two files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from ..specs.arguments import require_type
from .described import InspectedJoint, InspectedRobot, InspectedValue

# relative: files hold single precision, and degrees
_SAME = 1e-5
_THERE = "there"


@dataclass(frozen=True)
class Difference:
    """A property of a joint that two files say otherwise.

    Args:
        robot: Path of the robot in the first file, or in the second where it is there only.
        joint: Name of the joint; None where a whole robot is in one file only.
        property: What differs, and for a parameter of an actuator its law: `PD.kp`.
        unit: Empty where it has none.
        first: In the first file, SI; None where it is not there.
        second: In the second file.
    """

    robot: str
    joint: str | None
    property: str
    unit: str
    first: Any
    second: Any


def differences(first: Sequence[InspectedRobot], second: Sequence[InspectedRobot]) -> list[Difference]:
    """Return what differs; robots are the same by path, or where each file has one, and joints by name.

    Numbers are the same up to the precision of files. Where values come from does not count.

    Raises:
        TypeError: They are no lists of robots.
    """
    for name, robots in {"first": first, "second": second}.items():
        require_type(name, robots, Sequence, "a list of robots")
        for robot in robots:
            require_type(name, robot, InspectedRobot, "a list of robots, of inspect_robots()")
    if len(first) == len(second) == 1:
        return list(_of_robots(first[0], second[0]))
    there, here = ({robot.path: robot for robot in robots} for robots in (first, second))
    found: list[Difference] = []
    for path in dict.fromkeys([*there, *here]):
        if path in there and path in here:
            found += _of_robots(there[path], here[path])
        else:
            found.append(
                Difference(path, None, "robot", "", *(_THERE if path in one else None for one in (there, here)))
            )
    return found


def _of_robots(first: InspectedRobot, second: InspectedRobot) -> Iterator[Difference]:
    there, here = ({joint.name: joint for joint in robot.joints} for robot in (first, second))
    for name in dict.fromkeys([*there, *here]):
        if not (name in there and name in here):
            yield Difference(first.path, name, "joint", "", *(_THERE if name in one else None for one in (there, here)))
            continue
        values = _values(first, there[name]), _values(second, here[name])
        for key in dict.fromkeys([*values[0], *values[1]]):
            one, other = (found.get(key) for found in values)
            if not _same(one, other):
                unit = next(value.unit for value in (one, other) if value is not None)
                yield Difference(first.path, name, key, unit, *(value and value.value for value in (one, other)))


def _values(robot: InspectedRobot, joint: InspectedJoint) -> dict[str, InspectedValue]:
    """Everything there is to compare of a joint."""
    found = {"type": InspectedValue(joint.axis, "", ""), "driven by": InspectedValue(joint.driven_by, "", "")}
    found |= joint.values
    actuator = next((one for one in robot.actuators if one.path == joint.driver), None)
    if actuator is not None:
        found |= {f"{law}.{name}": value for (law, name), value in actuator.values.items()}
    return found


def _same(first: InspectedValue | None, second: InspectedValue | None) -> bool:
    if first is None or second is None:
        return first is second
    return _alike(first.value, second.value)


def _alike(first: Any, second: Any) -> bool:
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_alike, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-9) or (math.isnan(first) and math.isnan(second))
    return first == second
