"""Compile the actuators of one articulation into one plan: flat arrays, no objects.

A *slot* is one driven joint. Every parameter lives in one flat array; the value of a slot for a robot stands at
`base[slot] + robot · pitch[slot]`, so that each actuator owns a contiguous block, robot-major, which its components
show as a live view. Stages an actuator lacks get neutral values (no bias, infinite limit, lag 0), so one pass without
branches serves all slots. Pure data: nothing here needs a device.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..components.clamping_max_effort import ClampingMaxEffort
from ..components.controller_pd import ControllerPD
from .actuator import Actuator

NEUTRAL = {"kp": 0.0, "kd": 0.0, "const_effort": 0.0, "max_effort": np.inf}
"""Parameters of the plan and the values that switch them off."""


@dataclass(frozen=True)
class Block:
    """Where the parameters of one actuator stand in the plan's flat arrays."""

    actuator: Actuator
    start: int
    stop: int


@dataclass(frozen=True)
class Plan:
    """Everything a step needs besides the articulation's own arrays.

    Args:
        num_robots: Number of robots.
        labels: Actuator label of each slot.
        dof_names: Joint of each slot.
        base: Position of each slot's first parameter value, int32.
        pitch: Distance from one robot's value to the next, int32.
        parameters: Flat float32 arrays by name, see `NEUTRAL`.
        lag: Flat int32 array of delays in physics steps.
        depth: Rows of the delay ring: the largest lag plus one.
        blocks: Which part of the flat arrays belongs to which actuator.
    """

    num_robots: int
    labels: tuple[str, ...]
    dof_names: tuple[str, ...]
    base: np.ndarray
    pitch: np.ndarray
    parameters: dict[str, np.ndarray]
    lag: np.ndarray
    depth: int
    blocks: tuple[Block, ...]

    @property
    def num_slots(self) -> int:
        """Number of driven joints."""
        return len(self.dof_names)


def compile_plan(actuators: Sequence[Actuator], num_robots: int) -> Plan:
    """Return the plan of `actuators`, their parameters copied in.

    Raises:
        ValueError: A parameter array does not hold one value per robot and joint, or holds one out of range.
        TypeError: A component has no law in the plan.
    """
    total = num_robots * sum(len(actuator.dof_names) for actuator in actuators)
    parameters = {name: np.full(total, neutral, np.float32) for name, neutral in NEUTRAL.items()}
    lag = np.zeros(total, np.int32)
    labels, dof_names, base, pitch, blocks = [], [], [], [], []
    depth = 1
    start = 0
    for actuator in actuators:
        width = len(actuator.dof_names)
        stop = start + num_robots * width
        labels += [actuator.label] * width
        dof_names += actuator.dof_names
        base += range(start, start + width)
        pitch += [width] * width
        blocks.append(Block(actuator, start, stop))
        depth = max(depth, _copy_in(actuator, parameters, lag, start, stop))
        start = stop
    return Plan(
        num_robots=num_robots,
        labels=tuple(labels),
        dof_names=tuple(dof_names),
        base=np.array(base, np.int32),
        pitch=np.array(pitch, np.int32),
        parameters=parameters,
        lag=lag,
        depth=depth,
        blocks=tuple(blocks),
    )


def _copy_in(actuator: Actuator, parameters: dict[str, np.ndarray], lag: np.ndarray, start: int, stop: int) -> int:
    """Copy one actuator's values into its block; return the ring depth it needs."""
    if type(actuator.controller) is not ControllerPD:
        raise TypeError(_no_law(actuator, "controller", actuator.controller, ControllerPD))
    for name in ControllerPD.PARAMETERS:
        values = getattr(actuator.controller, name)
        if values is not None:
            parameters[name][start:stop] = _values(actuator, name, values, stop - start)
    if len(actuator.clamping) > 1:
        raise ValueError(f"actuator {actuator.label!r}: {len(actuator.clamping)} clamps: give one ClampingMaxEffort.")
    for clamp in actuator.clamping:
        if type(clamp) is not ClampingMaxEffort:
            raise TypeError(_no_law(actuator, "clamping", clamp, ClampingMaxEffort))
        limit = _values(actuator, "max_effort", clamp.max_effort, stop - start)
        if (limit < 0).any():
            raise ValueError(_out_of_range(actuator, "max_effort", limit[limit < 0][0], ">= 0"))
        parameters["max_effort"][start:stop] = limit
    if actuator.delay is None:
        return 1
    steps = _values(actuator, "delay_steps", actuator.delay.delay_steps, stop - start)
    if (steps < 0).any() or (steps > actuator.delay.max_delay).any():
        wrong = steps[(steps < 0) | (steps > actuator.delay.max_delay)][0]
        raise ValueError(
            _out_of_range(actuator, "delay_steps", wrong, f"in 0 … max_delay = {actuator.delay.max_delay}")
        )
    lag[start:stop] = steps
    return actuator.delay.max_delay + 1


def _values(actuator: Actuator, name: str, values: Any, count: int) -> np.ndarray:
    """`values` as NumPy, checked for length and NaN."""
    array = np.asarray(values.numpy() if hasattr(values, "numpy") else values)
    if array.shape != (count,):
        raise ValueError(
            f"actuator {actuator.label!r}: {name} has shape {array.shape}: must be ({count},), one value per robot "
            f"and joint ({count // len(actuator.dof_names)} robots x {len(actuator.dof_names)})."
        )
    if np.isnan(array).any() or (name != "max_effort" and not np.isfinite(array).all()):
        raise ValueError(_out_of_range(actuator, name, array[~np.isfinite(array)][0], "finite"))
    return array


def _out_of_range(actuator: Actuator, name: str, value: Any, rule: str) -> str:
    return f"actuator {actuator.label!r}: {name} = {value}: must be {rule}. Correct the array."


def _no_law(actuator: Actuator, part: str, component: Any, known: type) -> str:
    return (
        f"actuator {actuator.label!r}: {part} = {type(component).__name__}: this version runs {known.__name__} only; "
        "custom components come later."
    )
