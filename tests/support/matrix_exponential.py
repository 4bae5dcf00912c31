"""The matrix exponential in float64."""

import numpy as np


def expm(matrix: np.ndarray) -> np.ndarray:
    """Return e to a matrix: a Taylor series of the matrix halved until it is small, squared as often."""
    halvings = max(0, int(np.ceil(np.log2(max(np.abs(matrix).sum(axis=1).max(), 1e-300)))) + 2)
    small = matrix / 2.0**halvings
    term, found = np.eye(len(matrix)), np.eye(len(matrix))
    for order in range(1, 20):
        term = term @ small / order
        found = found + term
    for _ in range(halvings):
        found = found @ found
    return found
