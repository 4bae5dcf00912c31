"""The torque-speed envelope of an actuator on the drive of its joint, as PhysX has envelopes.

    physxDrivePerformanceEnvelope:<axis>:velocityDependentResistance, maxActuatorVelocity, speedEffortGradient
    drive:<axis>:physics:maxForce                                        effort at rest

PhysX limits drives by these where no actuator drives the joint; an actuator computes its own limit, and silences the
drive. Only drives have an envelope, and only those that `EnvelopeClampingConfig.to_physx` can say; `lint` names others.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence

from pxr import Usd

from ...base.errors import HostError
from ...specs.configs import Config, EnvelopeClampingConfig
from ...specs.envelope import physx_limits
from ...specs.transmission import at_joint, transmission_among
from .articulation import every_prim
from .discover import dofs_driven
from .joint_properties import Axis, authored, axis_of, envelopes, unlike, write_properties
from .schema import applied_schemas, is_actuator

_NAMES = ("max_efforts", "velocity_dependent_resistances", "max_actuator_velocities", "speed_effort_gradients")


def write_envelope(stage: Usd.Stage, axes: Sequence[Axis], configs: Sequence[Config]) -> None:
    """Author the envelope of an actuator on the drives of its joints, at the edit target; no-op without either.

    Args:
        stage: Where.
        axes: Path and axis of each joint.
        configs: Stages of the actuator, in SI.

    Warns:
        UserWarning: A stronger layer has another envelope, which stays.
    """
    limits = _limits(configs)
    if limits is None:
        return
    for axis in axes:
        if not _has_drive(stage, axis):
            continue
        try:
            write_properties(stage, unlike(stage, dict(zip(_NAMES, limits, strict=True)), axis), [axis])
        except HostError as error:
            warnings.warn(f"{error} Drives of PhysX have that envelope in place of that of the actuator.", stacklevel=5)


def drives_without_actuator(stage: Usd.Stage, axes: Sequence[Axis]) -> list[str]:
    """One message per drive with a performance envelope that neither MuJoCo nor an actuator of the joint has."""
    if not envelopes(stage, axes):
        return []
    schema = EnvelopeClampingConfig.SCHEMA
    computed = {
        (joint, axis_of(stage, joint, name))
        for prim in every_prim(stage.GetPseudoRoot())
        if is_actuator(prim) and schema in applied_schemas(prim)
        for joint, name in dofs_driven(prim)
    }
    return envelopes(stage, [axis for axis in axes if tuple(axis) not in computed])


def _limits(configs: Sequence[Config]) -> tuple[float, float, float, float] | None:
    """Return the numbers of `to_physx` at the joint; None without an envelope, or without one that PhysX has."""
    found = next((one for one in configs if isinstance(one, EnvelopeClampingConfig)), None)
    if found is None:
        return None
    gear = transmission_among(configs)
    return physx_limits(found if gear is None else at_joint(found, gear.ratio))


def _has_drive(stage: Usd.Stage, axis: Axis) -> bool:
    """Return True if a joint has a drive with gains."""
    gains = [authored(stage, name, [axis])[0] for name in ("stiffnesses", "dampings")]
    return any(gain > 0.0 for gain in gains)
