"""`Identified`: the motors found in logs, the standard errors of their values, and their errors on other logs."""

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
        standard_error: Its standard error, in the same unit; NaN if the logs do not determine the value.
        bounds: Smallest and largest value of the fit.
        start: Value before the fit.
        interval: 90 % interval, of the differences of the logs and an error of the masses; NaN if unknown.
    """

    joint: str
    name: str
    value: float
    unit: str
    standard_error: float
    bounds: tuple[float, float]
    start: float
    interval: tuple[float, float] = (float("nan"), float("nan"))

    @property
    def is_at_bound(self) -> bool:
        """True if the value is at the end of its range; a lower bound of 0 does not count."""
        low, high = self.bounds
        near = _AT * (high - low)
        return high - self.value <= near or bool(low and self.value - low <= near)


@dataclass(frozen=True)
class ColumnUse:
    """A column of logs besides commands and positions, of one joint, and what a fit does with it.

    Args:
        joint: Name of the joint.
        name: Name of the column, such as `current`.
        unit: Its unit, empty for none.
        unused: Reason why it is not fitted; empty if it is.
        size: Standard deviation of the measured values, without their part along the rate of the command, in its unit;
            NaN if it is not fitted.
        error: RMS of the simulated less the measured values, likewise, on the fitted logs, each joint simulated alone,
            in its unit; NaN if it is not fitted.
    """

    joint: str
    name: str
    unit: str
    unused: str = ""
    size: float = float("nan")
    error: float = float("nan")


@dataclass(frozen=True)
class ModelScore:
    """A friction model that was tried, and its mean absolute position error over logs and joints.

    Args:
        name: Name of the model, such as `Coulomb friction`.
        parameters: Names of its free parameters.
        training: Error on the logs that it was fitted to, each joint simulated alone [rad or m].
        validation: Error on the logs held out, each joint simulated alone [rad or m]; NaN if no log is held out.
    """

    name: str
    parameters: tuple[str, ...]
    training: float
    validation: float


@dataclass(frozen=True, eq=False)
class Replay:
    """A log, and the positions of the whole robot, simulated with the identified motors under the same commands.

    Args:
        log: The log.
        positions: Simulated positions [rad or m], shape `(samples, joints)`.
        held_out: True if the motors were not fitted to this log.
        turns: True for each joint that turns, False for one that slides, None for one of unknown type.
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
        models: The friction models that were tried, from simple to rich.
        chosen: Name of the model that was kept.
        replays: Each log simulated in full with the identified motors.
        shipped: Mean absolute position error of the robot with the motors that the fit started from, on the logs of
            `error` [rad or m].
        warnings: Doubts about the result, a sentence each, such as values that the logs do not determine.
        seconds: Duration of the identification [s].
        columns: Columns of the logs besides commands and positions, by joint.
        errors_before: `shipped` of each joint, of logs in which it moves [rad or m]; empty if unknown.
        noise: Noise of the encoder of each joint [rad or m]; empty if unknown.
        networks: A sentence for each joint for which a network was to be learned, and one for the whole robot.
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
    columns: Sequence[ColumnUse] = ()
    networks: Sequence[str] = ()
    errors_before: Sequence[float] = ()
    noise: Sequence[float] = ()

    @property
    def fitted_columns(self) -> list[str]:
        """Names of the columns that the fit compares with the simulation, of any joint; positions first."""
        return list(dict.fromkeys(["position", *(one.name for one in self.columns if not one.unused)]))

    @property
    def unused_columns(self) -> list[str]:
        """A sentence for each column that the fit does not use, with its joints and the reason."""
        joints: dict[tuple[str, str], list[str]] = {}
        for one in self.columns:
            if one.unused:
                joints.setdefault((one.name, one.unused), []).append(one.joint)
        return [f"{name} of {', '.join(those)} is not fitted: {why}." for (name, why), those in joints.items()]

    @property
    def judging(self) -> Sequence[Replay]:
        """The replays that judge the motors: of the logs that are held out, or of all without these."""
        return [replay for replay in self.replays if replay.held_out] or self.replays

    @property
    def error(self) -> float:
        """Mean absolute position error of the whole robot [rad or m], on the logs of `judging`."""
        return mean_error(self.judging)

    @property
    def disagrees(self) -> bool:
        """True if the whole robot has far larger errors than its joints alone: do not use such motors."""
        score = next(one for one in self.models if one.name == self.chosen)
        alone = score.training if np.isnan(score.validation) else score.validation
        return bool(self.error > _AGREES * alone + _SMALL)
