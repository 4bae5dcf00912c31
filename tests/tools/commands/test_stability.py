"""`actuators stability`: the table of a robot, and errors."""

import json

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.host import MujocoArticulation
from isaacsim.core.experimental.actuators.tools.commands.main import main
from physics_engines import ENGINES, installed
from places import REPOSITORY
from refusals import cases

ROBOTS = REPOSITORY / "data" / "robots"


def test_says_what_the_library_says(capsys) -> None:
    file = str(ROBOTS / "arm_2dof.usda")
    assert main(["stability", file, "--dt", "0.005", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    with aa.Simulation(file, 0.005) as simulation:
        simulation.play()
        found = aa.ArticulationActuators("/World/Arm").stability()
    assert [row["smallest_armature"] for row in said["joints"]] == [joint.smallest_armature for joint in found.joints]
    assert [row["joint"] for row in said["joints"]] == ["shoulder", "extension"]
    (robot,) = said["robots"]
    assert (robot["margin"], robot["verdict"]) == (found.robots[0].margin, "stable")
    assert robot["largest_step"] == found.robots[0].largest_step


@pytest.mark.parametrize(
    ("robot", "units"),
    [("pendulum", ["kp [N·m/rad]", "armature [kg·m²]"]), ("arm_2dof", ["20 N·m·s/rad", "2000 N/m", "1 kg"])],
)
def test_numbers_have_the_units_of_their_joint(robot, units, capsys) -> None:
    assert main(["stability", str(ROBOTS / f"{robot}.usda")]) == 0
    said = capsys.readouterr().out
    assert all(unit in said for unit in units) and " or " not in said.split("margin:")[0]


def test_robot_that_vibrates_is_wrong_and_said_once(capsys) -> None:
    assert main(["stability", str(ROBOTS / "anymal_c.usda"), "--dt", "0.02"]) == 1
    shown = capsys.readouterr()
    assert "vibrating" in shown.out and shown.err == "" and "would be stable with all gains times 0." in shown.out


def test_each_simulator_has_its_own_limits(capsys) -> None:
    margins = []
    for engine in ENGINES:
        main(["stability", str(ROBOTS / "arm_2dof.usda"), "--engine", installed(engine), "--json"])
        margins.append(json.loads(capsys.readouterr().out)["robots"][0]["margin"])
    assert margins[0] < margins[1]


def test_friction_that_chatters_is_wrong_and_said_once(tmp_path, capsys, monkeypatch) -> None:
    monkeypatch.delattr(MujocoArticulation, "joint_signals")
    for inertia, code in ((0.1, 0), (3.0, 1)):
        friction = aa.FrictionConfig(coulomb=1.0, assumed_inertia=inertia)
        motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(60.0), friction]
        aa.save_motors(file := tmp_path / "motors.yaml", {".*": motor})
        assert main(["stability", str(ROBOTS / "arm_2dof.usda"), "--config", str(file), "--json"]) == code
        shown = capsys.readouterr()
        said = json.loads(shown.out)
        assert shown.err == "" and said["robots"][0]["verdict"] == "stable"
        found = [note for note in said["notes"] if "chatter" in note]
        assert [note.split()[:4] for note in found] == [
            ["</World/Arm>", "may", "chatter:", joint] for joint in ("shoulder", "extension")
        ][: 2 * code]


def test_latency_has_a_column_and_the_damping_that_it_needs(tmp_path, capsys) -> None:
    arm, found = str(ROBOTS / "arm_2dof.usda"), []
    for latency in (0.0, 0.008):
        motor = [aa.PDControlConfig(200.0, 0.5), aa.MaxEffortClampingConfig(60.0), aa.EncoderConfig(latency=latency)]
        aa.save_motors(file := tmp_path / "motors.yaml", {".*": motor})
        main(["stability", arm, "--config", str(file), "--dt", "0.002"])
        found.append(capsys.readouterr().out)
    assert "latency [s]" not in found[0] and "latency [s]" in found[1]
    words = "The effort of shoulder acts 0.008 s late: its kp = 200 needs more than kd = 1.6, and it has 0.5."
    assert words in " ".join(found[1].split())


def test_effort_mode_is_a_remedy_and_has_a_column(tmp_path, capsys) -> None:
    arm, said, codes = str(ROBOTS / "arm_2dof.usda"), [], []
    for more in ([], [aa.ImplicitConfig()], [aa.ImplicitConfig(), aa.EncoderConfig(latency=0.012)]):
        motor = [aa.PDControlConfig(8000.0, 400.0), aa.MaxEffortClampingConfig(60.0), *more]
        aa.save_motors(file := tmp_path / "motors.yaml", {".*": motor})
        codes.append(main(["stability", arm, "--config", str(file), "--dt", "0.005"]))
        said.append(" ".join(capsys.readouterr().out.split()))
    assert codes == [1, 0, 1]
    remedy = '</World/Arm> would be stable with effort_mode="implicit"'
    assert [remedy in one for one in said] == [True, False, False]
    assert ["effort mode" in one for one in said] == [False, True, False]
    assert "Explicit: shoulder, extension. Their actuators are implicit, but their controllers get" in said[2]


@pytest.mark.parametrize("linked", [["shoulder", "extension"], ["extension"]])
def test_joint_without_gains_makes_the_verdict_unknown(linked, tmp_path, capsys) -> None:
    motors: dict[str, list] = {name: [aa.PDControlConfig(200.0, 20.0)] for name in ("shoulder", "extension")}
    for name in linked:
        motors[name].append(aa.LinkageConfig([name], [2.0]))
    aa.save_motors(file := tmp_path / "motors.yaml", motors)
    assert main(["stability", str(ROBOTS / "arm_2dof.usda"), "--config", str(file), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert said["robots"][0]["verdict"] == "unknown" and (said["robots"][0]["margin"] is None) == (len(linked) == 2)
    assert f"Left out: linkage of {', '.join(linked)}: its motor moves several joints together." in said["notes"]


@pytest.mark.parametrize("file", sorted(ROBOTS.glob("*.usda")), ids=lambda file: file.stem)
@pytest.mark.slow
def test_shipped_robots_are_stable(file, capsys) -> None:
    assert main(["stability", str(file)]) == 0
    shown = capsys.readouterr()
    assert "largest step" in shown.out and shown.err == ""


@cases(
    "arguments, message",
    (["arm_2dof.xml"], "</arm> has no actuators: must have some for this."),
    (["missing.usda"], "missing.usda"),
    (["pendulum.usda", "--robot", "/World/Leg"], "/World/Leg"),
    (["pendulum.usda", "--dt", "0"], "dt = 0.0: must be"),
)
def test_what_has_no_answer_is_an_error(arguments, message, capsys) -> None:
    assert main(["stability", str(ROBOTS / arguments[0]), *arguments[1:]]) == 1
    shown = capsys.readouterr()
    assert message in shown.err and shown.out == ""
