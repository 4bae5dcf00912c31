"""Config of the battery or power supply of a robot."""

from __future__ import annotations

import numbers
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .config import Config
from .fields import Description, described, parameter


def _supply(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    """Return the description of a number that is not negative."""
    return described("supply", name, unit, fallback) | {"lower": 0.0} | rule


@dataclass
class SupplyConfig(Config):
    """The battery or power supply that all actuators of a robot share: its voltage sags under their load.

    `V = ½·(U + √(U² − 4·resistance·P))`, `U = voltage − sag·Σ|effort|`, at least `min_voltage`

    P is the electrical power that all windings of the robot draw, as far as the source can give it, U²/(4·resistance).
    Sums are those of the step before, over all actuators of the robot, also of several wrappers. Windings and limits
    over speed follow the voltage in the step after; in the first step a winding has its own `voltage`. The schema is
    our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorSupplyAPI"
    KIND: ClassVar[str] = "supply"

    voltage: float = parameter(**_supply("voltage", "V", None, above=True))
    """Open-circuit voltage [V]."""
    resistance: float = parameter(0.0, **_supply("resistance", "Ω", 0.0))
    """Internal resistance, with that of the cables [Ω]."""
    sag: float = parameter(0.0, **_supply("sag", "V/(N·m) or V/N", 0.0))
    """Fall of the voltage per sum of the efforts of all motors with this supply [V/(N·m) or V/N], a simpler model."""
    min_voltage: float = parameter(0.0, **_supply("minVoltage", "V", 0.0))
    """Lowest voltage [V], at most `voltage`."""
    regeneration: bool = parameter(
        False, attribute="actuator:supply:regeneration", type="bool", unit="", fallback=False
    )
    """True if power that motors return raises the voltage; otherwise it is lost."""

    def conflicts(self) -> list[str]:
        """Return what is wrong with the lowest voltage."""
        highest, lowest = self.voltage, self.min_voltage
        # values by joint are checked by the law
        if not (isinstance(highest, numbers.Real) and isinstance(lowest, numbers.Real)) or lowest <= highest:
            return []
        return [f"min_voltage = {lowest!r}: must be at most voltage, {highest!r}. Correct either."]
