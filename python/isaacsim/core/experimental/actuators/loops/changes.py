"""Numbers in somebody's arrays, changed in place and given back."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp


class Changes:
    """What was changed in Warp arrays on any device, and what stood there."""

    def __init__(self) -> None:
        self._before: list[tuple[wp.array, Any, np.ndarray]] = []

    def set(self, array: wp.array, places: Any, values: Any) -> None:
        """Set some numbers until `give_back`; `places` are as NumPy indexes them."""
        self._before.append((array, places, array.numpy()[places].copy()))
        _put(array, places, values)

    def give_back(self) -> None:
        """Put back what stood there, the last change first."""
        while self._before:
            _put(*self._before.pop())


def _put(array: wp.array, places: Any, values: Any) -> None:
    numbers = array.numpy()
    numbers[places] = values
    array.assign(numbers)
