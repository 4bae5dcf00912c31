"""Distributions for values that differ from robot to robot, as plain data."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, fields
from typing import Literal

from .fields import real_of

Operation = Literal["set", "scale", "add"]
"""Use of a drawn number: as the value, as a factor of the nominal value, or added to it."""

# standard deviations at which normal distributions are truncated, so that every possible value can be checked
NORMAL_CUT = 3.0


@dataclass(frozen=True, repr=False)
class Distribution:
    """Distribution of a value over robots and joints."""

    operation: Operation = field(default="set", kw_only=True)
    """`set`: the number is the value. `scale`: a factor of the nominal value. `add`: added to the nominal value."""
    per_robot: bool = field(default=False, kw_only=True)
    """True if all joints of a robot share one number."""

    def __repr__(self) -> str:
        given = [repr(getattr(self, one.name)) for one in fields(self) if not one.kw_only]
        given += [
            f"{one.name}={v!r}" for one in fields(self) if one.kw_only and (v := getattr(self, one.name)) != one.default
        ]
        return f"{type(self).__name__}({', '.join(given)})"

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible number."""
        raise NotImplementedError

    def problems(self) -> list[str]:
        """Return what is wrong with the distribution."""
        if self.operation not in ("set", "scale", "add"):
            return [f"{self!r}: operation must be 'set', 'scale' or 'add'. Correct it."]
        given = [real_of(getattr(self, one.name), numbers.Real) for one in fields(self) if not one.kw_only]
        if not all(number is not None and math.isfinite(number) for number in given):
            return [f"{self!r}: its numbers must be finite. Correct them."]
        return [f"{self!r}: {self._rule()}. Correct it."] if self._rule() else []

    def _rule(self) -> str:
        raise NotImplementedError


@dataclass(frozen=True, repr=False)
class Range(Distribution):
    """Numbers in an interval."""

    low: float
    high: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible number."""
        return self.low, self.high


@dataclass(frozen=True, repr=False)
class Uniform(Range):
    """Uniform distribution from `low` to `high`; for integers both ends are included."""

    def _rule(self) -> str:
        return "" if self.low <= self.high else "must be low <= high"


@dataclass(frozen=True, repr=False)
class LogUniform(Range):
    """Log-uniform distribution: half is as likely as double."""

    def _rule(self) -> str:
        return "" if 0.0 < self.low <= self.high else "must be 0 < low <= high"


@dataclass(frozen=True, repr=False)
class Normal(Distribution):
    """Normal distribution, truncated at three standard deviations."""

    mean: float
    std: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Smallest and largest possible number."""
        return self.mean - NORMAL_CUT * self.std, self.mean + NORMAL_CUT * self.std

    def _rule(self) -> str:
        return "" if self.std >= 0.0 else "must be std >= 0"
