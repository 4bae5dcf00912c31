"""Where fits start: the best of many values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

from ...base.extras import needs
from .decoupling import Decoupled
from .fit import FACTORS, Bench
from .parameters import GAINS

# number of delays that are tried with a start
_TRIED = 21
# number of random starts, a power of two, with gains and without, and of those that are evaluated at once
_MANY, _FEWER, _AT_ONCE = 512, 128, 128
# largest factor of a gain other than kp and kd, and its inverse
_FACTOR = 4.0
# smallest dry friction of the largest, and that of the largest loads
_LEAST, _MOST = 1e-3, 1.5
# number of starts that are taken, and how far apart they are, of the ranges
_TAKEN, _APART = 3, 0.15
# resonances of springs that are tried [Hz], rotors, of the inertia of the joint, and its least [kg·m² or kg]
_RESONANCES, _ROTORS, _LIGHT = np.array((1.0, 40.0)), np.array((0.03, 10.0)), 1e-4
# smallest effort limit that is tried, of that of the motor
_WEAKEST = 0.01


def starts(
    bench: Bench, cases: Sequence[Decoupled], start: Mapping[str, float], fixed: Mapping[str, float], seed: int
) -> list[dict[str, float]]:
    """Return the best of many starts of a fit, far from each other, the best one first; `fixed` are other parameters.

    Least squares sees only the neighbourhood of its start: a delay of a period of the motion is far away, a friction
    that holds a joint hides its gains, and a limit that is never reached changes nothing.
    """
    ranges = _ranges(bench, cases, start)
    if not ranges:
        return [dict(start)]
    with needs("identification", "identify"):
        from scipy.stats import qmc
    many = _MANY if {*GAINS, "stiffness"} & {*ranges} else _FEWER
    shares = qmc.Sobol(len(ranges), rng=seed).random(many)
    # of equal ones the first is taken
    rows = [dict(start)]
    for row in shares:
        parts = zip(ranges.items(), row, strict=True)
        rows.append({**start, **{name: low * (high / low) ** share for (name, (low, high)), share in parts}})
    if "delay" in start:
        delays = np.linspace(*bench.rules["delay"].bounds, _TRIED)
        rows += [{**start, "delay": float(one)} for one in delays]
    errors = _errors(bench, cases, [{**fixed, **row} for row in rows])
    rows = [rows[k] for k in np.argsort(errors, kind="stable")]
    found = list[dict[str, float]]()
    for row in rows:
        if all(_distance(row, other, ranges) > _APART for other in found):
            found.append(row)
        if len(found) == _TAKEN:
            break
    return found


def _ranges(bench: Bench, cases: Sequence[Decoupled], start: Mapping[str, float]) -> dict[str, tuple[float, float]]:
    """Return the ranges of the parameters that are tried, all above zero: their logarithms are spread evenly."""
    found = {}
    for name, value in start.items():
        factor = FACTORS.get(name, _FACTOR)
        if name in GAINS:
            found[name] = value / factor, value * factor
        elif name == "coulomb":
            load = max(float(np.percentile(np.abs(case.load[:, bench.column]), 95)) for case in cases)
            most = _MOST * max(load, bench.rules[name].scale)
            found[name] = _LEAST * most, most
        elif name in ("stiffness", "rotor_inertia"):
            inertia = max(float(np.median(np.concatenate([case.inertia[:, bench.column] for case in cases]))), _LIGHT)
            factors = (2.0 * np.pi * _RESONANCES) ** 2 if name == "stiffness" else _ROTORS
            found[name] = tuple(np.clip(inertia * factors, *bench.rules[name].bounds).tolist())
        elif name == "max_effort":
            found[name] = _WEAKEST * value, value
        elif name == "delay":
            low, high = bench.rules[name].bounds
            found[name] = max(low, 0.01 * high), high
    return found


def _distance(one: Mapping[str, float], other: Mapping[str, float], ranges: Mapping[str, tuple[float, float]]) -> float:
    """Return the largest distance of two starts, of the ranges."""
    shares = [
        abs(np.log(max(one[name], low) / max(other[name], low))) / np.log(high / low)
        for name, (low, high) in ranges.items()
    ]
    return float(max(shares))


def _errors(bench: Bench, cases: Sequence[Decoupled], rows: Sequence[Mapping[str, float]]) -> np.ndarray:
    """Return the mean absolute position error of each variant on what is fitted [rad or m]."""
    residuals = bench.residuals(rows[0], min(len(rows), _AT_ONCE), cases, part="fitted", takes_long=True)
    parts = [rows[k : k + _AT_ONCE] for k in range(0, len(rows), _AT_ONCE)]
    return np.concatenate([np.abs(residuals.positions(part)).mean(1) for part in parts])
