"""Config of a stepper motor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .config import ControlConfig
from .fields import described, parameter, required


@dataclass
class StepperControlConfig(ControlConfig):
    """A stepper motor at constant current: `effort = feedforward + holding_effort·sin(steps/4·(q* − q)) + kd·ė`.

    Without feedback: a joint that is held back by more than `holding_effort` loses steps, and then stays off by a
    multiple of four full steps. Set targets in microsteps, and no faster than the motor follows. The schema is our own.

    Example:
        >>> StepperControlConfig(0.4, steps=200).gains_at_joint()
        (20.0, 0.0, 0.0)
    """

    SCHEMA: ClassVar[str] = "ActuatorStepperControlAPI"

    holding_effort: float = required(
        **described("stepper", "holdingEffort", "N·m or N", None, lower=0.0, bounds="effort")
    )
    """Largest effort of the field at the rated current [N·m or N]."""
    steps: float = required(**described("stepper", "steps", "1/rad or 1/m", None, lower=0.0, above=True))
    """Full steps per turn, 200 for 1.8°; of a joint that slides 2π over the length of a step [1/rad or 1/m]."""
    kd: float = parameter(**described("stepper", "kd", "N·m·s/rad or N·s/m", 0.0, lower=0.0))
    """Damping of field and driver [N·m·s/rad or N·s/m]; a stepper alone has little."""

    def gains_at_joint(self) -> tuple[float, float, float]:
        """Proportional, derivative and integral gain, seen from the joint: the slope at the target."""
        return self.holding_effort * self.steps / 4.0, self.kd, 0.0
