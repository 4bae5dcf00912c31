"""`compare`: where the motions of two sides part, and which causes explain it, made equal one after the other."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass, field

from ...base.errors import HostError
from ..progress import Progress
from .causes import CAUSES, Cause, Found
from .motion import Difference, Parting, difference
from .plan import Plan
from .run import Run, run
from .side import Side

TOLERANCE = 1e-3
"""Difference of positions below which motions agree, by default [rad or m]."""

FINER = 4
"""Factor by which physics steps are smaller, to measure the part of the integrators."""

# shares that are closer are equal: the first cause of the table is then blamed
_DIGITS = 3
# what is switched off leaves less than this share of the difference
_OF_USE = 0.8
# share of the difference below which a cause has no effect
_NO_EFFECT = 0.005


@dataclass(frozen=True, eq=False)
class Blame:
    """A cause that was made equal on both sides, and the effect on the difference of their motions.

    Args:
        cause: Its name, such as `friction`.
        found: Values on both sides that differed, SI, by joint or link and property.
        is_switched_off: True if it was switched off on both sides instead of made equal.
        before: Mean absolute difference of positions before [rad or m].
        after: Mean absolute difference of positions with this cause and all earlier ones equal [rad or m].
        share: Share of the whole difference that it explains; negative if it compensated for another cause.
        alone: Mean absolute difference that this cause alone makes on the first side [rad or m]; None if that could not
            be simulated.
    """

    cause: str
    found: Found
    is_switched_off: bool
    before: float
    after: float
    share: float
    alone: float | None

    @property
    def has_effect(self) -> bool:
        """True if it changed the difference by at least half a percent of the whole."""
        return abs(self.share) >= _NO_EFFECT


@dataclass(frozen=True, eq=False)
class Comparison:
    """The result of `compare`.

    Args:
        first: The first side, as it is.
        second: The second side, as it is.
        difference: Difference of their motions.
        tolerance: Largest difference of motions that agree [rad or m].
        blames: Causes with an effect, in the order in which they were made equal.
        remaining: Difference of the motions with all of these causes equal.
        last: Both sides with all of these causes equal.
        finer: Mean absolute difference with a quarter of the physics step on both sides [rad or m]. By how much it is
            below the mean remaining difference is due to the integrators of the simulators. None if the motions agree
            with all causes equal.
        idle: Names of causes that differ without an effect on the motion, or that were not needed to explain it.
        failed: Reasons for which causes could not be made equal, by name.
    """

    first: Run
    second: Run
    difference: Difference
    tolerance: float
    blames: Sequence[Blame]
    remaining: Difference
    last: tuple[Run, Run]
    finer: float | None = None
    idle: Sequence[str] = ()
    failed: dict[str, str] = field(default_factory=dict)

    @property
    def differs(self) -> bool:
        """True if the motions part by more than the tolerance."""
        return self.difference.largest > self.tolerance

    @property
    def parting(self) -> Parting | None:
        """Time and joint at which they part; None if they do not."""
        return self.difference.parting(self.tolerance)

    @property
    def unexplained(self) -> float:
        """Share of the difference that no cause explains; 0 if the motions agree in the end."""
        if not self.differs or self.remaining.largest <= self.tolerance:
            return 0.0
        return self.remaining.mean / self.difference.mean


def compare(
    first: Side,
    second: Side,
    plan: Plan,
    tolerance: float = TOLERANCE,
    progress: Progress | None = None,
    *,
    most: int | None = None,
) -> Comparison:
    """Simulate two sides under the same commands, and find the causes of the difference of their motions.

    Each cause that differs is made equal on the second side, which shows by how much the difference falls, and once
    applied to the first side alone, because causes can hide each other. The cause with the largest sum of both stays
    equal. The others follow in the same way, until the motions agree or no cause is left. The order of joints comes
    first, as it says which joints the other causes compare. Contacts, speed limits, friction and stops of two
    simulators have no common value; they are switched off on both sides.

    Args:
        first: The side that the other one is made equal to.
        second: The other side.
        plan: Commands for both, from `plan_of`.
        tolerance: Largest difference of positions of motions that agree [rad or m].
        progress: Called with a description and the share of finished work, 0 … 1; None means no call.
        most: Largest number of causes to make equal; None means all.

    Returns:
        Both motions, their difference, and the causes with their shares of it.

    Raises:
        ValueError: The motors of a side do not fit together.
        HostError: A simulator cannot run its side.

    Example:
        >>> from isaacsim.core.experimental.actuators import MotorConfig, PDControlConfig
        >>> from isaacsim.core.experimental.actuators.tools.comparison import compare, plan_of, side_of
        >>> motors = [{"hinge": MotorConfig(PDControlConfig(kp, 2.0))} for kp in (30.0, 40.0)]
        >>> soft, stiff = (side_of("data/robots/pendulum.usda", motor) for motor in motors)
        >>> found = compare(soft, stiff, plan_of(soft, stiff, seconds=1.0))
        >>> [blame.cause for blame in found.blames], round(found.unexplained, 3)
        (['gains'], 0.0)
    """
    progress = progress or (lambda _words, _share: None)
    limits = tolerance, len(CAUSES) if most is None else most
    return _Search((run(first, plan), run(second, plan)), plan, limits, progress).result()


@dataclass(frozen=True, eq=False)
class _Trial:
    """A cause put equal, and the runs with it."""

    cause: Cause
    found: Found
    runs: tuple[Run, Run]
    difference: Difference
    alone: float | None

    def blame(self, now: Difference, whole: Difference) -> Blame:
        """Return its share of the present difference and of the whole one."""
        before, after = now.mean, self.difference.mean
        share = (before - after) / whole.mean
        return Blame(self.cause.name, self.found, self.cause.is_switched_off, before, after, share, self.alone)

    def weight(self, now: Difference, whole: Difference) -> float:
        """Return its rank: the share of the difference that vanishes, plus the share that it makes alone."""
        gone = (now.mean - self.difference.mean) / now.mean
        made = gone if self.alone is None else min(self.alone / whole.mean, 1.0)
        return round(gone + made, _DIGITS)


class _Search:
    """The search for causes."""

    def __init__(self, runs: tuple[Run, Run], plan: Plan, limits: tuple[float, int], progress: Progress) -> None:
        self._start = self._now = runs
        self._plan, self._progress = plan, progress
        self._tolerance, self._most = limits
        self._whole = difference(*(one.motion for one in runs))
        # what causes make by themselves, by name
        self._alone: dict[str, float | None] = {}
        self._failed: dict[str, str] = {}

    def result(self) -> Comparison:
        """Search, and return what was found."""
        now, left, blames = self._whole, list(CAUSES), list[Blame]()
        while now.largest > self._tolerance and len(blames) < self._most:
            best = self._best(left, now)
            if best is None:
                break
            blames.append(best.blame(now, self._whole))
            left.remove(best.cause)
            self._now, now = best.runs, best.difference
        idle, failed = self._not_blamed(left)
        idle = [one.cause for one in blames if not one.has_effect] + idle
        blames = [one for one in blames if one.has_effect]
        finer = self._finer() if now.largest > self._tolerance else None
        return Comparison(*self._start, self._whole, self._tolerance, blames, now, self._now, finer, idle, failed)

    def _not_blamed(self, left: Sequence[Cause]) -> tuple[list[str], dict[str, str]]:
        """Return which of the causes that are left differ, and why some of them could not be put equal."""
        # what is switched off has no value that could differ
        still = [cause.name for cause in left if not cause.is_switched_off and cause.find(*self._now)]
        failed = {name: why for name, why in self._failed.items() if name in still}
        return [name for name in still if name not in failed], failed

    def _finer(self) -> float:
        """Return the mean difference that is left with a fraction of the physics steps on both sides."""
        self._progress("with a finer physics step", 1.0)
        runs = [run(dataclasses.replace(one.side, dt=one.side.dt / FINER), self._plan) for one in self._now]
        return difference(*(one.motion for one in runs)).mean

    def _best(self, left: Sequence[Cause], now: Difference) -> _Trial | None:
        """Return the cause with the highest rank, or one that comes first; None if nothing is left that differs."""
        self._failed = {}
        trials = []
        for cause in left:
            trial = self._trial(cause)
            # without much effect, something switched off would only be missing from then on
            if trial is None or (cause.is_switched_off and trial.difference.mean >= _OF_USE * now.mean):
                continue
            if cause.comes_first:
                return trial
            trials.append(trial)
        return max(trials, key=lambda one: one.weight(now, self._whole), default=None)

    def _trial(self, cause: Cause) -> _Trial | None:
        """Put a cause equal and run both sides; None if it is equal already or cannot be put equal."""
        found = cause.find(*self._now)
        if not found:
            return None
        self._progress(f"with equal {cause.name}", (1 + CAUSES.index(cause)) / (1 + len(CAUSES)))
        try:
            pair = cause.put_equal(*self._now, found)
            if pair is None:
                raise HostError("neither simulator can set it while it runs")
            pairs = zip(pair, self._now, strict=True)
            first, second = (known if side is known.side else run(side, self._plan) for side, known in pairs)
            runs = (first, second)
        except (ValueError, HostError) as error:
            self._failed[cause.name] = str(error)
            return None
        if cause.name not in self._alone and not cause.is_switched_off:
            self._alone[cause.name] = self._made_alone(cause)
        return _Trial(cause, found, runs, difference(*(one.motion for one in runs)), self._alone.get(cause.name))

    def _made_alone(self, cause: Cause) -> float | None:
        """Return the mean difference that a cause makes on the first side by itself; None if that cannot be run."""
        first, second = self._start
        try:
            pair = cause.put_equal(second, first, cause.find(second, first))
            # of the two sides, only the one that was the first changes
            if pair is None or pair[0] is not second.side:
                return None
            return difference(first.motion, run(pair[1], self._plan).motion).mean
        except (ValueError, HostError):
            return None
