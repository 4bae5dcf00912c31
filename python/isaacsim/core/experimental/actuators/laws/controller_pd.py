"""Proportional-derivative control.

    effort = const + ff + kp·(q* − q) + kd·(q̇* − q̇)     kp     [N·m/rad or N/m]
                                                        kd     [N·m·s/rad or N·s/m]
                                                        const  bias, ff feedforward [N·m or N]
Edges: zero gains give an open-loop effort; a target or measurement that is not finite gives an effort that is not
finite, which the guard of the plan turns into zero. Terms are summed from left to right in float32.
Source: NewtonPDControlAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ControllerPD.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import PDControlConfig
from .contract.base import Controller, require_given


@wp.func
def pd_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    dt: float,
    kp: float,
    kd: float,
    const_effort: float,
) -> float:
    """Return the PD effort [N·m or N] of one joint."""
    return const_effort + feedforward + kp * (position_target - position) + kd * (velocity_target - velocity)


class ControllerPD(Controller):
    """Stateless PD law for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = PDControlConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "kd", "const_effort")
    LAW = pd_effort

    def __init__(self, kp: wp.array, kd: wp.array, const_effort: wp.array | None = None) -> None:
        super().__init__(kp, kd, const_effort)
        require_given(self, "kp", "kd")
