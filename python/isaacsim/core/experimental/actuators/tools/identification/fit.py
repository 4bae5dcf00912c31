"""Fits of the parameters of one joint: bounded nonlinear least squares on positions and further columns of logs."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from ...specs.configs import SupplyConfig
from ...specs.motors import MotorConfig
from ...specs.servo import gains_of
from .decoupling import Decoupled
from .descent import Box, Evaluated, Least, gain, least_squares
from .outputs import further_columns
from .parameters import PARAMETERS, Fitted, with_values
from .residuals import Part, Residuals
from .rollout import Rollout

# steps of differences, of the scale of a parameter, one round of least squares after the other: where a joint sticks or
# a voltage is at its limit, errors are rough, and only differences over large steps show where they fall
_DIFFERENCES = (0.2, 1e-2)
# physics step of rough fits [s], and largest factors of gains that are tried
_LONG, FACTORS = 0.0026, {"kp": 8.0, "kd": 16.0}
# variants of all logs that are simulated side by side, if one log has fewer: the core's vectors are full then
_SIDE_BY_SIDE = 64
# relative change of the sum of squares at which all rounds but the last one end
_ROUGHLY = 1e-4
# residual per scale of a parameter that no prior holds, beside which none counts: it holds what the logs do not tell
_HELD = 1e-6
# RMS of the residuals of a column from which the motor does not explain it, of its standard deviation
_UNLIKE = 0.8
_UNLIKE_WORDS = "simulated less measured is {:.0%} of its variation; check unit, sign and gains"
# by how much positions may be worse with further columns, and by how much more [rad or m]
_WORSE, _SMALL = 1.25, 1e-5
_WORSE_WORDS = "positions fit clearly worse with it; check unit, sign and gains"
# smallest residual from which on residuals count by their size, not by its square [rad or m]
_LEAST_SIZE = 1e-7
# error of the model, all residuals together [rad or m], beside which a prior counts
_MODEL_ERROR = 0.002


Way = Literal["rough", "near", "quick", "whole"]
"""How far a fit goes: by large differences and long physics steps; by small differences from a start that is near the
end, with usual steps or with long ones; or by large differences, then by small ones."""


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted parameters of a joint, with standard errors, NaN for what logs do not tell, and correlations.

    Errors of positions on the logs, and on what is `held_out` of fits that are compared, are means [rad or m].
    `columns` has the standard deviation of each further column that is fitted, and the RMS of the simulated less the
    measured values; `left_out` the reason of each that is not.
    """

    values: Mapping[str, float]
    errors: Mapping[str, float]
    correlations: np.ndarray
    error: float
    columns: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    left_out: Mapping[str, str] = field(default_factory=dict)
    held_out: float = float("nan")


@dataclass(frozen=True, eq=False)
class Bench:
    """A joint by itself, whose parameters are fitted; with `is_supplied`, logs tell the voltage of its supply."""

    joint: str
    column: int
    motor: MotorConfig
    rules: Mapping[str, Fitted] = field(default_factory=lambda: PARAMETERS)
    is_supplied: bool = False

    def fit(
        self,
        cases: Sequence[Decoupled],
        start: Mapping[str, float],
        fixed: Mapping[str, float],
        tolerance: float = 1e-6,
        way: Way = "whole",
        part: Part = "all",
        left_out: Mapping[str, str] | None = None,
    ) -> Fit:
        """Fit parameters to logs, from a start, with others fixed.

        Columns that the motor does not explain are left out, and those with which positions are clearly worse, unless
        `left_out` has the reason of each. It ends at a relative change of the sum of squares below `tolerance`.
        """

        if not self.moves(cases):
            return Fit({}, {}, np.zeros((0, 0)), float("nan"))

        def fitted(start: Mapping[str, float], left_out: Mapping[str, str], way: Way = way) -> Fit:
            if way == "whole" and start:
                rough = fitted(start, left_out, "rough").values
                return fitted({name: rough[name] for name in start}, left_out, "near")
            takes_long = way in ("rough", "quick")
            residuals = self.residuals({**fixed, **start}, len(start) + 1, cases, left_out, part, takes_long)
            return _Search(residuals, self, start, fixed).fit(tolerance, way == "rough")

        found = fitted(start, left_out or {})
        if not start or not found.columns or left_out is not None:
            return found
        return _with_explained(found, lambda left_out: fitted(start, left_out))

    def box(self, names: Sequence[str]) -> Box:
        """Return the ranges of parameters."""
        rules = [self.rules[name] for name in names]
        lower, upper = (np.array([rule.bounds[end] for rule in rules]) for end in (0, 1))
        return Box(lower, upper, np.array([rule.scale for rule in rules]))

    def residuals(
        self,
        values: Mapping[str, float],
        variants: int,
        cases: Sequence[Decoupled],
        left_out: Mapping[str, str] | None = None,
        part: Part = "all",
        takes_long: bool = False,
    ) -> Residuals:
        """Return residuals of the motor with all these stages, with long physics steps where gains permit them."""
        columns = dict.fromkeys(name for case in cases for name in further_columns(case.log))
        left_out = left_out or {}
        used = [name for name in columns if name not in left_out]
        rows = max(variants, min(variants * len(cases), _SIDE_BY_SIDE))
        rollout = self.rollout(values, rows, used, self._long_step(cases, values) if takes_long else None)
        return Residuals(rollout, cases, self.column, left_out, part)

    def _long_step(self, cases: Sequence[Decoupled], values: Mapping[str, float]) -> float | None:
        """Return a physics step of rough fits [s] that the largest gains of starts permit; None for the usual one."""
        gains = gains_of(self.motor, lambda stage: stage)
        inertia = min(float(case.inertia[:, self.column].min()) for case in cases) + values.get("armature", 0.0)
        is_stable = (
            gains is not None and _LONG * max(FACTORS["kd"] * gains[1], _LONG * FACTORS["kp"] * gains[0]) < inertia
        )
        return _LONG if is_stable and "stiffness" not in values else None

    def rollout(
        self, values: Mapping[str, float], variants: int, columns: Sequence[str] = (), longest: float | None = None
    ) -> Rollout:
        """Return rollouts of the motor with the stages of all these parameters; arguments as for `Rollout`."""
        motor = with_values(self.motor, values)
        if self.is_supplied:
            motor = dataclasses.replace(
                motor, others=[one for one in motor.others if not isinstance(one, SupplyConfig)]
            )
        return Rollout(self.joint, motor, list(values), variants, columns, longest)

    def promise(
        self, cases: Sequence[Decoupled], values: Mapping[str, float], fitted: Sequence[str], added: Sequence[str]
    ) -> tuple[float, float]:
        """Return by how much the slopes of further parameters promise to make the sum of squares of positions smaller,
        beside those that were fitted, and that sum.
        """
        names, count = [*fitted, *added], len(fitted)
        box = self.box(names)
        rows = [values]
        for name, upper, step in zip(names, box.upper, _DIFFERENCES[0] * box.scale, strict=True):
            rows.append({**values, name: values[name] + (step if values[name] + step <= upper else -step)})
        found = self.residuals(values, len(rows), cases, part="fitted").positions(rows)
        slopes = (found[1:] - found[0]).T
        more = gain(found[0], slopes) - (gain(found[0], slopes[:, :count]) if count else 0.0)
        return max(more, 0.0), float(found[0] @ found[0])

    def power(self, case: Decoupled, values: Mapping[str, float]) -> np.ndarray:
        """Return the power of its winding along a log [W], `(samples,)`; 0 without one."""
        rollout = self.rollout(values, 1, ["power"])
        if not rollout.outputs:
            return np.zeros(len(case.log.time))
        return rollout.run([case], self.column, [values], ["power"])[0][1][0, 0]

    def error(self, cases: Sequence[Decoupled], values: Mapping[str, float], part: Part = "all") -> float:
        """Return the mean absolute position error of a motor on logs [rad or m]; NaN where the joint does not move."""
        if not self.moves(cases):
            return float("nan")
        return float(np.abs(self.residuals(values, 1, cases, part=part).positions([values])).mean())

    def moves(self, cases: Sequence[Decoupled]) -> bool:
        """Return whether the joint moves in any of the logs."""
        return any(case.log.moves(self.column) for case in cases)


def _with_explained(found: Fit, fitted: Callable[[Mapping[str, str]], Fit]) -> Fit:
    """Return a fit without columns that the motor does not explain, nor those that make positions clearly worse."""
    shares = {name: error / size for name, (size, error) in found.columns.items()}
    left_out = {name: _UNLIKE_WORDS.format(share) for name, share in shares.items() if share > _UNLIKE}
    if left_out:
        found = fitted(left_out)
    # from the same start, for a wrong column may have led astray
    alone = fitted(dict.fromkeys(shares, _WORSE_WORDS) | left_out)
    while found.columns and found.error > _WORSE * alone.error + _SMALL:
        worst = max(found.columns, key=lambda name: found.columns[name][1] / found.columns[name][0])
        left_out[worst] = _WORSE_WORDS
        found = fitted(left_out) if len(left_out) < len(shares) else alone
    return found


class _Search:
    """Least squares of the residuals of a joint, from a start of the parameters to fit."""

    def __init__(
        self, residuals: Residuals, bench: Bench, start: Mapping[str, float], fixed: Mapping[str, float]
    ) -> None:
        self._residuals, self._fixed, self._names = residuals, fixed, list(start)
        rules = [bench.rules[name] for name in start]
        self._box, self._start = bench.box(self._names), np.array(list(start.values()), float)
        # of what the logs do not tell, least squares would take any value
        prior = _MODEL_ERROR / np.array([rule.spread for rule in rules])
        self._center = np.where(prior > 0.0, [rule.start for rule in rules], self._start)
        self._prior = np.maximum(prior, _HELD / self._box.scale)

    def fit(self, tolerance: float, is_rough: bool) -> Fit:
        """Return the best parameters, by large differences or by small ones; arguments as for `Bench.fit`."""
        residuals = self._residuals
        if not self._names:
            error, held_out = residuals.errors(self._fixed)
            sizes = residuals.sizes(self._fixed)
            return Fit({}, {}, np.zeros((0, 0)), error, sizes, residuals.left_out, held_out)
        large, small = _DIFFERENCES
        if is_rough:
            best = self._least(self._start, large, max(tolerance, _ROUGHLY))
        else:
            best = self._least(self._start, small, tolerance)
        if residuals.columns and not is_rough:
            # with weights of its end
            best = self._least(best.x, small, tolerance)
        found, jacobian = (one[: -len(self._names)] for one in (best.residuals, best.jacobian))
        errors, correlations = uncertainty(found, jacobian, self._box.scale)
        error, held_out = residuals.errors(self._values(best.x))
        values, errors = (dict(zip(self._names, map(float, one), strict=True)) for one in (best.x, errors))
        sizes = residuals.sizes(self._values(best.x))
        return Fit(values, errors, correlations, error, sizes, residuals.left_out, held_out)

    def _values(self, x: np.ndarray) -> dict[str, float]:
        return {**self._fixed, **dict(zip(self._names, map(float, x), strict=True))}

    def _least(self, start: np.ndarray, difference: float, tolerance: float) -> Least:
        """Return the minimum with the weights of its start, by differences over a share of the scale.

        Where a joint sticks, a few residuals are large, whatever its motor: those of positions above the median of the
        start count by their size. Beside other columns all count by their square.
        """
        box, prior = self._box, self._prior
        weights = self._residuals.weights(self._values(start))
        size = np.inf if self._residuals.columns else None

        def evaluated(x: np.ndarray) -> Evaluated:
            nonlocal size
            steps = np.where(x + difference * box.scale <= box.upper, 1.0, -1.0) * difference * box.scale
            rows = [x, *(x + steps * (np.arange(len(x)) == k) for k in range(len(x)))]
            found = self._residuals.weighted(list(map(self._values, rows)), weights)
            if size is None:
                size = max(float(np.median(np.abs(found[0]))), _LEAST_SIZE)
            found /= (1.0 + (found / size) ** 2) ** 0.25
            slopes = ((found[1:] - found[0]) / steps[:, None]).T
            return np.r_[found[0], prior * (x - self._center)], np.r_[slopes, np.diag(prior)]

        return least_squares(evaluated, start, box, tolerance)


def uncertainty(residuals: np.ndarray, jacobian: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standard errors and correlations from the Fisher information; NaN for what is not seen.

    Residuals that follow each other are alike, so that as many count as their correlation time leaves.
    """
    variance = float((residuals**2).mean()) * _correlation_time(residuals)
    deviations, correlations = np.full(len(scale), np.nan), np.full((len(scale), len(scale)), np.nan)
    seen = np.flatnonzero(jacobian.any(0))
    scaled = jacobian[:, seen] * scale[seen]
    try:
        covariance = np.linalg.inv(scaled.T @ scaled) * variance
    except np.linalg.LinAlgError:
        return deviations, correlations
    deviations[seen] = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    correlations[np.ix_(seen, seen)] = covariance / np.outer(deviations[seen], deviations[seen])
    return deviations * scale, correlations


def _correlation_time(residuals: np.ndarray) -> float:
    """Return the number of samples that count as one, at least 1."""
    centered = residuals - residuals.mean()
    spectrum = np.abs(np.fft.rfft(centered, 2 * len(centered))) ** 2
    correlation = np.fft.irfft(spectrum)[: len(centered)]
    if correlation[0] <= 0:
        return 1.0
    correlation = correlation / correlation[0]
    end = int(np.argmax(correlation < 0)) or len(correlation)
    return max(1.0, float(2 * correlation[:end].sum() - 1))
