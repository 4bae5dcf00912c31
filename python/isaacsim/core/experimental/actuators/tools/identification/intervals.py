"""Intervals of fitted values: how far they may be from the truth.

The standard error of a fit is of the noise of its logs alone. What logs of a robot differ in, such as friction that is
another one on another day, is seen by fits to halves of them: the difference of a value between a half and all of them
is an error of the value of all. Fits that leave out one log see less: where most logs agree, they do not move. What
logs have in common, the masses of the links, is seen by neither: a fit with all masses a little larger adds it. In
`h² = t²·s² + z²·m²`, h is half the width of an interval, s the standard deviation of a value by halves and m its
change with the masses; t and z are quantiles of the distributions of Student and Gauss. To the width of a delay comes a
physics step of rollouts, at one end of which commands act in them, in quadrature. As only differences count, these fits
take long physics steps.

Halves are the rows of a Hadamard matrix, so that each two logs are apart as often as together. Logs of one sitting are
alike, and neighbors by their names: halves that part few neighbors count by themselves if they differ more, with fewer
degrees of freedom. If all logs have the setting `sitting`, sittings are what is parted.
Source: McCarthy, Pseudo-replication: half samples, Review of the International Statistical Institute 37 (1969).
"""

from __future__ import annotations

import dataclasses
import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from ...base.extras import needs
from ...specs.motors import MotorConfig
from .decoupling import Decoupled
from .fit import Bench, Fit
from .identified import Estimate
from .joints import Joints
from .parameters import fields_of, value_of
from .rollout import substeps_of

LEAST, SHORTEST = 6, 5.0
"""Smallest number of logs in which a joint moves for its values to have intervals, and their shortest duration [s]."""

# setting of logs that were made together, and the smallest number of them that are parted in place of logs
_SITTING, _SITTINGS = "sitting", 3
# number of parts of logs in halves, a power of two, and of halves that part few neighbors
_PARTS, _SLOW = 8, 3
# probability below the upper end of an interval, and quantile of Gauss
_BELOW, _GAUSS = 0.95, 1.6449


@dataclasses.dataclass(frozen=True, eq=False)
class Intervals:
    """90 % intervals of joints' values; `widths` are half-widths, `logs` counts those that tell of each joint."""

    benches: Sequence[Bench]
    # values of each joint, by name of the parameter, and by kind and field of numbers of its stages
    numbers: Sequence[Mapping[str, float]]
    widths: Sequence[dict[str, float]]
    logs: Sequence[int]

    def around(self, fits: Sequence[Fit]) -> Intervals:
        """Return the intervals, as wide, around the values of other fits."""
        return dataclasses.replace(self, numbers=[_numbers(fit) for fit in fits])

    def of_estimates(self, estimates: Sequence[Estimate]) -> list[Estimate]:
        """Return estimates with their intervals, as far as there are any."""
        widths = {bench.joint: widths for bench, widths in zip(self.benches, self.widths, strict=True)}
        return [
            dataclasses.replace(one, interval=_within(one.value, width, one.bounds))
            if (width := widths.get(one.joint, {}).get(one.name)) is not None
            else one
            for one in estimates
        ]

    def of_motors(self, motors: Mapping[str, MotorConfig]) -> dict[str, MotorConfig]:
        """Return motors with the intervals of the numbers that they have, by the names that `randomize` takes."""
        found = dict(motors)
        for bench, numbers, widths in zip(self.benches, self.numbers, self.widths, strict=True):
            own, joint = {}, bench.joint
            for name, rule in bench.rules.items():
                if name in widths and not math.isnan(value_of(motors[joint], name)):
                    for place in rule.places or (name,):
                        # of a log, not of a stage
                        key = place if place in widths else name
                        own[place.rpartition(".")[2]] = _within(numbers[key], widths[key], rule.bounds)
            found[joint] = dataclasses.replace(motors[joint], intervals=own)
        return found

    def warnings(self) -> list[str]:
        """Return a sentence on the joints without intervals, if there are any."""
        few = {bench.joint: count for bench, count in zip(self.benches, self.logs, strict=True) if count < LEAST}
        if not few:
            return []
        return [
            f"No intervals of {', '.join(few)}: logs of {SHORTEST:g} s or more, in which a joint moves = "
            f"{max(few.values())}: must be at least {LEAST}. Log more, in several sittings."
        ]


def find_intervals(
    joints: Joints, model: str, fits: Sequence[Fit], cases: Sequence[Decoupled], mass_error: float
) -> Intervals:
    """Return the intervals of fits."""
    columns = range(len(fits))

    def tells(case: Decoupled) -> list[bool]:
        return [case.log.duration >= SHORTEST and case.log.moves(j) for j in columns]

    logs, widths = np.sum(list(map(tells, cases)), axis=0), [dict[str, float]() for _ in columns]
    result = Intervals(joints.benches, list(map(_numbers, fits)), widths, logs.tolist())
    if max(logs) < LEAST:
        return result
    with needs("identification", "identify"):
        from scipy.stats import t as student

    def refit(some: Iterable[Decoupled]) -> list[dict[str, float]]:
        return list(map(_numbers, joints.refit(model, list(some), fits)))

    parts, slow = _parts(cases)
    halves = _halves(len(parts))
    refits = [refit(itertools.chain(*itertools.compress(parts, half))) for half in halves]
    # of all logs in the same way, less accurate than a fit
    usual, heavy = refit(cases), refit(_scaled(case, 1.0 + mass_error) for case in cases)
    step = max(case.dt / substeps_of(case.dt) for case in cases)
    told = np.array([np.any(list(map(tells, part)), axis=0) for part in parts], int)
    counts, totals = halves @ told, told.sum(axis=0)
    for j in np.flatnonzero((logs >= LEAST) & (totals >= _SITTINGS)).tolist():
        count = int(totals[j])
        quantile = float(student.ppf(_BELOW, min(slow, count - 1)))
        for name in heavy[j]:
            changes = [half[j][name] - usual[j][name] for half in refits]
            spread = _spread(changes, counts[:, j].tolist(), count, slow)
            masses = heavy[j][name] - usual[j][name]
            widths[j][name] = math.hypot(quantile * spread, _GAUSS * masses, step * (name == "delay"))
    return result


def _halves(count: int) -> np.ndarray:
    """Return which parts are in each half, `(halves, parts)`, those first that part few neighbors."""
    with needs("identification", "identify"):
        from scipy.linalg import hadamard
    rows = {row for row in map(tuple, hadamard(_PARTS)[1:, :count].tolist()) if min(row) < max(row)}
    signs = sorted(rows, key=lambda row: (np.count_nonzero(np.diff(row)), row))
    return (np.array(signs) > 0).astype(int)


def _spread(changes: Sequence[float], counts: Sequence[int], count: int, slow: int) -> float:
    """Return the standard deviation of a value by its changes in halves, of which `counts` of `count` parts tell it."""
    pairs = zip(counts, changes, strict=True)
    squares = [first / (count - first) * change**2 for first, change in pairs if 0 < first < count]
    return math.sqrt(max(np.mean(squares), np.mean(squares[:slow])))


def _numbers(fit: Fit) -> dict[str, float]:
    """Return the fitted values by name, and those of the stages by kind and field."""
    return {name: fit.values[name] for name in fit.errors} | fields_of(list(fit.values), fit.values)


def _parts(cases: Sequence[Decoupled]) -> tuple[list[list[Decoupled]], int]:
    """Return the parts of logs that halves are made of, and how many halves count by themselves: all of sittings."""
    # number 10 after number 9
    ordered = sorted(cases, key=lambda case: re.sub(r"\d+", lambda number: number[0].zfill(12), case.log.source))
    sittings: dict[float | None, list[Decoupled]] = {}
    for case in ordered:
        sittings.setdefault(case.log.settings.get(_SITTING), []).append(case)
    is_labelled = None not in sittings and len(sittings) >= _SITTINGS
    parts = list(sittings.values()) if is_labelled else [[case] for case in ordered]
    count = min(len(parts), _PARTS)
    bounds = [round(len(parts) * k / count) for k in range(count + 1)]
    joined = [list(itertools.chain(*parts[start:end])) for start, end in itertools.pairwise(bounds)]
    return joined, _PARTS if is_labelled else _SLOW


def _scaled(case: Decoupled, factor: float) -> Decoupled:
    """Return a log of a robot whose masses are larger by a factor."""
    scaled = {name: factor * getattr(case, name) for name in ("inertia", "load", "slope", "least")}
    return dataclasses.replace(case, **scaled)


def _within(value: float, width: float, bounds: tuple[float, float]) -> tuple[float, float]:
    return max(value - width, bounds[0]), min(value + width, bounds[1])
