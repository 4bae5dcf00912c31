"""Exchanged joints."""

import dataclasses
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison import joint_order
from isaacsim.core.experimental.actuators.tools.comparison.compare import compare
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
from isaacsim.core.experimental.actuators.tools.comparison.run import Values, run
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, both_driven_alike, side_of
from places import ROBOTS
from seeded_faults import ARM, ARM_XML, exchanged_names, good_motors

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
SWAPPED = {"shoulder": "extension", "extension": "shoulder"}


def values(side: Side) -> Values:
    """Values of a side, as a run reads them."""
    return run(side, plan_of(side, side, seconds=0.01)).values


def test_names_that_are_exchanged_in_a_file(tmp_path) -> None:
    """Told by how the joints move the robot, and put right by moving the other joint."""
    first, second = side_of(ARM_XML), side_of(exchanged_names(tmp_path))
    assert joint_order.exchanged_places(values(first), values(second)) == SWAPPED
    right = joint_order.with_order(second, SWAPPED)
    assert right.own("shoulder") == "extension"
    assert joint_order.exchanged_places(values(first), values(right)) == {}


def test_the_same_robot_has_nothing_exchanged() -> None:
    first, second = values(side_of(ARM)), values(side_of(ARM_XML))
    assert joint_order.exchanged_places(first, second) == {}
    assert joint_order.exchanged_motors(first, first) == {}


def test_commands_by_number_are_an_order() -> None:
    """A side that moves other joints by the names of the first."""
    side = side_of(ARM)
    second = values(dataclasses.replace(side, order=SWAPPED))
    assert joint_order.exchanged_places(values(side), second) == SWAPPED


def by_leg(file: Path) -> Side:
    """ANYmal in the order of a program that numbers its joints leg by leg, with other limits of its hips."""
    text = (ROBOTS / "anymal_c.usda").read_text("utf-8")
    assert "upperLimit = 28" in text
    file.write_text(text.replace("upperLimit = 28", "upperLimit = 36"), "utf-8")
    side = side_of(file)
    return dataclasses.replace(side, order=dict(zip(side.joints, sorted(side.joints), strict=True)))


def test_joints_of_their_own_names_are_an_order(tmp_path) -> None:
    """Names decide where places differ slightly or joints share one; names that contradict places do not count."""
    side, other = side_of(ROBOTS / "anymal_c.usda"), by_leg(tmp_path / "by_leg.usda")
    plan = plan_of(side, side, seconds=0.01)
    runs = [run(one, plan) for one in (side, other)]
    assert joint_order.exchanged_places(*(one.values for one in runs)) == {}
    right = joint_order.with_order(other, joint_order.exchanged_joints(*runs))
    assert {joint: right.own(joint) for joint in side.joints} == {joint: joint for joint in side.joints}
    assert joint_order.exchanged_joints(runs[0], run(right, plan)) == {}
    first, second = side_of(ARM_XML), dataclasses.replace(side_of(exchanged_names(tmp_path)), order=SWAPPED)
    plan = plan_of(first, first, seconds=0.01)
    assert joint_order.exchanged_joints(run(first, plan), run(second, plan)) == {}


def test_order_of_joints_is_named_before_contact(tmp_path) -> None:
    """Which falls away too if contacts are switched off, as most that robots do on the ground."""
    first, second, _ = both_driven_alike(side_of(ROBOTS / "anymal_c.usda"), by_leg(tmp_path / "by_leg.usda"))
    found = compare(first, second, plan_of(first, second, seconds=0.3), most=1)
    assert [one.cause for one in found.blames] == ["joint order"]


def test_motors_on_each_others_joints() -> None:
    good = good_motors()
    bad = {name: good[other] for name, other in SWAPPED.items()}
    first, second = side_of(ARM, good), side_of(ARM, bad)
    assert joint_order.exchanged_motors(values(first), values(second)) == SWAPPED
    assert dict(joint_order.with_motors_of(second, SWAPPED).motors) == dict(first.motors)
    one = {**good, "shoulder": good["extension"]}
    assert joint_order.exchanged_motors(values(first), values(side_of(ARM, one))) == {}
