"""Joints that follow another joint or an actuator of MuJoCo, without actuator and drive."""

from __future__ import annotations

from collections.abc import Sequence

from pxr import Usd

from .articulation import every_prim
from .authored import targets
from .schema import applied_schemas
from .usd_errors import reports_usd_errors

_COUPLINGS = ("NewtonMimicAPI", "MjcEqualityJointAPI", "PhysxMimicJointAPI")


@reports_usd_errors
def follows(stage: Usd.Stage, joint: str) -> bool:
    """Return True if a joint follows another one."""
    prim = stage.GetPrimAtPath(joint)
    enabled = prim.GetAttribute("newton:mimicEnabled")
    if enabled and enabled.Get() is False:
        return False
    return any(schema.partition(":")[0] in _COUPLINGS for schema in applied_schemas(prim))


def followers(stage: Usd.Stage, joints: Sequence[str], names: Sequence[str]) -> set[str]:
    """Names of the DOFs that follow another joint.

    Args:
        stage: The stage of the joints.
        joints: Path of the joint of each DOF.
        names: Name of each DOF.
    """
    return {
        name for joint, name in zip(joints, names, strict=True) if stage.GetPrimAtPath(joint) and follows(stage, joint)
    }


@reports_usd_errors
def mujoco_actuators(stage: Usd.Stage) -> dict[str, str]:
    """Paths of `MjcActuator` prims by the path of their target."""
    prims = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "MjcActuator"]
    return {str(target): str(prim.GetPath()) for prim in prims for target in targets(prim, "mjc:target")}
