"""Copy columns of one array to columns of another, again and again, natively where the core was built."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from ..base.native import core

Item = tuple[np.ndarray, Iterable[int], np.ndarray, Iterable[int]]


def in_turn(first: Iterable[Callable[[], object] | None], last: Callable[[], bool]) -> Callable[[], bool]:
    """Return a function that calls all of them, and returns what the last one does.

    Args:
        first: Those that are native are called natively, None is left out.
        last: What `transfer` returned.
    """
    there = [call for call in first if call is not None]
    if not there:
        return last
    owners: list[object] = [getattr(call, "__self__", None) for call in there]
    kinds = () if core is None else (core.VelocityLimits, core.Roots, core.EffectiveInertias)
    if core is not None and all(isinstance(owner, kinds) for owner in owners):
        return core.InTurn(owners, getattr(last, "__self__", None)).run

    def run() -> bool:
        for call in there:
            call()
        return last()

    return run


def transfer(*items: Item, watched: np.ndarray | None = None) -> Callable[[], bool]:
    """Return a function that carries out all copies, and returns whether all watched numbers are finite.

    Args:
        items: Source `(rows, columns)` and the columns read, target `(rows, columns)` and the columns written, float32
            or float64 each. What float32 cannot hold becomes infinite.
        watched: float64 `(rows, columns)`, contiguous within a row; None watches nothing.
    """
    tidy = [(source, [int(c) for c in read], target, [int(c) for c in write]) for source, read, target, write in items]
    if core is not None:
        return core.Transfer(tidy, watched).run

    def run() -> bool:
        with np.errstate(over="ignore"):
            for source, read, target, write in tidy:
                target[:, write] = source[:, read]
        return watched is None or bool(np.isfinite(watched).all())

    return run
