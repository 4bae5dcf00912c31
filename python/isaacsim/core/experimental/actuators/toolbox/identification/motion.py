"""How joints moved: velocities and accelerations of measured positions."""

from __future__ import annotations

import math

import numpy as np

# longest window of the filter [s], its smallest number of samples, and largest degree of its polynomials
_WINDOW, _FEWEST, _DEGREE = 0.0525, 7, 5


def motion_of(positions: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations from a smoothing filter (Savitzky and Golay, fifth order).

    Each is the derivative of the polynomial that fits the samples around it best; near the ends, of that of the first
    or last window.

    Args:
        positions: Positions, evenly sampled, shape `(samples, joints)`.
        dt: Time between samples [s].

    Raises:
        ValueError: Fewer samples than a window has.
    """
    window = max(_FEWEST, 2 * int(_WINDOW / dt / 2) + 1)
    if len(positions) < window:
        raise ValueError(
            f"positions has {len(positions)} samples: must be at least {window} with dt = {dt:g} s, the window of a "
            "filter. Use a longer log."
        )
    half = window // 2
    degree = min(_DEGREE, window - 1)
    # coefficients of the best polynomial by samples of a window, time in half windows
    fit = np.linalg.pinv(np.vander(np.arange(-half, half + 1) / half, degree + 1, increasing=True))
    velocity, acceleration = (_derivative(positions, fit, order) / (half * dt) ** order for order in (1, 2))
    return velocity, acceleration


def _derivative(positions: np.ndarray, fit: np.ndarray, order: int) -> np.ndarray:
    """Return a derivative over time in half windows."""
    window = fit.shape[1]
    half, inner = window // 2, len(positions) - window + 1
    found = np.empty(positions.shape)
    # of a polynomial at the middle of its window, one coefficient is left
    weights = math.factorial(order) * fit[order]
    found[half : half + inner] = sum(weight * positions[k : k + inner] for k, weight in enumerate(weights))
    powers = np.arange(len(fit) - order)
    factors = [math.perm(power + order, order) for power in powers.tolist()]
    for rows, samples, at in (
        (slice(None, half), positions[:window], np.arange(-half, 0)),
        (slice(-half, None), positions[-window:], np.arange(1, half + 1)),
    ):
        found[rows] = (factors * (at[:, None] / half) ** powers) @ (fit[order:] @ samples)
    return found
