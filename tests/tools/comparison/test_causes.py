"""Causes: each is found where it differs, and is equal once it was put equal."""

import copy
import dataclasses
from collections.abc import Callable

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.specs.stages import KINDS
from isaacsim.core.experimental.actuators.tools.comparison.causes import CAUSES, STAGES
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
from isaacsim.core.experimental.actuators.tools.comparison.run import Run, run
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, side_of
from physics_engines import installed
from places import ROBOTS
from seeded_faults import ARM, ARM_XML, MOTOR_FAULTS, good_motors

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
BY_NAME = {cause.name: cause for cause in CAUSES}


def ran(*sides: Side) -> tuple[Run, ...]:
    plan = plan_of(sides[0], sides[1], seconds=0.05)
    return tuple(run(side, plan) for side in sides)


def differing(first: Run, second: Run) -> list[str]:
    return [cause.name for cause in CAUSES if cause.find(first, second)]


def put_equal(name: str, first: Run, second: Run) -> tuple[Run, ...]:
    cause = BY_NAME[name]
    pair = cause.put_equal(first, second, cause.find(first, second))
    assert pair is not None
    return ran(*pair)


def with_stage(stage: object) -> Callable[[dict[str, aa.MotorConfig]], None]:
    def change(motors: dict[str, aa.MotorConfig]) -> None:
        motors["extension"].others = [*motors["extension"].others, copy.deepcopy(stage)]

    return change


def other_law(motors: dict[str, aa.MotorConfig]) -> None:
    motors["extension"].controller = aa.PIDControlConfig(kp=800.0, ki=1.0, kd=60.0)


CHANGES = {
    **{fault: (name, change) for fault, (name, change) in MOTOR_FAULTS.items()},
    "sensor": ("sensor", with_stage(aa.EncoderConfig(bias=0.01))),
    "winding": ("winding", with_stage(aa.ElectricalConfig(torque_constant=1.0, resistance=1.0, voltage=24.0))),
    "control law": ("control law", other_law),
}


def test_every_kind_of_stage_belongs_to_one_cause() -> None:
    assert sorted([kind for some in STAGES.values() for kind in some]) == sorted(KINDS)
    assert set(STAGES) <= set(BY_NAME)


@pytest.mark.parametrize("change", CHANGES)
@pytest.mark.slow
def test_a_cause_is_found_and_put_equal(change) -> None:
    name, make = CHANGES[change]
    motors = good_motors()
    make(motors)
    sides = ran(side_of(ARM, good_motors()), side_of(ARM, motors))
    for first, second in (sides, sides[::-1]):
        assert name in differing(first, second) and name not in differing(*put_equal(name, first, second))
    assert differing(*put_equal(name, *sides)) == []


def test_friction_of_a_stage_and_of_the_simulator() -> None:
    of_stage, of_joint = good_motors(), good_motors()
    shoulder = of_stage["shoulder"]
    shoulder.friction = shoulder.viscous_friction = None
    shoulder.others = [*shoulder.others, aa.FrictionConfig(coulomb=1.0, viscous=0.2)]
    first, second = ran(side_of(ARM, of_stage), side_of(ARM, of_joint))
    assert differing(first, second) == ["friction"]
    equal = put_equal("friction", first, second)
    assert differing(*equal) == [] and equal[1].values.properties["dynamic friction"]["shoulder"] == 0.0


def test_the_gear_of_a_law_is_a_gear() -> None:
    laws = (aa.GearedPDControlConfig(kp=kp, kd=0.1, gear=gear) for kp, gear in ((2.0, 10.0), (3.0, 5.0)))
    first, second = ({".*": aa.MotorConfig(law)} for law in laws)
    sides = ran(side_of(ARM, first), side_of(ARM, second))
    assert differing(*sides) == ["gains", "gear ratio"] and differing(*put_equal("gains", *sides)) == ["gear ratio"]
    assert differing(*put_equal("gear ratio", *sides)) == ["gains"]


def test_gains_of_drives() -> None:
    side = side_of(ARM_XML)
    other = side.with_property("stiffness", {"shoulder": 100.0}).with_property("effort limit", {"extension": 7.0})
    sides = ran(side, other)
    assert differing(*sides) == ["gains", "limits"] and differing(*put_equal("gains", *sides)) == ["limits"]
    assert differing(*put_equal("limits", *sides)) == ["gains"]


def test_ranges_and_steps() -> None:
    side = side_of(ARM)
    sides = ran(side, dataclasses.replace(side.with_property("upper limit", {"shoulder": 1.0}), dt=0.001))
    assert differing(*sides) == ["physics step", "range of joints"]
    assert differing(*put_equal("physics step", *sides)) == ["range of joints"]
    assert differing(*put_equal("range of joints", *sides)) == ["physics step"]


def test_inertia_is_set_where_the_simulator_can() -> None:
    file = ROBOTS / "pendulum.usda"
    first, second = ran(side_of(file), side_of(file))
    link = list(first.values.links)[-1]
    heavy = dataclasses.replace(first.values.links[link], mass=9.0)
    changed = ran(dataclasses.replace(first.side, links={link: heavy}), second.side)
    assert differing(*changed) == ["inertia"] and differing(*put_equal("inertia", *changed)) == []
    other = ran(changed[0].side, side_of(file, engine=installed("physx")))
    assert "inertia" in differing(*other) and "inertia" not in differing(*put_equal("inertia", *other))


def test_contacts_are_switched_off_on_both_sides() -> None:
    file = ROBOTS / "unitree_go1.usda"
    same = ran(side_of(file), side_of(file))
    assert "contact" not in differing(*same)
    pair = BY_NAME["contact"].put_equal(*same, {})
    assert pair is not None and [side.contacts for side in pair] == [False, False]


def test_what_simulators_compute_in_ways_of_their_own_is_switched_off() -> None:
    file = ROBOTS / "so101.usda"
    sides = ran(side_of(file), side_of(file, engine=installed("physx")))
    own = [cause for cause in CAUSES if cause.is_switched_off]
    assert [cause.name for cause in own] == ["contact", "speed limits", "friction of joints", "stops of joints"]
    for cause in own:
        assert cause.find(*sides)
        pair = cause.put_equal(*sides, cause.find(*sides))
        assert pair is not None and not cause.find(*ran(*pair))
    assert all(not cause.find(sides[0], sides[0]) for cause in own)
