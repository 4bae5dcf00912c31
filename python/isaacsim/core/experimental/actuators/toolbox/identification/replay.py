"""Replays: the whole robot, simulated under the commands of a log."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np

from ...articulation_actuators import ArticulationActuators
from ...simulation import Simulation
from ...specs.motors import MotorConfig
from .identified import Replay
from .log import MotorLog
from .parameters import value_of, with_values
from .rollout import settings_of, substeps_of

# number of samples that tell the first velocity
_FIRST = 11


def replay(
    robot: str | os.PathLike[str],
    motors: Mapping[str, MotorConfig],
    log: MotorLog,
    *,
    held_out: bool,
    engine: str = "mujoco",
) -> Replay:
    """Simulate a whole robot under the commands of a log, from its first sample on.

    Joints without a column in the log hold their initial position.

    Args:
        robot: Path of the robot file.
        motors: Motors by joint name.
        log: The log, evenly sampled.
        held_out: Whether motors were not fitted to it.
        engine: Simulator, as `Simulation` names it.
    """
    substeps, settings = substeps_of(log.dt), settings_of(log)
    motors = {name: with_values(one, settings) if name in log.joints else one for name, one in motors.items()}
    bias = np.array([np.nan_to_num(value_of(motors[name], "encoder_bias")) for name in log.joints])
    with Simulation(robot, log.dt / substeps, engine=engine) as simulation, warnings.catch_warnings():
        # it is judged by its errors
        warnings.filterwarnings("ignore", r".* (will vibrate at dt|may chatter|have no effort limit)")
        robots: Any = simulation.articulation("/")
        with ArticulationActuators.from_configs("/", dict(motors)):
            simulation.play()
            names = list(robots.dof_names)
            columns = [names.index(name) for name in log.joints]
            positions = robots.get_dof_positions().numpy().copy()
            positions[0, columns] = log.position[0] - bias
            targets = robots.get_dof_position_targets().numpy().copy()
            targets[0, columns] = log.command[0]
            velocities = robots.get_dof_velocities().numpy().copy()
            rows = min(len(log.time), _FIRST)
            velocities[0, columns] = np.polynomial.polynomial.polyfit(
                log.time[:rows] - log.time[0], log.position[:rows], min(2, rows - 1)
            )[1]
            robots.set_dof_positions(positions)
            robots.set_dof_velocities(velocities)
            # which sets their targets as well
            robots.set_dof_velocity_targets(np.zeros_like(velocities))
            found = np.empty_like(log.position)
            for row, command in enumerate(log.command):
                found[row] = robots.get_dof_positions().numpy()[0, columns] + bias
                targets[0, columns] = command
                robots.set_dof_position_targets(targets)
                simulation.step(substeps)
    return Replay(log, found, held_out)
