"""Identified motors in files: the robot opens with them, and comments say what is known."""

import dataclasses
import shutil
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import pytest
from isaacsim.core.experimental.actuators.tools.identification import output
from made_up_identified import made_up
from places import ROBOTS
from pxr import Usd, UsdGeom


@pytest.mark.parametrize("ending", [".usda", ".usd"])
def test_layer_is_the_robot_with_the_motors(tmp_path, ending, capfd) -> None:
    found, file = made_up(), tmp_path / f"identified{ending}"
    before = (ROBOTS / "pendulum.usda").read_bytes()
    output.save_identified(found, file)
    assert (ROBOTS / "pendulum.usda").read_bytes() == before
    assert aa.motors_of(ROBOTS / "pendulum.usda")["hinge"].clamping and aa.motors_of(file) == found.motors
    assert capfd.readouterr().err == "", "USD has nothing to warn of"
    stage = Usd.Stage.Open(str(file))
    assert stage.GetDefaultPrim().GetName() == "World" and UsdGeom.GetStageUpAxis(stage) == "Z"
    words = stage.GetRootLayer().documentation
    assert all(word in words for word in ("swing.csv", "coulomb", "0.01", "6 mrad or mm", "Warning: The logs"))
    # an open layer is the same for all stages
    edited = Usd.Stage.Open(str(shutil.copy(ROBOTS / "pendulum.usda", tmp_path)))
    aa.add_motors("/World/Pendulum", found.motors, stage=edited, overwrite_existing=True)
    assert _position(file) == _position(edited) != _position(ROBOTS / "pendulum.usda")


@pytest.mark.parametrize(
    ("robot", "out"), [("a.usda", "motors.usda"), ("a.URDF", "motors.yaml"), ("a.xml", "motors.yaml")]
)
def test_the_default_fits_the_robot(robot, out) -> None:
    assert output.default_output(robot) == Path(out)
    output.require_output(robot, output.default_output(robot))


def _position(robot: Path | Usd.Stage) -> float:
    with aa.Simulation(robot) as simulation:
        wrapper = aa.ArticulationActuators("/World/Pendulum")
        simulation.play()
        wrapper.articulation.set_dof_position_targets(0.5)
        simulation.step(round(0.1 / simulation.dt))
        return float(wrapper.articulation.get_dof_positions().numpy()[0, 0])


@pytest.mark.parametrize("ending", [".yaml", ".toml", ".json"])
def test_motor_file_is_read_again(tmp_path, ending) -> None:
    found, file = made_up(), tmp_path / f"identified{ending}"
    output.save_identified(found, file)
    assert aa.load_motors(file) == found.motors
    comments = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
    assert bool(comments) == (ending != ".json")
    if comments:
        assert "# hinge  coulomb    0.25    0.01            0.2 … 0.3      N·m" in comments
        assert "# Logs: swing.csv (fitted), <held> : out.csv (held out)." in comments
        assert "# Columns: position, current." in comments
        assert "# hinge: no network: it is < 1." in comments
        assert "# temperature of hinge is not fitted: <it> is too hot." in comments
    assert list(tmp_path.iterdir()) == [file]


def test_a_network_in_the_folder_is_named_relative_to_the_layer(tmp_path) -> None:
    found = made_up()
    for folder, named in (
        (tmp_path / "networks", "./networks/hinge.safetensors"),
        (tmp_path.parent, str(tmp_path.parent)),
    ):
        law = aa.NeuralControlConfig(folder / "hinge.safetensors")
        motor = dataclasses.replace(found.motors["hinge"], controller=law)
        output.save_identified(dataclasses.replace(found, motors={"hinge": motor}), tmp_path / "motors.usda")
        assert f"asset newton:modelPath = @{named}" in (tmp_path / "motors.usda").read_text("utf-8")


def test_what_cannot_be_written_is_refused(tmp_path) -> None:
    found = made_up()
    for changed, name, match in (
        (found, "motors.txt", r"must end in \.usda, .*\.json\. Rename it"),
        (dataclasses.replace(found, robot="arm.xml"), "motors.usda", "it is not USD. Write a motor file"),
        (made_up(joint="elbow"), "motors.usda", "0 robots have the joints elbow: must be one"),
        (found, str(ROBOTS / "pendulum.usda"), "is made of it, and stays as it is"),
    ):
        with pytest.raises(ValueError, match=match):
            output.save_identified(changed, tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    ("turns", "milli", "unit"),
    [([True], "mrad", "N·m·s/rad"), ([False], "mm", "N·s/m"), (None, "mrad or mm", "N·m·s/rad or N·s/m")],
)
def test_units_are_those_of_the_joints(turns, milli, unit) -> None:
    found = made_up()
    replays = [dataclasses.replace(one, turns=turns) for one in found.replays]
    of_joint = dataclasses.replace(found.estimates[0], unit="N·m·s/rad or N·s/m")
    of_all = dataclasses.replace(of_joint, joint=".*")
    found = dataclasses.replace(found, replays=replays, estimates=[of_joint, of_all])
    assert output.units_of_errors(found).milli == milli
    assert [output.unit_at_joint(found, one) for one in found.estimates] == [unit, unit]
    lines = output.summary(found)
    assert f"6 {milli}; with" in lines[2] and lines[-2 - len(found.warnings)].endswith(unit)


@pytest.mark.parametrize("ending", [".usda", ".yaml"])
def test_robots_are_drawn_from_the_intervals(tmp_path, ending) -> None:
    motor, file = made_up().motors["hinge"], tmp_path / f"motors{ending}"
    earlier = dataclasses.replace(motor, intervals={"kd": (0.25, 0.75)})
    motor = dataclasses.replace(motor, intervals={"kp": (12.0, 20.0), "armature": (0.05, 0.075), "coulomb": (0.2, 0.3)})
    found = dataclasses.replace(made_up(), motors={"hinge": motor})
    output.save_identified(dataclasses.replace(found, motors={"hinge": earlier}), tmp_path / "earlier.usda")
    output.save_identified(dataclasses.replace(found, robot=str(tmp_path / "earlier.usda")), file)
    drawn = output.from_identified(file)
    assert drawn == output.from_identified(found)
    assert drawn == {name: {"hinge": aa.Uniform(*pair)} for name, pair in motor.intervals.items()}
    with aa.Simulation(ROBOTS / "pendulum.usda", num_envs=64) as simulation:
        robots = aa.ArticulationActuators.from_configs("/World/Pendulum", {"hinge": motor})
        simulation.play()
        robots.randomize(drawn, seed=1)
        for name, values in (
            ("kp", robots.actuators[0].controller.kp),
            ("armature", robots.articulation.get_dof_armatures()),
        ):
            low, high = motor.intervals[name]
            assert low <= values.numpy().min() < 0.9 * low + 0.1 * high < values.numpy().max() <= high


def test_values_without_intervals_are_refused() -> None:
    with pytest.raises(ValueError, match=r"no value has an interval: must have one to be drawn from\. Identify from 6"):
        output.from_identified(made_up())
