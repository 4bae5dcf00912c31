"""Logs of actuators of which everything is known."""

import numpy as np
from isaacsim.core.experimental.actuators.tools.training import ActuatorLog
from neural_twin import random_motion

KP, KD, DT = 30.0, 2.0, 0.005


def pd_log(seed: int, steps: int = 1500, joints: int = 2) -> ActuatorLog:
    """PD in random motion: `effort = kp·(q* − q) − kd·q̇`."""
    position, velocity, target = random_motion(np.random.default_rng(seed), joints, steps).transpose(1, 0, 2)[:3]
    return ActuatorLog(DT, position, velocity, target, KP * (target - position) - KD * velocity)
