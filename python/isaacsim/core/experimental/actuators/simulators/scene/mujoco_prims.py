"""Prims of MuJoCo's own schemas: actuators, read as drives of their joints, and tendons."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from pxr import Sdf, Usd

from ...files.usd.authored import authored, authored_number, authored_numbers, targets
from ...files.usd.mujoco_properties import drives_of, joint_of
from ...files.usd.schema import applied_schemas
from .frames import Places
from .joints import hardness
from .scene import Axis, Tendon
from .shapes import Bodies

_OF_TENDON = ("stiffness", "damping", "frictionloss", "armature")


def read_actuators(prims: Sequence[Usd.Prim], axes: Mapping[Sdf.Path, list[Axis]]) -> list[str]:
    """Read `MjcActuator` prims as drives of axes in the tree without a drive; return the others, with reasons."""
    others: list[tuple[Usd.Prim, str]] = []
    driven: dict[Sdf.Path, Axis] = {}
    acting: dict[Sdf.Path, list[Usd.Prim]] = {}
    for prim in prims:
        axis, why = _driven(prim, axes)
        if axis is None:
            others.append((prim, why))
        elif axis.drive_stiffness == axis.drive_damping == 0.0:
            joint = Sdf.Path(axis.joint)
            driven[joint] = axis
            acting.setdefault(joint, []).append(prim)
    drives, undrivable = drives_of(acting, {joint: axis.name for joint, axis in driven.items()})
    for joint, drive in drives.items():
        # let the drive of an axis, which has none, do what actuators do
        axis = driven[joint]
        axis.drive_stiffness, axis.drive_damping, axis.drive_effort = drive.stiffness, drive.damping, drive.effort
        axis.drive_limit = min(axis.drive_limit, drive.limit)
        axis.armature += drive.armature
        axis.position_range, axis.velocity_range = drive.position_range, drive.velocity_range
    return [f"<{prim.GetPath()}> ({why})" for prim, why in (*others, *undrivable)]


def read_tendons(
    prims: Sequence[Usd.Prim], axes: Mapping[Sdf.Path, list[Axis]], bodies: Bodies, places: Places
) -> tuple[list[Tendon], list[str]]:
    """The tendons along joints or sites, and the paths of those that wrap around shapes, which are not simulated."""
    found, others = [], []
    for prim in prims:
        path = _path(prim, axes, bodies, places)
        if path is None:
            others.append(f"<{prim.GetPath()}>")
            continue
        low, high = (authored_number(prim, f"mjc:range:{side}", 0.0) for side in ("min", "max"))
        limited = str(authored(prim, "mjc:limited", "auto"))
        is_limited = limited == "true" or (limited == "auto" and low < high)
        rest = authored_numbers(prim, "mjc:springlength", (-1.0, -1.0)) or [-1.0]
        values = {name: authored_number(prim, f"mjc:{name}", 0.0) for name in _OF_TENDON}
        limits = (low, high) if is_limited else None
        found.append(Tendon(str(prim.GetPath()), path, limits, (rest[0], rest[-1]), values, hardness(prim, "friction")))
    return found, others


def _driven(prim: Usd.Prim, axes: Mapping[Sdf.Path, list[Axis]]) -> tuple[Axis | None, str]:
    """The axis an actuator drives, or why there is none."""
    joint = joint_of(prim)
    if joint is None or joint not in axes:
        return None, f"acts on {f'<{joint}>' if joint else 'nothing'}, which is no joint of a robot"
    own = axes[joint]
    return (own[0], "") if len(own) == 1 else (None, f"acts on <{joint}>, which has {len(own)} axes")


def _path(
    prim: Usd.Prim, axes: Mapping[Sdf.Path, list[Axis]], bodies: Bodies, places: Places
) -> list[tuple[Axis, float]] | list[list[tuple[int, np.ndarray]]] | None:
    """Axes with coefficients, or strands of points on bodies; None for any other path."""
    parts = targets(prim, "mjc:path")
    order = [parts[int(at)] for at in authored_numbers(prim, "mjc:path:indices", ()) if 0 <= at < len(parts)]
    if str(authored(prim, "mjc:type", "spatial")) == "fixed":
        coefficients = authored_numbers(prim, "mjc:path:coef", ())
        if len(coefficients) != len(order) or any(len(axes.get(joint, ())) != 1 for joint in order):
            return None
        return [(axes[joint][0], one) for joint, one in zip(order, coefficients, strict=True)]
    return _along_sites(prim, order, bodies, places)


def _along_sites(
    prim: Usd.Prim, paths: Sequence[Sdf.Path], bodies: Bodies, places: Places
) -> list[list[tuple[int, np.ndarray]]] | None:
    segments = authored_numbers(prim, "mjc:path:segments", [0] * len(paths))
    has_pulley = any(one != 1.0 for one in authored_numbers(prim, "mjc:path:divisors", [1.0]))
    sites = [prim.GetStage().GetPrimAtPath(path) for path in paths]
    if (
        not sites
        or has_pulley
        or len(segments) != len(sites)
        or not all(site and "MjcSiteAPI" in applied_schemas(site) for site in sites)
    ):
        return None
    strands: dict[float, list[tuple[int, np.ndarray]]] = {}
    for site, segment in zip(sites, segments, strict=True):
        body = bodies.above(site.GetPath())
        strands.setdefault(segment, []).append((body, places.within(site, bodies.frame(body))[:3, 3]))
    return list(strands.values())
