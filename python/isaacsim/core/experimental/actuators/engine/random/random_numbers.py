"""Random values of many parameters of many robots: in the core, see `native/draws.h`, or the same in NumPy.

A number depends only on the key of its draw, the robot and the number of earlier draws of the robot. It does not depend
on the other robots of a draw, nor on their order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.native import core
from ...specs.distributions import Distribution, LogUniform, Normal, Uniform

_KINDS = {Uniform: 0, LogUniform: 1, Normal: 2}
_OPERATIONS = ("set", "scale", "add")
# probability of a standard normal number below the cut at minus three standard deviations
_CUT = 0.0013498980316300933


@dataclass(frozen=True, eq=False)
class Draw:
    """A draw of one value per robot."""

    out: np.ndarray  # is written, float32 or int32 `(robots,)`, of any stride
    nominal: np.ndarray  # to which operations refer, float32 `(robots,)`
    operation: str  # set, scale or add
    distribution: Distribution
    key: int
    each_reset: bool  # a robot gets a new number at each draw; otherwise always the same

    @property
    def numbers(self) -> tuple[float, float]:
        """`a` and `b`: a number `u` of 0 to 1 becomes `a + u (b - a)`, or its exponential; of `Normal` mean and std."""
        given = self.distribution
        if isinstance(given, LogUniform):
            return float(np.log(given.low)), float(np.log(given.high))
        if isinstance(given, Normal):
            return float(given.mean), float(given.std)
        low, high = given.bounds
        # of integers the ends are as likely as the other values
        return float(low), float(high + 1 if self.out.dtype == np.int32 else high)


def key_of(*parts: object) -> int:
    """Return a 64-bit key for a seed and names."""
    text = "/".join(map(str, parts)).encode()
    return int.from_bytes(hashlib.blake2b(text, digest_size=8).digest(), "little")


class Draws:
    """Draws that are made in their order."""

    def __init__(self, draws: Sequence[Draw], num_robots: int) -> None:
        self._draws, self._core = list(draws), None
        if core is not None:
            self._core = core.Draws([_item(draw) for draw in draws], num_robots)

    def draw(self, rows: np.ndarray, counts: np.ndarray, first: int) -> None:
        """Draw for robots by number, int64; `first` is that of robot 0 among the robots of all processes.

        Counts are the earlier draws of each robot, int64 `(robots,)`.
        """
        if self._core is not None:
            return self._core.draw(rows, counts, first)
        robots = _mixed((first + rows).astype(np.uint64))
        again, once = _mixed(robots ^ counts[rows].astype(np.uint64)), _mixed(robots)
        for draw in self._draws:
            _put(draw, rows, again if draw.each_reset else once)


def _item(draw: Draw) -> tuple[object, ...]:
    kind, operation = _KINDS[type(draw.distribution)], _OPERATIONS.index(draw.operation)
    return draw.out, draw.nominal, kind, operation, *draw.numbers, draw.key, draw.each_reset


def _put(draw: Draw, rows: np.ndarray, bases: np.ndarray) -> None:
    u = (_mixed(bases ^ np.uint64(draw.key)) >> np.uint64(11)).astype(float) * 2.0**-53
    a, b = draw.numbers
    if isinstance(draw.distribution, Normal):
        values = a + b * _normal_quantile(_CUT + u * ((1 - _CUT) - _CUT))
    else:
        values = a + u * (b - a)
        values = np.exp(values) if isinstance(draw.distribution, LogUniform) else values
    if draw.out.dtype == np.int32:
        values = np.floor(values)
    if draw.operation != "set":
        nominal = draw.nominal[rows].astype(float)
        values = nominal * values if draw.operation == "scale" else nominal + values
    draw.out[rows] = values


def _mixed(x: np.ndarray) -> np.ndarray:
    """Finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014)."""
    x = x + np.uint64(0x9E3779B97F4A7C15)
    x = (x ^ (x >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    x = (x ^ (x >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return x ^ (x >> np.uint64(31))


def _normal_quantile(p: np.ndarray) -> np.ndarray:
    """Quantile of the standard normal distribution, to 1.2e-9 (P. J. Acklam's rational approximation)."""
    a = -3.969683028665376e01, 2.209460984245205e02, -2.759285104469687e02
    a = *a, 1.383577518672690e02, -3.066479806614716e01, 2.506628277459239e00
    b = -5.447609879822406e01, 1.615858368580409e02, -1.556989798598866e02
    b = *b, 6.680131188771972e01, -1.328068155288572e01, 1.0
    c = -7.784894002430293e-03, -3.223964580411365e-01, -2.400758277161838e00
    c = *c, -2.549732539343734e00, 4.374664141464968e00, 2.938163982698783e00
    d = 7.784695709041462e-03, 3.224671290700398e-01, 2.445134137142996e00, 3.754408661907416e00, 1.0
    left, right = p < 0.02425, p > 1 - 0.02425
    q = p - 0.5
    r = q * q
    found = np.polyval(a, r) * q / np.polyval(b, r)
    tail = np.sqrt(-2 * np.log(np.where(right, 1 - p, p)))
    tail = np.polyval(c, tail) / np.polyval(d, tail)
    return np.where(left, tail, np.where(right, -tail, found))
