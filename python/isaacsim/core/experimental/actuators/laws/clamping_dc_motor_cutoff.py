"""Effort limit of a DC motor with a cutoff at no-load speed.

    upper(v) = clip(stall·( 1 − v/v0),     0, peak)     stall  saturation_effort [N·m or N]
    lower(v) = clip(stall·(−1 − v/v0), −peak,    0)     v0     velocity_limit    [rad/s or m/s]
                                                        peak   max_motor_effort  [N·m or N]
Unlike with `ClampingDCMotor`, the motor does not brake beyond v0: there is no effort along the motion, and none against
it is forced. Edges: stall = inf gives peak below v0 and zero from v0 on; v0 = inf switches the speed dependence off;
stall = 0 gives no effort. Parameters out of range and a velocity of NaN give NaN, which the guard of the plan turns
into zero. The velocity is multiplied by the inverse of v0, which is at most the largest float32.
Source: newton-actuators 0.1.1 ActuatorDCMotor; Isaac Lab until 2.1 DCMotor.
"""

from __future__ import annotations

from typing import ClassVar

import warp as wp

from ..specs.configs import DCMotorCutoffClampingConfig
from .clamping_dc_motor import dc_motor_limited, dc_motor_speed_factor
from .contract.base import Clamping, require_given


@wp.func
def dc_motor_cutoff_prepare(stall: float, no_load_velocity: float, peak: float):
    """Return stall effort, factor of the velocity, and peak effort."""
    return stall, dc_motor_speed_factor(stall, no_load_velocity, peak, 1.0), peak


@wp.func
def dc_motor_cutoff_clamp(
    effort: float, position: float, velocity: float, stall: float, speed_factor: float, peak: float
) -> float:
    """Return `effort` [N·m or N] limited to the bounds of the motor at `velocity`."""
    return dc_motor_limited(effort, velocity, stall, speed_factor, peak, 1.0)


class ClampingDCMotorCutoff(Clamping):
    """DC-motor limit without braking beyond no-load speed, for `N` actuators.

    Args:
        saturation_effort: Stall effort [N·m or N], shape `(N,)`; inf for no slope up to no-load speed.
        velocity_limit: No-load speed [rad/s or m/s], shape `(N,)`; inf switches the speed dependence off.
        max_motor_effort: Largest effort at any speed [N·m or N], shape `(N,)`.

    Raises:
        ValueError: An array is missing, or they differ in shape.
    """

    CONFIG = DCMotorCutoffClampingConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = ("saturation_effort", "velocity_limit", "max_motor_effort")
    PREPARE = dc_motor_cutoff_prepare
    LAW = dc_motor_cutoff_clamp

    def __init__(self, saturation_effort: wp.array, velocity_limit: wp.array, max_motor_effort: wp.array) -> None:
        super().__init__(saturation_effort, velocity_limit, max_motor_effort)
        require_given(self, *self.PARAMETERS)
