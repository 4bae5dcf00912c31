"""The linter as a function."""

from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import lint
from isaacsim.core.experimental.actuators.tools.inspection.findings import split_message
from places import ROBOTS
from pxr import Sdf, Usd
from robot_files import ARM, OF_SHOULDER, edited, number


def test_files_that_cannot_be_read(tmp_path) -> None:
    """An unreadable file is one finding, a missing one an error."""
    usd, xml = tmp_path / "broken.usda", tmp_path / "broken.xml"
    usd.write_text("#usda 1.0\ndef {")
    xml.write_text("<mujoco><worldbody><body/></worldbody></mujoc>")
    for file in (usd, xml):
        (finding,) = lint(file)
        assert (finding.rule, finding.severity, finding.where) == ("unreadable-file", "error", str(file))
        assert "\n" not in finding.problem and not finding.problem.startswith(str(file))
        assert finding.remedy
    with pytest.raises(FileNotFoundError):
        lint(tmp_path / "nothing.usda")


def test_files_without_robots(tmp_path) -> None:
    """No robot is a finding: a converter may have omitted the schema."""
    Usd.Stage.CreateNew(str(tmp_path / "empty.usda")).Save()
    (finding,) = lint(tmp_path / "empty.usda")
    assert finding.rule == "no-robot"


@pytest.mark.parametrize("dt", [0.0, -1.0, float("nan"), float("inf")])
def test_a_step_that_is_none_is_refused(dt) -> None:
    """Arguments are checked before the file is read."""
    with pytest.raises(ValueError, match="dt = "):
        lint("nothing.usda", dt)


def test_what_cannot_be_simulated_is_told_with_a_step(tmp_path) -> None:
    """The other rules still apply."""
    file = edited(
        tmp_path,
        number(f"{ARM}/boom", "physics:mass", -1.0),
        lambda stage: stage.GetPrimAtPath(f"{ARM}/boom").GetAttribute("physics:mass").Set(float("nan")),
        number(OF_SHOULDER, "newton:kd", 0.0),
    )
    assert {finding.rule for finding in lint(file)} == {"undamped"}
    assert {finding.rule for finding in lint(file, 0.004)} == {"undamped", "not-simulated"}


def test_of_broken_robots_stability_is_not_asked(tmp_path) -> None:
    """The problem of a prim is reported once."""
    assert [one.rule for one in lint(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0)), 0.004)] == [
        "unusable-actuator"
    ]


def test_a_joint_of_an_unusable_actuator_is_told_once(tmp_path) -> None:
    """The reason is the unusable actuator, not a missing drive."""

    def bare(stage: Usd.Stage) -> None:
        stage.GetPrimAtPath(OF_SHOULDER).SetMetadata("apiSchemas", Sdf.TokenListOp())

    assert {finding.rule for finding in lint(edited(tmp_path, bare))} == {"unusable-actuator", "without-effect"}


def test_remarks_on_a_file_are_told_once(tmp_path) -> None:
    """A remark on the file appears once, for any number of robots."""
    inertia = '<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>'
    body = f'<body name="{{0}}">{inertia}<joint name="{{0}}" range="-90 90"/></body>'
    servo = '<intvelocity name="servo_{0}" joint="{0}" kp="5" actrange="-1 1"/>'
    bodies, servos = ("".join(map(text.format, "ab")) for text in (body, servo))
    file = tmp_path / "two.xml"
    file.write_text(f"<mujoco><worldbody>{bodies}</worldbody><actuator>{servos}</actuator></mujoco>")
    (finding,) = lint(file)
    assert finding.rule == "without-effect" and "'servo_a'" in finding.problem and "'servo_b'" in finding.problem


def test_a_prim_of_no_robot_is_told_once(tmp_path) -> None:
    """Other robots do not report it."""
    file = tmp_path / "two.usda"
    stage = Usd.Stage.CreateNew(str(file))
    for name in ("Left", "Right"):
        stage.DefinePrim(f"/World/{name}").GetReferences().AddReference(str(ROBOTS / "arm_2dof.usda"), ARM)
    door = stage.DefinePrim("/World/door", "PhysicsRevoluteJoint")
    door.GetRelationship("physics:body1").SetTargets([stage.DefinePrim("/World/leaf", "Xform").GetPath()])
    stage.DefinePrim("/World/Idle", "NewtonActuator").CreateRelationship("newton:targets").SetTargets([door.GetPath()])
    stage.GetRootLayer().Save()
    (finding,) = lint(file)
    assert (finding.rule, finding.where) == ("without-effect", "/World/Idle")


def test_messages_of_the_parser_are_split_message() -> None:
    """A message is split into path, problem and remedy."""
    assert split_message("</A/b>.newton:kp = -1 (layer c.usda): must be >= 0. Author a value.") == (
        "/A/b",
        "newton:kp = -1 (layer c.usda): must be >= 0.",
        "Author a value.",
    )
    assert split_message("no path here") == ("", "no path here", "")


def test_a_finding_reads_as_one_line() -> None:
    """For programs that print it."""
    assert lint(ROBOTS / "pendulum.usda") == []
    (finding,) = lint("setup.py") if Path("setup.py").exists() else lint(__file__)
    assert str(finding).startswith("error: <") and str(finding).endswith("[unreadable-file]")
