import json
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from hidden_motors import PENDULUM, hidden_log, hidden_motor, known_motor
from isaacsim.core.experimental.actuators.base.native import core
from isaacsim.core.experimental.actuators.tools.commands.main import main
from isaacsim.core.experimental.actuators.tools.identification.parameters import value_of
from ros_bags import BagWriter

pytest.importorskip("scipy")
pytestmark = pytest.mark.skipif(core is None, reason="the native core is not built")


def written_log(path: Path, *, degrees: bool = False) -> Path:
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"])
    rows = np.c_[log.time, log.command[:, 0], (180 / np.pi if degrees else 1.0) * log.position[:, 0]]
    np.savetxt(path, rows, delimiter=",", header="time,hinge/command,hinge/position", comments="")
    return path


@pytest.fixture
def known(tmp_path: Path) -> Path:
    aa.save_motors(tmp_path / "known.yaml", {".*": known_motor()})
    return tmp_path / "known.yaml"


@pytest.mark.slow
def test_from_csv_to_usd_and_a_report(tmp_path, known, capsys) -> None:
    log, out = written_log(tmp_path / "log.csv"), tmp_path / "motors.usda"
    made = ["--report", str(tmp_path / "report.html"), "--plot", str(tmp_path / "plot.png")]
    chosen = ["--model", "viscous friction", "Coulomb friction"]
    assert main(["identify", PENDULUM, str(log), "--config", str(known), "-o", str(out), *made, *chosen]) == 0
    printed = capsys.readouterr().out
    assert printed.lstrip().startswith("Explained: ") and "Model: Coulomb friction." in printed
    assert "coulomb" in printed
    assert "<svg" in (tmp_path / "report.html").read_text() or "data:image" in (tmp_path / "report.html").read_text()
    assert (tmp_path / "plot.png").stat().st_size > 1000
    assert value_of(aa.motors_of(str(out))["hinge"], "coulomb") == pytest.approx(0.4, rel=0.05)
    with aa.Simulation(out) as simulation:
        assert list(simulation.articulation("/").dof_names) == ["hinge"]


@pytest.mark.slow
def test_columns_are_fitted_or_named(tmp_path, capsys) -> None:
    true, known = hidden_motor(), known_motor()
    true.others, known.others = [*true.others, aa.ElectricalConfig(0.8, 2.0)], [aa.ElectricalConfig(0.5, 2.0)]
    log = hidden_log(PENDULUM, {"hinge": true}, ["hinge"], columns=["current", "velocity"])
    names = [*log.signals, "temperature"]
    rows = np.c_[log.time, *(one[:, 0] for one in log.signals.values()), np.full(len(log.time), 25.0)]
    header = ",".join(["time", *(f"hinge/{name}" for name in names)])
    np.savetxt(tmp_path / "log.csv", rows, delimiter=",", header=header, comments="")
    aa.save_motors(tmp_path / "known.yaml", {".*": known})
    out, report = tmp_path / "motors.yaml", tmp_path / "report.html"
    given = ["identify", PENDULUM, str(tmp_path / "log.csv"), "--config", str(tmp_path / "known.yaml"), "-o", str(out)]
    chosen = ["--fit", "torque_constant", "--model", "Coulomb friction", "--report", str(report), "--json"]
    assert main([*given, *chosen]) == 0
    answer = json.loads(capsys.readouterr().out)
    uses = {row["name"]: row["use"] for row in answer["columns"]}
    assert uses == {"current": "fitted", "velocity": "not fitted", "temperature": "not fitted"}
    assert "velocity of hinge is not fitted: it follows from positions." in answer["notes"]
    assert "temperature of hinge is not fitted: no motor of a fit simulates it." in answer["notes"]
    assert value_of(aa.load_motors(out)["hinge"], "torque_constant") == pytest.approx(0.8, rel=0.03)
    assert "# Columns: position, current." in out.read_text("utf-8")
    assert "<td>current</td><td>A</td>" in report.read_text("utf-8")


@pytest.mark.slow
def test_json_and_a_motor_file(tmp_path, known, capsys) -> None:
    log, out = written_log(tmp_path / "log.csv"), tmp_path / "motors.yaml"
    given = ["identify", PENDULUM, str(log), "--config", str(known), "--out", str(out), "--model", "viscous friction"]
    # which does not explain dry friction
    assert main([*given, "--json"]) == 1
    assert {row["name"] for row in json.loads(capsys.readouterr().out)["parameters"]} >= {"viscous", "delay"}
    assert value_of(aa.load_motors(out)["hinge"], "viscous") > 0


@pytest.mark.slow
def test_from_a_bag_and_a_dataset(tmp_path, known, capsys) -> None:
    pytest.importorskip("rosbags.rosbag2", exc_type=ImportError)
    arrow = pytest.importorskip("pyarrow", exc_type=ImportError)
    parquet = pytest.importorskip("pyarrow.parquet", exc_type=ImportError)
    log = hidden_log(PENDULUM, {"hinge": hidden_motor()}, ["hinge"])
    with BagWriter(tmp_path / "bag") as bag:
        for time, command, position in zip(log.time, log.command[:, 0], log.position[:, 0], strict=True):
            bag.array("/commands", time, [command])
            bag.state("/joint_states", time, ["hinge"], [position])
    dataset = tmp_path / "dataset"
    (dataset / "meta").mkdir(parents=True)
    (dataset / "data").mkdir()
    features = {name: {"names": ["hinge.pos"]} for name in ("action", "observation.state")}
    (dataset / "meta" / "info.json").write_text(json.dumps({"fps": 1 / log.dt, "features": features}))
    table = {
        "action": np.degrees(log.command).tolist(),
        "observation.state": np.degrees(log.position).tolist(),
        "timestamp": log.time,
        "episode_index": np.zeros(len(log.time), int),
    }
    parquet.write_table(arrow.table(table), dataset / "data" / "file-000.parquet")
    given = ["identify", PENDULUM, str(tmp_path / "bag"), str(dataset), "--config", str(known)]
    told = ["--topics", "command=/commands:hinge", "--units", "degrees", "-o", str(tmp_path / "motors.yaml")]
    assert main([*given, *told, "--model", "Coulomb friction", "--json"]) == 0
    rows = {row["name"]: row["value"] for row in json.loads(capsys.readouterr().out)["parameters"]}
    assert rows["coulomb"] == pytest.approx(0.4, rel=0.05)
    assert main([*given, "--units", "degrees", "-o", str(tmp_path / "motors.yaml")]) == 1
    assert "Give --topics command=/commands:JOINT,JOINT" in capsys.readouterr().err


@pytest.mark.slow
def test_a_network_on_top(tmp_path, known, capsys) -> None:
    pytest.importorskip("torch")
    log, out = written_log(tmp_path / "log.csv"), tmp_path / "motors.usda"
    given = ["identify", PENDULUM, str(log), "--config", str(known), "-o", str(out), "--model", "Coulomb friction"]
    assert main([*given, "--residual", "--json"]) == 0
    answer = json.loads(capsys.readouterr().out)
    assert any("with a network" in note and note.endswith("it does not pay.") for note in answer["notes"])
    assert [row["name"] for row in answer["models"]] == ["Coulomb friction"]
    assert not list((tmp_path / "motors_networks").iterdir())


def test_a_broken_log_is_refused_before_a_fit(tmp_path, known, capsys) -> None:
    log, out = written_log(tmp_path / "log.csv", degrees=True), tmp_path / "motors.usda"
    assert main(["identify", PENDULUM, str(log), "--config", str(known), "-o", str(out)]) == 1
    error = capsys.readouterr().err
    assert "degrees" in error and "--force" not in error and not out.exists()


def test_a_recording_of_several_robots_needs_the_number_of_one(tmp_path, known, capsys) -> None:
    with aa.Simulation(PENDULUM, num_envs=2) as simulation:
        actuators = aa.ArticulationActuators.from_configs("/", {".*": known_motor()})
        simulation.play()
        simulation.articulation("/").set_dof_position_targets(np.array([[0.0], [0.3]]))
        with actuators.record() as recording:
            simulation.step(400)
    recording.save(tmp_path / "log.npz")
    given = ["identify", PENDULUM, str(tmp_path / "log.npz"), "--config", str(known), "-o", str(tmp_path / "out.yaml")]
    assert main(given) == 1 and "--robot-index 0" in capsys.readouterr().err
    # what rests is refused, so that it was read
    assert main([*given, "--robot-index", "0"]) == 1 and "hinge" in (error := capsys.readouterr().err)
    assert "--robot-index" not in error and main([*given, "--robot-index", "2"]) == 1
    assert "robot = 2: must be" in capsys.readouterr().err


def test_outputs_are_checked_first(tmp_path, capsys) -> None:
    assert main(["identify", PENDULUM, "no.csv", "-o", str(tmp_path / "motors.txt")]) == 1
    assert "must end in" in capsys.readouterr().err
    assert main(["identify", PENDULUM, "no.csv", "-o", str(tmp_path / "there" / "motors.usda")]) == 1
    assert "its folder must be there" in capsys.readouterr().err


@pytest.mark.slow
def test_ranges_priors_and_further_parameters(tmp_path, known, capsys) -> None:
    log, out = written_log(tmp_path / "log.csv"), tmp_path / "motors.yaml"
    given = ["identify", PENDULUM, str(log), "--config", str(known), "-o", str(out), "--model", "Coulomb friction"]
    chosen = ["--fit", "hinge/max_effort", "--bounds", "coulomb=0:0.2", "--prior", "armature=0.05:1e-7"]
    # with a wrong prior and a wrong range
    assert main([*given, *chosen, "--json"]) == 1
    answer = json.loads(capsys.readouterr().out)
    assert answer["notes"][0] == "Not explained: hinge."
    values = {row["name"]: row["value"] for row in answer["parameters"]}
    assert "max_effort" in values and values["coulomb"] == pytest.approx(0.2, rel=1e-4)
    assert values["armature"] == pytest.approx(0.05, rel=1e-3)
    assert any("coulomb = 0.2 N" in note and "end of its range" in note for note in answer["notes"])


@pytest.mark.parametrize("given", ["armature", "armature=1", "armature=a:b", "armature=1:2:3"])
def test_pairs_are_checked(given, tmp_path, capsys) -> None:
    assert main(["identify", PENDULUM, "no.csv", "-o", str(tmp_path / "motors.yaml"), "--bounds", given]) == 1
    assert f"--bounds {given}: must be a name and two numbers" in capsys.readouterr().err


@pytest.mark.slow
def test_a_motor_of_the_catalogue_is_known_before(tmp_path, known, capsys) -> None:
    log, out = written_log(tmp_path / "log.csv"), tmp_path / "motors.yaml"
    given = ["identify", PENDULUM, str(log), "--config", str(known), "-o", str(out), "--model", "viscous friction"]
    assert main([*given, "--motor", "hinge/feetech_sts3215", "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["parameters"] and main([*given, "--motor", "feetech"]) == 1
    assert "feetech" in capsys.readouterr().err
