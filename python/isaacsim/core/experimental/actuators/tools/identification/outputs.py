"""The columns of logs, besides commands and positions, that a fit compares with what motors simulate."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from ...specs.configs import Config, ElectricalConfig, ServoControlConfig, SupplyConfig
from .log import REQUIRED, MotorLog


@dataclass(frozen=True)
class Output:
    """A column that motors simulate: a state of a law, or, without them, the effort of any motor without friction."""

    law: type[Config] | None = None
    state: str = ""


OUTPUTS = {
    "effort": Output(),
    "current": Output(ElectricalConfig, "current"),
    "volts": Output(SupplyConfig, "supply_voltage"),
    "pwm": Output(ServoControlConfig, "duty"),
}
"""The columns by name. `volts` are those of the supply; `pwm` is the duty of a driver."""

# largest `pwm` that is a duty
_LARGEST_DUTY = 1.05


def further_columns(log: MotorLog) -> tuple[str, ...]:
    """Return the columns of a log besides those that it must have."""
    return tuple(name for name in log.signals if name not in REQUIRED)


def unused(log: MotorLog, joint: int, name: str, simulated: Collection[str]) -> str:
    """Return why a fit does not use a column of a log; empty if it does."""
    if name == "velocity":
        return "it follows from positions"
    if name == "volts" and len(log.joints) > 1:
        return "joints with a winding are simulated with it, and it tells their supply"
    if name not in OUTPUTS:
        return "no motor of a fit simulates it"
    measured = log.signals[name][:, joint]
    if not np.ptp(measured):
        return f"it is {measured[0]:g} throughout"
    if name == "pwm" and (most := float(np.abs(measured).max())) > _LARGEST_DUTY:
        return f"it reaches {most:.3g}, and must be a duty, -1 … 1"
    law = OUTPUTS[name].law
    if name not in simulated and law is not None:
        return f"the motor has no {law.__name__}"
    return ""
