"""Proportional-derivative control with a startup force, as in the registers of servos.

    effort = const + ff + kp·e + startup·sign(e) + kd·(q̇* − q̇)      e = q* − q, startup [N·m or N]

It acts where kp·e alone would be lost in friction: a joint that sticks comes (F − startup)/kp close to its target.
Edges: sign(0) is 0; startup = 0 is `ControllerPD`, to the bit. A startup force above the friction of the joint makes
it chatter about its target.
Source: manuals of Feetech STS, minimum startup force, and of DYNAMIXEL AX, punch.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.servo import StartupPDControlConfig
from .contract.base import Controller
from .controller_pd import pd_effort


@wp.func
def startup_pd_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    kp: float,
    kd: float,
    startup: float,
    const_effort: float,
) -> float:
    """Return the effort [N·m or N] of one joint."""
    error = position_target - position
    pushed = startup if error > 0.0 else (-startup if error < 0.0 else 0.0)
    effort = pd_effort(position, velocity, position_target, velocity_target, feedforward, dt, kp, kd, const_effort)
    return effort + pushed


class ControllerStartupPD(Controller):
    """PD law with a startup force for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        startup: Effort towards the target, whatever its distance [N·m or N], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`.
    """

    CONFIG = StartupPDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "kd", "startup", "const_effort")
    LAW = startup_pd_effort
