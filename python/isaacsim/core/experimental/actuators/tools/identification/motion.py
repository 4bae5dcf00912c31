"""How joints moved: velocities and accelerations of measured positions."""

from __future__ import annotations

import numpy as np

from ...base.extras import needs

# longest window of the filter [s], its smallest number of samples, and largest degree of its polynomials
_WINDOW, _FEWEST, _DEGREE = 0.0525, 7, 5


def motion_of(positions: np.ndarray, dt: float) -> tuple[np.ndarray, np.ndarray]:
    """Return velocities and accelerations of positions `(samples, joints)`, by a filter of Savitzky and Golay."""
    with needs("identification", "identify"):
        from scipy.signal import savgol_filter
    window = max(_FEWEST, 2 * int(_WINDOW / dt / 2) + 1)
    if len(positions) < window:
        raise ValueError(
            f"positions has {len(positions)} samples: must be at least {window} with dt = {dt:g} s, the window of a "
            "filter. Use a longer log."
        )
    velocity, acceleration = (
        np.asarray(savgol_filter(positions, window, min(_DEGREE, window - 1), deriv=order, delta=dt, axis=0))
        for order in (1, 2)
    )
    return velocity, acceleration
