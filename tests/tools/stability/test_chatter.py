"""Chatter of friction against the inertia that it assumes; `test_robots` has the warning on robots."""

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, FrictionConfig, PDControlConfig
from isaacsim.core.experimental.actuators.tools.stability.chatter import LARGEST_FACTOR, AssumedInertia
from refusals import cases

INERTIA, COULOMB, PUSH = 0.02, 0.5, 0.3


def speed_at_the_end(factor: float, dt: float) -> float:
    """Root mean square of the speed of one joint that slides, is pushed, and has to come to rest [rad/s]."""
    friction = FrictionConfig(coulomb=COULOMB, assumed_inertia=factor * INERTIA)
    joint = ActuatedArrays(["joint"], {"joint": [PDControlConfig(0.0, 0.0), friction]})
    q, qd = np.zeros(1, np.float32), np.full(1, 2.0, np.float32)
    speeds = []
    for _ in range(round(3.0 / dt)):
        qd += (joint.step(q, qd, q, dt) + np.float32(PUSH)) * np.float32(dt / INERTIA)
        q += qd * np.float32(dt)
        speeds.append(float(qd[0]))
    return float(np.sqrt(np.mean(np.square(speeds[-200:]))))


@cases("dt", 0.005, 0.001)
def test_joint_rests_up_to_the_factor_and_chatters_beyond(dt) -> None:
    assert all(speed_at_the_end(factor, dt) < 1e-6 for factor in (0.3, 1.0, LARGEST_FACTOR))
    assert speed_at_the_end(3.0, dt) > 1e-3


def test_joint_in_words() -> None:
    words = str(AssumedInertia("/World/Arm", "knee", 0.5, 0.2))
    assert words == "knee has assumed_inertia = 0.5, 2.5 times its inertia 0.2"
