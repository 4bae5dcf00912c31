"""`actuators run` of a file with action graphs: summary, exit code, picture."""

import logging
from importlib.util import find_spec
from pathlib import Path

import pytest
from graph_stages import GRAPH, TICK, graph, node, pulse, stage_with
from isaacsim.core.experimental.actuators.files.networks import trust
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import REPOSITORY
from pxr import Sdf, Usd
from refusals import cases
from torch_stand_in import run_by_torch, unknown_file
from warm_python import warm_python

__all__ = ["run_by_torch"]
MANUAL = str(REPOSITORY / "data" / "graphs" / "manual_stepping.usda")
PD = str(REPOSITORY / "data" / "graphs" / "pd_from_usd.usda")
MOTORS = f"{GRAPH}/ArticulationActuators"


@pytest.fixture(autouse=True)
def _wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "200")


def broken(folder: Path, text: str = "", robot: str = "pendulum") -> str:
    nodes = node("T", TICK) + node("C", "isaacsim.core.nodes.IsaacArticulationController", pulse("T.outputs:tick"))
    path = folder / "broken.usda"
    stage_with(text or graph(nodes), robot=robot).Export(str(path))
    return str(path)


def test_summary_shows_graphs_and_joints(capsys) -> None:
    assert main(["run", PD, "--steps", "720"]) == 0
    text = capsys.readouterr().out
    assert "720 physics steps of 0.004167 s, a frame every 4 (60 Hz)" in text
    (line,) = [line for line in text.splitlines() if f" {GRAPH} " in line]
    assert line.split()[1:5] == ["180", "180", "720", "0"]
    (line,) = [line for line in text.splitlines() if "panda_joint1" in line]
    assert line.split()[:5] == ["/World/Panda", "panda_joint1", "0.6", "0.6", "0"]


def test_frame_rate_and_step_are_taken(capsys) -> None:
    assert main(["run", MANUAL, "--steps", "10", "--dt", "0.01", "--frame-rate", "20"]) == 0
    text = capsys.readouterr().out
    assert "10 physics steps of 0.01 s, a frame every 5 (20 Hz)" in text
    (line,) = [line for line in text.splitlines() if f" {GRAPH} " in line]
    assert line.split()[1:3] == ["10", "10"]


def test_picture_is_drawn(tmp_path, capsys) -> None:
    picture = tmp_path / "out.png"
    watched = [f"{MOTORS}.outputs:appliedEfforts", f"{GRAPH}/OnPhysicsStep.outputs:deltaSimulationTime"]
    options = [option for port in watched for option in ("--watch", port)]
    assert main(["run", MANUAL, "--steps", "5", "--plot", str(picture), *options]) == 0
    assert picture.read_bytes().startswith(b"\x89PNG") and str(picture) in capsys.readouterr().out.replace("\n", "")


@cases(
    "port, message",
    (f"{MOTORS}.outputs:efforts", "the node has no such port."),
    (f"{GRAPH}/Motors.outputs:faults", "no node of a graph. "),
    (f"{GRAPH}/RobotPath.inputs:value", "holds '/World/Pendulum': must hold numbers to be watched."),
)
def test_port_that_cannot_be_watched_is_an_error(port, message, capsys) -> None:
    assert main(["run", MANUAL, "--watch", port]) == 1
    captured = capsys.readouterr()
    assert f"<{port}>" in captured.err and message in captured.err and captured.out == ""


@pytest.mark.parametrize(
    ("file", "message"),
    [("missing.usda", "missing.usda: no such file."), (str(REPOSITORY / "data" / "robots" / "README.md"), "README.md")],
)
def test_file_that_cannot_be_run_is_an_error(file, message, capsys) -> None:
    assert main(["run", file]) == 1 and message in capsys.readouterr().err


def test_engine_can_be_physx(capsys) -> None:
    code = main(["run", MANUAL, "--engine", "physx", "--steps", "12"])
    captured = capsys.readouterr()
    if find_spec("ovphysx") is None:
        assert code == 1 and "[physx]'`." in captured.err
    else:
        assert code == 0 and "12 physics steps" in captured.out


@pytest.mark.parametrize(("option", "value"), [("--steps", "-1"), ("--dt", "0"), ("--frame-rate", "nan")])
def test_option_out_of_range_is_an_error(option, value, capsys) -> None:
    assert main(["run", MANUAL, option, value]) == 1
    captured = capsys.readouterr()
    assert ": must be" in captured.err and captured.out == ""


def test_all_problems_of_a_file_are_told(tmp_path, capsys) -> None:
    assert main(["run", broken(tmp_path, graph(node("A", "no.such.Type") + node("B", "nor.This.One")))]) == 1
    assert capsys.readouterr().err.count("must be a node type known outside Kit") == 2


def test_failed_node_is_an_error_at_the_end(tmp_path, capsys, caplog) -> None:
    with caplog.at_level(logging.ERROR):
        assert main(["run", broken(tmp_path), "--steps", "8"]) == 1
    text = capsys.readouterr().out
    assert text.count(f"error: <{GRAPH}/C>: compute raised: ValueError: robotPath is empty") == 1
    assert text.index("hinge") < text.index("error: ") and caplog.records == []


def test_simulation_that_stops_is_an_error_after_the_summary(tmp_path, capsys, monkeypatch) -> None:
    from isaacsim.core.experimental.actuators import ArticulationActuators

    monkeypatch.setattr(ArticulationActuators, "step_actuators", lambda *_: {}["gone"])
    assert main(["run", PD, "--steps", "8"]) == 1
    text = capsys.readouterr().out
    assert "0 physics steps" in text and "error: KeyError: 'gone'" in text


def test_module_is_the_command() -> None:
    done = warm_python().run(["-m", "isaacsim.core.experimental.actuators", "run", MANUAL, "--steps", "4"])
    assert done.returncode == 0, done.stderr
    assert "4 physics steps" in done.stdout


@pytest.fixture
def unrecognised(tmp_path: Path) -> str:
    path = tmp_path / "robot" / "world.usda"
    path.parent.mkdir()
    Usd.Stage.Open(MANUAL).Flatten().Export(str(path))
    stage = Usd.Stage.Open(str(path))
    (actuator,) = [prim for prim in stage.Traverse() if prim.GetTypeName() == "NewtonActuator"]
    actuator.SetMetadata("apiSchemas", Sdf.TokenListOp.CreateExplicit(["NewtonNeuralControlAPI"]))
    for name in actuator.GetPropertyNames():
        if name != "newton:targets":
            actuator.RemoveProperty(name)
    actuator.CreateAttribute("newton:modelPath", Sdf.ValueTypeNames.Asset).Set("./hinge.pt")
    stage.Save()
    unknown_file(path.parent / "hinge.pt")
    return str(path)


def test_network_that_is_not_recognised_needs_trust(unrecognised, run_by_torch, capsys) -> None:
    folder = str(Path(unrecognised).parent)
    for options in ([], ["--trust", str(REPOSITORY / "data")], [], ["--trust", unrecognised]):
        assert main(["run", unrecognised, "--steps", "4", *options]) == 1
        text = capsys.readouterr().out
        assert "operation ldexp" in text and trust.CONVERT in text and run_by_torch == []
    for option in (folder, str(Path(folder) / "hinge.pt")):
        assert main(["run", unrecognised, "--steps", "4", "--trust", folder + "/world.usda", "--trust", option]) == 0
        assert "error" not in capsys.readouterr().out.split("joint")[0]
    assert run_by_torch and trust.roots() == []


def test_trust_in_what_is_not_there_is_an_error(capsys) -> None:
    assert main(["run", MANUAL, "--trust", "/no/such/folder"]) == 1
    captured = capsys.readouterr()
    assert "'/no/such/folder'" in captured.err and "must be there" in captured.err and captured.out == ""
