"""Fixed points of functions that are nearly linear, by Anderson's acceleration.

x = f(x) by repeated calls diverges where f turns a change into a larger one, as do biases of encoders of joints that
carry each other's weight. The next x is that at which the last changes of x and f(x), taken as linear, agree best.
Source: Walker and Ni, Anderson acceleration for fixed-point iterations, SIAM J. Numer. Anal. 49 (2011).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

# number of changes that are remembered
_MEMORY = 4
# singular values of these changes that are noise, of the largest one
_NOISE = 1e-2
# distance from the end of a range, of the range, up to which a value is at the end
_AT_END = 1e-3


def fixed_point(
    function: Callable[[np.ndarray], np.ndarray],
    start: np.ndarray,
    lower: np.ndarray,
    upper: np.ndarray,
    rounds: int,
    tolerance: float,
    inside: bool = False,
) -> np.ndarray:
    """Return the best value of a function near which it is its own argument, up to a tolerance.

    With `inside`, it also ends where value and argument of any number are at the same end of its range.
    """
    places, changes = list[np.ndarray](), list[np.ndarray]()
    place = start
    for _ in range(rounds):
        places.append(place)
        changes.append(function(place) - place)
        # both are in the range
        if inside and (np.abs(2.0 * place + changes[-1] - lower - upper) >= (1.0 - _AT_END) * (upper - lower)).any():
            return place + changes[-1]
        if np.abs(changes[-1]).max() < tolerance:
            break
        place = place + changes[-1]
        if len(places) > 1:
            moved, turned = (np.diff(one[-_MEMORY - 1 :], axis=0).T for one in (places, changes))
            shares = np.linalg.lstsq(turned, changes[-1], rcond=_NOISE)[0]
            place = place - (moved + turned) @ shares
        place = np.clip(place, lower, upper)
    best = int(np.argmin([np.abs(one).max() for one in changes]))
    return places[best] + changes[best]
