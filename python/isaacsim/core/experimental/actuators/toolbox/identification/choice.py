"""The choice of parameters to fit besides friction and delay: gains and encoder biases, where they pay.

Both are known of many robots, and wrong where they are not: a servo may run at another gain in its register, and an
encoder be off its zero. Where they are right, nothing is gained by fitting them; and what a wrong gain or a wrong mass
does, a free bias takes up, as far as its range goes. So a fit begins without them, adds first what promises more, and
keeps what makes positions clearly better, on logs held out, too. Of a single joint on a bench, whose load is known, a
bias is fitted in any case.
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

# share of the errors that a group of parameters may leave: gains that are a few percent off cannot be told from masses
# of links that are, and stay as they are known
_LEAVES = {BIASES: 0.97, GAINS_TOO: 0.8}
# share of that which slopes have to promise for a fit to be tried, for they tell little of gains that are far away
_PROMISES = 0.5


@dataclass(frozen=True, eq=False)
class Chosen:
    """The parameters to fit, and their first fit.

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
        best, left = self._with(self._joints, None), list(self._joints.open_groups)
        while left and (group := self._promising(best, left)):
            left.remove(group)
            # with other gains, other delays are near
            tried = self._with(best.joints.fitting(group), best.fits if group == BIASES else None)
            if is_clearly_better(tried.score, best.score, _LEAVES[group]):
                best = tried
        added = [group for group in best.joints.groups if group not in self._joints.groups]
        if len(added) > 1:
            # the second one may do what the first one was taken for
            fewer = self._with(self._joints.fitting(added[1]), None)
            best = best if is_clearly_better(best.score, fewer.score, _LEAVES[added[0]]) else fewer
        return best

    @staticmethod
    def _promising(best: Chosen, groups: Sequence[str]) -> str:
        """Return the group that promises most, of those that promise enough; empty if none does."""
        promised = {group: best.joints.promise(group, best.fits, best.cases[0]) for group in groups}
        enough = [group for group in groups if promised[group] > _PROMISES * (1.0 - _LEAVES[group] ** 2)]
        return max(enough, key=lambda group: promised[group], default="")

    def _with(self, joints: Joints, before: list[Fit] | None) -> Chosen:
        """Return the first fit of what some joints fit, from fits before."""
        training, validation = self._logs
        biases, fits = joints.find_biases(self._links, training, before)
        fitted, held_out = ([self._links.decouple(log, biases) for log in part] for part in (training, validation))
        return Chosen(joints, (fitted, held_out), fits, joints.score(FIRST, fits, held_out))
