"""How joints moved: velocities and accelerations of measured positions."""

from __future__ import annotations

import numpy as np

from ...extras import needs

# longest window of the filter [s], and its smallest number of samples
_WINDOW, _FEWEST = 0.0525, 7


def motion_of(positions: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations from a smoothing filter (Savitzky and Golay, fifth order).

    Args:
        positions: Positions, evenly sampled, shape `(samples, joints)`.
        dt: Time between samples [s].

    Raises:
        ModuleNotFoundError: scipy is not installed.
    """
    with needs("identification", "identify"):
        from scipy.signal import savgol_filter
    window = max(_FEWEST, 2 * int(_WINDOW / dt / 2) + 1)
    velocity, acceleration = (
        np.asarray(savgol_filter(positions, window, min(5, window - 1), deriv=order, delta=dt, axis=0))
        for order in (1, 2)
    )
    return velocity, acceleration
