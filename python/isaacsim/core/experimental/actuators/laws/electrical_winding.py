"""Winding of a motor and its driver: current and effort of a demanded effort, within the voltage of the supply.

    L·di/dt = V − R·i − K·v        V  voltage at the winding and its driver, |V| ≤ supply
    effort  = K·i                  K  torque constant at the joint, R resistance, L inductance, v velocity

    R_w = R25·(1 + a·(T − 25 °C)),  R = R_w + R_driver,  K = K25·(1 − b·(T_m − 25 °C))     of winding and magnets
    x  = h·R/L, or 2π·h·bandwidth;  s = 1 − e^−x,  m = s/x      h  physics step;  neither of both: s = 1, m = 0
    i* = clip(share·effort/K, ±max_current·derating)   and at most max_current_rate·h from the current of before
    i∞ = clip(i*, (±supply − K·v⁺)/R)            current to which the winding tends
    i⁺ = i + s·(i∞ − i),   ī = i∞ + m·(i − i∞)   current after the step, and its mean
    τ_e = clip(I·(v − v′)/h − u′, ±K·(supply + K·|v|)/R)   what else acts on the joint, as the step before shows
    v⁺ = v + h·(τ_e + K·ī)/I                     velocity after the step; v where the inertia I is not known
    effort⁺ = K·ī,   V = R·i∞ + K·v⁺,   power = V·ī − ½·effort⁺·(v⁺ − v)

The driver regulates the current, so the effort is the demanded one while its voltage, R·i* + K·v⁺, lies within the
supply; without inductance it is equal to the last bit. Beyond, the back-EMF is that of the velocity after the step, so
a motor at its supply settles at any step size. A motor that is driven beyond its no-load speed brakes.
v′ and u′ are velocity and effort of the step before; after a reset they are v and 0. What a limit behind the winding
takes from its effort counts as load. Speed and effort under a load that stays are exact, whatever I is: that only
decides how fast they are reached, and whether the steps of joints that are coupled settle. I is `coupled_inertia`, else
half the effective inertia, as for efforts at the end of the step. More than a motor at its supply can hold is no load
but an impact, hence the clip. Where the simulator gives the whole load, τ_e is its negative.
With `command` "voltage" the input is the voltage V at the winding: i* = (V − K·v⁺)/R. With `discretization` "mujoco"
ī is i⁺ and v⁺ is v, as in MuJoCo's `dcmotor`; L/R is that of R25, and i* is (effort/K)·R25/R: its driver gives the
voltage that the effort takes at 25 °C, so the effort falls as the winding warms up. A driver that is off leaves the
winding open, i = 0, or shorted, V = 0.

A current loop of finite bandwidth, of a winding without inductance, leaves its lag to the driver: V is the mean
voltage, R·ī + K·v⁺, and where it exceeds the supply, ī and i⁺ are (±supply − K·v⁺)/R. It leaves the current alone where
|i* − i| is at most the dead zone. With saturation K is K/√(1 + (ī/i_s)²), also as back-EMF, so that power is conserved;
where the driver does not regulate, it is that of the current i of before. The driver does not know it: i* is that of
the K of small currents.
Energy: power·h = R·h·mean(i²) + ½·L·(i⁺² − i²) + effort⁺·h·(v + v⁺)/2; mean(i²) = ī² + (i − i∞)²·m·(½·(2 − s) − m).
R and K keep at least a hundredth of R25 and K25. With a resistance of 0, which no winding has, the effort is unchanged.
The state holds i⁺, V, power, and R_w·mean(i²)/effort⁺², the loss per square of the effort, for the thermal law, at most
four times that of the mean current; and v and effort⁺.
Edges: parameters out of range give NaN, which the plan's guard turns into zero and a fault; so does a bandwidth beside
an inductance, and with MuJoCo's step all that MuJoCo has not.
Source: the exact step of a first-order system at constant voltage and velocity; N. Mohan, Electric Machines and Drives,
2012, ch. 7, DC-motor drives; the demand is that of MuJoCo 4.0, actuator `dcmotor`.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import ElectricalConfig
from .contract.base import Electrical
from .contract.friction_step import step_before
from .contract.functions import decay, means_of_decay, sqrt
from .contract.law import UNSET, started, within
from .contract.product import product
from .contract.ranges import LARGEST, limit_of, positive, positive_or_infinite, usable
from .implicit_effort import stepped_inertia


@wp.func
def winding_prepare(
    torque_constant: float,
    resistance: float,
    inductance: float,
    supply: float,
    max_current: float,
    max_current_rate: float,
    temperature_coefficient: float,
    magnet_coefficient: float,
    in_volts: float,
    driver: float,
    as_mujoco: float,
    driver_resistance: float,
    saturation_current: float,
    bandwidth: float,
    dead_zone: float,
):
    """Return the parameters and the inverse of the torque constant, NaN where they are out of range."""
    is_plain = driver_resistance == 0.0 and saturation_current == wp.inf and bandwidth == wp.inf and dead_zone == 0.0
    is_one_lag = inductance == 0.0 or bandwidth == wp.inf
    constant = positive(torque_constant) if is_one_lag and (is_plain or as_mujoco < 0.5) else wp.nan
    knee = 1.0 / positive_or_infinite(saturation_current)
    corner = positive_or_infinite(bandwidth)
    return (
        constant,
        1.0 / constant,
        usable(resistance) if usable(inductance) >= 0.0 else wp.nan,
        usable(inductance),
        positive_or_infinite(supply),
        limit_of(max_current),
        limit_of(max_current_rate),
        usable(temperature_coefficient),
        usable(magnet_coefficient),
        in_volts,
        driver,
        as_mujoco,
        usable(driver_resistance),
        knee * knee,
        0.0 if corner == wp.inf else 6.283185307179586 * corner,
        usable(dead_zone),
    )


@wp.func
def growth(coefficient: float, temperature: float) -> float:
    """Return the factor by which a value grows from 25 °C on, at least a hundredth."""
    factor = 1.0 + coefficient * (temperature - 25.0)
    # a coefficient of zero is the usual one, which the core compiles as a constant
    return (0.01 if factor < 0.01 else factor) if coefficient != 0.0 else 1.0


@wp.func
def response(inductance: float, resistance: float, corner: float, dt: float):
    """Return the shares of old and new current after the step, of both in the mean over it, and of its variance."""
    # what is not chosen has a derivative, too
    ratio = dt * resistance / (inductance if inductance > 0.0 else 1.0)
    x = ratio if inductance > 0.0 else dt * corner if corner > 0.0 else wp.inf
    left = decay(x)
    mean, rise = means_of_decay(x, left)
    small = x if x < 0.5 else 0.0
    p = 1.0 - small * 0.15
    p = 1.0 - small * 0.17857142857142858 * p
    p = 1.0 - small * 0.2222222222222222 * p
    p = 1.0 - small * 0.3 * p
    p = 1.0 - small * 0.5 * p
    p = 0.08333333333333333 * p
    apart = small * small * p if x < 0.5 else 0.5 * (1.0 + left) - mean
    return left, small * mean if x < 0.5 else 1.0 - left, mean, rise, mean * apart


@wp.func
def demanded_current(wanted: float, current: float, most: float, change: float) -> float:
    """Return the current within the limits of the driver."""
    return within(within(wanted, -most, most), current - change, current + change)


@wp.func
def saturated(constant: float, current: float, per_square: float) -> float:
    """Return the torque constant at a current; `per_square` is that of the inverse of the knee, 0 for none."""
    return constant / sqrt(1.0 + current * current * per_square) if per_square > 0.0 else constant


@wp.func
def free_velocity(velocity: float, per_inertia: float, before: float, gained: float, largest: float) -> float:
    """Return the velocity after the step without the motor, whose effort in the step before is `before`.

    `gained` is the change of velocity then, `per_inertia` that per effort; a load above `largest` was an impact.
    """
    most = product(largest, per_inertia)
    return velocity + within(gained - per_inertia * before, -most, most)


@wp.func
def winding(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    inertia: float,
    load: float,
    load_is_whole: float,
    coupled_inertia: float,
    temperature: float,
    housing_temperature: float,
    magnet_rise: float,
    derating: float,
    supply_voltage: float,
    supply_share: float,
    current: float,
    terminal_voltage: float,
    power: float,
    loss: float,
    previous_velocity: float,
    previous_effort: float,
    cold_constant: float,
    inverse_constant: float,
    cold_resistance: float,
    inductance: float,
    supply: float,
    max_current: float,
    max_current_rate: float,
    temperature_coefficient: float,
    magnet_coefficient: float,
    in_volts: float,
    driver: float,
    as_mujoco: float,
    driver_ohms: float,
    per_square: float,
    corner: float,
    dead_zone: float,
):
    """Return the effort [N·m or N], and the state: current, voltage, power, loss per effort², velocity and effort."""
    weakening = growth(-magnet_coefficient, housing_temperature + magnet_rise)
    constant = cold_constant * weakening
    per_constant = inverse_constant / weakening
    winding_ohms = cold_resistance * growth(temperature_coefficient, temperature)
    ohms = winding_ohms + driver_ohms
    # the drive of MuJoCo does not know that its winding is warm
    is_open_loop = as_mujoco > 0.5 and ohms != cold_resistance
    driven_ohms = cold_resistance if is_open_loop else ohms
    left, share, start, rise, variance = response(inductance, driven_ohms, corner, dt)
    available = supply_voltage if supply_voltage <= LARGEST else supply
    # a shorted winding gets no voltage
    volts = available if driver < 1.5 and available > 0.0 else 0.0
    # velocity at the end of the step, or at its start as in MuJoCo
    per_inertia = dt / stepped_inertia(coupled_inertia, inertia, 1.0)
    is_stepped = (coupled_inertia > 0.0 or inertia > 0.0) and as_mujoco < 0.5
    before, gained = step_before(load_is_whole, load, previous_effort, velocity - started(previous_velocity, velocity))
    stall = constant * (volts + constant * wp.abs(velocity)) / (ohms if ohms > 0.0 else 1.0)
    largest = wp.inf if load_is_whole > 0.5 else stall
    free = free_velocity(velocity, per_inertia, before, gained, largest) if is_stepped else velocity
    per_effort = per_inertia if is_stepped else 0.0
    # what is left of the current of before; without inductance nothing is, and the core compiles no term of it. To ask
    # for `left` as well would keep GCC from vectorizing the loop
    lasts = start > 0.0
    old = start * current if lasts else 0.0
    is_saturated = per_square > 0.0
    # of the current of before, unless the driver regulates: then it is of the demanded one
    local = saturated(constant, current, per_square)
    gain = per_effort * local
    back_emf = local * (free + gain * old if lasts else free)
    impedance = ohms + local * gain * rise
    per_impedance = 1.0 / (impedance if ohms != 0.0 else 1.0)
    # no limit stays none
    is_whole = derating >= 1.0 or max_current > LARGEST
    most = max_current if is_whole else product(max_current, derating if derating > 0.0 else 0.0)
    of_effort = effort * per_constant * (driven_ohms * per_impedance if is_open_loop else 1.0)
    asked = (effort - back_emf) * per_impedance if in_volts > 0.5 else of_effort
    # MuJoCo limits the rate at the start of the step, of a current that then approaches its end
    lag = inductance / (driven_ohms if driven_ohms > 0.0 else 1.0) if as_mujoco > 0.5 else 0.0
    change = product(max_current_rate, lag if lag > 0.0 else dt)
    shared = asked * (1.0 if supply_share >= 1.0 else supply_share)
    rests = dead_zone > 0.0 and wp.abs(shared - current) <= dead_zone
    wanted = demanded_current(current if rests else shared, current, most, change)
    is_current = in_volts < 0.5 or wanted != asked
    # of a loop with a bandwidth: the mean voltage, as nothing but the driver delays the current
    by_driver = corner > 0.0
    mean_wanted = old + rise * wanted
    regulated_constant = saturated(constant, mean_wanted, per_square)
    driven = wanted if is_saturated and not by_driver else mean_wanted
    of_mean = ohms * driven + regulated_constant * (free + per_effort * regulated_constant * mean_wanted)
    of_wanted = of_mean if is_saturated or by_driver else back_emf + impedance * wanted
    needed = of_wanted if is_current else effort
    applied = within(needed, -volts, volts)
    regulated = is_current and wp.abs(needed) <= volts
    own_emf = local * free
    own_impedance = ohms + local * gain if ohms != 0.0 else 1.0
    of_supply = (applied - own_emf) / own_impedance if by_driver else (applied - back_emf) * per_impedance
    # a constant of before may be too small
    limited = within(of_supply, -wp.inf, wanted) if is_saturated and is_current and needed > 0.0 else of_supply
    limited = within(limited, wanted, wp.inf) if is_saturated and is_current and needed < 0.0 else limited
    settled = wanted if regulated else limited
    settled = within(settled, current - change, current + change) if lag > 0.0 else settled
    lagging = left * current + share * settled if lasts else settled
    # the last current takes no more than the supply, either
    last = within(lagging, (-volts - own_emf) / own_impedance, (volts - own_emf) / own_impedance)
    after = (last if regulated else limited) if by_driver else lagging
    # of a voltage: the current of before, which cancels, is left out
    driving = rise * (applied - own_emf)
    of_voltage = (driving + ohms * (start * current) if lasts else driving) * per_impedance
    of_current = start * current + rise * settled if lasts else settled
    mean = of_current if regulated or is_saturated else of_voltage
    mean = limited if by_driver and not regulated else mean
    mean = after if as_mujoco > 0.5 else mean
    # as demanded, to the last bit
    is_free = regulated and not is_open_loop and wp.abs(asked) <= most and wp.abs(asked - current) <= change
    used = regulated_constant if regulated and is_saturated else local
    is_demanded = is_free and not is_saturated and wanted == asked and in_volts < 0.5 and start == 0.0
    total = effort if is_demanded or ohms == 0.0 else used * mean
    is_open = driver > 0.5 and driver < 1.5
    # a zero that is NaN for signals that are not finite
    nothing = 0.0 * effort + 0.0 * velocity
    given = nothing if is_open else total
    # of the current around its mean
    apart = current - settled
    spread = apart * apart * variance if lasts and as_mujoco < 0.5 else 0.0
    spread = 0.0 if by_driver and not regulated else spread
    # of a voltage: a mean of what it and the load would lead to
    of_volts = (ohms * free + gain * applied) / own_impedance
    of_late = (ohms * (free + gain * old) + gain * rise * applied) * per_impedance
    is_cut = is_saturated and limited != of_supply and not regulated
    by_current = regulated or is_cut or ohms == 0.0
    told = (of_volts if by_driver else of_late) - velocity
    gains = free - velocity + per_effort * total if by_current else told if is_stepped else 0.0
    terminal = ohms * (mean if by_driver else settled) + used * (velocity + gains) if is_cut else applied
    drawn = terminal * mean - 0.5 * total * gains + (ohms * spread if by_driver else 0.0)
    # heat per square of the effort, also of the current around its mean, where that is not next to nothing
    square = mean * mean
    around = within(spread / square, 0.0, 3.0) if lasts and square > 0.0 and not is_open else 0.0
    of_effort_alone = winding_ohms / (used * used) if is_saturated else winding_ohms * per_constant * per_constant
    heating = of_effort_alone * (1.0 + around)
    return (
        given,
        nothing if is_open else after,
        constant * velocity if is_open else terminal + nothing,
        nothing if is_open else drawn,
        heating,
        velocity,
        given,
    )


class ElectricalWinding(Electrical):
    """Winding and driver of `N` motors.

    Args:
        torque_constant: Effort per current at the joint, also its back-EMF [N·m/A or N/A], shape `(N,)`.
        resistance: Resistance at 25 °C [Ω], shape `(N,)`.
        inductance: Inductance [H], shape `(N,)`; 0 for a current that follows at once.
        voltage: Voltage of the supply [V], shape `(N,)`; inf for no limit.
        max_current: Largest demanded current [A], shape `(N,)`; inf for no limit.
        max_current_rate: Largest change of the demanded current [A/s], shape `(N,)`; inf for no limit.
        temperature_coefficient: Increase of the resistance with the temperature of the winding [1/K], shape `(N,)`.
        magnet_coefficient: Decrease of the torque constant with the temperature of the magnets [1/K], shape `(N,)`.
        command: 0 where the input is an effort, 1 where it is a voltage, shape `(N,)`.
        driver: 0 on, 1 off and open, 2 off and shorted, shape `(N,)`.
        discretization: 0 for the mean current of the step, 1 for the step of MuJoCo, shape `(N,)`.
        driver_resistance: Resistance of the driver in series [Ω], shape `(N,)`.
        saturation_current: Current at which the torque constant is down to 71 % [A], shape `(N,)`; inf for none.
        bandwidth: Bandwidth of the current loop without inductance [Hz], shape `(N,)`; inf for none.
        dead_zone: Change of the demanded current that the driver leaves alone [A], shape `(N,)`.
    """

    CONFIG = ElectricalConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("torque_constant", "resistance", "inductance", "voltage", "max_current", "max_current_rate"),
        *("temperature_coefficient", "magnet_coefficient", "command", "driver", "discretization"),
        *("driver_resistance", "saturation_current", "bandwidth", "dead_zone"),
    )
    # a winding without resistance changes no effort
    NEUTRAL: ClassVar[tuple[float, ...]] = (1.0, 0.0, 0.0, *[math.inf] * 3, *[0.0] * 6, math.inf, math.inf, 0.0)
    STATE: ClassVar[tuple[str, ...]] = (
        *("current", "terminal_voltage", "power", "winding_loss"),
        *("previous_velocity", "previous_effort"),
    )
    START: ClassVar[Mapping[str, float]] = {"previous_velocity": UNSET}
    ADDED: ClassVar[Collection[str]] = ("previous_velocity", "previous_effort")
    PUBLISHES: ClassVar[Mapping[str, str]] = {name: name for name in ("power", "winding_loss")}
    RECORDED: ClassVar[Mapping[str, str]] = {
        "currents": "current",
        "terminal_voltages": "terminal_voltage",
        "electrical_power": "power",
    }
    ASKS: ClassVar[tuple[str, ...]] = (
        *("inertia", "load", "load_is_whole", "coupled_inertia"),
        *("temperature", "housing_temperature", "magnet_rise", "derating", "supply_voltage", "supply_share"),
    )
    USUAL: ClassVar[Mapping[str, float]] = dict.fromkeys(
        (
            *("inductance", "temperature_coefficient", "magnet_coefficient", "in_volts", "driver", "as_mujoco"),
            *("driver_ohms", "per_square", "corner", "dead_zone"),
        ),
        0.0,
    )
    COSTLY: ClassVar[tuple[str, ...]] = ("driver_ohms", "per_square", "corner", "dead_zone")
    # a winding that warms up
    COMMON: ClassVar[tuple[str, ...]] = ("inductance", "in_volts", "driver", "as_mujoco", *COSTLY)
    PREPARE = winding_prepare
    LAW = winding
