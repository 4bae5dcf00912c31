"""mjlab: its actuators, from commands over controls to MuJoCo's efforts.

The actuator writes MuJoCo's actuators into a model and computes their controls; MuJoCo itself steps the model, instead
of mujoco_warp.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import os
from collections.abc import Collection, Iterator
from types import SimpleNamespace
from typing import Any

import numpy as np
import warp as wp
from isaacsim.core.experimental.actuators.specs.configs import DelayConfig, PDControlConfig

from . import mujoco
from .laws import Motor, Step, limit_fields, stage
from .peer import Make
from .signals import Signals
from .tensors import tensor

# of Warp, that mjlab sets; a version need not have them
_OPTIONS = "enable_backward", "quiet"


def laws() -> list[str]:
    """Return the names of its actuators."""
    peer = _peer()
    named = {name: one for name, one in vars(peer).items() if isinstance(one, type)}
    return [name for name, one in named.items() if issubclass(one, peer.Actuator) and one is not peer.Actuator]


def actuator(name: str) -> Make:
    """Return what makes one of its actuators."""

    def make(motor: Motor, robots: int, _: Collection[str]) -> Step:
        peer = _peer()
        cfg = getattr(peer, f"{name}Cfg")(target_names_expr=(".*",), **_fields(motor, name))
        names = [f"j{robot}" for robot in range(robots)]
        spec = mujoco.joints(robots)
        # what it asks of the robot that it belongs to, and of mujoco_warp
        entity = SimpleNamespace(indexing=SimpleNamespace(ctrl_ids=[]))
        theirs = cfg.build(entity, list(range(robots)), names)
        theirs.edit_spec(spec, names)
        model = spec.compile()
        entity.indexing.ctrl_ids = tensor(np.arange(model.nu))
        theirs.initialize(model, None, SimpleNamespace(nworld=1), "cpu")
        order = theirs.ctrl_ids.numpy()

        def controls(given: Signals) -> np.ndarray:
            command = peer.ActuatorCmd(
                position_target=tensor(given.position_targets[None]),
                velocity_target=tensor(given.velocity_targets[None]),
                effort_target=tensor(given.feedforward[None]),
                pos=tensor(given.positions[None]),
                vel=tensor(given.velocities[None]),
            )
            found = np.zeros(model.nu)
            found[order] = theirs.compute(theirs.apply_delay(command)).numpy()[0]
            return found

        return mujoco.step_of(model, controls)

    return make


def _fields(motor: Motor, name: str) -> dict[str, object]:
    """Return the fields of a cfg for a motor."""
    law = stage(motor, PDControlConfig)
    gains = {"stiffness": law.kp, "damping": law.kd}
    wanted = {"BuiltinMotorActuator": (), "BuiltinVelocityActuator": ("damping",)}
    found: dict[str, object] = {key: gains[key] for key in wanted.get(name, tuple(gains))} | limit_fields(motor)
    for one in motor:
        if isinstance(one, DelayConfig):
            found |= {"delay_min_lag": one.delay_steps, "delay_max_lag": one.delay_steps}
    return found


def _peer() -> Any:
    with _own_settings():
        import mjlab.actuator as peer  # pyright: ignore[reportMissingImports]
    return peer


@contextlib.contextmanager
def _own_settings() -> Iterator[None]:
    """Undo after a `with` block what the import of mjlab sets for the whole process: drawing, and options of Warp."""
    variable = "MUJOCO_GL"
    drawing = os.environ.get(variable)
    options = {name: getattr(wp.config, name) for name in _OPTIONS if hasattr(wp.config, name)}
    try:
        yield
    finally:
        os.environ.pop(variable, None)
        if drawing is not None:
            os.environ[variable] = drawing
        for name, value in options.items():
            setattr(wp.config, name, value)
