"""Joints that follow others."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pxr import Sdf, Usd

from ...base.errors import UnsupportedSceneError
from ...files.usd.authored import authored, authored_number, targets
from ...files.usd.schema import applied_schemas
from .joints import hardness, unit_of
from .scene import Axis, Mimic


def read_mimics(stage: Usd.Stage, axes: Mapping[Sdf.Path, list[Axis]], length: float) -> list[Mimic]:
    """Axes that follow others by `NewtonMimicAPI`, `PhysxMimicJointAPI`, or MuJoCo's joint equality, which adds powers.

    A joint without an axis does not follow; a follower of one keeps the position that it had for it.

    Args:
        stage: The stage of the joints.
        axes: Axes of each joint in the tree, fixed ones included.
        length: The stage's unit of length [m].

    Raises:
        UnsupportedSceneError: The leader is not in the tree, or one of the two has several axes.
    """
    mimics = []
    for path, own in axes.items():
        if not own:
            continue
        prim = stage.GetPrimAtPath(path)
        schemas = applied_schemas(prim)
        for schema in schemas:
            name, _, instance = schema.partition(":")
            if name == "NewtonMimicAPI" or (name == "MjcEqualityJointAPI" and "NewtonMimicAPI" not in schemas):
                if not authored(prim, "newton:mimicEnabled", True):
                    continue
                # assets of an older MuJoCo converter have another relationship
                relation = "newton:mimicJoint" if targets(prim, "newton:mimicJoint") else "mjc:target"
                coefficients = _newton_coefficients(prim, unit_of(own[0], length))
            elif name == "PhysxMimicJointAPI":
                relation = f"physxMimicJoint:{instance}:referenceJoint"
                gearing, offset = (
                    authored_number(prim, f"physxMimicJoint:{instance}:{one}", fallback)
                    for one, fallback in (("gearing", 1.0), ("offset", 0.0))
                )
                # PhysX: position + gearing · that of the leader + offset = 0
                coefficients = (-offset * unit_of(own[0], length), -gearing, 0.0, 0.0, 0.0)
            else:
                continue
            mimics.append(_mimic(prim, relation, own, axes, coefficients))
    return mimics


def _mimic(
    prim: Usd.Prim, relation: str, own: list[Axis], axes: Mapping[Sdf.Path, list[Axis]], coefficients: Any
) -> Mimic:
    leading = targets(prim, relation)
    if not leading or leading[0] not in axes:
        leader = f"<{leading[0]}>" if leading else "nothing"
        raise UnsupportedSceneError(
            f"<{prim.GetPath()}> follows {leader} ({relation}): must be a joint that closes no loop. Correct the "
            "relationship, or remove the schema."
        )
    leaders = axes[leading[0]]
    if len(own) > 1 or len(leaders) > 1:
        raise UnsupportedSceneError(
            f"<{prim.GetPath()}> follows <{leading[0]}> and one of them has several axes: not simulated here. Split "
            "the joint."
        )
    return Mimic(own[0], leaders[0] if leaders else None, coefficients, hardness(prim))


def _newton_coefficients(prim: Usd.Prim, unit: float) -> tuple[float, ...]:
    # the older attributes are in radians
    older = authored(prim, "newton:mimicCoef0") is None
    first = authored_number(prim, "mjc:coef0", 0.0) if older else authored_number(prim, "newton:mimicCoef0", 0.0) * unit
    second = authored_number(prim, "newton:mimicCoef1", authored_number(prim, "mjc:coef1", 1.0))
    return (first, second, *(authored_number(prim, f"mjc:coef{power}", 0.0) for power in (2, 3, 4)))
