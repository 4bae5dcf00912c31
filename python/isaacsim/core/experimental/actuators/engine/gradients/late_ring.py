"""The past of what acts late, and its gradients: the NumPy form of the rings of `laws/contract/late.py`, on the CPU.

A result that acts is `(1 − f)·result n steps ago + f·result n + 1 steps ago`, n + f the delay in steps: its gradient
goes to both results, and times their difference to the delay.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ...base.memory import Array, numpy_view
from ...laws.contract.late import SPARE_ROWS


@dataclass(frozen=True, eq=False)
class LateStep:
    """Rows that the rings of a law read and wrote in a step; an element per joint."""

    # rows with the two results, and the row that was written; share of the older one
    first: np.ndarray
    second: np.ndarray
    row: np.ndarray
    share: np.ndarray
    # true where the ring was filled, where results were finite, and where the delay was within the ring
    fresh: np.ndarray
    good: np.ndarray
    inside: np.ndarray
    # number of rows
    depth: int
    # per result, the older one less the later one
    differences: list[np.ndarray]

    @classmethod
    def of(
        cls, now: Sequence[np.ndarray], newest: np.ndarray, rings: Sequence[np.ndarray], wanted: np.ndarray
    ) -> tuple[list[np.ndarray], LateStep]:
        """Return the results that act, NaN on a fault, and the record of the step.

        Args:
            now: Results of the step, float32 `(count,)` each.
            newest: Row that was written last, NaN after a reset.
            rings: Rings before the step, `(depth, count)` each.
            wanted: Delays in steps.
        """
        depth, fresh, every = len(rings[0]), np.isnan(newest), np.arange(len(newest))
        good = np.logical_and.reduce([np.isfinite(one) for one in (*now, wanted)])
        row = np.where(fresh | (newest >= depth - 1), 0, np.nan_to_num(newest) + 1).astype(int)
        bounded = np.clip(np.where(good, wanted, 0.0), 0.0, depth - SPARE_ROWS).astype(np.float32)
        whole = bounded.astype(int)
        first, second, share = (row - whole) % depth, (row - whole - 1) % depth, bounded - whole.astype(np.float32)
        acting, differences = [], []
        for result, ring in zip(now, rings, strict=True):
            one = np.where(fresh | (whole == 0), result, ring[first, every])
            other = np.where(fresh, result, ring[second, every])
            differences.append(other - one)
            # nothing is kept for a delay that stays 0
            late = one + share * np.where(share > 0.0, other - one, 0.0)
            acting.append(np.where(good, late, np.nan).astype(np.float32))
        inside = wanted < depth - SPARE_ROWS
        return acting, cls(first, second, row, share, fresh, good, inside, depth, differences)

    def back(
        self, by_acting: Sequence[np.ndarray], after: Sequence[Array | None], before: Sequence[Array | None]
    ) -> list[np.ndarray]:
        """Propagate gradients of the rings after the step and of what acts; return those of the results of the step."""
        return [self._back(*given) for given in zip(by_acting, after, before, strict=True)]

    def by_lag(self, by_acting: Sequence[np.ndarray]) -> np.ndarray:
        """Return the gradients of the delay in steps."""
        # that of a huge number in the ring has no end
        with np.errstate(invalid="ignore", over="ignore"):
            products = (by * one for by, one in zip(by_acting, self.differences, strict=True))
            return np.where(self.good & self.inside, sum(products), 0.0)

    def _back(self, by_acting: np.ndarray, by_after: Array | None, by_before: Array | None) -> np.ndarray:
        every, good = np.arange(len(self.row)), self.good
        rows = np.zeros((self.depth, len(every)), np.float32)
        if by_after is not None:
            after = numpy_view(by_after)
            rows += after
            after[...] = 0.0
        by = np.where(good, by_acting, 0.0)
        rows[self.first, every] += (1.0 - self.share) * by
        rows[self.second, every] += self.share * by
        # the present result fills the ring in the first step, and else is one row of it
        by_now = np.where(self.fresh, rows.sum(axis=0), rows[self.row, every])
        by_now[~good] = 0.0
        rows[self.row[good], every[good]] = 0.0
        rows[:, self.fresh & good] = 0.0
        if by_before is not None:
            numpy_view(by_before)[...] += rows
        return by_now
