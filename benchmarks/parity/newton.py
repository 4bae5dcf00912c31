"""newton: `newton.actuators`, whose components `to_newton` makes from configs."""

from __future__ import annotations

from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.compat.to_newton import to_newton
from isaacsim.core.experimental.actuators.specs.config import ClampingConfig, ControlConfig
from isaacsim.core.experimental.actuators.specs.configs import DelayConfig

from .laws import DT, Motor, Step, stage
from .signals import Signals
from .warp_arrays import floats, indices


def laws() -> list[str]:
    """Return the names of its components, and of what solves for efforts of the end of the step."""
    import newton.actuators as peer

    bases = peer.DriveBase, peer.ClampingBase, peer.Delay, peer.JointSpaceResponse
    named = {name: getattr(peer, name) for name in peer.__all__}
    return [
        name for name, one in named.items() if isinstance(one, type) and issubclass(one, bases) and one not in bases[:2]
    ]


def actuator(motor: Motor, robots: int, _: Collection[str]) -> Step:
    """Make its actuator from its components."""
    import newton.actuators as peer

    def made(config: Any) -> Any:
        return to_newton(config, num_actuators=robots)

    delay = next((made(one) for one in motor if isinstance(one, DelayConfig)), None)
    clamping = [made(one) for one in motor if isinstance(one, ClampingConfig)]
    drive = made(stage(motor, ControlConfig))
    theirs: Any = peer.Actuator(indices(robots), drive, delay=delay, clamping=clamping)
    states = [theirs.state(), theirs.state()]

    def step(given: Signals) -> np.ndarray:
        state = SimpleNamespace(joint_q=floats(given.positions), joint_qd=floats(given.velocities))
        control = SimpleNamespace(
            joint_target_q=floats(given.position_targets),
            joint_target_qd=floats(given.velocity_targets),
            joint_act=floats(given.feedforward),
            joint_f=wp.zeros(robots, dtype=wp.float32, device="cpu"),
        )
        theirs.step(state, control, *states, dt=DT)
        states.reverse()
        return control.joint_f.numpy()

    return step
