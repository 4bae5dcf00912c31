"""Four-quadrant effort limit of a DC motor.

    upper(v) = clip(stall·( 1 − v/v0), −peak, peak)     stall  saturation_effort [N·m or N]
    lower(v) = clip(stall·(−1 − v/v0), −peak, peak)     v0     velocity_limit    [rad/s or m/s]
                                                        peak   max_motor_effort  [N·m or N]
Edges: stall = inf or v0 = inf switches the speed dependence off; stall = 0 leaves no effort at any speed. Beyond v0 the
bound changes its sign: the motor brakes, with peak from the corner velocity v0·(1 + peak/stall) on. Parameters out of
range (NaN, a negative effort, v0 <= 0) give NaN, which the plan's guard turns into zero.
Source: NewtonDCMotorClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingDCMotor.
"""

# Warp's vectors are indexed
# pyright: reportArgumentType=false

from __future__ import annotations

from typing import Any, ClassVar

import warp as wp

from ..specs.configs import DCMotorClampingConfig
from .base import Clamping, require_same_shape, resolved_scalars
from .law import bounded

wp.set_module_options({"enable_backward": False})


@wp.func
def dc_motor_bounds(velocity: float, stall: float, no_load_velocity: float, peak: float) -> wp.vec2:
    """Return (lower, upper) effort [N·m or N] available at `velocity`."""
    # the speed ratio is zero where the curve is off or flat: neither inf · 0 nor 0 · inf comes up
    ratio = wp.float32(0.0)
    if wp.isfinite(stall) and stall > 0.0:
        ratio = velocity / no_load_velocity
    if not no_load_velocity > 0.0:
        ratio = wp.nan
    return wp.vec2(bounded(stall * (-1.0 - ratio), -peak, peak), bounded(stall * (1.0 - ratio), -peak, peak))


@wp.func
def dc_motor_clamp(
    effort: float, position: float, velocity: float, stall: float, no_load_velocity: float, peak: float
) -> float:
    """Return `effort` [N·m or N] limited to what the motor can give at `velocity`."""
    bounds = dc_motor_bounds(velocity, stall, no_load_velocity, peak)
    return bounded(effort, bounds[0], bounds[1])


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
    LAW = dc_motor_clamp

    def __init__(self, saturation_effort: wp.array, velocity_limit: wp.array, max_motor_effort: wp.array) -> None:
        others = {"velocity_limit": velocity_limit, "max_motor_effort": max_motor_effort}
        require_same_shape("saturation_effort", saturation_effort, **others)
        self.saturation_effort, self.velocity_limit = saturation_effort, velocity_limit
        self.max_motor_effort = max_motor_effort

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill each value with inf where absent and check it."""
        return resolved_scalars(DCMotorClampingConfig, args)
