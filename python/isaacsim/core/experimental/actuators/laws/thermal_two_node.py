"""Heat of a motor: temperatures of its winding and its housing under the loss of its effort.

    C_w·dT_w/dt = P − q                  q = (T_w − T_h)/R_w   heat from the winding to the housing
    C_h·dT_h/dt = q + P_h − s            s = (T_h − T_a)/R_h   heat from the housing to the surroundings
    t_m·dT_m/dt = T_h + share_m·(T_w − T_h) − T_m              magnets between both, which take no heat from them
    P = effort²/K²·(1 + a·(T_w − 25 °C))       K motor constant; else effort² times the loss that the winding publishes
    derating = share + λ·(1 − share),    λ = clip((T_max − T_w⁺)/(T_max − T_1), 0, 1)

P has besides the heat of a weak field; P_h is that of the housing, of iron and friction, both of the step before. P and
P_h are frozen over the step h, so it is exact:

    T_w⁺ = T_w + α·(P − q) + β·(P + P_h − s)         α = R_w·(1 − E₁₁)
    T_h⁺ = T_h + γ·(q + P_h − s) + β·(P + P_h − s)   γ = R_w·E₂₁,   β = M₂₁/C_w
    T_m⁺ = T_m + (1 − e^(−h/t_m))·(mean of the step − T_m),  at t_m = 0 that of its end; the state holds T_m − T_h

where E = e^(A·h) and M is the integral of e^(A·t) over the step, A the matrix of the two equations. The eigenvalues of
A·h are −x₁ and −x₂, x₁ ≥ x₂ ≥ 0, and g(x) = (1 − e^−x)/x is the mean of e^−u for u from 0 to x:

    1 − E₁₁ = w·x₁·g(x₁) + (1 − w)·x₂·g(x₂),   w = (h/(R_w·C_w) − x₂)/(x₁ − x₂)
    E₂₁     = h/(R_w·C_h)·e^−x₂·g(x₁ − x₂)
    β       = h²/(R_w·C_w·C_h)·(g(x₂) − g(x₁))/(x₁ − x₂)

With `discretization` "mujoco" the step is the explicit one of MuJoCo's `dcmotor`, α = h/C_w, γ = h/C_h, β = 0, which is
unstable for h > 2·R_w·C_w; with "mujoco_inductance" P is besides of the effort of the step before, as of a current that
the inductance of its winding holds.

The differences of flows vanish at rest, so the rounding of α, β and γ does not move the temperatures at rest. Steps of
a millisecond change a temperature by less than its last digit: the state holds the rounding errors and adds them in the
next step. An infinite C_h leaves the housing at T_a, whatever warms it. In the first step, and after a reset to
ambient, all temperatures are T_a, also those that the winding gets. A winding that runs away beyond all numbers keeps
its state, with a fault.
Edges: parameters out of range give NaN, which the plan's guard turns into a fault.
Source: the exact step of a linear system under constant input; W. Kahan, CACM 8 (1965) 40, for the rounding errors.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from typing import ClassVar

import warp as wp

from ..specs.configs import ThermalConfig
from ..specs.thermal import DERATING
from .contract.base import Thermal
from .contract.functions import exp, mean_of_decay, sqrt, sum_and_rest
from .contract.law import UNSET, started, within
from .contract.ranges import positive, positive_or_infinite, usable

WIDTH = wp.constant(DERATING)


@wp.func
def slope_of_means(large: float, small: float, of_large: float, of_small: float) -> float:
    """Return (g(small) − g(large))/(large − small) of g(x) = (1 − e^−x)/x, given both values of g."""
    # h_k, the sum of all products of k factors out of the two: g[large, small] = −h_0/2! + h_1/3! − h_2/4! + …
    is_small = large < 0.5
    x = large if is_small else 0.0
    y = small if is_small else 0.0
    h_1 = x + y
    h_2 = x * h_1 + y * y
    h_3 = x * h_2 + y * y * y
    h_4 = x * h_3 + y * y * y * y
    h_5 = x * h_4 + y * y * y * y * y
    h_6 = x * h_5 + y * y * y * y * y * y
    odd = h_1 * 0.16666666666666666 + h_3 * 0.008333333333333333 + h_5 * 0.0001984126984126984
    even = 0.5 + h_2 * 0.041666666666666664 + h_4 * 0.001388888888888889 + h_6 * 2.48015873015873e-05
    apart = large - small
    # what is not chosen has a derivative, too
    return even - odd if is_small else (of_small - of_large) / (apart if apart > 0.0 and not is_small else 1.0)


@wp.func
def modes_of(a: float, b: float, c: float):
    """Return the eigenvalues x₁ ≥ x₂, their difference, and the shares of both in the winding.

    `a` is h/(R_w·C_w), the rate of the winding times the step; `b` and `c` are those of the housing to either side.
    """
    # without cancellation, scaled so that no square vanishes or overflows
    total = a + b + c
    scale = total if total > 0.0 else 1.0
    half = (a - b - c) / scale
    between = 4.0 * (a / scale) * (b / scale)
    apart = sqrt(half * half + between)
    large = 0.5 * scale * (total / scale + apart)
    small = a * (c / (large if large > 0.0 else 1.0))
    more = apart + wp.abs(half)
    more = more if more > 0.0 else 1.0
    width = 2.0 * apart if apart > 0.0 else 1.0
    major = more / width
    minor = between / more / width
    return large, small, scale * apart, major if half >= 0.0 else minor, minor if half >= 0.0 else major


@wp.func
def two_node_prepare(
    winding_capacity: float,
    winding_resistance: float,
    housing_capacity: float,
    housing_resistance: float,
    ambient: float,
    motor_constant: float,
    temperature_coefficient: float,
    derating_start: float,
    max_temperature: float,
    continuous_share: float,
    kept: float,
    discretization: float,
    magnet_share: float,
    magnet_time: float,
    dt: float,
):
    """Return α, β, γ, the conductances, and the numbers of loss and derating, NaN where parameters are out of range."""
    is_exact = discretization < 0.5
    warms = 1.0 / positive(winding_capacity)
    cools = 1.0 / positive_or_infinite(housing_capacity)
    resistance = positive(winding_resistance)
    to_housing = 1.0 / resistance
    to_ambient = 1.0 / positive_or_infinite(housing_resistance)
    # rates times h: of the winding, and of the housing to either side
    a = dt * warms * to_housing
    b = dt * cools * to_housing
    c = dt * cools * to_ambient
    large, small, apart, first, second = modes_of(a, b, c)
    of_large = mean_of_decay(large, exp(-large))
    of_small = mean_of_decay(small, exp(-small))
    means = slope_of_means(large, small, of_large, of_small)
    begin = max_temperature - WIDTH if derating_start == wp.inf else derating_start
    derates = begin < max_temperature and max_temperature < wp.inf
    slope = (
        1.0 / (max_temperature - begin if derates else 1.0)
        if derates
        else (0.0 if max_temperature == wp.inf else wp.nan)
    )
    share = continuous_share if continuous_share >= 0.0 and continuous_share <= 1.0 else wp.nan
    constant = positive_or_infinite(motor_constant)
    exact_winding = resistance * (first * (large * of_large) + second * (small * of_small))
    exact_housing = resistance * (b * exp(-small) * mean_of_decay(apart, exp(-apart)))
    lagging = usable(magnet_time) > 0.0
    x = within(dt / (magnet_time if lagging else 1.0), 0.0, 1.0e6)
    return (
        exact_winding if is_exact else dt * warms,
        dt * cools * (a * means) if is_exact else 0.0,
        exact_housing if is_exact else dt * cools,
        to_housing,
        to_ambient,
        ambient if wp.isfinite(ambient) else wp.nan,
        1.0 / constant / constant,
        usable(temperature_coefficient),
        max_temperature if derates else 0.0,
        slope,
        share if derates else share * 0.0 + 1.0,
        1.0 - share if derates else 0.0,
        kept,
        discretization,
        magnet_share if magnet_share >= 0.0 and magnet_share <= 1.0 else wp.nan,
        x * mean_of_decay(x, exp(-x)) if lagging else -1.0 + usable(magnet_time),
    )


@wp.func
def two_nodes(
    effort: float,
    position: float,
    velocity: float,
    dt: float,
    winding_loss: float,
    flux_heat: float,
    housing_heat: float,
    winding_before: float,
    housing_before: float,
    winding_rest: float,
    housing_rest: float,
    derating: float,
    kept_before: float,
    rise_before: float,
    rise_rest: float,
    effort_before: float,
    of_winding: float,
    shared: float,
    of_housing: float,
    to_housing: float,
    to_ambient: float,
    ambient: float,
    loss: float,
    temperature_coefficient: float,
    end: float,
    slope: float,
    share: float,
    spare: float,
    kept: float,
    discretization: float,
    magnet_share: float,
    magnet_gain: float,
):
    """Return temperatures [°C], their errors, derating, whether a reset keeps it, rise of magnets, and the effort."""
    winding = started(winding_before, ambient)
    housing = started(housing_before, ambient)
    growth = 1.0 + temperature_coefficient * (winding - 25.0)
    per_effort = loss * (0.0 if growth < 0.0 else growth) if loss != 0.0 else winding_loss
    inward = (winding - housing) * to_housing
    outward = (housing - ambient) * to_ambient
    heating = effort_before if discretization > 1.5 else effort
    power = heating * heating * per_effort + flux_heat
    both = shared * (power + housing_heat - outward)
    winding_after, winding_error = sum_and_rest(winding, winding_rest + (of_winding * (power - inward) + both))
    gained = of_housing * (inward + housing_heat - outward) + both
    housing_after, housing_error = sum_and_rest(housing, housing_rest + gained)
    left = share + spare * within((end - winding_after) * slope, 0.0, 1.0)
    # of a part that is absent nothing is computed
    apart = magnet_share * (winding - housing) if magnet_share > 0.0 else 0.0
    apart_after = magnet_share * (winding_after - housing_after) if magnet_share > 0.0 else 0.0
    follows = magnet_gain < 0.0
    middle = 0.5 * (gained + apart + apart_after) - rise_before
    change = 0.0 if follows else magnet_gain * middle - gained
    lagging, rise_error = sum_and_rest(rise_before, rise_rest + change)
    return (
        winding_after,
        housing_after,
        winding_error,
        housing_error,
        left,
        kept,
        apart_after if follows else lagging,
        0.0 if follows else rise_error,
        effort,
    )


class ThermalTwoNode(Thermal):
    """Heat of `N` motors.

    Args:
        winding_capacity: Heat capacity of the winding [J/K], shape `(N,)`.
        winding_resistance: Thermal resistance from the winding to the housing [K/W], shape `(N,)`.
        housing_capacity: Heat capacity of the housing [J/K], shape `(N,)`; inf for one at ambient temperature.
        housing_resistance: Thermal resistance from the housing to the surroundings [K/W], shape `(N,)`.
        ambient: Temperature of the surroundings [°C], shape `(N,)`.
        motor_constant: Effort per square root of the loss at 25 °C [N·m/√W or N/√W], shape `(N,)`; inf for the loss
            that the winding publishes.
        temperature_coefficient: Increase of the loss with the temperature of the winding [1/K], shape `(N,)`.
        derating_start: Temperature of the winding at which the derating starts [°C], shape `(N,)`.
        max_temperature: Temperature of the winding at which it ends [°C], shape `(N,)`.
        continuous_share: Share of the effort that is left there, shape `(N,)`.
        reset: 0 where a reset cools the motor to ambient temperature, 1 where it keeps the temperatures, shape `(N,)`.
        discretization: 0 for the exact step, 1 for that of MuJoCo, 2 for that of MuJoCo with an inductance, shape
            `(N,)`.
        magnet_share: Where the magnets are, from the housing, 0, to the winding, 1, shape `(N,)`.
        magnet_time: Time constant of the magnets [s], shape `(N,)`; 0 for none.
    """

    CONFIG = ThermalConfig
    PARAMETERS: ClassVar[tuple[str, ...]] = (
        *("winding_capacity", "winding_resistance", "housing_capacity", "housing_resistance", "ambient"),
        *("motor_constant", "temperature_coefficient", "derating_start", "max_temperature", "continuous_share"),
        *("reset", "discretization", "magnet_share", "magnet_time"),
    )
    NEUTRAL: ClassVar[tuple[float, ...]] = (
        *(1.0, 1.0, math.inf, math.inf, 25.0, math.inf, 0.0, math.inf, math.inf),
        *(0.0, 0.0, 0.0, 0.0, 0.0),
    )
    STATE: ClassVar[tuple[str, ...]] = (
        *("temperature", "housing_temperature", "temperature_rest", "housing_rest", "derating", "kept"),
        *("magnet_rise", "magnet_rise_rest", "effort_before"),
    )
    START: ClassVar[Mapping[str, float]] = {
        **dict.fromkeys(("temperature", "housing_temperature"), UNSET),
        "derating": 1.0,
    }
    ADDED: ClassVar[Collection[str]] = ("magnet_rise", "magnet_rise_rest")
    # the current of a winding does not outlast a reset
    KEPT: ClassVar[Collection[str]] = dict.fromkeys(STATE[:-1], "kept")
    RECORDED: ClassVar[Mapping[str, str]] = {
        "winding_temperatures": "temperature",
        "housing_temperatures": "housing_temperature",
        "magnet_rises": "magnet_rise",
    }
    PUBLISHES: ClassVar[Mapping[str, str]] = {
        name: name for name in ("temperature", "housing_temperature", "magnet_rise", "derating")
    }
    UNSET_AS: ClassVar[Mapping[str, str]] = dict.fromkeys(("temperature", "housing_temperature"), "ambient")
    ASKS: ClassVar[tuple[str, ...]] = ("winding_loss", "flux_heat", "housing_heat")
    USUAL: ClassVar[Mapping[str, float]] = {
        **dict.fromkeys(("flux_heat", "housing_heat", "magnet_share"), 0.0),
        "magnet_gain": -1.0,
    }
    COSTLY: ClassVar[tuple[str, ...]] = ("magnet_share", "magnet_gain")
    RESTING: ClassVar[Mapping[str, Collection[str]]] = dict.fromkeys(("magnet_rise", "magnet_rise_rest"), COSTLY)
    PREPARE = two_node_prepare
    LAW = two_nodes
