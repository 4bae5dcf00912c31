"""Resolve motors by pattern to motors of joints: the joints of each motor, and its values per joint or robot.

A value is a number, a dictionary from patterns to numbers, or an array with one value per robot, `(robots,)`, or per
robot and joint of the pattern, `(robots, joints)`. One error lists all problems.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from numbers import Real
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from ..specs.actuator_spec import ActuatorSpec
from ..specs.combinations import combination_problems
from ..specs.configs import ForeignConfig, NeuralControlConfig
from ..specs.engine_friction import is_friction
from ..specs.fields import JOINT, UNKNOWN_JOINT, Parameter, parameters_of, shown
from ..specs.joint_side import effort_factor
from ..specs.motors import MotorConfig, Motors, motor_of, problems_of
from ..specs.patterns import assigned, by_joint, pattern_problem
from ..specs.stages import KINDS, is_linked, parts_of
from ..specs.transmission import transmission_of

if TYPE_CHECKING:
    from ..networks.checkpoint import Checkpoint

# relative difference between an armature and that of a rotor that is one of rounding
_SAME = 0.05

Limits = Callable[[], np.ndarray | None]
"""Returns the effort limits of joints [N·m or N], `(robots, joints)`, or None if they are unknown."""


@dataclass(frozen=True)
class Motor:
    """The motor of some joints.

    Args:
        pattern: Its pattern of joint names.
        columns: Its joints, as positions among the names, ascending.
        spec: Its spec, in which a value is a number or an array `(joints,)` or `(robots, joints)`; None if the drive of
            the simulator drives the joints.
        properties: `armature` [kg·m² or kg], `friction` [N·m or N], `viscous_friction` [N·m·s/rad or N·s/m] if given,
            shaped like these values.
    """

    pattern: str
    columns: tuple[int, ...]
    spec: ActuatorSpec | None
    properties: dict[str, Any]

    def of_joint(self, at: int) -> MotorConfig:
        """Return the motor of one of its joints, by its number among them, with the numbers of the first robot."""

        def value(given: object) -> Any:
            return (given if given.ndim == 1 else given[0])[at].item() if isinstance(given, np.ndarray) else given

        def config(given: Any) -> Any:
            return dataclasses.replace(given, **{name: value(one) for name, one in vars(given).items()})

        stages = {} if self.spec is None else self.spec.each(config)
        return MotorConfig(**stages, **{name: value(one) for name, one in self.properties.items()})


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
    """Return the motors of a robot, in the order of their first joints.

    Args:
        motors: Motors by pattern.
        names: Names of the joints.
        paths: Paths of the joints.
        num_robots: Number of robots.
        limits: Effort limits of all joints, called if a motor uses them; None if they are unknown.
        networks: True to read the files of networks.
        trusted: True if Torch may run network files of unknown layout.

    Raises:
        ValueError: Listing every problem, a line each.
    """
    if not isinstance(motors, Mapping):
        raise ValueError(f"motors = {motors!r:.120}: must be a dictionary. Write {{pattern: motor}}.")
    _, problems = assigned(motors, names, "motors", every=False)
    found: list[Motor] = []
    for pattern, given in motors.items():
        subject = f"motors[{pattern!r:.120}]"
        columns = _matched(pattern, names)
        try:
            motor = motor_of(given)
        except (TypeError, ValueError) as error:
            problems.append(f"{subject}: {error}")
            continue
        own = problems_of(motor, subject) + _misfits(motor, subject)
        problems += own
        fit = Fit(
            list(map(names.__getitem__, columns)), num_robots, subject, problems, limits and _some(limits, columns)
        )
        checkpoint = fit.network(motor.controller, trusted) if networks else None
        if columns and not own:
            spec = fit.spec(motor, pattern, list(map(paths.__getitem__, columns)), checkpoint)
            found.append(Motor(pattern, columns, spec, fit.values(motor)))
    if problems:
        raise ValueError("\n".join(problems))
    return sorted(found, key=lambda motor: motor.columns)


def without_motor(motors: Sequence[Motor], names: Sequence[str]) -> list[str]:
    """Names of the joints without a motor."""
    covered = {column for motor in motors for column in motor.columns}
    return [name for column, name in enumerate(names) if column not in covered]


def without_limit(motors: Sequence[Motor], names: Sequence[str], limits: Limits) -> dict[str, float]:
    """Effort limits [N·m or N] of joints whose motor has no limit, by name of the joint.

    Args:
        motors: Resolved motors.
        names: Names of all joints.
        limits: Effort limits of all joints, called if a motor has none.
    """
    bare = sorted(column for motor in motors if motor.spec is not None for column in _unbounded(motor))
    found = limits() if bare else None
    if found is None:
        return {}
    least = found.min(axis=0)
    return {names[column]: float(least[column]) for column in bare if np.isfinite(least[column])}


def _unbounded(motor: Motor) -> list[int]:
    """Columns of a motor at which no stage bounds the effort."""
    bounded = np.zeros(len(motor.columns), bool)
    if motor.spec is None or motor.spec.controller is None:
        return []
    for stage in motor.spec.after_controller:
        # the bounds of a registered schema are unknown
        if isinstance(stage, ForeignConfig):
            return []
        for most in stage.bounds("effort").values():
            bounded |= np.isfinite(np.atleast_2d(most)).all(axis=0)
    return [column for column, is_bounded in zip(motor.columns, bounded, strict=True) if not is_bounded]


def _some(limits: Limits, columns: Sequence[int]) -> Limits:
    """Limits of some of the joints."""

    def of_columns() -> np.ndarray | None:
        found = limits()
        return None if found is None else found[:, list(columns)]

    return of_columns


@dataclass(frozen=True)
class Fit:
    """Fits the values of a motor to its joints.

    Args:
        names: Names of the joints.
        num_robots: Number of robots.
        subject: Name of the motor in errors.
        problems: List to which problems are added.
        limits: Effort limits of the joints; None if they are unknown.
    """

    names: Sequence[str]
    num_robots: int
    subject: str
    problems: list[str]
    limits: Limits | None = None

    def spec(
        self, motor: MotorConfig, pattern: str, paths: Sequence[str], checkpoint: Checkpoint | None
    ) -> ActuatorSpec | None:
        """Return the spec of a motor on joints of these paths; None if it has no stages."""
        if not motor.stages:
            return None
        gear = transmission_of(motor)
        fitted = None if gear is None else self.config(gear)
        # a ratio that does not fit the joints is a problem that has been noted
        ratio = fitted.ratio if fitted is not None and isinstance(fitted.ratio, Real | np.ndarray) else 1.0
        stages = parts_of(fitted if stage is gear else self.config(stage, ratio) for stage in motor.stages)
        return ActuatorSpec(
            path=pattern, targets=tuple(paths), checkpoint=checkpoint, dof_names=tuple(self.names), **stages
        )

    def config(self, config: Any, ratio: Any = 1.0) -> Any:
        """Return a copy of a config with values per joint.

        Args:
            config: Of a stage.
            ratio: Of the transmission: a limit before it that is that of the joint is divided by the ratio.
        """
        return dataclasses.replace(config, **self.values(config, effort_factor(config, ratio)))

    def values(self, config: object, factor: float | np.ndarray = 1.0) -> dict[str, Any]:
        """Values of the fields of a config that are set: numbers, or arrays `(joints,)` or `(robots, joints)`.

        Args:
            config: Of a stage, or a motor.
            factor: Effort at the joint per effort of the stage, a number or such an array.
        """
        return {
            name: self._number(described, value, f"{self.subject}: {type(config).__name__}.{name}", factor)
            for name, described in parameters_of(config).items()
            if described.is_single and (value := getattr(config, name)) is not None
        }

    def network(self, config: object, trusted: bool = False) -> Checkpoint | None:
        """Return the network of a config, or None."""
        if isinstance(config, NeuralControlConfig) and config.model_path:
            try:
                # imported here: most motors have no network
                from ..networks.load import load_checkpoint

                return load_checkpoint(config.model_path, trusted=trusted)
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

    def _array(self, value: Any, dtype: type, subject: str) -> float | np.ndarray:
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

    def _with_limits(self, values: list[Any], taken: list[int], subject: str, factor: float | np.ndarray) -> np.ndarray:
        """Return values of the joints, with the effort limits of the joints by `factor` at the positions `taken`."""
        limits = self.limits() if self.limits is not None else None
        if limits is None:
            raise ValueError(f"{subject} = {JOINT!r}: {UNKNOWN_JOINT}")
        if without := [self.names[at] for at in taken if not np.isfinite(limits[:, at]).all()]:
            raise ValueError(
                f"{subject} = {JOINT!r}: joints {', '.join(without)} have no effort limit: must have a finite one. "
                "Author it, maxForce of the drive in USD, or give a number."
            )
        limits = limits / factor
        columns = [limits[:, at] if at in taken else np.full(len(limits), one) for at, one in enumerate(values)]
        table = np.stack(columns, axis=1).astype(np.float32)
        return table[0] if (table == table[0]).all() else table


def _matched(pattern: str, names: Sequence[str]) -> tuple[int, ...]:
    if pattern_problem(pattern):
        return ()
    expression = re.compile(pattern)
    return tuple(at for at, name in enumerate(names) if expression.fullmatch(name))


def _frictions_beside_another(motor: MotorConfig, subject: str) -> list[str]:
    """Return what adds friction to that of a stage, which is the whole friction of the joint."""
    first, *more = [type(stage).__name__ for stage in motor.stages if is_friction(stage)] or [""]
    found = [f"{subject} has {first} and {other}: must have one friction. Remove one of them." for other in more]
    if not first:
        return found
    beside = {name: value for name in ("friction", "viscous_friction") if not _is_zero(value := getattr(motor, name))}
    return found + [
        f"{subject}.{name} = {shown(value)} beside {first}: must not be given, for the stage is the whole friction of "
        f"the joint. Give it there, or remove the stage."
        for name, value in beside.items()
    ]


def _armature_beside_rotor(motor: MotorConfig, subject: str) -> list[str]:
    """Return what is wrong between an armature and the rotor of a transmission, which is the same inertia."""
    gear = transmission_of(motor)
    numbers = (motor.armature, gear.ratio, gear.rotor_inertia) if gear is not None else (None,)
    # values by joint or robot are of a program that knows what it does; of a linkage the joint has other rotors, too
    if gear is None or is_linked(motor) or not all(isinstance(one, Real) for one in numbers) or not gear.rotor_inertia:
        return []
    rotor = gear.ratio**2 * gear.rotor_inertia
    if abs(cast(float, motor.armature) - rotor) <= _SAME * rotor:
        return []
    return [
        f"{subject}.armature = {shown(motor.armature)} beside rotor_inertia = {shown(gear.rotor_inertia)}: must be "
        f"that of the rotor at the joint, ratio²·rotor_inertia = {rotor:.4g}. Leave it out, or correct either."
    ]


def _is_zero(value: Any) -> bool:
    """Return True for no value, and for one that is zero at all joints."""
    if isinstance(value, Mapping):
        return all(map(_is_zero, cast(Mapping[str, object], value).values()))
    return value is None or not np.any(value.numpy() if hasattr(value, "numpy") else value)


def _misfits(motor: MotorConfig, subject: str) -> list[str]:
    """Problems of the combination of stages of a motor."""
    problems: list[str] = []
    if motor.controller is None and not all(KINDS[kind].alone for kind, _ in motor.by_kind):
        problems.append(f"{subject} has limits or a delay and no controller, whose they are. Add one, or remove them.")
    problems += _frictions_beside_another(motor, subject) + combination_problems(motor, subject)
    problems += _armature_beside_rotor(motor, subject)
    schemas = [stage.SCHEMA for stage in motor.stages]
    return problems + [
        f"{subject} has {type(stage).__name__} twice: must have each stage once. Remove one of them."
        for at, stage in enumerate(motor.stages)
        if stage.SCHEMA in schemas[:at]
    ]
