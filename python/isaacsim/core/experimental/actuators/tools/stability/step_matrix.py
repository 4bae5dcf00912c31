"""The map of one physics step of closed loops, and of those until the rates of their controllers repeat."""

from __future__ import annotations

import numpy as np

from .implicit import Implicit
from .timing import Timing


class StepMatrix:
    """The linear map of a physics step, of all joints of a robot.

    The state has positions and velocities, and only where there is one: integrals, the last position of a velocity
    that is a difference, the filtered velocity, the efforts of the last steps that still act, a held effort, and what
    an implicit joint remembers: velocity and effort of the step before, and its load.

    Args:
        gains: Proportional, derivative and integral gains, shape `(3, J)`.
        dt: Physics step [s].
        weight: Weight of the velocity after a step in the position update.
        timing: When joints are measured and efforts act.
        implicit: Joints with an effort at the end of the step; None for no such joint.
    """

    def __init__(
        self, gains: np.ndarray, dt: float, weight: float, timing: Timing, implicit: Implicit | None = None
    ) -> None:
        self._gains, self._dt, self._weight = gains, dt, weight
        joints, timing = gains.shape[1], timing.resolved(dt)
        periods = timing.periods(dt)
        self._times, self._pattern = periods * dt, timing.pattern(dt)
        self._shares = timing.filter_shares(dt)
        self._summing = np.flatnonzero(gains[2])
        # with a weight of 1, the velocity is the difference of positions over a physics step
        known = (weight == 1.0) & (periods == 1.0)
        self._differing = np.flatnonzero(timing.differences & ~known)
        self._filtering = np.flatnonzero(self._shares < 1.0)
        self._holding = np.flatnonzero(periods > 1.0)
        self._asked, self._acting = map(_Late, timing.weights(dt))
        implicit = Implicit.none(joints) if implicit is None else implicit
        self._ending = np.flatnonzero(implicit.mask)
        self._yielding = dt / implicit.inertias[self._ending, None]
        # without the load, what else moved the joint in the step before stands for it
        self._recalling = np.flatnonzero(implicit.mask & (implicit.load_shares > 0.0))
        self._found = implicit.load_shares[self._recalling, None]
        some = (self._summing, self._differing, self._filtering, self._holding, *3 * (self._recalling,))
        counts = (joints, joints, *map(len, some), self._asked.size, self._acting.size)
        ends = np.cumsum(counts)
        parts = np.split(np.eye(ends[-1]), ends[:-1])
        self._position, self._velocity, self._integral, self._last, self._filtered, self._held, *past = parts
        self._velocity_before, self._effort_before, self._load_before, self._past_asked, self._past_acting = past

    def repeated(self, inverse: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the map of all physics steps until everything is repeated, and their number.

        Args:
            inverse: Inverse mass matrix, `(J, J)`.
        """
        found: dict[bytes, np.ndarray] = {}
        after = np.eye(self._position.shape[1])
        for due in self._pattern:
            if (key := due.tobytes()) not in found:
                found[key] = self._of_one(inverse, due)
            after = found[key] @ after if len(self._pattern) > 1 else found[key]
        return after, len(self._pattern)

    def _of_one(self, inverse: np.ndarray, due: np.ndarray) -> np.ndarray:
        """Return the map of one physics step in which some joints compute, a mask `(J,)`."""
        kp, kd, ki = self._gains
        measured = self._measured()
        asked = -(kp + self._times * ki)[:, None] * self._position - kd[:, None] * measured
        asked[self._summing] += ki[self._summing, None] * self._integral
        held = self._asked.result(asked, self._past_asked)
        waiting = ~due[self._holding]
        held[self._holding[waiting]] = self._held[waiting]
        effort = self._acting.result(held, self._past_acting)
        load = self._load()
        effort[self._ending], seen = self._at_end(load)
        velocity = self._velocity + (self._dt * inverse) @ effort
        position = self._dt * self._weight * velocity
        position += self._position + self._dt * (1.0 - self._weight) * self._velocity
        summed = self._integral - self._times[self._summing, None] * seen[self._summing]
        shifted = self._asked.shifted(asked, self._past_asked)
        remembered = (
            np.where(due[self._summing, None], summed, self._integral),
            np.where(due[self._differing, None], self._position[self._differing], self._last),
            np.where(due[self._filtering, None], measured[self._filtering], self._filtered),
            held[self._holding],
            self._velocity[self._recalling],
            effort[self._recalling],
            load[self._recalling],
            np.where(due[self._asked.joints, None], shifted, self._past_asked),
            self._acting.shifted(held, self._past_acting),
        )
        return np.vstack([position, velocity, *remembered])

    def _load(self) -> np.ndarray:
        """Return the velocities that joints gain in the step by what else moves them, as far as it is found."""
        load, recalling = np.zeros_like(self._velocity), self._recalling
        yielding = np.zeros((len(load), 1))
        yielding[self._ending] = self._yielding
        gained = self._velocity[recalling] - self._velocity_before - yielding[recalling] * self._effort_before
        load[recalling] = self._load_before + self._found * (gained - self._load_before)
        return load

    def _at_end(self, load: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the efforts of implicit joints, and the positions that the integrals of all joints add up."""
        ending, step, yielding = self._ending, self._dt, self._yielding
        kp, kd, ki = self._gains[:, ending, None]
        free = self._velocity[ending] + load[ending]
        integral = np.zeros_like(self._velocity)
        integral[self._summing] = self._integral
        stiffness = kp + step * ki
        pulled = ki * integral[ending] - stiffness * (self._position[ending] + step * free) - kd * free
        effort = pulled / (1.0 + yielding * (kd + step * stiffness))
        seen = self._position.copy()
        seen[ending] += step * (free + yielding * effort)
        return effort, seen

    def _measured(self) -> np.ndarray:
        """Return the rows of the velocities that a controller measures."""
        measured = self._velocity.copy()
        moved = self._position[self._differing] - self._last
        measured[self._differing] = moved / self._times[self._differing, None]
        share = self._shares[self._filtering, None]
        measured[self._filtering] = (1.0 - share) * self._filtered + share * measured[self._filtering]
        return measured


class _Late:
    """What acts late: a weighted sum of rows of now and of the steps before.

    Args:
        weights: Of now and of the steps before, shape `(J, steps + 1)`.
    """

    def __init__(self, weights: np.ndarray) -> None:
        self._weights = weights
        # joint and age of the rows that still act
        older = np.cumsum(weights[:, :0:-1] != 0.0, axis=1)[:, ::-1] > 0
        self.joints, self._ages = np.nonzero(older)

    @property
    def size(self) -> int:
        """Number of rows of the steps before."""
        return len(self.joints)

    def result(self, now: np.ndarray, past: np.ndarray) -> np.ndarray:
        """Return the rows that act now."""
        acting = self._weights[:, :1] * now
        np.add.at(acting, self.joints, self._weights[self.joints, self._ages + 1, None] * past)
        return acting

    def shifted(self, now: np.ndarray, past: np.ndarray) -> np.ndarray:
        """Return the rows of the steps before after one more step."""
        newest = self._ages == 0
        after = np.roll(past, 1, axis=0)
        after[newest] = now[self.joints[newest]]
        return after
