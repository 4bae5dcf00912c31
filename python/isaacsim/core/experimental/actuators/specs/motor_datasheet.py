"""A motor from the electrical figures of its data sheet, which are checked against each other.

    K = N·Kt,  V = R·i + K·v                       N  gear ratio, Kt  torque constant of the rotor, R  resistance
    stall current  V/R,  stall torque  Kt·(V/R − i0)           i0  no-load current, the share of friction
    no-load speed  (V − R·i0)/Kt,  armature  J·N²              J  rotor inertia
    C_w = τ_w/R_th2,  C_h = τ_m/R_th1                          heat capacities of winding and housing
    continuous current² = (T_max − T_a − R_th1·P₀)/(R_hot·(R_th1 + R_th2))      P₀  no-load losses, in the housing

Figures that are not given follow from these. Where figures that are given twice disagree, the smaller torque counts, at
rest and at any speed. Source: as `datasheet.py`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any

from . import configs
from .fields import Parameter, complaint
from .gear_losses import losses
from .motors import MotorConfig, problems_of
from .thermal import COPPER

_POSITIVE = Parameter("", "float", "", None, lower=0.0, above=True)
_NOT_NEGATIVE = Parameter("", "float", "", None, lower=0.0)
_SHARE = Parameter("", "float", "", None, lower=0.0, above=True, upper=1.0)
_PART = Parameter("", "float", "", None, lower=0.0, upper=1.0)
_TEMPERATURE = Parameter("", "float", "", None, lower=-200.0)
# relative difference from which two figures disagree
_AGREES = 0.1
_HEAT = ("housing_resistance", "winding_resistance", "winding_time", "motor_time", "max_temperature")


@dataclass(frozen=True)
class MotorDataSheet:
    """Figures of a rotor, before the gear, at one voltage; None for a figure that the data sheet does not have.

    Units: V, A, Ω, H, N·m, N·m/A, kg·m² (1e-7 times g·cm²), rad/s (2π/60 times rpm), K/W, s and °C; Kt is 60/(2π·Kv) of
    a speed constant Kv [rpm/V].

    Raises:
        ValueError: A figure is out of range, or torque constant and resistance do not follow from the figures.
    """

    voltage: float
    """Nominal voltage V [V]."""
    torque_constant: float | None = None
    """Torque constant Kt [N·m/A]; None means that of no-load speed, or of stall torque and current."""
    resistance: float | None = None
    """Resistance R [Ω]; None means that of the stall current."""
    stall_torque: float | None = None
    """Torque of the held rotor [N·m]."""
    stall_current: float | None = None
    """Current of the held rotor [A]."""
    no_load_speed: float | None = None
    """Speed of the free rotor [rad/s]."""
    no_load_current: float = 0.0
    """Current of the free rotor i0 [A]."""
    inductance: float = 0.0
    """Inductance of the winding [H]."""
    max_current: float | None = None
    """Largest current of the driver [A]; None means that of the held rotor."""
    gear_ratio: float = 1.0
    """Turns of the rotor per turn of the joint; radians per metre for a joint that slides."""
    rotor_inertia: float = 0.0
    """Inertia of the rotor [kg·m²]."""
    gear_efficiency: float = 1.0
    """Efficiency of the gear, in (0, 1]."""
    no_load_split: float = 0.0
    """Share of the no-load torque that grows with speed, as of eddy currents and grease, 0 … 1."""
    housing_resistance: float | None = None
    """Thermal resistance R_th1 of housing to ambient [K/W]; None means no heat."""
    winding_resistance: float | None = None
    """Thermal resistance R_th2 of winding to housing [K/W]."""
    winding_time: float | None = None
    """Thermal time constant τ_w of the winding [s]."""
    motor_time: float | None = None
    """Thermal time constant τ_m of the motor [s]."""
    max_temperature: float | None = None
    """Largest temperature T_max of the winding [°C]."""
    ambient: float = 25.0
    """Temperature T_a of the surroundings [°C]."""

    def __post_init__(self) -> None:
        rules = dict.fromkeys(vars(self), _POSITIVE)
        rules |= dict.fromkeys(("no_load_current", "inductance", "rotor_inertia"), _NOT_NEGATIVE)
        rules |= dict.fromkeys(("max_temperature", "ambient"), _TEMPERATURE)
        rules |= {"gear_efficiency": _SHARE, "no_load_split": _PART}
        given = {name: value for name, value in vars(self).items() if value is not None}
        if problems := [why for name, value in given.items() if (why := complaint(name, value, rules[name]))]:
            raise ValueError("\n".join(problems))
        self._require_enough()
        self._require_heat()

    def _require_enough(self) -> None:
        if self.resistance is None and self.stall_current is None:
            raise ValueError("resistance = None: must follow from the stall current, which is None, too. Give either.")
        if self.no_load_current * self.ohms >= self.voltage:
            raise ValueError(
                f"no_load_current = {self.no_load_current!r}: must be below the current of the held rotor, "
                f"{self.voltage / self.ohms:g}. Correct either."
            )
        if self.torque_constant is None and self.no_load_speed is None and self.stall_torque is None:
            raise ValueError(
                "torque_constant = None: must follow from no_load_speed or stall_torque, which are None, too. Give one."
            )

    def _require_heat(self) -> None:
        """Raise for figures of heat of which some are missing, or without a rise of temperature."""
        heat = {name: getattr(self, name) for name in _HEAT}
        if None in heat.values() and any(one is not None for one in heat.values()):
            missing = ", ".join(name for name, one in heat.items() if one is None)
            raise ValueError(f"{missing} = None: must be given with the other figures of heat. Give all, or none.")
        if self.max_temperature is not None and self.max_temperature <= self.ambient:
            raise ValueError(
                f"max_temperature = {self.max_temperature!r}: must be above ambient, {self.ambient!r}. Correct either."
            )

    @property
    def ohms(self) -> float:
        """Resistance of the winding [Ω]."""
        if self.resistance is not None:
            return self.resistance
        return self.voltage / (self.stall_current or math.nan)

    @property
    def _constants(self) -> list[float]:
        """Torque constants [N·m/A]: given, of the no-load speed, and of the stall torque."""
        held = self.voltage / self.ohms - self.no_load_current
        return [
            *([] if self.torque_constant is None else [self.torque_constant]),
            *([] if self.no_load_speed is None else [held * self.ohms / self.no_load_speed]),
            *([] if self.stall_torque is None else [self.stall_torque / held]),
        ]

    @property
    def is_contradictory(self) -> bool:
        """True if these figures contradict each other by more than 10 %."""
        return max(self._constants) > (1.0 + _AGREES) * min(self._constants)

    @property
    def constant(self) -> float:
        """Torque constant of the rotor [N·m/A], the smallest one where figures contradict each other."""
        return min(self._constants) if self.is_contradictory else self._constants[0]

    @property
    def no_load_torque(self) -> float:
        """Torque of friction and iron of the free rotor [N·m]."""
        return self.constant * self.no_load_current

    @property
    def continuous_current(self) -> float | None:
        """Current at which the winding of the free-running motor gets T_max [A]; None without figures of heat."""
        if self.max_temperature is None or self.housing_resistance is None or self.winding_resistance is None:
            return None
        speed = (self.voltage - self.ohms * self.no_load_current) / self.constant
        warm = self.max_temperature - self.ambient - self.housing_resistance * self.no_load_torque * speed
        hot = self.ohms * (1.0 + COPPER * (self.max_temperature - 25.0))
        return math.sqrt(max(warm, 0.0) / (hot * (self.housing_resistance + self.winding_resistance)))

    @property
    def disagreements(self) -> list[str]:
        """One message per given figure that differs by more than 10 % from that of the others."""
        held, constant = self.voltage / self.ohms, self._constants[0]
        expected = {
            "stall_current": (held, "voltage/resistance", "A"),
            "stall_torque": (
                constant * (held - self.no_load_current),
                "torque constant·(voltage/resistance - no-load current)",
                "N·m",
            ),
            "no_load_speed": (
                (self.voltage - self.ohms * self.no_load_current) / constant,
                "(voltage - resistance·no-load current)/torque constant",
                "rad/s",
            ),
        }
        return [
            f"{name} = {given:g} {unit}: must be within 10 % of {formula} = {value:g} {unit}. Check the units of these "
            "figures, and whether all are of one voltage."
            for name, (value, formula, unit) in expected.items()
            if (given := getattr(self, name)) is not None and abs(given - value) > _AGREES * value
        ]


def motor_from_datasheet(
    sheet: MotorDataSheet,
    *,
    kp: float | dict[str, float],
    kd: float | dict[str, float],
    delay_steps: int | dict[str, int] | None = None,
) -> MotorConfig:
    """Return a PD-controlled motor with its winding, the limit of its current, its armature and its friction.

    The winding is an `ElectricalConfig` at the joint, which makes the effort fall with speed. The limit at rest is a
    `MaxEffortClampingConfig`, which other programs read, too, and never above a stall torque that is given. The
    friction is the torque of the no-load current; with a gear that loses something it is a `FrictionConfig`. Figures
    of heat add a `ThermalConfig`, and a `LossesConfig` for the heat of friction in the housing. Where figures disagree
    by more than 10 %, the smaller torque constant counts, and the line of a `DCMotorClampingConfig` bounds the effort.

    Args:
        sheet: Figures of the rotor and its gear.
        kp: Stiffness at the joint [N·m/rad or N/m], or by pattern.
        kd: Damping at the joint [N·m·s/rad or N·s/m], or by pattern.
        delay_steps: Command delay [physics steps], or by pattern; None means none.

    Raises:
        ValueError: A number is out of range.

    Warns:
        UserWarning: Figures disagree by more than 10 %; a line for each.

    Example:
        >>> sheet = MotorDataSheet(24.0, 0.05, 0.6, stall_torque=2.0, gear_ratio=10.0, rotor_inertia=1e-5)
        >>> motor = motor_from_datasheet(sheet, kp=80.0, kd=2.0)
        >>> motor.clamping, motor.armature
        ([MaxEffortClampingConfig(max_effort=20.0)], 0.001)
    """
    if disagreements := sheet.disagreements:
        warnings.warn("\n".join(disagreements), stacklevel=2)
    constant, held = sheet.constant * sheet.gear_ratio, sheet.voltage / sheet.ohms
    most = held if sheet.max_current is None else min(sheet.max_current, held)
    winding = configs.ElectricalConfig(
        constant, sheet.ohms, inductance=sheet.inductance, voltage=sheet.voltage, max_current=most
    )
    speed = (sheet.voltage - sheet.ohms * sheet.no_load_current) / constant
    lost = sheet.no_load_torque * sheet.gear_ratio
    coulomb, viscous = lost * (1.0 - sheet.no_load_split), lost * sheet.no_load_split / speed
    armature = sheet.rotor_inertia * sheet.gear_ratio**2
    others: list[configs.Config] = [winding]
    if sheet.gear_efficiency < 1.0:
        of_motor, external = losses(sheet.gear_efficiency, 0.0)
        loads: dict[str, Any] = {"motor_load": of_motor, "external_load": external}
        others.append(configs.FrictionConfig(coulomb, viscous, assumed_inertia=armature, **loads))
        coulomb = viscous = 0.0
    others += _heat_of(sheet, most, lost, speed)
    made = MotorConfig(
        controller=configs.PDControlConfig(kp=kp, kd=kd),  # pyright: ignore[reportArgumentType]
        clamping=_limits_of(sheet, constant * most, held),
        delay=None if delay_steps is None else configs.DelayConfig(delay_steps),  # pyright: ignore[reportArgumentType]
        armature=armature,
        friction=coulomb or None,
        viscous_friction=viscous or None,
        others=others,
    )
    if problems := problems_of(made, "motor"):
        raise ValueError("\n".join(problems))
    return made


def _limits_of(sheet: MotorDataSheet, rest: float, held: float) -> list[configs.ClampingConfig]:
    if sheet.stall_torque is not None:
        rest = min(rest, sheet.stall_torque * sheet.gear_ratio)
    limits: list[configs.ClampingConfig] = [configs.MaxEffortClampingConfig(rest)]
    if sheet.is_contradictory and sheet.no_load_speed is not None:
        line = sheet.stall_torque or sheet.constant * (held - sheet.no_load_current)
        speed = sheet.no_load_speed / sheet.gear_ratio
        limits.insert(0, configs.DCMotorClampingConfig(line * sheet.gear_ratio, speed, rest))
    return limits


def _heat_of(sheet: MotorDataSheet, most: float, lost: float, speed: float) -> list[configs.Config]:
    """Return heat and housing losses of a motor from its largest current, no-load torque and speed, if given."""
    figures = [getattr(sheet, name) for name in _HEAT]
    if None in figures:
        return []
    to_ambient, to_housing, winding_time, motor_time, highest = figures
    heat = configs.ThermalConfig(
        winding_capacity=winding_time / to_housing,
        winding_resistance=to_housing,
        housing_capacity=motor_time / to_ambient,
        housing_resistance=to_ambient,
        ambient=sheet.ambient,
        max_temperature=highest,
        continuous_share=min(1.0, (sheet.continuous_current or 0.0) / most),
    )
    split, gear = sheet.no_load_split, 1.0 - sheet.gear_efficiency
    return [configs.LossesConfig(friction=lost * (1.0 - split), viscous=lost * split / speed, gear=gear), heat]
