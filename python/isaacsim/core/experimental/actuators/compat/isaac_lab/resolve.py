"""Resolution of the values of a group: that of the robot, or that of the cfg.

                                              documentation         code                  3.0
    unspecified in the cfg                    the robot's value     the robot's value     the robot's value
    a dictionary without a joint              the robot's value     0                     0
    both effort limits of an implicit model   must be equal         must be equal         may differ
    implicit, `actuator_velocity_limit`       is the solver's too   not the solver's      not the solver's
    explicit, no `joint_effort_limit`         1e9                   1e9                   the robot's value
    a row of the table                        a joint that differs  all joints if one does, also by 3.0
    dynamic, viscous friction unspecified     no row                a row                 a row

`documentation` are the rules of Isaac Lab's pages, `code` those of version 2.3, and `3.0` those of version 3.0.0. By
default they are `3.0` for cfgs of its own classes, those of its field `rules` for ours, and `documentation` otherwise.

With all of them, the `actuator_effort_limit` of an explicit model defaults to the robot's value, and its
`actuator_velocity_limit` to `joint_velocity_limit`. The solver cuts the efforts of an explicit model once more, at its
`joint_effort_limit`, which no robot reaches at 1e9. The drive of an implicit model is cut at its `joint_effort_limit`;
a lower `actuator_effort_limit` is for reading. The gear ratio γ of an explicit model converts values of the motor to
the joint: efforts times γ, speeds divided by γ. Values of the robot and of the solver are those of the joint.
The constant effort of a drive of MuJoCo, which Isaac Lab does not have, goes with its gains: a PD model has it on the
joints that take a gain of the robot.
Source: Isaac Lab 2.3 and 3.0.0, actuators; its page on actuator cfgs.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...base.callers import level_outside
from ...base.memory import Tensor
from ...base.values import ArrayLike
from ...specs.patterns import assigned
from .kinds import DC_MOTORS, IMPLICIT, NETWORKS, SERVOS, WITH_BACKLASH, has_later_names, is_ours, model_of
from .servos import servo_problems, stall_effort
from .table import Row

Rules = Literal["documentation", "code", "3.0"]

SOLVER = ("velocity_limit_sim", "effort_limit_sim", "armature", "friction", "dynamic_friction", "viscous_friction")
"""Properties of the solver for all groups."""
DRIVE = ("stiffness", "damping")
"""Properties of the drives of implicit groups."""
PROPERTIES = ("velocity_limit_sim", "effort_limit_sim", *DRIVE, *SOLVER[2:])
"""Resolved properties, in the order of the table."""
EXPLICIT_EFFORT_LIMIT_SIM = 1.0e9
"""Default effort limit [N·m or N] of the solver for explicit models."""
DEFAULTS = dict.fromkeys(PROPERTIES, 0.0) | {"velocity_limit_sim": np.inf, "effort_limit_sim": np.inf}
"""Default values of a robot."""

LATER = {
    "actuator_effort_limit": "effort_limit",
    "actuator_velocity_limit": "velocity_limit",
    "joint_effort_limit": "effort_limit_sim",
    "joint_velocity_limit": "velocity_limit_sim",
}
"""Limits by their names of version 3.0, with those of 2.3."""
EARLIER = {earlier: later for later, earlier in LATER.items()}
"""The reverse of `LATER`."""


@dataclass(frozen=True)
class _Ruling:
    """A column of the table at the top of this file; None means the robot's value."""

    # of a joint that a dictionary leaves out
    left_out: float | None
    # motor and solver of an implicit model have one limit
    one_limit: bool
    # the velocity limit of an implicit motor is the solver's where that has none
    one_velocity: bool
    # effort limit of the solver for an explicit model where the cfg has none
    of_explicit: float | None
    # rows are those of joints that differ
    by_joint: bool
    names: Mapping[str, str]
    order: Sequence[str]


_RULINGS = {
    "documentation": _Ruling(None, True, True, EXPLICIT_EFFORT_LIMIT_SIM, True, {}, PROPERTIES),
    "code": _Ruling(0.0, True, False, EXPLICIT_EFFORT_LIMIT_SIM, False, {}, PROPERTIES),
    "3.0": _Ruling(0.0, False, False, None, False, EARLIER, (*PROPERTIES[2:], *PROPERTIES[1::-1])),
}
# the documentation's table is older than these
_NOT_IN_TABLE = ("dynamic_friction", "viscous_friction")
_OF_DC_MOTORS = ("saturation_effort",)
_MISSING = dataclasses.MISSING


@dataclass(frozen=True)
class Resolved:
    """The values of a group's joints, at the joint."""

    model: str
    names: list[str]
    # by field, float32 `(robots, joints)`: `PROPERTIES`, `effort_limit` and `velocity_limit`, for DC motors
    # `saturation_effort`, for PD models `const_effort`, and for servos with it `backlash`
    values: dict[str, np.ndarray]
    # γ, float32 `(joints,)`
    gear_ratio: np.ndarray
    # those of `PROPERTIES` that the cfg or the model specifies
    specified: set[str]
    # those of the cfg by the names that it has, with names of one meaning merged
    limits: dict[str, object]
    rows: list[Row]
    rules: Rules

    @property
    def cut(self) -> Resolved:
        """The same, with the `effort_limit` of an explicit model no higher than that at which the solver cuts it."""
        effort, solver = self.values["effort_limit"], self.values["effort_limit_sim"]
        if self.model == IMPLICIT:
            return self
        lower = np.where(solver < EXPLICIT_EFFORT_LIMIT_SIM, np.minimum(effort, solver), effort)
        return dataclasses.replace(self, values=self.values | {"effort_limit": lower})

    @property
    def for_solver(self) -> list[str]:
        """Specified properties of the solver, with those of the drives of implicit groups."""
        return [name for name in (*SOLVER, *(DRIVE if self.model == IMPLICIT else ())) if name in self.specified]


def resolve(
    cfg: object,
    names: Sequence[str],
    ids: Sequence[int],
    robot: Mapping[str, ArrayLike],
    num_robots: int,
    *,
    rules: Rules | None = None,
    group: str = "",
) -> Resolved:
    """Return the values of a group's joints, whose columns in the table are `ids`; does not change the cfg.

    `robot` has numbers or arrays `(robots, joints)` by name of `PROPERTIES`, else those of `DEFAULTS`; `effort_limit`
    too, if it is not that of the solver, and the `const_effort` of drives. `rules` default to those of the cfg, which
    emits a `DeprecationWarning` if it has names of 2.3 beside those of 3.0, and, if ours without rules, a warning where
    3.0 has other values. Raises ValueError with a line for each value that cannot be used.
    """
    model = model_of(cfg)
    chosen: Rules | None = rules if rules is not None else getattr(cfg, "rules", None)
    if chosen is not None and chosen not in _RULINGS:
        raise ValueError(f"rules = {chosen!r}: must be one of {', '.join(map(repr, _RULINGS))}. Give one of these.")
    given = names, ids, robot, num_robots
    found = _resolved(cfg, model, *given, chosen or _default_rules(cfg), group)
    _warn_of_earlier(cfg, model)
    if chosen is None and is_ours(cfg):
        later = _resolved(cfg, model, *given, "3.0", group)
        if lines := list(_differences(found.cut, later.cut)):
            warnings.warn(
                f"{group or type(cfg).__name__}: {'; '.join(lines)}. Give rules='3.0', or "
                "rules='documentation' to keep these values.",
                stacklevel=level_outside(),
            )
    return found


def _default_rules(cfg: object) -> Rules:
    return "3.0" if has_later_names(cfg) and not is_ours(cfg) else "documentation"


def _warn_of_earlier(cfg: object, model: str) -> None:
    if has_later_names(cfg) and (old := [name for name in EARLIER if getattr(cfg, name, None) is not None]):
        is_implicit = model == IMPLICIT
        new = ["joint_effort_limit" if is_implicit and name == "effort_limit" else EARLIER[name] for name in old]
        warnings.warn(
            f"{type(cfg).__name__}: {', '.join(old)}: Isaac Lab 3.0 deprecates these names. Give {', '.join(new)}.",
            DeprecationWarning,
            stacklevel=level_outside(),
        )


def _resolved(
    cfg: object,
    model: str,
    names: Sequence[str],
    ids: Sequence[int],
    robot: Mapping[str, ArrayLike],
    num_robots: int,
    rules: Rules,
    group: str,
) -> Resolved:
    ruling = _RULINGS[rules]
    reader = _Reader(cfg, list(names), num_robots, ruling, [])
    given = _fields(reader, model)
    usd = {name: reader.of_robot(robot.get(name, DEFAULTS[name]), f"{name} of the robot") for name in PROPERTIES}
    joints = list(zip(names, ids, strict=True))
    values: dict[str, np.ndarray] = {}
    rows: list[Row] = []
    is_given: dict[str, np.ndarray] = {}
    for name in ruling.order:
        values[name], from_cfg = reader.value(name, given[name], usd[name])
        is_given[name] = from_cfg
        rows += _rows((group, name, rules), joints, usd[name][0], values[name][0], from_cfg)
    if model not in (IMPLICIT, *NETWORKS, *SERVOS):
        constants = reader.of_robot(robot.get("const_effort", 0.0), "const_effort of the robot")
        # it goes with the gains of the drive
        values["const_effort"] = np.where(is_given["stiffness"] & is_given["damping"], np.float32(0.0), constants)
        columns = constants[0], values["const_effort"][0], np.zeros(len(names), bool)
        rows += [row for row in _rows((group, "const_effort", rules), joints, *columns) if row.usd_value]
    gear = reader.gear_ratio()
    of_joint = reader.of_robot(robot.get("effort_limit", usd["effort_limit_sim"]), "effort_limit of the robot")
    values |= _limits_of_motor(reader, model, given, values, of_joint, gear)
    if model == WITH_BACKLASH:
        values["backlash"], _ = reader.value("backlash", getattr(cfg, "backlash", None), np.zeros((1, 1)))
    if model in DC_MOTORS:
        none = np.full((num_robots, len(names)), np.inf, np.float32)
        stall, _ = reader.value("saturation_effort", given["saturation_effort"], none)
        values["saturation_effort"] = (stall * gear).astype(np.float32)
    reader.refuse_problems()
    specified = {name for name in PROPERTIES if given[name] is not None}
    return Resolved(model, list(names), values, gear, specified, _shown(cfg, given, rules), rows, rules)


def _limits_of_motor(
    reader: _Reader,
    model: str,
    given: Mapping[str, object],
    values: Mapping[str, np.ndarray],
    of_joint: np.ndarray,
    gear: np.ndarray,
) -> dict[str, np.ndarray]:
    """Return the limits of motors at the joint, by those of the solver in `values` and of the robot's joints."""
    speed, of_motor = reader.value("velocity_limit", given["velocity_limit"], values["velocity_limit_sim"])
    speed = np.where(of_motor, speed / gear, speed).astype(np.float32)
    limit = values["effort_limit_sim"] if model == IMPLICIT else of_joint
    effort, of_motor = reader.value("effort_limit", given["effort_limit"], limit)
    limits = {"velocity_limit": speed, "effort_limit": np.where(of_motor, effort * gear, effort).astype(np.float32)}
    same = [name for name in limits if model == IMPLICIT and given[name] is given[f"{name}_sim"]]
    return limits | {name: values[f"{name}_sim"] for name in same}


def _shown(cfg: object, given: Mapping[str, object], rules: Rules) -> dict[str, object]:
    """Return the limits of a cfg by the names that it has; by 3.0 its earlier names are empty."""
    later = {name: given[earlier] for name, earlier in LATER.items()} if has_later_names(cfg) else {}
    return later | {earlier: None if rules == "3.0" else given[earlier] for earlier in EARLIER}


def _differences(found: Resolved, later: Resolved) -> Iterable[str]:
    """Yield the properties with an effect that version 3.0 resolves otherwise."""
    # the limit of a disabled drive, and that of an implicit motor, which only reports
    idle = "effort_limit" if found.model == IMPLICIT else "effort_limit_sim"
    for name in found.values.keys() - {idle}:
        differs = found.values[name] != later.values[name]
        if differs.any():
            robot, at = np.argwhere(differs)[0]
            joints = ", ".join(joint for joint, one in zip(found.names, differs.any(0), strict=True) if one)
            here, there = (f"{rules.values[name][robot, at]:g}" for rules in (found, later))
            yield f"{EARLIER.get(name, name)} of {joints} is {here}, and {there} by Isaac Lab 3.0"


def _rows(
    what: tuple[str, str, Rules],
    joints: Iterable[tuple[str, int]],
    usd: np.ndarray,
    applied: np.ndarray,
    from_cfg: np.ndarray,
) -> list[Row]:
    group, name, rules = what
    differs = ~from_cfg | ~np.isclose(applied, usd, rtol=1e-5, atol=1e-8)
    if not _RULINGS[rules].by_joint:
        differs[:] = differs.any()
    elif name in _NOT_IN_TABLE:
        differs &= from_cfg
    shown = _RULINGS[rules].names.get(name, name)
    return [
        Row(group, shown, joint, int(column), before, after if is_given else None, after, rules)
        for (joint, column), before, after, is_given, is_row in zip(
            joints, usd.tolist(), applied.tolist(), from_cfg.tolist(), differs.tolist(), strict=True
        )
        if is_row
    ]


def _fields(reader: _Reader, model: str) -> dict[str, object]:
    cfg, problems = reader.cfg, reader.problems
    fields = (*PROPERTIES, "effort_limit", "velocity_limit", *_OF_DC_MOTORS[: model in DC_MOTORS])
    given: dict[str, object] = {name: getattr(cfg, name, None) for name in fields}
    of_drive = (getattr(cfg, name, None) for name in ("joint_effort_limit", "effort_limit_sim"))
    if model == IMPLICIT and all(value is None for value in of_drive):
        # the earlier name is that of the drive, by all rules
        given["effort_limit_sim"] = given["effort_limit"]
    for later, name in LATER.items():
        reader.merge(given, name, later, getattr(cfg, later, None))
    for name, value in given.items():
        if value is _MISSING:
            problems.append(f"{name} is missing: must be given, or None for the robot's own. Set it.")
            given[name] = None
    complete = _merge_limits if model == IMPLICIT else _complete_explicit
    complete(reader, model, given)
    return given


def _complete_explicit(reader: _Reader, model: str, given: dict[str, object]) -> None:
    if given["effort_limit_sim"] is None:
        given["effort_limit_sim"] = reader.ruling.of_explicit
    if model == "RemotizedPDActuator":
        # its table is the limit
        given |= {"effort_limit": np.inf, "velocity_limit": np.inf}
    if model in SERVOS:
        given |= {"stiffness": None, "damping": None}
        reader.problems.extend(servo_problems(reader.cfg))
        if given["effort_limit"] is None and not reader.problems:
            given["effort_limit"] = stall_effort(reader.cfg)
    if model in DC_MOTORS:
        needed = [name for name in ("saturation_effort", "velocity_limit") if given[name] is None]
        reader.problems.extend(
            f"{EARLIER.get(name, name)} is None: must be given for a DC motor. Set it." for name in needed
        )


def _merge_limits(reader: _Reader, _model: str, given: dict[str, object]) -> None:
    """Set each limit of an implicit actuator to that of the solver where the rules know only one."""
    if not reader.ruling.one_limit:
        return
    if (alone := getattr(reader.cfg, "actuator_effort_limit", None)) is not None:
        reader.problems.append(
            f"actuator_effort_limit = {alone!r}: must be None, for the solver clips. Give joint_effort_limit, or "
            "rules='3.0', by which a motor has a limit of its own."
        )
    for name in ("effort_limit", "velocity_limit"):
        if given[f"{name}_sim"] is not None or name == "effort_limit" or reader.ruling.one_velocity:
            reader.merge(given, f"{name}_sim", name, given[name], " by these rules, for the solver has one limit")
        given[name] = given[f"{name}_sim"]


@dataclass(frozen=True)
class _Reader:
    """Reads values for some joints, and collects problems."""

    cfg: object
    names: list[str]
    num_robots: int
    ruling: _Ruling
    problems: list[str]

    def merge(self, given: dict[str, object], name: str, other: str, value: object, why: str = "") -> None:
        """Set a field to the value of another with the same meaning, if that is given; both must be equal."""
        if value is None:
            return
        both = [self._per_joint(other, said, []) for said in (given[name], value)]
        if given[name] is not None and both[0] != both[1]:
            names = [other, name]
            if other not in LATER:
                names = [EARLIER[own] if getattr(self.cfg, EARLIER[own], None) is not None else own for own in names]
            self.problems.append(
                f"{names[0]} = {value!r} and {names[1]} = {given[name]!r}: must be equal{why}. Give one of them."
            )
        given[name] = value

    def value(self, field: str, given: object, otherwise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values `(robots, joints)`, and which joints have theirs from the cfg."""
        values = np.array(np.broadcast_to(otherwise, (self.num_robots, len(self.names))), np.float32)
        per_joint = self._per_joint(field, given, self.problems)
        from_cfg = np.array([value is not None for value in per_joint], bool)
        for at in np.flatnonzero(from_cfg):
            if isinstance(per_joint[at], bool) or not isinstance(per_joint[at], int | float | np.number):
                self.problems.append(
                    f"{field} = {given!r:.120}: must be a number, or numbers by pattern of joint names. Correct it."
                )
                break
            values[:, at] = per_joint[at]
        return values, from_cfg

    def _per_joint(self, field: str, given: object, problems: list[str]) -> list[Any]:
        """Return the value of each joint, None for the robot's."""
        if not isinstance(given, Mapping):
            return [given] * len(self.names)
        matched, wrong = assigned(given, self.names, field, every=False)
        problems.extend(wrong)
        otherwise = self.ruling.left_out
        values = [given[matched[name]] if name in matched else otherwise for name in self.names]
        return [otherwise if value is None else value for value in values]

    def refuse_problems(self) -> None:
        """Raise `ValueError` if there are problems, a line each."""
        if self.problems:
            raise ValueError("\n".join(f"{type(self.cfg).__name__}: {problem}" for problem in self.problems))

    def gear_ratio(self) -> np.ndarray:
        """Return the gear ratio of each joint."""
        ones = np.ones((1, len(self.names)), np.float32)
        gear = self.value("gear_ratio", getattr(self.cfg, "gear_ratio", None), ones)[0][0]
        if (wrong := gear[~((gear > 0) & np.isfinite(gear))]).size:
            self.problems.append(f"gear_ratio = {wrong[0]:g}: must be finite and > 0. Correct the ratio.")
            return ones[0]
        return gear

    def of_robot(self, value: Tensor, subject: str) -> np.ndarray:
        """Return a property of the robot as `(robots, joints)`."""
        array = np.asarray(value.tolist() if hasattr(value, "tolist") else value, np.float32)
        shape = self.num_robots, len(self.names)
        if array.ndim and array.shape != shape:
            raise ValueError(f"{subject} has shape {array.shape}: must be (robots, joints) = {shape}. Reshape it.")
        return np.broadcast_to(array, shape)
