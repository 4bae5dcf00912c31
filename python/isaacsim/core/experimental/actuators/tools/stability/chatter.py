"""Chatter of laws that assume more inertia than their joint has.

A law of friction needs the inertia of its joint, and so does an effort at the end of the step. Where the simulator does
not provide it, they use their parameter `assumed_inertia`. An estimate that is too small is safe: a joint with friction
comes to rest a little later, an implicit one yields more than it has to. One that is too large overshoots in each step,
and the joint chatters instead of coming to rest: with friction a single joint from about 2.5 times its inertia on, an
implicit one from 4/3 on with much stiffness, from 2 on with much damping; coupled joints earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LARGEST_FACTOR: Final = 2.0
"""Largest ratio of assumed to actual inertia that is safe for friction."""
LARGEST_FACTOR_OF_IMPLICIT: Final = 1.0
"""Largest ratio of assumed to actual inertia that is safe for an effort at the end of the step."""
# rounding of float32
_TOLERANCE = 1e-3


@dataclass(frozen=True)
class AssumedInertia:
    """A joint whose friction, or if `implicit` effort at the step's end, assumes too much inertia [kg·m² or kg]."""

    robot: str
    joint: str
    assumed: float
    # `1 / diag(M⁻¹)`
    inertia: float
    implicit: bool = False

    @property
    def is_too_large(self) -> bool:
        """True if it is more than is safe."""
        most = LARGEST_FACTOR_OF_IMPLICIT if self.implicit else LARGEST_FACTOR
        return self.assumed > (1.0 + _TOLERANCE) * most * self.inertia

    @property
    def remedy(self) -> str:
        """What to give instead."""
        most = "the inertia" if self.implicit else f"{LARGEST_FACTOR:g} times the inertia"
        return f"Give at most {most}; less is safe."

    def __str__(self) -> str:
        return (
            f"{self.joint} has assumed_inertia = {self.assumed:.3g}, {self.assumed / self.inertia:.3g} times its "
            f"inertia {self.inertia:.3g}"
        )
