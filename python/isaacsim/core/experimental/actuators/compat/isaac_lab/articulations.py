"""`ArticulationCfg` of Isaac Lab: its groups, and the initial state of its joints.

Fields are recognized by name, as those of actuator cfgs are. Positions and velocities of joints are numbers by pattern,
0 for joints without a match, as in Isaac Lab. Placement, spawning and other solver properties of a robot are in its
file here, so that these fields are reported and ignored.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...base.callers import level_outside
from ...base.values import as_numpy
from ...specs.arguments import number_of
from ...specs.patterns import assigned
from .kinds import Cfg

# placement of a robot: fields of `init_state`, and their defaults
_ROOT = {"pos": (0.0, 0.0, 0.0), "rot": (1.0, 0.0, 0.0, 0.0), "lin_vel": (0.0,) * 3, "ang_vel": (0.0,) * 3}
_OTHERS = {"spawn": None, "soft_joint_pos_limit_factor": 1.0}


@dataclass(frozen=True, eq=False)
class Beginning:
    """The initial state of joints: positions [rad or m] and velocities [rad/s or m/s], shape `(DOFs,)`."""

    positions: np.ndarray
    velocities: np.ndarray

    def put(self, articulation: Any, rows: Sequence[int] | None = None) -> None:
        """Set positions and velocities of robots, all by default, and their targets."""
        count = len(articulation.paths) if rows is None else len(rows)
        articulation.set_dof_positions(np.tile(self.positions, (count, 1)), indices=rows)
        articulation.set_dof_velocities(np.tile(self.velocities, (count, 1)), indices=rows)


def is_whole(given: object) -> bool:
    """Return True if this is the cfg of an articulation and not a dictionary of groups."""
    return hasattr(given, "actuators") and hasattr(given, "init_state")


def groups_in(given: Cfg) -> Cfg:
    """Return the groups of an articulation's cfg; anything else unchanged."""
    return given.actuators if is_whole(given) else given


def not_taken(cfg: Cfg) -> list[str]:
    """Return names of the fields of an articulation's cfg that describe the robot and are ignored."""
    found = [f"init_state.{name}" for name, none in _ROOT.items() if _is_set(cfg.init_state, name, none)]
    return found + [name for name, none in _OTHERS.items() if _is_set(cfg, name, none)]


def all_but_groups(given: Cfg) -> list[str]:
    """Return the fields of `not_taken`, and those of the state of joints; none for a dictionary of groups."""
    if not is_whole(given):
        return []
    begun = [name for name in ("joint_pos", "joint_vel") if any((getattr(given.init_state, name, None) or {}).values())]
    return [f"init_state.{name}" for name in begun] + not_taken(given)


def warn_of_the_rest(cfg: object) -> None:
    """Warn of the fields of `not_taken`."""
    if rest := not_taken(cfg):
        warnings.warn(
            f"{type(cfg).__name__}: {', '.join(rest)} are not taken: the robot's file says how it is made and where it "
            "stands. Author it there, or set it by the Articulation.",
            stacklevel=level_outside(),
        )


def beginning_of(cfg: Cfg, articulation: Any) -> Beginning:
    """Return the initial joint state of an articulation; ValueError lists all patterns and values that are unusable."""
    problems: list[str] = []
    names = list(articulation.dof_names)
    positions, velocities = (_by_joint(cfg.init_state, field, names, problems) for field in ("joint_pos", "joint_vel"))
    if hasattr(articulation, "get_dof_limits"):
        lower, upper = (as_numpy(limits)[0] for limits in articulation.get_dof_limits())
        problems += [
            f"init_state.joint_pos: {names[at]} = {positions[at]:g}: must be within its limits, {lower[at]:.4g} … "
            f"{upper[at]:.4g}. Correct it, as Isaac Lab asks too."
            for at in np.flatnonzero((positions < lower - _ROUNDING) | (positions > upper + _ROUNDING))
        ]
    if problems:
        raise ValueError("\n".join(problems))
    return Beginning(positions, velocities)


# tolerance of limits, which files have in degrees in single precision
_ROUNDING = 1e-4


def _by_joint(state: object, field: str, names: Sequence[str], problems: list[str]) -> np.ndarray:
    given, subject = getattr(state, field, None) or {}, f"init_state.{field}"
    values = np.zeros(len(names), np.float32)
    if not isinstance(given, Mapping):
        problems.append(f"{subject} = {given!r:.120}: must be a dictionary. Write {{pattern: number}}.")
        return values
    matched, wrong = assigned(given, names, subject, every=False)
    problems += wrong
    for joint, pattern in matched.items():
        try:
            value = number_of(f"{subject}[{pattern!r}]", given[pattern])
        except (TypeError, ValueError) as error:
            problems.append(str(error))
            continue
        if not math.isfinite(value):
            problems.append(f"{subject}[{pattern!r}] = {value}: must be finite. Correct the value.")
        values[list(names).index(joint)] = value
    return values


def _is_set(cfg: object, name: str, none: Any) -> bool:
    value = getattr(cfg, name, none)
    return value is not None and (none is None or np.ravel(value).tolist() != np.ravel(none).tolist())
