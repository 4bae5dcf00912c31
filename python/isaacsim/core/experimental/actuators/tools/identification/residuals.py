"""Residuals of a joint along logs: simulated less measured positions, and other columns that its motor simulates.

Columns of other units count with weights that make their residuals about as large as those of positions: noise and
errors of the model are then alike in all of them, as least squares and its standard errors assume. Their part along the
rate of the command is left out: commands are held from one sample to the next, and no log says whether a row was
measured before or after its command acted, which shifts an effort by half a sample of the command.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Literal

import numpy as np

from .decoupling import Decoupled
from .outputs import further_columns, unused
from .rollout import Rollout

POSITION = "position"
"""The column that all logs have."""

Part = Literal["fitted", "held out", "all"]
"""Which samples of logs count: those that fits which are compared are fitted to, those held out of them, or all."""

# residuals of a log are averaged to about so many
_POINTS = 4000
# a residual of a rollout that has a fault [rad or m]
_LOST = 10.0
# smallest residual of positions that counts in a weight [rad or m], and of another column, of its standard deviation
_LEAST, _LEAST_SHARE = 1e-5, 1e-3


class Residuals:
    """Residuals of a joint on the logs in which it moves."""

    def __init__(
        self,
        rollout: Rollout,
        cases: Sequence[Decoupled],
        joint: int,
        left_out: Mapping[str, str] = MappingProxyType({}),
        part: Part = "all",
    ) -> None:
        cases = [case for case in cases if case.log.moves(joint)]
        self._rollout, self._cases, self._joint = rollout, cases, joint
        self._kept: list[np.ndarray] = []

        self.left_out: dict[str, str] = {}
        """Reason of each column that is not used in one of the logs, by name."""
        self._columns: list[tuple[str, ...]] = []
        for case in cases:
            self._kept.append(_kept(case, part))
            why = {
                name: left_out.get(name) or unused(case.log, joint, name, rollout.outputs)
                for name in further_columns(case.log)
            }
            self._columns.append(tuple(name for name, reason in why.items() if not reason))
            self.left_out |= {name: reason for name, reason in why.items() if reason}

    @property
    def columns(self) -> tuple[str, ...]:
        """Columns besides positions, of any of the logs."""
        return tuple(dict.fromkeys(name for names in self._columns for name in names))

    @property
    def points(self) -> int:
        """Number of residuals of positions."""
        return sum(int(one.sum()) for one in self._kept)

    def positions(self, values: Sequence[Mapping[str, float]]) -> np.ndarray:
        """Return residuals of positions [rad or m], `(variants, points)`, for values of parameters of each variant."""
        return self.weighted(values, {POSITION: 1.0})

    def errors(self, values: Mapping[str, float]) -> tuple[float, float]:
        """Return the mean absolute error of positions [rad or m] in the part that counts, and in what is held out."""
        whole = [_averaged(columns[POSITION]) for columns in self._of_logs([values], ())]
        found = np.abs(_bounded(np.concatenate(whole, 1)[0]))
        held_out = np.concatenate([_kept(case, "held out") for case in self._cases])
        parts = np.concatenate(self._kept), held_out
        counts, held = (float(found[part].mean()) if part.any() else float("nan") for part in parts)
        return counts, held

    def weighted(self, values: Sequence[Mapping[str, float]], weights: Mapping[str, float]) -> np.ndarray:
        """Return weighted residuals of some columns [rad or m], `(variants, points)`, in the order of their weights."""
        found = self.by_column(values, list(weights))
        return _bounded(np.concatenate([weights[name] * one for name, one in found.items()], 1))

    def weights(self, values: Mapping[str, float]) -> dict[str, float]:
        """Return the weight of each column [rad or m per its unit], by name, positions first."""
        found: dict[str, float] = {POSITION: 1.0}
        if self.columns:
            residuals = self.by_column([values])
            size = max(_rms(_bounded(residuals[POSITION])), _LEAST)
            sizes = {name: _rms(np.nan_to_num(residuals[name])) for name in self.columns}
            found |= {name: size / max(one, _LEAST_SHARE * self.size(name)) for name, one in sizes.items()}
        return found

    def by_column(
        self, values: Sequence[Mapping[str, float]], names: Sequence[str] | None = None
    ) -> dict[str, np.ndarray]:
        """Return residuals in the unit of each column, `(variants, points)`, by its name; NaN after a fault."""
        names = (POSITION, *self.columns) if names is None else names
        logs = zip(self._of_logs(values, names), self._kept, strict=True)
        parts = [{name: _averaged(one)[:, kept] for name, one in columns.items()} for columns, kept in logs]
        return {name: np.concatenate([part[name] for part in parts if name in part], 1) for name in names}

    def sizes(self, values: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """Return the standard deviation of each column besides positions, and the RMS of its residuals, by name."""
        if not self.columns:
            return {}
        found = self.by_column([values], self.columns)
        delay = values.get("delay", 0.0)
        return {name: (self.size(name, delay), _rms(np.nan_to_num(one, nan=np.inf))) for name, one in found.items()}

    def size(self, name: str, delay: float = 0.0) -> float:
        """Return the standard deviation of a column without its part along the rate of commands, in its unit."""
        cases = [case for case, names in zip(self._cases, self._columns, strict=True) if name in names]
        mean = np.concatenate([case.log.signals[name][:, self._joint] for case in cases]).mean()
        parts = [
            _without(case.log.signals[name][:, self._joint] - mean, _rate(case, self._joint, delay)) for case in cases
        ]
        return _rms(np.concatenate(parts))

    def _of_logs(self, values: Sequence[Mapping[str, float]], names: Sequence[str]) -> list[dict[str, np.ndarray]]:
        """Return residuals of positions and of columns, as far as each log has them, `(variants, samples)`."""
        found, used = [], [name for name in self.columns if name in names]
        rollouts = self._rollout.run(self._cases, self._joint, values, used)
        for case, own, (positions, columns) in zip(self._cases, self._columns, rollouts, strict=True):
            positions -= case.log.position[:, self._joint]
            if case.defect is not None:
                positions += case.defect[:, self._joint]
            found.append({POSITION: positions})
            if not used:
                continue
            # a sample is before or after the command of its row
            rates = np.stack([_rate(case, self._joint, one.get("delay", 0.0)) for one in values])
            for name, column in zip(used, columns, strict=True):
                if name in own:
                    found[-1][name] = _without(column - case.log.signals[name][:, self._joint], rates)
        return found


def _rate(case: Decoupled, joint: int, delay: float) -> np.ndarray:
    """Return how fast the command of a joint changes, at the motor, normalized, `(samples,)`."""
    time = case.log.time
    rate = np.interp(time - delay, time, np.gradient(case.log.command[:, joint], time))
    return rate / max(float(np.linalg.norm(rate)), 1e-12)


def _without(values: np.ndarray, rates: np.ndarray) -> np.ndarray:
    """Return values without their part along rates, `(…, samples)`."""
    return values - np.sum(values * rates, axis=-1, keepdims=True) * rates


def _bounded(residuals: np.ndarray) -> np.ndarray:
    """Return residuals of which none is without bounds."""
    # NaN stays in the smallest one
    if residuals.min() >= -_LOST and residuals.max() <= _LOST:
        return residuals
    return np.clip(np.nan_to_num(residuals, nan=_LOST), -_LOST, _LOST)


def _averaged(residuals: np.ndarray) -> np.ndarray:
    """Return residuals, averaged over blocks of samples, `(variants, points)`."""
    block = max(1, residuals.shape[1] // _POINTS)
    whole = residuals.shape[1] // block * block
    return residuals[:, :whole].reshape(len(residuals), -1, block).mean(2)


def _kept(case: Decoupled, part: Part) -> np.ndarray:
    """Return whether each averaged residual of a log counts, shape `(points,)`."""
    held_out = _averaged(case.held_out[None].astype(float))[0] > 0.5
    return held_out | ~held_out if part == "all" else held_out == (part == "held out")


def _rms(values: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.square(values))))
