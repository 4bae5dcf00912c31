"""MJCF and URDF files, read by MuJoCo's own parser, as a `Scene` beside the `MjSpec` of the parser.

Actuators that a joint drive can replace become the drive of their joint. All others stay as the file has them, and are
silent while a motor of ours drives their joint.
"""

# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import re
import warnings
import xml.etree.ElementTree as ET
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import mujoco
import numpy as np

from ...base.errors import UnsupportedSceneError
from ...base.values import grouped
from ...specs.arguments import DEFAULT_DT, ROBOT_FILES
from ...specs.linear_actuators import Law, target_ranges
from ...specs.linkage import LinkageConfig
from ...specs.motors import MotorConfig
from ...specs.transmission import as_read
from ...specs.two_values import are_same, contradiction
from ..rotations import matrices
from ..scene.inertias import SCREW
from ..scene.scene import NAMELESS, OFF, Articulation, Axis, Body, Scene, begin_at, warn_of_beginnings
from .model_actuators import gear_of, laws_by_joint, motor_of_joint, own_actuators, read_motors, with_names
from .standing import Standing, Start, add_ground, fix_bases, free_bases, keyframe_of
from .urdf import BeforeJoint, Urdf, prepare, stages_of
from .user_warnings import ignore, warnings_to

_Read = TypeVar("_Read")

# errors of MuJoCo about a link without mass and about a flat mesh, with their names
_MASSLESS, _FLAT = r"mass and inertia of moving bodies.*\n.*name '(.*?)'", r"mesh '(.*?)' has coplanar vertices"
# as `mjtJoint` numbers them
_KINDS = ("free", "ball", "axes", "axes")


def read_file(path: Path, *, strict_inertia: bool = False, standing: Standing | None = None) -> Scene:
    """The scene of an MJCF or URDF file, with additions; every child of the world that something moves is a robot.

    `strict_inertia` raises for physically impossible inertias of a URDF file instead of repairing them, as MuJoCo
    always does for MJCF. A `FileNotFoundError`, a `ValueError` for an addition that does not fit, an
    `UnsupportedSceneError` for an element that MuJoCo cannot read. Warnings name actuators that are no joint drive, and
    repaired links.
    """
    if not path.is_file():
        raise FileNotFoundError(f"{path}: no such file. Give the path of {ROBOT_FILES}.")
    urdf = _urdf(path, strict_inertia)
    standing = standing or Standing()
    with _reporting_warnings(path):
        found = _read_mjcf(path, standing) if urdf is None else _read_urdf(path, urdf, standing)
    spec, model, begin, freed = found
    _name_all(spec)
    laws, not_drives = _drives(model)
    actuators = _other_actuators(spec, model, laws)
    _warn_of_others(path, not_drives, itertools.chain(*actuators.values()))
    fresh = spec if any((urdf, freed, standing.fixed_base)) else _read_again(path, spec)
    _replace_actuators(spec, fresh, model, laws)
    bodies = _bodies(spec, model, laws)
    if urdf is None:
        motors, not_in_motors = read_motors(model, in_engine=True)
        two_values = list(_unread_masses(spec, model))
    else:
        motors, not_in_motors = _urdf_motors(spec, model, urdf)
        two_values = urdf.two_values
        _complete_bodies(bodies, urdf)
        # URDF states no height of the base
        freed = [body.path for body in bodies if body.kind == "free"]
    _begin(path, model, bodies, begin, standing)
    on_ground: list[str] = []
    # adding an element renumbers the others
    if standing.ground:
        add_ground(path, fresh)
        on_ground = freed
    return Scene(
        gravity=np.array(model.opt.gravity),
        bodies=bodies,
        shapes=[],
        mimics=[],
        loops=[],
        tendons=[],
        articulations=_articulations(bodies),
        no_contact=[],
        spec=fresh,
        actuators=actuators,
        motors=motors,
        not_in_motors=not_in_motors,
        two_values=two_values,
        begin=begin,
        on_ground=on_ground,
    )


def _warn_of_others(path: Path, not_drives: Sequence[str], replaced: Iterable[str]) -> None:
    """Warn of actuators that are no drives, those that motors replace apart from the others."""
    beginnings = tuple(f"{name!r} (" for name in replaced)
    ways = {
        True: f"with motors: those of `actuators export {path.name} --to yaml -o motors.yaml`, in `--config`",
        False: "with motors of your own",
    }
    for of_motors, way in ways.items():
        if some := [one for one in not_drives if one.startswith(beginnings) == of_motors]:
            warnings.warn(
                f"{path}: actuators that no joint drive stands for: {', '.join(some)}. They stay as the file has "
                f"them, with control 0; take them out of the file, or drive their joints {way}.",
                stacklevel=5,
            )


def _unread_masses(spec: mujoco.MjSpec, model: mujoco.MjModel) -> Iterator[str]:
    """Masses of `<inertial>` elements that those of shapes replace by `inertiafromgeom`, one line each."""
    if spec.compiler.inertiafromgeom != mujoco.mjtInertiaFromGeom.mjINERTIAFROMGEOM_TRUE:
        return
    for body in spec.bodies:
        stated, read = float(body.mass), float(model.body_mass[body.id])
        if body.explicitinertial and not are_same(stated, read):
            used = f": its mass by shapes = {read:g}, as inertiafromgeom has it,"
            yield contradiction(body.name, used, f"that of its <inertial> = {stated:g}", read, stated)


def _read_mjcf(path: Path, standing: Standing) -> tuple[mujoco.MjSpec, mujoco.MjModel, Start, list[str]]:
    """Spec and model of an MJCF file, the state of the requested keyframe, and the root bodies made floating."""
    spec = _parsed(path, lambda: mujoco.MjSpec.from_file(str(path)))
    model = _parsed(path, spec.compile)
    _name_all(spec)
    begin = {} if standing.keyframe is None else keyframe_of(path, spec, model, standing.keyframe)
    freed = free_bases(path, spec) if standing.floating_base else []
    if standing.fixed_base:
        fix_bases(spec, begin)
    if freed or standing.fixed_base:
        # keyframes are of other joints
        for key in list(spec.keys):
            spec.delete(key)
        model = _parsed(path, spec.compile)
    return spec, model, begin, freed


def _read_again(path: Path, spec: mujoco.MjSpec) -> mujoco.MjSpec:
    """An MJCF file before compilation, with the names of a compiled spec, whose copies would copy all meshes."""
    again = mujoco.MjSpec.from_file(str(path))
    for kind in ("bodies", "joints", "actuators"):
        for element, named in itertools.zip_longest(getattr(again, kind), getattr(spec, kind)):
            if element is None or named is None or element.name not in ("", named.name):
                # parts of it are in another order before
                return spec
            if not element.name:
                element.name = named.name
    return again


def _read_urdf(path: Path, urdf: Urdf, standing: Standing) -> tuple[mujoco.MjSpec, mujoco.MjModel, Start, list[str]]:
    """As `_read_mjcf`, of a URDF file, which has no keyframes."""
    if standing.keyframe is not None:
        raise ValueError(
            f"keyframe = {standing.keyframe!r}: must be in the file, and URDF has none ({path}). Give "
            "initial_positions instead."
        )
    spec = _parsed(path, lambda: mujoco.MjSpec.from_string(urdf.xml, assets=urdf.meshes))
    # options and mimic joints, which MuJoCo does not read of a URDF file
    spec.option.timestep = DEFAULT_DT
    spec.option.integrator = mujoco.mjtIntegrator.mjINT_IMPLICITFAST
    for follower, leader, offset, ratio in urdf.mimics:
        spec.add_equality(
            type=mujoco.mjtEq.mjEQ_JOINT,
            objtype=mujoco.mjtObj.mjOBJ_JOINT,
            name1=follower,
            name2=leader,
            data=[offset, ratio, *[0.0] * (mujoco.mjNEQDATA - 2)],
        )
    _complete_links(spec, urdf)
    if standing.floating_base:
        free_bases(path, spec)
    if standing.fixed_base:
        fix_bases(spec, {})
    model = _compiled(path, spec)
    # exclude contacts of links with static links they are joined to, which MuJoCo does not exclude by itself
    static = (1 + np.flatnonzero((model.body_weldid[1:] == 0) & (model.body_geomnum[1:] != 0))).tolist()
    for body in range(1, model.nbody):
        if model.body_weldid[body] == body and model.body_weldid[model.body_parentid[body]] == 0:
            for other in static:
                spec.add_exclude(bodyname1=model.body(body).name, bodyname2=model.body(other).name)
    return spec, model, {}, []


def _urdf_motors(spec: mujoco.MjSpec, model: mujoco.MjModel, urdf: Urdf) -> tuple[dict[str, MotorConfig], list[str]]:
    """Motors without a control law for the joints of a URDF file that follow no other, and of what is to be warned."""
    followers = {follower for follower, *_ in urdf.mimics}
    joints = [joint for joint in spec.joints if _KINDS[int(joint.type)] == "axes" and joint.name not in followers]
    stages, problems = stages_of(urdf.transmissions, [joint.name for joint in joints])
    motors: dict[str, MotorConfig] = {}
    for joint in joints:
        pattern, motor = motor_of_joint(model, joint.id, [])
        # as before a gear or a linkage; the limit of a joint is none of a motor of a linkage
        before, limits = stages.get(joint.name, []), motor.clamping
        for stage in before:
            limits = [] if isinstance(stage, LinkageConfig) else [as_read(limit, stage.ratio) for limit in limits]
        motors[pattern] = dataclasses.replace(motor, clamping=limits, others=[*motor.others, *before])
    return motors, list(_lost_of_urdf(model, joints, stages, problems))


def _lost_of_urdf(
    model: mujoco.MjModel,
    joints: Sequence[mujoco.MjsJoint],
    stages: Mapping[str, Sequence[BeforeJoint]],
    problems: Sequence[str],
) -> Iterator[str]:
    """Yield what motors do not have of the transmissions and effort limits of a URDF file."""
    if problems:
        yield (
            f"transmissions of the file that motors do not have: {', '.join(problems)}. The motors of these joints are "
            "without one; add one by hand where it matters."
        )
    coupled = [joint for joint in joints if any(isinstance(one, LinkageConfig) for one in stages.get(joint.name, []))]
    if limited := [repr(joint.name) for joint in coupled if model.jnt_actfrclimited[joint.id]]:
        yield (
            f"joints {', '.join(limited)} have effort limits, and their motors have none, for several motors move each "
            "of them. Give these motors limits."
        )


def _complete_bodies(bodies: Sequence[Body], urdf: Urdf) -> None:
    """Add names of fixed joints and velocity limits, which MuJoCo does not read of a URDF file."""
    for body in bodies:
        if body.path in urdf.fixed:
            body.joint = f"/{body.path}/{urdf.fixed[body.path]}"
        for axis in body.axes:
            axis.max_velocity = urdf.velocity_limits.get(axis.name, axis.max_velocity)
            # MuJoCo's defaults, which URDF does not state
            axis.hardness = {}


def _begin(path: Path, model: mujoco.MjModel, bodies: Sequence[Body], begin: Start, standing: Standing) -> None:
    """Move the initial state of axes out of `begin` into the axes; warn of positions outside the limits."""
    axes = [axis for body in bodies for axis in body.axes]
    for axis in axes:
        if axis.name in begin:
            (axis.position,), (axis.velocity,) = begin.pop(axis.name)
            axis.position_target = axis.position
    begin_at(axes, standing.initial_positions)
    begun = [(axis.name, axis.position, axis.lower, axis.upper) for axis in axes]
    warn_of_beginnings(f"{path}: ", begun, _begin_elsewhere(model), stacklevel=5)


def _urdf(path: Path, strict_inertia: bool) -> Urdf | None:
    """A URDF file prepared for MuJoCo; None for any other file, which MuJoCo's own parser checks."""
    content = path.read_bytes()
    try:
        try:
            root = ET.fromstring(content)
        except ET.ParseError as error:
            if "unbound prefix" not in str(error):
                raise
            # elements of other programs with undeclared namespaces
            root = ET.fromstring(re.sub(rb"([<\s/][A-Za-z_][\w.-]*):(?=[A-Za-z_][\w.-]*[\s=/>])", rb"\1_", content))
    except ET.ParseError as error:
        raise UnsupportedSceneError(f"{path}: no XML ({error}). Correct the file.") from error
    return prepare(path, root, strict_inertia) if root.tag == "robot" else None


@contextlib.contextmanager
def _reporting_warnings(path: Path) -> Iterator[None]:
    """Report warnings of MuJoCo as Python warnings."""
    messages: list[str] = []
    with warnings_to(messages.append):
        yield
    if messages:
        warnings.warn(f"{path}: MuJoCo warns: {'; '.join(dict.fromkeys(messages))}. Correct the file.", stacklevel=6)


def sliding_joints(path: Path, text: str) -> set[str]:
    """Names of the sliding joints of an MJCF text; an `UnsupportedSceneError` names what MuJoCo cannot read."""
    with warnings_to(ignore):
        model = _parsed(path, lambda: mujoco.MjSpec.from_string(text).compile())
    return {model.joint(at).name for at in np.flatnonzero(model.jnt_type == int(mujoco.mjtJoint.mjJNT_SLIDE))}


def _parsed(path: Path, read: Callable[[], _Read]) -> _Read:
    """The result of a MuJoCo parser."""
    try:
        return read()
    except ValueError as error:
        raise _refused(path, error) from error


def _refused(path: Path, error: ValueError) -> UnsupportedSceneError:
    """MuJoCo's error in one line."""
    lines = [line.strip().rstrip(":.") for line in str(error).splitlines()]
    message = re.sub(r"^(XML )?Error: (Error )?", "", ", ".join(filter(None, lines)))
    return UnsupportedSceneError(f"{path}: MuJoCo cannot open it: {message}. Correct the file.")


def _complete_links(spec: mujoco.MjSpec, urdf: Urdf) -> None:
    """Add massless links and mesh inertias, which MuJoCo does not read of a URDF file, and what rendering shows."""
    for body in spec.bodies:
        if body.name in urdf.massless:
            (xx, xy, xz), (_, yy, yz), (_, _, zz) = urdf.massless[body.name].tolist()
            body.mass, body.fullinertia, body.inertia = 0.0, [xx, yy, zz, xy, xz, yz], [0.0] * 3
            if not any(body.fullinertia):
                body.fullinertia = [np.nan, *[0.0] * 5]
        shapes = list(body.geoms)
        for geom in shapes:
            # links state their masses, so meshes may be flat or open
            if geom.meshname and body.name not in urdf.without_inertia:
                spec.mesh(geom.meshname).inertia = mujoco.mjtMeshInertia.mjMESH_INERTIA_SHELL
            # rendering shows the visual shapes where there are any
            if geom.contype and any(not other.contype for other in shapes):
                geom.group = 3


def _compiled(path: Path, spec: mujoco.MjSpec) -> mujoco.MjModel:
    """The model of a URDF file, with moving links that lack mass and flat meshes repaired."""
    light: list[str] = []
    flat: list[str] = []
    model = None
    while model is None:
        try:
            model = spec.compile()
        except ValueError as error:
            if not _repair(spec, str(error), light, flat):
                raise _refused(path, error) from error
    if light:
        warnings.warn(
            f"{path}: links that move and have no mass get {SCREW[0]:g} kg: {', '.join(light)}. Give them an "
            "<inertial>.",
            stacklevel=6,
        )
    if flat:
        names = ", ".join(name.partition("_")[2] for name in flat)
        warnings.warn(f"{path}: meshes that are flat do not collide: {names}. Use a thin box.", stacklevel=6)
    return model


def _repair(spec: mujoco.MjSpec, refused: str, light: list[str], flat: list[str]) -> bool:
    """Repair the link or mesh that an error of MuJoCo names and note it; return False if it cannot be repaired."""
    massless, coplanar = (re.search(pattern, refused) for pattern in (_MASSLESS, _FLAT))
    if massless and massless[1] not in light:
        light.append(massless[1])
        body = spec.body(light[-1])
        body.explicitinertial, body.mass = True, SCREW[0]
        if not np.nan_to_num(body.fullinertia).any():
            body.inertia = [SCREW[1]] * 3
        return True
    if coplanar and coplanar[1] not in flat:
        flat.append(coplanar[1])
        # visual only, by a copy: MuJoCo keeps checking a mesh that was made to collide
        name = flat[-1]
        old, new = spec.mesh(name), spec.add_mesh(name=f"{name} (flat)")
        new.file, new.scale, new.inertia = old.file, old.scale, old.inertia
        for geom in spec.geoms:
            if geom.meshname == name:
                geom.meshname, geom.contype, geom.conaffinity = new.name, 0, 0
        spec.delete(old)
        return True
    return False


def _name_all(spec: mujoco.MjSpec) -> None:
    """Name unnamed bodies, joints and actuators by number, as `MujocoSimulation` does."""
    unnamed = {"body": list(spec.bodies), "joint": list(spec.joints), "actuator": list(spec.actuators)}
    for kind, elements in unnamed.items():
        taken = {element.name for element in elements}
        for element in elements:
            if not element.name:
                name = f"{kind}_{element.id}"
                while name in taken:
                    name += "_"
                element.name = name


def _drives(model: mujoco.MjModel) -> tuple[dict[int, dict[int, Law]], list[str]]:
    """Laws of the actuators that joint drives can replace, by joint, and the other actuators with the reasons."""
    laws, problems = laws_by_joint(model)
    for joint, found in list(laws.items()):
        if why := _drive_problem(model, joint, found):
            problems += with_names(model, [(next(iter(found)), why)])
            del laws[joint]
    return laws, problems


def _drive_problem(model: mujoco.MjModel, joint: int, laws: Mapping[int, Law]) -> str:
    """Why a joint drive cannot replace the actuators of a joint; empty if it can."""
    if any(law.const_effort for law in laws.values()) and not any(law.kp or law.kd for law in laws.values()):
        return "it pushes with a constant alone"
    if model.jnt_actgravcomp[joint] and any(law.limited for law in laws.values()):
        return "its limit is not that of gravity compensation, which its joint counts as its own"
    if np.any(getattr(model, "actuator_dampingpoly", np.zeros(model.nu))[list(laws)]):
        return "its damping grows with speed"
    return ""


def _replace_actuators(
    spec: mujoco.MjSpec, changed: mujoco.MjSpec, model: mujoco.MjModel, laws: dict[int, dict[int, Law]]
) -> None:
    """Delete the actuators that drives replace, with their sensors; joints take over their limits and inertias.

    `changed` has the names of `spec`, whose numbers are those of `model`; `laws` are the replaced ones, by joint.
    """
    joints = {joint.id: changed.joint(joint.name) for joint in spec.joints}
    for number, found in laws.items():
        joint, (low, high) = joints[number], _bounds(model, number, found.values())
        if np.isfinite([low, high]).all() and low < high:
            joint.actfrclimited = mujoco.mjtLimited.mjLIMITED_TRUE
            joint.actfrcrange = [low, high]
        # newer versions have armature and damping of actuators
        if hasattr(model, "actuator_armature"):
            for actuator in found:
                square = gear_of(model, actuator) ** 2
                joint.armature += square * model.actuator_armature[actuator]
                joint.damping[0] += square * model.actuator_damping[actuator]
            dof = model.jnt_dofadr[number]
            model.dof_armature[dof], model.dof_damping[dof] = joint.armature, joint.damping[0]
    replaced = set().union(*laws.values())
    # deleting an actuator deletes its sensors
    for actuator in [changed.actuator(one.name) for one in spec.actuators if one.id in replaced]:
        changed.delete(actuator)


def _other_actuators(
    spec: mujoco.MjSpec, model: mujoco.MjModel, laws: dict[int, dict[int, Law]]
) -> dict[str, list[str]]:
    """The names of the actuators that are no drives and that a motor of a joint replaces, by the joint's."""
    joints = {joint.id: joint.name for joint in spec.joints}
    names = {actuator.id: actuator.name for actuator in spec.actuators}
    own = {joint: found for joint, found in own_actuators(model).items() if joint not in laws}
    return {joints[joint]: [names[one] for one in found] for joint, found in own.items()}


def _bounds(model: mujoco.MjModel, joint: int, laws: Collection[Law]) -> tuple[float, float]:
    """Lower and upper limit of the total effort of a joint's actuators."""
    pairs = [(-np.inf, np.inf), *(law.bounds for law in laws)]
    pairs += [tuple(model.jnt_actfrcrange[joint])] if model.jnt_actfrclimited[joint] else []
    low, high = np.array(pairs, float).T
    return float(low.max()), float(high.min())


def _begin_elsewhere(model: mujoco.MjModel) -> str:
    """Remedy for joints that begin outside their limits; names a keyframe within the limits if there is one."""
    joints = [joint for joint in np.flatnonzero(model.jnt_limited) if _KINDS[model.jnt_type[joint]] == "axes"]
    positions, (lower, upper) = model.key_qpos[:, model.jnt_qposadr[joints]], model.jnt_range[joints].T
    within = np.flatnonzero(((positions >= lower - OFF) & (positions <= upper + OFF)).all(axis=1))
    if not within.size:
        return "Give Simulation initial_positions, or the command line --initial-positions."
    first = int(within[0])
    key = model.key(first).name or first
    return (
        f"Give Simulation keyframe={key!r} or initial_positions, or the command line --keyframe {key} or "
        "--initial-positions."
    )


def _bodies(spec: mujoco.MjSpec, model: mujoco.MjModel, laws: dict[int, dict[int, Law]]) -> list[Body]:
    """All bodies but the world, in MuJoCo's order."""
    bodies = {body.id: body.name for body in spec.bodies}
    joints = {joint.id: joint.name for joint in spec.joints}
    return [_body(model, number, bodies[number], joints, laws) for number in range(1, model.nbody)]


def _body(
    model: mujoco.MjModel, number: int, name: str, joints: dict[int, str], laws: dict[int, dict[int, Law]]
) -> Body:
    first, path = int(model.body_jntadr[number]), f"/{name.strip('/')}"
    here = range(first, first + int(model.body_jntnum[number]))
    kinds = {joint: _KINDS[model.jnt_type[joint]] for joint in here}
    single = [joint for joint, kind in kinds.items() if kind == "axes"]
    axes_of_inertia = matrices(model.body_iquat[number])
    return Body(
        path=name,
        joint=f"{path}/{joints[first].strip('/') if here else NAMELESS}",
        parent=int(model.body_parentid[number]) - 1,
        kind="axes" if single else kinds.get(first, "fixed"),
        position=model.body_pos[number].copy(),
        quaternion=model.body_quat[number].copy(),
        anchor=model.jnt_pos[first].copy() if here else np.zeros(3),
        axes=[_axis(model, joint, path, joints[joint], list(laws.get(joint, {}).values())) for joint in single],
        mass=float(model.body_mass[number]),
        com=model.body_ipos[number].copy(),
        inertia=axes_of_inertia * model.body_inertia[number] @ axes_of_inertia.T,
    )


def _axis(model: mujoco.MjModel, joint: int, body: str, name: str, laws: list[Law]) -> Axis:
    """A hinge or slide, with the drive that replaces its actuators."""
    linear = model.jnt_type[joint] == int(mujoco.mjtJoint.mjJNT_SLIDE)
    dof, place = model.jnt_dofadr[joint], model.jnt_qposadr[joint]
    lower, upper = model.jnt_range[joint] if model.jnt_limited[joint] else (-np.inf, np.inf)
    positions, velocities = target_ranges(laws)
    return Axis(
        name=name,
        joint=f"{body}/{name.strip('/')}",
        usd_name="linear" if linear else "angular",
        linear=bool(linear),
        anchor=model.jnt_pos[joint].copy(),
        direction=model.jnt_axis[joint].copy(),
        lower=float(lower),
        upper=float(upper),
        armature=float(model.dof_armature[dof]),
        friction=float(model.dof_frictionloss[dof]),
        hardness={"solref": model.dof_solref[dof].tolist(), "solimp": model.dof_solimp[dof].tolist()},
        damping=float(np.ravel(model.dof_damping[dof])[0]),
        stiffness=float(np.ravel(model.jnt_stiffness[joint])[0]),
        rest=float(model.qpos_spring[place]),
        drive_stiffness=sum((law.kp for law in laws), 0.0),
        drive_damping=sum((law.kd for law in laws), 0.0),
        drive_limit=_bounds(model, joint, laws)[1],
        drive_effort=sum((law.const_effort for law in laws), 0.0),
        position_range=positions,
        velocity_range=velocities,
        reference=float(model.qpos0[place]),
        position=float(model.qpos0[place]),
    )


def _articulations(bodies: list[Body]) -> list[Articulation]:
    """Children of the world with an axis, links breadth-first and by joint, as on a stage; MuJoCo is depth-first."""
    children = grouped((body.parent, number) for number, body in enumerate(bodies))
    robots = []
    for root in children.get(-1, []):
        links = [root]
        for link in links:
            links += sorted(children.get(link, []), key=lambda child: bodies[child].joint.rsplit("/", 1)[-1])
        if axes := [axis for link in links for axis in bodies[link].axes]:
            robots.append(Articulation("/" + bodies[root].path.strip("/"), links, axes))
    return robots
