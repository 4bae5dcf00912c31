"""Fixed tendons of PhysX as tendons of MuJoCo, where there is one that pulls the same.

    length   L = Σ gearing · position + offset, positions in degrees or in units of length of the stage
    tension  T = stiffness · (L − rest length) + damping · dL/dt + limit stiffness · (L beyond a limit)
    efforts  −T · force coefficient / n at the link of each of its n axes, about that axis, and back at the link before
             the first of them

So a joint feels the axes behind it too, where MuJoCo has −T · coefficient at each joint: a tendon whose joints feel
efforts in the ratio of their gearings is one of MuJoCo. Measured on PhysX, where a spring is stiffer than authored by
the number of velocity iterations over that of position iterations.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from pxr import Gf, Usd

from ...files.usd.authored import authored, authored_number, authored_numbers
from ...files.usd.schema import applied_schemas
from ...files.usd.tendons import AXIS, ROOT
from ...files.usd.units import RADIAN, StageUnits
from .frames import HERE, frame_of
from .scene import Axis, Body, Tendon

_SPATIAL = "PhysxTendonAttachment"
# of directions and ratios
_TOLERANCE = 1e-6
# length of a spring that never pulls
_ENDLESS = 1e10


class _Left(ValueError):
    """Why a tendon is left out."""


def read_physx_tendons(stage: Usd.Stage, bodies: Sequence[Body], units: StageUnits) -> tuple[list[Tendon], list[str]]:
    """The fixed tendons of PhysX, and all others by name with reasons; bodies have parents first."""
    joints = [stage.GetPrimAtPath(body.path if body.kind == "free" else body.joints[0]) for body in bodies]
    links = [body.path for body in bodies if _SPATIAL in "".join(applied_schemas(stage.GetPrimAtPath(body.path)))]
    tendons, others = list[Tendon](), [f"<{path}> (spatial)" for path in links]
    for instance, members in _members(bodies, [applied_schemas(joint) for joint in joints]):
        try:
            tendons += _tendon([joints[at] for at in members], instance, bodies, members, units)
        except _Left as why:
            others.append(f"<{joints[members[0]].GetPath()}> ({instance}: {why})")
    return tendons, others


def _members(bodies: Sequence[Body], schemas: Sequence[Sequence[str]]) -> Iterator[tuple[str, list[int]]]:
    """Each tendon by name, with the numbers of its links: parent and child, each with an axis of it at its joint."""
    groups: dict[tuple[str, int], list[int]] = {}
    for at, (body, own) in enumerate(zip(bodies, schemas, strict=True)):
        for instance in {one.partition(":")[2] for one in own if one.startswith((AXIS, ROOT))}:
            before = [] if ROOT + instance in own else groups.get((instance, body.parent), [])
            before.append(at)
            groups[instance, at] = before
    yield from ((instance, group) for (instance, at), group in groups.items() if group[0] == at)


def _tendon(
    joints: Sequence[Usd.Prim], instance: str, bodies: Sequence[Body], members: Sequence[int], units: StageUnits
) -> Iterator[Tendon]:
    """The tendon at these joints, if it is enabled, and one more for its limits."""
    if ROOT + instance not in applied_schemas(joints[0]):
        raise _Left("no axis of it at the joint before")
    prefix = f"physxTendon:{instance}:"
    if not authored(joints[0], f"{prefix}tendonEnabled", True):
        return
    if any(len(bodies[at].axes) != 1 for at in members):
        raise _Left("must be at hinges and slides of one axis")
    axes = [bodies[at].axes[0] for at in members]
    slides = [axis.linear for axis in axes]
    gearings = _numbers(joints, f"{prefix}gearing") * np.where(slides, 1.0 / units.length, RADIAN)
    forces = _numbers(joints, f"{prefix}forceCoefficient") * np.where(slides, units.force, units.torque) / len(axes)
    ratio = _ratio(_efforts(bodies, members, forces), gearings)
    # positions of MuJoCo have the reference in them
    shift = float(gearings @ [axis.reference for axis in axes])
    yield from _springs(joints[0], prefix, list(zip(axes, gearings.tolist(), strict=True)), ratio, shift)


def _springs(
    root: Usd.Prim, prefix: str, path: list[tuple[Axis, float]], ratio: float, shift: float
) -> Iterator[Tendon]:
    """The spring of a tendon, with its damping, and that of its limits."""

    def value(name: str, fallback: float = 0.0) -> float:
        found = authored_number(root, f"{prefix}{name}", fallback)
        if not math.isfinite(found) and found != fallback:
            raise _Left(f"{name} = {found:g}: must be finite")
        return found

    # tendons of MuJoCo have no offset
    shift -= value("offset")
    name, rest = f"{root.GetPath()}:{prefix.split(':')[1]}", value("restLength") + shift
    ends = value("lowerLimit", -math.inf) + shift, value("upperLimit", math.inf) + shift
    stiffness = ratio * value("limitStiffness")
    yield Tendon(name, path, None, _slack(rest, rest), {each: ratio * value(each) for each in ("stiffness", "damping")})
    if stiffness and np.isfinite(ends).any():
        yield Tendon(f"{name}:limits", path, None, _slack(*ends), {"stiffness": stiffness})


def _ratio(efforts: np.ndarray, gearings: np.ndarray) -> float:
    """What efforts of a tension are, in gearings."""
    ratio = float(efforts @ gearings) / (float(gearings @ gearings) or 1.0)
    if ratio < 0.0 or np.abs(efforts - ratio * gearings).max() > _TOLERANCE * np.abs(efforts).max():
        raise _Left(
            f"its joints feel {' : '.join(f'{one:.4g}' for one in efforts)} of its tension, in another ratio than that "
            f"of the gearings, {' : '.join(f'{one:.4g}' for one in gearings)}"
        )
    return ratio


def _numbers(joints: Sequence[Usd.Prim], name: str) -> np.ndarray:
    """The number of an attribute at each joint; PhysX takes 1 where there are several."""
    values = [authored_numbers(joint, name, (1.0,)) for joint in joints]
    found = np.array([numbers[0] if len(numbers) == 1 else 1.0 for numbers in values])
    if not np.isfinite(found).all():
        raise _Left(f"{name.rpartition(':')[2]} = {found[~np.isfinite(found)][0]:g}: must be finite")
    return found


def _slack(lower: float, upper: float) -> tuple[float, float]:
    """Lengths between which a spring of MuJoCo does not pull; -1 and -1 are none to it."""
    lower, upper = max(lower, -_ENDLESS), min(upper, _ENDLESS)
    return (lower, math.nextafter(-1.0, 0.0)) if lower == upper == -1.0 else (lower, upper)


def _efforts(bodies: Sequence[Body], members: Sequence[int], forces: np.ndarray) -> np.ndarray:
    """What the axes of some bodies feel of forces about each of them, which act back at the link before the first."""
    efforts, first = forces.copy(), members[0]
    frames, directions = {first: HERE}, dict[int, np.ndarray]()
    for at, force in zip(members, forces.tolist(), strict=True):
        if at != first:
            frames[at] = frames[bodies[at].parent] @ frame_of(np.zeros(3), bodies[at].quaternion)
        own = bodies[at].axes[0]
        directions[at] = np.array(frames[at].turn.Transform(Gf.Vec3d(*own.direction.tolist())))
        before, constant = at, True
        while force and before != first:
            before = bodies[before].parent
            axis, along = bodies[before].axes[0], directions[before]
            if not constant or own.linear > axis.linear:
                raise _Left(f"what {axis.name} feels of it at {own.name} depends on the pose")
            if own.linear == axis.linear:
                efforts[members.index(before)] += force * float(along @ directions[at])
            # an axis between the two that turns one of them
            constant = axis.linear or np.abs(np.cross(along, directions[at])).max() < _TOLERANCE
    return efforts
