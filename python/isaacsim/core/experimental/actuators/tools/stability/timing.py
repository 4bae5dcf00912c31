"""When joints are measured and efforts act: latency, rate, and how the velocity is measured.

A controller computes every P physics steps, at the step T = P·dt of its law, and its effort is held. It has the
position that was measured L steps of the controller before, with `n = floor(L)` and `f = L − n`

    q_m[k] = (1 − f)·q[k − n] + f·q[k − n − 1]

and the velocity as late. An effort delay does the same to the held effort, in physics steps, and a lag of the effort
follows that, exactly as its law does. The latency of a
measurement is linear and of one joint, so it acts on the effort that a PD or PID law returns as it does on what the law
gets. Resolution, bias and noise of an encoder are not in here: they do not decide whether motion grows.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any, Final

import numpy as np

from ...engine.actuator import Actuator
from ...laws.rate_hold import steps_in_period
from ...specs.command import EffortLagConfig
from ...specs.encoder import EncoderConfig
from ...specs.late import EffortDelayConfig
from ...specs.rate import RateConfig
from ..feedback import config_of

_ROWS: Final = tuple(
    "seconds steps effort_seconds effort_steps difference filter_time decimation frequency effort_lag".split()
)
# largest denominator of the physics steps of a period, and most steps after which a pattern counts as repeated
_DENOMINATOR, _LONGEST_PATTERN = 16, 4096
# a latency that is this close to a whole number of steps is that number
_WHOLE = 1e-6
# steps of latency of all joints together that are represented one by one, and those that each joint may have at least
_EXACT, _EACH = 100, 8
# steps of a latency that are as good as infinitely many
_FINEST = 32


class Timing:
    """When the joints of a robot are measured and their efforts act, as `values`, shape `(9, …, J)`.

    Latency of the measurement [s] and [steps of the controller], delay of the effort [s] and [physics steps], 1 if the
    velocity is a difference of positions, time constant of its filter [s], physics steps of a period, periods per
    second [Hz], which replace them if they are not 0, and time constant of the lag of the effort [s].
    """

    def __init__(self, values: np.ndarray) -> None:
        self.values = values

    @classmethod
    def prompt(cls, *shape: int) -> Timing:
        """Return the timing of joints without latency, measured and moved at each physics step."""
        values = np.zeros((len(_ROWS), *shape))
        values[_ROWS.index("decimation")] = 1.0
        return cls(values)

    @staticmethod
    def is_in(config: object) -> bool:
        """Return True if a config is one of those that make a timing."""
        return isinstance(config, EncoderConfig | EffortDelayConfig | EffortLagConfig | RateConfig)

    @classmethod
    def of(cls, configs: Iterable[object], *shape: int) -> Timing:
        """Return the timing that configs make, of `shape`, whose last dimension is the joints; others have no effect.

        Values of configs are numbers or arrays that broadcast to `shape`.
        """
        made = cls.prompt(*shape)
        for config in configs:
            for name, value in _rows_of(config).items():
                made.values[_ROWS.index(name)] = value
        return made

    def __getitem__(self, key: Any) -> Timing:
        """Return the timing of some joints, or of some joints of a robot."""
        return Timing(self.values[(slice(None), *key) if isinstance(key, tuple) else (slice(None), key)])

    def _row(self, name: str) -> np.ndarray:
        return self.values[_ROWS.index(name)]

    def later(self, seconds: object) -> Timing:
        """Return the timing with more latency [s]."""
        made = Timing(self.values.copy())
        made.values[_ROWS.index("seconds")] += seconds
        return made

    @property
    def shortest_resolved_step(self) -> float:
        """Shortest step that is worth a look [s]: latencies and periods in seconds then take many steps."""
        rate = self._row("frequency")
        periods = np.divide(1.0, rate, out=np.zeros_like(rate), where=rate > 0.0)
        late = self._row("seconds") + self._row("effort_seconds") + self._row("effort_lag")
        return float((late + periods).max(initial=0.0)) / _FINEST

    def periods(self, dt: float) -> np.ndarray:
        """Return the physics steps of a period, `(J,)`, at least 1 and not always whole."""
        return steps_in_period(self._row("decimation"), self._row("frequency"), dt)

    def pattern(self, dt: float) -> np.ndarray:
        """Return which joints compute in each physics step until all is repeated, a mask `(steps, J)`."""
        found = self.periods(dt)
        if (found == 1.0).all():
            return np.ones((1, len(found)), bool)
        periods = [Fraction(float(one)).limit_denominator(_DENOMINATOR) for one in found]
        length = min(math.lcm(*(one.numerator for one in periods)), _LONGEST_PATTERN)
        due = [[math.floor(step / one) != math.floor((step - 1) / one) for one in periods] for step in range(length)]
        return np.array(due, bool).reshape(length, len(periods))

    def resolved(self, dt: float) -> Timing:
        """Return a timing with fewer steps of latency, where they are too many for a matrix.

        The period of such a joint is longer, and its latency shorter by what that holds its effort on average.
        """
        most = max(_EACH, _EXACT // max(self.values.shape[1], 1))
        many = self.latency_steps(dt).sum(axis=0) > most
        if not many.any():
            return self
        made, old = Timing(self.values.copy()), self.periods(dt)[many]
        steps = self.latencies(dt)[many] / dt - (old - 1.0) / 2.0
        periods = old * np.ceil(steps / (old * most))
        values = dict(zip(_ROWS, made.values, strict=True))
        for name in ("seconds", "effort_seconds", "effort_steps", "frequency", "difference"):
            values[name][many] = 0.0
        values["decimation"][many] = periods
        values["steps"][many] = (steps - (periods - old) / 2.0) / periods
        return made

    def latency_steps(self, dt: float) -> np.ndarray:
        """Return the latency of the measurement, in steps of the controller, and of the effort, in physics steps."""
        measured = self._row("seconds") / (self.periods(dt) * dt) + self._row("steps")
        return np.array([measured, self._row("effort_seconds") / dt + self._row("effort_steps")])

    def weights(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the weights of now and of the steps before, of measurements and of efforts, each `(J, steps + 1)`."""
        measured, acting = (_weights_of(steps) for steps in self.latency_steps(dt))
        return measured, acting

    def filter_shares(self, dt: float) -> np.ndarray:
        """Return the share of a new velocity in the filtered one, `(J,)`; 1 without a filter."""
        times = self.periods(dt) * dt
        return times / (self._row("filter_time") + times)

    def lag_shares(self, dt: float) -> np.ndarray:
        """Return the share of a new effort in the lagged one, `(J,)`; 1 without a lag."""
        lags = self._row("effort_lag")
        return -np.expm1(-np.divide(dt, lags, out=np.full_like(lags, np.inf), where=lags > 0.0))

    @property
    def differences(self) -> np.ndarray:
        """Mask of the joints whose velocity is a difference of positions."""
        return self._row("difference") > 0.0

    def latencies(self, dt: float) -> np.ndarray:
        """Return how late efforts act on what was measured, on average [s], `(J,)`.

        Latency, delay and lag of the effort, and half of what a period of the controller is longer than the physics
        step.
        """
        periods, (measured, acting) = self.periods(dt), self.latency_steps(dt)
        return dt * (periods * measured + acting + (periods - 1.0) / 2.0) + self._row("effort_lag")


def timing_of(actuator: Actuator) -> Timing:
    """Return the timing that the stages of an actuator make with their current parameters, `(robots, joints)`."""
    flat = Timing.of([config_of(stage) for stage in actuator.stages], actuator.num_actuators)
    return Timing(flat.values.reshape(len(_ROWS), -1, len(actuator.dof_names)))


def _rows_of(config: object) -> dict[str, Any]:
    """Return the rows that a config sets."""
    if isinstance(config, EncoderConfig):
        chosen = np.asarray(config.velocity)
        return {
            "seconds": config.latency,
            "steps": config.latency_steps,
            "difference": chosen < 0.5 if chosen.dtype.kind == "f" else chosen == "difference",
            "filter_time": config.velocity_filter,
        }
    if isinstance(config, EffortDelayConfig):
        return {"effort_seconds": config.seconds, "effort_steps": config.steps}
    if isinstance(config, EffortLagConfig):
        return {"effort_lag": config.time_constant}
    return {"decimation": config.decimation, "frequency": config.frequency} if isinstance(config, RateConfig) else {}


def _weights_of(latencies: np.ndarray) -> np.ndarray:
    """Return the weights of now and of the steps before, `(J, steps + 1)`, of latencies in steps."""
    if not latencies.any():
        return np.ones((len(latencies), 1))
    whole, rows = np.floor(latencies + _WHOLE).astype(int), np.arange(len(latencies))
    part = np.where(latencies - whole > _WHOLE, latencies - whole, 0.0)
    weights = np.zeros((len(rows), whole.max() + 2))
    weights[rows, whole] = 1.0 - part
    weights[rows, whole + 1] = part
    return weights
