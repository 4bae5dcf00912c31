"""What moves a joint that has neither actuator nor drive: another joint, or an actuator of MuJoCo."""

from __future__ import annotations

from pxr import Usd

from .articulation import every_prim
from .authored import targets
from .readable import readable
from .schema import applied_schemas

_COUPLINGS = ("NewtonMimicAPI", "MjcEqualityJointAPI", "PhysxMimicJointAPI")


@readable
def follows(stage: Usd.Stage, joint: str) -> bool:
    """Whether a joint follows another one."""
    prim = stage.GetPrimAtPath(joint)
    enabled = prim.GetAttribute("newton:mimicEnabled")
    if enabled and enabled.Get() is False:
        return False
    return any(schema.partition(":")[0] in _COUPLINGS for schema in applied_schemas(prim))


@readable
def mujoco_actuators(stage: Usd.Stage) -> dict[str, str]:
    """Paths of `MjcActuator` prims by the path of what they act on."""
    prims = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "MjcActuator"]
    return {str(target): str(prim.GetPath()) for prim in prims for target in targets(prim, "mjc:target")}
