"""Four-quadrant effort limit of a DC motor.

    upper(v) = clip(stall·( 1 − v/v0), −peak, peak)     stall  saturation_effort [N·m or N]
    lower(v) = clip(stall·(−1 − v/v0), −peak, peak)     v0     velocity_limit    [rad/s or m/s]
                                                        peak   max_motor_effort  [N·m or N]
Edges: stall = inf or v0 = inf switches the speed dependence off; stall = 0 leaves no effort at any speed. Beyond v0 the
bound changes its sign: the motor brakes, with peak from the corner velocity v0·(1 + peak/stall) on.
Source: NewtonDCMotorClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingDCMotor.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false

from __future__ import annotations

from typing import Any, ClassVar

import warp as wp

from ..specs.configs import DCMotorClampingConfig
from .base import Clamping, require_same_shape, resolved_scalars

wp.set_module_options({"enable_backward": False})


@wp.func
def dc_motor_bounds(velocity: float, stall: float, no_load_velocity: float, peak: float) -> wp.vec2:
    """Return (lower, upper) effort [N·m or N] available at `velocity`."""
    # the speed ratio is zero where the curve is off or flat: neither inf · 0 nor 0 · inf comes up
    ratio = wp.float32(0.0)
    if wp.isfinite(stall) and wp.isfinite(no_load_velocity) and stall > 0.0:
        ratio = velocity / no_load_velocity
    return wp.vec2(wp.clamp(stall * (-1.0 - ratio), -peak, peak), wp.clamp(stall * (1.0 - ratio), -peak, peak))


@wp.func
def dc_motor_clamp(effort: float, velocity: float, stall: float, no_load_velocity: float, peak: float) -> float:
    """Return `effort` [N·m or N] limited to what the motor can give at `velocity`."""
    bounds = dc_motor_bounds(velocity, stall, no_load_velocity, peak)
    return wp.clamp(effort, bounds[0], bounds[1])


@wp.kernel
def _dc_motor_kernel(
    # Params:
    saturation_effort: wp.array[float],
    velocity_limit: wp.array[float],
    max_motor_effort: wp.array[float],
    # In:
    velocities: wp.array[float],
    velocity_indices: wp.array[wp.uint32],
    efforts_in: wp.array[float],
    # Out:
    efforts_out: wp.array[float],
):
    slot = wp.tid()
    velocity = velocities[velocity_indices[slot]]
    efforts_out[slot] = dc_motor_clamp(
        efforts_in[slot], velocity, saturation_effort[slot], velocity_limit[slot], max_motor_effort[slot]
    )


class ClampingDCMotor(Clamping):
    """DC-motor limit for `N` actuators.

    Args:
        saturation_effort: Stall effort [N·m or N], shape `(N,)`; inf switches the speed curve off.
        velocity_limit: No-load speed [rad/s or m/s], shape `(N,)`; inf switches the speed curve off.
        max_motor_effort: Largest effort at any speed [N·m or N], shape `(N,)`.

    Raises:
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("saturation_effort", "velocity_limit", "max_motor_effort")

    def __init__(self, saturation_effort: wp.array, velocity_limit: wp.array, max_motor_effort: wp.array) -> None:
        others = {"velocity_limit": velocity_limit, "max_motor_effort": max_motor_effort}
        require_same_shape("saturation_effort", saturation_effort, **others)
        self.saturation_effort, self.velocity_limit = saturation_effort, velocity_limit
        self.max_motor_effort = max_motor_effort

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill each value with inf where absent and check it."""
        return resolved_scalars(DCMotorClampingConfig, args)

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
            _dc_motor_kernel,
            dim=len(dst_forces),
            inputs=[self.saturation_effort, self.velocity_limit, self.max_motor_effort]
            + [velocities, vel_indices, src_forces],
            outputs=[dst_forces],
            device=device or dst_forces.device,
        )
