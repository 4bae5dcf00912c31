"""`actuators run` of a file with robots: drivers, targets, and errors."""

import json
import os
import signal

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import SimulationDivergedError
from isaacsim.core.experimental.actuators.engine.step.fault import Fault
from isaacsim.core.experimental.actuators.tools.commands.main import main
from places import REPOSITORY
from refusals import cases
from small_stages import pendulum
from stages import stage_of

ROBOTS = REPOSITORY / "data" / "robots"
PENDULUM = str(ROBOTS / "pendulum.usda")


def ran(capsys: pytest.CaptureFixture[str], *arguments: str, code: int = 0):
    assert main(["run", *arguments, "--json"]) == code
    shown = capsys.readouterr()
    assert shown.err == ""
    return json.loads(shown.out)


# the motors of the hand in MJCF are at its tendons
@cases("file", *sorted(ROBOTS.glob("*.usda")), ROBOTS / "arm_2dof.xml", ids=lambda file: file.name)
def test_shipped_robots_hold_their_pose(file, capsys) -> None:
    said = ran(capsys, str(file), "--seconds", "0.5")
    assert said["joints"] and not said["is_wrong"] and all(row["largest_error"] < 0.2 for row in said["joints"])
    if file.suffix == ".xml":
        assert all(row["largest_effort"] is None for row in said["joints"])
        assert [note.split(":")[0] for note in said["notes"]] == ["No actuator found"]
        assert "the simulator's joint drives move shoulder, extension; their efforts are unknown." in said["notes"][0]
    else:
        assert any(row["largest_effort"] is not None for row in said["joints"])


def test_step_arrives_and_is_recorded(tmp_path, capsys) -> None:
    record, picture = tmp_path / "out.npz", tmp_path / "out.png"
    options = ["--targets", "step", "--amplitude", "0.4", "--record", str(record), "--plot", str(picture)]
    said = ran(capsys, PENDULUM, *options)
    (row,) = said["joints"]
    log = aa.Recording.load(record)
    assert len(log) == 720 and picture.read_bytes().startswith(b"\x89PNG")
    assert row["target"] == pytest.approx(0.4) == log.position_targets[-1, 0, 0] and abs(row["position"] - 0.4) < 0.1
    errors = log.position_targets - log.positions
    assert row["largest_error"] == pytest.approx(np.abs(errors).max(), abs=1e-6)
    assert row["rms_error"] == pytest.approx(np.sqrt(np.mean(errors**2)), rel=1e-5)
    assert row["largest_effort"] == pytest.approx(np.abs(log.applied_efforts).max())
    assert f"The recording is in {record}." in said["notes"] and f"The picture is in {picture}." in said["notes"]


def test_clamps_that_limit_are_named(tmp_path, capsys) -> None:
    record = tmp_path / "out.npz"
    options = ["--targets", "step", "--amplitude", "1.2", "--seconds", "1", "--record", str(record)]
    (row,) = ran(capsys, PENDULUM, *options)["joints"]
    (limited,) = aa.Recording.load(record).saturation()
    assert row["clamps"] == [limited.clamp] == ["ClampingMaxEffort"]
    assert row["limited"] == pytest.approx(100 * limited.share) and 1.0 < row["limited"] < 100.0
    assert row["largest_effort"] == pytest.approx(10.0)


def test_friction_has_columns_where_there_is_some(tmp_path, capsys) -> None:
    motors, record = tmp_path / "motors.yaml", tmp_path / "out.npz"
    motor = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig(30.0), aa.FrictionConfig(6.0)]
    aa.save_motors(motors, {".*": motor})
    arm = str(ROBOTS / "arm_2dof.usda")
    options = ["--targets", "step", "--seconds", "1", "--config", str(motors), "--record", str(record)]
    shoulder, extension = ran(capsys, arm, *options)["joints"]
    log = aa.Recording.load(record)
    assert shoulder["largest_effort"] == pytest.approx(np.abs(log.motor_efforts[:, 0, 0]).max()) == 30.0
    assert shoulder["largest_friction"] == pytest.approx(np.abs(log.passive_efforts[:, 0, 0]).max())
    assert shoulder["sticking"] == pytest.approx(100 * log.sticking[:, 0, 0].mean())
    assert 0.0 < shoulder["sticking"] < 100.0 and extension["sticking"] > 50.0
    assert main(["run", arm, *options]) == 0 and "friction" in capsys.readouterr().out
    assert main(["run", arm, "--steps", "5"]) == 0 and "friction" not in capsys.readouterr().out


def test_windings_and_heat_have_columns_where_there_are_some(tmp_path, capsys) -> None:
    motors, record, arm = tmp_path / "motors.yaml", tmp_path / "out.npz", str(ROBOTS / "arm_2dof.usda")
    winding = aa.ElectricalConfig(2.0, 1.0, voltage=24.0, max_current=15.0)
    pd = [aa.PDControlConfig(200.0, 20.0), aa.MaxEffortClampingConfig("joint")]
    aa.save_motors(motors, {"shoulder": [*pd, winding, aa.ThermalConfig(20.0, 1.0)], "extension": pd})
    options = ["--targets", "step", "--seconds", "1", "--config", str(motors), "--record", str(record)]
    shoulder, extension = ran(capsys, arm, *options)["joints"]
    log = aa.Recording.load(record)
    assert shoulder["largest_current"] == pytest.approx(np.abs(log.currents[:, 0, 0]).max()) == 15.0
    assert shoulder["at_voltage_limit"] == pytest.approx(100 * log.at_voltage_limit[:, 0, 0].mean())
    assert shoulder["hottest"] == pytest.approx(log.winding_temperatures[:, 0, 0].max()) and shoulder["hottest"] > 25.0
    assert extension["largest_current"] is None and extension["hottest"] is None
    assert main(["run", arm, "--steps", "5"]) == 0 and "current" not in capsys.readouterr().out


def test_file_of_targets_is_followed(tmp_path, capsys) -> None:
    file, record = tmp_path / "targets.csv", tmp_path / "out.csv"
    file.write_text("time [s],hinge\n0,0\n0.5,0.1\n1,-0.1\n")
    ran(capsys, PENDULUM, "--targets", str(file), "--record", str(record), "--dt", "0.01")
    log = aa.Recording.load(record)
    assert len(log) == 100
    expected = np.interp(np.arange(100) * 0.01, [0, 0.5, 1], [0, 0.1, -0.1])
    np.testing.assert_allclose(log.position_targets[:, 0, 0], expected, atol=1e-6)


def test_drives_of_a_file_are_recorded_too(tmp_path, capsys) -> None:
    record, picture = tmp_path / "out.npz", tmp_path / "out.png"
    file = str(ROBOTS / "arm_2dof.xml")
    ran(capsys, file, "--targets", "sine", "--seconds", "0.2", "--record", str(record), "--plot", str(picture))
    log = aa.Recording.load(record)
    assert set(log.signals) == {"positions", "velocities", "position_targets"}
    assert log.positions.shape == (100, 1, 2) and picture.stat().st_size > 10000
    assert np.ptp(log.position_targets[:, 0, 0]) > 0.05


def test_joints_that_nothing_moves_are_named(tmp_path, capsys) -> None:
    stage = stage_of(ROBOTS / "pendulum.usda")
    stage.RemovePrim("/World/Pendulum/actuators")
    for prim in stage.Traverse():
        prim.RemoveAppliedSchema("PhysicsDriveAPI:angular")
        if prim.GetTypeName() == "NewtonActuator":
            prim.SetActive(False)
    file = tmp_path / "bare.usda"
    stage.Export(str(file))
    said = ran(capsys, str(file), "--seconds", "0.1")
    assert said["notes"] == ["Nothing drives hinge: they have neither an actuator nor a drive with gains."]


def test_joint_beyond_its_limit_is_wrong(tmp_path, capsys) -> None:
    file = tmp_path / "far.csv"
    file.write_text("time,extension\n0,0\n0.1,40\n1,40\n")
    said = ran(capsys, str(ROBOTS / "arm_2dof.usda"), "--targets", str(file), code=1)
    shoulder, extension = said["joints"]
    assert said["is_wrong"] and shoulder["beyond"] == 0 < extension["beyond"]
    assert said["notes"] == [f"extension of </World/Arm> was {extension['beyond']:.3g} m beyond its limit."]


def test_vibrating_robot_is_reported(capsys) -> None:
    arm = str(ROBOTS / "arm_2dof.usda")
    assert main(["run", arm, "--targets", "step", "--dt", "0.02", "--seconds", "6"]) == 0
    shown = capsys.readouterr()
    assert shown.err.count("will vibrate") == 1
    assert "extension of </World/Arm> vibrates: 24.9 Hz, amplitude 0.009" in shown.out
    said = ran(capsys, arm, "--targets", "sine", "--frequency", "6", "--seconds", "8", "--amplitude", "0.05")
    assert said["notes"] == []


def test_joint_that_swings_freely_does_not_buzz(tmp_path, capsys) -> None:
    made = pendulum()
    made.state("/World/Robot/hinge", position=30.0)
    file = tmp_path / "pendulum.usda"
    made.stage.Export(str(file))
    said = ran(capsys, str(file), "--dt", "0.01", "--seconds", "60")
    assert said["joints"][0]["largest_error"] > 0.5
    assert said["notes"] == ["Nothing drives hinge: they have neither an actuator nor a drive with gains."]


def test_robot_that_diverges_is_wrong(monkeypatch, capsys) -> None:
    step = aa.Simulation.step

    def diverges(self: aa.Simulation, steps: int = 1) -> None:
        if self.step_count == 5:
            raise SimulationDivergedError("</World/Pendulum>: its state is not finite.", ["/World/Pendulum"])
        step(self, steps)

    monkeypatch.setattr(aa.Simulation, "step", diverges)
    said = ran(capsys, PENDULUM, code=1)
    assert said["is_wrong"] and said["notes"] == ["</World/Pendulum>: its state is not finite."]
    assert said["joints"][0]["joint"] == "hinge"


def test_fault_is_wrong(monkeypatch, capsys) -> None:
    fault = Fault("/World/Pendulum/actuators/hinge", "hinge", 0, 7, ("position target",), "/World/Pendulum")
    monkeypatch.setattr(aa.ArticulationActuators, "faults", property(lambda _: [fault]))
    said = ran(capsys, PENDULUM, "--steps", "9", code=1)
    what = "</World/Pendulum>: hinge: position target not finite in step 7: it got no effort then."
    assert said["notes"] == ["faults of joints: 1", what]


def test_robots_that_differ_are_named_one_by_one(tmp_path, capsys) -> None:
    stage = stage_of(ROBOTS / "pendulum.usda")
    stage.DefinePrim("/World/Other").GetReferences().AddReference(str(ROBOTS / "arm_2dof.usda"), "/World/Arm")
    file = tmp_path / "two.usda"
    stage.Export(str(file))
    assert main(["run", str(file), "--steps", "3"]) == 1 and "/World/Other" in capsys.readouterr().err
    said = ran(capsys, str(file), "--steps", "3", "--robot", "/World/Other")
    assert [row["joint"] for row in said["joints"]] == ["shoulder", "extension"]


@cases(
    "arguments, message",
    (["missing.usda"], "missing.usda"),
    (["pendulum.usda", "--targets", "dance"], "--targets dance: must be one of hold, sine, step, or a file .csv."),
    (["pendulum.usda", "--targets", "none.csv"], "none.csv"),
    (["pendulum.usda", "--targets", "sine", "--amplitude", "-1"], "amplitude = -1.0: must be"),
    (["pendulum.usda", "--targets", "sine", "--frequency", "nan"], "frequency = nan: must be"),
    (["pendulum.usda", "--seconds", "inf"], "--seconds inf: must be"),
    (["pendulum.usda", "--seconds", "1e300"], "seconds = 1e+300: must be at most 1e+09 steps of 0.00"),
    (["pendulum.usda", "--steps", str(10**30)], f"--steps {10**30}: must be from 0 to 1e+09."),
    (["pendulum.usda", "--watch", "/World/Graph.outputs:x"], "has no action graphs"),
    (["pendulum.usda", "--record", "out.txt"], "--record out.txt: must end with .npz, .csv, .parquet, .rrd, .mcap"),
    (["pendulum.usda", "--plot", "no/such/out.png"], "no/such/out.png: its folder must be there."),
    (["pendulum.usda", "--plot", "out.foo"], "out.foo: must end with .eps, "),
    (["pendulum.usda", "--plot", "out"], "out: must end with .eps, "),
    (["pendulum.usda", "--plot", str(ROBOTS)], "robots: must be a file, and is a folder."),
    (["pendulum.usda", "--record", str(ROBOTS)], "robots: must be a file, and is a folder."),
    (["../graphs/manual_stepping.usda", "--plot", str(ROBOTS)], "robots: must be a file, and is a folder."),
    (["../graphs/manual_stepping.usda", "--targets", "sine"], "has action graphs, which run instead"),
)
def test_what_cannot_be_run_is_an_error(arguments, message, capsys) -> None:
    assert main(["run", str(ROBOTS / arguments[0]), *arguments[1:]]) == 1
    shown = capsys.readouterr()
    assert message in shown.err and shown.out == ""


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no such device")
@cases("option", "--record", "--plot")
def test_full_disk_is_one_line(option, tmp_path, capsys) -> None:
    out = tmp_path / ("out.npz" if option == "--record" else "out.png")
    out.symlink_to("/dev/full")
    assert main(["run", PENDULUM, "--steps", "3", option, str(out)]) == 1
    (line,) = capsys.readouterr().err.splitlines()
    assert line == f"error: {out}: cannot be written: No space left on device. Make room, or choose another place."


def test_missing_reference_is_one_line(tmp_path, capfd) -> None:
    file = tmp_path / "scene.usda"
    file.write_text('#usda 1.0\ndef "World" (references = @./robot.usda@) {}\n')
    for command in ("run", "inspect", "lint"):
        assert main([command, str(file)]) == 1
        (line,) = capfd.readouterr().err.splitlines()
        assert line.startswith(f"error: {file}: </World>: Could not open asset @") and "robot.usda@" in line


class _View:
    shown = closed = 0
    paused = False
    is_running = True

    def sync(self) -> None:
        self.shown += 1

    def close(self) -> None:
        self.closed += 1


def test_live_view_is_shown_each_step(monkeypatch, capsys) -> None:
    view = _View()
    monkeypatch.setattr(aa.Simulation, "view", lambda _: view, raising=False)
    ran(capsys, PENDULUM, "--view", "--steps", "7")
    assert (view.shown, view.closed) == (7, 1)
    # restored at another position, it would change the order of the API page
    monkeypatch.setattr(aa.Simulation, "view", None)
    assert main(["run", PENDULUM, "--view"]) == 1 and "has no live view" in capsys.readouterr().err


def test_view_lasts_until_it_is_closed_or_interrupted(monkeypatch, capsys) -> None:
    class Interrupted(_View):
        def sync(self) -> None:
            super().sync()
            if self.shown == 5:
                self.paused = True
                signal.raise_signal(signal.SIGINT)

    class Closed(_View):
        def sync(self) -> None:
            super().sync()
            self.is_running = self.shown < 9

    handler = signal.getsignal(signal.SIGINT)
    for view, steps in ((Interrupted(), 5), (Closed(), 9)):
        monkeypatch.setattr(aa.Simulation, "view", lambda _, view=view: view)
        ran(capsys, PENDULUM, "--view")
        assert (view.shown, view.closed, view.paused) == (steps, 1, False)
    assert signal.getsignal(signal.SIGINT) is handler


@cases("file", "robots/pendulum.usda", "graphs/manual_stepping.usda")
def test_interrupted_run_has_results_up_to_there(file, tmp_path, monkeypatch, capsys) -> None:
    step, handler, robots = aa.Simulation.step, signal.getsignal(signal.SIGINT), file.startswith("robots")

    def interrupted(simulation: aa.Simulation, *arguments) -> None:
        step(simulation, *arguments)
        if simulation.step_count == 5:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(aa.Simulation, "step", interrupted)
    out = tmp_path / "log.npz"
    given = ["run", str(ROBOTS.parent / file), "--steps", "99", "--json", *(["--record", str(out)] if robots else [])]
    assert main(given) == 1
    said = json.loads(capsys.readouterr().out)
    assert said["notes"][0] == "Interrupted after 5 physics steps: the results are those up to there."
    if robots:
        assert len(aa.Recording.load(out)) == 5
    assert signal.getsignal(signal.SIGINT) is handler


def test_view_of_a_held_robot_moves_it(monkeypatch, capsys) -> None:
    class Moved(_View):
        def sync(self) -> None:
            super().sync()
            aa.Articulation("/World/Pendulum").set_dof_position_targets(0.25)

    monkeypatch.setattr(aa.Simulation, "view", lambda _: Moved())
    assert ran(capsys, PENDULUM, "--view", "--steps", "4")["joints"][0]["target"] == pytest.approx(0.25)


def test_config_stands_in_for_what_the_file_lacks(tmp_path, capsys) -> None:
    motors = tmp_path / "motors.yaml"
    motors.write_text(
        "'.*':\n  controller: {law: pd, kp: 80.0, kd: 4.0}\n  clamping: [{law: max_effort, max_effort: 20.0}]\n"
    )
    file = str(REPOSITORY / "data" / "robots" / "arm_2dof.xml")
    assert main(["run", file, "--config", str(motors), "--steps", "20", "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert all(row["largest_effort"] <= 20.0 for row in said["joints"])
    assert not any("No actuator" in note for note in said["notes"])


def test_missing_file_of_targets_is_named(capsys) -> None:
    assert main(["run", str(REPOSITORY / "data" / "robots" / "pendulum.usda"), "--targets", "no.csv"]) == 1
    assert "error: no.csv: no such file. Give the path of a .csv file, or one of hold, sine" in capsys.readouterr().err


@cases("named", "home", "0")
def test_a_robot_begins_in_a_keyframe(named, tmp_path, capsys) -> None:
    """By name or number; `hold` holds its pose, and single joints can be placed in addition."""
    file = tmp_path / "arm.xml"
    key = '<keyframe><key name="home" qpos="0.4 0.1"/></keyframe></mujoco>'
    file.write_text((ROBOTS / "arm_2dof.xml").read_text().replace("</mujoco>", key))
    said = ran(capsys, str(file), "--seconds", "0.01", "--keyframe", named, "--initial-positions", "shoul.*=0.5")
    assert [row["target"] for row in said["joints"]] == pytest.approx([0.5, 0.1])
