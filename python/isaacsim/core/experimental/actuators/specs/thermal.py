"""Config of the heat of a motor."""

from __future__ import annotations

import dataclasses
import functools
import math
import numbers
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import ClassVar, Self, cast

from ..base.errors import shown
from .config import Config
from .electrical import ElectricalConfig
from .fields import choice_of, described, entries_of, parameter, required
from .stages import AnyStage, Staged

COPPER = 0.00393
"""Temperature coefficient of copper [1/K]."""
DERATING = 10.0
"""By how much a derating whose start is not given starts below its end [K]."""

_heat = functools.partial(described, "thermal")


@dataclass
class ThermalConfig(Config):
    """The heat of a motor: two nodes, winding and housing, and the share of the effort that the temperature leaves.

    `C_w·dT_w/dt = P − (T_w − T_h)/R_w`, `C_h·dT_h/dt = (T_w − T_h)/R_w − (T_h − T_a)/R_h`

    P is the loss of the winding, effort² over the square of the motor constant, at the effort after all limits. Without
    a capacity of the housing it is the single node of MuJoCo, the housing at ambient temperature. The motor runs away
    from `effort²·temperature_coefficient·(winding_resistance + housing_resistance) ≥ motor_constant²` on. Laws that
    limit the effort multiply their limits by `continuous_share + λ·(1 − continuous_share)`, where λ falls from 1 at
    `derating_start` to 0 at `max_temperature`. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorThermalAPI"
    KIND: ClassVar[str] = "thermal"

    winding_capacity: float = required(**_heat("windingCapacity", "J/K", None, lower=1e-6))
    """Heat capacity C_w of the winding [J/K]."""
    winding_resistance: float = required(**_heat("windingResistance", "K/W", None, lower=1e-6))
    """Thermal resistance R_w from the winding to the housing [K/W]."""
    housing_capacity: float = parameter(**_heat("housingCapacity", "J/K", math.inf, lower=1e-6, infinite=True))
    """Heat capacity C_h of the housing [J/K]; inf for a housing that stays at ambient temperature."""
    housing_resistance: float = parameter(**_heat("housingResistance", "K/W", math.inf, lower=1e-6, infinite=True))
    """Thermal resistance R_h from the housing to the surroundings [K/W]; inf for a housing that is not cooled."""
    ambient: float = parameter(**_heat("ambient", "°C", 25.0, lower=-200.0))
    """Temperature T_a of the surroundings, and of a cold motor [°C]."""
    motor_constant: float = parameter(**_heat("motorConstant", "N·m/√W or N/√W", math.inf, lower=1e-6, infinite=True))
    """Effort per square root of the loss at 25 °C, K/√R at the joint [N·m/√W or N/√W]; inf for that of the winding."""
    temperature_coefficient: float = parameter(**_heat("temperatureCoefficient", "1/K", COPPER, lower=0.0))
    """Increase of resistance and loss with the temperature of the winding from 25 °C on [1/K]; copper by default."""
    derating_start: float = parameter(**_heat("deratingStart", "°C", math.inf, infinite=True))
    """Temperature of the winding at which the derating starts [°C]; inf for 10 K below `max_temperature`."""
    max_temperature: float = parameter(**_heat("maxTemperature", "°C", math.inf, infinite=True))
    """Temperature of the winding at which the continuous share of the effort is left [°C]; inf for no derating."""
    continuous_share: float = parameter(**_heat("continuousShare", "", 0.0, lower=0.0, upper=1.0))
    """Share of the peak effort that is left at `max_temperature`: continuous effort over peak effort."""
    reset: str = parameter(**choice_of("thermal", "reset", "ambient", "kept"))
    """Temperatures after a reset: `"ambient"`, or `"kept"` for a motor that stays as warm as it was."""
    discretization: str = parameter(**choice_of("thermal", "discretization", "exact", "mujoco", "mujoco_inductance"))
    """Step: `"exact"`; that of MuJoCo's `dcmotor`, `"mujoco"`; or of one with an inductance, `"mujoco_inductance"`."""

    magnet_share: float = parameter(**_heat("magnetShare", "", 0.0, lower=0.0, upper=1.0))
    """Where the magnets settle between the temperatures of housing, 0, and winding, 1."""
    magnet_time: float = parameter(**_heat("magnetTime", "s", 0.0, lower=0.0))
    """Time constant with which the magnets follow [s]; 0 for at once."""

    def conflicts(self) -> list[str]:
        """Return what is wrong with the interval of the derating."""
        start, end = self.derating_start, self.max_temperature
        # values by joint are checked by the law
        if not (isinstance(start, numbers.Real) and isinstance(end, numbers.Real)) or math.inf in (start, end):
            return []
        if start < end:
            return []
        return [f"derating_start = {start!r}: must be below max_temperature, {end!r}. Correct either."]

    def idle(self) -> dict[str, str]:
        """The start of a derating that has no end."""
        if math.isfinite(self.derating_start) and math.isinf(self.max_temperature):
            return {
                "derating_start": "an infinite actuator:thermal:maxTemperature means no derating. Author the "
                "temperature at which it ends."
            }
        return {}

    @classmethod
    def i2t(cls, continuous_effort: float, peak_effort: float, peak_time: float) -> Self:
        """Return the I²t limit of a drive: the effort falls to the continuous one as its budget of heat is used up.

        The budget fills with effort², and leaks so that the continuous effort just uses it up. Its filling is
        published as a temperature of 25 °C for an empty budget and 125 °C for a full one; the derating begins at
        115 °C.

        Args:
            continuous_effort: Effort that the drive gives for ever [N·m or N].
            peak_effort: Effort of an empty budget [N·m or N].
            peak_time: Time for which a drive with an empty budget gives the peak effort [s].

        Raises:
            ValueError: The efforts are not `0 < continuous_effort < peak_effort`, or the time is not positive.

        Example:
            >>> drive = ThermalConfig.i2t(continuous_effort=10.0, peak_effort=30.0, peak_time=3.0)
            >>> drive.continuous_share, round(drive.winding_capacity, 2)
            (0.3333333333333333, 25.47)
        """
        if not (0 < continuous_effort < peak_effort < math.inf and 0 < peak_time < math.inf):
            raise ValueError(
                f"ThermalConfig.i2t({continuous_effort!r}, {peak_effort!r}, {peak_time!r}): must have 0 < "
                "continuous_effort < peak_effort and peak_time > 0, all finite. Correct them."
            )
        share = continuous_effort / peak_effort
        return cls(
            winding_capacity=-peak_time / math.log1p(-(share**2)),
            winding_resistance=1.0,
            motor_constant=continuous_effort / 10.0,
            temperature_coefficient=0.0,
            derating_start=115.0,
            max_temperature=125.0,
            continuous_share=share,
        )


_COPPER = ElectricalConfig, ThermalConfig


def heat_problems(staged: Staged, subject: str) -> list[str]:
    """Return one message per thermal stage of a motor whose loss is not known, so that it would never warm up."""
    if any(kind == "electrical" for kind, _ in staged.by_kind):
        return []
    return [
        f"{subject} has ThermalConfig without motor_constant: must have one, or an ElectricalConfig, for the loss of "
        "the winding. Add either."
        for _, stage in staged.by_kind
        if isinstance(stage, ThermalConfig) and any(map(math.isinf, entries_of(stage.motor_constant)))
    ]


def with_copper(others: Sequence[AnyStage]) -> list[AnyStage]:
    """Return the stages of a motor, with the temperature coefficient of its heat for a winding that has none."""
    winding, coefficient = _copper_of(others)
    return [dataclasses.replace(one, temperature_coefficient=coefficient) if one is winding else one for one in others]


def _winding_and_heat(others: Iterable[object]) -> list[AnyStage] | None:
    both = [next((one for one in others if isinstance(one, kind)), None) for kind in _COPPER]
    return None if None in both else both


def _copper_of(others: Sequence[object]) -> tuple[AnyStage, AnyStage]:
    """The winding that has no temperature coefficient, and that of its heat; None without such a winding."""
    if not (both := _winding_and_heat(others)):
        return None, None
    winding, heat = both
    own, common = winding.temperature_coefficient, heat.temperature_coefficient
    if isinstance(own, Mapping):
        # values by joint, of either
        mine = cast(Mapping[str, float], own)
        theirs = cast(Mapping[str, float], common) if isinstance(common, Mapping) else dict.fromkeys(mine, common)
        return winding, {name: value or theirs.get(name, value) for name, value in mine.items()}
    if hasattr(own, "shape") and not hasattr(own, "numpy") and not isinstance(common, Mapping):
        return winding, own + (own == 0.0) * common
    return (winding, cast(AnyStage, common)) if entries_of(own) == [0.0] else (None, None)


def copper_problems(staged: Staged, subject: str) -> list[str]:
    """Return what is wrong between two temperature coefficients of one winding."""
    if not (both := _winding_and_heat(staged.others)):
        return []
    winding, heat = both
    own, common = ({*entries_of(one.temperature_coefficient)} - {0.0} for one in both)
    # that of copper may not have been given
    if not own or not common or _are_among(own, common) or _are_among(common, {COPPER}):
        return []
    return [
        f"{subject}: ElectricalConfig.temperature_coefficient = {shown(winding.temperature_coefficient)} beside "
        f"ThermalConfig.temperature_coefficient = {shown(heat.temperature_coefficient)}: must be the same, as both are "
        "of one winding. Leave out the former, or correct either."
    ]


def _are_among(some: set[float], others: set[float]) -> bool:
    """Return True if numbers are among others, but for the rounding of single precision, as files have them."""
    return all(any(math.isclose(one, other, rel_tol=1e-6) for other in others) for one in some)
