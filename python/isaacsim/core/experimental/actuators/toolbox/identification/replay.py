"""Replays: the whole robot, simulated under the commands of a log."""

from __future__ import annotations

import os
from collections.abc import Mapping

import numpy as np

from ...hosts.joint_kinds import turning
from ...specs.motors import MotorConfig
from .commanded import CommandedRobot
from .identified import Replay
from .log import MotorLog
from .motion import motion_of
from .parameters import value_of, with_values
from .rollout import settings_of


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
    settings = settings_of(log)
    motors = {name: with_values(one, settings) if name in log.joints else one for name, one in motors.items()}
    bias = np.array([np.nan_to_num(value_of(motors[name], "encoder_bias")) for name in log.joints])
    with CommandedRobot(robot, motors, log.joints, log.dt, engine=engine) as commanded:
        found = commanded.run(log.command, log.position[0] - bias, motion_of(log.position, log.dt)[0][0])
        kinds = turning(commanded.robots)
        turns = None if kinds is None else [kinds[column] for column in commanded.columns]
    return Replay(log, found + bias, held_out, turns)
