"""Faults: inputs or efforts that are not finite."""

from __future__ import annotations

from dataclasses import dataclass

import warp as wp

FAULT_INPUTS = ("position", "velocity", "position target", "velocity target", "feedforward", "effort", "signal")
"""Meaning of the bits of a fault code, lowest first."""

EFFORT_FAULT = 1 << FAULT_INPUTS.index("effort")
"""Fault code of an effort that is not finite although all inputs are."""

SIGNAL_FAULT = 1 << FAULT_INPUTS.index("signal")
"""Fault code of a signal that a law asks for."""

IDLE = 1 << 30
"""Added to the fault code of a joint whose controller did not run, for networks that keep their state then."""


@wp.func
def fault_bit(value: float, bit: int) -> int:
    """Return `bit` for a value that is not finite, else 0."""
    if wp.isfinite(value):
        return 0
    return bit


@wp.func
def fault_bit_unbounded(value: float, bit: int) -> int:
    """Return `bit` for NaN and negative infinity, else 0."""
    if wp.isfinite(value) or value == wp.inf:
        return 0
    return bit


@dataclass(frozen=True)
class Fault:
    """An input or effort that was not finite; the joint's effort was 0 in that step.

    Args:
        label: Actuator prim path, or joint name of an actuator built in Python.
        dof_name: Joint.
        robot: Robot index.
        step: Step since the last reset of the wrapper, or `clear_faults` of an `Actuator`, counted from 0.
        inputs: Names of the inputs that were not finite.
        robot_path: Articulation root of the robot.
        signals: Names of the signals that a law needs and nobody tells, or that are not finite, as of now.
        cause: What is missing, and what helps; empty where that is not known.
    """

    label: str
    dof_name: str
    robot: int
    step: int
    inputs: tuple[str, ...]
    robot_path: str = ""
    signals: tuple[str, ...] = ()
    cause: str = ""


def fault_of(label: str, dof_name: str, robot: int, step: int, code: int) -> Fault:
    """Return the fault with this code."""
    inputs = tuple(name for bit, name in enumerate(FAULT_INPUTS) if code >> bit & 1)
    return Fault(label, dof_name, robot, step, inputs)
