"""Resolution of the values of a group: that of the robot, or that of the cfg.

                                              documentation                 code
    unspecified in the cfg                    the robot's value             the robot's value
    a dictionary without a joint              the robot's value             0
    implicit, `velocity_limit` alone          means velocity_limit_sim      the robot's value
    a row of the table                        each joint that differs       all joints if one differs
    dynamic, viscous friction unspecified     no row                        a row

`documentation` are the rules of Isaac Lab's pages, `code` those of version 2.3. With both, an explicit model has by
default `effort_limit_sim` 1e9, which leaves the limit to the model; its `effort_limit` defaults to the robot's value,
and its `velocity_limit` to `velocity_limit_sim`. Both names of a limit of an implicit model are the same value. The
gear ratio γ of an explicit model converts values of the motor to the joint: efforts times γ, speeds divided by γ.
Values of the robot and of the solver (`_sim`) are those of the joint.
The constant effort of a drive of MuJoCo, which Isaac Lab does not have, goes with its gains: a PD model has it on the
joints that take a gain of the robot.
Source: Isaac Lab 2.3, actuators; its page on actuator cfgs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...base.values import ArrayLike
from ...specs.patterns import assigned
from .kinds import DC_MOTORS, IMPLICIT, NETWORKS, SERVOS, WITH_BACKLASH, model_of
from .servos import servo_problems, stall_effort
from .table import Row

Rules = Literal["documentation", "code"]

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

# names of version 3.0
_LATER = {
    "actuator_effort_limit": "effort_limit",
    "actuator_velocity_limit": "velocity_limit",
    "joint_effort_limit": "effort_limit_sim",
    "joint_velocity_limit": "velocity_limit_sim",
}
# the documentation's table is older than these
_NOT_IN_TABLE = ("dynamic_friction", "viscous_friction")
_OF_DC_MOTORS = ("saturation_effort",)
_MISSING = dataclasses.MISSING


@dataclass(frozen=True)
class Resolved:
    """The values of a group's joints.

    Args:
        model: Name of the model.
        names: Names of the joints.
        values: By field of the cfg, float32 `(robots, joints)`: `PROPERTIES`, `effort_limit` and `velocity_limit`, for
            DC motors `saturation_effort`, for PD models `const_effort`, and for servos with it `backlash`; at the
            joint.
        gear_ratio: γ, float32 `(joints,)`.
        specified: Those of `PROPERTIES` that the cfg or the model specifies.
        limits: The four limits of the cfg by field, with names of one meaning merged.
        rows: Rows of the resolution table.
    """

    model: str
    names: list[str]
    values: dict[str, np.ndarray]
    gear_ratio: np.ndarray
    specified: set[str]
    limits: dict[str, object]
    rows: list[Row]

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
    rules: Rules = "documentation",
    group: str = "",
) -> Resolved:
    """Return the values of a group's joints; does not change the cfg.

    Args:
        cfg: An actuator cfg, ours or Isaac Lab's own.
        names: Names of the joints.
        ids: Their columns, for the table.
        robot: Values of the robot by name of `PROPERTIES`, numbers or arrays `(robots, joints)`; missing ones are
            those of `DEFAULTS`. `effort_limit` too, if it is not that of the solver, and the `const_effort` of drives.
        num_robots: Number of robots.
        rules: The rules, see the top of this file.
        group: Name of the group.

    Raises:
        ValueError: A value of the cfg cannot be used, a line each.
    """
    if rules not in ("documentation", "code"):
        raise ValueError(f"rules = {rules!r}: must be 'documentation' or 'code'. Give one of these.")
    reader = _Reader(cfg, list(names), num_robots, rules, [])
    model = model_of(cfg)
    given = _fields(cfg, model, rules, reader.problems)
    usd = {name: reader.of_robot(robot.get(name, DEFAULTS[name]), f"{name} of the robot") for name in PROPERTIES}
    values: dict[str, np.ndarray] = {}
    rows: list[Row] = []
    is_given: dict[str, np.ndarray] = {}
    for name in PROPERTIES:
        values[name], from_cfg = reader.value(name, given[name], usd[name])
        is_given[name] = from_cfg
        rows += _rows(group, name, zip(names, ids, strict=True), (usd[name][0], values[name][0], from_cfg), rules)
    if model not in (IMPLICIT, *NETWORKS, *SERVOS):
        constants = reader.of_robot(robot.get("const_effort", 0.0), "const_effort of the robot")
        # it goes with the gains of the drive
        values["const_effort"] = np.where(is_given["stiffness"] & is_given["damping"], np.float32(0.0), constants)
        columns = constants[0], values["const_effort"][0], np.zeros(len(names), bool)
        more = _rows(group, "const_effort", zip(names, ids, strict=True), columns, rules)
        rows += [row for row in more if row.usd_value]
    gear = reader.gear_ratio()
    speed, of_motor = reader.value("velocity_limit", given["velocity_limit"], values["velocity_limit_sim"])
    values["velocity_limit"] = np.where(of_motor, speed / gear, speed).astype(np.float32)
    otherwise = reader.of_robot(robot.get("effort_limit", usd["effort_limit_sim"]), "effort_limit of the robot")
    effort, of_motor = reader.value("effort_limit", given["effort_limit"], otherwise)
    values["effort_limit"] = np.where(of_motor, effort * gear, effort).astype(np.float32)
    if model == IMPLICIT:
        values["effort_limit"], values["velocity_limit"] = values["effort_limit_sim"], values["velocity_limit_sim"]
    if model == WITH_BACKLASH:
        values["backlash"], _ = reader.value("backlash", getattr(cfg, "backlash", None), np.zeros((1, 1)))
    if model in DC_MOTORS:
        none = np.full((num_robots, len(names)), np.inf, np.float32)
        stall, _ = reader.value("saturation_effort", given["saturation_effort"], none)
        values["saturation_effort"] = (stall * gear).astype(np.float32)
    reader.refuse_problems()
    specified = {name for name in PROPERTIES if given[name] is not None}
    return Resolved(model, list(names), values, gear, specified, {name: given[name] for name in _LATER.values()}, rows)


def _rows(
    group: str,
    name: str,
    joints: Iterable[tuple[str, int]],
    values: tuple[np.ndarray, np.ndarray, np.ndarray],
    rules: Rules,
) -> list[Row]:
    """Return the rows of one property; `values`: the robot's, the applied one, and whether that is from the cfg."""
    usd, applied, from_cfg = values
    differs = ~from_cfg | ~np.isclose(applied, usd, rtol=1e-5, atol=1e-8)
    if rules == "code":
        differs[:] = differs.any()
    elif name in _NOT_IN_TABLE:
        differs &= from_cfg
    return [
        Row(group, name, joint, int(column), before, after if is_given else None, after)
        for (joint, column), before, after, is_given, is_row in zip(
            joints, usd.tolist(), applied.tolist(), from_cfg.tolist(), differs.tolist(), strict=True
        )
        if is_row
    ]


def _fields(cfg: object, model: str, rules: Rules, problems: list[str]) -> dict[str, object]:
    """Return the fields of a cfg, with names of one meaning merged; None for unspecified ones."""
    fields = (*PROPERTIES, "effort_limit", "velocity_limit", *_OF_DC_MOTORS[: model in DC_MOTORS])
    given: dict[str, object] = {name: getattr(cfg, name, None) for name in fields}
    _merge_later_names(cfg, model, given, problems)
    for name in [name for name, value in given.items() if value is _MISSING]:
        problems.append(f"{name} is missing: must be given, or None for the robot's own. Set it.")
        given[name] = None
    if model == IMPLICIT:
        _merge_limits(given, rules, problems)
        return given
    if given["effort_limit_sim"] is None:
        given["effort_limit_sim"] = EXPLICIT_EFFORT_LIMIT_SIM
    if model == "RemotizedPDActuator":
        # its table is the limit
        given |= {"effort_limit": np.inf, "velocity_limit": np.inf}
    if model in SERVOS:
        _complete_servo(cfg, given, problems)
    if model in DC_MOTORS:
        needed = [name for name in ("saturation_effort", "velocity_limit") if given[name] is None]
        problems += [f"{name} is None: must be given for a DC motor. Set it." for name in needed]
    return given


def _complete_servo(cfg: object, given: dict[str, object], problems: list[str]) -> None:
    """Set the fields that follow from the motor of a servo."""
    given |= {"stiffness": None, "damping": None}
    problems += servo_problems(cfg)
    if given["effort_limit"] is None and not problems:
        given["effort_limit"] = stall_effort(cfg)


def _merge_later_names(cfg: object, model: str, given: dict[str, object], problems: list[str]) -> None:
    """Move the fields of version 3.0 to the earlier names."""
    for later, name in _LATER.items():
        if (value := getattr(cfg, later, None)) is None:
            continue
        if given[name] is not None and given[name] != value:
            problems.append(f"{later} = {value!r} and {name} = {given[name]!r}: must be equal. Give one of them.")
        if later == "actuator_effort_limit" and model == IMPLICIT:
            problems.append(f"{later} = {value!r}: must be None, for the solver clips. Give joint_effort_limit.")
        given[name] = value


def _merge_limits(given: dict[str, object], rules: Rules, problems: list[str]) -> None:
    """Set each limit of an implicit actuator to that of the solver, which has only one."""
    for name in ("effort_limit", "velocity_limit"):
        plain, solver = given[name], given[f"{name}_sim"]
        if plain is not None and solver is not None and plain != solver:
            problems.append(
                f"{name} = {plain!r} and {name}_sim = {solver!r}: must be equal, for the solver knows one limit. "
                f"Give {name}_sim."
            )
        if solver is None and not (rules == "code" and name == "velocity_limit"):
            given[f"{name}_sim"] = plain
        given[name] = given[f"{name}_sim"]


@dataclass(frozen=True)
class _Reader:
    """Reads values for some joints, and collects problems."""

    cfg: object
    names: list[str]
    num_robots: int
    rules: Rules
    problems: list[str]

    def value(self, field: str, given: object, otherwise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return values `(robots, joints)`, and which joints have theirs from the cfg."""
        values = np.array(np.broadcast_to(otherwise, (self.num_robots, len(self.names))), np.float32)
        per_joint = self._per_joint(field, given)
        from_cfg = np.array([value is not None for value in per_joint], bool)
        for at in np.flatnonzero(from_cfg):
            if isinstance(per_joint[at], bool) or not isinstance(per_joint[at], int | float | np.number):
                self.problems.append(
                    f"{field} = {given!r:.120}: must be a number, or numbers by pattern of joint names. Correct it."
                )
                break
            values[:, at] = per_joint[at]
        return values, from_cfg

    def _per_joint(self, field: str, given: object) -> list[Any]:
        """Return the value of each joint, None for the robot's."""
        if not isinstance(given, Mapping):
            return [given] * len(self.names)
        matched, wrong = assigned(given, self.names, field, every=False)
        self.problems.extend(wrong)
        otherwise = 0.0 if self.rules == "code" else None
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

    def of_robot(self, value: Any, subject: str) -> np.ndarray:
        """Return a property of the robot as `(robots, joints)`."""
        array = np.asarray(value.tolist() if hasattr(value, "tolist") else value, np.float32)
        shape = self.num_robots, len(self.names)
        if array.ndim and array.shape != shape:
            raise ValueError(f"{subject} has shape {array.shape}: must be (robots, joints) = {shape}. Reshape it.")
        return np.broadcast_to(array, shape)
