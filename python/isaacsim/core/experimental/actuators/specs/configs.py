"""The configs a user writes: plain mutable dataclasses, one per USD schema.

Units are those of the joint: rad, rad/s and N·m for a revolute one, m, m/s and N for a prismatic one; never degrees.
Constructors do not check values; authoring and parsing do, against the field descriptions.
Source: newton-usd-schemas 0.6.0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

from .fields import parameter

Kind = Literal["controller", "clamping", "delay"]

# a delay ring of this many rows per joint is the most a robot file may ask for
MAX_DELAY_STEPS = 4096


@dataclass
class PDControlConfig:
    """Proportional-derivative control with a constant bias: `effort = const + feedforward + kp·e + kd·ė`."""

    SCHEMA: ClassVar[str] = "NewtonPDControlAPI"
    KIND: ClassVar[Kind] = "controller"

    kp: float = parameter(attribute="newton:kp", type="float", unit="N·m/rad or N/m", fallback=0.0, lower=0.0)
    """Proportional gain (stiffness) [N·m/rad or N/m]."""
    kd: float = parameter(attribute="newton:kd", type="float", unit="N·m·s/rad or N·s/m", fallback=0.0, lower=0.0)
    """Derivative gain (damping) [N·m·s/rad or N·s/m]."""
    const_effort: float = parameter(0.0, attribute="newton:constEffort", type="float", unit="N·m or N", fallback=0.0)
    """Effort added at every step [N·m or N]."""


@dataclass
class MaxEffortClampingConfig:
    """Symmetric effort limit: `|effort| <= max_effort`."""

    SCHEMA: ClassVar[str] = "NewtonMaxEffortClampingAPI"
    KIND: ClassVar[Kind] = "clamping"

    max_effort: float = parameter(
        attribute="newton:maxEffort", type="float", unit="N·m or N", fallback=math.inf, lower=0.0, infinite=True
    )
    """Largest effort in either direction [N·m or N]; inf means no limit."""


@dataclass
class DelayConfig:
    """Command delay: targets and feedforward act `delay_steps` physics steps after they were set."""

    SCHEMA: ClassVar[str] = "NewtonActuatorDelayAPI"
    KIND: ClassVar[Kind] = "delay"

    delay_steps: int = parameter(
        attribute="newton:delaySteps", type="int", unit="physics steps", fallback=1, lower=0, upper=MAX_DELAY_STEPS
    )
    """Delay in physics steps; 0 means none."""


CONFIGS = (PDControlConfig, MaxEffortClampingConfig, DelayConfig)
"""Every config class; usd/ and components/ derive their tables from it."""
