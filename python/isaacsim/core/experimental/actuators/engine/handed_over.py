"""What the motors of a robot become: actuators of a plan, and properties of joints for the simulator.

Friction of joints is computed once: by a stage of their actuator, or by the simulator. With
`FrictionConfig(in_engine=True)` the simulator computes it, and the actuator has no such stage. Joints with a friction
stage have no friction of the simulator meanwhile, wherever their file has it from.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import warp as wp

from ..base.quiet_warp import quiet_warp
from ..base.values import as_numpy
from ..laws.contract import catalogue
from ..specs.actuator_spec import ActuatorSpec
from ..specs.configs import Config, FrictionConfig
from ..specs.engine_friction import is_friction, is_in_engine
from .entry import ActuatorConfig, ActuatorEntry, entry_from_spec
from .linkages import rotor_armatures
from .motors import Motor

Axis = tuple[str, str]
"""Path of a joint on the prototype, and its name."""


@dataclass(frozen=True)
class JointValues:
    """Values that a motor gives its joints, in SI units.

    They are a number, `(joints,)`, `(robots, joints)` or `(parts, robots, joints)`. The origin is `stage` for a
    property that a stage replaces, which is zero meanwhile; `engine` for friction that the simulator computes in place
    of a stage; `author` for what a joint has below the fallback of an actuator that a motor replaces.
    """

    name: str  # see `simulators/motor_properties.py`
    axes: list[Axis]
    values: Any
    origin: Literal["author", "stage", "motor", "engine"] = "motor"
    in_place_of: np.ndarray | None = None  # `(parts, robots, joints)`; joints with others keep them; None for all


@dataclass(frozen=True)
class HandedOver:
    """What specs become."""

    entries: list[ActuatorEntry]  # for a plan; without the friction that the simulator computes
    axes: list[Axis]  # each joint that they drive, in their order
    properties: list[JointValues]  # for the simulator; dry friction has the parts static and dynamic


def handed_over(
    specs: Sequence[ActuatorSpec], num_robots: int, device: wp.DeviceLike, *, in_engine: bool = True
) -> HandedOver:
    """Return what specs become; a stage computes all friction unless `in_engine`.

    An actuator of nothing but friction of the simulator is left out.
    """
    friction: list[JointValues] = []
    if in_engine:
        specs = [_without_engine_friction(spec, friction) for spec in specs]
    kept = [spec for spec in specs if spec.stages]
    with quiet_warp():
        entries = [entry_from_spec(spec, num_robots, device) for spec in kept]
    return HandedOver(entries, [axis for spec in kept for axis in _axes_of(spec)], [*_armatures(kept), *friction])


def rotors_of_configs(pairs: Sequence[tuple[object, str]], axes: Sequence[Axis]) -> list[JointValues]:
    """Return armatures, `(robots or 1, 1)`, of actuators of a program; what is no `ActuatorConfig` states none."""
    specs = [
        ActuatorSpec(name, (path,), dof_names=(name,), others=[one for one in given.others if isinstance(one, Config)])
        for (given, _), (path, name) in zip(pairs, axes, strict=True)
        if isinstance(given, ActuatorConfig)
    ]
    return [dataclasses.replace(one, values=np.reshape(as_numpy(one.values), (-1, 1))) for one in _armatures(specs)]


def values_of_motors(motors: Sequence[Motor], names: Sequence[str], paths: Sequence[str]) -> list[JointValues]:
    """Return the properties that motors have for their joints, among joints of these names and paths."""
    return [
        JointValues(name, [(paths[at], names[at]) for at in motor.columns], values)
        for motor in motors
        for name, values in motor.properties.items()
    ]


def require_no_sweeps(entries: Sequence[ActuatorEntry]) -> None:
    """Raise for friction that needs mass matrices in a loop without them."""
    for entry in entries:
        if entry.sweeps:
            raise ValueError(
                f"FrictionConfig.sweeps = {entry.sweeps} of joints {', '.join(entry.dof_names)}: must be 0 here, for "
                "a loop of arrays has no mass matrices. Set it to 0."
            )


def has_friction_stage(entry: ActuatorEntry) -> bool:
    """Return True if a stage of an actuator is the friction of its joints."""
    lines = map(catalogue.law_of, map(type, entry.others))
    return any(line is not None and is_friction(line.config) for line in lines)


def _axes_of(spec: ActuatorSpec) -> list[Axis]:
    return list(zip(spec.targets, spec.dof_names, strict=True))


def _armatures(specs: Sequence[ActuatorSpec]) -> list[JointValues]:
    return [JointValues("armature", _axes_of(spec), values) for spec, values in rotor_armatures(specs, attached=True)]


def _without_engine_friction(spec: ActuatorSpec, friction: list[JointValues]) -> ActuatorSpec:
    """Return a spec without the friction that the simulator computes, which is added to `friction`."""
    others: list[Config] = []
    for one in spec.others:
        if isinstance(one, FrictionConfig) and is_in_engine(one):
            # breakaway levels below the level of motion mean that
            levels = np.broadcast_arrays(np.maximum(one.static, one.coulomb), one.coulomb)
            dry = np.stack([np.atleast_2d(level) for level in levels])
            for name, values in (("friction", dry), ("viscous_friction", np.atleast_2d(one.viscous))):
                friction.append(JointValues(name, _axes_of(spec), values.astype(np.float32), "engine"))
        else:
            others.append(one)
    return spec if len(others) == len(spec.others) else dataclasses.replace(spec, others=others)
