"""Properties of a robot that a target cannot store, by joint."""

from __future__ import annotations

from collections.abc import Iterator, Set
from dataclasses import dataclass

from .robot import AT_MOTOR, FEATURES, ExportedJoint, ExportedRobot


@dataclass(frozen=True)
class Loss:
    """A property that is lost.

    Args:
        joint: Name of the joint.
        what: What is lost, with its value.
    """

    joint: str
    what: str


def losses_of(robot: ExportedRobot, says: Set[str], with_gains: Set[str] = frozenset()) -> list[Loss]:
    """Return what is lost of a robot.

    Args:
        robot: The robot.
        says: The `FEATURES` that the target can say, or that are not its business.
        with_gains: Those that it can say only beside the gains of a PD law.
    """
    return [
        Loss(joint.name, what)
        for joint in robot.joints
        for what in _lost(joint, says if joint.has_gains or joint.motor is None else says - with_gains)
    ]


def without_motor(robot: ExportedRobot) -> list[Loss]:
    """Return the joints without a motor, for a target that can say all motors."""
    return [Loss(joint.name, NO_MOTOR) for joint in robot.joints if joint.motor is None]


def on_one_side(robot: ExportedRobot) -> list[Loss]:
    """Return the position limits of joints that have only one, for a target that has both or none."""
    return [
        Loss(joint.name, f"position limit on one side (position_limits = {shown(joint.features['position_limits'])})")
        for joint in robot.joints
        if "position_limits" in joint.features and joint.position_limits is None
    ]


NO_MOTOR = "no motor"
"""The loss of a joint without a motor."""


def _lost(joint: ExportedJoint, says: Set[str]) -> Iterator[str]:
    if joint.motor is None:
        yield NO_MOTOR
    yield from (f"law {law}" for law in joint.laws)
    for name, value in joint.features.items():
        if name not in says or (joint.is_geared and name in AT_MOTOR):
            yield f"{FEATURES[name]} ({name} = {shown(value)})"


def shown(value: object) -> str:
    """Return a number, or several, as text."""
    if isinstance(value, tuple):
        return ", ".join(map(shown, value))
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def said_together(losses: list[Loss]) -> list[str]:
    """Return a sentence for each loss, with all joints that have it."""
    joints: dict[str, list[str]] = {}
    for loss in losses:
        joints.setdefault(loss.what, []).append(loss.joint)
    return [
        f"{'No motor:' if what == NO_MOTOR else f'Not said: {what}, of'} {', '.join(names)}."
        for what, names in joints.items()
    ]
