"""`actuators compare`: exit code 1 where motions differ, and the causes by name."""

import json
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import save_motors
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.commands.main import main
from physics_engines import ENGINES, installed
from refusals import cases
from seeded_faults import ARM, ARM_XML, MOTOR_FAULTS, exchanged_names, good_motors, joint_motors, lab_file, usd_file
from small_stages import pendulum

pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")
SHORT = ["--seconds", "1"]


@pytest.fixture
def configs(tmp_path: Path) -> list[str]:
    bad = good_motors()
    MOTOR_FAULTS["kp in degrees"][1](bad)
    save_motors(tmp_path / "a.json", good_motors())
    save_motors(tmp_path / "b.json", bad)
    return ["--config", str(tmp_path / "a.json"), "--config-b", str(tmp_path / "b.json")]


@pytest.mark.slow
def test_a_gain_in_degrees(configs, tmp_path, capsys) -> None:
    picture = tmp_path / "plot.png"
    assert main(["compare", ARM, *configs, *SHORT, "--plot", str(picture)]) == 1
    text = capsys.readouterr().out
    for words in ("gains", "extension", "PD.kp", "800", "4.584e+04", "180/π: degrees in place of radians?"):
        assert words in text
    assert "first: arm_2dof.usda, a.json, 0.004167 s; second: arm_2dof.usda, b.json, 0.004167 s" in text
    assert "The motions part at" in text and "With these causes equal the motions agree." in text
    assert picture.stat().st_size > 1000


def test_json_has_numbers(configs, capsys) -> None:
    assert main(["compare", ARM, *configs, *SHORT, "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    (cause,) = said["causes"]
    assert (cause["cause"], cause["joints"]) == ("gains", "extension")
    assert cause["share"] == pytest.approx(100.0) and cause["after"] < 1e-3 < cause["before"]
    (row,) = said["values"]
    assert (row.pop("first"), row.pop("second")) == (800.0, pytest.approx(800 * 57.3))
    assert row == {"cause": "gains", "joints": ["extension"], "property": "PD.kp"}


def test_what_agrees(configs, capsys) -> None:
    assert main(["compare", ARM, ARM, *SHORT]) == 0
    assert "The motions agree: 1 s, largest difference 0 mrad" in capsys.readouterr().out
    assert main(["compare", ARM, *configs, *SHORT, "--tolerance", "3"]) == 0
    assert "without effect on this motion or explained by the above: gains" in capsys.readouterr().out


@pytest.mark.slow
def test_two_files_of_different_formats(capsys) -> None:
    assert main(["compare", ARM, str(ARM_XML), *SHORT]) == 1
    text = capsys.readouterr().out
    for words in ("effort mode", "physics step", "Drives of shoulder, extension", "Links that only one side has"):
        assert words in text


def test_joints_in_another_order(tmp_path, capsys) -> None:
    other = str(exchanged_names(tmp_path))
    assert main(["compare", str(ARM_XML), other, *SHORT]) == 1
    text = capsys.readouterr().out
    assert "joint order" in text
    assert "The joints have another order: shoulder, extension, and extension, shoulder." in text
    assert main(["compare", str(ARM_XML), other, *SHORT, "--by-index"]) == 0


def test_two_simulators(capsys) -> None:
    installed("physx")
    assert main(["compare", ARM, "--engines", "mujoco,physx", *SHORT]) == 1
    text = capsys.readouterr().out
    assert "engine (integrator, solver)" in text and "1/4 of the physics step on both sides" in text


@pytest.mark.slow
def test_a_robot_of_isaac_lab(tmp_path, capsys) -> None:
    """Against motors in USD, as exported, and with one fault; the words name whose model it is."""
    robot = str(usd_file(tmp_path, joint_motors()))
    assert main(["compare", robot, "--lab", str(lab_file(tmp_path, joint_motors())), *SHORT]) == 0
    text = capsys.readouterr().out
    assert "The motions agree: 1 s, largest difference 0 mrad" in text
    assert "this package's implementation of its models; Isaac Lab does not run." in text
    motors = joint_motors()
    MOTOR_FAULTS["kp in degrees"][1](motors)
    wrong = lab_file(tmp_path, motors)
    wrong.write_text(wrong.read_text().replace("ACTUATORS = ", "ONE = {}\nOTHER = "))
    assert main(["compare", robot, "--lab", f"{wrong}:OTHER", *SHORT]) == 1
    text = capsys.readouterr().out
    assert "first: arm.usda, 0.004167 s; second: arm.usda, Isaac Lab's lab.py:OTHER, 0.004167 s" in text
    assert "gains: PD.kp of extension is 800 and 4.584e+04: a factor of 57.3, 180/π: degrees in place of rad" in text
    assert "With these causes equal the motions agree." in text


@cases("engine", *ENGINES)
def test_an_implicit_robot_of_isaac_lab(engine, tmp_path, capsys) -> None:
    made = pendulum()
    made.drive("/World/Robot/hinge", stiffness=1.0, damping=0.1, maxForce=4.0)
    robot, lab = tmp_path / "robot.usda", tmp_path / "lab.py"
    made.stage.Export(str(robot))
    given = ["compare", str(robot), "--lab", str(lab), *SHORT, "--engines", installed(engine)]
    text = (
        "import math\nK = 180 / math.pi\nARM = ArticulationCfg(actuators={'arm': ImplicitActuatorCfg("
        "joint_names_expr=['.*'], stiffness=K, damping=0.1 * K, effort_limit_sim=4.0)})"
    )
    lab.write_text(text)
    assert main(given) == 0
    lab.write_text(text.replace("stiffness=K", "stiffness=1.0"))
    assert main(given) == 1 and "a factor of 57.3, 180/π: degrees in place of radians?" in capsys.readouterr().out


@cases(
    "given, why",
    ([ARM, "--lab", "missing.py"], "missing.py"),
    ([ARM, "--lab", "missing.py", "--config-b", "b.json"], "must not be given with --config-b"),
    ([ARM], "must be compared with something"),
    ([ARM, ARM, "--engines", "mujoco,mujoco,mujoco"], "must be one name or two"),
    ([ARM, ARM, "--engines", "bullet"], "must be one of mujoco, physx, mujoco_warp, newton"),
    ([ARM, ARM, "--tolerance", "0"], "must be a finite number > 0"),
    ([ARM, ARM, "--seconds", "-1"], "must be a finite number > 0"),
    ([ARM, ARM, "--plot", "plot.exe"], "must end with"),
    ([ARM, "missing.usda"], "no such file"),
)
def test_wrong_arguments_are_told(given, why, capsys) -> None:
    assert main(["compare", *given]) == 1 and why in capsys.readouterr().err
