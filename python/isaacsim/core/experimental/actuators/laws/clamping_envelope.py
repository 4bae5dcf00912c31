"""Two-sided torque-speed envelope of a motor.

    upper(v) = clip(stall·( V/V_n − v/v0), −most(−v), most(v))      V    voltage of the supply [V]
    lower(v) = clip(stall·(−V/V_n − v/v0), −most(−v), most(v))      V_n  nominal_voltage [V]
    most(v)  = derating·table(v)                        v ≤ 0       v0   no_load_velocity [rad/s or m/s]
    most(v)  = min(derating·table(v),                   v > 0       stall  stall_effort [N·m or N]
                   derating·driving, power/v)                       driving  max_driving_effort, power  max_power [W]

v > 0 is the velocity of a positive effort that drives, v < 0 of one that brakes. The line of the DC motor moves along
the speed axis with the voltage; the table, which holds what does not depend on the voltage, stays. With a constant
table the law is that of `ClampingDCMotor`.
Edges: V = inf, no voltage known, is V_n, as is a V_n of 0 or inf; a negative V counts as 0, and a derating beyond 0 … 1
as its end; stall = inf switches the line off, v0 = inf makes it flat. Where two rows share a velocity, the first of
them holds at it for a positive effort, and likewise mirrored for a negative one. Parameters out of range and a velocity
of NaN give NaN, which the guard of the plan turns into zero.
Source: the DC line as in `clamping_dc_motor.py`; the two sides as in unitree_rl_lab, `unitree_actuators.py`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import ClassVar, Self

import numpy as np
import warp as wp

from ..specs.configs import EnvelopeClampingConfig
from .contract.base import Clamping, repeated, require_given
from .contract.law import bounded, within
from .contract.product import product
from .contract.ranges import LARGEST, finite_inverse

SLOWEST = wp.constant(1e-18)
"""Speed [rad/s or m/s] below which the power limits nothing."""
_TINY = np.finfo(np.float32).tiny


@wp.func
def envelope_prepare(
    stall: float, no_load_velocity: float, nominal_voltage: float, max_power: float, max_driving_effort: float
):
    """Return stall effort, factors of velocity and voltage, power and driving effort; NaN where out of range."""
    follows = nominal_voltage > 0.0 and nominal_voltage <= LARGEST
    # what is not chosen has a derivative, too
    per_volt = finite_inverse(nominal_voltage if follows else 1.0)
    limits = max_power >= 0.0 and max_driving_effort >= 0.0 and nominal_voltage >= 0.0
    return (
        stall if stall >= 0.0 and no_load_velocity > 0.0 and limits else wp.nan,
        finite_inverse(no_load_velocity),
        per_volt if follows else 0.0,
        max_power,
        max_driving_effort,
    )


@wp.func
def derated(limit: float, share: float) -> float:
    """Return a limit, which may be infinite, times a share within 0 and 1."""
    scaled = limit if share >= 1.0 else product(limit, share if share > 0.0 else 1.0)
    return scaled if share > 0.0 or wp.isnan(limit) else 0.0


@wp.func
def lower_of(value: float, limit: float) -> float:
    """Return the smaller one of two numbers; the first if the second is NaN."""
    return limit if limit < value else value


@wp.func
def most_at(table: float, velocity: float, derating: float, power: float, driving: float) -> float:
    """Return the largest effort [N·m or N] at a velocity along it, without the line of the voltage."""
    fast = velocity > SLOWEST
    # what is not chosen has a derivative, too
    limits_power = fast and power <= LARGEST
    by_power = (power if limits_power else 0.0) / (velocity if fast else 1.0)
    scaled = derated(table, derating)
    driven = lower_of(scaled, derated(driving, derating))
    driven = lower_of(driven, by_power if limits_power else wp.inf)
    return driven if velocity > 0.0 else scaled


@wp.func
def envelope_clamp(
    effort: float,
    position: float,
    velocity: float,
    derating: float,
    supply_voltage: float,
    stall: float,
    speed_factor: float,
    voltage_factor: float,
    power: float,
    driving: float,
    forward: float,
    backward: float,
) -> float:
    """Return `effort` [N·m or N] limited to the envelope; the tables are those of a positive and a negative effort."""
    most = most_at(forward, velocity, derating, power, driving)
    least = -most_at(backward, -velocity, derating, power, driving)
    follows = supply_voltage <= LARGEST and voltage_factor > 0.0
    share = (supply_voltage if follows and supply_voltage > 0.0 else 0.0) * voltage_factor
    share = share if follows else 1.0
    slowed = velocity * speed_factor
    is_off = stall > LARGEST
    height = 0.0 if is_off else stall
    upper = wp.inf if is_off else product(height, share - slowed)
    lower = -wp.inf if is_off else product(height, -share - slowed)
    return bounded(effort, within(lower, least, most), within(upper, least, most))


class ClampingEnvelope(Clamping):
    """Torque-speed envelope for `N` actuators, with one table for all of them.

    Args:
        lookup_velocities: Velocities along the effort [rad/s or m/s], not decreasing; empty for no table.
        lookup_efforts: Largest effort at each velocity [N·m or N].
        stall_effort: Effort of the line at rest [N·m or N], shape `(N,)`; inf switches the line off.
        no_load_velocity: Speed at which the line is 0 [rad/s or m/s], shape `(N,)`; inf for a flat line.
        nominal_voltage: Voltage of these figures [V], shape `(N,)`; inf or 0 for a line that stays.
        max_power: Largest mechanical power where the effort drives [W], shape `(N,)`; inf for no limit.
        max_driving_effort: Largest effort where it drives [N·m or N], shape `(N,)`; inf for no limit.

    Raises:
        ValueError: A bad table, an array is missing, or they differ in shape.
    """

    SHARED_PARAMS: ClassVar[set[str]] = {"lookup_velocities", "lookup_efforts"}
    CONFIG = EnvelopeClampingConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        "stall_effort",
        "no_load_velocity",
        "nominal_voltage",
        "max_power",
        "max_driving_effort",
    )
    ASKS: ClassVar[tuple[str, ...]] = ("derating", "supply_voltage")
    CURVES: ClassVar[Mapping[str, str]] = {"forward": "velocity", "backward": "velocity"}
    PREPARE = envelope_prepare
    LAW = envelope_clamp

    def __init__(
        self,
        lookup_velocities: Sequence[float],
        lookup_efforts: Sequence[float],
        stall_effort: wp.array,
        no_load_velocity: wp.array,
        nominal_voltage: wp.array,
        max_power: wp.array,
        max_driving_effort: wp.array,
    ) -> None:
        super().__init__(stall_effort, no_load_velocity, nominal_voltage, max_power, max_driving_effort)
        require_given(self, *self.PARAMETERS)
        table = EnvelopeClampingConfig(list(lookup_velocities), list(lookup_efforts))
        self.lookup_velocities, self.lookup_efforts = table.lookup_velocities, table.lookup_efforts

    @classmethod
    def from_config(cls, config: EnvelopeClampingConfig, num_actuators: int, device: wp.DeviceLike) -> Self:
        """Return the component of a config."""
        values = {name: repeated(getattr(config, name), num_actuators, device) for name in cls.PARAMETERS}
        return cls(config.lookup_velocities, config.lookup_efforts, **values)

    def curve(self, name: str) -> tuple[list[float], list[float]]:
        """Return velocities [rad/s or m/s] and limits [N·m or N] of the table, mirrored for a negative effort."""
        if not len(self.lookup_velocities):
            return [0.0], [np.inf]
        if name == "forward":
            return self.lookup_velocities, self.lookup_efforts
        # of rows that share a point, the first holds there: in the mirrored table it is the last, and they begin at the
        # float32 before the point
        marks = -np.asarray(self.lookup_velocities, np.float32)[::-1]
        same = np.concatenate([[False], marks[1:] == marks[:-1], [False]])
        # before 0 the smallest normal number, since denormal ones may count as 0
        before = np.minimum(np.nextafter(marks, np.float32(-np.inf)), np.where(marks == 0, -_TINY, np.inf))
        return np.where(same[1:] | same[:-1], before, marks).tolist(), list(self.lookup_efforts)[::-1]
