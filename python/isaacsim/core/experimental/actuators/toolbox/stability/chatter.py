"""Chatter of friction: dry friction adds no instability, unless it assumes more inertia than the joint has.

A law of friction needs the inertia of its joint. Where the simulator does not provide it, the law uses its parameter
`assumed_inertia`. An estimate that is too small is safe: the joint comes to rest a little later. One that is too large
overshoots in each step, and the joint chatters instead of coming to rest: a single joint from about 2.5 times its
inertia on, coupled joints earlier.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

LARGEST_FACTOR: Final = 2.0
"""Largest ratio of assumed to actual inertia that is safe."""


@dataclass(frozen=True)
class AssumedInertia:
    """A joint whose friction assumes too much inertia.

    Args:
        robot: Path of the robot.
        joint: Name of the joint.
        assumed: Assumed inertia [kg·m² or kg].
        inertia: Its inertia, `1 / diag(M⁻¹)` [kg·m² or kg].
    """

    robot: str
    joint: str
    assumed: float
    inertia: float

    def __str__(self) -> str:
        return (
            f"{self.joint} has assumed_inertia = {self.assumed:.3g}, {self.assumed / self.inertia:.3g} times its "
            f"inertia {self.inertia:.3g}"
        )
