"""Symmetric effort limit.

    effort = min(max(effort, −max), max)     max  max_effort [N·m or N]

Edges: max = inf is no limit, max = 0 switches the actuator off. The effort must be finite: Warp's clamp turns NaN into
−max, so the plan's guard runs before any limit.
Source: NewtonMaxEffortClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingMaxEffort.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any, ClassVar

import warp as wp

from ..specs.configs import MaxEffortClampingConfig
from .base import Clamping, resolved_scalars

wp.set_module_options({"enable_backward": False})


@wp.func
def max_effort_clamp(effort: float, max_effort: float) -> float:
    """Return `effort` limited to `±max_effort` [N·m or N]."""
    return wp.clamp(effort, -max_effort, max_effort)


@wp.kernel
def _max_effort_kernel(
    # Params:
    max_effort: wp.array[float],
    # In:
    efforts_in: wp.array[float],
    # Out:
    efforts_out: wp.array[float],
):
    slot = wp.tid()
    efforts_out[slot] = max_effort_clamp(efforts_in[slot], max_effort[slot])


class ClampingMaxEffort(Clamping):
    """Symmetric limit for `N` actuators.

    Args:
        max_effort: Largest effort in either direction [N·m or N], shape `(N,)`; inf means none.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("max_effort",)

    def __init__(self, max_effort: wp.array) -> None:
        self.max_effort = max_effort

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill `max_effort` with inf where absent and check it."""
        return resolved_scalars(MaxEffortClampingConfig, args)

    def modify_forces(
        self,
        src_forces: wp.array,
        dst_forces: wp.array,
        positions: wp.array,
        velocities: wp.array,
        pos_indices: wp.array,
        vel_indices: wp.array,
        device: Any = None,
    ) -> None:
        """Write the limited efforts [N·m or N] into `dst_forces`; both arrays have shape `(N,)`."""
        wp.launch(
            _max_effort_kernel,
            dim=len(dst_forces),
            inputs=[self.max_effort, src_forces],
            outputs=[dst_forces],
            device=device or dst_forces.device,
        )
