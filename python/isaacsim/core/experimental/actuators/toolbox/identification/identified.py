"""`Identified`: the motors that a log tells, how sure they are, and how well they predict other logs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from ...specs.motors import MotorConfig
from .log import MotorLog

# by how much the full simulation may be worse than the joints alone, and by how much more [rad or m]
_AGREES, _SMALL = 1.5, 1e-3
# distance from the end of a range that counts as at it, of the range
_AT = 1e-5


@dataclass(frozen=True)
class Estimate:
    """A parameter of a joint that was fitted.

    Args:
        joint: Name of the joint.
        name: Name of the parameter, such as `coulomb`.
        value: Its value.
        unit: Its unit, empty for none.
        standard_error: Its standard error; NaN if the logs do not tell it.
        bounds: Smallest and largest value that was tried.
        start: Value before the fit.
    """

    joint: str
    name: str
    value: float
    unit: str
    standard_error: float
    bounds: tuple[float, float]
    start: float

    @property
    def is_at_bound(self) -> bool:
        """True if it ended at the end of its range; 0 is no end."""
        low, high = self.bounds
        near = _AT * (high - low)
        return high - self.value <= near or bool(low and self.value - low <= near)


@dataclass(frozen=True)
class ModelScore:
    """How well a model of the ladder fits, mean absolute position error over logs and joints.

    Args:
        name: Name of the model, such as `coulomb and viscous friction`.
        parameters: Names of its free parameters.
        training: Error on the logs that it was fitted to, joint by joint [rad or m].
        validation: Error on the logs held out, joint by joint [rad or m]; NaN without any.
    """

    name: str
    parameters: tuple[str, ...]
    training: float
    validation: float


@dataclass(frozen=True, eq=False)
class Replay:
    """A log, and the positions that the identified robot has under the same commands.

    Args:
        log: The log.
        positions: Simulated positions [rad or m], shape `(samples, joints)`, in the simulator as a whole robot.
        held_out: True if the motors were not fitted to this log.
        turns: Whether each joint turns; else it slides; None if that is unknown.
    """

    log: MotorLog
    positions: np.ndarray
    held_out: bool
    turns: Sequence[bool | None] | None = None

    @property
    def errors(self) -> np.ndarray:
        """Mean absolute position error of each joint [rad or m], shape `(joints,)`."""
        return np.abs(self.positions - self.log.position).mean(0)


def mean_error(replays: Sequence[Replay]) -> float:
    """Return the mean absolute position error over replays and joints [rad or m]; NaN without replays."""
    return float(np.mean([one.errors.mean() for one in replays])) if replays else float("nan")


@dataclass(frozen=True, eq=False)
class Identified:
    """The result of `identify`.

    Args:
        robot: Path of the robot file.
        joints: Names of the joints.
        motors: The identified motors, by joint name, with all stages.
        estimates: The parameters that were fitted.
        models: The ladder of models, from simple to rich.
        chosen: Name of the model that was kept.
        replays: Each log simulated in full with the identified motors.
        shipped: Mean absolute position error of the robot with the motors of its file, on the held-out logs, or on all
            without any [rad or m].
        warnings: What a user should know, a sentence each.
        seconds: Duration of the identification [s].
    """

    robot: str
    joints: tuple[str, ...]
    motors: Mapping[str, MotorConfig]
    estimates: Sequence[Estimate]
    models: Sequence[ModelScore]
    chosen: str
    replays: Sequence[Replay] = ()
    shipped: float = float("nan")
    warnings: Sequence[str] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def error(self) -> float:
        """Mean absolute position error in the full simulation [rad or m], of held-out logs, or of all without any."""
        return mean_error([one for one in self.replays if one.held_out] or self.replays)

    @property
    def disagrees(self) -> bool:
        """True if the whole robot has far larger errors than its joints one by one: such motors are not to be used."""
        score = next(one for one in self.models if one.name == self.chosen)
        alone = score.training if np.isnan(score.validation) else score.validation
        return bool(self.error > _AGREES * alone + _SMALL)
