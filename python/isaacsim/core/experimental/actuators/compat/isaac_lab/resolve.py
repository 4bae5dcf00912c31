"""Which value each joint of a group gets: that of the robot, or that of the cfg.

                                              documentation                 code
    the cfg says nothing                      the robot's value             the robot's value
    a dictionary that leaves a joint out      the robot's value             0
    implicit, `velocity_limit` alone          stands for velocity_limit_sim the robot's value
    a row of the table                        each joint that differs       all joints, where one differs
    dynamic and viscous friction, not said    no row                        a row

`documentation` is what Isaac Lab's pages say, `code` what version 2.3 does. By both, an explicit model has
`effort_limit_sim` 1e9 where the cfg says nothing, which leaves the limit to the model; its `effort_limit` falls back
to the robot's value, and its `velocity_limit` to `velocity_limit_sim`. Of an implicit one, both names of a limit are
the same value. The gear ratio γ of an explicit one turns what the cfg says of the motor into what holds at the joint:
efforts times γ, speed by γ. Values of the robot and of the solver (`_sim`) are those of the joint.
Source: Isaac Lab 2.3, actuators; its page on actuator cfgs.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ...specs.patterns import assigned
from .kinds import DC_MOTORS, IMPLICIT, model_of
from .table import Row

Rules = Literal["documentation", "code"]

SOLVER = ("velocity_limit_sim", "effort_limit_sim", "armature", "friction", "dynamic_friction", "viscous_friction")
"""What the solver of every group gets."""
DRIVE = ("stiffness", "damping")
"""What the drives of implicit groups get."""
PROPERTIES = ("velocity_limit_sim", "effort_limit_sim", *DRIVE, *SOLVER[2:])
"""What is resolved, in the order of the table."""
EXPLICIT_EFFORT_LIMIT_SIM = 1.0e9
"""Effort limit [N·m or N] of the solver for explicit models, where the cfg has none."""
DEFAULTS = dict.fromkeys(PROPERTIES, 0.0) | {"velocity_limit_sim": np.inf, "effort_limit_sim": np.inf}
"""Values of a robot that says nothing."""

# by the names of version 3.0
_LATER = {
    "actuator_effort_limit": "effort_limit",
    "actuator_velocity_limit": "velocity_limit",
    "joint_effort_limit": "effort_limit_sim",
    "joint_velocity_limit": "velocity_limit_sim",
}
# the documentation's table is from before they were
_NOT_IN_TABLE = ("dynamic_friction", "viscous_friction")
_MISSING = dataclasses.MISSING


@dataclass(frozen=True)
class Resolved:
    """The values of a group's joints.

    Args:
        model: Name of the model.
        names: Names of the joints.
        values: By field of the cfg, float32 `(robots, joints)`: `PROPERTIES`, `effort_limit` and `velocity_limit`, and
            for DC motors `saturation_effort`; at the joint.
        gear_ratio: γ, float32 `(joints,)`.
        said: Which of `PROPERTIES` the cfg says, or the model.
        limits: What the cfg says of its four limits, by field; names that stand for one another say the same.
        rows: Of the resolution table.
    """

    model: str
    names: list[str]
    values: dict[str, np.ndarray]
    gear_ratio: np.ndarray
    said: set[str]
    limits: dict[str, Any]
    rows: list[Row]


def resolve(
    cfg: Any,
    names: Sequence[str],
    ids: Sequence[int],
    robot: Mapping[str, Any],
    num_robots: int,
    *,
    rules: Rules = "documentation",
    group: str = "",
) -> Resolved:
    """Return the values of a group's joints; the cfg is not changed.

    Args:
        cfg: An actuator cfg, ours or Isaac Lab's own.
        names: Names of the joints.
        ids: Their columns, for the table.
        robot: Values of the robot by name of `PROPERTIES`, numbers or arrays `(robots, joints)`; `DEFAULTS` where
            there are none.
        num_robots: Number of robots.
        rules: Which rules hold, see the top of this file.
        group: Name of the group.

    Raises:
        ValueError: A value of the cfg cannot be used, a line each.
    """
    if rules not in ("documentation", "code"):
        raise ValueError(f"rules = {rules!r}: must be 'documentation' or 'code'. Give one of these.")
    reader = _Reader(cfg, list(names), num_robots, rules, [])
    model = model_of(cfg)
    said = _fields(cfg, model, rules, reader.problems)
    usd = {name: reader.spread(robot.get(name, DEFAULTS[name]), f"{name} of the robot") for name in PROPERTIES}
    values: dict[str, np.ndarray] = {}
    rows: list[Row] = []
    for name in PROPERTIES:
        values[name], from_cfg = reader.value(name, said[name], usd[name])
        differs = ~from_cfg | ~np.isclose(values[name][0], usd[name][0], rtol=1e-5, atol=1e-8)
        if rules == "code":
            differs[:] = differs.any()
        elif name in _NOT_IN_TABLE:
            differs &= from_cfg
        rows += [
            Row(
                group,
                name,
                names[at],
                int(ids[at]),
                float(usd[name][0, at]),
                float(values[name][0, at]) if from_cfg[at] else None,
                float(values[name][0, at]),
            )
            for at in np.flatnonzero(differs).tolist()
        ]
    gear, _ = reader.value("gear_ratio", getattr(cfg, "gear_ratio", None), np.ones((1, len(names)), np.float32))
    gear = gear[0]
    if (wrong := gear[~((gear > 0) & np.isfinite(gear))]).size:
        reader.problems.append(f"gear_ratio = {wrong[0]:g}: must be finite and > 0. Correct the ratio.")
        gear = np.ones_like(gear)
    speed, of_motor = reader.value("velocity_limit", said["velocity_limit"], values["velocity_limit_sim"])
    values["velocity_limit"] = np.where(of_motor, speed / gear, speed).astype(np.float32)
    effort, of_motor = reader.value("effort_limit", said["effort_limit"], usd["effort_limit_sim"])
    if model == IMPLICIT:
        values["effort_limit"], values["velocity_limit"] = values["effort_limit_sim"], values["velocity_limit_sim"]
    else:
        values["effort_limit"] = np.where(of_motor, effort * gear, effort).astype(np.float32)
    if model in DC_MOTORS:
        nothing = np.full((num_robots, len(names)), np.inf, np.float32)
        stall, _ = reader.value("saturation_effort", said["saturation_effort"], nothing)
        values["saturation_effort"] = (stall * gear).astype(np.float32)
    if reader.problems:
        raise ValueError("\n".join(f"{type(cfg).__name__}: {problem}" for problem in reader.problems))
    given = {name for name in PROPERTIES if said[name] is not None}
    limits = {name: said[name] for name in _LATER.values()}
    return Resolved(model, list(names), values, gear, given, limits, rows)


def _fields(cfg: Any, model: str, rules: Rules, problems: list[str]) -> dict[str, Any]:
    """What the cfg says of each field, with names that stand for one another made one; None for nothing."""
    fields = [*PROPERTIES, "effort_limit", "velocity_limit", *(["saturation_effort"] if model in DC_MOTORS else [])]
    said = {name: getattr(cfg, name, None) for name in fields}
    for later, name in _LATER.items():
        if (value := getattr(cfg, later, None)) is None:
            continue
        if said[name] is not None and said[name] != value:
            problems.append(f"{later} = {value!r} and {name} = {said[name]!r}: must be equal. Give one of them.")
        if later == "actuator_effort_limit" and model == IMPLICIT:
            problems.append(f"{later} = {value!r}: must be None, for the solver clips. Give joint_effort_limit.")
        said[name] = value
    problems += [
        f"{name} is missing: must be given, or None for the robot's own. Set it."
        for name in fields
        if said[name] is _MISSING
    ]
    said = {name: None if value is _MISSING else value for name, value in said.items()}
    if model == IMPLICIT:
        _make_limits_one(said, rules, problems)
        return said
    if said["effort_limit_sim"] is None:
        said["effort_limit_sim"] = EXPLICIT_EFFORT_LIMIT_SIM
    if model == "RemotizedPDActuator":
        # its table is the limit
        said |= {"effort_limit": np.inf, "velocity_limit": np.inf}
    needed = ("saturation_effort", "velocity_limit") if model in DC_MOTORS else ()
    problems += [f"{name} is None: must be given for a DC motor. Set it." for name in needed if said[name] is None]
    return said


def _make_limits_one(said: dict[str, Any], rules: Rules, problems: list[str]) -> None:
    """Let each limit of an implicit actuator be that of the solver, which knows one."""
    for name in ("effort_limit", "velocity_limit"):
        plain, solver = said[name], said[f"{name}_sim"]
        if plain is not None and solver is not None and plain != solver:
            problems.append(
                f"{name} = {plain!r} and {name}_sim = {solver!r}: must be equal, for the solver knows one limit. "
                f"Give {name}_sim."
            )
        if solver is None and not (rules == "code" and name == "velocity_limit"):
            said[f"{name}_sim"] = plain
        said[name] = said[f"{name}_sim"]


@dataclass(frozen=True)
class _Reader:
    """Reads values for some joints; what is wrong goes to `problems`."""

    cfg: Any
    names: list[str]
    num_robots: int
    rules: Rules
    problems: list[str]

    def value(self, field: str, said: Any, otherwise: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Values `(robots, joints)`, and which joints have theirs from the cfg."""
        values = np.array(np.broadcast_to(otherwise, (self.num_robots, len(self.names))), np.float32)
        if said is None:
            return values, np.zeros(len(self.names), bool)
        from_cfg = np.ones(len(self.names), bool)
        if isinstance(said, Mapping):
            matched, wrong = assigned(said, self.names, field, every=False)
            self.problems.extend(wrong)
            per_joint = [said[matched[name]] if name in matched else None for name in self.names]
            if self.rules == "code":
                per_joint = [0.0 if value is None else value for value in per_joint]
            from_cfg[:] = [value is not None for value in per_joint]
        else:
            per_joint = [said] * len(self.names)
        for at in np.flatnonzero(from_cfg):
            if isinstance(per_joint[at], bool) or not isinstance(per_joint[at], int | float | np.number):
                self.problems.append(
                    f"{field} = {said!r:.120}: must be a number, or numbers by pattern of joint names. Correct it."
                )
                break
            values[:, at] = per_joint[at]
        return values, from_cfg

    def spread(self, value: Any, subject: str) -> np.ndarray:
        """Values of the robot as `(robots, joints)`."""
        array = np.asarray(value.tolist() if hasattr(value, "tolist") else value, np.float32)
        shape = self.num_robots, len(self.names)
        if array.ndim and array.shape != shape:
            raise ValueError(f"{subject} has shape {array.shape}: must be (robots, joints) = {shape}. Reshape it.")
        return np.broadcast_to(array, shape)
