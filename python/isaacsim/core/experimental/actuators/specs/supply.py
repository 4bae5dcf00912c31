"""Config of the battery or power supply of a robot."""

from __future__ import annotations

import functools
import math
import numbers
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from .config import Config
from .fields import described, parameter, required

_supply = functools.partial(described, "supply", lower=0.0)


@dataclass
class SupplyConfig(Config):
    """The battery or power supply that all actuators of a robot share: its voltage sags under their load.

    `V = ½·(U + √(U² − 4·resistance·P))`, `U = voltage − sag·Σ|effort|`, at least `min_voltage`

    P is the electrical power that all windings of the robot draw, as far as the source can give it, U²/(4·resistance).
    Sums are those of the step before, over all actuators of the robot, also of several wrappers. Windings and limits
    over speed follow the voltage in the step after; in the first step a winding has its own `voltage`. Power that
    motors return and the source does not take goes into a brake resistor, and is recorded as `brake_power`. A battery
    with a capacity empties: its open-circuit voltage falls in a straight line from `voltage` to `empty_voltage`, or in
    two with a knee. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorSupplyAPI"
    KIND: ClassVar[str] = "supply"

    voltage: float = required(**_supply("voltage", "V", None, above=True))
    """Open-circuit voltage [V]."""
    resistance: float = parameter(**_supply("resistance", "Ω", 0.0))
    """Internal resistance, with that of the cables [Ω]."""
    sag: float = parameter(**_supply("sag", "V/(N·m) or V/N", 0.0))
    """Fall of the voltage per sum of the efforts of all motors with this supply [V/(N·m) or V/N], a simpler model."""
    min_voltage: float = parameter(**_supply("minVoltage", "V", 0.0))
    """Lowest voltage [V], at most `voltage`."""
    regeneration: bool = parameter(**described("supply", "regeneration", "", False, type="bool"))
    """True if power that motors return raises the voltage; otherwise it is lost."""
    max_voltage: float = parameter(**_supply("maxVoltage", "V", math.inf, above=True, infinite=True))
    """Voltage at which a brake resistor takes what motors return [V], at least `voltage`; inf for no bound."""
    brake_resistance: float = parameter(**_supply("brakeResistance", "Ω", 0.0))
    """Brake resistor [Ω]: fully on it lets the voltage rise further; 0 for one that takes everything."""
    capacity: float = parameter(**_supply("capacity", "A·h", math.inf, above=True, infinite=True))
    """Charge of a full battery [A·h]; inf for one that never empties."""
    charge: float = parameter(**_supply("charge", "", 1.0, upper=1.0))
    """Share of the capacity that is left at the start and after a reset, 0 … 1."""
    empty_voltage: float = parameter(**_supply("emptyVoltage", "V", 0.0))
    """Open-circuit voltage of an empty battery [V]."""
    knee_charge: float = parameter(**_supply("kneeCharge", "", 0.0, upper=1.0))
    """Share of the capacity below which the voltage falls faster; 0 for a straight line."""
    knee_voltage: float = parameter(**_supply("kneeVoltage", "V", 0.0))
    """Open-circuit voltage there [V]."""
    max_power: float = parameter(**_supply("maxPower", "W", math.inf, above=True, infinite=True))
    """Power that all motors of the robot may draw [W]: windings then get a smaller share of their current."""
    max_current: float = parameter(**_supply("maxCurrent", "A", math.inf, above=True, infinite=True))
    """Current of the source that they may draw [A], as a limit of power at the voltage of the step."""

    def conflicts(self) -> list[str]:
        """Return what is wrong between voltages."""
        pairs = (("min_voltage", "voltage"), ("voltage", "max_voltage"), ("empty_voltage", "voltage"))
        if isinstance(self.knee_charge, numbers.Real) and self.knee_charge > 0.0:
            pairs += (("empty_voltage", "knee_voltage"), ("knee_voltage", "voltage"))
        values = {name: getattr(self, name) for name in chain(*pairs)}
        # values by joint are checked by the law
        if not all(isinstance(one, numbers.Real) for one in values.values()):
            return []
        return [
            f"{high} = {values[high]!r}: must be at least {low}, {values[low]!r}. Correct either."
            if low == "voltage"
            else f"{low} = {values[low]!r}: must be at most {high}, {values[high]!r}. Correct either."
            for low, high in pairs
            if values[low] > values[high]
        ]
