"""Identify a motor from a dataset of LeRobot: python from_lerobot.py, with lerobot 0.6 and the extra `identify`.

A simulation with a motor that the robot's file does not know stands for the real robot.
"""

import tempfile
from pathlib import Path

import isaacsim.core.experimental.actuators as ea
import numpy as np
from isaacsim.core.experimental.actuators.tools.identification import identify, read_logs
from lerobot.datasets.lerobot_dataset import LeRobotDataset

ROBOT, FPS = Path(__file__).parents[2] / "data" / "robots" / "pendulum.usda", 50
REAL = ea.MotorConfig(ea.PDControlConfig(20.0, 2.0), others=[ea.FrictionConfig(coulomb=0.3)])

# docs: begin record
numbers = {"dtype": "float32", "shape": (1,), "names": ["hinge.pos"]}
folder = Path(tempfile.mkdtemp()) / "servo"
dataset = LeRobotDataset.create(
    "me/servo", FPS, features={"action": numbers, "observation.state": numbers}, root=folder, use_videos=False
)
with ea.Simulation(ROBOT, dt=1 / 500) as sim:
    robot, motors = sim.articulation("/World/Pendulum"), ea.ArticulationActuators.from_configs("/", {".*": REAL})
    sim.play()
    for time in np.arange(20 * FPS) / FPS:
        command = np.degrees(0.4 * np.sin(0.6 * time**1.7) + 0.2 * np.sign(np.sin(1.3 * time)))
        state = np.degrees(robot.get_dof_positions().numpy()[0])
        dataset.add_frame({"action": np.float32([command]), "observation.state": state, "task": "move"})
        robot.set_dof_position_targets([[np.radians(command)]])
        sim.step(500 // FPS)
dataset.save_episode()
dataset.finalize()
# docs: end record
# docs: begin identify
logs = read_logs([folder], ["hinge"], units=["degrees"])
found = identify(ROBOT, logs)
friction = next(stage.coulomb for stage in found.motors["hinge"].others if isinstance(stage, ea.FrictionConfig))
# docs: end identify
print(f"friction {friction:.2f} N·m, error {1e3 * found.error:.2f} mrad, {1e3 * found.shipped:.1f} mrad before")
good = found.error < 0.1 * found.shipped and 0.1 < friction < 0.35
print(f"{'ok' if good else 'FAILED'}: the motor behind the dataset is found")
raise SystemExit(not good)
