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
from .joints import BIASES, Joints
from .log import MotorLog
from .models import FIRST, is_clearly_better

# share of the sum of squares that has to be promised for a fit to be tried: half of what is kept promises more
_PROMISED = 0.05


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
            group = max(left, key=lambda one: promised[one])
            if promised[group] < _PROMISED:
                break
            left.remove(group)
            # with other gains, other delays are near
            tried = self._with(best.joints.fitting(group), best.fits if group == BIASES else None)
            if is_clearly_better(tried.score, best.score):
                best = tried
                added.append(group)
        if len(added) > 1:
            # the second one may do what the first one was taken for
            fewer = self._with(joints.fitting(added[1]), best.fits)
            best = best if is_clearly_better(best.score, fewer.score) else fewer
        return best

    def _with(self, joints: Joints, before: list[Fit] | None) -> Chosen:
        """Return the first fit of what some joints fit, from fits before."""
        training, validation = self._logs
        biases, fits = joints.find_biases(self._links, training, before)
        cases = tuple([self._links.decouple(log, biases) for log in part] for part in (training, validation))
        return Chosen(joints, (cases[0], cases[1]), fits, joints.score(FIRST, fits, cases[1]))
