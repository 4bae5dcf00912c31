"""Which parameters are fitted: gains where they pay, joint by joint, and biases of encoders where logs show them.

A bias moves the place where gravity holds a joint, as a gain or a mass does: what a wrong gain or a wrong mass does, a
free bias takes up, as far as its range goes. So gains are tried first, far below and above the given ones. A joint
takes those that make its positions clearly better, also on what is held out, and by more than twice the noise of its
encoder; else it keeps the given ones, as a joint without load does, of which logs tell the ratio of gain and friction
alone. Then biases are added if they are all within their ranges and positions are clearly better; and with them, gains
have to pay again. Of a single joint on a bench, whose load is known, a bias is fitted in any case.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from .decoupling import Decoupled, Links
from .fit import Fit
from .identified import ModelScore
from .joints import BIASES, GAINS_TOO, Joints
from .log import MotorLog
from .models import FIRST, is_clearly_better
from .parameters import GAINS

# share of the errors that a group of parameters may leave: gains that are a few percent off cannot be told from masses
# of links that are, and stay as they are known
_LEAVES = {BIASES: 0.97, GAINS_TOO: 0.8}
# by how much errors have to fall for gains to be others than the given ones, of the noise of an encoder
_SEEN = 2.0
# share of that which slopes have to promise for biases to be tried
_PROMISES = 0.5


@dataclass(frozen=True, eq=False)
class Chosen:
    """The parameters to fit, and their first fit."""

    joints: Joints
    cases: list[Decoupled]
    fits: list[Fit]

    @property
    def score(self) -> ModelScore:
        """Errors of that model."""
        return self.joints.score(FIRST, self.fits)


class Choice:
    """A choice of what is fitted to logs; `noise` is that of the encoder of each joint [rad or m], `(joints,)`."""

    def __init__(self, joints: Joints, links: Links, logs: Sequence[MotorLog], noise: np.ndarray) -> None:
        self._joints, self._links, self._logs, self._noise = joints, links, logs, noise

    def made(self) -> Chosen:
        """Return the choice."""
        is_open = self._joints.open_groups
        best = self._with(self._joints, None)
        if GAINS_TOO in is_open:
            best = self._with_gains(best)
        # biases, if slopes promise enough of them
        enough = _PROMISES * (1.0 - _LEAVES[BIASES] ** 2)
        if BIASES in is_open and best.joints.promise(BIASES, best.fits, best.cases) > enough:
            best = self._with_biases(best)
        return best

    def _with_gains(self, given: Chosen) -> Chosen:
        """Return a choice with the gains of those joints that they pay for."""
        tried = self._with(given.joints.fitting(GAINS_TOO), None)
        keeps = self._keeping(tried.fits, given.fits)
        if all(keeps):
            return given
        # all gains of a joint that keeps them, and those that its logs do not tell
        untold = {j: names for j, names in tried.joints.untold(tried.fits, GAINS).items() if not keeps[j]}
        held = untold | dict.fromkeys(np.flatnonzero(keeps).tolist(), GAINS)
        joints, chosen = tried.joints.holding(held), _merged(tried.fits, given.fits, keeps)
        fits = joints.fit(FIRST, tried.cases, chosen, way="near") if untold else chosen
        # a sum with friction that logs tell alone may be another than the given gain allows
        stays = np.logical_or(keeps, self._keeping(tried.fits, fits)).tolist()
        joints = tried.joints.holding({j: names for j, names in held.items() if stays[j]})
        return Chosen(joints, tried.cases, _merged(tried.fits, fits, stays))

    def _keeping(self, new: Sequence[Fit], old: Sequence[Fit]) -> list[bool]:
        """Return whether joints keep what they have in the old fits, for what the new ones have does not pay."""
        errors, before = (np.array([(fit.error, fit.held_out) for fit in fits]) for fits in (new, old))
        pays = (errors < _LEAVES[GAINS_TOO] * before).all(axis=1) & ((before - errors)[:, 1] > _SEEN * self._noise)
        return (~pays).tolist()

    def _with_biases(self, best: Chosen) -> Chosen:
        """Return a choice with biases of encoders, if they pay; without the gains if those pay no more."""
        tried = self._with(best.joints.fitting(BIASES), best.fits)
        if not (_has_room(tried) and is_clearly_better(tried.score, best.score, _LEAVES[BIASES])):
            return best
        best = tried
        if GAINS_TOO in best.joints.groups and GAINS_TOO not in self._joints.groups:
            # biases may do what gains were taken for
            alone = self._with(self._joints.fitting(BIASES), None)
            if _has_room(alone) and not is_clearly_better(best.score, alone.score, _LEAVES[GAINS_TOO]):
                best = alone
        return best

    def _with(self, joints: Joints, before: list[Fit] | None) -> Chosen:
        """Return the first fit of what some joints fit, from fits before."""
        biases, fits = joints.find_biases(self._links, self._logs, before)
        cases = [self._links.decouple(log, biases) for log in self._logs]
        return Chosen(joints, cases, fits)


def _merged(new: Sequence[Fit], old: Sequence[Fit], keeps: Sequence[bool]) -> list[Fit]:
    """Return the old fits of joints that keep theirs, and the new ones of the others."""
    return [before if keep else after for before, after, keep in zip(old, new, keeps, strict=True)]


def _has_room(tried: Chosen) -> bool:
    """Return whether no bias is at the end of its range: what the logs do not tell goes as far as it can."""
    return not tried.joints.ends_at_bounds(tried.fits, "encoder_bias")
