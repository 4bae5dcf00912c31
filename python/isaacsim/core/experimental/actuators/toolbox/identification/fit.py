"""Fits of the parameters of one joint: bounded nonlinear least squares on positions."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...specs.motors import MotorConfig
from .decoupling import Decoupled
from .descent import Box, least_squares
from .parameters import PARAMETERS, Fitted, with_values
from .rollout import Rollout

# residuals of a log are averaged to about so many
_POINTS = 4000
# steps of differences, of the scale of a parameter, one round of least squares after the other: where a joint sticks or
# a voltage is at its limit, errors are rough, and only differences over large steps show where they fall
_DIFFERENCES = (0.2, 1e-2)
# relative change of the sum of squares at which all rounds but the last one end
_ROUGHLY = 1e-4
# error of the model, all residuals together [rad or m], beside which a prior counts
_MODEL_ERROR = 0.002
# a residual of a rollout that has a fault [rad or m]
_LOST = 10.0


@dataclass(frozen=True, eq=False)
class Fit:
    """The fitted parameters of a joint.

    Args:
        values: By name.
        errors: Standard errors, by name; NaN if the logs do not tell a parameter.
        correlations: Between the parameters, in their order.
        error: Mean absolute position error on the logs [rad or m].
    """

    values: Mapping[str, float]
    errors: Mapping[str, float]
    correlations: np.ndarray
    error: float


@dataclass(frozen=True, eq=False)
class Bench:
    """A joint by itself, whose parameters are fitted.

    Args:
        joint: Name of the joint.
        column: Its number in the logs.
        motor: Its motor.
        rules: Range, scale and prior of each parameter.
    """

    joint: str
    column: int
    motor: MotorConfig
    rules: Mapping[str, Fitted] = field(default_factory=lambda: PARAMETERS)

    def fit(
        self,
        cases: Sequence[Decoupled],
        start: Mapping[str, float],
        fixed: Mapping[str, float],
        tolerance: float = 1e-6,
        near: bool = False,
    ) -> Fit:
        """Fit parameters to logs.

        Args:
            cases: The logs.
            start: Values at which the fit starts, of the parameters to fit.
            fixed: Values of other parameters.
            tolerance: Relative change of the sum of squares at which it ends.
            near: Whether the start is near the end, so that small differences suffice.
        """
        names = list(start)
        rollout = self.rollout({**fixed, **start}, len(names) + 1)
        if not names:
            found = self._residuals(rollout, cases, [dict(fixed)])
            return Fit({}, {}, np.zeros((0, 0)), float(np.abs(found[0]).mean()))
        rules = [self.rules[name] for name in names]
        box = self.box(names)
        upper, scale = box.upper, box.scale
        # of what the logs do not tell, least squares would take any value
        prior = _MODEL_ERROR / np.array([rule.spread for rule in rules])
        center = np.array([rule.start for rule in rules])

        def evaluated(x: np.ndarray, difference: float) -> tuple[np.ndarray, np.ndarray]:
            """Residuals and Jacobian."""
            steps = np.where(x + difference * scale <= upper, 1.0, -1.0) * difference * scale
            rows = [x, *(x + steps * (np.arange(len(x)) == k) for k in range(len(x)))]
            values = [{**fixed, **dict(zip(names, row, strict=True))} for row in rows]
            found = self._residuals(rollout, cases, values)
            slopes = ((found[1:] - found[0]) / steps[:, None]).T
            return np.r_[found[0], prior * (x - center)], np.r_[slopes, np.diag(prior)]

        x, (large, small) = np.array([start[name] for name in names]), _DIFFERENCES
        if not near:
            x = least_squares(lambda x: evaluated(x, large), x, box, max(tolerance, _ROUGHLY)).x
        least = least_squares(lambda x: evaluated(x, small), x, box, tolerance)
        residuals, jacobian = (one[: -len(names)] for one in (least.residuals, least.jacobian))
        errors, correlations = _uncertainty(residuals, jacobian, scale)
        return Fit(
            dict(zip(names, map(float, least.x), strict=True)),
            dict(zip(names, map(float, errors), strict=True)),
            correlations,
            float(np.abs(residuals).mean()),
        )

    def box(self, names: Sequence[str]) -> Box:
        """Return the ranges of parameters."""
        rules = [self.rules[name] for name in names]
        lower, upper = (np.array([rule.bounds[end] for rule in rules]) for end in (0, 1))
        return Box(lower, upper, np.array([rule.scale for rule in rules]))

    def rollout(self, values: Mapping[str, float], variants: int) -> Rollout:
        """Return rollouts of the motor with the stages of all these parameters."""
        return Rollout(self.joint, with_values(self.motor, values), list(values), variants)

    def errors(self, rollout: Rollout, cases: Sequence[Decoupled], values: Sequence[Mapping[str, float]]) -> np.ndarray:
        """Return the mean absolute position error of each variant on logs [rad or m], shape `(variants,)`."""
        return np.abs(self._residuals(rollout, cases, values)).mean(1)

    def error(self, cases: Sequence[Decoupled], values: Mapping[str, float]) -> float:
        """Return the mean absolute position error of a motor on logs [rad or m]; NaN without logs."""
        return float(self.errors(self.rollout(values, 1), cases, [values])[0]) if cases else float("nan")

    def _residuals(
        self, rollout: Rollout, cases: Sequence[Decoupled], values: Sequence[Mapping[str, float]]
    ) -> np.ndarray:
        """Return residuals of all logs, averaged over blocks of samples, `(variants, points)`."""
        return np.concatenate([_residuals(rollout, case, self.column, values) for case in cases], 1)


def _residuals(rollout: Rollout, case: Decoupled, column: int, values: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return residuals, averaged over blocks of samples, `(variants, points)`."""
    found = rollout.run(case, column, values)
    found -= case.log.position[:, column]
    if case.defect is not None:
        found += case.defect[:, column]
    # NaN stays in the smallest one
    if not (found.min() >= -_LOST and found.max() <= _LOST):
        found = np.clip(np.nan_to_num(found, nan=_LOST), -_LOST, _LOST)
    block = max(1, found.shape[1] // _POINTS)
    whole = found.shape[1] // block * block
    return found[:, :whole].reshape(len(found), -1, block).mean(2)


def _uncertainty(residuals: np.ndarray, jacobian: np.ndarray, scale: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return standard errors and correlations from the Fisher information; NaN for what is not seen.

    Residuals that follow each other are alike, so that as many count as their correlation time leaves.
    """
    information = (jacobian * scale).T @ (jacobian * scale)
    variance = float((residuals**2).mean()) * _correlation_time(residuals)
    try:
        covariance = np.linalg.inv(information) * variance
    except np.linalg.LinAlgError:
        none = np.full(len(scale), np.nan)
        return none, np.full((len(scale), len(scale)), np.nan)
    deviations = np.sqrt(np.maximum(np.diagonal(covariance), 0.0))
    correlations = covariance / np.outer(deviations, deviations)
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
