"""Four-quadrant effort limit of a DC motor.

    upper(v) = clip(stall·( 1 − v/v0), −peak, peak)     stall  saturation_effort [N·m or N]
    lower(v) = clip(stall·(−1 − v/v0), −peak, peak)     v0     velocity_limit    [rad/s or m/s]
                                                        peak   max_motor_effort  [N·m or N]
Edges: stall = inf or v0 = inf switches the speed dependence off; stall = 0 gives no effort at any speed. Beyond v0 the
bound changes its sign: the motor brakes, with peak effort from v0·(1 + peak/stall) on. Parameters out of range (NaN, a
negative effort, v0 <= 0) and a velocity that is not finite give NaN, which the guard of the plan turns into zero. The
velocity is multiplied by the inverse of v0, which is at most the largest float32.
`ClampingDCMotorCutoff` has the same law without effort beyond v0.
Source: NewtonDCMotorClampingAPI, newton-usd-schemas 0.6.0; newton.actuators 1.2 ClampingDCMotor.
"""

from __future__ import annotations

from typing import ClassVar

import numpy as np
import warp as wp

from ..specs.configs import DCMotorClampingConfig
from .contract.base import Clamping, require_given
from .contract.law import bounded, within
from .contract.product import product
from .contract.ranges import LARGEST, finite_inverse


@wp.func
def dc_motor_speed_factor(stall: float, no_load_velocity: float, peak: float, cut_off: float) -> float:
    """Return the factor from a velocity to its share of the no-load speed; `cut_off` is 0 or 1."""
    # the factor is zero if the curve is off or flat, which avoids inf · 0
    counts = cut_off > 0.0 or (stall > 0.0 and stall <= LARGEST)
    factor = finite_inverse(no_load_velocity) if counts else 0.0
    valid = no_load_velocity > 0.0 and peak >= 0.0 and (stall >= 0.0 or cut_off <= 0.0)
    return factor if valid else wp.nan


@wp.func
def dc_motor_limited(
    effort: float, velocity: float, stall: float, speed_factor: float, peak: float, cut_off: float
) -> float:
    """Return `effort` [N·m or N] limited by the motor; with `cut_off` of 1 zero effort beyond no-load speed."""
    share = velocity * speed_factor
    # comparisons avoid inf · 0 and propagate NaN
    lower = 0.0 if cut_off > 0.0 and share <= -1.0 else within(product(stall, -1.0 - share), -peak, peak)
    upper = 0.0 if cut_off > 0.0 and share >= 1.0 else within(product(stall, 1.0 - share), -peak, peak)
    return bounded(effort, lower, upper)


@wp.func
def dc_motor_prepare(stall: float, no_load_velocity: float, peak: float):
    """Return stall effort, factor of the velocity, and peak effort."""
    return stall, dc_motor_speed_factor(stall, no_load_velocity, peak, 0.0), peak


@wp.func
def dc_motor_clamp(
    effort: float, position: float, velocity: float, stall: float, speed_factor: float, peak: float
) -> float:
    """Return `effort` [N·m or N] limited to the bounds of the motor at `velocity`."""
    return dc_motor_limited(effort, velocity, stall, speed_factor, peak, 0.0)


class ClampingDCMotor(Clamping):
    """DC-motor limit for `N` actuators.

    Args:
        saturation_effort: Stall effort [N·m or N], shape `(N,)`; inf switches the speed curve off.
        velocity_limit: No-load speed [rad/s or m/s], shape `(N,)`; inf switches the speed curve off.
        max_motor_effort: Largest effort at any speed [N·m or N], shape `(N,)`.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = DCMotorClampingConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("saturation_effort", "velocity_limit", "max_motor_effort")
    PREPARE = dc_motor_prepare
    LAW = dc_motor_clamp

    def __init__(self, saturation_effort: wp.array, velocity_limit: wp.array, max_motor_effort: wp.array) -> None:
        super().__init__(saturation_effort, velocity_limit, max_motor_effort)
        require_given(self, *self.PARAMETERS)

    @property
    def corner_velocity(self) -> wp.array:
        """Speed [rad/s or m/s] above which the motor brakes with its peak effort, shape `(N,)`.

        It is computed from the current parameters; it is the no-load speed if the stall effort is zero or inf.
        """
        stall, no_load_velocity, peak = (self.read(name) for name in self.PARAMETERS)
        # the component has no array of a parameter that a plan owns
        device = getattr(vars(self).get("velocity_limit"), "device", "cpu")
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = np.where((stall > 0) & np.isfinite(stall), peak / stall, 0.0)
            corner = no_load_velocity * (1 + share)
        return wp.array(corner, dtype=wp.float32, device=device)
