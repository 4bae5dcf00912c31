"""The table of targets, and what every one of them does."""

from __future__ import annotations

from pathlib import Path
from typing import get_args, get_type_hints

import pytest
from isaacsim.core.experimental.actuators import (
    EncoderConfig,
    MotorConfig,
    PDControlConfig,
    SlewedPIDControlConfig,
    load_motors,
)
from isaacsim.core.experimental.actuators.toolbox.commands.arguments import Export
from isaacsim.core.experimental.actuators.toolbox.export.robot import FEATURES, read_robot
from isaacsim.core.experimental.actuators.toolbox.export.targets import TARGETS, export
from places import REPOSITORY, ROBOTS

ARM = ROBOTS / "arm_2dof.usda"
PAGE = REPOSITORY / "docs" / "tutorials" / "out_to_the_robot.md"


def test_the_command_has_all_targets() -> None:
    """Its choices are the lines of the table."""
    assert get_args(get_type_hints(Export)["to"]) == tuple(TARGETS)


def test_the_page_has_the_table() -> None:
    """A column a target, a line a feature."""
    lines = [f"| what | {' | '.join(f'`{name}`' for name in TARGETS)} |"]
    for feature, words in FEATURES.items():
        marks = ["yes" if feature in target.says else "-" for target in TARGETS.values()]
        lines.append(f"| {words} | {' | '.join(marks)} |")
    text = PAGE.read_text("utf-8")
    assert [line for line in lines if line not in text] == []


def test_a_motor_file_comes_back(tmp_path: Path) -> None:
    """All of it."""
    robot = read_robot(ARM)
    assert export(robot, "yaml", tmp_path / "motors.yaml") == []
    assert load_motors(tmp_path / "motors.yaml") == robot.motors


@pytest.mark.parametrize("target", [name for name in TARGETS if name not in ("yaml", "c")])
def test_strict_refuses_a_loss_and_writes_nothing(target: str, tmp_path: Path) -> None:
    """Without it the loss is returned."""
    motor = MotorConfig(PDControlConfig(3.0, 1.0), others=[EncoderConfig()])
    robot, out = read_robot(ARM, {".*": motor}), tmp_path / "out"
    with pytest.raises(ValueError, match="law feedback encoder, of shoulder, extension"):
        export(robot, target, out, strict=True)
    assert not out.exists()
    assert "Not said: law feedback encoder, of shoulder, extension." in export(robot, target, out)


@pytest.mark.parametrize("target", TARGETS)
def test_setpoint_of_limited_velocity_is_carried_or_named(target: str, tmp_path: Path) -> None:
    """With the gains of the controller, as those of a PID."""
    law = SlewedPIDControlConfig(3.0, 0.5, 1.0, max_rate=2.0, integral_max=0.25)
    robot, out = read_robot(ARM, {".*": MotorConfig(law)}), tmp_path / ("out.yaml" if target == "yaml" else "out")
    lost = export(robot, target, out)
    named = "Not said: largest velocity of the setpoint (max_rate = 2), of shoulder, extension." in lost
    assert named is (target not in ("yaml", "c"))
    for joint in robot.joints:
        gains = {name: joint.features[name] for name in ("kp", "ki", "kd", "integral_max", "max_rate")}
        assert gains == {"kp": 3.0, "ki": 0.5, "kd": 1.0, "integral_max": 0.25, "max_rate": 2.0} and joint.laws == ()


def test_a_fragment_says_how_to_get_a_whole_file(tmp_path: Path) -> None:
    """For a robot that is of another kind; only targets that are robot files can be one."""
    robot = read_robot(ARM)
    for target in TARGETS:
        hints = [one for one in export(robot, target, tmp_path / f"{target}.yaml") if "is a fragment" in one]
        assert len(hints) == (target in ("mjcf", "urdf")), target
    with pytest.raises(ValueError, match=r"into = .*: must be None for the target lab\. It is for mjcf, urdf\."):
        export(robot, "lab", tmp_path / "lab", into=ROBOTS / "arm_2dof.xml")


def test_a_whole_file_needs_joints_of_the_robot(tmp_path: Path) -> None:
    """And must be of its kind; nothing is written without."""
    out, into = tmp_path / "out.xml", tmp_path / "into.xml"
    into.write_text((ROBOTS / "arm_2dof.xml").read_text().replace('"shoulder"', '"shoulder_pitch"'))
    with pytest.raises(ValueError, match=r"into\.xml: has no joints shoulder \(shoulder_pitch\?\): must have each"):
        export(read_robot(ARM), "mjcf", out, into=into)
    with pytest.raises(ValueError, match=r"its outermost element is <mujoco>: must be <robot>"):
        export(read_robot(ARM), "urdf", out, into=into)
    with pytest.raises(FileNotFoundError, match=r"missing\.urdf: no such file\. Correct the path\."):
        export(read_robot(ARM), "urdf", out, into=tmp_path / "missing.urdf")
    assert not out.exists()


def test_unknown_target_is_refused(tmp_path: Path) -> None:
    """By name, before anything is written."""
    with pytest.raises(ValueError, match=r"target = 'sdf': must be one of yaml, mjcf, .*\. Correct the name\."):
        export(read_robot(ARM), "sdf", tmp_path / "out")
    assert not (tmp_path / "out").exists()
