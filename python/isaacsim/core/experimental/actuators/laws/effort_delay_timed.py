"""Delay of the effort between the controller and the motor, in seconds or between steps.

    effort acting = effort that the controller returned steps + seconds/dt steps ago

Source: the effort delay of PACE 0.2 (Bjelonic et al., 2025), between steps by interpolation.
"""

# wp.func returns what Warp says
# pyright: reportReturnType=false

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.late import EffortDelayConfig, LateConfig
from .contract.base import EffortDelay
from .contract.late import LateComponent


@wp.func
def effort_delay_prepare(seconds: float, steps: float, dt: float) -> float:
    """Return the delay in steps."""
    return steps + seconds / dt


@wp.func
def late_effort(effort: float, position: float, velocity: float, lag: float):
    """Return the effort, and by how many steps it acts late."""
    return effort, lag


class EffortDelayTimed(LateComponent, EffortDelay):
    """Delay of the efforts of `N` actuators.

    Args:
        seconds: Delay [s], shape `(N,)`.
        steps: Delay in physics steps, added to it, shape `(N,)`.
        max_steps: For how many steps of delay the past is kept; 0 for one that stays 0.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("seconds", "steps")
    LATE: ClassVar[tuple[str, ...]] = ("earlier_efforts",)
    STEPS: ClassVar[str] = "steps"
    SECONDS: ClassVar[str] = "seconds"
    CONFIG: ClassVar[type[LateConfig]] = EffortDelayConfig  # pyright: ignore[reportIncompatibleVariableOverride]
    PREPARE = effort_delay_prepare
    LAW = late_effort
