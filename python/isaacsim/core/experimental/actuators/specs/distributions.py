"""How a value differs from robot to robot: distributions to draw it from, as plain data."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, fields
from typing import Literal

Operation = Literal["set", "scale", "add"]
"""What is done with a drawn number: it is the value, a factor of the nominal value, or added to it."""

# normal distributions are cut off at so many standard deviations: every value that may come can be checked before
NORMAL_CUT = 3.0


@dataclass(frozen=True, repr=False)
class Distribution:
    """Where a value of each robot and joint is drawn from."""

    operation: Operation = field(default="set", kw_only=True)
    """`set`: the number is the value. `scale`: a factor of the nominal value. `add`: added to the nominal value."""
    per_robot: bool = field(default=False, kw_only=True)
    """Whether all joints of a robot share one number, instead of each having its own."""

    def __repr__(self) -> str:
        given = [repr(getattr(self, one.name)) for one in fields(self) if not one.kw_only]
        given += [
            f"{one.name}={v!r}" for one in fields(self) if one.kw_only and (v := getattr(self, one.name)) != one.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """What is wrong with the distribution itself, each as the end of a message."""
        if self.operation not in ("set", "scale", "add"):
            return [f"{self!r}: operation must be 'set', 'scale' or 'add'. Correct it."]
        if not all(_is_number(getattr(self, one.name)) for one in fields(self) if not one.kw_only):
            return [f"{self!r}: its numbers must be finite. Correct them."]
        return [f"{self!r}: {self._rule()}. Correct it."] if self._rule() else []

    def _rule(self) -> str:
        """The rule that its numbers break, or nothing."""
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Range(Distribution):
    """Numbers between two others."""

    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest number that is drawn."""
        return self.low, self.high


@dataclass(frozen=True, repr=False)
class Uniform(Range):
    """Every number from `low` to `high` is as likely as any other; of integers, both ends included."""

    def _rule(self) -> str:
        return "" if self.low <= self.high else "must be low <= high"


@dataclass(frozen=True, repr=False)
class LogUniform(Range):
    """Numbers whose logarithm is uniform: a half is as likely as a double."""

    def _rule(self) -> str:
        return "" if 0.0 < self.low <= self.high else "must be 0 < low <= high"


@dataclass(frozen=True, repr=False)
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
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return False
    try:
        return math.isfinite(value)
    except OverflowError:
        # an integer larger than any number of floating point
        return False
