"""`Motion`: positions, velocities and efforts of joints over time; and the difference of two motions."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

# errors of a motion beyond this one count as this [rad or m]: after a divergence they have no size
_MOST = np.pi


@dataclass(frozen=True, eq=False)
class Motion:
    """Motion of the joints of a comparison.

    Args:
        joints: Names of the joints, one per column.
        time: Times of the samples [s], shape `(samples,)`.
        targets: Position targets [rad or m], shape `(samples, joints)`.
        positions: Positions [rad or m], same shape; NaN after a divergence.
        velocities: Velocities [rad/s or m/s], same shape; NaN after a divergence.
        efforts: Efforts of actuators in the step before [N·m or N], same shape; NaN for joints with drives.
        diverged: Time at which the simulation diverged [s]; None if it did not.
        turns: Which joints turn; None where that is unknown.
    """

    joints: tuple[str, ...]
    time: np.ndarray
    targets: np.ndarray
    positions: np.ndarray
    velocities: np.ndarray
    efforts: np.ndarray
    diverged: float | None = None
    turns: Sequence[bool | None] | None = None

    def positions_at(self, time: np.ndarray) -> np.ndarray:
        """Return positions at other times [s], interpolated, shape `(times, joints)`."""
        return np.stack([np.interp(time, self.time, column) for column in self.positions.T], axis=1)


@dataclass(frozen=True)
class Parting:
    """Time and joint at which two motions part.

    Args:
        time: Time from which a joint differs by more than the tolerance [s].
        joint: Name of this joint.
    """

    time: float
    joint: str


@dataclass(frozen=True, eq=False)
class Difference:
    """Difference of two motions.

    Args:
        joints: Names of the joints, one per column.
        time: Times of the samples [s], shape `(samples,)`, those of the first motion.
        errors: Positions of the second motion less those of the first [rad or m], shape `(samples, joints)`, within ±π;
            π after a divergence.
    """

    joints: tuple[str, ...]
    time: np.ndarray
    errors: np.ndarray

    @property
    def mean(self) -> float:
        """Mean absolute difference over time and joints [rad or m]."""
        return float(np.abs(self.errors).mean())

    @property
    def largest(self) -> float:
        """Largest absolute difference [rad or m]."""
        return float(np.abs(self.errors).max())

    @property
    def by_joint(self) -> dict[str, float]:
        """Mean absolute difference of each joint [rad or m]."""
        return dict(zip(self.joints, np.abs(self.errors).mean(axis=0).tolist(), strict=True))

    def parting(self, tolerance: float) -> Parting | None:
        """Return where the motions part by more than a tolerance [rad or m]; None if they do not."""
        beyond = np.abs(self.errors) > tolerance
        rows = np.flatnonzero(beyond.any(axis=1))
        if not len(rows):
            return None
        row = rows[0]
        return Parting(float(self.time[row]), self.joints[int(np.argmax(np.abs(self.errors[row])))])


def difference(first: Motion, second: Motion) -> Difference:
    """Return the difference of two motions of the same joints, at the times of the first up to the end of both."""
    time = first.time[first.time <= min(first.time[-1], second.time[-1]) + 1e-9]
    errors = second.positions_at(time) - first.positions[: len(time)]
    # what is not finite any more differs by as much as anything can
    return Difference(first.joints, time, np.clip(np.nan_to_num(errors, nan=_MOST), -_MOST, _MOST))
