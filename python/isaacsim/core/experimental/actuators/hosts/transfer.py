"""Copy columns of one array to columns of another, again and again, natively where the core was built."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..native import core

Item = tuple[np.ndarray, Iterable[int], np.ndarray, Iterable[int]]


def transfer(*items: Item) -> Callable[[], None]:
    """Return a function that carries out all copies.

    Args:
        items: Source `(rows, columns)` and the columns read, target `(rows, columns)` and the columns written, float32
            or float64 each. What float32 cannot hold becomes infinite.
    """
    tidy = [(source, [int(c) for c in read], target, [int(c) for c in write]) for source, read, target, write in items]
    if core is not None:
        return core.Transfer(tidy).run

    def run() -> None:
        with np.errstate(over="ignore"):
            for source, read, target, write in tidy:
                target[:, write] = source[:, read]

    return run
