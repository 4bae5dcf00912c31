"""MuJoCo: its actuators, and damping and friction of joints, in a model with a joint per robot.

Positions and velocities are set before each step.
"""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Sequence
from typing import Any, Final

import numpy as np
from isaacsim.core.experimental.actuators.simulators.mujoco.address import mujoco
from isaacsim.core.experimental.actuators.specs.configs import (
    CoggingConfig,
    FrictionConfig,
    LuGreFrictionConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
)
from isaacsim.core.experimental.actuators.specs.electrical import ElectricalConfig

from .laws import DT, INERTIA, Motor, Step, stage
from .peer import Make, NotComparableError
from .signals import Signals

OF_JOINTS: Final = ("damping", "frictionloss")
"""Laws that are attributes of joints."""
Text = Callable[[Motor], str]
"""Writes an MJCF element without its joint, or attributes of a joint."""


def laws() -> list[str]:
    """Return the names of its actuators in MJCF, and of `OF_JOINTS`."""
    if mujoco is None:
        raise ModuleNotFoundError("mujoco", name="mujoco")
    prefix = "set_to_"
    shortcuts = [name.removeprefix(prefix) for name in dir(mujoco.MjsActuator) if name.startswith(prefix)]
    return ["general", *shortcuts, *OF_JOINTS]


def actuator(text: Text) -> Make:
    """Return what makes an actuator from its MJCF element; each command is a control, in order."""

    def make(stages: Motor, robots: int, commands: Collection[str]) -> Step:
        kind, _, rest = text(stages).partition(" ")
        actuators = "".join(f'<{kind} joint="j{robot}" {rest}/>' for robot in range(robots))
        model = _model(_bodies(robots), actuators)
        return step_of(model, lambda given: np.stack([getattr(given, name) for name in commands], axis=1))

    return make


def joint(text: Text) -> Make:
    """Return what makes the passive efforts of a joint from its attributes: those that change its velocity in a step.

    MuJoCo computes the velocity at the end of the step with damping that holds there.
    """

    def make(stages: Motor, robots: int, _: Collection[str]) -> Step:
        data = _Data(_model(_bodies(robots, text(stages))))

        def step(given: Signals) -> np.ndarray:
            data.step(given)
            return INERTIA * (data.velocities - given.velocities) / DT

        return step

    return make


def joints(robots: int) -> Any:
    """Return a specification with a joint per robot, `j0`, `j1`, …, without actuators."""
    return mujoco.MjSpec.from_string(_text(_bodies(robots)))


def step_of(model: Any, controls: Callable[[Signals], np.ndarray]) -> Step:
    """Return the efforts of all actuators of a model with a joint per robot, in a step.

    Args:
        model: The model.
        controls: Returns the controls, those of a robot side by side.
    """
    data = _Data(model)
    return lambda given: data.step(given, controls(given))


class _Data:
    """A model's data, whose joints are put somewhere before each step."""

    def __init__(self, model: Any) -> None:
        self._model, self._data = model, mujoco.MjData(model)

    def step(self, given: Signals, controls: np.ndarray | None = None) -> np.ndarray:
        """Step, and return the efforts of actuators on each joint."""
        self._data.qpos[:], self._data.qvel[:] = given.positions, given.velocities
        if controls is not None:
            self._data.ctrl[:] = controls.ravel()
        mujoco.mj_step(self._model, self._data)
        return self._data.qfrc_actuator.copy()

    @property
    def velocities(self) -> np.ndarray:
        """Velocities at the end of the step."""
        return self._data.qvel


def _bodies(robots: int, attributes: str = "") -> str:
    inertia = " ".join([repr(INERTIA)] * 3)
    return "".join(
        f'<body><joint name="j{robot}" axis="0 0 1" {attributes}/>'
        f'<inertial pos="0 0 0" mass="1" diaginertia="{inertia}"/></body>'
        for robot in range(robots)
    )


def _text(bodies: str, actuators: str = "") -> str:
    return (
        f'<mujoco><option timestep="{DT}" gravity="0 0 0"/><worldbody>{bodies}</worldbody>'
        f"<actuator>{actuators}</actuator></mujoco>"
    )


def _model(bodies: str, actuators: str = "") -> Any:
    try:
        return mujoco.MjModel.from_xml_string(_text(bodies, actuators))
    except ValueError as error:
        raise NotComparableError(f"this version has no such law: {' '.join(str(error).split())}") from error


# MJCF elements of motors


def motor(stages: Motor) -> str:
    """Return `<motor>`."""
    return f"motor {_force_range(stages)}"


def position(stages: Motor) -> str:
    """Return `<position>`."""
    law = stage(stages, PDControlConfig)
    return f'position kp="{law.kp!r}" kv="{law.kd!r}" {_force_range(stages)}'


def velocity(stages: Motor) -> str:
    """Return `<velocity>`."""
    return f'velocity kv="{stage(stages, PDControlConfig).kd!r}" {_force_range(stages)}'


def general(stages: Motor) -> str:
    """Return `<general>` with an affine bias."""
    law = stage(stages, PDControlConfig)
    bias = f"{law.const_effort!r} {-law.kp!r} {-law.kd!r}"
    return f'general gainprm="{law.kp!r}" biastype="affine" biasprm="{bias}" {_force_range(stages)}'


def pid(stages: Motor) -> str:
    """Return `<pid>`, with an integral for a PID law."""
    law, ki, most = _gains(stages)
    return f'pid kp="{law.kp!r}" kv="{law.kd!r}" ki="{ki!r}" imax="{most!r}" {_force_range(stages)}'


def dcmotor_in_volts(stages: Motor) -> str:
    """Return `<dcmotor>` whose control is a voltage."""
    winding = stage(stages, ElectricalConfig)
    most, coil = winding.voltage, winding.inductance
    inductance = f'inductance="{coil!r}" ' if coil else ""
    return f'dcmotor ctrlrange="{-most!r} {most!r}" {inductance}{_constants(stages)}{_losses(stages)}'


def dcmotor_with_controller(stages: Motor) -> str:
    """Return `<dcmotor>` whose control is a position."""
    law, ki, most = _gains(stages)
    numbers = law.kp, ki, law.kd, 0.0, most, stage(stages, ElectricalConfig).voltage
    return f'dcmotor input="pos" controller="{" ".join(map(repr, numbers))}" {_constants(stages)}'


def damping(stages: Motor) -> str:
    """Return the attribute `damping` of a joint."""
    return f'damping="{stage(stages, FrictionConfig).viscous!r}"'


def frictionloss(stages: Motor) -> str:
    """Return the attribute `frictionloss` of a joint."""
    return f'frictionloss="{stage(stages, FrictionConfig).coulomb!r}"'


def _gains(stages: Motor) -> tuple[PDControlConfig | PIDControlConfig, float, float]:
    """Return the law, its integral gain, and the limit of its integral, 0 for none."""
    law = next(one for one in stages if isinstance(one, PDControlConfig | PIDControlConfig))
    if isinstance(law, PDControlConfig):
        return law, 0.0, 0.0
    return law, law.ki, law.integral_max if math.isfinite(law.integral_max) else 0.0


def _force_range(stages: Motor) -> str:
    limits = [float(one.max_effort) for one in stages if isinstance(one, MaxEffortClampingConfig)]
    return "".join(f'forcerange="{-most!r} {most!r}"' for most in limits)


def _constants(stages: Motor) -> str:
    winding = stage(stages, ElectricalConfig)
    return f'motorconst="{winding.torque_constant!r}" resistance="{winding.resistance!r}"'


def _losses(stages: Motor) -> str:
    """Return cogging and bristles as attributes of a `<dcmotor>`."""
    found: dict[str, Sequence[float]] = {}
    for one in stages:
        if isinstance(one, CoggingConfig):
            found["cogging"] = one.amplitude, one.periods, one.phase
        elif isinstance(one, LuGreFrictionConfig):
            shape = one.coulomb, one.static, one.stribeck_velocity
            found["lugre"] = one.bristle_stiffness, one.bristle_damping, *shape
    return "".join(f' {name}="{" ".join(map(repr, numbers))}"' for name, numbers in found.items())
