"""What MJCF and URDF say and their converters cannot say in USD: originals that do not say it, to compare with.

Each loss changes a spec of MuJoCo to what the USD file says in place of it, and tells whether there was anything to
change. Only bodies of which the file says something else are compared with that.
"""

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import isaacsim.core.experimental.actuators.simulators.mujoco  # noqa: F401 - it chooses how MuJoCo draws, before its import
import mujoco  # noqa: TID253 - only the process of one robot imports this file
import numpy as np
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from isaacsim.core.experimental.actuators.simulators.scene.masses import Mass
from pxr import Usd

from .files import plain
from .original import NEXT_TO_NOTHING, compiled
from .second import is_close

Loss = Callable[[Any], bool]
Motion = Callable[[Any, Usd.Stage], bool]
# [kg/m³], of what has neither mass nor density in USD
DENSITY = 1000.0
# [m], of the sphere that USD takes for a mass without any shape
RADIUS = 0.1
# geoms that there is no schema for
SHAPELESS = [getattr(mujoco.mjtGeom, f"mjGEOM_{name}") for name in ("ELLIPSOID", "HFIELD", "SDF")]
# converters write them down, and what reads USD adds up triangles
MESHES = "the inertia of meshes is not that of their triangles"


def settotalmass(spec) -> bool:
    is_there = spec.compiler.settotalmass > 0
    spec.compiler.settotalmass = -1
    return is_there


def inertiagrouprange(spec) -> bool:
    low, high = spec.compiler.inertiagrouprange
    found = False
    for geom in spec.geoms:
        if not low <= geom.group <= high:
            if _collides(geom):
                found |= _weighs(geom)
            else:
                geom.mass = 0.0
    spec.compiler.inertiagrouprange = [0, 5]
    return found


def shapeless(spec) -> bool:
    found = False
    for geom in spec.geoms:
        if geom.type in SHAPELESS and _collides(geom):
            geom.mass, found = 0.0, True
    return found


def weightless(spec) -> bool:
    """Colliders have a mass or density of 0, which in USD is none that is given."""
    found = False
    for geom in spec.geoms:
        if _collides(geom) and not _weighs(geom) and geom.type not in SHAPELESS:
            geom.mass, geom.density, found = math.nan, DENSITY, True
    return found


def meshes(spec) -> bool:
    found = False
    for mesh in spec.meshes:
        found |= mesh.inertia != mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_EXACT
    return found


def massless(spec) -> bool:
    """Links have an inertial element of no mass or no inertia, which in USD is none that is given."""
    written = [body for body in spec.bodies if body.explicitinertial]
    found = [body for body in written if not (body.mass > 0.0 and (_inertia(body) > 0.0).any())]
    found = [body for body in found if body.mass > 0.0 or any(_collides(geom) for geom in body.geoms)]
    if not found:
        return False
    given = [(body.mass, np.array(body.ipos)) for body in found]
    for body in found:
        # MuJoCo takes from geoms what has no centre of mass
        body.explicitinertial, body.mass, body.ipos = False, 0.0, np.full(3, math.nan)
    alone = spec.copy()
    alone.compiler.fusestatic = False
    model = compiled(alone)
    of_geoms = masses_of(model)
    for body, (mass, com) in zip(found, given, strict=True):
        solid = of_geoms[model.body(body.name).id]
        # what is heavy by its colliders keeps the centre that is given
        mass = mass or solid.mass
        if mass <= NEXT_TO_NOTHING[0]:
            continue
        if solid.mass <= NEXT_TO_NOTHING[0]:
            inertia = 0.4 * mass * RADIUS**2 * np.eye(3)
        else:
            off = com - solid.com
            inertia = solid.inertia * (mass / solid.mass) + mass * (float(off @ off) * np.eye(3) - np.outer(off, off))
        body.explicitinertial, body.mass, body.ipos = True, mass, com
        body.fullinertia = [*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2]]
        # a thin plate is on the edge of what MuJoCo takes for an inertia
        spec.compiler.balanceinertia = True
    return True


LOSSES: dict[str, Loss] = {
    "settotalmass": settotalmass,
    "inertiagrouprange": inertiagrouprange,
    "ellipsoids and height fields": shapeless,
    "colliders of mass 0": weightless,
    "links of mass or inertia 0": massless,
    MESHES: meshes,
}


def without(names: Sequence[str]) -> Callable[[Any], None]:
    """A change of a spec: what some losses leave of it, each link a body of its own."""

    def change(spec) -> None:
        spec.compiler.fusestatic = False
        for name in names:
            LOSSES[name](spec)

    return change


def tendon_equalities(spec, stage: Usd.Stage) -> bool:
    found = [one for one in spec.equalities if one.type == mujoco.mjtEq.mjEQ_TENDON]
    if any("EqualityTendon" in schema for prim in stage.Traverse() for schema in applied_schemas(prim)):
        return False
    for one in found:
        spec.delete(one)
    return bool(found)


def poses_of_welds(spec, stage: Usd.Stage) -> bool:
    joints = {}
    for prim in stage.Traverse():
        if "MjcEqualityWeldAPI" in applied_schemas(prim):
            ends = [prim.GetRelationship(f"physics:body{end}").GetTargets() for end in (0, 1)]
            named = [stage.GetPrimAtPath(end[0]) if end else None for end in ends]
            joints[tuple(body and plain(body.GetDisplayName() or body.GetName()) for body in named)] = prim
    found = False
    model = compiled(spec.copy())
    for number, one in enumerate(spec.equalities):
        prim = joints.get((plain(one.name1), plain(one.name2)))
        if prim is None or one.type != mujoco.mjtEq.mjEQ_WELD:
            continue
        places = [np.array(prim.GetAttribute(f"physics:localPos{end}").Get(), float) for end in (0, 1)]
        turns = [prim.GetAttribute(f"physics:localRot{end}").Get() for end in (0, 1)]
        turns = [np.array([turn.GetReal(), *turn.GetImaginary()], float) for turn in turns]
        place, turn = np.zeros(3), np.zeros(4)
        back, mirrored = np.zeros(3), np.zeros(4)
        mujoco.mju_negPose(back, mirrored, places[1], turns[1])
        mujoco.mju_mulPose(place, turn, places[0], turns[0], back, mirrored)
        now = model.eq_data[number]
        found |= bool(np.abs(now[3:6] - place).max() > 1e-4 or 1.0 - abs(now[6:10] @ turn) > 1e-6)
        one.data[0:3], one.data[3:6], one.data[6:10] = places[1], place, turn
    return found


MOTIONS: dict[str, Motion] = {"tendon equalities": tendon_equalities, "poses of welds": poses_of_welds}


def masses_of(model) -> list[Mass]:
    masses = []
    for body in range(model.nbody):
        turn = np.zeros(9)
        mujoco.mju_quat2Mat(turn, model.body_iquat[body])
        turn = turn.reshape(3, 3)
        inertia = turn @ np.diag(model.body_inertia[body]) @ turn.T
        masses.append(Mass(float(model.body_mass[body]), model.body_ipos[body].copy(), inertia))
    return masses


def transplant(model, masses: dict[int, Mass]) -> None:
    """Give bodies of a model other masses; MuJoCo would refuse some inertias in a file."""
    for body, mass in masses.items():
        moments, axes = np.linalg.eigh(mass.inertia)
        axes[:, 0] *= np.linalg.det(axes)
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, axes.ravel())
        model.body_mass[body], model.body_ipos[body] = mass.mass, mass.com
        model.body_inertia[body], model.body_iquat[body] = moments, turn
    # MuJoCo takes bodies for simple whose mass matrix is diagonal in their joints, which held for the others
    model.body_sameframe[:] = 0
    model.body_simple[:] = 0
    model.dof_simplenum[:] = 0


def reasons(spec, due: dict[int, Mass]) -> dict[int, tuple[str, ...]]:
    """The least to be taken from an original for the masses of the file, by body; bodies without are missing."""
    spec, known = spec.copy(), dict[tuple[str, ...], list[Mass]]()
    spec.compiler.fusestatic = False

    def left(names: tuple[str, ...]) -> list[Mass]:
        if names not in known:
            changed = spec.copy()
            without(names)(changed)
            known[names] = masses_of(compiled(changed))
        return known[names]

    applies = tuple(name for name, loss in LOSSES.items() if loss(spec.copy()))
    found = {
        body: next((names for names in some_of(applies, least=1) if is_close(left(names)[body], mass, 1e-3)), ())
        for body, mass in due.items()
    }
    return {body: names for body, names in found.items() if names}


def some_of(names: tuple[str, ...], least: int) -> Iterator[tuple[str, ...]]:
    for count in range(least, len(names) + 1):
        yield from itertools.combinations(names, count)


def _collides(geom) -> bool:
    return bool(geom.contype or geom.conaffinity)


def _weighs(geom) -> bool:
    return bool(geom.mass > 0.0 or (math.isnan(geom.mass) and geom.density > 0.0))


def _inertia(body) -> np.ndarray:
    full = np.array(body.fullinertia)
    return full[:3] if not np.isnan(full[0]) else np.array(body.inertia)
