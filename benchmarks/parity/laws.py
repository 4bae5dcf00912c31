"""Our side of a comparison: stages with random numbers, stepped as in any loop.

The ranges are such that every limit acts on some of the random states and not on others; see `signals`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final, TypeVar

import numpy as np
from isaacsim.core.experimental.actuators.loops.arrays import ActuatedArrays
from isaacsim.core.experimental.actuators.specs.config import Config
from isaacsim.core.experimental.actuators.specs.configs import (
    CoggingConfig,
    DCMotorClampingConfig,
    DCMotorCutoffClampingConfig,
    DelayConfig,
    FrictionConfig,
    LuGreFrictionConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from isaacsim.core.experimental.actuators.specs.electrical import ElectricalConfig
from isaacsim.core.experimental.actuators.specs.servo import ServoControlConfig

from .signals import Edges, Signals

Part = Callable[[np.random.Generator], Config]
"""Draws a stage."""
Motor = Sequence[Config]
"""The stages of a motor."""
Step = Callable[[Signals], np.ndarray]
"""Computes the efforts of a step [N·m], of the shape of the signals."""
Stage = TypeVar("Stage", bound=Config)

DT: Final = 0.005
"""Physics step [s]."""
INERTIA: Final = 0.02
"""Inertia of each joint [kg·m²], for laws that step a joint."""

# lowest and highest value of each number, in SI units
_RANGES: Final = {
    "kp": (5, 20),
    "kd": (0.2, 1),
    "ki": (50, 150),
    "integral_max": (0.02, 0.05),
    "const_effort": (-3, 3),
    "max_effort": (10, 40),
    "saturation_effort": (60, 100),
    "velocity_limit": (10, 20),
    "max_motor_effort": (20, 40),
    "torque_constant": (0.2, 0.4),
    "resistance": (0.5, 1),
    "inductance": (0.002, 0.005),
    "voltage": (3, 9),
    "coulomb": (0.5, 2),
    "viscous": (0.05, 0.5),
    "amplitude": (0.05, 0.2),
}
_MOST_DELAY: Final = 6


def our_step(motors: Sequence[Motor], robots: int) -> Step:
    """Return the step of this package for motors side by side.

    Args:
        motors: A motor per column.
        robots: Number of rows.

    Returns:
        A function of signals of the shape `(robots, motors)`.
    """
    names = [f"motor_{number}" for number in range(len(motors))]
    arrays = ActuatedArrays(names, {name: list(motor) for name, motor in zip(names, motors, strict=True)}, robots)
    arrays.set_mass_matrix(INERTIA * np.eye(len(names)))
    # velocities are random, so that they tell no load
    arrays.set_loads(np.zeros(len(names)), are_whole=True)

    def step(given: Signals) -> np.ndarray:
        state = given.positions, given.velocities, given.position_targets
        made = arrays.step(*state, DT, qd_target=given.velocity_targets, feedforward=given.feedforward)
        return made.copy()

    return step


def edges_of(motor: Motor) -> Edges:
    """Return the positions and velocities at which the limits of a motor have edges."""
    positions: list[float] = []
    velocities: list[float] = []
    for one in motor:
        if isinstance(one, PositionBasedClampingConfig):
            positions += one.lookup_positions
        elif isinstance(one, DCMotorClampingConfig | DCMotorCutoffClampingConfig):
            corner = one.velocity_limit * (1 + float(one.max_motor_effort) / one.saturation_effort)
            velocities += [one.velocity_limit, -one.velocity_limit, corner, -corner]
    return Edges(positions, velocities)


def stage(motor: Motor, kind: type[Stage]) -> Stage:
    """Return the stage of a motor that is of a kind.

    Raises:
        KeyError: It has none.
    """
    for one in motor:
        if isinstance(one, kind):
            return one
    raise KeyError(kind.__name__)


def limit_fields(motor: Motor) -> dict[str, object]:
    """Return the fields of the effort limits of a motor, which Isaac Lab and mjlab name alike."""
    found: dict[str, object] = {}
    for one in motor:
        if isinstance(one, MaxEffortClampingConfig):
            found["effort_limit"] = one.max_effort
        elif isinstance(one, DCMotorClampingConfig):
            found |= {"effort_limit": one.max_motor_effort, "velocity_limit": one.velocity_limit}
            found["saturation_effort"] = one.saturation_effort
    return found


def names_of(motor: Motor) -> list[str]:
    """Return the names of the configs of a motor."""
    return [type(one).__name__ for one in motor]


def pd(random: np.random.Generator) -> Config:
    """Draw a PD law."""
    return PDControlConfig(_number(random, "kp"), _number(random, "kd"))


def pd_with_bias(random: np.random.Generator) -> Config:
    """Draw a PD law with a constant effort."""
    return PDControlConfig(*(_number(random, name) for name in ("kp", "kd", "const_effort")))


def damper(random: np.random.Generator) -> Config:
    """Draw a law of velocities alone."""
    return PDControlConfig(0.0, _number(random, "kd"))


def pass_on(_: np.random.Generator) -> Config:
    """Return a law that passes the feedforward on."""
    return PDControlConfig(0.0, 0.0)


def pass_on_volts(_: np.random.Generator) -> Config:
    """Return a law that passes the feedforward on to a winding, as a voltage."""
    return ServoControlConfig(kp=0.0, error_gain=0.0, voltage=1.0)


def pid(random: np.random.Generator) -> Config:
    """Draw a PID law."""
    return PIDControlConfig(*(_number(random, name) for name in ("kp", "ki", "kd", "integral_max")))


def pid_without_limit(random: np.random.Generator) -> Config:
    """Draw a PID law whose integral has no limit."""
    return PIDControlConfig(*(_number(random, name) for name in ("kp", "ki", "kd")))


def pid_with_bias(random: np.random.Generator) -> Config:
    """Draw a PID law with a constant effort."""
    return PIDControlConfig(*(_number(random, name) for name in ("kp", "ki", "kd", "integral_max", "const_effort")))


def delay(random: np.random.Generator) -> Config:
    """Draw a delay."""
    return DelayConfig(int(random.integers(1, _MOST_DELAY + 1)))


def max_effort(random: np.random.Generator) -> Config:
    """Draw an effort limit."""
    return MaxEffortClampingConfig(_number(random, "max_effort"))


def dc_motor(random: np.random.Generator) -> Config:
    """Draw a torque-speed curve."""
    return DCMotorClampingConfig(*_curve(random))


def dc_motor_cutoff(random: np.random.Generator) -> Config:
    """Draw a torque-speed curve that ends at no-load speed."""
    return DCMotorCutoffClampingConfig(*_curve(random))


def table(random: np.random.Generator) -> Config:
    """Draw an effort limit over positions, of seven rows."""
    positions = np.cumsum(random.uniform(0.2, 1, 7).astype(np.float32), dtype=np.float32) - np.float32(2)
    efforts = np.array([_number(random, "max_effort") for _ in range(7)])
    return PositionBasedClampingConfig(positions.tolist(), efforts.tolist())


def winding_in_volts(random: np.random.Generator) -> Config:
    """Draw a winding that gets a voltage, without inductance."""
    return _winding(random, command="voltage", voltage=_number(random, "voltage"))


def coil_in_volts(random: np.random.Generator) -> Config:
    """Draw a winding that gets a voltage, with inductance."""
    numbers = {name: _number(random, name) for name in ("voltage", "inductance")}
    return _winding(random, command="voltage", **numbers)


def winding_with_supply(random: np.random.Generator) -> Config:
    """Draw a winding that gets an effort to make, within the voltage of its supply."""
    return _winding(random, voltage=_number(random, "voltage"))


def viscous(random: np.random.Generator) -> Config:
    """Draw viscous friction."""
    return FrictionConfig(viscous=_number(random, "viscous"))


def dry(random: np.random.Generator) -> Config:
    """Draw dry friction."""
    return FrictionConfig(coulomb=_number(random, "coulomb"))


def cogging(random: np.random.Generator) -> Config:
    """Draw cogging."""
    return CoggingConfig(_number(random, "amplitude"), float(random.integers(2, 9)), 0.25)


def bristles(random: np.random.Generator) -> Config:
    """Draw bristle friction, which is integrated as MuJoCo does."""
    level = _number(random, "coulomb")
    return LuGreFrictionConfig(30.0, 0.25, 0.0, level, 2.0 * level, 0.25, mujoco_discretization=True)


def _winding(random: np.random.Generator, **values: object) -> Config:
    constants = {name: _number(random, name) for name in ("torque_constant", "resistance")}
    return ElectricalConfig(**constants, **values, discretization="mujoco")  # pyright: ignore[reportArgumentType]


def _curve(random: np.random.Generator) -> list[float]:
    return [_number(random, name) for name in ("saturation_effort", "velocity_limit", "max_motor_effort")]


def _number(random: np.random.Generator, name: str) -> float:
    """Draw a number that float32 has, so that both sides compute with the same."""
    return float(np.float32(random.uniform(*_RANGES[name])))
