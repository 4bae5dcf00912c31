"""Logs of joints that follow their commands with a delay of first order."""

from collections.abc import Sequence

import numpy as np
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog

JOINTS = ("hip", "knee", "ankle")


def following(joints: Sequence[str] = JOINTS, dt: float = 0.005, duration: float = 10.0, lag: float = 0.04) -> MotorLog:
    """A log in which each joint follows sines of its own, of ±0.4 rad or so, with a time constant [s]."""
    time = np.arange(0.0, duration, dt)
    frequencies, phases = np.random.default_rng(7).uniform(0.3, 2.0, (2, len(joints), 4))
    command = 0.2 * np.sin(2.0 * np.pi * frequencies * time[:, None, None] + 3.0 * phases).sum(2)
    position = command.copy()
    for row in range(1, len(time)):
        position[row] = position[row - 1] + dt / lag * (command[row - 1] - position[row - 1])
    return MotorLog(time, joints, {"command": command, "position": position})
