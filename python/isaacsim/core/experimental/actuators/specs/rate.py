"""Config of the rate at which a controller runs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from .config import Config
from .fields import described, parameter


@dataclass
class RateConfig(Config):
    """Rate of a controller: it computes every few physics steps, and holds its effort until the next time.

    Sensor, delays and control law run at this rate: their state changes, and their delays count, in steps of the
    controller. Limits, winding, transmission and friction act at every physics step, on the held effort. The control
    law gets the period as its step. A rate that physics steps do not divide is kept on average: the controller
    computes at the first physics step that is due. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorRateAPI"
    KIND: ClassVar[str] = "rate"

    decimation: int = parameter(**described("rate", "decimation", "physics steps", 1, type="int", lower=1, upper=4096))
    """Number of physics steps from one computation to the next."""
    frequency: float = parameter(**described("rate", "frequency", "Hz", 0.0, lower=0.0))
    """Computations per second [Hz], in place of `decimation`; at most one in a physics step. 0 for none."""
    phase: float = parameter(**described("rate", "phase", "", 0.0, lower=0.0, upper=1.0))
    """Part of a period that has passed at a reset, from 0 to 1; robots may differ. The first step always computes."""

    def period(self, dt: float) -> float:
        """Return the mean time between two computations [s], from the physics step [s]."""
        return max(1.0 / self.frequency, dt) if self.frequency else self.decimation * dt
