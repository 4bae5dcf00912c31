"""`actuators convert`: a robot of another format as USD, with its motors."""

import itertools
import json
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation, motors_of
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import ROBOTS

FILE = str(ROBOTS / "arm_2dof.xml")


def motors(folder: Path, joint: str) -> str:
    file = folder / "motors.json"
    file.write_text(json.dumps({joint: {"controller": {"law": "pd", "kp": 80.0, "kd": 4.0}, "armature": 0.01}}))
    return str(file)


def leg(folder: Path, *joints: str) -> Path:
    """A URDF file of a leg with a hip, and other joints below it."""
    body = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    parts = [f'<link name="base">{body}</link>']
    for above, joint in itertools.pairwise(("base", "hip", *joints)):
        turns = f'<parent link="{above}"/><child link="{joint}"/><axis xyz="0 1 0"/>'
        parts.append(f'<link name="{joint}">{body}</link><joint name="{joint}" type="continuous">{turns}</joint>')
    file = folder / "leg.urdf"
    file.write_text(f'<robot name="leg">{"".join(parts)}</robot>')
    return file


def test_a_file_becomes_usd_with_motors(tmp_path, capsys) -> None:
    target = tmp_path / "arm.usda"
    assert main(["convert", FILE, str(target), "--motors", motors(tmp_path, "shoulder"), "--json", "--lossy"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert [row["joint"] for row in answer["dofs"]] == ["shoulder", "extension"]
    # what is lost is said last
    assert answer["notes"][-1].startswith(f"{FILE}: USD has no place for lights: light_0; options: timestep")
    assert motors_of(target)["shoulder"].armature == pytest.approx(0.01)
    with Simulation(target) as simulation:
        assert simulation.articulation("/World/arm_2dof").num_dofs == 2


def test_what_is_lost_is_exit_code_1(tmp_path, capsys) -> None:
    target = tmp_path / "arm.usda"
    assert main(["convert", FILE, str(target)]) == 1
    assert "USD has no place for" in capsys.readouterr().out.splitlines()[-1] and target.exists()
    target.unlink()
    assert main(["convert", FILE, "-o", str(target), "--lossy"]) == 0 and target.exists()
    for paths in ([], [str(target), "-o", str(target)]):
        assert main(["convert", FILE, *paths]) == 1 and "files to write are named" in capsys.readouterr().err
    assert main(["convert", str(leg(tmp_path)), str(tmp_path / "leg.usda")]) == 0


def test_motors_that_do_not_fit_leave_no_file(tmp_path, capsys) -> None:
    target = tmp_path / "arm.usda"
    assert main(["convert", FILE, str(target), "--motors", motors(tmp_path, "elbow")]) == 1
    assert "elbow" in capsys.readouterr().err and not target.exists()


def test_a_stage_is_no_source(tmp_path, capsys) -> None:
    assert main(["convert", str(ROBOTS / "arm_2dof.usda"), str(tmp_path / "arm.usda")]) == 1
    assert "must be an MJCF or URDF file" in capsys.readouterr().err
    assert main(["convert", FILE, str(tmp_path / "arm.xml")]) == 1
    assert "must end with .usd, .usda, .usdc" in capsys.readouterr().err


def test_motors_of_a_robot_that_floats(tmp_path, capsys) -> None:
    target, fixed = tmp_path / "leg.usda", leg(tmp_path)
    fixed.write_text(
        fixed.read_text().replace(
            "</robot>",
            '<link name="world"/><joint name="float" type="floating"><parent link="world"/><child link="base"/></joint>'
            "</robot>",
        )
    )
    assert main(["convert", str(fixed), str(target), "--motors", motors(tmp_path, "hip"), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["dofs"] == [{"robot": "/World/leg", "dof": 0, "joint": "hip"}]
    with Simulation(target) as simulation:
        actuators = ArticulationActuators("/World/leg")
        simulation.play()
        assert simulation.articulation("/").paths == ["/World/leg/base"] and len(actuators.actuators) == 1


def test_joints_that_no_motor_moves_are_told(tmp_path, capsys) -> None:
    source, target = leg(tmp_path, "knee"), tmp_path / "leg.usda"
    assert main(["convert", str(source), str(target), "--motors", motors(tmp_path, "hip")]) == 0
    assert "</World/leg>: joints knee have no motor, and nothing else moves them." in capsys.readouterr().err


def test_a_robot_stands_from_the_shell(tmp_path, capsys) -> None:
    target = tmp_path / "leg.usda"
    standing = ["--floating-base", "--ground", "--initial-positions", "hi.=0.3"]
    assert main(["convert", str(leg(tmp_path)), str(target), *standing]) == 0
    with Simulation(target) as simulation:
        simulation.play()
        robot = simulation.articulation("/World/leg")
        assert robot.paths == ["/World/leg/base"] and robot.get_dof_positions().numpy().item() == pytest.approx(0.3)
        assert any(simulation.model.geom(at).type == 0 for at in range(simulation.model.ngeom)), "a plane"
    assert main(["convert", str(leg(tmp_path)), str(target), "--initial-positions", "hip"]) == 1
    assert "--initial-positions 'hip': must be PATTERN=VALUE" in capsys.readouterr().err
