"""Friction of joints is computed once: by a stage of their actuator, or by the simulator.

With `FrictionConfig(in_engine=True)` the simulator computes it, and the actuator has no such stage. Joints with a
friction stage have no friction of the simulator meanwhile, wherever their file has it from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from ..laws.contract import catalogue
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import Config, FrictionConfig
from ..specs.engine_friction import is_friction, is_in_engine
from .entry import ActuatorEntry

if TYPE_CHECKING:
    pass


@dataclass(frozen=True, eq=False)
class EngineFriction:
    """Friction that the simulator is to compute.

    Args:
        axes: The joints: path on the prototype, and name.
        dry: Static and dynamic friction [N·m or N], shape `(2, robots or 1, joints or 1)`.
        viscous: Viscous friction [N·m·s/rad or N·s/m], shape `(robots or 1, joints or 1)`.
    """

    axes: list[tuple[str, str]]
    dry: np.ndarray
    viscous: np.ndarray


def without_engine_friction(specs: Sequence[ActuatorSpec]) -> tuple[list[ActuatorSpec], list[EngineFriction]]:
    """Return the actuators without the friction that the simulator computes, and that friction.

    An actuator of nothing else is left out.
    """
    kept: list[ActuatorSpec] = []
    found: list[EngineFriction] = []
    for spec in specs:
        others: list[Config] = []
        for one in spec.others:
            if isinstance(one, FrictionConfig) and is_in_engine(one):
                found.append(_of_engine(one, spec))
            else:
                others.append(one)
        rest = spec if len(others) == len(spec.others) else dataclasses.replace(spec, others=others)
        kept += [rest] if rest.stages else []
    return kept, found


def has_friction_stage(entry: ActuatorEntry) -> bool:
    """Return True if a stage of an actuator is the friction of its joints."""
    lines = map(catalogue.law_of, map(type, entry.others))
    return any(line is not None and is_friction(line.config) for line in lines)


def require_no_sweeps(entries: Sequence[ActuatorEntry]) -> None:
    """Raise for friction that needs mass matrices in a loop without them."""
    for entry in entries:
        if entry.sweeps:
            raise ValueError(
                f"FrictionConfig.sweeps = {entry.sweeps} of joints {', '.join(entry.dof_names)}: must be 0 here, for "
                "a loop of arrays has no mass matrices. Set it to 0."
            )


def _of_engine(config: FrictionConfig, spec: ActuatorSpec) -> EngineFriction:
    # breakaway levels below the level of motion mean that
    levels = np.broadcast_arrays(np.maximum(config.static, config.coulomb), config.coulomb)
    dry = np.stack([np.atleast_2d(level) for level in levels])
    viscous = np.atleast_2d(config.viscous)
    axes = list(zip(spec.targets, spec.dof_names, strict=True))
    return EngineFriction(axes, dry.astype(np.float32), viscous.astype(np.float32))
