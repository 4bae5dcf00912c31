"""First-order lag of the commands, exact for commands that are held over a step.

    y⁺ = y + (1 − e^(−h/T))·(u − y)      u  position target, velocity target and feedforward; T time constant [s]

y⁺ acts in the same step, as MuJoCo's `actearly` has it. After a reset the position target starts at the position that
the sensor measures, the others at 0. Edges: T = 0 hands on u, to the bit; a command that is not finite is a fault.
Source: MuJoCo, `dyntype="filterexact"`.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.command import CommandLagConfig
from .contract.base import Command
from .contract.functions import exp, mean_of_decay
from .contract.law import UNSET, started
from .contract.ranges import usable


@wp.func
def lag_prepare(time_constant: float, dt: float):
    """Return the share of a step by which the output follows, 1 − e^(−dt/T), and the rest of it, e^(−dt/T)."""
    x = dt / usable(time_constant) if time_constant != 0.0 else 0.0
    left = exp(-x)
    return mean_of_decay(x, left) * x if time_constant != 0.0 else 1.0, left if time_constant != 0.0 else 0.0


@wp.func
def followed_by(share: float, left: float, command: float, before: float) -> float:
    """Return the output after a step; each of two equal forms where it is the more exact one."""
    behind = command - before
    return before + share * behind if share < 0.5 else (command - left * behind if left != 0.0 else command)


@wp.func
def lagged_commands(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    position_command: float,
    velocity_command: float,
    effort_command: float,
    share: float,
    left: float,
):
    """Return the three commands that act, and once more as the state."""
    q = followed_by(share, left, position_target, started(position_command, position))
    qd = followed_by(share, left, velocity_target, velocity_command)
    effort = followed_by(share, left, feedforward, effort_command)
    return q, qd, effort, q, qd, effort


class CommandLag(Command):
    """Lags of the commands of `N` actuators.

    Args:
        time_constant: Time constant [s], shape `(N,)`; 0 for none.

    Raises:
        TypeError: An array is missing.
    """

    CONFIG = CommandLagConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("time_constant",)
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0,)
    STATE: ClassVar[tuple[str, ...]] = ("position_command", "velocity_command", "effort_command")
    START: ClassVar[Mapping[str, float]] = {"position_command": UNSET}
    PREPARE = lag_prepare
    LAW = lagged_commands
