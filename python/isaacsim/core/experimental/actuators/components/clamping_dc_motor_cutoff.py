"""Effort limit of a DC motor that is cut off at no-load speed.

    upper(v) = clip(stall·( 1 − v/v0),     0, peak)     stall  saturation_effort [N·m or N]
    lower(v) = clip(stall·(−1 − v/v0), −peak,    0)     v0     velocity_limit    [rad/s or m/s]
                                                        peak   max_motor_effort  [N·m or N]
Unlike `ClampingDCMotor` it never makes the motor brake: beyond v0 there is no effort along the motion, and none is
forced against it. Edges: stall = inf leaves peak below v0 and nothing from v0 on; v0 = inf switches the speed
dependence off; stall = 0 leaves no effort. Parameters out of range and a velocity that is no number give NaN, which
the plan's guard turns into zero. The velocity is multiplied by the inverse of v0, at most the largest float32.
Source: newton-actuators 0.1.1 ActuatorDCMotor; Isaac Lab until 2.1 DCMotor.
"""

from __future__ import annotations

from typing import Any, ClassVar

import warp as wp

from ..specs.configs import DCMotorCutoffClampingConfig
from .base import Clamping, require_given, resolved_scalars
from .law import bounded, within
from .product import product

LARGEST = wp.constant(3.4028234663852886e38)
"""The largest finite float32."""


@wp.func
def dc_motor_cutoff_prepare(stall: float, no_load_velocity: float, peak: float):
    """Return stall effort, what a velocity is multiplied by to give the share of the no-load speed, and peak effort."""
    inverse = 1.0 / no_load_velocity
    finite_inverse = LARGEST if inverse > LARGEST else inverse
    valid = no_load_velocity > 0.0 and peak >= 0.0 and stall >= 0.0
    return stall, finite_inverse if valid else wp.nan, peak


@wp.func
def dc_motor_cutoff_clamp(
    effort: float, position: float, velocity: float, stall: float, speed_factor: float, peak: float
) -> float:
    """Return `effort` [N·m or N] limited to what the motor can give at `velocity`."""
    share = velocity * speed_factor
    # by comparison, so that inf · 0 never comes up; NaN goes on
    upper = 0.0 if share >= 1.0 else within(product(stall, 1.0 - share), 0.0, peak)
    lower = 0.0 if share <= -1.0 else within(product(stall, -1.0 - share), -peak, 0.0)
    return bounded(effort, lower, upper)


class ClampingDCMotorCutoff(Clamping):
    """DC-motor limit without braking beyond no-load speed, for `N` actuators.

    Args:
        saturation_effort: Stall effort [N·m or N], shape `(N,)`; inf for no slope up to no-load speed.
        velocity_limit: No-load speed [rad/s or m/s], shape `(N,)`; inf switches the speed dependence off.
        max_motor_effort: Largest effort at any speed [N·m or N], shape `(N,)`.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("saturation_effort", "velocity_limit", "max_motor_effort")
    PREPARE = dc_motor_cutoff_prepare
    LAW = dc_motor_cutoff_clamp

    def __init__(self, saturation_effort: wp.array, velocity_limit: wp.array, max_motor_effort: wp.array) -> None:
        super().__init__(saturation_effort, velocity_limit, max_motor_effort)
        require_given(self, *self.PARAMETERS)

    @classmethod
    def resolve_arguments(cls, args: dict[str, Any]) -> dict[str, Any]:
        """Fill each value with inf where absent and check it."""
        return resolved_scalars(DCMotorCutoffClampingConfig, args)
