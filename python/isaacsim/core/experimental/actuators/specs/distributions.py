"""How a value differs from robot to robot: distributions to draw it from, as plain data."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field
from typing import Literal

Operation = Literal["set", "scale", "add"]
"""What is done with a drawn number: it is the value, a factor of the nominal value, or added to it."""

# normal distributions are cut off at so many standard deviations: every value that may come can be checked before
NORMAL_CUT = 3.0


@dataclass(frozen=True)
class Distribution:
    """Where a value of each robot and joint is drawn from."""

    operation: Operation = field(default="set", kw_only=True)
    """`set`: the number is the value. `scale`: a factor of the nominal value. `add`: added to the nominal value."""
    per_robot: bool = field(default=False, kw_only=True)
    """Whether all joints of a robot share one number, instead of each having its own."""

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """What is wrong with the distribution itself, each as the end of a message."""
        shown = repr(self)
        if self.operation not in ("set", "scale", "add"):
            return [f"{shown}: operation must be 'set', 'scale' or 'add'. Correct it."]
        values = [getattr(self, name) for name in self.__dataclass_fields__ if name not in ("operation", "per_robot")]
        if not all(_is_number(value) for value in values):
            return [f"{shown}: its numbers must be finite. Correct them."]
        return [f"{shown}: {self._rule()}. Correct it."] if self._rule() else []

    def _rule(self) -> str:
        """The rule that its numbers break, or nothing."""
        raise NotImplementedError


@dataclass(frozen=True)
class Uniform(Distribution):
    """Every number from `low` to `high` is as likely as any other; of integers, both ends included."""

    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        return self.low, self.high

    def _rule(self) -> str:
        return "" if self.low <= self.high else "must be low <= high"


@dataclass(frozen=True)
class LogUniform(Distribution):
    """Numbers whose logarithm is uniform: a half is as likely as a double."""

    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        return self.low, self.high

    def _rule(self) -> str:
        return "" if 0.0 < self.low <= self.high else "must be 0 < low <= high"


@dataclass(frozen=True)
class Normal(Distribution):
    """A normal distribution, cut off at three standard deviations."""

    mean: float
    std: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        return self.mean - NORMAL_CUT * self.std, self.mean + NORMAL_CUT * self.std

    def _rule(self) -> str:
        return "" if self.std >= 0.0 else "must be std >= 0"


def _is_number(value: object) -> bool:
    return not isinstance(value, bool) and isinstance(value, numbers.Real) and math.isfinite(value)
