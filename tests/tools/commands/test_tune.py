"""`actuators tune`: what people read, files, and the exit code."""

import json
import re

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from refusals import cases

ARM = str(ROBOTS / "arm_2dof.usda")
QUICK = ["--quick", "--poses", "3"]


@cases(
    "options, code, says",
    (["--bandwidth", "2"], 0, ["As asked, with gain margin ≥ 2", "Not simulated", "asked"]),
    (["--bandwidth", "50"], 1, ["Missed, see below: 0 of 2 joints as asked", "Cannot be had", "Bounded by"]),
    ([], 0, ["The best there is", "For more kp times", "PD sags under gravity"]),
    (["--explain"], 0, ["Gains that are there: 2 good of 2 joints."]),
    (["--rule", "inertia", "--frequency", "1"], 0, ["Gains by --rule inertia"]),
)
def test_verdict_comes_first_then_the_table_then_reasons(options, code, says, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    assert main(["tune", ARM, *QUICK, *options]) == code
    said = capsys.readouterr().out
    assert [one for one in says if one not in said] == []
    table, _, _ = said.partition("extension")
    assert max(map(len, table.splitlines())) <= 80


@cases("name", "motors.usda", "motors.yaml")
def test_motors_are_read_back(name, tmp_path, capsys) -> None:
    out = tmp_path / name
    assert main(["tune", ARM, *QUICK, "--settle", "0.5", "-o", str(out), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["joints"]
    motors = aa.motors_of(out) if name.endswith(".usda") else aa.load_motors(out)
    assert [motors[row["joint"]].controller.kp for row in rows] == pytest.approx([row["kp"] for row in rows])
    if name.endswith(".yaml"):
        assert max(map(len, re.findall(r"\d\.\d+", out.read_text("utf-8")))) < 12
    robot = [str(out)] if name.endswith(".usda") else [ARM, "--config", str(out)]
    assert main(["tune", *robot, *QUICK, "--explain"]) == 0


def test_motors_of_the_catalogue(tmp_path, capsys) -> None:
    out = tmp_path / "motors.yaml"
    given = ["--motor", "unitree_go1_hip", "--settle", "0.5", "-o", str(out)]
    assert main(["tune", str(ROBOTS / "pendulum.usda"), *QUICK, *given]) == 0
    (motor,) = aa.load_motors(out).values()
    figures = aa.motor_figures("unitree_go1_hip")
    assert (motor.clamping[0].max_effort, motor.armature) == (figures.max_torque, figures.armature)
    assert motor.controller.kp > 10.0 and "As asked" in capsys.readouterr().out


def test_plot_has_a_band_of_each_joint(tmp_path, capsys) -> None:
    assert main(["tune", ARM, "--poses", "3", "--plot", str(tmp_path / "tune.png")]) == 0
    assert (tmp_path / "tune.png").stat().st_size > 10_000 and "The plot is in" in capsys.readouterr().out


def test_a_plot_needs_a_simulation(tmp_path, capsys) -> None:
    assert main(["tune", ARM, *QUICK, "--plot", str(tmp_path / "tune.png")]) == 1
    assert "--plot, --quick: must not be given together" in capsys.readouterr().err
