"""Seeded faults are found; what cannot be blamed on values is left to the simulators."""

import dataclasses
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.compat.isaac_lab import load_groups
from isaacsim.core.experimental.actuators.tools.comparison.compare import Comparison, compare
from isaacsim.core.experimental.actuators.tools.comparison.plan import plan_of
from isaacsim.core.experimental.actuators.tools.comparison.side import Side, both_driven_alike, side_of
from physics_engines import installed
from places import ROBOTS
from refusals import cases
from seeded_faults import (
    ARM,
    ARM_XML,
    MOTOR_FAULTS,
    NOT_IN_LAB,
    exchanged_names,
    good_motors,
    joint_motors,
    lab_file,
    other_mass,
    slightly_other,
    usd_file,
)

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
ALONE = ("kp per degree", "kd in degrees")


def compared(first: Side, second: Side, *, most: int | None = None) -> Comparison:
    first, second, _ = both_driven_alike(first, second)
    return compare(first, second, plan_of(first, second, seconds=1.5), most=most)


def named(found: Comparison) -> list[str]:
    return [one.cause for one in found.blames]


def test_equal_sides_agree_to_the_bit() -> None:
    side = side_of(ARM, good_motors())
    found = compared(side, side)
    assert not found.differs
    assert (found.difference.largest, named(found), found.unexplained, list(found.idle)) == (0.0, [], 0.0, [])


@cases("fault", *[fault for fault in MOTOR_FAULTS if fault not in ALONE])
@pytest.mark.slow
def test_a_seeded_fault_is_among_the_first_two(fault) -> None:
    cause, change = MOTOR_FAULTS[fault]
    motors = slightly_other(good_motors())
    change(motors)
    found = compared(side_of(ARM, good_motors()), side_of(ARM, motors), most=2)
    assert found.differs and cause in named(found)[:2]


@cases("fault", *[fault for fault in MOTOR_FAULTS if fault not in NOT_IN_LAB])
@pytest.mark.slow
def test_a_seeded_fault_in_cfgs_of_isaac_lab_is_among_the_first_two(fault, tmp_path) -> None:
    cause, change = MOTOR_FAULTS[fault]
    motors = joint_motors() if fault in ALONE else slightly_other(joint_motors())
    change(motors)
    robot = usd_file(tmp_path, joint_motors())
    found = compared(side_of(robot), side_of(robot, groups=load_groups(lab_file(tmp_path, motors))), most=2)
    assert found.differs and cause in named(found)[:2]


@cases("fault", *ALONE)
def test_a_fault_alone_explains_all(fault) -> None:
    cause, change = MOTOR_FAULTS[fault]
    motors = good_motors()
    change(motors)
    found = compared(side_of(ARM, good_motors()), side_of(ARM, motors))
    assert named(found) == [cause] and found.blames[0].share == pytest.approx(1.0)
    assert (found.unexplained, found.remaining.largest) == (0.0, 0.0)


def test_half_the_rate_of_physics_is_the_physics_step() -> None:
    found = compared(side_of(ARM, good_motors()), side_of(ARM, good_motors(), dt=1 / 120))
    assert named(found)[0] == "physics step" and found.unexplained == 0.0


def test_two_faults_are_both_named() -> None:
    motors = good_motors()
    for fault in ("forgotten armature", "a step of delay"):
        MOTOR_FAULTS[fault][1](motors)
    found = compared(side_of(ARM, good_motors()), side_of(ARM, motors))
    assert set(named(found)) == {"armature", "delay"}
    shares = [one.share for one in found.blames]
    assert shares[0] > shares[1] > 0 and found.unexplained == 0.0


def test_exchanged_names_in_a_file(tmp_path) -> None:
    found = compared(side_of(ARM_XML), side_of(exchanged_names(tmp_path)))
    assert named(found) == ["joint order"] and found.unexplained == 0.0


def test_another_mass(tmp_path) -> None:
    found = compared(side_of(ARM_XML), side_of(other_mass(tmp_path)))
    assert named(found) == ["inertia"] and found.unexplained == 0.0


@pytest.mark.slow
def test_drives_of_a_file_against_other_gains() -> None:
    laws = {"shoulder": PDControlConfig(100.0, 20.0), "extension": PDControlConfig(2e3, 1e2)}
    motors = {joint: MotorConfig(law) for joint, law in laws.items()}
    found = compared(side_of(ARM_XML), side_of(ARM_XML, motors))
    assert {"gains", "effort mode"} <= set(named(found)) and found.unexplained == 0.0


def test_what_is_left_between_simulators() -> None:
    file = ROBOTS / "so101.usda"
    found = compared(side_of(file), side_of(file, engine=installed("physx")))
    assert found.differs and named(found) == []
    assert found.unexplained == pytest.approx(1.0) and found.finer is not None
    assert found.finer < 0.6 * found.remaining.mean


@cases("robot, cause", ("franka_panda", "speed limits"), ("unitree_go1", "contact"))
def test_what_simulators_compute_in_ways_of_their_own(robot, cause) -> None:
    file = ROBOTS / f"{robot}.usda"
    found = compared(side_of(file), side_of(file, engine=installed("physx")))
    assert named(found) == [cause] and found.blames[0].is_switched_off
    assert found.blames[0].share > 0.5 and found.finer is not None and found.finer < 0.4 * found.remaining.mean


def test_mujoco_warp_is_mujoco_but_for_the_values() -> None:
    pytest.importorskip("mujoco_warp")
    same, motors = side_of(ARM, good_motors(), engine="mujoco_warp"), good_motors()
    assert not compared(side_of(ARM, good_motors()), same).differs
    cause, change = MOTOR_FAULTS[ALONE[0]]
    change(motors)
    for engines in (("mujoco", "mujoco_warp"), ("mujoco_warp", "mujoco")):
        sides = [side_of(ARM, one, engine=engine) for one, engine in zip((good_motors(), motors), engines, strict=True)]
        found = compared(*sides)
        assert named(found) == [cause] and found.unexplained == 0.0


@pytest.fixture
def newton() -> None:
    for library in ("mujoco_warp", "newton"):
        pytest.importorskip(library)


@pytest.mark.usefixtures("newton")
@cases("robot", "pendulum", "arm_2dof")
def test_newton_reads_a_robot_as_we_do(robot) -> None:
    file = ROBOTS / f"{robot}.usda"
    found = compared(side_of(file), side_of(file, engine="newton"))
    assert len(found.second.values.motors) == len(found.first.values.motors) > 0
    assert (found.difference.largest < 1e-6, named(found), list(found.idle)) == (True, [], [])


@pytest.mark.usefixtures("newton")
@cases(
    "written, cause",
    ("float physxJoint:armature = 0.4", "armature"),
    ("float mjc:frictionloss = 4", "friction"),
    ("float newton:velocityLimit = 0.1", "limits"),
    ("float newton:armature = 0.4", None),
    ("float newton:friction = 4", None),
)
def test_what_newton_leaves_out_of_a_joint_is_named(written, cause, tmp_path) -> None:
    text = Path(ARM).read_text("utf-8")
    file, at = tmp_path / "arm.usda", "float physics:lowerLimit = 0\n"
    assert at in text
    file.write_text(text.replace(at, f"{at}{written}\n"), "utf-8")
    found = compared(side_of(file), side_of(file, engine="newton"))
    assert named(found) == ([] if cause is None else [cause]) and found.unexplained == 0.0
    if cause is not None:
        assert {joint for joint, _ in found.blames[0].found} == {"extension"}


@pytest.mark.usefixtures("newton")
@cases("robot, rest", ("anymal_c", "contact"), ("unitree_go1", "armature"))
@pytest.mark.slow
def test_order_of_newton_is_named_before_all_others(robot, rest) -> None:
    """By a program that goes by number: most of any difference is gone where robots only fall, without stops, say."""
    file = ROBOTS / f"{robot}.usda"
    first, second, _ = both_driven_alike(side_of(file), side_of(file, engine="newton"))
    second = dataclasses.replace(second, order=dict(zip(first.joints, second.joints, strict=True)))
    found = compare(first, second, plan_of(first, second))
    assert named(found) == ["joint order", rest] and found.unexplained == 0.0


@pytest.mark.usefixtures("newton")
def test_a_fault_in_a_motor_is_found_with_newton() -> None:
    motors = good_motors()
    cause, change = MOTOR_FAULTS[ALONE[0]]
    change(motors)
    for engines in (("mujoco", "newton"), ("newton", "mujoco")):
        sides = [side_of(ARM, one, engine=engine) for one, engine in zip((good_motors(), motors), engines, strict=True)]
        assert named(compared(*sides)) == [cause]
