"""Verdicts: whether the motors that were found explain what the joints did, to the noise of their encoders."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

import numpy as np

from .identified import Estimate, Identified
from .looks import look_of
from .parameters import GAINS

EXPLAINED, PARTLY, NOT = "explained", "partly explained", "not explained"
"""The verdicts, from the best to the worst."""

# errors up to which positions are explained, and explained in part, of the noise of the encoder
_EXPLAINED, _PARTLY = 3.0, 20.0
# a value that is none, in any unit
_NONE = 1e-6


@dataclass(frozen=True)
class Verdict:
    """What was learned of a joint: `EXPLAINED`, `PARTLY` or `NOT`; empty for one that rests in all logs.

    Errors in the whole robot now and `before` are mean absolute ones [rad or m] of logs in which the joint moves,
    beside the noise of the encoder. `changed` is what was fitted, gains before and after; `look` what an unexplained
    error looks like, if anything.
    """

    joint: str
    word: str
    error: float
    before: float
    noise: float
    changed: str
    look: str = ""


def verdicts(identified: Identified) -> list[Verdict]:
    """Return the verdict on each joint, on the logs that `Identified.error` is of."""
    found = []
    for j, joint in enumerate(identified.joints):
        mine = [replay for replay in identified.judging if replay.log.moves(j)]
        error = float(np.mean([replay.errors[j] for replay in mine])) if mine else float("nan")
        noise = identified.noise[j] if identified.noise else float("nan")
        word = _word(error, noise) if mine else ""
        before = identified.errors_before[j] if identified.errors_before else float("nan")
        changed = ", ".join(_changes(identified.estimates, joint))
        look = look_of(mine, j, noise) if word in (PARTLY, NOT) else ""
        found.append(Verdict(joint, word, error, before, noise, changed, look))
    return found


def _word(error: float, noise: float) -> str:
    if error <= _EXPLAINED * noise:
        return EXPLAINED
    return PARTLY if error <= _PARTLY * noise else NOT


def _changes(estimates: Iterable[Estimate], joint: str) -> Iterator[str]:
    """Yield gains of a joint before and after, then its other changed values with half of their interval."""
    own = (estimate for estimate in estimates if estimate.joint == joint)
    for one in sorted(own, key=lambda estimate: estimate.name not in GAINS):
        # a descent ends beside the end of a range
        value = one.value if abs(one.value) > _NONE else 0.0
        half = 0.5 * (one.interval[1] - one.interval[0])
        spread = f" ± {half:.2g}" if np.isfinite(half) else ""
        if one.name in GAINS:
            before, after = f"{one.start:.3g}", f"{value:.3g}"
            yield f"{one.name} {after if after == before else f'{before}→{after}'}{spread}"
        elif value or one.start > 0.0:
            yield f"{one.name} {value:.2g}{spread}"
