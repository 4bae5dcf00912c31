"""Symmetric effort limit.

    effort = min(max(effort, −max), max)     max  max_effort [N·m or N]

Edges: max = inf is no limit, max = 0 switches the actuator off. A limit that is NaN or negative gives NaN, which the
guard of the plan turns into zero.
Source: NewtonMaxEffortClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingMaxEffort.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import MaxEffortClampingConfig
from .contract.base import Clamping, require_given
from .contract.law import bounded


@wp.func
def max_effort_clamp(effort: float, position: float, velocity: float, max_effort: float) -> float:
    """Return `effort` limited to `±max_effort` [N·m or N]."""
    return bounded(effort, -max_effort, max_effort)


class ClampingMaxEffort(Clamping):
    """Symmetric limit for `N` actuators.

    Args:
        max_effort: Largest effort in either direction [N·m or N], shape `(N,)`; inf means none.

    Raises:
        ValueError: The array is missing.
    """

    CONFIG = MaxEffortClampingConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("max_effort",)
    LAW = max_effort_clamp

    def __init__(self, max_effort: wp.array) -> None:
        super().__init__(max_effort)
        require_given(self, "max_effort")
