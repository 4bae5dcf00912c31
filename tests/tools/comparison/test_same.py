"""Values that count as the same."""

import dataclasses
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.comparison import same as same_module
from isaacsim.core.experimental.actuators.tools.comparison.compare import compare
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
from isaacsim.core.experimental.actuators.tools.comparison.run import Values, run
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, both_driven_alike, side_of
from places import ROBOTS
from refusals import cases
from seeded_faults import ARM, ARM_XML, exchanged_names, good_motors


@cases(
    "first, second, expected",
    (1.0, 1.00001, True),
    (1.0, 1.001, False),
    (0.0, 1e-10, True),
    (np.inf, np.inf, True),
    (None, 0.0, False),
    ([1.0, 2.0], [1.0, 2.0000001], True),
    ([1.0, 2.0], [1.0], False),
    ("joint", "motor", False),
)
def test_precision_of_files(first: object, second: object, expected: bool) -> None:
    assert same_module.same(first, second) is expected


def test_what_one_side_lacks_differs() -> None:
    found = same_module.different({("a", "kp"): 1.0, ("b", "kp"): 2.0}, {("b", "kp"): 2.0, ("c", "kp"): 3.0})
    assert found == {("a", "kp"): (1.0, None), ("c", "kp"): (None, 3.0)}


def test_of_a_law_that_the_other_lacks_only_its_own_numbers_are_told() -> None:
    plain = aa.MotorConfig(aa.PDControlConfig(2.0, 1.0))
    rich = aa.MotorConfig(aa.PDControlConfig(2.0, 1.0), delay=aa.DelayConfig(3), others=[aa.ImplicitConfig()])
    shown = same_module.stage_values(rich, ["delay", "effort_mode"], plain)
    assert shown == {"delay.delay_steps": 3, "implicit": "yes"}
    assert "implicit.load_share" in same_module.stage_values(rich, ["effort_mode"], rich)
    assert same_module.stage_values(plain, ["controller"]) == {"PD.kp": 2.0, "PD.kd": 1.0, "PD.const_effort": 0.0}


def test_motors_alike_are_one_motor_in_two_models() -> None:
    def motor(kp: float, limit: float) -> aa.MotorConfig:
        return aa.MotorConfig(aa.PDControlConfig(kp, 1.0), [aa.MaxEffortClampingConfig(limit)])

    assert same_module.alike_motors(motor(100.0, 9.0), motor(120.0, 8.0))
    assert not same_module.alike_motors(motor(100.0, 9.0), motor(200.0, 9.0))
    assert not same_module.alike_motors(motor(100.0, 9.0), aa.MotorConfig(aa.PDControlConfig(100.0, 1.0)))
    heavy, of_robot = (aa.MotorConfig(aa.PDControlConfig(100.0, 1.0), armature=one) for one in (0.5, None))
    assert same_module.alike_motors(heavy, of_robot)
    assert not same_module.alike_motors(heavy, aa.MotorConfig(aa.PDControlConfig(100.0, 1.0), armature=0.1))


pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
SWAPPED = {"shoulder": "extension", "extension": "shoulder"}


def values(side: Side) -> Values:
    return run(side, plan_of(side, side, seconds=0.01)).values


def test_names_that_are_exchanged_in_a_file(tmp_path: Path) -> None:
    first, second = side_of(ARM_XML), side_of(exchanged_names(tmp_path))
    assert same_module.exchanged_places(values(first), values(second)) == SWAPPED
    right = same_module.with_order(second, SWAPPED)
    assert right.own("shoulder") == "extension" and same_module.exchanged_places(values(first), values(right)) == {}


def test_the_same_robot_has_nothing_exchanged() -> None:
    first, second = values(side_of(ARM)), values(side_of(ARM_XML))
    assert same_module.exchanged_places(first, second) == {} and same_module.exchanged_motors(first, first) == {}


def test_commands_by_number_are_an_order() -> None:
    side = side_of(ARM)
    assert same_module.exchanged_places(values(side), values(dataclasses.replace(side, order=SWAPPED))) == SWAPPED


def by_leg(file: Path) -> Side:
    """ANYmal in the order of a program that numbers its joints leg by leg, with other limits of its hips."""
    text = (ROBOTS / "anymal_c.usda").read_text("utf-8")
    assert "upperLimit = 28" in text
    file.write_text(text.replace("upperLimit = 28", "upperLimit = 36"), "utf-8")
    side = side_of(file)
    return dataclasses.replace(side, order=dict(zip(side.joints, sorted(side.joints), strict=True)))


def test_joints_of_their_own_names_are_an_order(tmp_path: Path) -> None:
    side, other = side_of(ROBOTS / "anymal_c.usda"), by_leg(tmp_path / "by_leg.usda")
    plan = plan_of(side, side, seconds=0.01)
    runs = [run(one, plan) for one in (side, other)]
    assert same_module.exchanged_places(*(one.values for one in runs)) == {}
    right = same_module.with_order(other, same_module.exchanged_joints(*runs))
    assert {joint: right.own(joint) for joint in side.joints} == {joint: joint for joint in side.joints}
    assert same_module.exchanged_joints(runs[0], run(right, plan)) == {}
    first, second = side_of(ARM_XML), dataclasses.replace(side_of(exchanged_names(tmp_path)), order=SWAPPED)
    plan = plan_of(first, first, seconds=0.01)
    assert same_module.exchanged_joints(run(first, plan), run(second, plan)) == {}


def test_order_of_joints_is_named_before_contact(tmp_path: Path) -> None:
    first, second, _ = both_driven_alike(side_of(ROBOTS / "anymal_c.usda"), by_leg(tmp_path / "by_leg.usda"))
    found = compare(first, second, plan_of(first, second, seconds=0.3), most=1)
    assert [one.cause for one in found.blames] == ["joint order"]


def test_motors_on_each_others_joints() -> None:
    good = good_motors()
    first, second = side_of(ARM, good), side_of(ARM, {name: good[other] for name, other in SWAPPED.items()})
    assert same_module.exchanged_motors(values(first), values(second)) == SWAPPED
    assert dict(same_module.with_motors_of(second, SWAPPED).motors) == dict(first.motors)
    one = {**good, "shoulder": good["extension"]}
    assert same_module.exchanged_motors(values(first), values(side_of(ARM, one))) == {}
