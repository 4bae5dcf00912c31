"""Refinement: fits to what the joints do together.

A joint by itself follows logs in which the others moved as measured; in the whole robot they move as simulated. So the
whole robot is simulated with the motors that were found, its difference from the joints by themselves is taken off the
measurement, and the joints are fitted again. The slopes of the fit stay those of single joints, which is why a round
costs one simulation.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence

from .decoupling import Decoupled
from .fit import Fit
from .identified import Replay, mean_error
from .joints import Joints

# a round has to make the error smaller by this share
_BETTER = 0.97


def refined(
    joints: Joints,
    replays_of: Callable[[Sequence[Fit]], list[Replay]],
    model: str,
    fits: list[Fit],
    cases: Sequence[Decoupled],
    rounds: int,
) -> tuple[list[Fit], list[Replay]]:
    """Return fits whose whole robot has the smallest error on the logs that they are fitted to, and its replays."""
    best, least = (fits, list[Replay]()), float("inf")
    for count in range(rounds + 1):
        replays = replays_of(fits)
        training = [one for one in replays if not one.held_out]
        error = mean_error(training)
        if error < least:
            best = fits, replays
        if count == rounds or error > _BETTER * least:
            break
        least = error
        alone = joints.alone(fits, cases)
        cases = [
            dataclasses.replace(case, defect=replayed.positions - positions)
            for case, replayed, positions in zip(cases, training, alone, strict=True)
        ]
        fits = joints.fit(model, cases, fits, way="near")
    return best
