"""The closed loop of PD and PID laws over the physics steps, which decides whether joints vibrate.

    v⁺ = v + dt·M⁻¹·τ    q⁺ = q + dt·((1 − w)·v + w·v⁺)    τ = −Kp·q − Kd·v + Ki·z⁺    z⁺ = z − dt·q

The effort is computed once per physics step and held; M is the mass matrix with the armatures. The weight w is the
simulator's: 1 is the semi-implicit step of MuJoCo, and PhysX, which divides its step into n, has (n + 1)/(2·n). A robot
is stable if all eigenvalues of this map are in the closed unit disk. For one joint and ki = 0 that is

    kd·dt + (2·w − 1)·kp·dt²/2 <= 2·I    and    kd >= (1 − w)·kp·dt

With a latency of n steps it is about kd > n·dt·kp and kd·dt < 2·I·sin(π/(4·n + 2)). Then, and with a rate of the
controller, the efforts of the last steps, the held effort and what is remembered of the measurements are states as
well, see `timing.py`; and the map is that of all physics steps until the rates repeat. An implicit joint has the effort
of the end of the step, see `implicit.py`; it is stable at any gains if its inertia is not over-estimated, and loads are
not followed too fast.

Viscous friction and springs of gears can be in the map; the tables of `stability` leave them out. Gravity, other
friction, contacts and undriven joints are ignored. So are delays of commands, which apply to targets and
feedforward and not to feedback, and clamps, which turn growth into a vibration of constant amplitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, cast

import numpy as np

from ...laws.transmission_elastic import spring_step
from ...specs.arguments import number_of
from .implicit import Implicit
from .timing import Timing

# bound on the rounding error of eigenvalues on the unit circle
_ROUNDING = 1e-11
# relative tolerance of searches; factors of the start below and above which a result counts as 0 and infinite
_TOLERANCE, _FAR_BELOW, _FAR_ABOVE = 1e-4, 1e-6, 1e9


def require_step(dt: float) -> None:
    """Raise unless it is a finite number > 0."""
    if not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0.")


class StepMatrix:
    """The linear map of a physics step, of all joints of a robot; arguments as those of `Loop`.

    The state has positions and velocities, and only where there is one: integrals, the last position of a velocity
    that is a difference, the filtered velocity, the efforts of the last steps that still act, a held and a lagged
    effort, and what an implicit joint remembers: velocity and effort of the step before, and its load.
    """

    def __init__(
        self,
        gains: np.ndarray,
        dt: float,
        weight: float,
        timing: Timing,
        implicit: Implicit | None = None,
        viscous: np.ndarray | None = None,
        springs: np.ndarray | None = None,
    ) -> None:
        self._gains, self._dt, self._weight = gains, dt, weight
        self._viscous, self._springs = viscous, np.zeros((5, gains.shape[1])) if springs is None else springs
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
        self._lag_shares = timing.lag_shares(dt)
        self._lagging = np.flatnonzero(self._lag_shares < 1.0)
        implicit = Implicit.none(joints) if implicit is None else implicit
        self._ending = np.flatnonzero(implicit.mask)
        self._yielding = dt / implicit.inertias[self._ending, None]
        # without the load, what else moved the joint in the step before stands for it
        self._recalling = np.flatnonzero(implicit.mask & (implicit.load_shares > 0.0))
        self._found = implicit.load_shares[self._recalling, None]
        self._sprung = np.flatnonzero(self._springs[0])
        some = self._summing, self._differing, self._filtering, self._holding, self._lagging, *3 * (self._recalling,)
        every = np.arange(joints)
        groups = (every, every, *some, self._asked.joints, self._acting.joints, *4 * (self._sprung,))
        self._owners, added = np.concatenate(groups), every
        ends = np.cumsum([*map(len, groups), len(added)])
        parts = np.split(np.eye(ends[-1], dtype=np.result_type(gains, float)), ends[:-1])
        self._position, self._velocity, self._integral, self._last, self._filtered, self._held, *past = parts
        self._lagged, self._velocity_before, self._effort_before, self._load_before, self._past_asked, *past = past
        # efforts that are added where loops are opened
        self._past_acting, self._rotor, self._rotor_velocity, self._last_velocity, self._spring, self._added = past
        # behind a spring a controller has the rotor, unless its encoder is at the joint
        self._seen, self._seen_velocity = self._position.copy(), self._velocity.copy()
        at_rotor = self._springs[4, self._sprung] == 0.0
        self._seen[self._sprung[at_rotor]] = self._rotor[at_rotor]
        self._seen_velocity[self._sprung[at_rotor]] = self._rotor_velocity[at_rotor]

    def repeated(self, inverse: np.ndarray) -> tuple[np.ndarray, int]:
        """Return the map of all physics steps until everything is repeated, and their number."""
        after, _, _ = self.opened(inverse)
        return after, len(self._pattern)

    def opened(self, inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the map of `repeated`, what efforts add that are added to those of the controllers meanwhile, and the
        efforts that controllers return in the first step: of `(S, S)`, `(S, J)` and `(J, S)`.
        """
        steps: dict[bytes, np.ndarray] = {}
        count = len(self._owners)
        after, returned = np.eye(count + len(self._added)), np.zeros(0)
        for due in self._pattern:
            if (key := due.tobytes()) not in steps:
                steps[key], efforts = self._of_one(inverse, due)
                # in the first step all are due
                returned = returned if len(steps) > 1 else efforts
            after = steps[key] @ after if len(self._pattern) > 1 else steps[key]
        return after[:count, :count], after[:count, count:], returned[:, :count]

    def alone(self, inverse: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of `repeated` of each of some joints that are alike in all but numbers and not coupled,
        `(J, S/J, S/J)`, and their states at rest before the first step after targets jumped from -1 to 0; of each state
        its position comes first.
        """
        joints = len(inverse)
        order = np.argsort(self._owners, kind="stable").reshape(joints, -1)
        kp, _, ki = self._gains
        behind = (kp + self._times * ki)[self._asked.joints]
        jumped = behind @ self._past_asked - self._position.sum(axis=0) - self._last.sum(axis=0)
        return self.repeated(inverse)[0][order[:, :, None], order[:, None, :]], jumped[order]

    def _of_one(self, inverse: np.ndarray, due: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the map of one physics step in which some joints compute, a mask `(J,)`, and what these return."""
        kp, kd, ki = self._gains
        measured = self._measured()
        asked = -(kp + self._times * ki)[:, None] * self._seen - kd[:, None] * measured
        asked[self._summing] += ki[self._summing, None] * self._integral
        load = self._load()
        at_end, seen = self._at_end(load)
        returned = asked.copy()
        returned[self._ending] = at_end
        asked += self._added
        held = self._asked.result(asked, self._past_asked)
        waiting = ~due[self._holding]
        held[self._holding[waiting]] = self._held[waiting]
        effort = self._acting.result(held, self._past_acting)
        share = self._lag_shares[self._lagging, None]
        lagged = effort[self._lagging] = (1.0 - share) * self._lagged + share * effort[self._lagging]
        effort[self._ending] = at_end + self._added[self._ending]
        effort[self._sprung], rotor_velocity = self._through_springs(inverse, effort)
        pushing = self._dt * inverse
        velocity = self._velocity + pushing @ effort
        if self._viscous is not None:
            velocity = np.linalg.solve(np.eye(len(inverse)) + pushing * self._viscous, velocity)
        position = self._dt * self._weight * velocity
        position += self._position + self._dt * (1.0 - self._weight) * self._velocity
        summed = self._integral - self._times[self._summing, None] * seen[self._summing]
        shifted = self._asked.shifted(asked, self._past_asked)
        remembered = (
            np.where(due[self._summing, None], summed, self._integral),
            np.where(due[self._differing, None], self._seen[self._differing], self._last),
            np.where(due[self._filtering, None], measured[self._filtering], self._filtered),
            held[self._holding],
            lagged,
            self._velocity[self._recalling],
            returned[self._recalling],
            load[self._recalling],
            np.where(due[self._asked.joints, None], shifted, self._past_asked),
            self._acting.shifted(held, self._past_acting),
            self._rotor + self._dt * rotor_velocity,
            rotor_velocity,
            self._velocity[self._sprung],
            effort[self._sprung],
        )
        return np.vstack([position, velocity, *remembered, self._added]), returned

    def _through_springs(self, inverse: np.ndarray, effort: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts of springs at their joints, and velocities of rotors after the step, by the law of springs.

        The law is linear without backlash: three motions of 1 show it. The load is that of the step before.
        """
        step, sprung = self._dt, self._sprung
        made = np.zeros((2, 3, len(sprung)))
        for at, joint in enumerate(sprung):
            stiffness, damping, rotor, drag = self._springs[:4, joint]
            masses = rotor + step * drag, 1.0 / inverse[joint, joint]
            for motion, (push, pull, stretch) in enumerate(np.eye(3)):
                given = push, masses[0], pull, masses[1], stretch, step, step * stiffness, damping, 0.0
                made[:, motion, at] = cast(Any, spring_step)(*map(float, given))
        inertia = (1.0 / np.diag(inverse))[sprung, None]
        pushed = self._springs[2, sprung, None] * self._rotor_velocity + step * effort[sprung]
        gained = self._velocity[sprung] - self._last_velocity
        pulled = inertia * (self._velocity[sprung] + gained) - step * self._spring
        motions = np.stack([pushed, pulled, self._rotor - self._position[sprung]])
        efforts, velocities = np.einsum("omj,mjs->ojs", made, motions)
        return efforts, velocities

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
        seen = self._seen.copy()
        seen[ending] += step * (free + yielding * effort)
        return effort, seen

    def _measured(self) -> np.ndarray:
        """Return the rows of the velocities that a controller measures."""
        measured = self._seen_velocity.copy()
        moved = self._seen[self._differing] - self._last
        measured[self._differing] = moved / self._times[self._differing, None]
        share = self._shares[self._filtering, None]
        measured[self._filtering] = (1.0 - share) * self._filtered + share * measured[self._filtering]
        return measured


class _Late:
    """What acts late: rows of now and of the steps before, summed with weights of shape `(J, steps + 1)`."""

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


class Loop:
    """The driven joints of a robot, closed by their gains.

    `inverse`, `(J, J)`, is the inverse mass matrix with all other joints free; `gains`, `(3, J)`, are proportional,
    derivative and integral; `velocity_weight` is that of the velocity after a step in the position update. `viscous`
    friction, `(J,)`, acts at the end of the step. `springs` between rotor and joint, `(5, J)`, are stiffness, 0 for
    none, damping, inertia and viscous friction of the rotor, all at the joint, and 1 where the controller measures the
    joint, not the rotor. Backlash is ignored.
    """

    def __init__(
        self,
        inverse: np.ndarray,
        gains: np.ndarray,
        velocity_weight: float = 1.0,
        timing: Timing | None = None,
        implicit: Implicit | None = None,
        viscous: np.ndarray | None = None,
        springs: np.ndarray | None = None,
    ) -> None:
        self.inverse, self.gains, self.weight = inverse, gains, velocity_weight
        self.timing = Timing.prompt(len(inverse)) if timing is None else timing
        self.implicit = Implicit.none(len(inverse)) if implicit is None else implicit
        self.viscous = np.zeros(len(inverse)) if viscous is None else viscous
        self.springs = np.zeros((5, len(inverse))) if springs is None else springs
        # a joint without gains closes no loop, and is free
        self._used = np.flatnonzero(gains.any(axis=0))

    @property
    def inertias(self) -> np.ndarray:
        """Inertia at each motor, with the other joints free."""
        return 1.0 / np.diag(self.inverse)

    @property
    def held_inertias(self) -> np.ndarray:
        """Inertia at each motor, with the other joints held."""
        return np.diag(np.linalg.inv(self.inverse))

    def has_rates(self, dt: float) -> bool:
        """Return True if some joints compute more often than others."""
        pattern = self.timing[self._used].pattern(dt)
        return bool((pattern.any(axis=1) & ~pattern.all(axis=1)).any())

    def joint(self, at: int) -> Loop:
        """Return the loop of one joint alone."""
        one = slice(at, at + 1)
        of_joint = self.gains[:, one], self.weight, self.timing[one], self.implicit[one], self.viscous[one]
        of_joint = *of_joint, self.springs[:, one]
        return Loop(self.inverse[one, one], *of_joint)

    def with_implicit(self, chosen: np.ndarray) -> Loop:
        """Return the loop in which other joints, a mask `(J,)`, are implicit as well."""
        implicit = self.implicit.with_coupled(self.inverse, chosen)
        return Loop(self.inverse, self.gains, self.weight, self.timing, implicit, self.viscous, self.springs)

    def changed(
        self, gains: np.ndarray | None = None, armature: np.ndarray | None = None, viscous: np.ndarray | None = None
    ) -> Loop:
        """Return the loop with other gains, with more armature, and with other viscous friction, each `(…, J)`."""
        inverse, implicit = self.inverse, self.implicit
        if armature is not None:
            inverse = np.linalg.solve(np.eye(len(inverse)) + inverse * armature, inverse)
            implicit = implicit.moved(self.inverse, inverse)
        gains, viscous = self.gains if gains is None else gains, self.viscous if viscous is None else viscous
        return Loop(inverse, gains, self.weight, self.timing, implicit, viscous, self.springs)

    def _matrix(self, dt: float) -> tuple[StepMatrix, np.ndarray]:
        """Return the map of a physics step of the joints that close a loop, and their inverse mass matrix."""
        used = self._used
        parts = self.timing[used], self.implicit[used], self.viscous[used], self.springs[:, used]
        return StepMatrix(self.gains[:, used], dt, self.weight, *parts), self.inverse[np.ix_(used, used)]

    def opened(self, dt: float) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return what `StepMatrix.opened` does of the joints that close a loop, and their numbers."""
        matrix, inverse = self._matrix(dt)
        return *matrix.opened(inverse), self._used

    def alone(self, dt: float) -> tuple[np.ndarray, np.ndarray]:
        """Return `StepMatrix.alone` of joints that are alike and not coupled."""
        matrix, inverse = self._matrix(dt)
        return matrix.alone(inverse)

    def radius(self, dt: float, factor: float = 1.0, added: np.ndarray | None = None) -> float:
        """Return the spectral radius of a physics step, all gains times `factor`, with `added` armatures `(J,)`."""
        used, inverse = self._used, self.inverse
        if not len(used):
            return 0.0
        unit = np.eye(len(used))
        inverse, implicit = inverse[np.ix_(used, used)], self.implicit[used]
        if added is not None:
            before, inverse = inverse, np.linalg.solve(unit + inverse * added[used], inverse)
            implicit = implicit.moved(before, inverse)
        parts = self.timing[used], implicit, self.viscous[used], self.springs[:, used]
        matrix = StepMatrix(factor * self.gains[:, used], dt, self.weight, *parts)
        with np.errstate(over="ignore", invalid="ignore"):
            after, steps = matrix.repeated(inverse)
        # an overflow grows
        if not np.isfinite(after).all():
            return math.inf
        return float(np.abs(np.linalg.eigvals(after)).max() ** (1.0 / steps))

    def is_stable(self, dt: float, factor: float = 1.0, added: np.ndarray | None = None) -> bool:
        """Return True if no motion grows."""
        return self.radius(dt, factor, added) <= 1.0 + _ROUNDING

    def margin(self, dt: float) -> float:
        """Return the gain margin, the factor by which all gains may grow."""
        return edge(lambda factor: self.is_stable(dt, factor), 1.0)

    def largest_step(self, dt: float) -> float:
        """Return the largest stable physics step, searched from `dt`.

        0 if none is: a latency in seconds is no shorter at a shorter step.
        """
        return edge(self.is_stable, dt, self.timing.shortest_resolved_step)

    def smallest_armatures(self, dt: float, armatures: np.ndarray) -> np.ndarray:
        """Return the armatures with which the robot is just stable: 0 if none is needed, infinite if none helps.

        A joint needs what its gains demand beyond its other inertia, all demands times the smallest sufficient factor;
        for a stable robot at most its present armature.
        """
        used = self._used
        kp, kd, ki = self.gains[:, used]
        # with this inertia, a motion that reverses at each step keeps its amplitude; with a latency, a slower one
        slower = 1.0 / np.sin(math.pi / (2.0 + 4.0 * self.timing[used].latencies(dt) / dt))
        stiffness = slower**2 * (kp * dt**2 / 4 + slower * ki * dt**3 / 8)
        least = slower * kd * dt / 2 + (2 * self.weight - 1) * stiffness
        # an implicit joint has to be as heavy as it is taken for
        least = np.where(self.implicit.mask[used], self.implicit.inertias[used], least)
        inverse, present = self.inverse[np.ix_(used, used)], armatures[used]
        bare = 1.0 / np.diag(np.linalg.solve(np.eye(len(used)) - inverse * present, inverse))
        most = present if self.is_stable(dt) else math.inf
        found = np.zeros(len(armatures))

        def armatures_of(share: float) -> np.ndarray:
            found[used] = np.minimum(np.maximum(least / share - bare, 0.0), most)
            return found

        share = edge(lambda share: self.is_stable(dt, added=armatures_of(share) - armatures), 1.0)
        if share:
            return armatures_of(share)
        return armatures if self.is_stable(dt) else np.full(len(armatures), math.inf)


def edge(is_good: Callable[[float], bool], start: float, least: float = 0.0) -> float:
    """Return the largest good number, below which all are good, searched from `start`; 0 or infinite if far off.

    0 also if none from `least` on is good.
    """
    good = bad = start
    if is_good(start):
        while is_good(bad := 2.0 * good):
            good = bad
            if good > _FAR_ABOVE * start:
                return math.inf
    else:
        while not is_good(good := bad / 2.0):
            bad = good
            if bad < max(_FAR_BELOW * start, least):
                return 0.0
    while bad - good > _TOLERANCE * good:
        middle = (good + bad) / 2.0
        good, bad = (middle, bad) if is_good(middle) else (good, middle)
    return good
