"""Config of the winding of a motor and its driver."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .config import Config
from .fields import Description, choice_of, described, parameter


def _winding(name: str, unit: str, fallback: object, /, **rule: Unpack[Description]) -> Description:
    """Return the description of a number that is not negative."""
    return described("electrical", name, unit, fallback) | {"lower": 0.0} | rule


@dataclass
class ElectricalConfig(Config):
    """The winding of a motor and its driver, between the controller and the limits: `L·di/dt = V − R·i − K·v`.

    A demanded effort asks for the voltage `(R/K)·effort + K·v`. While that voltage lies within the supply, the driver
    regulates the current and the effort is the demanded one. Beyond, the supply limits the current, at the velocity
    that the step ends with. Values are those at the joint: a torque constant Kt before a gear of ratio N is N·Kt.
    Limits act on the effort of the winding: they do not change its current, so a limit of the driver is `max_current`,
    not a `MaxEffortClampingConfig`. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorElectricalAPI"
    KIND: ClassVar[str] = "electrical"

    torque_constant: float = parameter(**_winding("torqueConstant", "N·m/A or N/A", None, above=True))
    """Effort per current K at the joint [N·m/A or N/A], which is also its back-EMF [V·s/rad or V·s/m]."""
    resistance: float = parameter(**_winding("resistance", "Ω", None, above=True))
    """Resistance R of the winding at 25 °C [Ω]."""
    inductance: float = parameter(0.0, **_winding("inductance", "H", 0.0))
    """Inductance L of the winding [H]; 0 for a current that follows at once, best where L/R is below a quarter step."""
    voltage: float = parameter(math.inf, **_winding("voltage", "V", math.inf, above=True, infinite=True))
    """Voltage of the supply [V]; that of a `SupplyConfig` counts where there is one. inf means no limit."""
    max_current: float = parameter(math.inf, **_winding("maxCurrent", "A", math.inf, infinite=True))
    """Largest current that the driver demands [A]; a derating for temperature scales it. inf means no limit."""
    max_current_rate: float = parameter(math.inf, **_winding("maxCurrentRate", "A/s", math.inf, infinite=True))
    """Largest change of the current that the driver demands [A/s]; inf means no limit."""
    temperature_coefficient: float = parameter(0.0, **_winding("temperatureCoefficient", "1/K", 0.0))
    """Increase of the resistance with the temperature of the winding from 25 °C on [1/K]; 0 for that of its heat."""
    magnet_coefficient: float = parameter(0.0, **_winding("magnetCoefficient", "1/K", 0.0))
    """Decrease of the torque constant with the temperature of the housing from 25 °C on [1/K]; about 0.0011."""
    command: str = parameter("effort", **choice_of("electrical", "command", "effort", "voltage"))
    """Result of the controller: `"effort"`, or `"voltage"` [V] as `ServoControlConfig` does."""
    driver: str = parameter("on", **choice_of("electrical", "driver", "on", "open", "shorted"))
    """`"on"`, or off with the winding open, without current, or shorted, which brakes with K²·v/R."""
    discretization: str = parameter("mean", **choice_of("electrical", "discretization", "mean", "mujoco"))
    """Effort of a step: of the `"mean"` current, or as in MuJoCo's `dcmotor`, of the last one at the first velocity."""
