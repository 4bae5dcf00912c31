"""Check of the efforts of a candidate before it is timed."""

from __future__ import annotations

import numpy as np

from .candidates import Candidate
from .problem import Oracle, Problem

TOLERANCE = 1e-5
STEPS = 8


class Check:
    """Reference efforts of a problem over some steps; inputs change, to exercise delays and integrals."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        oracle = Oracle(problem)
        self._expected = []
        for step in range(STEPS):
            problem.change_inputs(step)
            self._expected.append(oracle.step())

    def error(self, candidate: Candidate) -> float:
        """Return the largest difference of a fresh candidate, relative to the largest summand of the effort.

        A correct candidate stays within `TOLERANCE`; NaN and a write to a column that is not driven do not.
        """
        found = [0.0]
        first = self._problem.robot.first
        for step, (expected, scale) in enumerate(self._expected):
            self._problem.change_inputs(step)
            candidate.take_inputs()
            candidate.step()
            wrong = np.abs(candidate.efforts[:, first:] - expected) / scale
            found.append(np.max(wrong, where=candidate.comparable(step), initial=0.0))
            found.append(np.abs(candidate.efforts[:, :first]).max(initial=0.0))
        return float(np.max(found))
