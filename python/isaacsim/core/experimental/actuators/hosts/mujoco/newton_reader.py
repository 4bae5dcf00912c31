"""Read the physics of a USD stage into plain data, with newton's importer as the parser.

Only the lists of newton's `ModelBuilder` are used: no model is built, no kernel compiled. Everything is SI, rad and m;
quaternions are (w, x, y, z).
"""

from __future__ import annotations

import gc
import warnings
from collections import Counter
from typing import Any

import numpy as np

from ...components.quiet_warp import quiet_warp
from ...errors import HostError, UnsupportedSceneError
from ...extras import needs
from ...usd.articulation import acceleration_drives, articulation_roots, every_prim, is_single_axis_joint, loop_joints
from ...usd.discover import actuator_paths
from ...usd.joint_properties import authored, axis_of
from ...usd.schema import applied_schemas
from ...usd.stage import require_meters, without_prims
from .scene import Articulation, Axis, Body, Mimic, Scene, Shape

# newton writes these for "no limit"
_NO_LIMIT = 1e9
_NO_EFFORT_LIMIT = 1e6


def read_scene(stage: Any) -> Scene:
    """Return the physics of `stage`.

    Raises:
        UnsupportedSceneError: Not in metres, loop joints, collision shapes MuJoCo lacks, or anything newton cannot
            read; the message names them.
    """
    require_meters(stage)
    _require_known_mimics(stage)
    builder = _import(stage)
    bodies, axes_of = _read_bodies(builder, stage)
    _read_properties(stage, [axis for axes in axes_of.values() for axis in axes])
    shapes = _read_shapes(builder)
    if accelerated := acceleration_drives(stage):
        warnings.warn(
            f"joint drives of type 'acceleration' act as force drives here: {', '.join(accelerated)}. "
            "Author drive type 'force' with gains in N·m.",
            stacklevel=2,
        )
    return Scene(
        gravity=np.array(builder.gravity, float),
        bodies=bodies,
        shapes=shapes,
        mimics=_read_mimics(builder, axes_of),
        articulations=_read_articulations(builder, axes_of, set(articulation_roots(stage))),
        no_contact=_read_no_contact(builder),
    )


def _require_known_mimics(stage: Any) -> None:
    """Refuse mimic joints that newton would pass over, because USD does not know their schema."""
    mimics = [prim for prim in every_prim(stage.GetPseudoRoot()) if "NewtonMimicAPI" in applied_schemas(prim)]
    if lost := [str(prim.GetPath()) for prim in mimics if not prim.HasAPI("NewtonMimicAPI")]:
        raise UnsupportedSceneError(
            f"mimic joints {lost} would turn freely: a stage was opened before USD knew their schema. Import "
            "newton_usd_schemas, or Simulation from this package, before the first stage is opened."
        )


def _import(stage: Any) -> Any:
    """Let newton read the stage; actuator prims and mesh approximation are left to us."""
    with quiet_warp(), warnings.catch_warnings():
        newton = _import_newton()
        # newton asks for joint states under its own names first and warns about that
        warnings.filterwarnings("ignore", ".*is a non-schema attribute")
        # and only warns that it reads grams as kilograms
        warnings.filterwarnings("error", ".*kilogramsPerUnit")
        builder = newton.ModelBuilder()
        try:
            builder.add_usd(
                # newton would read actuator prims, weights included, and refuse the stage when one of them is wrong
                without_prims(stage, actuator_paths(stage)),
                joint_ordering="bfs",
                apply_up_axis_from_stage=True,
                skip_mesh_approximation=True,
                only_load_enabled_rigid_bodies=True,
                schema_resolvers=[newton.usd.SchemaResolverNewton(), newton.usd.SchemaResolverPhysx()],
            )
        except (ValueError, UserWarning) as error:
            message = str(error).rstrip(".")
            if "cycle" in message:
                message = f"joints {loop_joints(stage)} close loops, which are not simulated here"
            raise UnsupportedSceneError(f"newton cannot read this stage: {message}. Correct that.") from error
    return builder


def _import_newton() -> Any:
    """Import newton with the garbage collector paused, a third faster: it walks the syntax trees of 1200 kernels."""
    paused = gc.isenabled()
    gc.disable()
    try:
        with needs("Simulation", "sim", HostError):
            import newton
    finally:
        if paused:
            gc.enable()
    return newton


def _read_bodies(builder: Any, stage: Any) -> tuple[list[Body], dict[int, list[Axis]]]:
    """Bodies with parents before children, and the axes of each newton joint."""
    import newton

    bodies: dict[int, Body] = {}
    order: list[int] = []
    axes_of: dict[int, list[Axis]] = {}
    # a joint excluded from its articulation closes a loop where the articulation carries its child already
    inside = [articulation >= 0 for articulation in builder.joint_articulation]
    carried = {child for child, member in zip(builder.joint_child, inside, strict=True) if member}
    closing = [j for j, member in enumerate(inside) if not member and builder.joint_child[j] in carried]
    waiting = [j for j in range(len(builder.joint_type)) if j not in closing]
    loops = [builder.joint_label[j] for j in closing]
    while waiting:
        ready = [j for j in waiting if builder.joint_parent[j] == -1 or builder.joint_parent[j] in bodies]
        if not ready:
            raise UnsupportedSceneError(
                f"joints {[builder.joint_label[j] for j in waiting]} hang on nothing: they form a closed loop, which "
                "is not simulated here, or no prim above them has PhysicsArticulationRootAPI. Deactivate one of the "
                "joint prims or apply the API."
            )
        for j in ready:
            waiting.remove(j)
            child = builder.joint_child[j]
            if child in bodies:
                loops.append(builder.joint_label[j])
                continue
            kind = newton.JointType(builder.joint_type[j]).name
            if kind == "D6":
                _require_limits(stage, builder.joint_label[j])
            axes_of[j] = _read_axes(builder, j, stage) if kind in ("REVOLUTE", "PRISMATIC", "D6") else []
            bodies[child] = _read_body(builder, j, kind, axes_of[j])
            order.append(child)
    if loops:
        raise UnsupportedSceneError(
            f"loop joints {loops}: their child body already hangs on another joint, and closed loops are not simulated "
            "here. Deactivate the joint prims or use another simulator."
        )
    # newton's body numbers become positions in the list; the world stays -1
    position = {number: at for at, number in enumerate(order)}
    if missing := [path for number, path in enumerate(builder.body_label) if number not in position]:
        raise UnsupportedSceneError(
            f"rigid bodies without mass: {missing}. Author physics:mass or add a collider to each of them."
        )
    if order != sorted(order):
        _renumber_shapes(builder, position)
    for body in bodies.values():
        body.parent = position.get(body.parent, -1)
    return [bodies[number] for number in order], axes_of


def _require_limits(stage: Any, path: str) -> None:
    """Refuse a joint with an axis that USD calls free and newton would lock."""
    prim = stage.GetPrimAtPath(path)
    axes = [kind + letter for kind in ("trans", "rot") for letter in "XYZ"]
    free = [axis for axis in axes if f"PhysicsLimitAPI:{axis}" not in prim.GetAppliedSchemas()]
    # newton also makes one joint of several between the same two bodies; those have their axes in their type
    if free and prim.GetTypeName() == "PhysicsJoint":
        raise UnsupportedSceneError(
            f"<{path}> has axes without PhysicsLimitAPI: {free}: they would be locked here. Author their limits, "
            "however wide."
        )


def _renumber_shapes(builder: Any, position: dict[int, int]) -> None:
    builder.shape_body[:] = [position.get(body, -1) for body in builder.shape_body]
    builder.joint_child[:] = [position[body] for body in builder.joint_child]


def _read_body(builder: Any, j: int, kind: str, axes: list[Axis]) -> Body:
    """The body that joint `j` carries."""
    import newton

    child = builder.joint_child[j]
    parent_frame, child_frame = _transform(builder.joint_X_p[j]), _transform(builder.joint_X_c[j])
    position, quaternion = _compose(parent_frame, _inverse(child_frame))
    velocity = np.zeros(6)
    label = builder.joint_label[j]
    if kind == "FREE":
        q, qd = builder.joint_q_start[j], builder.joint_qd_start[j]
        position, quaternion = _transform(builder.joint_q[q : q + 7])
        velocity = _free_velocity(builder.joint_qd[qd : qd + 6], quaternion, builder.body_com[child])
        label = builder.body_label[child] + "/freejoint"
        # nothing here moves a kinematic body, and nothing pushes it
        kind = "FIXED" if builder.body_flags[child] & newton.BodyFlags.KINEMATIC else kind
    kinds = {"FIXED": "fixed", "FREE": "free", "BALL": "ball", "REVOLUTE": "axes", "PRISMATIC": "axes", "D6": "axes"}
    if kind not in kinds:
        raise UnsupportedSceneError(f"<{label}> is a {kind.lower()} joint: not simulated here. Replace the joint.")
    return Body(
        path=builder.body_label[child],
        joint=label,
        parent=builder.joint_parent[j],
        kind=kinds[kind],
        position=position,
        quaternion=quaternion,
        anchor=child_frame[0],
        axes=axes,
        mass=float(builder.body_mass[child]),
        com=np.array(builder.body_com[child], float),
        inertia=np.array(builder.body_inertia[child], float).reshape(3, 3),
        velocity=velocity,
    )


def _read_axes(builder: Any, j: int, stage: Any) -> list[Axis]:
    """The axes of joint `j`, linear ones first."""
    linear, angular = builder.joint_dof_dim[j]
    label = builder.joint_label[j]
    turn = _transform(builder.joint_X_c[j])[1]
    # newton makes one joint of those between the same two bodies, and names it by the first
    merged = linear + angular > 1 and is_single_axis_joint(stage.GetPrimAtPath(label))
    axes = []
    for i in range(linear + angular):
        dof, q = builder.joint_qd_start[j] + i, builder.joint_q_start[j] + i
        axis = np.array(builder.joint_axis[dof], float)
        lower, upper = _limit(builder.joint_limit_lower[dof]), _limit(builder.joint_limit_upper[dof])
        if lower > upper:
            raise UnsupportedSceneError(
                f"<{label}> has lower limit {lower:g} > upper limit {upper:g} (rad or m): must be <=. Swap the limits."
            )
        name = label.rsplit("/", 1)[-1]
        if linear + angular > 1:
            name += f":{'trans' if i < linear else 'rot'}{'XYZ'[int(np.abs(axis).argmax())]}"
        axes.append(
            Axis(
                name=name,
                joint=label,
                usd_name="" if merged else axis_of(stage, label, name),
                linear=i < linear,
                direction=_rotate(turn, axis),
                lower=lower,
                upper=upper,
                armature=float(builder.joint_armature[dof]),
                friction=float(builder.joint_friction[dof]),
                damping=float(builder.joint_damping[dof]),
                stiffness=float(builder.joint_stiffness[dof]),
                rest=float(builder.joint_rest_q[q]),
                drive_stiffness=float(builder.joint_target_ke[dof]),
                drive_damping=float(builder.joint_target_kd[dof]),
                drive_limit=_limit(builder.joint_effort_limit[dof], _NO_EFFORT_LIMIT),
                position=float(builder.joint_q[q]),
                velocity=float(builder.joint_qd[dof]),
                position_target=float(builder.joint_target_q[q]),
                velocity_target=float(builder.joint_target_qd[dof]),
            )
        )
    return axes


def _read_properties(stage: Any, axes: list[Axis]) -> None:
    """Take armature and friction over from attributes that newton does not read."""
    known = [axis for axis in axes if axis.usd_name]
    found = {
        name: authored(stage, name, [(axis.joint, axis.usd_name) for axis in known])
        for name in ("armatures", "static_frictions", "dynamic_frictions", "viscous_frictions")
    }
    static, dynamic = found["static_frictions"], found["dynamic_frictions"]
    apart = [axis.joint for axis, one, other in zip(known, static, dynamic, strict=True) if abs(one - other) > 0]
    if apart:
        warnings.warn(
            f"static and dynamic friction of {', '.join(apart)} differ: MuJoCo has one dry friction and takes the "
            "static one. Author the same for both.",
            stacklevel=3,
        )
    found["static_frictions"] = np.where(np.isnan(static), dynamic, static)
    fields = {"armature": "armatures", "friction": "static_frictions", "damping": "viscous_frictions"}
    for field_name, name in fields.items():
        for axis, value in zip(known, found[name], strict=True):
            if not np.isnan(value):
                setattr(axis, field_name, float(value))


def _read_shapes(builder: Any) -> list[Shape]:
    """Geometries MuJoCo can hold; a collider of another kind is refused."""
    import newton

    kinds = {"PLANE", "SPHERE", "CAPSULE", "ELLIPSOID", "CYLINDER", "BOX", "MESH", "CONVEX_MESH"}
    collide, site = int(newton.ShapeFlags.COLLIDE_SHAPES), int(newton.ShapeFlags.SITE)
    shapes, refused, hulls = [], [], []
    for i, flags in enumerate(builder.shape_flags):
        kind, path = newton.GeoType(builder.shape_type[i]).name, builder.shape_label[i]
        collides = bool(flags & collide) and builder.shape_collision_group[i] != 0
        if flags & site or (kind not in kinds and not collides):
            continue
        if kind not in kinds:
            refused.append(f"<{path}> ({kind.lower()})")
            continue
        position, quaternion = _transform(builder.shape_transform[i])
        color = builder.shape_color[i] if builder.shape_color[i] is not None else (0.5, 0.5, 0.5)
        shape = Shape(
            path=path,
            body=builder.shape_body[i],
            kind="MESH" if kind == "CONVEX_MESH" else kind,
            size=np.array(builder.shape_scale[i], float),
            position=position,
            quaternion=quaternion,
            collides=collides,
            friction=float(builder.shape_material_mu[i]),
            color=(float(color[0]), float(color[1]), float(color[2]), 1.0),
        )
        if shape.kind == "MESH":
            mesh = builder.shape_source[i]
            shape.vertices = np.array(mesh.vertices, float).reshape(-1, 3) * shape.size
            shape.faces = np.array(mesh.indices, np.int32).reshape(-1, 3)
            if len(shape.vertices) < 4:
                refused += [f"<{path}> (mesh of {len(shape.vertices)} points)"] if collides else []
                continue
            if collides and not _is_convex(shape.vertices, shape.faces):
                hulls.append(path)
        shapes.append(shape)
    if refused:
        raise UnsupportedSceneError(
            f"collision shapes MuJoCo lacks: {', '.join(refused)}. Use a capsule, cylinder, box, sphere or mesh."
        )
    if hulls:
        warnings.warn(
            f"meshes that are not convex collide as their convex hull: {', '.join(hulls)}. "
            "Split them into convex parts where that matters.",
            stacklevel=3,
        )
    return shapes


def _read_mimics(builder: Any, axes_of: dict[int, list[Axis]]) -> list[Mimic]:
    """Joints that follow another one."""
    mimics = []
    for follower, leader in enumerate(builder.joint_mimic_joint):
        if leader >= 0:
            offset, ratio = (float(value) for value in builder.joint_mimic_coeffs[follower])
            # newton lets joints of several axes follow axis by axis
            pairs = zip(axes_of[follower], axes_of[leader], strict=True)
            mimics += [Mimic(*pair, offset, ratio) for pair in pairs]
    return mimics


def _read_articulations(builder: Any, axes_of: dict[int, list[Axis]], roots: set[str]) -> list[Articulation]:
    """Robots in stage order; newton makes an articulation of every loose body too."""
    found = []
    for number, path in enumerate(builder.articulation_label):
        joints = [j for j in axes_of if builder.joint_articulation[j] == number]
        if path in roots:
            joints.sort()
            bodies = [builder.joint_child[j] for j in joints]
            found.append(Articulation(path, bodies, [axis for j in joints for axis in axes_of[j]]))
    return found


def _read_no_contact(builder: Any) -> list[tuple[int, int]]:
    """Pairs of bodies none of whose colliders may touch; -1 is the world."""
    import newton

    collide = int(newton.ShapeFlags.COLLIDE_SHAPES)
    body_of = {
        shape: body
        for shape, (body, flags) in enumerate(zip(builder.shape_body, builder.shape_flags, strict=True))
        if flags & collide
    }
    colliders = Counter(body_of.values())
    filtered = Counter(
        tuple(sorted((body_of[a], body_of[b])))
        for a, b in {tuple(sorted(pair)) for pair in builder.shape_collision_filter_pairs}
        if a in body_of and b in body_of
    )
    return [(a, b) for (a, b), count in filtered.items() if a != b and count == colliders[a] * colliders[b]]


def _is_convex(vertices: np.ndarray, faces: np.ndarray) -> bool:
    """Whether no vertex lies in front of a face, within a thousandth of the mesh's size."""
    corners = vertices[faces]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    lengths = np.linalg.norm(normals, axis=1)
    keep = lengths > 0
    normals = normals[keep] / lengths[keep, None]
    tolerance = 1e-3 * np.ptp(vertices, axis=0).max()
    heights = (vertices @ normal - corner @ normal for normal, corner in zip(normals, corners[keep, 0], strict=True))
    # faces may be wound either way
    return all((height <= tolerance).all() or (height >= -tolerance).all() for height in heights)


def _free_velocity(values: Any, quaternion: np.ndarray, com: Any) -> np.ndarray:
    """Newton's free velocity (centre of mass, then angular, both in the world) as MuJoCo has it: origin, body frame."""
    linear, angular = np.array(values[:3], float), np.array(values[3:], float)
    origin = linear - np.cross(angular, _rotate(quaternion, np.array(com, float)))
    return np.concatenate([origin, _rotate(quaternion * [1, -1, -1, -1], angular)])


def _limit(value: float, none: float = _NO_LIMIT) -> float:
    """A limit, or ±inf where newton has none."""
    return float(value) if abs(value) < none else float(np.copysign(np.inf, value))


def _transform(values: Any) -> tuple[np.ndarray, np.ndarray]:
    """Newton's (x, y, z, qx, qy, qz, qw) as position and (w, x, y, z)."""
    v = np.array([float(value) for value in values])
    return v[:3], v[[6, 3, 4, 5]]


def _product(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    (w, *_), u, v = a, a[1:], b[1:]
    return np.array([w * b[0] - u @ v, *(w * v + b[0] * u + np.cross(u, v))])


def _rotate(q: np.ndarray, v: np.ndarray) -> np.ndarray:
    return v + 2 * np.cross(q[1:], np.cross(q[1:], v) + q[0] * v)


def _compose(a: tuple[np.ndarray, np.ndarray], b: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    return a[0] + _rotate(a[1], b[0]), _product(a[1], b[1])


def _inverse(a: tuple[np.ndarray, np.ndarray]) -> tuple[np.ndarray, np.ndarray]:
    q = a[1] * [1, -1, -1, -1]
    return -_rotate(q, a[0]), q
