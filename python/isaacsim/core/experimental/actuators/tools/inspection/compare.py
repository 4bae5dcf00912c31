"""Differences between the joints and motors of two files."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from ...specs.arguments import require_type
from .described import InspectedJoint, InspectedRobot, InspectedValue

# relative: files hold single precision, and degrees
_SAME = 1e-5
_THERE = "there"
_T = TypeVar("_T")


@dataclass(frozen=True)
class Difference:
    """A property of a joint that differs between two files, in SI; None where it is absent."""

    # path in the first file, or in the second if it is there only
    robot: str
    # None for a robot that one file lacks
    joint: str | None
    # that of an actuator with its law: `PD.kp`
    property: str
    unit: str
    first: object
    second: object


def differences(first: Sequence[InspectedRobot], second: Sequence[InspectedRobot]) -> list[Difference]:
    """Return the differences; robots are matched by path, or if each file has one, and joints by name.

    Numbers are equal within the precision of files. The source of a value does not matter.
    """
    _require_robots("first", first)
    _require_robots("second", second)
    if len(first) == len(second) == 1:
        return list(_of_robots(first[0], second[0]))
    found: list[Difference] = []
    for path, one, other in _pairs(*({robot.path: robot for robot in robots} for robots in (first, second))):
        if one is None or other is None:
            found.append(Difference(path, None, "robot", "", one and _THERE, other and _THERE))
        else:
            found += _of_robots(one, other)
    return found


def _require_robots(name: str, robots: Sequence[InspectedRobot]) -> None:
    require_type(name, robots, Sequence, "a list of robots")
    for robot in robots:
        require_type(name, robot, InspectedRobot, "a list of robots, of inspect_robots()")


def _of_robots(first: InspectedRobot, second: InspectedRobot) -> Iterator[Difference]:
    for name, one, other in _pairs(*({joint.name: joint for joint in robot.joints} for robot in (first, second))):
        if one is None or other is None:
            yield Difference(first.path, name, "joint", "", one and _THERE, other and _THERE)
        else:
            yield from _of_joints(first.path, name, _values(first, one), _values(second, other))


def _of_joints(
    robot: str, joint: str, first: Mapping[str, InspectedValue], second: Mapping[str, InspectedValue]
) -> Iterator[Difference]:
    for name, one, other in _pairs(first, second):
        if one is None or other is None or not _alike(one.value, other.value):
            unit = next(value.unit for value in (one, other) if value is not None)
            yield Difference(robot, joint, name, unit, one and one.value, other and other.value)


def _pairs(first: Mapping[str, _T], second: Mapping[str, _T]) -> Iterator[tuple[str, _T | None, _T | None]]:
    """Iterate over the names of both, with the value of each or None."""
    for name in dict.fromkeys([*first, *second]):
        yield name, first.get(name), second.get(name)


def _values(robot: InspectedRobot, joint: InspectedJoint) -> dict[str, InspectedValue]:
    """Return the properties of a joint that are compared."""
    found = {"type": InspectedValue(joint.axis, "", ""), "driven by": InspectedValue(joint.driven_by, "", "")}
    found |= joint.values
    actuator = next((one for one in robot.actuators if one.path == joint.driver), None)
    if actuator is not None:
        found |= {f"{law}.{name}": value for (law, name), value in actuator.values.items()}
    return found


def _alike(first: object, second: object) -> bool:
    if isinstance(first, list | tuple) and isinstance(second, list | tuple):
        return len(first) == len(second) and all(map(_alike, first, second))
    if isinstance(first, int | float) and isinstance(second, int | float):
        return math.isclose(first, second, rel_tol=_SAME, abs_tol=1e-9) or (math.isnan(first) and math.isnan(second))
    return first == second
