"""newton-actuators, which newton replaced: a class per law."""

from __future__ import annotations

import warnings
from collections.abc import Collection
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.base.quiet_warp import quiet_warp
from isaacsim.core.experimental.actuators.specs.configs import DelayConfig, PositionBasedClampingConfig
from isaacsim.core.experimental.actuators.specs.fields import parameters_of

from .laws import DT, Motor, Step
from .peer import Make
from .signals import Signals
from .warp_arrays import floats, indices, same

# its names of numbers, where they are not ours
_NAMES = {"max_effort": "max_force", "max_motor_effort": "max_force", "const_effort": "constant_force"}


def laws() -> list[str]:
    """Return the names of its classes."""
    peer = _peer()
    named = {name: getattr(peer, name) for name in peer.__all__}
    return [
        name
        for name, one in named.items()
        if isinstance(one, type) and issubclass(one, peer.Actuator) and one is not peer.Actuator
    ]


def actuator(name: str) -> Make:
    """Return what makes an actuator of one of its classes."""

    def make(motor: Motor, robots: int, _: Collection[str]) -> Step:
        given: dict[str, object] = {}
        for one in motor:
            if isinstance(one, DelayConfig):
                given["delay"] = one.delay_steps
            elif isinstance(one, PositionBasedClampingConfig):
                given |= {"lookup_angles": one.lookup_positions, "lookup_torques": one.lookup_efforts}
            else:
                values = {name: same(float(getattr(one, name)), robots) for name in parameters_of(one)}
                given |= {_NAMES.get(name, name): value for name, value in values.items()}
        at = indices(robots)
        with wp.ScopedDevice("cpu"):
            theirs = getattr(_peer(), name)(at, at, **given)
            return _step_of(theirs, [theirs.state(), theirs.state()], robots)

    return make


def _peer() -> Any:
    with quiet_warp(), warnings.catch_warnings():
        # it warns of its end at import
        warnings.simplefilter("ignore", DeprecationWarning)
        import newton_actuators as peer
    return peer


def _step_of(theirs: Any, states: list[Any], robots: int) -> Step:
    def step(given: Signals) -> np.ndarray:
        state = SimpleNamespace(joint_q=floats(given.positions), joint_qd=floats(given.velocities))
        control = SimpleNamespace(
            joint_target_pos=floats(given.position_targets),
            joint_target_vel=floats(given.velocity_targets),
            joint_act=floats(given.feedforward),
            joint_f=wp.zeros(robots, dtype=wp.float32, device="cpu"),
        )
        # it launches on the default device
        with wp.ScopedDevice("cpu"):
            theirs.step(state, control, *states, DT)
        states.reverse()
        return control.joint_f.numpy()

    return step
