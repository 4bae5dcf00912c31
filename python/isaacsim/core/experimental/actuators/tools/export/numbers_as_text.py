"""Numbers as text that reads back the same."""

from __future__ import annotations

import numpy as np


def text_of(value: float) -> str:
    """Return the shortest text of the float32 next to a number: `0.1`, not `0.10000000149011612`."""
    single = np.float32(value)
    return str(int(single)) if single == np.rint(single) and abs(single) < 1e6 else str(single)
