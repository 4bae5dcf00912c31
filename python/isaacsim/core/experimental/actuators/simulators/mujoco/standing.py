"""Initial state of robots of an MJCF or URDF file: floating base, ground and keyframe."""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import mujoco
import numpy as np

from ...specs.arguments import whole_of

# the name of a ground that is added
GROUND = "#ground"
# how far apart [m] a robot and the ground may be
_FAR = 1e6
# numbers of a joint among positions and velocities, as `mjtJoint` numbers them
_SIZES = ((7, 6), (4, 3), (1, 1), (1, 1))
_HINGES_AND_SLIDES = (mujoco.mjtJoint.mjJNT_HINGE, mujoco.mjtJoint.mjJNT_SLIDE)

Start = dict[str, tuple[np.ndarray, np.ndarray]]


@dataclass(frozen=True)
class Standing:
    """Additions of `Simulation` to a file; see its arguments."""

    floating_base: bool = False
    fixed_base: bool = False
    ground: bool = False
    keyframe: str | int | None = None
    initial_positions: Mapping[str, float] = field(default_factory=dict)


def free_bases(path: Path, spec: mujoco.MjSpec) -> list[str]:
    """Give robots with fixed bases free joints; return their root bodies. A `ValueError` names one on a joint."""
    freed = []
    for body in spec.worldbody.bodies:
        kinds = [joint.type for joint in body.joints]
        moving = any(joint.type in _HINGES_AND_SLIDES for joint in body.find_all(mujoco.mjtObj.mjOBJ_JOINT))
        if mujoco.mjtJoint.mjJNT_FREE in kinds or not moving:
            continue
        if kinds:
            raise ValueError(
                f"floating_base = True: body {body.name!r} of {path} must have no joint to the world, but has "
                f"{body.joints[0].name!r}. Take the joint out of the file, or leave floating_base out."
            )
        body.add_freejoint(name=f"{body.name}/freejoint")
        freed.append(body.name)
    return freed


def fix_bases(spec: mujoco.MjSpec, begin: Start) -> None:
    """Take the free joint from each robot with a floating base, which stays where it begins."""
    for joint in list(spec.joints):
        body = joint.parent
        if joint.type == mujoco.mjtJoint.mjJNT_FREE and len(body.find_all(mujoco.mjtObj.mjOBJ_JOINT)) > 1:
            pose = begin.pop(joint.name, ([*body.pos, *body.quat],))[0]
            body.pos, body.quat = pose[:3], pose[3:]
            spec.delete(joint)


def add_ground(path: Path, spec: mujoco.MjSpec) -> None:
    """Add a horizontal plane at height 0 that touches all that collides; a `ValueError` if the world has a plane."""
    plane = mujoco.mjtGeom.mjGEOM_PLANE
    if any(geom.type == plane for geom in spec.worldbody.geoms):
        raise ValueError(f"ground = True: {path} must have no plane of its own, and has one. Leave ground out.")
    everything = np.iinfo(np.int32).max
    spec.worldbody.add_geom(
        mujoco.MjSpec().default,
        name=GROUND,
        type=plane,
        size=[0.0, 0.0, 0.1],
        contype=everything,
        conaffinity=everything,
    )


def keyframe_of(path: Path, spec: mujoco.MjSpec, model: mujoco.MjModel, key: str | int) -> Start:
    """Positions and velocities of a keyframe by the name of each joint; a `ValueError` if the file has none such."""
    names = [model.key(number).name or number for number in range(model.nkey)]
    number = names.index(key) if key in names else -1
    if not isinstance(key, str):
        number = whole_of("keyframe", key)
    if not 0 <= number < model.nkey:
        rule = f"must be one of {', '.join(map(repr, names))}, or a number below {model.nkey}. Correct it."
        none = f"must be in the file, and {path} has no keyframes. Give initial_positions instead."
        raise ValueError(f"keyframe = {key!r}: {rule if names else none}")
    start: Start = {}
    for joint in spec.joints:
        sizes = _SIZES[int(joint.type)]
        first = int(model.jnt_qposadr[joint.id]), int(model.jnt_dofadr[joint.id])
        position = model.key_qpos[number, first[0] : first[0] + sizes[0]].copy()
        start[joint.name] = position, model.key_qvel[number, first[1] : first[1] + sizes[1]].copy()
    return start


def put_on_ground(model: mujoco.MjModel, qpos: np.ndarray, roots: Sequence[str]) -> None:
    """Move floating robots up or down until the lowest thing of each that collides touches the added ground."""
    if not roots:
        return
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    ground = model.geom(GROUND).id
    colliding = np.flatnonzero(model.geom_contype | model.geom_conaffinity)
    for root in roots:
        body = model.body(root)
        own = colliding[model.body_rootid[model.geom_bodyid[colliding]] == body.id]
        if own.size:
            heights = [mujoco.mj_geomDistance(model, data, ground, geom, _FAR, None) for geom in own.tolist()]
            qpos[model.jnt_qposadr[body.jntadr[0]] + 2] -= min(heights)
