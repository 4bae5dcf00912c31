"""Springs of elastic transmissions that the physics step does not resolve; `specs/transmission.py` has what they do."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

RESOLVED: Final = 0.5
"""Largest product of physics step and frequency of a spring at which its oscillation is computed."""


@dataclass(frozen=True)
class UnresolvedSpring:
    """A joint whose spring oscillates too fast for the physics step.

    Args:
        robot: Path of the robot.
        joint: Name of the joint.
        stiffness: Its stiffness [N·m/rad or N/m].
        frequency: Frequency ω of rotor and joint on it [rad/s].
        dt: Physics step [s].
    """

    robot: str
    joint: str
    stiffness: float
    frequency: float
    dt: float

    @property
    def product(self) -> float:
        """Product of physics step and frequency."""
        return self.dt * self.frequency

    @property
    def largest_step(self) -> float:
        """Largest physics step that resolves it [s]."""
        return RESOLVED / self.frequency

    def __str__(self) -> str:
        return (
            f"{self.joint} has a spring of {self.stiffness:.4g} with h·ω = {self.product:.3g} at dt = {self.dt:.4g} s, "
            f"resolved up to {self.largest_step:.3g} s"
        )


def frequency_of(stiffness: float, rotor: float, inertia: float) -> float:
    """Return the frequency of two masses on a spring [rad/s].

    Args:
        stiffness: Of the spring [N·m/rad or N/m].
        rotor: Inertia of the rotor at the joint [kg·m² or kg].
        inertia: Inertia of the joint [kg·m² or kg].
    """
    return math.sqrt(stiffness * (1.0 / rotor + 1.0 / inertia))
