"""`ExcitationPlan`: joints, motions, duration, and sizes of an excitation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from ...base.errors import shown
from ...specs.patterns import pattern_problem
from .waves import WAVES

# highest frequency by default [Hz], and samples in its period at least
_TOP, _SAMPLES = 5.0, 10.0
# commands of a plan at most, half an hour at 1 kHz
_MOST = 2_000_000


@dataclass(frozen=True, kw_only=True)
class ExcitationPlan:
    """Joints, motions, duration and sizes of an excitation.

    Args:
        joints: Patterns that match the whole name of a joint; joints that match one move. Empty means all joints with
            a motor.
        kinds: Motions in order, of `chirp`, `multisine`, `steps` and `holds`; the default is all four.
        seconds: Duration of the whole [s].
        rate: Commands per second [Hz].
        share: Share of the range between the margins of a joint that it moves through, above 0 and at most 1.
        amplitude: Largest amplitude [rad or m], or a pair for joints that turn and that slide; None means 0.5 rad and
            0.05 m for joints without two position limits.
        speed: Limit of speeds [rad/s or m/s]; None means 3 rad/s and 0.3 m/s for joints without a speed limit.
        frequency: Highest frequency [Hz], below half the rate; None means 5 Hz, or a tenth of the rate if that is less.
        seed: Seed of phases, levels and times.
        initial_positions: Positions at which the robot begins [rad or m], by pattern of joint names; None means those
            of the file.

    Raises:
        ValueError: A number is out of range, there are more than two million commands, a kind is unknown, or a pattern
            is none.
    """

    joints: Sequence[str] = ()
    kinds: Sequence[str] = tuple(WAVES)
    seconds: float = 40.0
    rate: float = 200.0
    share: float = 0.5
    amplitude: float | tuple[float, float] | None = None
    speed: float | None = None
    frequency: float | None = None
    seed: int = 0
    initial_positions: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        unknown = [name for name in self.kinds if name not in WAVES]
        if unknown or not self.kinds:
            listed = ", ".join(unknown) or "[]"
            raise ValueError(f"kinds = {listed}: must be some of {', '.join(WAVES)}. Correct the name.")
        self._require_numbers()
        for pattern in self.joints:
            if problem := pattern_problem(pattern):
                raise ValueError(f"joints = {shown(pattern)}: {problem}")

    def _require_numbers(self) -> None:
        for name in ("seconds", "rate", "share", "amplitude", "speed", "frequency"):
            value = getattr(self, name)
            if value is not None and not np.all((np.asarray(value) > 0.0) & np.isfinite(value)):
                raise ValueError(f"{name} = {value}: must be a finite number > 0. Correct it.")
        if self.seconds * self.rate > _MOST:
            given = f"seconds = {self.seconds:g}, rate = {self.rate:g}"
            raise ValueError(f"{given}: must be at most {_MOST} commands together. Give less of one.")
        if self.share > 1.0:
            raise ValueError(f"share = {self.share}: must be at most 1, the whole range. Give less.")
        if self.seed < 0:
            raise ValueError(f"seed = {self.seed}: must not be negative. Give another.")
        if self.top * 2.0 >= self.rate:
            half = f"half the rate, {self.rate / 2:g} Hz"
            raise ValueError(f"frequency = {self.top}: must be below {half}. Give less, or a higher rate.")

    @property
    def top(self) -> float:
        """Highest frequency [Hz]."""
        return min(_TOP, self.rate / _SAMPLES) if self.frequency is None else self.frequency
