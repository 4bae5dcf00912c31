"""`actuators lint`: exit codes, several files, a step, and overlays."""

import json
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import (
    FrictionConfig,
    GearedPDControlConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    add_motors,
)
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from robot_files import ARM, OF_SHOULDER, SHOULDER, edited, motor, number

LOW = number(SHOULDER, "drive:angular:physics:maxForce", 40.0)
BARE = number(OF_SHOULDER, "newton:kd", 0.0)


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple:
    return main(["lint", *map(str, arguments), "--json"]), json.loads(capsys.readouterr().out)


def test_shipped_robots_are_in_order(capsys) -> None:
    files = sorted(map(str, [*ROBOTS.glob("*.usda"), ROBOTS / "arm_2dof.xml"]))
    assert main(["lint", *files]) == 0
    assert capsys.readouterr().out == f"errors: 0, warnings: 0, files: {len(files)}\n"


def test_findings_make_it_wrong(tmp_path, capsys) -> None:
    good, bad = ROBOTS / "pendulum.usda", edited(tmp_path, LOW)
    code, found = said(capsys, good, bad)
    assert code == 1 and found["notes"] == ["errors: 0, warnings: 1, files: 2"]
    (row,) = found["findings"]
    assert (row["file"], row["rule"], row["severity"]) == (str(bad), "limit-above-joint", "warning")
    assert row["where"] == OF_SHOULDER and row["problem"] and row["remedy"].startswith("Lower it to 40")


def test_a_step_asks_for_stability(tmp_path, capsys) -> None:
    file = edited(tmp_path, number(OF_SHOULDER, "newton:kd", 500.0))
    assert said(capsys, file)[0] == 0
    code, found = said(capsys, file, "--dt", "0.005")
    assert code == 1 and [row["rule"] for row in found["findings"]] == ["unstable-gains"]
    assert main(["lint", str(file), "--dt", "-1"]) == 1 and "dt = -1.0" in capsys.readouterr().err


def test_corrections_are_written_and_told(tmp_path, capsys) -> None:
    overlay = tmp_path / "fixed.usda"
    code, found = said(capsys, edited(tmp_path, LOW, name="low.usda"), "--fix", overlay)
    assert (code, [row["rule"] for row in found["fixed"]], found["left"]) == (0, ["limit-above-joint"], [])
    assert overlay.exists() and said(capsys, overlay)[0] == 0
    code, found = said(capsys, edited(tmp_path, LOW, BARE, name="both.usda"), "--fix", overlay)
    assert (code, [row["rule"] for row in found["left"]]) == (1, ["undamped"])
    code, found = said(capsys, edited(tmp_path, BARE, name="bare.usda"), "--fix", tmp_path / "none.usda")
    assert code == 1 and "is not written" in found["notes"][0] and not (tmp_path / "none.usda").exists()


def test_motors_of_a_file_take_the_place_of_those_of_the_robot(tmp_path, capsys) -> None:
    (config := tmp_path / "motors.yaml").write_text(
        "shoulder:\n  controller: {law: pd, kp: 80.0, kd: 500.0}\n"
        "  clamping: [{law: max_effort, max_effort: 70.0}]\n"
        "extension: {armature: 0.1}\n"
    )
    # what is wrong with a prim is nothing that acts
    broken = edited(tmp_path, number(OF_SHOULDER, "newton:kp", -1.0))
    for file in (broken, ROBOTS / "arm_2dof.xml"):
        code, found = said(capsys, file, "--config", config, "--dt", "0.005")
        rules = {(row["rule"], row["where"]) for row in found["findings"]}
        assert code == 1 and ("limit-above-joint", "shoulder") in rules
        names = {rule for rule, _ in rules}
        assert "unstable-gains" in names and "unusable-actuator" not in names
    for option in (["--untrusted"], ["--fix", tmp_path / "fixed.usda"]):
        assert main(["lint", str(broken), "--config", str(config), *map(str, option)]) == 1
        assert "--config: must not be beside" in capsys.readouterr().err


def test_armature_of_a_geared_motor_of_a_file_is_left_to_it(tmp_path, capsys) -> None:
    """It acts here; no other program reads the file of the motor."""
    geared = (
        "shoulder:\n  controller: {law: pd, kp: 0.08, kd: 0.008}\n  clamping: [{law: max_effort, max_effort: 1.2}]\n"
    )
    (config := tmp_path / "motors.yaml").write_text(f"{geared}  transmission: {{ratio: 50.0, rotor_inertia: 2.0e-5}}\n")
    assert said(capsys, ROBOTS / "arm_2dof.xml", "--config", config)[1]["findings"] == []


def test_wrong_arguments(tmp_path, capsys) -> None:
    assert main(["lint"]) == 1 and "no file to look at" in capsys.readouterr().err
    arm = str(ROBOTS / "arm_2dof.usda")
    assert main(["lint", arm, arm, "--fix", str(tmp_path / "fixed.usda")]) == 1
    assert "corrects one file" in capsys.readouterr().err


def test_a_note_makes_nothing_wrong(tmp_path, capsys) -> None:
    file = edited(tmp_path, motor("shoulder", GearedPDControlConfig(8.0, 0.8, 5.0), MaxEffortClampingConfig(60.0)))
    code, found = said(capsys, file)
    assert (code, [row["severity"] for row in found["findings"]]) == (0, ["note"])
    assert found["notes"] == ["errors: 0, warnings: 0, notes: 1, files: 1"]
    assert (
        main(["lint", str(file)]) == 0
        and " note      </World/Arm/Actuators/shoulder>: at shoulder" in capsys.readouterr().out
    )
    stages = [PDControlConfig(200.0, 20.0), MaxEffortClampingConfig(50.0), FrictionConfig(0.5)]
    rubbing = edited(tmp_path, lambda stage: add_motors(ARM, {".*": stages}, stage=stage, overwrite_existing=True))
    code, found = said(capsys, rubbing)
    assert (code, [row["rule"] for row in found["findings"]]) == (0, ["friction-fallback"] * 2)
    # people see the first and names
    assert main(["lint", str(rubbing)]) == 0
    assert "The same rule notes extension, see --json." in " ".join(capsys.readouterr().out.split())
