"""What is fitted besides friction and delay: gains and biases of encoders, where they pay.

Both are known of many robots, and wrong where they are not: a servo may run at another gain in its register, and an
encoder be off its zero. Where they are right, nothing is gained by fitting them; and what a wrong gain or a wrong mass
does, a free bias takes up, as far as its range goes. So a fit begins without them, adds first what promises more, and
keeps what makes positions clearly better, on logs held out, too.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .decoupling import Decoupled, Links
from .fit import Fit
from .identified import ModelScore
from .joints import BIASES, GAINS_TOO, Joints
from .log import MotorLog
from .models import FIRST, is_clearly_better

# share of the errors that a group of parameters has to leave at most: gains that are known are off by a few percent at
# most, as masses of links are, which cannot be told from them
_LEAVES = {BIASES: 0.95, GAINS_TOO: 0.8}


@dataclass(frozen=True, eq=False)
class Chosen:
    """What is fitted, and the first fit of it.

    Args:
        joints: The joints, which fit it.
        cases: The logs that they are fitted to, and those that are held out, decoupled with the biases that were found.
        fits: Fits with the first model of friction.
        score: Errors of that model.
    """

    joints: Joints
    cases: tuple[list[Decoupled], list[Decoupled]]
    fits: list[Fit]
    score: ModelScore


class Choice:
    """A choice of what is fitted.

    Args:
        joints: The joints, and what is fitted of them in any case.
        links: The links of the robot.
        training: The logs that they are fitted to.
        validation: The logs that are held out.
    """

    def __init__(
        self, joints: Joints, links: Links, training: Sequence[MotorLog], validation: Sequence[MotorLog]
    ) -> None:
        self._joints, self._links, self._logs = joints, links, (training, validation)

    def made(self) -> Chosen:
        """Return the choice."""
        joints = self._joints
        best, added = self._with(joints, None), list[str]()
        left = list(joints.open_groups)
        while left:
            promised = {group: best.joints.promise(group, best.fits, best.cases[0]) for group in left}
            # half of what is asked for, for slopes tell little of gains that are far away
            group = max(left, key=lambda one: promised[one] / (1.0 - _LEAVES[one] ** 2))
            if promised[group] < 0.5 * (1.0 - _LEAVES[group] ** 2):
                break
            left.remove(group)
            # with other gains, other delays are near
            tried = self._with(best.joints.fitting(group), best.fits if group == BIASES else None)
            if is_clearly_better(tried.score, best.score, _LEAVES[group]):
                best = tried
                added.append(group)
        if len(added) > 1:
            # the second one may do what the first one was taken for
            fewer = self._with(joints.fitting(added[1]), best.fits)
            best = best if is_clearly_better(best.score, fewer.score, _LEAVES[added[0]]) else fewer
        return best

    def _with(self, joints: Joints, before: list[Fit] | None) -> Chosen:
        """Return the first fit of what some joints fit, from fits before."""
        training, validation = self._logs
        biases, fits = joints.find_biases(self._links, training, before)
        cases = tuple([self._links.decouple(log, biases) for log in part] for part in (training, validation))
        return Chosen(joints, (cases[0], cases[1]), fits, joints.score(FIRST, fits, cases[1]))
