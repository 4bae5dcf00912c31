"""Resolve motors by pattern to motors of joints: the joints of each motor, and its values per joint or robot.

A value is a number, a dictionary from patterns to numbers, or an array with one value per robot, `(robots,)`, or per
robot and joint of the pattern, `(robots, joints)`. One error lists all problems.
"""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from numbers import Real
from typing import TYPE_CHECKING, Any

import numpy as np

from ..base.memory import Tensor
from ..specs.actuator_spec import ActuatorSpec
from ..specs.combinations import misfits
from ..specs.configs import ForeignConfig, NeuralControlConfig
from ..specs.fields import JOINT, UNKNOWN_JOINT, Parameter, parameters_of
from ..specs.joint_side import effort_factor
from ..specs.motors import MotorConfig, Motors, motor_of, problems_of
from ..specs.patterns import assigned, by_joint, places_matched
from ..specs.stages import AnyStage, parts_of
from ..specs.transmission import transmission_of
from .linkages import idle_shafts

if TYPE_CHECKING:
    from ..laws.networks.checkpoint import Checkpoint

Limits = Callable[[], np.ndarray | None]
"""Returns the effort limits of joints [N·m or N], `(robots, joints)`, or None if they are unknown."""


@dataclass(frozen=True)
class Motor:
    """The motor of some joints; values are numbers or arrays `(joints,)` or `(robots, joints)`.

    The properties are `armature` [kg·m² or kg], `friction` [N·m or N] and `viscous_friction` [N·m·s/rad or N·s/m] if
    given.
    """

    pattern: str
    columns: tuple[int, ...]  # its joints, as positions among the names, ascending
    spec: ActuatorSpec | None  # None if the drive of the simulator drives the joints
    properties: dict[str, Any]
    intervals: Mapping[str, tuple[float, float]] = field(default_factory=dict[str, tuple[float, float]])

    def of_joint(self, at: int) -> MotorConfig:
        """Return the motor of one of its joints, by its number among them, with the numbers of the first robot."""

        def value(given: object) -> Any:
            return (given if given.ndim == 1 else given[0])[at].item() if isinstance(given, np.ndarray) else given

        def config(given: AnyStage) -> AnyStage:
            return dataclasses.replace(given, **{name: value(one) for name, one in vars(given).items()})

        stages = {} if self.spec is None else self.spec.each(config)
        properties = {name: value(one) for name, one in self.properties.items()}
        return MotorConfig(**stages, **properties, intervals=dict(self.intervals))


def motors_by_joint(motors: Motors, names: Sequence[str], limits: Limits) -> dict[str, MotorConfig]:
    """Return the motor of each joint of a robot that has one, with the numbers of this joint."""
    resolved = resolve_motors(motors, names, names, 1, limits=limits)
    return {names[column]: one.of_joint(at) for one in resolved for at, column in enumerate(one.columns)}


def resolve_motors(
    motors: Motors,
    names: Sequence[str],
    paths: Sequence[str],
    num_robots: int,
    *,
    limits: Limits | None = None,
    networks: bool = False,
    trusted: bool = False,
) -> list[Motor]:
    """Return the motors of a robot, in the order of their first joints."""
    if not isinstance(motors, Mapping):
        raise ValueError(f"motors = {motors!r:.120}: must be a dictionary. Write {{pattern: motor}}.")
    _, problems = assigned(motors, names, "motors", every=False)
    found: list[Motor] = []
    for pattern, given in motors.items():
        subject = f"motors[{pattern!r:.120}]"
        columns = places_matched(pattern, names)
        try:
            motor = motor_of(given)
        except (TypeError, ValueError) as error:
            problems.append(f"{subject}: {error}")
            continue
        own = problems_of(motor, subject) + misfits(motor, subject)
        problems += own
        fit = Fit([names[at] for at in columns], num_robots, subject, problems, limits, columns)
        checkpoint = fit.network(motor.controller, trusted) if networks else None
        if columns and not own:
            spec = fit.spec(motor, pattern, tuple(paths[at] for at in columns), checkpoint)
            found.append(Motor(pattern, columns, spec, fit.values(motor), motor.intervals))
    found = _with_idle_shafts(found, names, paths, problems)
    if problems:
        raise ValueError("\n".join(problems))
    return sorted(found, key=lambda motor: motor.columns)


def _with_idle_shafts(
    motors: Sequence[Motor], names: Sequence[str], paths: Sequence[str], problems: list[str]
) -> list[Motor]:
    """Return motors with shafts that nothing turns, at the joints of linkages that have no motor."""
    by_column = {column: motor for motor in motors for column in motor.columns}
    for joint, shaft in idle_shafts(motor.spec for motor in motors if motor.spec is not None).items():
        if joint not in names:
            problems.append(
                f"LinkageConfig.joints = {shaft.joints}: {joint!r} must be a joint of the robot. Correct it."
            )
            continue
        column = names.index(joint)
        motor = by_column.get(column, Motor(joint, (column,), None, {}))
        if len(motor.columns) > 1:
            problems.append(
                f"motors[{motor.pattern!r}] has {joint!r} and other joints: {joint!r} must have a motor of its own, "
                f"as one of LinkageConfig.joints = {shaft.joints}. Give it a pattern of its own."
            )
            continue
        spec = motor.spec or ActuatorSpec(motor.pattern, (paths[column],), dof_names=(joint,))
        by_column[column] = dataclasses.replace(motor, spec=dataclasses.replace(spec, others=(shaft, *spec.others)))
    return list({id(motor): motor for motor in by_column.values()}.values())


def without_motor(motors: Sequence[Motor], names: Sequence[str]) -> list[str]:
    """Names of the joints without a motor."""
    covered = {column for motor in motors for column in motor.columns}
    return [name for column, name in enumerate(names) if column not in covered]


def without_limit(motors: Sequence[Motor], names: Sequence[str], limits: Limits) -> dict[str, float]:
    """Effort limits [N·m or N] of joints whose motor has no limit, by name of the joint."""
    bare: list[int] = []
    for motor in motors:
        bare += itertools.compress(motor.columns, ~_bounded(motor))
    found = limits() if bare else None
    if found is None:
        return {}
    least = found.min(axis=0)
    return {names[column]: float(least[column]) for column in sorted(bare) if np.isfinite(least[column])}


def _bounded(motor: Motor) -> np.ndarray:
    """Which joints of a motor have a limit of the effort, or no control law."""
    if motor.spec is None or motor.spec.controller is None:
        return np.full(len(motor.columns), True)
    bounded = np.full(len(motor.columns), False)
    for stage in motor.spec.after_controller:
        # the bounds of a registered schema are unknown
        bounds = [0.0] if isinstance(stage, ForeignConfig) else stage.bounds("effort").values()
        for most in bounds:
            bounded |= np.isfinite(np.atleast_2d(most)).all(axis=0)
    return bounded


@dataclass(frozen=True)
class Fit:
    """Fits the values of a motor to its joints."""

    names: Sequence[str]
    num_robots: int
    subject: str  # name of the motor in errors
    problems: list[str]  # to which problems are added
    limits: Limits | None = None  # effort limits of all joints of the robot; None if they are unknown
    columns: Sequence[int] = ()  # the joints among these

    def spec(
        self, motor: MotorConfig, pattern: str, paths: tuple[str, ...], checkpoint: Checkpoint | None
    ) -> ActuatorSpec | None:
        """Return the spec of a motor on joints of these paths; None if it has no stages."""
        if not motor.stages:
            return None
        gear = transmission_of(motor)
        fitted = None if gear is None else self.config(gear)
        # a ratio that does not fit the joints is a problem that has been noted
        ratio = fitted.ratio if fitted is not None and isinstance(fitted.ratio, Real | np.ndarray) else 1.0
        stages = parts_of(
            fitted if stage is gear else self.config(stage, 1.0 if gear is None else effort_factor(stage, ratio))
            for stage in motor.stages
        )
        return ActuatorSpec(path=pattern, targets=paths, checkpoint=checkpoint, dof_names=tuple(self.names), **stages)

    def config(self, config: AnyStage, factor: float | np.ndarray = 1.0) -> AnyStage:
        """Return a copy of the config of a stage with values per joint; `factor` as for `values`."""
        return dataclasses.replace(config, **self.values(config, factor))

    def values(self, config: object, factor: float | np.ndarray = 1.0) -> dict[str, Any]:
        """Values of the fields of a config that are set: numbers, or arrays `(joints,)` or `(robots, joints)`."""
        # a number is the value of every joint
        return {
            name: value
            if type(value) in (int, float, bool)
            else self._number(described, value, f"{self.subject}: {type(config).__name__}.{name}", factor)
            for name, described in parameters_of(config).items()
            if described.is_single and (value := getattr(config, name)) is not None
        }

    def network(self, config: object, trusted: bool = False) -> Checkpoint | None:
        """Return the network of a config, or None."""
        if isinstance(config, NeuralControlConfig) and config.model_path:
            try:
                # imported here: most motors have no network
                from ..laws.networks.neural import checkpoint_at

                return checkpoint_at(config.model_path, trusted=trusted)
            except (ValueError, OSError) as error:
                self.problems.append(f"{self.subject}: model_path = {str(config.model_path)!r}: {error}")
        return None

    def _number(self, described: Parameter, value: object, subject: str, factor: float | np.ndarray) -> object:
        dtype = np.int32 if described.type == "int" else np.float32
        try:
            if isinstance(value, Mapping) or described.means_joint(value):
                found = [described.number(one) for one in by_joint(value, self.names, subject)]
                taken = [at for at, one in enumerate(found) if described.means_joint(one)]
                return self._with_limits(found, taken, subject, factor) if taken else np.array(found, dtype)
            return self._array(described.number(value), dtype, subject)
        except ValueError as error:
            self.problems.extend(str(error).splitlines())
            return value

    def _array(self, value: Tensor, dtype: type, subject: str) -> float | np.ndarray:
        """Return a number, or an array of one value per joint, or per robot and joint."""
        array = np.asarray(value.numpy() if hasattr(value, "numpy") else value)
        if array.ndim == 0:
            return array.item()
        shapes = (self.num_robots,), (self.num_robots, len(self.names))
        if array.shape not in shapes:
            raise ValueError(
                f"{subject} has shape {array.shape}: must be (robots,) = {shapes[0]} or (robots, joints) = "
                f"{shapes[1]}, the joints being {', '.join(self.names)}. Reshape it."
            )
        table = np.broadcast_to(array.astype(dtype).reshape(self.num_robots, -1), shapes[1])
        return table[0] if self.num_robots == 1 else table

    def _with_limits(
        self, values: list[object], taken: list[int], subject: str, factor: float | np.ndarray
    ) -> np.ndarray:
        """Return values of the joints, with the effort limits of the joints by `factor` at the positions `taken`."""
        limits = self.limits() if self.limits is not None else None
        if limits is None:
            raise ValueError(f"{subject} = {JOINT!r}: {UNKNOWN_JOINT}")
        limits = limits[:, list(self.columns)]
        if without := [self.names[at] for at in taken if not np.isfinite(limits[:, at]).all()]:
            raise ValueError(
                f"{subject} = {JOINT!r}: joints {', '.join(without)} have no effort limit: must have a finite one. "
                "Author it, maxForce of the drive in USD, or give a number."
            )
        limits = limits / factor
        columns = [limits[:, at] if at in taken else np.full(len(limits), one) for at, one in enumerate(values)]
        table = np.stack(columns, axis=1).astype(np.float32)
        return table[0] if (table == table[0]).all() else table
