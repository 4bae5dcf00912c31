"""Battery or power supply of a robot: its voltage under the power and the efforts of all its motors, and its charge.

    U = max(V₀(c) − g·Σ|effort|, V_min)                  V₀ open-circuit voltage, c charge, g sag per effort
    V = max(½·(U + √(U² − 4·R·P)), V_min)                R internal resistance, P power of all motors of the robot
    c⁺ = c − h·(P + P_b)/(V·Q)                           Q capacity, P_b power of the brake resistor

V solves V = U − R·P/V. A source gives at most U²/(4·R), at half its voltage: 4·R·P counts up to U². A negative P, power
that motors return, counts as 0 unless the source takes it up: all of it is then P_b. What the source takes up raises V,
at most to V_max: there, the brake resistor R_b is on for as long as it takes, and P_b = −P − V·(V − U)/R. It is on all
the time where V = ½·(U + √(U² − 4·(1 + R/R_b)·R·P))/(1 + R/R_b) is more than V_max, and V rises to that.
V₀ falls from the full voltage along a line to the knee, and along another to the voltage of an empty battery.

With a limit L of power, or of current times V, windings get a share of the current that they demand:

    λ⁺ = min(1, λ·√(L/P))     half the error of a step is left in the next where P is ∝ λ, none where it is ∝ λ²

The sums are those of the step before, and other laws read V and λ in the step after, which breaks the algebraic loop.
The state holds V, |effort|, a term of the sum, P_b, c with its rounding error, and λ.
Edges: parameters out of range give NaN, which the plan's guard turns into a fault.
Source: Thévenin equivalent of a battery; the linear sag is that of newton's `Battery`, whose efforts are those before
the limits.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import SupplyConfig
from .contract.base import Supply
from .contract.functions import sqrt, sum_and_rest
from .contract.law import UNSET, started, within
from .contract.ranges import positive, positive_or_infinite, usable

LEAST_SHARE = wp.constant(1e-3)
"""Share of the current that a limit of power leaves at least, from which it finds back."""


@wp.func
def battery_prepare(
    voltage: float,
    resistance: float,
    sag: float,
    min_voltage: float,
    regeneration: float,
    max_voltage: float,
    brake_resistance: float,
    capacity: float,
    charge: float,
    empty_voltage: float,
    knee_charge: float,
    knee_voltage: float,
    max_power: float,
    max_current: float,
):
    """Return the parameters, slopes of the voltage over the charge, 0 for no limit, NaN where out of range."""
    bent = knee_charge > 0.0
    knee = knee_charge if bent else 1.0
    at_knee = knee_voltage if bent else voltage
    ordered = empty_voltage >= 0.0 and empty_voltage <= at_knee and at_knee <= voltage and knee <= 1.0
    rest = 1.0 - knee
    empties = positive_or_infinite(capacity) < wp.inf
    is_good = (ordered or not empties) and max_voltage >= voltage and brake_resistance >= 0.0
    is_good = is_good and capacity > 0.0 and max_power > 0.0 and max_current > 0.0
    return (
        positive(voltage) if is_good else wp.nan,
        usable(resistance),
        usable(sag),
        usable(min_voltage) if min_voltage <= voltage else wp.nan,
        regeneration,
        0.0 if max_voltage == wp.inf else max_voltage,
        # of a resistor that is on all the time; 0 for one that takes everything
        1.0 + resistance / brake_resistance if brake_resistance > 0.0 else 0.0,
        1.0 / (3600.0 * capacity) if empties else 0.0,
        charge if charge >= 0.0 and charge <= 1.0 else wp.nan,
        empty_voltage if is_good else wp.nan,
        knee,
        (at_knee - empty_voltage) / knee if empties else 0.0,
        (voltage - at_knee) / rest if empties and rest > 0.0 else 0.0,
        0.0 if max_power == wp.inf else max_power,
        0.0 if max_current == wp.inf else max_current,
    )


@wp.func
def battery(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    robot_power: float,
    robot_losses: float,
    robot_effort: float,
    voltage_before: float,
    magnitude_before: float,
    brake_before: float,
    charge_before: float,
    charge_rest: float,
    share_before: float,
    voltage: float,
    resistance: float,
    sag: float,
    min_voltage: float,
    regeneration: float,
    max_voltage: float,
    loading: float,
    per_capacity: float,
    first_charge: float,
    empty_voltage: float,
    knee: float,
    steep: float,
    flat: float,
    max_power: float,
    max_current: float,
):
    """Return the voltage [V], magnitude of the effort [N·m or N], braking power [W], charge, its rest, and share."""
    charge = within(started(charge_before, first_charge), 0.0, 1.0)
    low = charge if charge < knee else knee
    curve = empty_voltage + steep * low + flat * (charge - low)
    fallen = (curve if per_capacity > 0.0 else voltage) - sag * robot_effort
    source = min_voltage if fallen < min_voltage else fallen
    drawn = robot_power + robot_losses
    power = 0.0 if drawn < 0.0 and regeneration < 0.5 else drawn
    left = source * source - 4.0 * resistance * power
    under_load = 0.5 * (source + sqrt(0.0 if left < 0.0 else left))
    limited = max_voltage > 0.0 and under_load > max_voltage
    # what is not chosen has a derivative, too
    factor = loading if loading > 0.0 else 1.0
    loaded = source * source - 4.0 * resistance * factor * (power if power < 0.0 else 0.0)
    burdened = 0.5 * (source + sqrt(loaded)) / factor if loading > 0.0 else 0.0
    raised = max_voltage if burdened < max_voltage else burdened
    bounded = raised if limited else under_load
    volts = min_voltage if bounded < min_voltage else bounded
    taken = volts * (volts - source) / (resistance if resistance > 0.0 else 1.0) if limited else -power
    returned = -drawn if drawn < 0.0 else 0.0
    brake = returned - (taken if taken > 0.0 else 0.0)
    amount = dt * per_capacity * ((drawn + brake) / (volts if volts > 0.0 else 1.0))
    after, rest = sum_and_rest(charge, charge_rest - amount)
    of_current = max_current * volts if max_current > 0.0 else wp.inf
    most = max_power if max_power > 0.0 and max_power < of_current else of_current
    is_limited = (max_power > 0.0 or max_current > 0.0) and drawn > 0.0
    share = share_before * sqrt(most / drawn if is_limited else 1.0) if is_limited else 1.0
    return (
        volts,
        wp.abs(effort),
        brake,
        within(after, 0.0, 1.0),
        rest if after > 0.0 and after < 1.0 else 0.0,
        within(share, LEAST_SHARE, 1.0),
    )


class SupplyBattery(Supply):
    """Battery or power supply of `N` motors; those of a robot share it.

    Args:
        voltage: Open-circuit voltage, of a full battery [V], shape `(N,)`.
        resistance: Internal resistance [Ω], shape `(N,)`.
        sag: Fall of the voltage per sum of the efforts of the robot [V/(N·m) or V/N], shape `(N,)`.
        min_voltage: Lowest voltage [V], shape `(N,)`.
        regeneration: 1 where returned power raises the voltage, else 0, shape `(N,)`.
        max_voltage: Voltage at which a brake resistor is on [V], shape `(N,)`; inf for no bound.
        brake_resistance: Brake resistor [Ω], shape `(N,)`; 0 for one that takes everything.
        capacity: Charge of a full battery [A·h], shape `(N,)`; inf for one that never empties.
        charge: Share of it at the start, shape `(N,)`.
        empty_voltage: Open-circuit voltage of an empty battery [V], shape `(N,)`.
        knee_charge: Charge at the knee of the voltage, shape `(N,)`; 0 for a straight line.
        knee_voltage: Open-circuit voltage there [V], shape `(N,)`.
        max_power: Power that the robot may draw [W], shape `(N,)`; inf for no limit.
        max_current: Current that it may draw [A], shape `(N,)`; inf for no limit.
    """

    CONFIG = SupplyConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("voltage", "resistance", "sag", "min_voltage", "regeneration", "max_voltage", "brake_resistance"),
        *("capacity", "charge", "empty_voltage", "knee_charge", "knee_voltage", "max_power", "max_current"),
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (
        *(1.0, 0.0, 0.0, 0.0, 0.0, math.inf, 0.0),
        *(math.inf, 1.0, 0.0, 0.0, 0.0, math.inf, math.inf),
    )
    STATE: ClassVar[tuple[str, ...]] = (
        *("supply_voltage", "effort_magnitude", "brake_power", "charge_left", "charge_rest", "supply_share"),
    )
    START: ClassVar[Mapping[str, float]] = {"supply_voltage": UNSET, "charge_left": UNSET, "supply_share": 1.0}
    ADDED: ClassVar[Collection[str]] = STATE[2:]
    PUBLISHES: ClassVar[Mapping[str, str]] = {
        name: name for name in ("supply_voltage", "effort_magnitude", "supply_share")
    }
    RECORDED: ClassVar[Mapping[str, str]] = {
        "supply_voltages": "supply_voltage",
        "brake_power": "brake_power",
        "charges": "charge_left",
    }
    ASKS: ClassVar[tuple[str, ...]] = ("robot_power", "robot_losses", "robot_effort")
    USUAL: ClassVar[Mapping[str, float]] = dict.fromkeys(
        ("max_voltage", "loading", "max_power", "max_current", "per_capacity", "steep", "flat"), 0.0
    )
    RESTING: ClassVar[Mapping[str, Collection[str]]] = {
        **dict.fromkeys(("charge_left", "charge_rest"), ("per_capacity",)),
        "supply_share": ("max_power", "max_current"),
    }
    PREPARE = battery_prepare
    LAW = battery
