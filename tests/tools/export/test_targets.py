"""The table of targets, and what every one of them does."""

import dataclasses
import re
from typing import get_args, get_type_hints

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.arguments import Export
from isaacsim.core.experimental.actuators.tools.export.robot import FEATURES, read_robot
from isaacsim.core.experimental.actuators.tools.export.targets import TARGETS, export
from places import REPOSITORY, ROBOTS
from refusals import cases

ARM = ROBOTS / "arm_2dof.usda"
PAGE = REPOSITORY / "docs" / "tutorials" / "out_to_the_robot.md"


def test_the_command_has_all_targets() -> None:
    assert get_args(get_type_hints(Export)["to"]) == tuple(TARGETS)


def test_the_page_has_the_table() -> None:
    lines = [f"| what | {' | '.join(f'`{name}`' for name in TARGETS)} |"]
    for feature, words in FEATURES.items():
        marks = ["yes" if feature in target.says else "-" for target in TARGETS.values()]
        lines.append(f"| {words} | {' | '.join(marks)} |")
    text = PAGE.read_text("utf-8")
    assert [line for line in lines if line not in text] == []


def test_a_motor_file_comes_back(tmp_path) -> None:
    robot = read_robot(ARM)
    assert export(robot, "yaml", tmp_path / "motors.yaml") == []
    assert aa.load_motors(tmp_path / "motors.yaml") == robot.motors


def test_names_of_joints_are_patterns_in_a_motor_file(tmp_path) -> None:
    robot, names = read_robot(ARM), ['q")', "left-hip.x"]
    joints = tuple(dataclasses.replace(joint, name=name) for joint, name in zip(robot.joints, names, strict=True))
    export(dataclasses.replace(robot, joints=joints), "yaml", tmp_path / "motors.yaml")
    patterns = list(aa.load_motors(tmp_path / "motors.yaml"))
    assert patterns == ['q"\\)', r"left-hip\.x"]
    assert all(re.fullmatch(pattern, name) for pattern, name in zip(patterns, names, strict=True))


@cases("target", *[name for name in TARGETS if name not in ("yaml", "c")])
def test_strict_refuses_a_loss_and_writes_nothing(target, tmp_path) -> None:
    motor = aa.MotorConfig(aa.PDControlConfig(3.0, 1.0), others=[aa.EncoderConfig()])
    robot, out = read_robot(ARM, {".*": motor}), tmp_path / "out"
    with pytest.raises(ValueError, match="law feedback encoder of 2 joints: shoulder, extension"):
        export(robot, target, out, strict=True)
    assert not out.exists()
    with pytest.warns(UserWarning, match=r"^Lost: law feedback encoder of 2 joints: shoulder, extension\."):
        export(robot, target, out)
    said = export(robot, target, out, lossy=True)
    # what is lost comes last
    first = said.index("Lost: law feedback encoder of 2 joints: shoulder, extension.")
    assert all(one.startswith("Lost: ") is (at >= first) for at, one in enumerate(said))


@cases("target", *[name for name, one in TARGETS.items() if "max_effort" in one.says and "dc_motor" not in one.says])
def test_a_limit_of_the_effort_is_the_peak_of_a_dc_motor(target, tmp_path) -> None:
    limits = [aa.DCMotorClampingConfig(30.0, 3.0, 12.25), aa.MaxEffortClampingConfig(17.3)]
    robot = read_robot(ARM, {".*": [aa.PDControlConfig(3.0, 1.0), *limits]})
    export(robot, target, out := tmp_path / "out", lossy=True)
    text = "".join(one.read_text("utf-8") for one in (out.iterdir() if out.is_dir() else [out]))
    assert "12.25" in text and "17.3" not in text


@cases("target", *TARGETS)
def test_setpoint_of_limited_velocity_is_carried_or_named(target, tmp_path) -> None:
    law = aa.SlewedPIDControlConfig(3.0, 0.5, 1.0, max_rate=2.0, integral_max=0.25)
    robot, out = read_robot(ARM, {".*": aa.MotorConfig(law)}), tmp_path / ("out.yaml" if target == "yaml" else "out")
    lost = export(robot, target, out, lossy=True)
    named = "Lost: largest velocity of the setpoint of 2 joints (2 rad/s or m/s): shoulder, extension." in lost
    assert named is (target not in ("yaml", "c"))
    for joint in robot.joints:
        gains = {name: joint.features[name] for name in ("kp", "ki", "kd", "integral_max", "max_rate")}
        assert gains == {"kp": 3.0, "ki": 0.5, "kd": 1.0, "integral_max": 0.25, "max_rate": 2.0} and joint.laws == ()


@cases("target", *TARGETS)
def test_laws_that_a_target_lacks_are_said_in_part_or_have_no_actuator(target, tmp_path) -> None:
    motors = {"shoulder": [aa.StartupPDControlConfig(3.0, 1.0, 0.5)], "extension": [aa.StepperControlConfig(1.0, 200)]}
    said = export(read_robot(ARM, motors), target, tmp_path / f"out.{target}", lossy=True)
    lacks = target not in ("yaml", "c")
    startup = "Lost: startup force of law controller startup_pd of 1 joint (startup 0.5 N·m): shoulder."
    assert (startup in said) is lacks
    idle = "No actuator in the file, for it cannot say their control laws: extension."
    assert (idle in said) is (lacks and target != "urdf")


@cases("target", *TARGETS)
def test_rounded_delays_are_noted_where_they_are_steps(target, tmp_path) -> None:
    robot = read_robot(ARM, {".*": [aa.PDControlConfig(3.0, 1.0), aa.TimedDelayConfig(0.0113)]}, dt=0.004)
    said = export(robot, target, tmp_path / f"out.{target}", lossy=True)
    rounded = "In steps, rounded up: a command delay of 0.0113 s is 3 · 0.004 s = 0.012 s, of shoulder, extension."
    assert (rounded in said) is (target in ("lab", "mjlab"))
    assert any("Lost: command delay" in one for one in said) is (target in ("mjcf", "ros2", "urdf"))


def test_a_fragment_says_how_to_get_a_whole_file(tmp_path) -> None:
    robot = read_robot(ARM)
    for target in TARGETS:
        said = export(robot, target, tmp_path / f"{target}.yaml", lossy=True)
        words = f"bodies of other formats cannot be written as {target.upper()}: give the {target.upper()} file of"
        assert len([one for one in said if words in one]) == (target in ("mjcf", "urdf")), target
    with pytest.raises(ValueError, match=r"into = .*: must be None for the target lab\. It is for mjcf, urdf\."):
        export(robot, "lab", tmp_path / "lab", into=ROBOTS / "arm_2dof.xml")


def test_a_whole_file_needs_joints_of_the_robot(tmp_path) -> None:
    out, into = tmp_path / "out.xml", tmp_path / "into.xml"
    into.write_text((ROBOTS / "arm_2dof.xml").read_text().replace('"shoulder"', '"shoulder_pitch"'))
    with pytest.raises(ValueError, match=r"into\.xml: has no joints shoulder \(shoulder_pitch\?\): must have each"):
        export(read_robot(ARM), "mjcf", out, into=into)
    with pytest.raises(ValueError, match=r"its outermost element is <mujoco>: must be <robot>"):
        export(read_robot(ARM), "urdf", out, into=into)
    with pytest.raises(FileNotFoundError, match=r"missing\.urdf: no such file\. Correct the path\."):
        export(read_robot(ARM), "urdf", out, into=tmp_path / "missing.urdf")
    assert not out.exists()


def test_unknown_target_is_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match=r"target = 'sdf': must be one of yaml, mjcf, .*\. Correct the name\."):
        export(read_robot(ARM), "sdf", tmp_path / "out")
    assert not (tmp_path / "out").exists()
