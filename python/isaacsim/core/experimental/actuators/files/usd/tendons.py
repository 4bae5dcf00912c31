"""Tendons on a stage, MuJoCo's along joints and the fixed ones of PhysX: which joints move each other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pxr import Usd

from .articulation import bodies_of
from .authored import authored, authored_number, targets
from .mujoco_properties import joint_of, mjc_prims
from .schema import applied_schemas

AXIS, ROOT = "PhysxTendonAxisAPI:", "PhysxTendonAxisRootAPI:"
"""Schemas of a joint along a fixed tendon of PhysX, and of its first one; the name of the tendon comes behind."""


def tendons_of(stage: Usd.Stage, joints: Sequence[str]) -> Iterator[tuple[set[str], bool, bool]]:
    """Paths of joints of each tendon, whether it has an actuator, and whether a spring or limits hold its length."""
    actuators, tendons = mjc_prims(stage)
    acting = {joint_of(prim) for prim in actuators}
    for prim in tendons:
        lower, upper, stiffness = (
            authored_number(prim, f"mjc:{name}", 0.0) for name in ("range:min", "range:max", "stiffness")
        )
        holds = lower < upper or stiffness > 0.0
        yield {str(path) for path in targets(prim, "mjc:path")}, prim.GetPath() in acting, holds
    yield from _of_physx(stage, [joint for joint in joints if stage.GetPrimAtPath(joint)])


def _of_physx(stage: Usd.Stage, joints: Sequence[str]) -> Iterator[tuple[set[str], bool, bool]]:
    schemas = {joint: applied_schemas(stage.GetPrimAtPath(joint)) for joint in joints}
    roots = [(joint, one.removeprefix(ROOT)) for joint, own in schemas.items() for one in own if ROOT in one]
    for root, instance in roots:
        along = {root: bodies_of(stage, root)[-1:]}
        # joints have parents first
        for joint, own in schemas.items():
            bodies = bodies_of(stage, joint)
            if AXIS + instance in own and ROOT + instance not in own and [*bodies[:1]] in along.values():
                along[joint] = bodies[-1:]
        yield {*along}, False, _holds(stage.GetPrimAtPath(root), instance)


def _holds(root: Usd.Prim, instance: str) -> bool:
    prefix = f"physxTendon:{instance}:"
    stiffnesses = [authored_number(root, f"{prefix}{name}", 0.0) for name in ("stiffness", "limitStiffness")]
    return bool(authored(root, f"{prefix}tendonEnabled", True)) and max(stiffnesses) > 0.0
