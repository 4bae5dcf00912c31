"""The whole scene of a file that MuJoCo's own parser read, as plain data, and descriptions of what is lost."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

import mujoco
import numpy as np

from ...base.errors import UnsupportedSceneError, listed
from ...specs.arguments import DEFAULT_DT
from ...specs.linear_actuators import NO_BOUNDS
from ..scene.scene import Articulation, Axis, Loop, Mimic, Scene, Shape
from .address import SOFTNESS, element_name
from .model import initial_state
from .user_warnings import ignore, warnings_to

_KINDS = {
    int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")): kind
    for kind in ("PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH")
}
_LOOPS = {int(mujoco.mjtEq.mjEQ_CONNECT): "ball", int(mujoco.mjtEq.mjEQ_WELD): "fixed"}
_FREE, _BALL = int(mujoco.mjtJoint.mjJNT_FREE), int(mujoco.mjtJoint.mjJNT_BALL)
# groups of geometry from here on are not drawn
_HIDDEN = 3
# what MuJoCo calls a model without a name
_NAMELESS = ("", "MuJoCo Model")


def whole_scene(scene: Scene) -> tuple[Scene, list[str]]:
    """A scene completed from its `MjSpec`, and losses; an `UnsupportedSceneError` for a ball joint beside others."""
    # warnings were reported when the file was read
    with warnings_to(ignore), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = scene.spec.copy().compile()
    balls = {int(body) for body in model.jnt_bodyid[model.jnt_type == _BALL]}
    if mixed := [model.body(body).name for body in sorted(balls) if model.body_jntnum[body] > 1]:
        raise UnsupportedSceneError(
            f"bodies {listed(mixed)} have a ball joint beside others: USD has no such joint. Put a body between the "
            "joints."
        )
    axes = {axis.name: axis for body in scene.bodies for axis in body.axes}
    mimics, not_followed = _with_one_leader(list(_mimics(model, axes)))
    start = initial_state(scene, model)
    bodies = [
        replace(
            body,
            weightless=float(model.body_gravcomp[number]),
            armature=_armature(model, number),
            **(_beginning(model, number, *start) if body.kind == "free" else {}),
        )
        for number, body in enumerate(scene.bodies, 1)
    ]
    whole = replace(
        scene,
        gravity=np.zeros(3) if _is_off(model, mujoco.mjtDisableBit.mjDSBL_GRAVITY) else scene.gravity,
        bodies=bodies,
        shapes=list(_shapes(model)),
        mimics=mimics,
        loops=list(_loops(model)),
        articulations=_named(scene, model),
        no_contact=sorted(_apart(model)),
        spec=None,
    )
    return whole, [*not_followed, *_outside_robots(whole), *losses_of(scene, model)]


def _armature(model: mujoco.MjModel, body: int) -> float:
    """Armature of a body's free or ball joint."""
    joint = int(model.body_jntadr[body])
    if joint < 0 or int(model.jnt_type[joint]) not in (_FREE, _BALL):
        return 0.0
    return float(model.dof_armature[model.jnt_dofadr[joint]])


def _beginning(model: mujoco.MjModel, body: int, qpos: np.ndarray, qvel: np.ndarray) -> dict[str, np.ndarray]:
    """Initial pose and velocity of a free body."""
    joint = int(model.body_jntadr[body])
    place, speed = int(model.jnt_qposadr[joint]), int(model.jnt_dofadr[joint])
    pose = qpos[place : place + 7]
    return {"position": pose[:3], "quaternion": pose[3:], "velocity": qvel[speed : speed + 6]}


def _is_off(model: mujoco.MjModel, flag: mujoco.mjtDisableBit) -> bool:
    return bool(model.opt.disableflags & int(flag))


def _named(scene: Scene, model: mujoco.MjModel) -> list[Articulation]:
    """The robots; one that is alone has the name of the model, where it has one."""
    name = model.names[: model.names.index(b"\0")].decode()
    if len(scene.articulations) != 1 or name in _NAMELESS:
        return scene.articulations
    return [replace(scene.articulations[0], path=f"/{name.strip('/')}")]


def _shapes(model: mujoco.MjModel) -> Iterator[Shape]:
    meshes: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    touching = not _is_off(model, mujoco.mjtDisableBit.mjDSBL_CONTACT)
    for geom in range(model.ngeom):
        if (kind := _KINDS.get(int(model.geom_type[geom]))) is None:
            continue
        vertices, faces = None, None
        name = model.geom(geom).name
        if kind == "MESH":
            mesh = int(model.geom_dataid[geom])
            vertices, faces = meshes.setdefault(mesh, _mesh(model, mesh))
            name = name or model.mesh(mesh).name
        touches = int(model.geom_contype[geom]), int(model.geom_conaffinity[geom])
        material = int(model.geom_matid[geom])
        color = model.geom_rgba[geom] if material < 0 else model.mat_rgba[material]
        yield Shape(
            path=name or kind.lower(),
            body=int(model.geom_bodyid[geom]) - 1,
            kind=kind,
            size=model.geom_size[geom].copy(),
            position=model.geom_pos[geom].copy(),
            quaternion=model.geom_quat[geom].copy(),
            collides=touching and any(touches),
            friction=float(model.geom_friction[geom, 0]),
            color=tuple(color.tolist()),
            vertices=vertices,
            faces=faces,
            touches=touches,
            hidden=bool(model.geom_group[geom] >= _HIDDEN),
        )


def _mesh(model: mujoco.MjModel, mesh: int) -> tuple[np.ndarray, np.ndarray]:
    start, count = model.mesh_vertadr[mesh], model.mesh_vertnum[mesh]
    first, faces = model.mesh_faceadr[mesh], model.mesh_facenum[mesh]
    return model.mesh_vert[start : start + count].astype(float), model.mesh_face[first : first + faces].copy()


def _hardness(model: mujoco.MjModel, equality: int) -> dict[str, list[float]]:
    return {"solref": model.eq_solref[equality].tolist(), "solimp": model.eq_solimp[equality].tolist()}


def _active(model: mujoco.MjModel, kinds: Iterable[int]) -> Iterator[int]:
    """Equality constraints of some kinds that hold at the beginning."""
    return (at for at in range(model.neq) if int(model.eq_type[at]) in kinds and model.eq_active0[at])


def _mimics(model: mujoco.MjModel, axes: dict[str, Axis]) -> Iterator[Mimic]:
    for equality in _active(model, [int(mujoco.mjtEq.mjEQ_JOINT)]):
        follower, leader = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        if leader >= 0:
            pair = axes[model.joint(follower).name], axes[model.joint(leader).name]
            yield Mimic(*pair, tuple(model.eq_data[equality, :5].tolist()), _hardness(model, equality))


def _with_one_leader(mimics: Sequence[Mimic]) -> tuple[list[Mimic], list[str]]:
    """Couplings with at most one leader per joint, straight lines turned where it helps, and notes on the rest."""
    followers: dict[int, int] = {}
    turned: dict[int, Mimic] = {at: other for at, one in enumerate(mimics) if (other := _turned(one)) is not None}

    def is_placed(at: int, tried: set[int]) -> bool:
        """Find a joint that follows by this coupling, and other ones for those before, as a maximal matching."""
        for one in filter(None, (mimics[at], turned.get(at))):
            follower = id(one.follower)
            if follower not in tried:
                tried.add(follower)
                if follower not in followers or is_placed(followers[follower], tried):
                    followers[follower] = at
                    return True
        return False

    left = [mimics[at] for at in range(len(mimics)) if not is_placed(at, set())]
    kept = dict(zip(followers.values(), followers, strict=True))
    names = [f"{one.follower.name} of {one.leader.name}" for one in left if one.leader is not None]
    note = [f"couplings of joints that follow several others: {', '.join(names)}"] if names else []
    return [mimics[at] if id(mimics[at].follower) == kept[at] else turned[at] for at in sorted(kept)], note


def _turned(mimic: Mimic) -> Mimic | None:
    """The same coupling with the leader as the one that follows; None if it is no straight line."""
    first, slope, *powers = mimic.coefficients
    if mimic.leader is None or not slope or any(powers):
        return None
    return Mimic(mimic.leader, mimic.follower, (-first / slope, 1 / slope, 0.0, 0.0, 0.0), mimic.hardness)


def _loops(model: mujoco.MjModel) -> Iterator[Loop]:
    """Constraints that connect or weld two bodies."""
    for equality in _active(model, _LOOPS):
        kind = _LOOPS[int(model.eq_type[equality])]
        ends = int(model.eq_obj1id[equality]), int(model.eq_obj2id[equality])
        # frames in the two bodies that meet, as MuJoCo keeps them in `eq_data`
        data, still = model.eq_data[equality].copy(), np.array([1.0, 0.0, 0.0, 0.0])
        bodies, frames = ends, ((data[3:6], data[6:10]), (data[:3], still))
        if kind == "ball":
            frames = (data[:3], still), (data[3:6], still)
        if int(model.eq_objtype[equality]) == int(mujoco.mjtObj.mjOBJ_SITE):
            bodies = tuple(int(model.site_bodyid[site]) for site in ends)
            first, second = ((model.site_pos[site].copy(), model.site_quat[site].copy()) for site in ends)
            frames = first, second
        name = model.equality(equality).name or f"{kind}_{equality}"
        yield Loop(name, kind, (bodies[0] - 1, bodies[1] - 1), frames, _hardness(model, equality))


def _outside_robots(scene: Scene) -> list[str]:
    """Note about constraints between bodies outside robots, which readers of USD take for joints of a tree."""
    owned = {-1, *(body for robot in scene.articulations for body in robot.bodies)}
    names = [loop.joint for loop in scene.loops if not owned.issuperset(loop.bodies)]
    return [f"constraints of bodies outside robots, which become joints: {', '.join(names)}"] if names else []


def _apart(model: mujoco.MjModel) -> Iterator[tuple[int, int]]:
    """Pairs of bodies without contact: excluded, welded, or joined. Static bodies touch all; -1 is the world."""
    group = model.body_weldid.tolist()
    moving = set(group) - {0}
    # groups of welded bodies without contact in themselves or with each other; group 0 is all that is static
    apart = {frozenset((number,)) for number in moving}
    if not _is_off(model, mujoco.mjtDisableBit.mjDSBL_FILTERPARENT):
        parents = {number: group[int(model.body_parentid[number])] for number in moving}
        apart |= {frozenset(pair) for pair in parents.items() if pair[1]}
    excluded = {frozenset(((int(at) >> 16), int(at) & 0xFFFF)) for at in model.exclude_signature}
    for a, b in itertools.combinations(range(model.nbody), 2):
        if frozenset((group[a], group[b])) in apart or frozenset((a, b)) in excluded:
            yield a - 1, b - 1


# what of a model has names and no place on a stage
_OTHERS = {
    "actuators": ("actuator", "nu"),
    "tendons": ("tendon", "ntendon"),
    "sensors": ("sensor", "nsensor"),
    "keyframes": ("key", "nkey"),
    "cameras": ("camera", "ncam"),
    "lights": ("light", "nlight"),
    "sites": ("site", "nsite"),
    "materials, but for their colors": ("material", "nmat"),
    "skins": ("skin", "nskin"),
    "what bends": ("flex", "nflex"),
    "pairs of shapes with contacts of their own": ("pair", "npair"),
}
_EQUALITIES = [int(getattr(mujoco.mjtEq, f"mjEQ_{kind}")) for kind in ("CONNECT", "WELD", "JOINT")]
_SHAPES = [int(getattr(mujoco.mjtGeom, f"mjGEOM_{kind}")) for kind in ("HFIELD", "SDF")]
_SINGLE = int(mujoco.mjtJoint.mjJNT_SLIDE), int(mujoco.mjtJoint.mjJNT_HINGE)

# options with MuJoCo's defaults, and the integrator that a stage gets
_DEFAULTS: mujoco.MjModel = mujoco.MjSpec().compile()
_OPTIONS = ("cone", "impratio", "wind", "density", "viscosity", "magnetic", "enableflags")
_OF_CONTACTS = ("solref", "solimp", "margin", "gap", "condim", "priority", "solmix")


def losses_of(scene: Scene, model: mujoco.MjModel) -> list[str]:
    """What a stage of a file's scene will lack of its model, each with the names of what lacks it."""
    lost = _of_joints(scene, model)
    lost |= {what: _names(model, kind, range(getattr(model, count))) for what, (kind, count) in _OTHERS.items()}
    # constraints that are no joint of a stage, a joint that is held at a position among them, or that are off
    held = (model.eq_type == int(mujoco.mjtEq.mjEQ_JOINT)) & (model.eq_obj2id < 0)
    others = ~np.isin(model.eq_type, _EQUALITIES) | ~model.eq_active0.astype(bool) | held
    lost["constraints"] = _names(model, "equality", np.flatnonzero(others))
    lost["shapes of kinds that USD lacks"] = _names(model, "geom", np.flatnonzero(np.isin(model.geom_type, _SHAPES)))
    plain = mujoco.MjSpec().default.geom
    usual = {name: getattr(plain, name) for name in _OF_CONTACTS}
    touching = []
    for geom in np.flatnonzero(model.geom_contype | model.geom_conaffinity):
        values = {name: getattr(model, f"geom_{name}")[geom] for name in _OF_CONTACTS}
        other = any(not np.allclose(values[name], usual[name]) for name in _OF_CONTACTS)
        if other or not np.allclose(model.geom_friction[geom, 1:], plain.friction[1:]):
            touching.append(geom)
    lost["contact parameters of shapes (all but sliding friction)"] = _names(model, "geom", touching)
    lost["options"] = _options(model)
    return [f"{what}: {', '.join(names)}" for what, names in lost.items() if names]


def _names(model: mujoco.MjModel, kind: str, numbers: Iterable[int]) -> list[str]:
    return [element_name(model, kind, at) for at in numbers]


def _of_joints(scene: Scene, model: mujoco.MjModel) -> dict[str, list[str]]:
    """Names of the joints that lose something, by what they lose."""
    by_test = {
        "limits, friction, damping and springs of ball and free joints": _has_passive,
        "lower effort limits that are not the upper ones": _is_one_sided,
        "how hard limits of joints are": _has_soft_limits,
        "damping and springs that grow": _has_powers,
    }
    lost = {
        what: _names(model, "joint", [joint for joint in range(model.njnt) if loses(model, joint)])
        for what, loses in by_test.items()
    }
    lost["how ball joints begin"] = [name for name in scene.begin if model.joint(name).type[0] == _BALL]
    axes = [axis for body in scene.bodies for axis in body.axes]
    lost["ranges of the targets of drives"] = [
        axis.name for axis in axes if (axis.position_range, axis.velocity_range) != (NO_BOUNDS, NO_BOUNDS)
    ]
    return lost


def _is_one_sided(model: mujoco.MjModel, joint: int) -> bool:
    """True if the effort limits of a joint differ in magnitude."""
    return bool(model.jnt_actfrclimited[joint]) and np.sum(model.jnt_actfrcrange[joint]) != 0.0


def _has_soft_limits(model: mujoco.MjModel, joint: int) -> bool:
    """True if the limits of a joint have other solver parameters than MuJoCo's defaults."""
    usual = {"solref": SOFTNESS["solref"], "solimp": SOFTNESS["solimp"], "margin": 0.0}
    fields = ((getattr(model, f"jnt_{name}")[joint], values) for name, values in usual.items())
    return bool(model.jnt_limited[joint]) and any(not np.allclose(field, values) for field, values in fields)


def _has_passive(model: mujoco.MjModel, joint: int) -> bool:
    """True if a ball or free joint has limits, friction, damping or a spring."""
    if model.jnt_type[joint] in _SINGLE:
        return False
    first = int(model.jnt_dofadr[joint])
    dofs = slice(first, first + (3 if model.jnt_type[joint] == _BALL else 6))
    fields = (model.dof_frictionloss[dofs], model.dof_damping[dofs])
    return bool(model.jnt_limited[joint]) or any(np.any(field) for field in (*fields, model.jnt_stiffness[joint]))


def _has_powers(model: mujoco.MjModel, joint: int) -> bool:
    """True if damping or a spring of a joint is a polynomial, as newer versions allow."""
    for field, at in (("dof_damping", model.jnt_dofadr[joint]), ("jnt_stiffness", joint)):
        polynomial = getattr(model, f"{field}poly", None)
        if np.any(np.ravel(getattr(model, field)[at])[1:]) or (polynomial is not None and np.any(polynomial[at])):
            return True
    return False


def _options(model: mujoco.MjModel) -> list[str]:
    """Options of the file, with their values, that are not those that a stage is simulated with."""
    found = []
    if not np.isclose(model.opt.timestep, DEFAULT_DT):
        found.append(f"timestep {model.opt.timestep:g} s (open the stage with dt={model.opt.timestep:g})")
    if model.opt.integrator != int(mujoco.mjtIntegrator.mjINT_IMPLICITFAST):
        found.append(f"integrator {mujoco.mjtIntegrator(model.opt.integrator).name.removeprefix('mjINT_').lower()}")
    for name in _OPTIONS:
        value = getattr(model.opt, name)
        if not np.allclose(value, getattr(_DEFAULTS.opt, name)):
            found.append(f"{name} {np.array(value).tolist()}")
    if flags := int(model.opt.disableflags) & ~int(mujoco.mjtDisableBit.mjDSBL_GRAVITY):
        known = [bit for bit in mujoco.mjtDisableBit.__members__.values() if flags & int(bit)]
        found += [f"{bit.name.removeprefix('mjDSBL_').lower()} off" for bit in known if int(bit) < 2**31]
    return found
