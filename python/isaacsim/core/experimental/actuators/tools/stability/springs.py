"""Springs of elastic transmissions that the physics step damps, see `laws/transmission_elastic.py`."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from ...laws.transmission_elastic import spring_step

RESOLVED: Final = 0.25
"""Largest product of physics step and frequency of a spring at which the step adds no damping."""


@dataclass(frozen=True)
class UnresolvedSpring:
    """A joint whose spring [N·m/rad or N/m] oscillates so fast that the physics step `dt` [s] damps it."""

    robot: str
    joint: str
    stiffness: float
    # ω of rotor and joint on the spring [rad/s]
    frequency: float
    dt: float
    # of the oscillation by the damping of the spring alone; the one below is that in physics steps
    asked_damping_ratio: float
    damping_ratio: float

    @property
    def product(self) -> float:
        """Product of physics step and frequency."""
        return self.dt * self.frequency

    @property
    def largest_step(self) -> float:
        """Largest physics step that does not damp it [s]."""
        return RESOLVED / self.frequency

    @property
    def in_words(self) -> str:
        """What the step does to it, for messages."""
        return (
            f"h·ω = {self.product:.3g} at dt = {self.dt:.4g} s, which damps its oscillation with a ratio of "
            f"{self.damping_ratio:.2g} instead of {self.asked_damping_ratio:.2g}"
        )

    def __str__(self) -> str:
        return (
            f"{self.joint} has a spring of {self.stiffness:.4g} with {self.in_words}, resolved up to "
            f"{self.largest_step:.3g} s"
        )


def frequency_of(stiffness: float, rotor: float, inertia: float) -> float:
    """Return the frequency [rad/s] of a rotor and a joint [kg·m² or kg] on a spring [N·m/rad or N/m]."""
    return math.sqrt(stiffness * (1.0 / rotor + 1.0 / inertia))


def damping_ratio_of(stiffness: float, damping: float, rotor: float, inertia: float, dt: float) -> float:
    """Return the damping ratio of two masses on a spring in physics steps, by the eigenvalues of a step of the law.

    All numbers are at the joint, in SI.
    """
    reduced = 1.0 / (1.0 / rotor + 1.0 / inertia)

    def rate_after(deflection: float, rate: float) -> float:
        # masses that move against each other
        momentum = reduced * rate
        given = momentum, rotor, -momentum, inertia, deflection, dt, dt * stiffness, damping, 0.0
        return cast(Any, spring_step)(*given)[1] * rotor / reduced

    after = np.array([rate_after(1.0, 0.0), rate_after(0.0, 1.0)])
    slowest = max(np.linalg.eigvals([np.array([1.0, 0.0]) + dt * after, after]), key=abs)
    exponent = np.log(complex(slowest))
    return float(-exponent.real / abs(exponent))
