"""Identified motors in files: the robot opens with them, and comments say what is known."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from isaacsim.core.experimental.actuators import (
    ArticulationActuators,
    ElectricalConfig,
    PDControlConfig,
    Simulation,
    SupplyConfig,
    add_motors,
    load_motors,
    motors_of,
)
from isaacsim.core.experimental.actuators.toolbox.identification.output import save_identified
from isaacsim.core.experimental.actuators.usd.supplies import ACTUATORS, supply_prims
from made_up_identified import made_up
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom


@pytest.mark.parametrize("ending", [".usda", ".usd"])
def test_layer_is_the_robot_with_the_motors(tmp_path: Path, ending: str) -> None:
    """The file's own limit is gone, units and default prim are there, and the file stays."""
    found, file = made_up(), tmp_path / f"identified{ending}"
    before = (ROBOTS / "pendulum.usda").read_bytes()
    save_identified(found, file)
    assert (ROBOTS / "pendulum.usda").read_bytes() == before
    assert motors_of(ROBOTS / "pendulum.usda")["hinge"].clamping
    assert motors_of(file) == found.motors
    stage = Usd.Stage.Open(str(file))
    assert stage.GetDefaultPrim().GetName() == "World" and UsdGeom.GetStageUpAxis(stage) == "Z"
    words = stage.GetRootLayer().documentation
    assert all(word in words for word in ("swing.csv", "coulomb", "0.01", "6 mrad or mm", "Warning: The logs"))
    edited = Usd.Stage.Open(str(ROBOTS / "pendulum.usda"))
    add_motors("/World/Pendulum", found.motors, stage=edited, overwrite_existing=True)
    assert _position(file) == _position(edited) != _position(ROBOTS / "pendulum.usda")


def _position(robot: Path | Usd.Stage) -> float:
    """Position of the pendulum a tenth of a second after a jump of its target."""
    with Simulation(robot) as simulation:
        wrapper = ArticulationActuators("/World/Pendulum")
        simulation.play()
        wrapper.articulation.set_dof_position_targets(0.5)
        simulation.step(round(0.1 / simulation.dt))
        return float(wrapper.articulation.get_dof_positions().numpy()[0, 0])


@pytest.mark.parametrize("name", ["shoulder", "old"])
def test_motors_of_any_name_and_shared_supplies_are_replaced(tmp_path: Path, name: str) -> None:
    """An actuator prim of another name than its joint is deactivated; a shared supply keeps its other actuator."""
    stage = Usd.Stage.Open(str(ROBOTS / "arm_2dof.usda"))
    robot = tmp_path / "arm.usda"
    battery = SupplyConfig(voltage=24.0)
    motors = {
        one: [PDControlConfig(5.0, 1.0), ElectricalConfig(0.1, 1.0), battery] for one in ("shoulder", "extension")
    }
    add_motors("/World/Arm", motors, stage=stage, overwrite_existing=True)
    scope = "/World/Arm/Actuators"
    if name == "old":
        Sdf.CopySpec(stage.GetRootLayer(), f"{scope}/shoulder", stage.GetRootLayer(), f"{scope}/old")
        stage.RemovePrim(f"{scope}/shoulder")
    (supply,) = supply_prims(stage.GetPseudoRoot())
    supply.GetRelationship(ACTUATORS).SetTargets([f"{scope}/{name}", f"{scope}/extension"])
    stage.Export(str(robot))
    found = dataclasses.replace(made_up(joint="shoulder"), robot=str(robot))
    file = tmp_path / "identified.usda"
    save_identified(found, file)
    read = motors_of(file)
    assert read["shoulder"] == found.motors["shoulder"]
    assert read["extension"] == motors_of(robot)["extension"]
    assert Usd.Stage.Open(str(file)).GetPrimAtPath(f"{scope}/{name}").IsActive() == (name == "shoulder")


@pytest.mark.parametrize("ending", [".yaml", ".toml", ".json"])
def test_motor_file_is_read_again(tmp_path: Path, ending: str) -> None:
    """Comments stand on top; JSON has none. No other file remains."""
    found, file = made_up(), tmp_path / f"identified{ending}"
    save_identified(found, file)
    assert load_motors(file) == found.motors
    comments = [line for line in file.read_text("utf-8").splitlines() if line.startswith("#")]
    assert bool(comments) == (ending != ".json")
    if comments:
        assert "# hinge  coulomb    0.25    0.01            N·m" in comments
        assert "# Logs: swing.csv (fitted), <held> : out.csv (held out)." in comments
    assert list(tmp_path.iterdir()) == [file]


def test_what_cannot_be_written_is_refused(tmp_path: Path) -> None:
    """Nothing is written: another ending, a robot that is no USD file, the robot itself, a joint it lacks."""
    found = made_up()
    for changed, name, match in (
        (found, "motors.txt", r"must end in \.usda, .*\.json\. Rename it"),
        (dataclasses.replace(found, robot="arm.xml"), "motors.usda", "it is not USD. Write a motor file"),
        (made_up(joint="elbow"), "motors.usda", "0 robots have the joints elbow: must be one"),
        (found, str(ROBOTS / "pendulum.usda"), "is made of it, and stays as it is"),
    ):
        with pytest.raises(ValueError, match=match):
            save_identified(changed, tmp_path / name)
    assert not list(tmp_path.iterdir())
