"""Motors by pattern become motors of joints: which joints each drives, and its values per joint or robot.

Patterns match joint names in full. A value may be a number, a dictionary from patterns to numbers, or an array with one
value per robot, `(robots,)`, or per robot and joint of the pattern, `(robots, joints)`. Every problem is told at once.
"""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..networks.checkpoint import Checkpoint
from ..networks.load import load_checkpoint
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import ClampingConfig, Config, ControlConfig, DelayConfig, NeuralControlConfig
from ..specs.fields import FLOAT32_MAX, Parameter, parameters_of
from ..specs.motors import MotorConfig, Motors
from .plan import in_range

# of a motor's own values
_PROPERTIES = ("armature", "friction")
_NOT_NEGATIVE = Parameter(attribute="", type="float", unit="", fallback=None, lower=0.0)
_KINDS = {"controller": ControlConfig, "clamping": ClampingConfig, "delay": DelayConfig}


@dataclass(frozen=True)
class Motor:
    """The motor of some joints.

    Args:
        pattern: Which it was given for.
        columns: Its joints, as positions among the names, ascending.
        spec: What drives them; a value is a number, or an array `(joints,)` or `(robots, joints)`.
        properties: `armature` [kg·m² or kg] and `friction` [N·m or N], as far as given, shape `(joints,)` or
            `(robots, joints)`; NaN where a joint keeps its own.
    """

    pattern: str
    columns: tuple[int, ...]
    spec: ActuatorSpec
    properties: dict[str, np.ndarray]


def resolve_motors(
    motors: Motors,
    names: Sequence[str],
    paths: Sequence[str],
    num_robots: int,
    *,
    networks: bool = False,
    trusted: bool = False,
) -> list[Motor]:
    """Return the motors of a robot, in the order of their first joints.

    Args:
        motors: Motors by pattern.
        names: Names of the joints.
        paths: Paths of the joints.
        num_robots: Number of robots.
        networks: Whether to read the files of networks.
        trusted: Whether Torch may run those that are not recognised.

    Raises:
        ValueError: Listing everything that is wrong, a line each.
    """
    if not isinstance(motors, Mapping):
        raise ValueError(f"motors = {motors!r}: must be a dictionary, motors by pattern. Write {{pattern: motor}}.")
    problems: list[str] = []
    columns = _columns_by_pattern(list(motors), names, problems)
    found: list[Motor] = []
    for pattern, given in motors.items():
        subject = f"motors[{pattern!r}]"
        motor = _motor_of(given, subject, problems)
        mine = columns.get(pattern, ())
        if motor is None or not mine:
            continue
        fit = _Fit(subject, [names[column] for column in mine], num_robots, problems)
        parts = [fit.config(config) for config in _configs(motor)]
        properties = {name: fit.number(_NOT_NEGATIVE, getattr(motor, name), name, partial=True) for name in _PROPERTIES}
        spec = ActuatorSpec(
            path=pattern,
            targets=tuple(paths[column] for column in mine),
            controller=parts[0],
            clamping=tuple(part for part in parts[1:] if part.KIND == "clamping"),
            delay=next((part for part in parts if part.KIND == "delay"), None),
            checkpoint=fit.network(parts[0], trusted) if networks else None,
            dof_names=tuple(names[column] for column in mine),
        )
        known = {name: fit.spread(value) for name, value in properties.items() if value is not None}
        found.append(Motor(pattern, mine, spec, known))
    if problems:
        raise ValueError("\n".join(problems))
    return sorted(found, key=lambda motor: motor.columns)


def resolve_config(
    config: Config, subject: str, name: str, num_robots: int, problems: list[str]
) -> tuple[Any, Checkpoint | None]:
    """Return a config of one joint with numbers, or arrays `(robots, 1)`, and its network; problems are appended."""
    fit = _Fit(subject, [name], num_robots, problems)
    resolved = fit.config(config)
    return resolved, fit.network(resolved, False)


def uncovered(motors: Sequence[Motor], names: Sequence[str]) -> list[str]:
    """Names of the joints that no motor drives."""
    covered = {column for motor in motors for column in motor.columns}
    return [name for column, name in enumerate(names) if column not in covered]


class _Fit:
    """Fits the values of one motor to its joints.

    Args:
        subject: What errors call the motor.
        names: Names of its joints.
        num_robots: Number of robots.
        problems: Where problems go.
    """

    def __init__(self, subject: str, names: Sequence[str], num_robots: int, problems: list[str]) -> None:
        self._subject, self._names, self._num_robots, self._problems = subject, names, num_robots, problems

    def config(self, config: Any) -> Any:
        """A copy of a config whose values fit."""
        before = len(self._problems)
        owner = type(config).__name__
        values = {
            name: self.number(described, getattr(config, name), f"{owner}.{name}")
            if described.type in ("float", "int")
            else self._checked(described, getattr(config, name), f"{owner}.{name}")
            for name, described in parameters_of(config).items()
        }
        if len(self._problems) > before:
            return config
        # rules between values
        conflicts = getattr(config, "conflicts", list[str])()
        self._problems += [f"{self._subject}: {owner}.{problem}" for problem in conflicts]
        return config if conflicts else dataclasses.replace(config, **values)

    def number(self, described: Parameter, value: Any, what: str, partial: bool = False) -> Any:
        """A number, or an array of them, shape `(joints,)` or `(robots, joints)`.

        Args:
            described: What it may be.
            value: As given; None passes where the value is `partial`.
            what: What errors call it.
            partial: Whether a dictionary may leave joints out, which are NaN then.
        """
        if value is None and partial:
            return None
        if isinstance(value, Mapping):
            return self._by_pattern(described, value, what, partial)
        if np.ndim(value) > 0 or isinstance(value, list | tuple):
            return self._by_robot(described, value, what)
        return self._checked(described, value.item() if isinstance(value, np.ndarray) else value, what)

    def spread(self, value: Any) -> np.ndarray:
        """A number as one value per joint."""
        return np.broadcast_to(np.asarray(value, np.float32), np.shape(value) or (len(self._names),))

    def network(self, config: Any, trusted: bool) -> Checkpoint | None:
        """The network that a config names, or None."""
        if not isinstance(config, NeuralControlConfig):
            return None
        try:
            return load_checkpoint(config.model_path, trusted=trusted)
        except (ValueError, OSError) as error:
            said = str(error).splitlines() or [repr(error)]
            return self._problem(f"NeuralControlConfig.model_path = {str(config.model_path)!r}: {' '.join(said)}")

    def _by_pattern(self, described: Parameter, given: Mapping[Any, Any], what: str, partial: bool) -> np.ndarray:
        columns = _columns_by_pattern(list(given), self._names, self._problems, f"{self._subject}: {what}")
        values = np.full(len(self._names), np.nan)
        for pattern, value in given.items():
            where = list(columns.get(pattern, ()))
            good = self._checked(described, value, f"{what}[{pattern!r}]")
            values[where] = np.nan if good is None else good
        missing = [name for at, name in enumerate(self._names) if not any(at in mine for mine in columns.values())]
        if missing and not partial:
            self._problem(f"{what} has no value for joints {missing}: must have one for each. Add a pattern.")
        dtype = np.int32 if described.type == "int" and not np.isnan(values).any() else np.float32
        return values.astype(dtype)

    def _by_robot(self, described: Parameter, given: Any, what: str) -> Any:
        array = np.asarray(given.numpy() if hasattr(given, "numpy") else given)
        shapes = (self._num_robots,), (self._num_robots, len(self._names))
        if array.dtype.kind not in ("iu" if described.type == "int" else "iuf"):
            kind = "integers" if described.type == "int" else "numbers"
            return self._problem(f"{what} has dtype {array.dtype}: must hold {kind}. Make the array of that type.")
        if array.shape not in shapes:
            return self._problem(
                f"{what} has shape {array.shape}: must be (robots,) = {shapes[0]} or (robots, joints) = {shapes[1]}, "
                f"joints being {list(self._names)}. Reshape it."
            )
        with np.errstate(over="ignore"):
            values = array.astype(np.int32 if described.type == "int" else np.float32)
        good = in_range(values, described) & ~(np.isfinite(array) & (np.abs(array) > FLOAT32_MAX))
        if not good.all():
            at = tuple(int(place) for place in np.argwhere(~good)[0])
            where = f"{what}[{', '.join(map(str, at))}]"
            return self._problem(f"{where} = {array[at]}: {described.rule}. Correct the array.")
        table = np.broadcast_to(values if values.ndim == 2 else values[:, None], shapes[1])
        return table[0] if self._num_robots == 1 else table

    def _checked(self, described: Parameter, value: Any, what: str) -> Any:
        if described.accepts(value):
            return value
        return self._problem(f"{what} = {value!r}: {described.rule}. Give a value in that range.")

    def _problem(self, text: str) -> Any:
        self._problems.append(f"{self._subject}: {text}")


def _columns_by_pattern(
    patterns: Sequence[Any], names: Sequence[str], problems: list[str], subject: str = "motors"
) -> dict[Any, tuple[int, ...]]:
    """Which of the names each pattern matches in full; a name may be matched by one alone."""
    columns: dict[Any, tuple[int, ...]] = {}
    for pattern in patterns:
        try:
            expression = re.compile(pattern)
        except (re.error, TypeError, OverflowError) as error:
            problems.append(f"{subject}: {pattern!r} is no regular expression ({error}). Correct it or escape it.")
            continue
        columns[pattern] = tuple(at for at, name in enumerate(names) if expression.fullmatch(name))
        if not columns[pattern]:
            problems.append(
                f"{subject}: {pattern!r} matches no joint in full: must match one of {list(names)}. "
                "Correct the pattern or remove it."
            )
    for at, name in enumerate(names):
        if len(several := [pattern for pattern, mine in columns.items() if at in mine]) > 1:
            whose = " and ".join(map(repr, several))
            problems.append(f"{subject}: joint {name!r} is matched by {whose}: must be by one. Narrow the patterns.")
    return columns


def _motor_of(given: Any, subject: str, problems: list[str]) -> MotorConfig | None:
    """A motor, or that of a list of configs, if its parts are what they must be."""
    if isinstance(given, MotorConfig):
        motor = given
    elif isinstance(given, list | tuple):
        motor = MotorConfig(clamping=[one for one in given if getattr(one, "KIND", "clamping") == "clamping"])
        for kind in ("controller", "delay"):
            of_kind = [one for one in given if getattr(one, "KIND", None) == kind]
            setattr(motor, kind, next(iter(of_kind), None))
            if len(of_kind) > 1:
                problems.append(f"{subject} has {len(of_kind)} {kind}s: must have at most one. Keep one of them.")
    else:
        problems.append(f"{subject} = {given!r}: must be a MotorConfig or a list of configs. Write [config, …].")
        return None
    wrong = [
        f"{subject}: {name} = {part!r}: must be a {_KINDS[name].__name__}. Give one, or leave it out."
        for name, part in _parts(motor)
        if not isinstance(part, _KINDS[name]) or part.KIND != name
    ]
    if motor.controller is None:
        wrong.append(f"{subject} has no controller: a joint is driven by a control law. Add one, PDControlConfig say.")
    schemas = [getattr(part, "SCHEMA", None) for part in motor.clamping]
    wrong += [
        f"{subject} has {type(part).__name__} twice: must have each once. Keep one of them."
        for at, part in enumerate(motor.clamping)
        if isinstance(part, ClampingConfig) and part.SCHEMA in schemas[:at]
    ]
    problems += wrong
    return None if wrong else motor


def _parts(motor: MotorConfig) -> Iterator[tuple[str, Any]]:
    """What a motor consists of, controller first, with the name of its place."""
    if motor.controller is not None:
        yield "controller", motor.controller
    yield from (("clamping", clamp) for clamp in motor.clamping)
    if motor.delay is not None:
        yield "delay", motor.delay


def _configs(motor: MotorConfig) -> list[Any]:
    return [part for _, part in _parts(motor)]
