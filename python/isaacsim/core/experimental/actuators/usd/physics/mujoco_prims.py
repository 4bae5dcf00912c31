"""Prims of MuJoCo's own schemas: actuators, which become the drives of their joints, and tendons."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from pxr import Sdf, Usd

from ..articulation import every_prim
from ..authored import authored
from .frames import Places
from .scene import Axis, Tendon
from .shapes import Bodies

_OF_TENDON = {
    "stiffness": "mjc:stiffness",
    "damping": "mjc:damping",
    "frictionloss": "mjc:frictionloss",
    "armature": "mjc:armature",
}


def read_actuators(stage: Usd.Stage, axes: Mapping[Sdf.Path, list[Axis]]) -> list[str]:
    """Let `MjcActuator` prims be the drives of axes that no other drive moves; others are returned, with reasons.

    The force of an actuator at control `u` is `gain·u + b0 + b1·gear·q + b2·gear·q̇`, times `gear` as an effort.
    Source: MuJoCo documentation, "Computation", Actuation model.

    Args:
        stage: Where the prims are.
        axes: Of each joint in the tree.
    """
    others = []
    for prim in _prims(stage, "MjcActuator"):
        axis, why = _driven(prim, axes)
        drive = _drive(prim) if axis is not None else why
        if axis is None or isinstance(drive, str):
            others.append(f"<{prim.GetPath()}> ({drive})")
        elif axis.drive_stiffness == axis.drive_damping == 0.0:
            stiffness, damping, limit, armature = drive
            axis.drive_stiffness, axis.drive_damping = stiffness, damping
            axis.drive_limit = min(axis.drive_limit, limit)
            axis.armature += armature
    return others


def read_tendons(
    stage: Usd.Stage, axes: Mapping[Sdf.Path, list[Axis]], bodies: Bodies, places: Places
) -> tuple[list[Tendon], list[str]]:
    """Tendons along joints or sites; and the paths of those that wrap around shapes, which are not simulated."""
    found, others = [], []
    for prim in _prims(stage, "MjcTendon"):
        path = _path(prim, axes, bodies, places)
        if path is None:
            others.append(f"<{prim.GetPath()}>")
            continue
        low, high = (float(authored(prim, f"mjc:range:{side}", 0.0)) for side in ("min", "max"))
        limited = str(authored(prim, "mjc:limited", "auto"))
        is_limited = limited == "true" or (limited == "auto" and low < high)
        rest = [float(value) for value in authored(prim, "mjc:springlength", (-1.0, -1.0))]
        values = {name: float(authored(prim, attribute, 0.0)) for name, attribute in _OF_TENDON.items()}
        limits = (low, high) if is_limited else None
        found.append(Tendon(str(prim.GetPath()), path, limits, (rest[0], rest[-1]), values))
    return found, others


def _prims(stage: Usd.Stage, kind: str) -> list[Usd.Prim]:
    # USD need not know the type
    return [prim for prim in every_prim(stage.GetPseudoRoot()) if prim.GetTypeName() == kind]


def _driven(prim: Usd.Prim, axes: Mapping[Sdf.Path, list[Axis]]) -> tuple[Axis | None, str]:
    """The axis an actuator drives, or why there is none."""
    targets = _targets(prim, "mjc:target")
    if not targets or targets[0] not in axes:
        return None, f"acts on {f'<{targets[0]}>' if targets else 'nothing'}, which is no joint of a robot"
    own = axes[targets[0]]
    return (own[0], "") if len(own) == 1 else (None, f"acts on <{targets[0]}>, which has {len(own)} axes")


def _drive(prim: Usd.Prim) -> tuple[float, float, float, float] | str:
    """Stiffness, damping, largest effort and armature of an actuator as a drive, or why it is none."""
    dynamics, gain_type = str(authored(prim, "mjc:dynType", "none")), str(authored(prim, "mjc:gainType", "fixed"))
    bias_type = str(authored(prim, "mjc:biasType", "none"))
    gain = [*map(float, authored(prim, "mjc:gainPrm", (1.0,))), 0.0, 0.0]
    bias = [*map(float, authored(prim, "mjc:biasPrm", ())), 0.0, 0.0, 0.0] if bias_type == "affine" else [0.0] * 3
    gear = float(authored(prim, "mjc:gear", (1.0,))[0])
    known = dynamics == "none" and gain_type in ("fixed", "affine") and bias_type in ("none", "affine")
    if not known or any(gain[1:3]):
        return "its force is more than a constant times its control, its position and its velocity"
    if bias[1] > 0 or bias[2] > 0 or bias[0] != 0:
        return "it has a constant force, or a stiffness, damping or damping ratio that is not one of a drive"
    stiffness, damping, limit = -bias[1] * gear**2, -bias[2] * gear**2, math.inf
    for name, factor in (("force", abs(gear)), ("ctrl", abs(gain[0] * gear))):
        low, high = (float(authored(prim, f"mjc:{name}Range:{side}", 0.0)) for side in ("min", "max"))
        limited = str(authored(prim, f"mjc:{name}Limited", "auto")) != "false"
        # a position or a velocity that is asked for limits no effort
        if low < high and limited and (name == "force" or not any(bias)):
            limit = min(limit, max(abs(low), abs(high)) * factor)
    return stiffness, damping, limit, float(authored(prim, "mjc:armature", 0.0)) * gear**2


def _path(
    prim: Usd.Prim, axes: Mapping[Sdf.Path, list[Axis]], bodies: Bodies, places: Places
) -> list[tuple[Axis, float]] | list[list[tuple[int, np.ndarray]]] | None:
    """Axes with coefficients, or points on bodies, strand by strand; None for what is neither."""
    targets = _targets(prim, "mjc:path")
    order = [targets[at] for at in authored(prim, "mjc:path:indices", ()) if at < len(targets)]
    if str(authored(prim, "mjc:type", "spatial")) == "fixed":
        coefficients = [float(one) for one in authored(prim, "mjc:path:coef", ())]
        if len(coefficients) != len(order) or any(len(axes.get(path, ())) != 1 for path in order):
            return None
        return [(axes[path][0], one) for path, one in zip(order, coefficients, strict=True)]
    segments = list(authored(prim, "mjc:path:segments", [0] * len(order)))
    divisors = list(authored(prim, "mjc:path:divisors", [1.0]))
    sites = [prim.GetStage().GetPrimAtPath(path) for path in order]
    plain = sites and all("MjcSiteAPI" in site.GetPrimTypeInfo().GetAppliedAPISchemas() for site in sites if site)
    if not plain or not all(sites) or len(segments) != len(order) or any(one != 1.0 for one in divisors):
        return None
    strands: dict[int, list[tuple[int, np.ndarray]]] = {}
    for site, segment in zip(sites, segments, strict=True):
        body = bodies.above(site.GetPath())
        strands.setdefault(segment, []).append((body, places.within(site, bodies.frame(body))[:3, 3]))
    return list(strands.values())


def _targets(prim: Usd.Prim, name: str) -> Sequence[Sdf.Path]:
    relation = prim.GetRelationship(name)
    return relation.GetForwardedTargets() if relation else []
