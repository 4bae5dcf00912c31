"""Translate a `Scene` into a MuJoCo model, and find the addresses of its joint axes."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import mujoco
import numpy as np

from ...base.errors import UnsupportedSceneError
from ...specs.linear_actuators import NO_BOUNDS
from ..scene.scene import Axis, Body, Loop, Scene, Shape, Tendon
from .address import LOCKED, NO_FORCE, OPEN_END, AxisAddress, address_of
from .fields import hard
from .model_actuators import first_control
from .standing import put_on_ground
from .user_warnings import ignore, warnings_to

_GEOMETRIES = {
    "PLANE": mujoco.mjtGeom.mjGEOM_PLANE,
    "SPHERE": mujoco.mjtGeom.mjGEOM_SPHERE,
    "CAPSULE": mujoco.mjtGeom.mjGEOM_CAPSULE,
    "ELLIPSOID": mujoco.mjtGeom.mjGEOM_ELLIPSOID,
    "CYLINDER": mujoco.mjtGeom.mjGEOM_CYLINDER,
    "BOX": mujoco.mjtGeom.mjGEOM_BOX,
    "MESH": mujoco.mjtGeom.mjGEOM_MESH,
}
# without ends, and how far apart [m] the lines are that MuJoCo draws in
_PLANE_SIZE = [0.0, 0.0, 0.1]
# names of what is added for pictures, and its colors: of the ground those of its fields and of its lines
LOOK = "#look"
_SKY, _HORIZON = [0.72, 0.82, 0.92], [0.95, 0.96, 0.97]
_GROUND = [0.80, 0.82, 0.84], [0.76, 0.78, 0.80], [0.60, 0.63, 0.66]
# how far apart [m] the two points are that a hinge that closes a loop keeps together
_HINGE_SPAN = 0.1
# a group of geometry that pictures leave out
_HIDDEN = 3
# what ends the names of the two drives of an axis
_DRIVES = ("/position", "/velocity")
# its defaults are MuJoCo's, whatever those of a file are
_PLAIN = mujoco.MjSpec()
# what ends the name of a contact sensor
CONTACT = "#contact"
# of a contact sensor: measured quantities as bits, reduction to the net force, number of results
_NET_FORCE = [1 << mujoco.mjtConDataField.mjCONDATA_FORCE.value, 3, 1]


@dataclass(frozen=True)
class DriveAddress(AxisAddress):
    """Addresses of the axes of a scene, in the order of its articulations, and of their drives and the controls."""

    position_drive: np.ndarray
    velocity_drive: np.ndarray
    position_control: np.ndarray
    velocity_control: np.ndarray


def build_model(
    scene: Scene, dt: float, contact_links: Iterable[str] = (), *, look: bool = False, movable_coms: bool = False
) -> tuple[mujoco.MjModel, DriveAddress]:
    """The compiled model of `scene`, with movable centers of mass (MuJoCo has a shorter way without), and its axes."""
    spec, names = describe_model(scene, dt, contact_links)
    if movable_coms:
        for body in spec.bodies[1:]:
            body.simple = False
    if look:
        add_look(spec)
    try:
        # warnings about a file were reported when it was read
        with warnings_to(ignore) if scene.spec is not None else contextlib.nullcontext():
            model = spec.compile()
    except ValueError as error:
        raise UnsupportedSceneError(f"MuJoCo cannot build this stage: {error}. Correct the prim it names.") from error
    axes = [axis for articulation in scene.articulations for axis in articulation.axes]
    return model, _addresses(model, [names[id(axis)] for axis in axes])


def describe_model(scene: Scene, dt: float, contact_links: Iterable[str] = ()) -> tuple[mujoco.MjSpec, dict[int, str]]:
    """Return what `scene` is in MuJoCo before it is compiled, and the name of each axis by its `id`.

    Drives are two affine actuators per axis, one on position and one on velocity, even with zero gains, so that gains
    can be set while physics runs. `scene.spec`, which MuJoCo read, gets those and sensors of contacts, and nothing
    else.
    """
    spec = mujoco.MjSpec() if scene.spec is None else scene.spec.copy()
    spec.option.timestep = dt
    # a diverged state stays visible instead of being reset silently
    spec.option.disableflags |= mujoco.mjtDisableBit.mjDSBL_AUTORESET
    names: dict[int, str] = {}
    if scene.spec is None:
        _add_scene(spec, scene, names)
    else:
        names |= {id(axis): axis.name for body in scene.bodies for axis in body.axes}
        for axis in (axis for body in scene.bodies for axis in body.axes):
            _complete_axis(spec, spec.joint(axis.name), axis)
    for path in contact_links:
        spec.add_sensor(
            name=path + CONTACT,
            type=mujoco.mjtSensor.mjSENS_CONTACT,
            objtype=mujoco.mjtObj.mjOBJ_BODY,
            objname=path,
            intprm=_NET_FORCE,
        )
    return spec, names


def _add_scene(spec: mujoco.MjSpec, scene: Scene, names: dict[int, str]) -> None:
    """Put a scene into an empty spec, and note the names of its axes."""
    spec.compiler.degree = False
    spec.compiler.autolimits = True
    spec.option.gravity = scene.gravity
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    handles = [spec.worldbody]
    for body in scene.bodies:
        handles.append(_add_body(spec, handles[body.parent + 1], body, names))
    for number, shape in enumerate(scene.shapes):
        _add_shape(spec, handles[shape.body + 1], shape, f"{shape.path}#{number}")
    for mimic in scene.mimics:
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=names[id(mimic.follower)],
            data=[*mimic.coefficients, *[0.0] * (mujoco.mjNEQDATA - len(mimic.coefficients))],
            **({} if mimic.leader is None else {"name2": names[id(mimic.leader)]}),
            **mimic.hardness,
        )
    for loop in scene.loops:
        _add_loop(spec, [handles[body + 1] for body in loop.bodies], loop)
    for tendon in scene.tendons:
        _add_tendon(spec, handles, tendon, names)
    _hold_others(spec, scene, names)
    paths = ["world", *(body.path for body in scene.bodies)]
    for a, b in scene.no_contact:
        spec.add_exclude(bodyname1=paths[a + 1], bodyname2=paths[b + 1])


def initial_state(scene: Scene, model: mujoco.MjModel) -> tuple[np.ndarray, np.ndarray]:
    """Return `(qpos, qvel)` as the stage authors them, or as a file has them and was asked to begin."""
    qpos, qvel = model.qpos0.copy(), np.zeros(model.nv)
    for name, (position, velocity) in scene.begin.items():
        place, speed = (int(first[0]) for first in (model.joint(name).qposadr, model.joint(name).dofadr))
        qpos[place : place + len(position)], qvel[speed : speed + len(velocity)] = position, velocity
    for body in scene.bodies:
        if body.kind == "free" and scene.spec is None:
            joint = model.joint(body.joint)
            qvel[joint.dofadr[0] : joint.dofadr[0] + 6] = body.velocity
        for axis in body.axes:
            joint = model.joint(_axis_name(body, axis) if scene.spec is None else axis.name)
            qpos[joint.qposadr[0]], qvel[joint.dofadr[0]] = axis.position, axis.velocity
    put_on_ground(model, qpos, scene.on_ground)
    return qpos, qvel


def _axis_name(body: Body, axis: Axis) -> str:
    """MuJoCo name of an axis, unique in the model."""
    alone = sum(other.joint == axis.joint for other in body.axes) == 1
    return axis.joint if alone else f"{axis.joint}:{axis.usd_name}"


def _add_body(spec: mujoco.MjSpec, parent: mujoco.MjsBody, body: Body, names: dict[int, str]) -> mujoco.MjsBody:
    handle = parent.add_body(name=body.path, pos=body.position, quat=body.quaternion, gravcomp=body.weightless)
    if body.mass > 0 or body.inertia.any():
        handle.explicitinertial = True
        handle.mass, handle.ipos = body.mass, body.com
        # MuJoCo would look for the principal axes less exactly
        moments, axes = np.linalg.eigh(body.inertia)
        turn = np.zeros(4)
        mujoco.mju_mat2Quat(turn, (axes * np.linalg.det(axes)).ravel())
        handle.inertia, handle.iquat = moments, turn
    if body.kind == "free":
        handle.add_freejoint(name=body.joint).armature = body.armature
    elif body.kind == "ball":
        handle.add_joint(name=body.joint, type=mujoco.mjtJoint.mjJNT_BALL, pos=body.anchor, armature=body.armature)
    for axis in body.axes:
        names[id(axis)] = _axis_name(body, axis)
        _add_axis(spec, handle, body, axis, names[id(axis)])
    return handle


def _add_axis(spec: mujoco.MjSpec, handle: mujoco.MjsBody, body: Body, axis: Axis, name: str) -> None:
    joint = handle.add_joint(
        name=name,
        type=mujoco.mjtJoint.mjJNT_SLIDE if axis.linear else mujoco.mjtJoint.mjJNT_HINGE,
        pos=axis.anchor,
        axis=axis.direction,
        armature=axis.armature,
        frictionloss=axis.friction,
        springref=axis.rest,
        springdamper=axis.springdamper,
        ref=axis.reference,
    )
    joint.damping[0], joint.stiffness[0] = axis.damping, axis.stiffness
    if axis.lower == axis.upper:
        joint.range = [axis.lower - LOCKED, axis.upper + LOCKED]
    elif math.isfinite(axis.lower) and math.isfinite(axis.upper):
        joint.range = [axis.lower, axis.upper]
    elif math.isfinite(axis.lower) or math.isfinite(axis.upper):
        joint.range = [max(axis.lower, -OPEN_END), min(axis.upper, OPEN_END)]
    if math.isfinite(axis.drive_limit):
        limit = max(axis.drive_limit, NO_FORCE)
        joint.actfrcrange = [-limit, limit]
    _complete_axis(spec, joint, axis)


def _complete_axis(spec: mujoco.MjSpec, joint: mujoco.MjsJoint, axis: Axis) -> None:
    """Make the dry friction of an axis as hard as authored, else hard, and add its drives, without gains."""
    for name, values in (axis.hardness or hard(spec.option.timestep)).items():
        setattr(joint, f"{name}_friction", values)
    for suffix, bounds in zip(_DRIVES, (axis.position_range, axis.velocity_range), strict=True):
        spec.add_actuator(
            _PLAIN.default,
            name=joint.name + suffix,
            target=joint.name,
            trntype=mujoco.mjtTrn.mjTRN_JOINT,
            biastype=mujoco.mjtBias.mjBIAS_AFFINE,
            gainprm=np.zeros(10),
            biasprm=np.zeros(10),
            **({"ctrllimited": mujoco.mjtLimited.mjLIMITED_TRUE, "ctrlrange": bounds} if bounds != NO_BOUNDS else {}),
        )


def _hold_others(spec: mujoco.MjSpec, scene: Scene, names: dict[int, str]) -> None:
    """Set the authored gains of drives outside articulations, which stay fixed."""
    robots = {id(axis) for articulation in scene.articulations for axis in articulation.axes}
    others = [axis for body in scene.bodies for axis in body.axes if id(axis) not in robots]
    for axis in others:
        name, gains = names[id(axis)], (axis.drive_stiffness, axis.drive_damping)
        targets = np.clip(
            [axis.position_target, axis.velocity_target], *np.transpose([axis.position_range, axis.velocity_range])
        )
        constants = (axis.drive_effort if any(gains) else 0.0), 0.0
        for suffix, gain, target, constant, place in zip(_DRIVES, gains, targets, constants, (1, 2), strict=True):
            bias = np.zeros(10)
            bias[0], bias[place] = gain * target + constant, -gain
            spec.actuator(name + suffix).biasprm = bias


def _add_tendon(spec: mujoco.MjSpec, handles: list[mujoco.MjsBody], tendon: Tendon, names: dict[int, str]) -> None:
    added = spec.add_tendon(name=tendon.name, springlength=tendon.rest)
    for name, value in tendon.values.items():
        place = getattr(added, name)
        if np.ndim(place):
            # newer versions have polynomials
            place[0] = value
        else:
            setattr(added, name, value)
    for name, values in tendon.hardness.items():
        setattr(added, f"{name}_friction", values)
    if tendon.limits is not None:
        added.limited, added.range = mujoco.mjtLimited.mjLIMITED_TRUE, tendon.limits
    for number, part in enumerate(tendon.path):
        if isinstance(part, tuple):
            added.wrap_joint(names[id(part[0])], part[1])
            continue
        if number:
            added.wrap_pulley(1.0)
        for point, (body, place) in enumerate(part):
            site = f"{tendon.name}/{number}.{point}"
            handles[body + 1].add_site(name=site, pos=place, group=5)
            added.wrap_site(site)


def _add_loop(spec: mujoco.MjSpec, handles: list[mujoco.MjsBody], loop: Loop) -> None:
    """A joint as constraints between sites: where they are is where they shall meet."""

    def connect(kind: object, end: str, shift: float = 0.0) -> None:
        names = [f"{loop.joint}/{side}{end}" for side in (0, 1)]
        for handle, name, (position, quaternion) in zip(handles, names, loop.frames, strict=True):
            along = np.zeros(3)
            mujoco.mju_rotVecQuat(along, np.array([0.0, 0.0, shift]), quaternion)
            handle.add_site(name=name, pos=position + along, quat=quaternion, group=5)
        spec.add_equality(
            name=f"{loop.joint}{end}",
            type=kind,
            objtype=mujoco.mjtObj.mjOBJ_SITE,
            name1=names[0],
            name2=names[1],
            **loop.hardness,
        )

    connect(mujoco.mjtEq.mjEQ_WELD if loop.kind == "fixed" else mujoco.mjtEq.mjEQ_CONNECT, "")
    if loop.kind == "hinge":
        # two points of an axis that meet are a hinge
        connect(mujoco.mjtEq.mjEQ_CONNECT, "/axis", _HINGE_SPAN)


def _add_shape(spec: mujoco.MjSpec, handle: mujoco.MjsBody, shape: Shape, name: str) -> None:
    geometry: dict[str, Any] = {"size": shape.size}
    if shape.kind == "PLANE":
        geometry = {"size": _PLANE_SIZE}
    elif shape.kind == "MESH":
        assert shape.vertices is not None and shape.faces is not None
        mesh = spec.add_mesh(name=name, uservert=shape.vertices.ravel(), userface=shape.faces.ravel())
        # flat and open meshes compile too; inertia is given per body
        mesh.inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
        geometry = {"meshname": name}
    handle.add_geom(
        name=name,
        type=_GEOMETRIES[shape.kind],
        pos=shape.position,
        quat=shape.quaternion,
        contype=shape.touches[0] if shape.collides else 0,
        conaffinity=shape.touches[1] if shape.collides else 0,
        friction=[shape.friction, 0.005, 0.0001],
        rgba=shape.color,
        group=_HIDDEN if shape.hidden else 0,
        mass=0.0,
        **geometry,
    )


def add_look(spec: mujoco.MjSpec) -> None:
    """Add sky, light and ground for rendering where the file has none; physics runs without them."""
    if not any(texture.type == mujoco.mjtTexture.mjTEXTURE_SKYBOX for texture in spec.textures):
        sky = {"builtin": mujoco.mjtBuiltin.mjBUILTIN_GRADIENT, "type": mujoco.mjtTexture.mjTEXTURE_SKYBOX}
        spec.add_texture(name=f"{LOOK}/sky", **sky, rgb1=_SKY, rgb2=_HORIZON, width=256, height=1536)
        spec.visual.rgba.haze = [*_HORIZON, 1.0]
    # light; a narrower shadow clip, and the ground would throw shadows on itself
    spec.visual.quality.shadowsize = 8192
    spec.visual.quality.offsamples = 8
    headlight, plain = spec.visual.headlight, _PLAIN.visual.headlight
    if np.array_equal([headlight.ambient, headlight.diffuse], [plain.ambient, plain.diffuse]):
        headlight.ambient, headlight.diffuse = [0.35] * 3, [0.35] * 3
    if not any(body.lights for body in spec.bodies):
        spec.visual.map.shadowclip = 3.0
        spec.worldbody.add_light(
            name=LOOK, dir=[-0.35, 0.35, -0.87], type=mujoco.mjtLightType.mjLIGHT_DIRECTIONAL, diffuse=[0.6] * 3
        )
    # the texture of the ground, for planes without a material, and a plane where there is none
    grid = {"builtin": mujoco.mjtBuiltin.mjBUILTIN_CHECKER, "mark": mujoco.mjtMark.mjMARK_EDGE}
    kind = {"type": mujoco.mjtTexture.mjTEXTURE_2D, "width": 512, "height": 512}
    spec.add_texture(name=LOOK, **grid, **kind, rgb1=_GROUND[0], rgb2=_GROUND[1], markrgb=_GROUND[2])
    roles = [""] * len(spec.add_material(name=LOOK, texuniform=True, texrepeat=[1.0, 1.0], reflectance=0.0).textures)
    roles[mujoco.mjtTextureRole.mjTEXROLE_RGB] = LOOK
    spec.material(LOOK).textures = roles
    planes = [geom for body in spec.bodies for geom in body.geoms if geom.type == mujoco.mjtGeom.mjGEOM_PLANE]
    for plane in planes:
        if not plane.material:
            plane.material, plane.rgba = LOOK, _PLAIN.default.geom.rgba
    if not planes:
        # `picture` moves it below the robots
        spec.worldbody.add_geom(
            name=LOOK, type=mujoco.mjtGeom.mjGEOM_PLANE, size=_PLANE_SIZE, material=LOOK, contype=0, conaffinity=0
        )


def _addresses(model: mujoco.MjModel, names: list[str]) -> DriveAddress:
    at = address_of(model, [model.joint(name).id for name in names])
    drives = [np.array([model.actuator(name + end).id for name in names], np.int64) for end in _DRIVES]
    # actuators of a file may have several controls, or none
    controls = [np.array([first_control(model, one) for one in drive], np.int64) for drive in drives]
    return DriveAddress(at.joint, at.position, at.velocity, *drives, *controls)
