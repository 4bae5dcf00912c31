"""A quadruped that does squats, with its own actuators or with others."""

import shutil
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np

from . import DT

__all__ = ["ROBOT", "author", "drive"]

ROBOT, ANYMAL = Path(__file__).parents[2] / "data" / "robots" / "anymal_c.usda", "/World/Anymal"


# docs: begin author
def author(network: Path) -> Path:
    """Assign the network file to every joint of the quadruped, and return the robot file."""
    file = network.parent / "anymal_learned.usda"
    shutil.copy(ROBOT, file)
    with ea.Simulation(file) as sim:
        for name in ea.Articulation(ANYMAL).dof_names:
            ea.add_actuator(ANYMAL, name, name, ea.NeuralControlConfig(network.name), overwrite_existing=True)
        sim.stage.Save()
    return file
    # docs: end author


# docs: begin drive
def drive(file: Path, config: ea.ActuatorConfig | None = None) -> tuple[list[str], np.ndarray, np.ndarray]:
    """Return joint names, and positions [rad] and efforts [N·m] of squats, with the file's actuators or others."""
    positions, efforts = [], []
    with ea.Simulation(file, DT) as sim:
        robot = ea.Articulation(ANYMAL)
        if config is None:
            _actuators = ea.ArticulationActuators(ANYMAL)
        else:
            _actuators = ea.ArticulationActuators.from_actuators(ANYMAL, [(config, name) for name in robot.dof_names])
        sim.play()
        names, stance = robot.dof_names, robot.get_dof_positions().numpy()[0]
        # knees bend twice as far as hips, and the robot sways
        bend = np.sign(stance) * [{"HFE": 0.125, "KFE": 0.25}.get(name[3:], 0.0) for name in names]
        sway = np.array([0.15 * name.endswith("HAA") for name in names])
        for time in DT * np.arange(1200):
            motion = bend * (1 - np.cos(2 * np.pi * time)) + sway * np.sin(1.4 * np.pi * time)
            robot.set_dof_position_targets(stance + motion)
            sim.step()
            positions.append(robot.get_dof_positions().numpy()[0])
            efforts.append(robot.get_dof_efforts().numpy()[0])
    return names, np.array(positions), np.array(efforts)
    # docs: end drive
