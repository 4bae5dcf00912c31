"""`actuators export`: files for other systems, and what they do not say."""

import json

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS

ARM = str(ROBOTS / "arm_2dof.usda")


def test_a_file_is_written_and_losses_are_notes(tmp_path, capsys) -> None:
    out = tmp_path / "motors.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(row["joint"], row["kp"]) for row in said["joints"]] == [("shoulder", 200.0), ("extension", 2000.0)]
    losses = [note for note in said["notes"] if note.startswith("Not said of any robot")]
    assert losses and all(f"<!-- {note} -->" in out.read_text("utf-8") for note in losses)


@pytest.mark.parametrize(
    ("robot", "units"),
    [("arm_2dof", ["2000 N/m", "20 N·m·s/rad", "60 N·m"]), ("anymal_c", ["kp 900 N·m/rad", "largest effort 80 N·m"])],
)
def test_table_has_units_and_the_largest_effort(robot, units, tmp_path, capsys) -> None:
    """In the headings, or behind each number where some joints turn and others slide; also that of a DC motor."""
    words = ["--to", "urdf", "-o", str(tmp_path / "motors.xml"), "--lossy"]
    assert main(["export", str(ROBOTS / f"{robot}.usda"), *words]) == 0
    said = " ".join(capsys.readouterr().out.split())
    assert all(unit in said for unit in units) and "position_limits" not in said


def test_motor_of_a_tendon_is_at_its_shaft(tmp_path, capsys) -> None:
    out, hand = tmp_path / "motors.yaml", str(ROBOTS / "shadow_hand.xml")
    assert main(["export", hand, "--to", "yaml", "-o", str(out), "--json"]) == 0
    shown = capsys.readouterr()
    rows = {row["joint"]: row for row in json.loads(shown.out)["joints"]}
    assert rows["FFJ3"]["other"][:2] == ["armature", "friction"]
    assert (rows["FFJ2"]["kp"], rows["FFJ2"]["other"][-1]) == (None, "at the shaft: kp 1, limit 0.7245")
    motors, text = aa.load_motors(out), out.read_text("utf-8")
    assert not motors["FFJ1"].others and motors["FFJ2"].others[0].joints == ["FFJ2", "FFJ1"]
    assert "[]" not in text and "0.0010000000474974513" not in text
    main(["run", hand, "--config", str(out), "--targets", "step", "--seconds", "0.01"])
    # the warning that names these commands is not theirs
    assert shown.err == capsys.readouterr().err == ""


IDENTIFIED = """{".*": {"controller": {"law": "pd", "kp": 5.0, "kd": 1.0}, "friction": 0.0, "viscous_friction": 0.0,
"delay": {"law": "timed_delay", "seconds": 0.0103},
"passive": [{"law": "friction", "coulomb": 0.12, "viscous": 0.25%s}]}}"""
WRITTEN = {
    "mjcf": ['frictionloss="0.12"', 'damping="0.25"'],
    "urdf": ['friction="0.12"', 'damping="0.25"'],
    "lab": ["dynamic_friction=0.12", " friction=0.12", "viscous_friction=0.25", "max_delay=6"],
    "mjlab": ["frictionloss=0.12", "viscous_damping=0.25", "delay_max_lag=6"],
}


@pytest.mark.parametrize("target", WRITTEN)
def test_identified_friction_and_delay_are_in_the_file(target, tmp_path, capsys) -> None:
    motors, out = tmp_path / "motors.json", tmp_path / "out"
    arguments = ["export", ARM, "--to", target, "-o", str(out), "--config", str(motors), "--dt", "0.002"]
    motors.write_text(IDENTIFIED % ', "motor_load": 0.1')
    assert main(arguments) == 1 and main([*arguments, "--lossy"]) == 0
    *_, said = capsys.readouterr().out.split("The motors are in")
    curve, *_ = [line for line in said.splitlines() if line.startswith("Lost: ")]
    named = "Stribeck, load and curve parts of law passive friction of 2 joints (motor_load 0.1): shoulder, extension."
    assert curve == f"Lost: {named}" and said.splitlines()[-1].startswith("Lost: ")
    assert all(word in out.read_text("utf-8") for word in WRITTEN[target])
    is_late = "a command delay of 0.0103 s is 6 · 0.002 s = 0.012 s, of shoulder, extension" in said
    assert is_late is ("lab" in target)
    motors.write_text(IDENTIFIED % "")
    assert main(arguments) == int("lab" not in target)


def test_strict_is_exit_code_one(tmp_path, capsys) -> None:
    motors = tmp_path / "motors.json"
    motors.write_text('{".*": {"controller": {"law": "pd", "kp": 5.0, "kd": 1.0}, "delay": {"delay_steps": 2}}}')
    out = tmp_path / "motors.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--config", str(motors), "--strict"]) == 1
    assert "Lost: command delay of 2 joints (2 physics steps): shoulder, extension." in capsys.readouterr().err
    assert not out.exists()


def test_a_whole_file_is_written(tmp_path, capsys) -> None:
    out = tmp_path / "arm.xml"
    assert main(["export", ARM, "--to", "mjcf", "-o", str(out), "--into", str(ROBOTS / "arm_2dof.xml")]) == 0
    assert "fragment" not in capsys.readouterr().out
    assert '<general name="shoulder_servo" joint="shoulder"' in out.read_text() and "<worldbody>" in out.read_text()
