import json

import numpy as np
import pytest
from hidden_motors import PENDULUM, QUADRUPED, known_motor
from isaacsim.core.experimental.actuators import save_motors
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS
from refusals import cases

ARM = str(ROBOTS / "arm_2dof.usda")
SHORT = ["--seconds", "8", "--rate", "100", "--kinds", "steps"]


@pytest.mark.slow
def test_commands_a_picture_and_what_was_reduced(tmp_path, capsys) -> None:
    out, plot = tmp_path / "excitation.csv", tmp_path / "plot.png"
    assert main(["excite", ARM, "-o", str(out), "--plot", str(plot), *SHORT]) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert "steps, reduced for limits: shoulder amplitude" in printed and "8 s: steps from 2 s" in printed
    assert f"The commands are in {out}" in printed.replace(" /", " /")
    assert out.read_text().startswith("time,shoulder/command,extension/command\n0.000000,0.000000,0.000000\n")
    assert plot.stat().st_size > 1000


def test_json_with_motors_of_a_file(tmp_path, capsys) -> None:
    save_motors(tmp_path / "known.yaml", {".*": known_motor()})
    out = tmp_path / "excitation.npz"
    given = ["excite", PENDULUM, "--config", str(tmp_path / "known.yaml"), "-o", str(out), *SHORT]
    given += ["--amplitude", "0.2", "--speed", "1.5", "--seed", "3", "--initial-positions", "hinge=0.4"]
    assert main([*given, "--json"]) == 0
    (row,) = json.loads(capsys.readouterr().out)["joints"]
    assert row["joint"] == "hinge" and row["start"] == pytest.approx(0.4)
    assert row["effort_limit"] == 500.0 and row["speed_limit"] == 1.5 and 0.0 < row["speed"] < 1.5
    with np.load(out) as arrays:
        assert arrays["command"].shape == (800, 1)
        assert 0.2 - 1e-6 <= arrays["command"].min() < arrays["command"].max() <= 0.6 + 1e-6


def test_small_steps_show_what_gains_do(tmp_path, capsys) -> None:
    out = tmp_path / "steps.npz"
    assert main(["excite", ARM, "--tune", "-o", str(out), *SHORT[:4]]) == 0
    assert "8 s: steps from 2 s" in " ".join(capsys.readouterr().out.split())
    with np.load(out) as arrays:
        reach = np.ptp(arrays["command"][200:600], axis=0)
        assert np.all(reach > [0.01, 0.001]) and np.all(reach <= [0.1 + 1e-6, 0.01 + 1e-6])


def test_joints_by_pattern(tmp_path, capsys) -> None:
    assert main(["excite", ARM, "-o", str(tmp_path / "one.csv"), "--joints", "ext.*", "--json", *SHORT]) == 0
    (row,) = json.loads(capsys.readouterr().out)["joints"]
    assert row["joint"] == "extension"


@cases(
    "given, said",
    ([ARM, "-o", "commands.txt"], "must end in .csv, .npz"),
    ([ARM, "-o", "there/commands.csv"], "its folder must be there"),
    ([ARM, "--plot", "plot.docx"], "must end with"),
    ([ARM, "--share", "2"], "share = 2.0: must be at most 1"),
    ([ARM, "--initial-positions", "extension"], "must be PATTERN=VALUE"),
    ([ARM, "--joints", "elbow"], "joints = elbow: must match a joint with a motor"),
    ([QUADRUPED], "its base floats"),
)
def test_errors_are_a_line_and_write_nothing(given, said, tmp_path, monkeypatch, capsys) -> None:
    monkeypatch.chdir(tmp_path)
    assert main(["excite", *given]) == 1 and said in capsys.readouterr().err and not list(tmp_path.iterdir())


@cases(
    "given, said",
    (["--seconds", "1e9"], "seconds = 1e+09, rate = 200: must be at most 2000000 commands together."),
    (["--rate", "1e12"], "seconds = 40, rate = 1e+12: must be at most 2000000 commands together."),
    (["--joints", "((("], "joints = '(((': must be a regular expression, but missing )"),
)
def test_what_no_computer_can_do_is_one_line(given, said, capsys) -> None:
    assert main(["excite", PENDULUM, *given]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line.startswith(f"error: {said}")
