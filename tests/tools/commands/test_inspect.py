"""`actuators inspect` on the shipped robots and on broken ones."""

import json

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from pxr import Usd
from robot_files import ARM, OF_SHOULDER, SHOULDER, edited, number, schema, without


@pytest.mark.parametrize("file", sorted([*ROBOTS.glob("*.usda"), ROBOTS / "arm_2dof.xml"]), ids=lambda file: file.name)
def test_shipped_robots(file, capsys) -> None:
    assert main(["inspect", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["joints"] and said["actuators"] and said["notes"] == []
    assert {row["driver"] for row in said["joints"]} - {None} == {row["path"] for row in said["actuators"]}
    assert {row["source"] for row in said["values"]} <= {file.name, "default"}


def test_tables_are_readable(capsys, monkeypatch) -> None:
    """In a terminal of 100 columns, no word is broken."""
    monkeypatch.setenv("COLUMNS", "100")
    assert main(["inspect", str(ROBOTS / "so101.usda")]) == 0
    text = capsys.readouterr().out
    stage = ["/World/SO101", "so101.usda"]
    for words in (*stage, "shoulder_lift", "PD(kp=17.8, kd=0.6)", "velocity_limit=4.71", "N·m·s/rad"):
        assert words in text


def test_equal_motors_are_one_line_for_people(capsys, monkeypatch) -> None:
    # narrow terminals break lines
    monkeypatch.setenv("COLUMNS", "200")
    file = str(ROBOTS / "unitree_go1.usda")
    assert main(["inspect", file]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert sum("PD(kp=60, kd=1.5) → max effort 23.7" in line for line in lines) == 1
    assert sum("(FL|FR|RL|RR)_(thigh|hip)_joint" in line and "PD(kp=60" in line for line in lines) == 1
    assert sum("kp" in line.split() and "60 … 80" in line for line in lines) == 1
    assert main(["inspect", file, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["actuators"]
    assert len(rows) == 12 and all(row["joints"] == [row["actuator"]] for row in rows)


def test_a_drive_is_told_as_a_law(tmp_path, capsys) -> None:
    file = edited(tmp_path, without(OF_SHOULDER), number(SHOULDER, "drive:angular:physics:stiffness", 1.0))
    assert main(["inspect", str(file), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["actuators"]
    shown = [(row["actuator"], row["joints"], row["pipeline"]) for row in rows]
    assert ("USD drive", ["shoulder"], "PD(kp=57.2958, kd=0)") in shown


def test_tokens_of_motors_are_words(tmp_path, capsys) -> None:
    law = "{law: pd, kp: 0.8, kd: 0.05}, feedback: {side: motor}, transmission: {ratio: 10.0}"
    (config := tmp_path / "motors.yaml").write_text(f"shoulder: {{controller: {law}}}\n")
    assert main(["inspect", str(ROBOTS / "arm_2dof.usda"), "--config", str(config), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    stages = "encoder(side=motor) → PD(kp=0.8, kd=0.05) → transmission(ratio=10)"
    assert [row["pipeline"] for row in said["actuators"] if row["actuator"] == "shoulder"] == [stages]
    words = {row["parameter"]: row["value"] for row in said["values"] if row["law"] in ("encoder", "transmission")}
    assert (words["velocity"], words["side"], words["targets"]) == ("difference", "motor", "joint")


def test_motors_of_a_file_take_the_place_of_those_of_the_robot(tmp_path, capsys) -> None:
    (config := tmp_path / "motors.yaml").write_text("shoulder: {controller: {law: pd, kp: 80.0, kd: 5.0}}\n")
    assert main(["inspect", str(ROBOTS / "arm_2dof.usda"), "--config", str(config), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [row["pipeline"] for row in said["actuators"]] == ["PD(kp=80, kd=5)"]
    assert {row["value"] for row in said["values"] if row["source"] == "motors.yaml"} == {80.0, 5.0, 0.0}


def test_broken_prims_are_told_and_make_it_wrong(tmp_path, capsys) -> None:
    assert main(["inspect", str(edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0))), "--json"]) == 1
    said = json.loads(capsys.readouterr().out)
    assert "newton:kp = -1.0" in said["problems"][0]["problem"]
    assert [row["joint"] for row in said["joints"]] == ["shoulder", "extension"]


def test_files_without_robots_or_that_are_missing(tmp_path, capsys) -> None:
    Usd.Stage.CreateNew(str(tmp_path / "empty.usda")).Save()
    assert main(["inspect", str(tmp_path / "empty.usda")]) == 1 and "no robot found" in capsys.readouterr().out
    assert main(["inspect", str(tmp_path / "nothing.usda")]) == 1 and "no such file" in capsys.readouterr().err


@pytest.mark.parametrize(("variant", "words"), [("gripper", "must be SET=CHOICE"), ("hand=none", "no prim has it")])
def test_variants_that_are_none(variant, words, capsys) -> None:
    assert main(["inspect", str(ROBOTS / "arm_2dof.usda"), "--variant", variant]) == 1
    assert words in capsys.readouterr().err


def test_an_actuator_without_limit_is_noted(tmp_path, capsys) -> None:
    file = edited(tmp_path, lambda stage: stage.GetPrimAtPath(OF_SHOULDER).RemoveProperty("newton:maxEffort"))
    assert main(["inspect", str(file), "--json"]) == 0
    (note,) = json.loads(capsys.readouterr().out)["notes"]
    assert note.startswith(f"<{OF_SHOULDER}> has no effort limit, and that of its joint shoulder, 60 N·m")


@pytest.mark.parametrize("assumed", [0.0, 0.25])
def test_friction_is_compared_with_the_limit_of_its_motor(assumed, tmp_path, capsys) -> None:
    numbers = {"coulomb": 6.0, "static": 15.0, "assumedInertia": assumed}
    edits = [number(OF_SHOULDER, f"actuator:friction:{name}", value) for name, value in numbers.items()]
    assert main(["inspect", str(edited(tmp_path, schema(OF_SHOULDER, "ActuatorFrictionAPI"), *edits)), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    values = {row["parameter"]: row["value"] for row in said["values"] if row["law"] == "friction"}
    assert (values["coulomb"], values["static"]) == (6.0, 15.0)
    inertia = "it assumes 0.25 kg·m²" if assumed else "it cannot run"
    assert said["notes"] == [
        "Friction of shoulder breaks away at 15 N·m, 25% of the motor's limit of 60 N·m; where a simulator provides no "
        f"inertia, {inertia}."
    ]


def test_geared_motor_is_told_on_both_sides(tmp_path, capsys) -> None:
    motor = [aa.PDControlConfig(2.0, 0.1), aa.MaxEffortClampingConfig(3.0), aa.TransmissionConfig(-10.0)]

    def author(stage: Usd.Stage) -> None:
        aa.add_motors(ARM, {"shoulder": motor}, stage=stage, overwrite_existing=True)

    assert main(["inspect", str(edited(tmp_path, author)), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    (row,) = (row for row in said["actuators"] if row["joints"] == ["shoulder"])
    assert row["pipeline"] == "PD(kp=2, kd=0.1) → max effort 3 → transmission(ratio=-10)"
    gains = "At shoulder, behind a gear of ratio -10, kp = 200 and kd = 10 (2 and 0.1 of the motor)"
    assert said["notes"] == [f"{gains}, largest effort 30 N·m."]


@pytest.mark.parametrize(
    ("robot", "units"),
    [("arm_2dof", ["-2.5 rad", "0.4 m", "100 N", "0 kg·m²"]), ("pendulum", ["lower [rad]", "armature [kg·m²]"])],
)
def test_joints_have_units(robot, units, capsys) -> None:
    assert main(["inspect", str(ROBOTS / f"{robot}.usda")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(unit in said for unit in units)
