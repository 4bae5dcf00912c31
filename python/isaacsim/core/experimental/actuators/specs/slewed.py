"""Config of a PID controller whose setpoint moves towards the target at a limited velocity."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import ClassVar

from .config import ControlConfig
from .fields import described, parameter, required

_slewed = functools.partial(described, "slewed")


@dataclass
class SlewedPIDControlConfig(ControlConfig):
    """PID control of a setpoint that moves towards the target by at most `max_rate·dt` in a step.

    `effort = const + feedforward + kp·e + ki·I + kd·ė`, where `e = setpoint − position`. It is `slewmax` of MuJoCo's
    `pid` and `dcmotor`. The velocity target is as it is given: that of the setpoint is no part of it. After a reset the
    setpoint starts at the position of the joint. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorSlewedPIDControlAPI"

    kp: float = required(**_slewed("kp", "N·m/rad or N/m", 0.0, lower=0.0))
    """Proportional gain [N·m/rad or N/m]."""
    ki: float = required(**_slewed("ki", "N·m/(rad·s) or N/(m·s)", 0.0, lower=0.0))
    """Integral gain [N·m/(rad·s) or N/(m·s)]."""
    kd: float = required(**_slewed("kd", "N·m·s/rad or N·s/m", 0.0, lower=0.0))
    """Derivative gain [N·m·s/rad or N·s/m]."""
    max_rate: float = parameter(**_slewed("maxRate", "rad/s or m/s", math.inf, lower=0.0, above=True, infinite=True))
    """Largest velocity of the setpoint [rad/s or m/s]; inf means no limit."""
    integral_max: float = parameter(**_slewed("integralMax", "rad·s or m·s", math.inf, lower=0.0, infinite=True))
    """Largest integral in either direction [rad·s or m·s], not an effort; inf means no limit."""
    const_effort: float = parameter(**_slewed("constEffort", "N·m or N", 0.0))
    """Effort added at every step [N·m or N]."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint."""
        # an integral that may not grow does nothing
        return self.kp, self.kd, self.ki * (self.integral_max > 0.0)
