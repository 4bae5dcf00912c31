"""Battery or power supply of a robot: its voltage under the power and the efforts of all its motors.

    U = max(V₀ − g·Σ|effort|, V_min)                     V₀ open-circuit voltage, g sag per effort
    V = max(½·(U + √(U² − 4·R·P)), V_min)                R internal resistance, P power of all windings of the robot

V solves V = U − R·P/V. A source gives at most U²/(4·R), at half its voltage: 4·R·P counts up to U². A negative P, power
that motors return, counts as 0 unless the source takes it up. The sums are those of the step before, and other laws
read V in the step after, which breaks the algebraic loop. The state holds V and |effort|, a term of the sum.
Edges: parameters out of range give NaN, which the plan's guard turns into a fault.
Source: Thévenin equivalent of a battery; the linear sag is that of newton's `Battery`, whose efforts are those before
the limits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import SupplyConfig
from .contract.base import Supply, resolved_scalars
from .contract.functions import sqrt
from .contract.law import UNSET
from .contract.ranges import positive, usable


@wp.func
def battery_prepare(voltage: float, resistance: float, sag: float, min_voltage: float, regeneration: float):
    """Return the parameters, NaN where they are out of range."""
    return (
        positive(voltage),
        usable(resistance),
        usable(sag),
        usable(min_voltage) if min_voltage <= voltage else wp.nan,
        regeneration,
    )


@wp.func
def battery(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    robot_power: float,
    robot_effort: float,
    voltage_before: float,
    magnitude_before: float,
    voltage: float,
    resistance: float,
    sag: float,
    min_voltage: float,
    regeneration: float,
):
    """Return the voltage [V], and the magnitude of the effort [N·m or N]."""
    fallen = voltage - sag * robot_effort
    source = min_voltage if fallen < min_voltage else fallen
    power = 0.0 if robot_power < 0.0 and regeneration < 0.5 else robot_power
    left = source * source - 4.0 * resistance * power
    under_load = 0.5 * (source + sqrt(0.0 if left < 0.0 else left))
    return min_voltage if under_load < min_voltage else under_load, wp.abs(effort)


class SupplyBattery(Supply):
    """Battery or power supply of `N` motors; those of a robot share it.

    Args:
        voltage: Open-circuit voltage [V], shape `(N,)`.
        resistance: Internal resistance [Ω], shape `(N,)`.
        sag: Fall of the voltage per sum of the efforts of the robot [V/(N·m) or V/N], shape `(N,)`.
        min_voltage: Lowest voltage [V], shape `(N,)`.
        regeneration: 1 where returned power raises the voltage, else 0, shape `(N,)`.

    Raises:
        TypeError: An array is missing.
        ValueError: The arrays differ in shape.
    """

    PARAMETERS: ClassVar[tuple[str, ...]] = ("voltage", "resistance", "sag", "min_voltage", "regeneration")
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0, 0.0, 0.0)
    STATE: ClassVar[tuple[str, ...]] = ("supply_voltage", "effort_magnitude")
    START: ClassVar[Mapping[str, float]] = {"supply_voltage": UNSET}
    PUBLISHES: ClassVar[Mapping[str, str]] = {
        "supply_voltage": "supply_voltage",
        "effort_magnitude": "effort_magnitude",
    }
    RECORDED: ClassVar[Mapping[str, str]] = {"supply_voltages": "supply_voltage"}
    ASKS: ClassVar[tuple[str, ...]] = ("robot_power", "robot_effort")
    PREPARE = battery_prepare
    LAW = battery

    @classmethod
    def resolve_arguments(cls, args: dict[str, object]) -> dict[str, object]:
        """Fill each value with its default where absent and check it."""
        return resolved_scalars(SupplyConfig, args)
