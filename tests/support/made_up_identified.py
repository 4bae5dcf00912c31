"""A made-up result of an identification of the pendulum."""

import numpy as np
from isaacsim.core.experimental.actuators import FrictionConfig, MotorConfig, PDControlConfig
from isaacsim.core.experimental.actuators.tools.identification.identified import (
    ColumnUse,
    Estimate,
    Identified,
    ModelScore,
    Replay,
)
from isaacsim.core.experimental.actuators.tools.identification.log import MotorLog
from places import ROBOTS


def made_up(robot: str = "pendulum.usda", joint: str = "hinge") -> Identified:
    """Return motors with friction and armature, two logs, and words that mean something in HTML and YAML."""
    time = np.arange(200) * 0.01
    target = np.sin(3 * time)[:, None]
    position = np.sin(3 * time - 0.2)[:, None]
    replays = [
        Replay(MotorLog(time, [joint], {"command": target, "position": position}, source), position + error, held_out)
        for source, error, held_out in (("swing.csv", 0.004, False), ("<held>\n: out.csv", 0.006, True))
    ]
    friction = FrictionConfig(coulomb=0.25, viscous=0.125, stribeck_velocity=0.125)
    return Identified(
        str(ROBOTS / robot),
        (joint,),
        {joint: MotorConfig(PDControlConfig(16.0, 0.5), armature=0.0625, others=[friction])},
        [
            Estimate(joint, "coulomb", 0.25, "N·m", 0.01, (0.0, 1.0), 0.1, (0.2, 0.3)),
            Estimate(joint, "armature", 0.0625, "kg·m²", float("nan"), (0.0, 0.0625), 0.01),
        ],
        [ModelScore("as shipped", (), 0.02, 0.03), ModelScore("coulomb & viscous", ("coulomb",), 0.004, 0.006)],
        "coulomb & viscous",
        replays,
        0.031,
        ["The logs have <no> fast motion."],
        12.5,
        [ColumnUse(joint, "current", "A", "", 2.0, 0.125), ColumnUse(joint, "temperature", "°C", "<it> is too hot")],
        [f"{joint}: no network: it is < 1."],
    )
