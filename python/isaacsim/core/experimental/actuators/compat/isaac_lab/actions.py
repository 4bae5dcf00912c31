"""Inputs and outputs of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


class Action(Protocol):
    """Arrays of its input that a model reads and writes."""

    joint_positions: Any
    joint_velocities: Any
    joint_efforts: Any


@dataclass
class ArticulationActions:
    """Targets and efforts of joints, arrays `(num_envs, num_joints)` or None; any object with these fields will do."""

    joint_positions: Any = None
    """Position targets [rad or m]."""
    joint_velocities: Any = None
    """Velocity targets [rad/s or m/s]."""
    joint_efforts: Any = None
    """Feedforward efforts, and after `compute` the efforts to apply [N·m or N]."""
    joint_indices: Any = None
    """Numbers of the joints; ignored."""
