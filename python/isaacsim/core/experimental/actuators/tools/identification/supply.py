"""The supply that several joints share, from its measured voltage.

Each joint is simulated with the measured voltage, as it is with the measured motion of the others. The currents of all
together then tell the supply: V = U − R·I, I = Σ power / V, a line through the samples.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...specs.motors import MotorConfig
from .decoupling import Decoupled
from .fit import Bench, Fit, uncertainty
from .log import MotorLog
from .parameters import has_place, with_values


@dataclass(frozen=True)
class SharedSupply:
    """Open-circuit voltage [V] and internal resistance [Ω] of a supply of all joints, with standard errors."""

    numbers: tuple[float, float]
    errors: tuple[float, float]

    def given_to(self, motor: MotorConfig) -> MotorConfig:
        """Return a motor with this supply, if it has a winding with a voltage."""
        if not has_place(motor, "supply_resistance"):
            return motor
        voltage, resistance = self.numbers
        # the first one adds the stage
        return with_values(motor, {"supply_resistance": resistance, "supply.voltage": voltage})


def require_volts(logs: Sequence[MotorLog]) -> None:
    """Raise for logs of several joints of which some have volts and some have none."""
    having = [log.source for log in logs if "volts" in log.signals]
    if len(logs[0].joints) > 1 and having and len(having) < len(logs):
        raise ValueError(f"volts: {', '.join(having)}: must be in all logs or in none. Leave the column out.")


def shared_supply(benches: Sequence[Bench], fits: Sequence[Fit], cases: Sequence[Decoupled]) -> SharedSupply | None:
    """Return the supply of joints that were simulated with its measured voltage; None if logs do not tell it."""
    volts, currents = list[np.ndarray](), list[np.ndarray]()
    for case in cases:
        measured = case.log.signals["volts"].mean(1)
        power = np.sum([bench.power(case, fit.values) for bench, fit in zip(benches, fits, strict=True)], axis=0)
        # a supply that takes nothing up counts returned power as none
        currents.append(np.maximum(power, 0.0) / measured)
        volts.append(measured)
    voltage, current = np.concatenate(volts), np.concatenate(currents)
    if not np.isfinite(current).all() or not current.any():
        return None
    slopes = np.stack([np.ones_like(current), -current], 1)
    found = np.linalg.lstsq(slopes, voltage, rcond=None)[0]
    errors, _ = uncertainty(slopes @ found - voltage, slopes, np.ones(2))
    if not found[1] > errors[1]:
        return None
    return SharedSupply((float(found[0]), float(found[1])), (float(errors[0]), float(errors[1])))
