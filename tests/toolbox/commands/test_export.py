"""`actuators export`: files for other systems, and what they do not say."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators.toolbox.commands.main import main
from places import ROBOTS

ARM = str(ROBOTS / "arm_2dof.usda")


def test_a_file_is_written_and_losses_are_notes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The table has the joints in DOF order."""
    out = tmp_path / "motors.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["joint"], row["kp"]) for row in said["joints"]] == [("shoulder", 200.0), ("extension", 2000.0)]
    losses = [note for note in said["notes"] if note.startswith("Not said")]
    assert losses
    assert all(f"<!-- {note} -->" in out.read_text("utf-8") for note in losses)


@pytest.mark.parametrize(
    ("robot", "units"),
    [
        ("arm_2dof", ["2000 N/m", "20 N·m·s/rad", "60 N·m"]),
        ("anymal_c", ["kp [N·m/rad]", "largest effort [N·m]", " 80 "]),
    ],
)
def test_table_has_units_and_the_largest_effort(
    robot: str, units: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """In the headings, or behind each number where some joints turn and others slide; also that of a DC motor."""
    assert main(["export", str(ROBOTS / f"{robot}.usda"), "--to", "urdf", "-o", str(tmp_path / "motors.xml")]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(unit in said for unit in units)


def test_strict_is_exit_code_one(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """And no file."""
    motors = tmp_path / "motors.json"
    motors.write_text('{".*": {"controller": {"law": "pd", "kp": 5.0, "kd": 1.0}, "delay": {"delay_steps": 2}}}')
    out = tmp_path / "motors.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--config", str(motors), "--strict"]) == 1
    assert "command delay (delay_steps = 2), of shoulder, extension" in capsys.readouterr().err
    assert not out.exists()


def test_a_whole_file_is_written(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """With the motors of one file and the rest of another."""
    out = tmp_path / "arm.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--into", str(ROBOTS / "arm_2dof.xml")]) == 0
    assert "fragment" not in capsys.readouterr().out
    assert '<general name="shoulder_servo" joint="shoulder"' in out.read_text() and "<worldbody>" in out.read_text()
