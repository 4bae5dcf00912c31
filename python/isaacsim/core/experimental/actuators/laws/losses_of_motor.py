"""Losses of a motor beside the heat of its current: iron, friction, an idle driver and the current of a weak field.

    iron    = k_h·|v| + k_e·v²                       hysteresis, and eddy currents
    flux    = P_f·(1 − v_f/|v|)²  for |v| > v_f      copper, by the current that holds the voltage, λ/L·(1 − v_f/|v|)
    power   = iron + flux + P_idle                   drawn beside the power of the winding
    housing = iron + share·(F·|v| + b·v² + (1 − η)·|effort·v|)

The effort is not changed: friction acts where it is a stage or a property of the joint, and is heat here. The heat of
flux is that of the winding. All are of the velocity at the start of the step, and other laws read them in the step
after.
Edges: parameters out of range give NaN, which the plan's guard turns into a fault.
Source: C. P. Steinmetz, AIEE 9 (1892), for hysteresis with the flux of a magnet; J. F. Gieras, Permanent Magnet Motor
Technology, 3rd ed. 2010, for both; W. L. Soong and T. J. E. Miller, IEE Proc. B 141 (1994) 331, for a weak field.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import LossesConfig
from .contract.base import Losses
from .contract.product import product
from .contract.ranges import positive_or_infinite, usable


@wp.func
def losses_prepare(
    hysteresis: float,
    eddy: float,
    friction: float,
    viscous: float,
    gear: float,
    share: float,
    idle_power: float,
    flux_speed: float,
    flux_loss: float,
):
    """Return the parameters, NaN where they are out of range; those of friction times the share."""
    part = share if share >= 0.0 and share <= 1.0 else wp.nan
    return (
        usable(hysteresis),
        usable(eddy),
        part * usable(friction),
        part * usable(viscous),
        part * usable(gear) if gear <= 1.0 else wp.nan,
        usable(idle_power),
        positive_or_infinite(flux_speed),
        usable(flux_loss),
    )


@wp.func
def losses(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    power_before: float,
    housing_before: float,
    flux_before: float,
    hysteresis: float,
    eddy: float,
    friction: float,
    viscous: float,
    gear: float,
    idle_power: float,
    flux_speed: float,
    flux_loss: float,
):
    """Return the power that the driver draws besides, and the heat of the housing and of a weak field [W]."""
    speed = wp.abs(velocity)
    iron = speed * (hysteresis + eddy * speed)
    rubbed = speed * (friction + viscous * speed) + product(gear, wp.abs(effort) * speed)
    is_weak = speed > flux_speed
    # what is not chosen has a derivative, too
    weak = 1.0 - flux_speed / speed if is_weak else 0.0
    flux = flux_loss * (weak * weak)
    return iron + flux + idle_power, iron + rubbed, flux


class LossesOfMotor(Losses):
    """Losses of `N` motors beside the heat of their current.

    Args:
        hysteresis: Loss of iron per speed [N·m or N], shape `(N,)`.
        eddy: Loss of iron per square of the speed [N·m·s/rad or N·s/m], shape `(N,)`.
        friction: Dry friction, as heat [N·m or N], shape `(N,)`.
        viscous: Viscous friction, as heat [N·m·s/rad or N·s/m], shape `(N,)`.
        gear: Share of the power that the gear loses, shape `(N,)`.
        share: Share of the heat of friction and gear that warms the housing, shape `(N,)`.
        idle_power: Power of the driver without current [W], shape `(N,)`.
        flux_speed: Speed from which on the field is weakened [rad/s or m/s], shape `(N,)`; inf for never.
        flux_loss: Heat of the current that takes away the whole field [W], shape `(N,)`.
    """

    CONFIG = LossesConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("hysteresis", "eddy", "friction", "viscous", "gear", "share"),
        *("idle_power", "flux_speed", "flux_loss"),
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, math.inf, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("loss_power", "housing_heat", "flux_heat")
    PUBLISHES: ClassVar[Mapping[str, str]] = {name: name for name in STATE}
    RECORDED: ClassVar[Mapping[str, str]] = {"loss_power": "loss_power", "housing_heat": "housing_heat"}
    PREPARE = losses_prepare
    LAW = losses
