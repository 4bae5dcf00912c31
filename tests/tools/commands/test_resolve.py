"""`actuators resolve`: values in the file, in a configuration, and as applied."""

import json

import pytest
from isaacsim.core.experimental.actuators.compat.isaac_lab import ImplicitActuatorCfg, to_usd
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from robot_files import ARM, OF_SHOULDER, edited, number

FILE = str(ROBOTS / "arm_2dof.usda")


@pytest.fixture(autouse=True)
def _wide_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "140")


def test_of_a_file_alone(capsys) -> None:
    assert main(["resolve", FILE]) == 0
    text = capsys.readouterr().out
    assert "actuator of the file" in text and "config" not in text


def test_with_a_configuration(tmp_path, capsys) -> None:
    motors = tmp_path / "motors.json"
    motors.write_text(json.dumps({"shoulder": {"controller": {"law": "pd", "kp": 80.0, "kd": 4.0}, "armature": 0.01}}))
    assert main(["resolve", FILE, "--config", str(motors)]) == 0
    assert capsys.readouterr().out.count("  configuration") == 4
    assert main(["resolve", FILE, "--config", str(motors), "--json"]) == 0
    rows = {(row["joint"], row["property"]): row for row in json.loads(capsys.readouterr().out)["values"]}
    assert [rows["shoulder", "kp"][key] for key in ("file", "config", "applied")] == [200.0, 80.0, 80.0]
    assert rows["shoulder", "actuator_limit"]["applied"] == "inf"


def test_groups_of_a_stage(tmp_path, capsys) -> None:
    groups = {"arm": ImplicitActuatorCfg(joint_names_expr=[".*"], stiffness=50.0, damping=5.0)}
    file = str(edited(tmp_path, lambda stage: to_usd(groups, stage, ARM, overwrite_existing=True)))
    assert main(["resolve", file, "--groups", "--json"]) == 0
    assert {row["group"] for row in json.loads(capsys.readouterr().out)["values"]} == {"arm"}
    assert main(["resolve", FILE, "--groups"]) == 1 and "isaacLab:actuatorGroups" in capsys.readouterr().err
    assert main(["resolve", FILE, "--groups", "--config", "motors.json"]) == 1
    assert "must be one of them" in capsys.readouterr().err


def test_what_cannot_be_used_is_an_error(tmp_path, capsys) -> None:
    assert main(["resolve", str(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0)))]) == 1
    assert "newton:kp = -1.0" in capsys.readouterr().err
    motors = tmp_path / "motors.json"
    motors.write_text(json.dumps({"knee": {"controller": {"law": "pd", "kp": 80.0, "kd": 4.0}}}))
    assert main(["resolve", FILE, "--config", str(motors)]) == 1 and "knee" in capsys.readouterr().err
