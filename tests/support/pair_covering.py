"""Covering arrays: few plans in which each pair of joints stands, few joints in which each three choices do."""

import itertools
from collections.abc import Callable, Hashable, Iterable, Sequence
from typing import TypeVar

import numpy as np

_Item = TypeVar("_Item", bound=Hashable)
# rows that are tried for a three that is missing
_TRIES = 12


def pairs_in_groups(count: int, size: int, seed: int = 0) -> list[list[int]]:
    """Groups of a size, of the numbers below `count`, in which each two of them are together at least once.

    Greedy: a group begins with a pair that is missing, and takes the number that has the most missing pairs with it.
    """
    rng = np.random.default_rng(seed)
    missing = ~np.eye(count, dtype=bool)
    found: list[list[int]] = []
    while missing.any():
        pairs = np.argwhere(missing)
        group = [int(one) for one in pairs[rng.integers(len(pairs))]]
        while len(group) < min(size, count):
            gained = missing[group].sum(axis=0) + rng.random(count)
            gained[group] = -1.0
            group.append(int(np.argmax(gained)))
        missing[np.ix_(group, group)] = False
        found.append(sorted(group))
    return found


def combinations_of_three(
    factors: Sequence[Sequence[_Item]], is_allowed: Callable[[Sequence[_Item]], bool], seed: int = 0
) -> tuple[list[tuple[_Item, ...]], list[tuple[_Item, ...]]]:
    """Rows, one choice of each factor, in which each three choices of different factors are together at least once.

    The first choice of a factor is what stands where nothing else is asked for.

    Returns the rows, and the threes that no row was found for.
    """
    rng = np.random.default_rng(seed)
    numbers = range(len(factors))
    missing = {
        (places, choices)
        for places in itertools.combinations(numbers, 3)
        for choices in itertools.product(*(range(len(factors[place])) for place in places))
    }
    rows: list[tuple[_Item, ...]] = []
    impossible: list[tuple[_Item, ...]] = []

    def threes(row: Sequence[int]) -> Iterable[tuple[tuple[int, ...], tuple[int, ...]]]:
        return ((places, tuple(row[place] for place in places)) for places in itertools.combinations(numbers, 3))

    for wanted in sorted(missing):
        if wanted not in missing:
            continue
        places, choices = wanted
        best: list[int] = []
        most = 0
        for attempt in range(_TRIES):
            # first what stands where nothing is asked for, then more and more of other things
            share = attempt / _TRIES
            row = [int(rng.integers(len(some))) if rng.random() < share else 0 for some in factors]
            for place, choice in zip(places, choices, strict=True):
                row[place] = choice
            if is_allowed([factors[place][row[place]] for place in numbers]):
                gained = sum(one in missing for one in threes(row))
                best, most = (row, gained) if gained > most else (best, most)
        if best:
            missing.difference_update(threes(best))
            rows.append(tuple(factors[place][best[place]] for place in numbers))
        else:
            impossible.append(tuple(factors[place][choice] for place, choice in zip(*wanted, strict=True)))
    return rows, impossible
