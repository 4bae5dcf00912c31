"""Where a fit starts: the best of many delays and limits, and a random search."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...extras import needs
from .decoupling import Decoupled
from .fit import Bench

# number of values that are tried
_TRIED = 21
# smallest effort limit that is tried, of that of the motor
_WEAKEST = 0.05
# number of variants in a generation
_POPULATION = 24
# first steps of a search, in scales of the parameters
_STEP = 2.0


def tried(
    bench: Bench, cases: Sequence[Decoupled], start: Mapping[str, float], fixed: Mapping[str, float]
) -> dict[str, float]:
    """Return the start of a fit with the delay and the effort limit of the smallest error.

    Least squares sees only the neighbourhood of its start: a delay of a period of the motion is far away, and a limit
    that is never reached changes nothing. A correlation of command and position would not tell a delay from the lag of
    the control loop.
    """
    found = dict(start)
    if "delay" in found:
        found = _best(bench, cases, found, fixed, "delay", np.linspace(*bench.rules["delay"].bounds, _TRIED))
    if "max_effort" in found:
        # the largest ones first, for of equal ones the first one is taken
        values = np.clip(np.geomspace(1.0, _WEAKEST, _TRIED) * found["max_effort"], *bench.rules["max_effort"].bounds)
        found = _best(bench, cases, found, fixed, "max_effort", values)
    return found


def _best(
    bench: Bench,
    cases: Sequence[Decoupled],
    start: dict[str, float],
    fixed: Mapping[str, float],
    name: str,
    values: np.ndarray,
) -> dict[str, float]:
    """Return a start with the value of a parameter of the smallest error, its own one among them."""
    variants = [{**fixed, **start}, *({**fixed, **start, name: float(one)} for one in values)]
    errors = np.abs(bench.residuals(variants[0], len(variants), cases).positions(variants)).mean(1)
    return {**start, name: variants[int(np.argmin(errors))][name]}


def searched(
    bench: Bench,
    cases: Sequence[Decoupled],
    start: Mapping[str, float],
    fixed: Mapping[str, float],
    generations: int,
    seed: int,
) -> dict[str, float]:
    """Return the start of a fit that a random search (CMA-ES) finds, around another start.

    Args:
        bench: The joint.
        cases: The logs.
        start: Where it begins, of the parameters to search.
        fixed: Values of other parameters.
        generations: Number of generations.
        seed: Seed of the search.

    Raises:
        ModuleNotFoundError: The library `cma` is not installed.
    """
    with needs("the search", "identify"):
        import cma
    names = list(start)
    box = bench.box(names)
    residuals = bench.residuals({**fixed, **start}, _POPULATION, cases)
    first = np.clip([start[name] for name in names], box.lower, box.upper)
    options = {
        "bounds": [box.lower.tolist(), box.upper.tolist()],
        "CMA_stds": np.minimum(box.scale, 0.25 * (box.upper - box.lower)).tolist(),
        "popsize": _POPULATION,
        "maxiter": generations,
        # 0 would take the time
        "seed": seed + 1,
        "verbose": -9,
    }
    search = cma.CMAEvolutionStrategy(first, _STEP, options)
    while not search.stop():
        rows = search.ask()
        values = [{**fixed, **dict(zip(names, map(float, row), strict=True))} for row in rows]
        search.tell(rows, np.abs(residuals.positions(values)).mean(1).tolist())
    best = first if search.result.xbest is None else search.result.xbest
    return dict(zip(names, map(float, best), strict=True))
