"""Refinement: fits to what the joints do together.

A joint by itself follows logs in which the others moved as measured; in the whole robot they move as simulated. So the
whole robot is simulated with the motors that were found, its difference from the joints by themselves is taken off the
measurement, and the joints are fitted again. The slopes of the fit stay those of single joints, which is why a round
costs one simulation.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping, Sequence

from ...specs.motors import MotorConfig
from .decoupling import Decoupled
from .fit import Fit
from .identified import mean_error
from .joints import Joints
from .replay import replay

# a round has to make the error smaller by this share
_BETTER = 0.97


def refined(
    joints: Joints,
    robot: str | os.PathLike[str],
    others: Mapping[str, MotorConfig],
    model: str,
    fits: list[Fit],
    cases: Sequence[Decoupled],
    rounds: int,
) -> list[Fit]:
    """Return fits whose whole robot has the smallest error on the logs that they are fitted to.

    Args:
        joints: The joints.
        robot: Path of the robot file.
        others: Motors of the joints that are not fitted, by name.
        model: Name of the model of friction.
        fits: Fits of the joints by themselves.
        cases: The logs.
        rounds: Largest number of rounds; it ends earlier when the error does not fall any more.
    """
    best, least = fits, float("inf")
    for count in range(rounds + 1):
        motors = {**others, **joints.motors(fits, cases)}
        whole = [replay(robot, motors, case.log, held_out=False) for case in cases]
        error = mean_error(whole)
        if error < least:
            best = fits
        if count == rounds or error > _BETTER * least:
            break
        least = error
        alone = joints.alone(fits, cases)
        cases = [
            dataclasses.replace(case, defect=replayed.positions - positions)
            for case, replayed, positions in zip(cases, whole, alone, strict=True)
        ]
        fits = joints.fit(model, cases, fits, near=True)
    return best
