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

Gravity, friction, contacts and undriven joints are ignored. So are delays of commands, which apply to targets and
feedforward and not to feedback, and clamps, which turn growth into a vibration of constant amplitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from ...specs.arguments import number_of
from .implicit import Implicit
from .step_matrix import StepMatrix
from .timing import Timing

# bound on the rounding error of eigenvalues on the unit circle
_ROUNDING = 1e-11
# relative tolerance of searches; factors of the start below and above which a result counts as 0 and infinite
_TOLERANCE, _FAR_BELOW, _FAR_ABOVE = 1e-4, 1e-6, 1e9


def require_step(dt: float) -> None:
    """Raise unless it is a finite number > 0."""
    if not (math.isfinite(number_of("dt", dt)) and dt > 0):
        raise ValueError(f"dt = {dt}: must be a finite number of seconds > 0.")


class Loop:
    """The driven joints of a robot, closed by their gains.

    Args:
        inverse: Inverse mass matrix in the rows and columns of these joints, with all others free, `(J, J)`.
        gains: Proportional, derivative and integral gains, shape `(3, J)`.
        velocity_weight: Weight of the velocity after a step in the position update.
        timing: When joints are measured and efforts act; None for at once.
        implicit: Joints with an effort at the end of the step; None for no such joint.
    """

    def __init__(
        self,
        inverse: np.ndarray,
        gains: np.ndarray,
        velocity_weight: float = 1.0,
        timing: Timing | None = None,
        implicit: Implicit | None = None,
    ) -> None:
        self._inverse, self._gains, self._weight = inverse, gains, velocity_weight
        self._timing = Timing.prompt(len(inverse)) if timing is None else timing
        self._implicit = Implicit.none(len(inverse)) if implicit is None else implicit
        # a joint without gains closes no loop, and is free
        self._used = np.flatnonzero(gains.any(axis=0))

    @property
    def inertias(self) -> np.ndarray:
        """Inertia at each motor, with the other joints free."""
        return 1.0 / np.diag(self._inverse)

    def joint(self, at: int) -> Loop:
        """Return the loop of one joint alone."""
        one = slice(at, at + 1)
        return Loop(self._inverse[one, one], self._gains[:, one], self._weight, self._timing[one], self._implicit[one])

    def with_implicit(self, chosen: np.ndarray) -> Loop:
        """Return the loop in which other joints, a mask `(J,)`, are implicit as well."""
        implicit = self._implicit.with_coupled(self._inverse, chosen)
        return Loop(self._inverse, self._gains, self._weight, self._timing, implicit)

    def radius(self, dt: float, factor: float = 1.0, added: np.ndarray | None = None) -> float:
        """Return the spectral radius of a physics step, all gains times `factor`, with `added` armatures `(J,)`."""
        used, inverse = self._used, self._inverse
        if not len(used):
            return 0.0
        unit = np.eye(len(used))
        inverse, implicit = inverse[np.ix_(used, used)], self._implicit[used]
        if added is not None:
            before, inverse = inverse, np.linalg.solve(unit + inverse * added[used], inverse)
            implicit = implicit.moved(before, inverse)
        matrix = StepMatrix(factor * self._gains[:, used], dt, self._weight, self._timing[used], implicit)
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
        return _edge(lambda factor: self.is_stable(dt, factor), 1.0)

    def largest_step(self, dt: float) -> float:
        """Return the largest stable physics step, searched from `dt`.

        0 if none is: a latency in seconds is no shorter at a shorter step.
        """
        return _edge(self.is_stable, dt, self._timing.shortest_resolved_step)

    def smallest_armatures(self, dt: float, armatures: np.ndarray) -> np.ndarray:
        """Return the armatures with which the robot is just stable: 0 if none is needed, infinite if none helps.

        A joint needs what its gains demand beyond its other inertia, all demands times the smallest sufficient factor;
        for a stable robot at most its present armature.

        Args:
            dt: Physics step.
            armatures: Present armatures, within the mass matrix, `(J,)`.
        """
        used = self._used
        kp, kd, ki = self._gains[:, used]
        # with this inertia, a motion that reverses at each step keeps its amplitude; with a latency, a slower one
        slower = 1.0 / np.sin(math.pi / (2.0 + 4.0 * self._timing[used].latencies(dt) / dt))
        stiffness = slower**2 * (kp * dt**2 / 4 + slower * ki * dt**3 / 8)
        least = slower * kd * dt / 2 + (2 * self._weight - 1) * stiffness
        # an implicit joint has to be as heavy as it is taken for
        least = np.where(self._implicit.mask[used], self._implicit.inertias[used], least)
        inverse, present = self._inverse[np.ix_(used, used)], armatures[used]
        bare = 1.0 / np.diag(np.linalg.solve(np.eye(len(used)) - inverse * present, inverse))
        most = present if self.is_stable(dt) else math.inf
        found = np.zeros(len(armatures))

        def armatures_of(share: float) -> np.ndarray:
            found[used] = np.minimum(np.maximum(least / share - bare, 0.0), most)
            return found

        share = _edge(lambda share: self.is_stable(dt, added=armatures_of(share) - armatures), 1.0)
        if share:
            return armatures_of(share)
        return armatures if self.is_stable(dt) else np.full(len(armatures), math.inf)


def _edge(is_good: Callable[[float], bool], start: float, least: float = 0.0) -> float:
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
