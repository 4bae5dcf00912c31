"""First-order lag of the effort between the controller and the motor, exact for an effort that is held over a step.

    y⁺ = y + (1 − e^(−h/T))·(u − y)      u  effort of the controller [N·m or N], T time constant [s]

y⁺ acts in the same step, as MuJoCo's `actearly` has it; after a reset y is 0. Edges: T = 0 hands on u, to the bit.
Source: MuJoCo, `dyntype="filterexact"`.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.command import EffortLagConfig
from .command_lag import followed_by, lag_prepare
from .contract.base import EffortLag


@wp.func
def lagged_effort(effort: float, position: float, velocity: float, dt: float, lagged: float, share: float, left: float):
    """Return the effort [N·m or N] that acts, and once more as the state."""
    acting = followed_by(share, left, effort, lagged)
    return acting, acting


class EffortLagFirstOrder(EffortLag):
    """Lags of the efforts of `N` actuators.

    Args:
        time_constant: Time constant [s], shape `(N,)`; 0 for none.

    Raises:
        TypeError: An array is missing.
    """

    CONFIG = EffortLagConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("time_constant",)
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0,)
    STATE: ClassVar[tuple[str, ...]] = ("lagged",)
    PREPARE = lag_prepare
    LAW = lagged_effort
