"""`actuators plot`: plots of shipped robots, their numbers, and errors."""

import json
import re
import shlex
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import REPOSITORY
from refusals import cases

PAGE = (REPOSITORY / "docs" / "tutorials" / "see_it_move.md").read_text()
ROBOTS = REPOSITORY / "data" / "robots"


def drawn(capsys: pytest.CaptureFixture[str], folder: Path, *arguments: str):
    picture = folder / "out.png"
    assert main(["plot", *arguments, "-o", str(picture), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert picture.read_bytes().startswith(b"\x89PNG") and str(picture) in said["notes"][0]
    return said


def test_envelope_of_a_servo(tmp_path, capsys) -> None:
    (row,) = drawn(capsys, tmp_path, "envelope", str(ROBOTS / "so101.usda"), "gripper")["envelope"]
    assert row["stall_effort"] == pytest.approx(2.94) and row["no_load_speed"] == pytest.approx(4.71, abs=1e-3)
    assert (row["corner_speed"], row["clamps"]) == (0.0, ["ClampingDCMotor"])


def test_envelope_says_the_delay(tmp_path, capsys) -> None:
    file = str(ROBOTS / "franka_panda.usda")
    (row,) = drawn(capsys, tmp_path, "envelope", file, "panda_joint7", "--dt", "0.002")["envelope"]
    assert row["delay"] == pytest.approx(0.004) and row["no_load_speed"] is None


@pytest.mark.slow
def test_step_of_a_knee(tmp_path, capsys) -> None:
    said = drawn(capsys, tmp_path, "step", str(ROBOTS / "anymal_c.usda"), "LF_KFE", "--seconds", "1")
    actuator, ideal = said["step"]
    assert actuator["largest_effort"] == pytest.approx(80.0) and ideal["largest_effort"] > 150
    assert actuator["rise_time"] > ideal["rise_time"]


def test_robot_that_vibrates_is_said_once(tmp_path, capsys) -> None:
    picture = str(tmp_path / "out.png")
    file = str(ROBOTS / "arm_2dof.usda")
    assert main(["plot", "step", file, "shoulder", "--dt", "0.02", "--seconds", "0.2", "-o", picture]) == 0
    assert capsys.readouterr().err.count("will vibrate") == 1


@pytest.mark.slow
def test_bode_of_a_pendulum(tmp_path, capsys) -> None:
    (row,) = drawn(capsys, tmp_path, "bode", str(ROBOTS / "pendulum.usda"), "hinge")["bode"]
    assert row["gain_margin"] == pytest.approx(2 * 0.26 / (2 / 240 + 20 / 240**2 / 2), rel=1e-3)
    assert row["phase_crossover"] == pytest.approx(120.0) and 0 < row["phase_margin"] < 90
    assert main(["plot", "bode", str(ROBOTS / "anymal_c.usda"), "LF_KFE", "--dt", "0.02"]) == 1


@cases(
    "arguments, message",
    (["envelope", "missing.usda", "hinge"], "missing.usda"),
    (["envelope", "pendulum.usda", "knee"], "joint = 'knee': must be driven by an actuator, one of ['hinge']"),
    (["step", "pendulum.usda", "knee"], "joint = 'knee'"),
    (["bode", "pendulum.usda", "knee"], "joint = 'knee'"),
    (["step", "arm_2dof.xml", "shoulder"], "has no actuators"),
    (["step", "pendulum.usda", "hinge", "--seconds", "0"], "--seconds 0.0: must be"),
    (["step", "pendulum.usda", "hinge", "--amplitude", "nan"], "amplitude = "),
)
def test_what_cannot_be_drawn_is_an_error(arguments, message, tmp_path, capsys) -> None:
    what, file, joint, *rest = arguments
    picture = tmp_path / "out.png"
    assert main(["plot", what, str(ROBOTS / file), joint, "--out", str(picture), *rest]) == 1
    shown = capsys.readouterr()
    assert message in shown.err and shown.out == "" and not picture.exists()


@cases("command", *re.findall(r"^\./actuators (.*)$", PAGE, re.MULTILINE))
@pytest.mark.slow
def test_command_of_the_page_runs(command, tmp_path, monkeypatch, capsys) -> None:
    (tmp_path / "data").symlink_to(REPOSITORY / "data")
    monkeypatch.chdir(tmp_path)
    assert main(shlex.split(command)) == 0 and capsys.readouterr().err == ""


def test_step_of_a_joint_with_friction(tmp_path, capsys) -> None:
    motors = tmp_path / "motors.yaml"
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(30.0), aa.FrictionConfig(6.0)]
    aa.save_motors(motors, {".*": motor})
    arm = str(REPOSITORY / "data" / "robots" / "arm_2dof.usda")
    options = ["--config", str(motors), "--seconds", "0.5", "-o", str(tmp_path / "step.png"), "--json"]
    assert main(["plot", "step", arm, "shoulder", *options]) == 0
    actual, ideal = json.loads(capsys.readouterr().out)["step"]
    assert actual["largest_effort"] == 30.0 and 5.9 < actual["largest_friction"] < 6.1
    assert ideal["largest_friction"] is None
