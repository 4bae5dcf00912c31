"""What an actuator comes to at its joint."""

from __future__ import annotations

import math
from typing import Any

from ..specs.configs import (
    DCMotorClampingConfig,
    DCMotorCutoffClampingConfig,
    GearedPDControlConfig,
    GearedPIDControlConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    PIDControlConfig,
    PositionBasedClampingConfig,
)
from .described import InspectedActuator

DC_MOTORS = (DCMotorClampingConfig, DCMotorCutoffClampingConfig)
_PLAIN = (PDControlConfig, PIDControlConfig)
_GEARED = (GearedPDControlConfig, GearedPIDControlConfig)


def gains(actuator: InspectedActuator) -> tuple[float, float] | None:
    """Stiffness and damping at the joint; None where the law has none."""
    law = actuator.controller
    if isinstance(law, _PLAIN):
        return law.kp, law.kd
    if isinstance(law, _GEARED):
        return law.kp * law.gear**2, law.kd * law.gear**2
    return None


def largest_effort(actuator: InspectedActuator) -> float:
    """The most that its limits ever let through; infinite where it has none."""
    return min(map(_most, actuator.clamping), default=math.inf)


def _most(clamp: Any) -> float:
    if isinstance(clamp, MaxEffortClampingConfig):
        return float(clamp.max_effort)
    if isinstance(clamp, DC_MOTORS):
        return min(clamp.saturation_effort, float(clamp.max_motor_effort))
    if isinstance(clamp, PositionBasedClampingConfig):
        return max(clamp.lookup_efforts)
    return math.inf
