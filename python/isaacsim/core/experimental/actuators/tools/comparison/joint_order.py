"""Exchanged joints: found by what their names do not say, how they move the robot and which motors they have."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ...specs.motors import MotorConfig
from .run import Run, Values
from .same import alike_motors
from .side import Side

# largest difference of places of the same joint, of the size of the place
_SAME_PLACE = 0.02


def exchanged_joints(first: Run, second: Run) -> dict[str, str]:
    """Return the joint of the second run for each joint that it moves in the place of another one, if they take turns.

    Joints are matched by their names in the files where these fit, and else by how they move the robot.
    """
    return _exchanged_names(first, second) or exchanged_places(first.values, second.values)


def exchanged_places(first: Values, second: Values) -> dict[str, str]:
    """Return for each joint that moves another part of the second robot the joint there that moves the same part.

    Empty unless all of these joints take the places of each other.
    """
    return _exchange(list(first.places), lambda one, other: _apart(first, second, one, other) <= _SAME_PLACE)


def _exchanged_names(first: Run, second: Run) -> dict[str, str]:
    """Return for each joint that the comparison matches with one of another name the joint there of its own name.

    Empty unless these joints take the places of each other, and names fit places as well as the comparison does: legs
    in front and behind have the same places.
    """
    own = {second.side.own(joint): joint for joint in second.values.places}
    named = {joint: own.get(first.side.own(joint)) for joint in first.values.places}
    moved = {joint: other for joint, other in named.items() if other is not None and other != joint}

    def fits(joint: str, other: str) -> bool:
        by_name, now = (_apart(first.values, second.values, joint, one) for one in (other, joint))
        return by_name <= now + _SAME_PLACE

    return moved if moved.keys() == set(moved.values()) and all(itertools.starmap(fits, moved.items())) else {}


def _apart(first: Values, second: Values, one: str, other: str) -> float:
    """Return the distance of the places of two joints, of the size of the first."""
    here, there = first.places[one], second.places[other]
    return float(np.abs(here - there).max() / np.abs(here).max())


def exchanged_motors(first: Values, second: Values) -> dict[str, str]:
    """Return for each joint with quite another motor in the second robot the joint there that has its motor.

    Empty unless all of these joints have the motors of each other.
    """
    both = [name for name in first.motors if name in second.motors]
    return _exchange(both, lambda one, other: alike_motors(first.motors[one], second.motors[other]))


def with_motors_of(side: Side, exchanged: Mapping[str, str]) -> Side:
    """Return a side in which joints have the motors of others."""
    motors: dict[str, MotorConfig] = {}
    for joint, other in exchanged.items():
        motor = side.motor(other)
        assert motor is not None
        motors[joint] = motor
    return side.with_motors(motors)


def with_order(side: Side, exchanged: Mapping[str, str]) -> Side:
    """Return a side in which other joints move in the places of joints of the comparison."""
    own = {joint: side.own(other) for joint, other in exchanged.items()}
    return dataclasses.replace(side, order={**side.order, **own})


def _exchange(names: Sequence[str], alike: Callable[[str, str], bool]) -> dict[str, str]:
    """Return the permutation of names that are not like themselves, if there is one; empty otherwise."""
    moved = [name for name in names if not alike(name, name)]
    left, found = list(moved), dict[str, str]()
    for name in moved:
        match = next((other for other in left if alike(name, other)), None)
        if match is None:
            return {}
        found[name] = match
        left.remove(match)
    return found
