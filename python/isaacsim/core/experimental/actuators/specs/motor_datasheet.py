"""A motor from the electrical figures of its data sheet, which are checked against each other.

    K = N·Kt,  V = R·i + K·v                       N  gear ratio, Kt  torque constant of the rotor, R  resistance
    stall current  V/R,  stall torque  Kt·(V/R − i0)           i0  no-load current, the share of friction
    no-load speed  (V − R·i0)/Kt,  armature  J·N²              J  rotor inertia

Figures that are not given follow from these; figures that are given twice must agree. Source: as `datasheet.py`.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass

from .configs import DelayConfig, ElectricalConfig, MaxEffortClampingConfig, PDControlConfig
from .fields import Parameter, complaint
from .motors import MotorConfig, problems_of

_POSITIVE = Parameter("", "float", "", None, lower=0.0, above=True)
_NOT_NEGATIVE = Parameter("", "float", "", None, lower=0.0)
# relative difference from which two figures disagree
_AGREES = 0.1


@dataclass(frozen=True)
class MotorDataSheet:
    """Figures of a rotor, before the gear, at one voltage; None for a figure that the data sheet does not have.

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

    def __post_init__(self) -> None:
        zero = ("no_load_current", "inductance", "rotor_inertia")
        rules = {name: _NOT_NEGATIVE if name in zero else _POSITIVE for name in vars(self)}
        given = {name: value for name, value in vars(self).items() if value is not None}
        if problems := [why for name, value in given.items() if (why := complaint(name, value, rules[name]))]:
            raise ValueError("\n".join(problems))
        self._require_enough()

    def _require_enough(self) -> None:
        """Raise for figures from which resistance and torque constant do not follow."""
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

    @property
    def ohms(self) -> float:
        """Resistance of the winding [Ω]."""
        if self.resistance is not None:
            return self.resistance
        return self.voltage / (self.stall_current or math.nan)

    @property
    def constant(self) -> float:
        """Torque constant of the rotor [N·m/A]."""
        if self.torque_constant is not None:
            return self.torque_constant
        if self.no_load_speed is not None:
            return (self.voltage - self.ohms * self.no_load_current) / self.no_load_speed
        return (self.stall_torque or math.nan) / (self.voltage / self.ohms - self.no_load_current)

    @property
    def disagreements(self) -> list[str]:
        """One message per given figure that differs by more than 10 % from that of the others."""
        held = self.voltage / self.ohms
        expected = {
            "stall_current": (held, "voltage/resistance", "A"),
            "stall_torque": (
                self.constant * (held - self.no_load_current),
                "torque constant·(voltage/resistance - no-load current)",
                "N·m",
            ),
            "no_load_speed": (
                (self.voltage - self.ohms * self.no_load_current) / self.constant,
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
    `MaxEffortClampingConfig`, which other programs read, too. The friction is the torque of the no-load current.

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
    winding = ElectricalConfig(
        constant, sheet.ohms, inductance=sheet.inductance, voltage=sheet.voltage, max_current=most
    )
    made = MotorConfig(
        controller=PDControlConfig(kp=kp, kd=kd),  # pyright: ignore[reportArgumentType]
        clamping=[MaxEffortClampingConfig(constant * most)],
        delay=None if delay_steps is None else DelayConfig(delay_steps),  # pyright: ignore[reportArgumentType]
        armature=sheet.rotor_inertia * sheet.gear_ratio**2,
        friction=constant * sheet.no_load_current if sheet.no_load_current else None,
        others=[winding],
    )
    if problems := problems_of(made, "motor"):
        raise ValueError("\n".join(problems))
    return made
