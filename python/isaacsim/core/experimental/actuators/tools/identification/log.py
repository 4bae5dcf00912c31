"""`MotorLog`: commands and measurements of the joints of a robot over time."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...base.values import as_numbers

REQUIRED = ("command", "position")
"""Signals that each log has: the position target as sent, and the measured position [rad or m]."""

STILL = 1e-4
"""Range of a command or a position below which a joint rests [rad or m]."""

SIGNALS = {
    "command": "rad or m",
    "position": "rad or m",
    "velocity": "rad/s or m/s",
    "effort": "N·m or N",
    "current": "A",
    "volts": "V",
    "pwm": "",
    "temperature": "°C",
    "enabled": "",
}
"""Unit of each signal that a log may have, by name."""

UNITS: dict[str, dict[str, float]] = {
    "s": {"s": 1.0, "ms": 1e-3, "us": 1e-6, "µs": 1e-6, "ns": 1e-9},
    "rad or m": {
        **{"rad": 1.0, "deg": math.pi / 180.0, "mrad": 1e-3, "rev": 2.0 * math.pi},
        **{"m": 1.0, "cm": 1e-2, "mm": 1e-3},
    },
    "rad/s or m/s": {
        **{"rad/s": 1.0, "deg/s": math.pi / 180.0, "rpm": math.pi / 30.0},
        **{"m/s": 1.0, "cm/s": 1e-2, "mm/s": 1e-3},
    },
    "N·m or N": {"N·m": 1.0, "Nm": 1.0, "mNm": 1e-3, "N": 1.0},
    "A": {"A": 1.0, "mA": 1e-3},
    "V": {"V": 1.0, "mV": 1e-3},
    "°C": {"°C": 1.0},
    "": {"%": 1e-2},
}
"""Units that columns of files may have, and what one of each is, by the unit of a log."""


@dataclass(frozen=True, eq=False)
class MotorLog:
    """A log of a robot, a row per sample and a column per joint.

    Args:
        time: Time of each sample [s], shape `(samples,)`, rising; steps may differ.
        joints: Names of the joints, one per column.
        signals: Signals by name, each of shape `(samples, joints)` and finite. Required are `command`, the position
            target as sent [rad or m], and `position`, the measured position [rad or m]. Optional are `velocity`
            [rad/s or m/s], `effort` of the motor, without friction of the joint [N·m or N], `current` [A], `volts` of
            the supply [V], `pwm` as a duty, `temperature` [°C] and `enabled`.
        source: Origin of the log, such as the path of a file; errors and reports name it.
        settings: Values that parameters of the motors had during this log, by name, such as `{"kp": 400.0}`.

    Raises:
        ValueError: A signal is missing, unknown, of another shape or not finite, or times do not rise; the message
            names it.

    Example:
        >>> import numpy as np
        >>> time = np.arange(3) * 0.01
        >>> MotorLog(time, ["hip"], {"command": np.zeros((3, 1)), "position": np.zeros((3, 1))}).duration
        0.02
    """

    time: np.ndarray
    joints: Sequence[str]
    signals: Mapping[str, np.ndarray]
    source: str = "log"
    settings: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        time = np.array(as_numbers(self.time, "time"), np.float64)
        object.__setattr__(self, "time", time)
        object.__setattr__(self, "joints", tuple(self.joints))
        if time.ndim != 1 or len(time) < 2:
            raise ValueError(f"{self.source}: time has shape {time.shape}: must be (samples,), at least 2.")
        if not np.isfinite(time).all() or (np.diff(time) <= 0).any():
            row = int(np.argmin(np.r_[True, np.diff(time) > 0]))
            raise ValueError(
                f"{self.source}: time[{row}] = {time[row]}: must rise from row to row. Sort or cut the log."
            )
        if missing := [name for name in REQUIRED if name not in self.signals]:
            raise ValueError(f"{self.source}: {', '.join(missing)}: missing. A log must have {' and '.join(REQUIRED)}.")
        object.__setattr__(self, "signals", {name: self._checked(name, one) for name, one in self.signals.items()})

    def _checked(self, name: str, values: np.ndarray) -> np.ndarray:
        if name not in SIGNALS:
            raise ValueError(f"{self.source}: {name}: must be one of {', '.join(SIGNALS)}. Rename or drop the column.")
        array = np.array(as_numbers(values, name), np.float64)
        if array.shape != (shape := (len(self.time), len(self.joints))):
            raise ValueError(f"{self.source}: {name} has shape {array.shape}: must be {shape}, (samples, joints).")
        if not (finite := np.isfinite(array)).all():
            row, joint = map(int, np.argwhere(~finite)[0])
            raise ValueError(
                f"{self.source}: {name} of {self.joints[joint]}, row {row} = {array[row, joint]}: must be finite. Cut "
                "the log there, or repair it."
            )
        array.setflags(write=False)
        return array

    @property
    def duration(self) -> float:
        """Time from the first to the last sample [s]."""
        return float(self.time[-1] - self.time[0])

    @property
    def dt(self) -> float:
        """Median time between samples [s]."""
        return float(np.median(np.diff(self.time)))

    @property
    def command(self) -> np.ndarray:
        """Position targets as sent [rad or m], shape `(samples, joints)`."""
        return self.signals["command"]

    @property
    def position(self) -> np.ndarray:
        """Measured positions [rad or m], shape `(samples, joints)`."""
        return self.signals["position"]

    def moves(self, joint: int) -> bool:
        """Return whether a joint, by its number, moves and was to move, so that the log tells of its motor."""
        return bool(min(np.ptp(self.command[:, joint]), np.ptp(self.position[:, joint])) >= STILL)

    def columns(self, joints: Sequence[str]) -> MotorLog:
        """Return the log of some of its joints, in that order.

        Raises:
            ValueError: The log lacks one of them.
        """
        if unknown := [name for name in joints if name not in self.joints]:
            raise ValueError(f"{self.source}: it lacks {', '.join(unknown)}: must have a column for each joint.")
        at = [list(self.joints).index(name) for name in joints]
        signals = {name: one[:, at] for name, one in self.signals.items()}
        return MotorLog(self.time, joints, signals, self.source, self.settings)

    def evenly(self, dt: float) -> MotorLog:
        """Return the log with samples every `dt` seconds, interpolated linearly; its times begin at 0."""
        time = np.arange(0.0, self.duration + 1e-9, dt)
        past = self.time - self.time[0]
        signals = {
            name: np.stack([np.interp(time, past, one[:, j]) for j in range(len(self.joints))], 1)
            for name, one in self.signals.items()
        }
        return MotorLog(time, self.joints, signals, self.source, self.settings)
