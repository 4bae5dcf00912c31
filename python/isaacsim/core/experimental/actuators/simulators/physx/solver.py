"""Position step of PhysX: its TGS solver divides a step into as many parts as a robot has position iterations.

Velocities grow by `dt/n·M⁻¹·τ` in each of n parts, and positions move with them: `q⁺ = q + dt·((1 − w)·v + w·v⁺)` with
`w = (n + 1)/(2·n)`, while v⁺ is that of one whole step. PGS, and TGS that takes efforts in once in a step, have w = 1.
Measured on one step of the shipped robots in the air, to 1e-3; not in contact with others, whose n may differ.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ...files.usd.articulation import every_prim
from ...files.usd.schema import applied_schemas

if TYPE_CHECKING:
    from ...files.usd.handles import Prim, Stage


def velocity_weight(stage: Stage, root: str) -> float:
    """Weight of the velocity after a step, in the step of positions.

    Args:
        stage: USD stage.
        root: Path of the articulation root.
    """
    scenes = [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == "PhysicsScene"]
    scene, robot = scenes[0] if scenes else None, stage.GetPrimAtPath(root)
    if _value(scene, "Scene", "solverType", "TGS") == "PGS":
        return 1.0
    if not _value(scene, "Scene", "enableExternalForcesEveryIteration", True):
        return 1.0
    parts = _value(robot, "Articulation", "solverPositionIterationCount", 32)
    least = max(_value(scene, "Scene", "minPositionIterationCount", 1), 1)
    parts = min(max(parts, least), _value(scene, "Scene", "maxPositionIterationCount", 255))
    return (parts + 1) / (2 * parts)


def _value(prim: Prim | None, schema: str, name: str, default: object) -> Any:
    """Authored value of a prim that has the schema PhysX looks for."""
    if not prim or f"Physx{schema}API" not in applied_schemas(prim):
        return default
    value = prim.GetAttribute(f"physx{schema}:{name}").Get()
    return default if value is None else value
