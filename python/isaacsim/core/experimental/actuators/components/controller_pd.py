"""Proportional-derivative control.

    effort = const + ff + kp·(q* − q) + kd·(q̇* − q̇)     kp     [N·m/rad or N/m]
                                                        kd     [N·m·s/rad or N·s/m]
                                                        const  bias, ff feedforward [N·m or N]
Edges: zero gains leave an open-loop effort; a target or measurement that is not finite makes the effort not finite,
which the plan's guard turns into zero. Terms are summed from left to right in float32.
Source: NewtonPDControlAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ControllerPD.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any, ClassVar

import warp as wp

from ..specs.configs import PDControlConfig
from .base import Controller, require_same_shape, resolved_scalars, value_or_zero

wp.set_module_options({"enable_backward": False})


@wp.func
def pd_effort(
    position: float,
    velocity: float,
    position_target: float,
    velocity_target: float,
    feedforward: float,
    kp: float,
    kd: float,
    const_effort: float,
) -> float:
    """Return the PD effort [N·m or N] of one joint."""
    return const_effort + feedforward + kp * (position_target - position) + kd * (velocity_target - velocity)


@wp.kernel
def _pd_kernel(
    # Params:
    kp: wp.array[float],
    kd: wp.array[float],
    const_effort: wp.array[float],
    # In:
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    # Out:
    efforts: wp.array[float],
):
    slot = wp.tid()

    efforts[slot] = pd_effort(
        positions[position_indices[slot]],
        velocities[velocity_indices[slot]],
        position_targets[position_target_indices[slot]],
        velocity_targets[velocity_target_indices[slot]],
        value_or_zero(feedforward, int(velocity_target_indices[slot])),
        kp[slot],
        kd[slot],
        value_or_zero(const_effort, slot),
    )


class ControllerPD(Controller):
    """Stateless PD law for `N` actuators.

    Args:
        kp: Proportional gain [N·m/rad or N/m], shape `(N,)`.
        kd: Derivative gain [N·m·s/rad or N·s/m], shape `(N,)`.
        const_effort: Bias [N·m or N], shape `(N,)`; None means zero.

    Raises:
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("kp", "kd", "const_effort")

    def __init__(self, kp: wp.array, kd: wp.array, const_effort: wp.array | None = None) -> None:
        require_same_shape("kp", kp, kd=kd, const_effort=const_effort)
        self.kp, self.kd, self.const_effort = kp, kd, const_effort

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill `kp`, `kd` and `const_effort` with 0 where absent and check them."""
        return resolved_scalars(PDControlConfig, args)

    def compute(
        self,
        positions: wp.array,
        velocities: wp.array,
        target_pos: wp.array,
        target_vel: wp.array,
        feedforward: wp.array | None,
        pos_indices: wp.array,
        vel_indices: wp.array,
        target_pos_indices: wp.array,
        target_vel_indices: wp.array,
        forces: wp.array,
        state: Any,
        dt: float | None,
        device: Any = None,
    ) -> None:
        """Write the PD efforts [N·m or N] into `forces`, shape `(N,)`; `state` and `dt` are not used."""
        parameters = (self.kp, self.kd, self.const_effort)
        signals = (positions, velocities, target_pos, target_vel, feedforward)
        indices = (pos_indices, vel_indices, target_pos_indices, target_vel_indices)
        wp.launch(
            _pd_kernel,
            dim=len(forces),
            inputs=[*parameters, *signals, *indices],
            outputs=[forces],
            device=device or forces.device,
        )
