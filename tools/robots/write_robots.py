"""Write the robot files of `data/robots`.

    ./python.sh tools/robots/write_robots.py [OUTDIR]      # default: data/robots

The data of each robot, with their source, are in `robot_<file>.py` next to this script; `robot_spec.py` defines the
fields. The output is reproducible for one version of USD.
"""

# the type stubs of USD do not know the element type of vectors
# pyright: reportArgumentType=false, reportOperatorIssue=false

from __future__ import annotations

import math
import re
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import robot_anymal_c
import robot_arm_2dof
import robot_franka_panda
import robot_pendulum
import robot_shadow_hand
from isaacsim.core.experimental.actuators import (
    DCMotorClampingConfig,
    DelayConfig,
    MaxEffortClampingConfig,
    PDControlConfig,
    add_actuator,
)
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics, UsdShade
from robot_spec import (
    IDENTITY,
    UNIT,
    Ball,
    Box,
    Joint,
    Link,
    Pose,
    Robot,
    Rod,
    Shape,
    Vec3,
    compose,
    joint_frame,
    link_poses,
    principal_inertia,
    turn,
    turn_z_to,
)


@dataclass(frozen=True)
class Gains:
    """The actuator of one or more joints."""

    kp: float
    """[N·m/rad or N/m]."""
    kd: float
    """[N·m·s/rad or N·s/m]."""
    max_effort: float
    """[N·m or N]."""
    curve: tuple[float, float] | None = None
    """Stall effort [N·m or N] and no-load speed [rad/s or m/s] of a DC motor, None for an effort limit alone."""
    delay_steps: int = 0
    """[physics steps]; 0 means no delay prim."""


# one actuator per joint, from the first row whose pattern matches its whole name
ACTUATORS: dict[str, dict[str, Gains]] = {
    "pendulum": {"hinge": Gains(kp=20.0, kd=2.0, max_effort=10.0)},
    "arm_2dof": {
        "shoulder": Gains(kp=200.0, kd=20.0, max_effort=60.0),
        "extension": Gains(kp=2000.0, kd=100.0, max_effort=100.0),
    },
    "franka_panda": {
        "panda_joint[1-4]": Gains(kp=400.0, kd=40.0, max_effort=87.0),
        "panda_joint[5-7]": Gains(kp=100.0, kd=10.0, max_effort=12.0, delay_steps=2),
    },
    # the curve of Isaac Lab's cfg of the ANYdrive, the delay of a bus
    "anymal_c": {".*": Gains(kp=900.0, kd=25.0, max_effort=80.0, curve=(120.0, 7.5), delay_steps=1)},
}

ROBOTS = (robot_pendulum.ROBOT, robot_arm_2dof.ROBOT, robot_franka_panda.ROBOT, robot_anymal_c.ROBOT)

FOLDER = Path(__file__).resolve().parents[2] / "data" / "robots"
ORIGIN_NOTE = "Written by tools/robots/write_robots.py from the tables beside it; change those, not this file."
GRAVITY = 9.81
"""[m/s²]."""
GROUND_COLOR: Vec3 = (0.42, 0.44, 0.47)
GROUND_SIZE = 20.0
"""Edge of the drawn square [m]; the collider is the whole plane."""
HALF_TURN_ABOUT_Z = Pose(Gf.Vec3d(0.0), turn(UNIT[2], math.pi))


def write_robots(folder: Path) -> list[Path]:
    """Write every robot into `folder` and return the paths."""
    folder.mkdir(parents=True, exist_ok=True)
    paths = []
    for robot in ROBOTS:
        path = folder / f"{robot.file}.usda"
        # the stage owns its layer: keep it until the layer is written
        stage = author_robot(robot, ACTUATORS[robot.file])
        stage.GetRootLayer().Export(str(path))
        paths.append(path)
    paths.append(folder / "shadow_hand.xml")
    paths[-1].write_text(robot_shadow_hand.text(), encoding="utf-8")
    return paths


def author_robot(robot: Robot, actuators: dict[str, Gains]) -> Usd.Stage:
    """Return a stage with the robot, its surroundings and its actuators."""
    stage = new_stage(robot.documentation)
    root = UsdGeom.Xform.Define(stage, f"/World/{robot.name}").GetPrim()
    path = str(root.GetPath())
    UsdPhysics.ArticulationRootAPI.Apply(root)
    # only walking robots have colliders; their links touch each other at the joints
    if robot.ground_friction is not None:
        author_ground(stage, path, robot.ground_friction)
        turn_self_collision_off(root)

    # links are at their authored joint positions, so a viewer and physics show the same pose
    poses = link_poses(robot)
    for link in robot.links:
        _author_link(stage, path, link, poses[link.name])

    UsdGeom.Scope.Define(stage, f"{path}/joints")
    if robot.fixed_base:
        _author_root_joint(stage, path, robot)
    for joint in robot.joints:
        _author_joint(stage, path, joint)
    for joint in robot.joints:
        _author_actuator(stage, path, joint.name, actuators)
    return stage


def new_stage(documentation: str, origin: str = ORIGIN_NOTE) -> Usd.Stage:
    """Return an empty stage in meters and kilograms, with gravity."""
    stage = Usd.Stage.CreateInMemory()
    stage.GetRootLayer().documentation = f"{documentation}\n{origin}"
    UsdGeom.SetStageUpAxis(stage, UsdGeom.Tokens.z)
    UsdGeom.SetStageMetersPerUnit(stage, 1.0)
    UsdPhysics.SetStageKilogramsPerUnit(stage, 1.0)
    stage.SetDefaultPrim(UsdGeom.Xform.Define(stage, "/World").GetPrim())
    scene = UsdPhysics.Scene.Define(stage, "/World/physicsScene")
    scene.CreateGravityDirectionAttr(Gf.Vec3f(0.0, 0.0, -1.0))
    scene.CreateGravityMagnitudeAttr(GRAVITY)
    return stage


def author_ground(stage: Usd.Stage, robot_path: str, friction: float) -> None:
    """Define the ground plane and the material that it shares with the robot's colliders."""
    # inside the robot, so that a reference to the robot alone keeps the friction of its feet
    material = UsdShade.Material.Define(stage, _material_path(robot_path))
    surface = UsdPhysics.MaterialAPI.Apply(material.GetPrim())
    surface.CreateStaticFrictionAttr(friction)
    surface.CreateDynamicFrictionAttr(friction)
    surface.CreateRestitutionAttr(0.0)

    ground = UsdGeom.Plane.Define(stage, "/World/ground")
    ground.CreateAxisAttr(UsdGeom.Tokens.z)
    ground.CreateWidthAttr(GROUND_SIZE)
    ground.CreateLengthAttr(GROUND_SIZE)
    _finish_shape(ground, GROUND_COLOR)
    _make_collider(ground.GetPrim(), robot_path)


def _material_path(robot_path: str) -> str:
    return f"{robot_path}/rubber"


def turn_self_collision_off(root: Usd.Prim) -> None:
    """Disable self-collision of an articulation."""
    for schema in ("NewtonArticulationRootAPI", "PhysxArticulationAPI"):
        root.AddAppliedSchema(schema)
    for attribute in ("newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"):
        root.CreateAttribute(attribute, Sdf.ValueTypeNames.Bool, custom=False).Set(False)


# links and shapes


def _author_link(stage: Usd.Stage, robot_path: str, link: Link, pose: Pose) -> None:
    body = UsdGeom.Xform.Define(stage, f"{robot_path}/{link.name}")
    _place(body, pose)
    UsdPhysics.RigidBodyAPI.Apply(body.GetPrim())
    moments, axes = principal_inertia(link.inertia)
    mass = UsdPhysics.MassAPI.Apply(body.GetPrim())
    mass.CreateMassAttr(_tidy(link.mass))
    mass.CreateCenterOfMassAttr(_vec3f(link.com))
    mass.CreateDiagonalInertiaAttr(_vec3f(moments))
    mass.CreatePrincipalAxesAttr(_quatf(axes))
    for number, shape in enumerate(link.shapes):
        _author_shape(stage, f"{body.GetPath()}/shape_{number}", shape, robot_path)


def _author_shape(stage: Usd.Stage, path: str, shape: Shape, robot_path: str) -> None:
    match shape:
        case Ball():
            drawn = UsdGeom.Sphere.Define(stage, path)
            drawn.CreateRadiusAttr(shape.radius)
            _place(drawn, Pose(Gf.Vec3d(shape.center), Gf.Quatd(1.0)))
        case Box():
            drawn = UsdGeom.Cube.Define(stage, path)
            drawn.CreateSizeAttr(1.0)
            _place(drawn, Pose(Gf.Vec3d(shape.center), Gf.Quatd(1.0)))
            drawn.AddScaleOp().Set(_vec3f(shape.size))
        case Rod():
            start, along = Gf.Vec3d(shape.start), Gf.Vec3d(shape.end) - Gf.Vec3d(shape.start)
            drawn = (UsdGeom.Capsule if shape.round_ends else UsdGeom.Cylinder).Define(stage, path)
            drawn.CreateAxisAttr(UsdGeom.Tokens.z)
            drawn.CreateHeightAttr(_tidy(along.GetLength()))
            drawn.CreateRadiusAttr(shape.radius)
            _place(drawn, Pose(start + along / 2, turn_z_to(along.GetNormalized())))
    _finish_shape(drawn, shape.color)
    if isinstance(shape, Ball | Box) and shape.collides:
        _make_collider(drawn.GetPrim(), robot_path)


def _finish_shape(shape: UsdGeom.Gprim, color: Vec3) -> None:
    shape.CreateDisplayColorAttr([_vec3f(color)])
    # viewers frame and cull by the extent, and the schema's fallback does not match
    shape.CreateExtentAttr(UsdGeom.Boundable.ComputeExtentFromPlugins(shape, Usd.TimeCode.Default()))


def _make_collider(prim: Usd.Prim, robot_path: str) -> None:
    UsdPhysics.CollisionAPI.Apply(prim)
    material = UsdShade.Material.Get(prim.GetStage(), _material_path(robot_path))
    binding = UsdShade.MaterialBindingAPI.Apply(prim)
    binding.Bind(material, UsdShade.Tokens.weakerThanDescendants, "physics")


def _place(shape: UsdGeom.Xformable, pose: Pose) -> None:
    shape.AddTranslateOp().Set(Gf.Vec3d([_tidy(value) for value in pose.position]))
    shape.AddOrientOp().Set(_quatf(pose.rotation))


# joints and actuators


def _author_root_joint(stage: Usd.Stage, robot_path: str, robot: Robot) -> None:
    joint = UsdPhysics.FixedJoint.Define(stage, f"{robot_path}/joints/root_joint")
    joint.CreateBody1Rel().SetTargets([f"{robot_path}/{robot.links[0].name}"])
    _author_frames(joint, Pose(Gf.Vec3d(robot.base_position), Gf.Quatd(1.0)), IDENTITY)


def _author_joint(stage: Usd.Stage, robot_path: str, joint: Joint) -> None:
    schema = UsdPhysics.PrismaticJoint if joint.prismatic else UsdPhysics.RevoluteJoint
    authored = schema.Define(stage, f"{robot_path}/joints/{joint.name}")
    authored.CreateBody0Rel().SetTargets([f"{robot_path}/{joint.parent}"])
    authored.CreateBody1Rel().SetTargets([f"{robot_path}/{joint.child}"])
    authored.CreateAxisAttr(joint.axis.removeprefix("-"))
    # USD has no negative axes: a joint about -X rotates about +X of a reversed frame in both bodies
    flip = HALF_TURN_ABOUT_Z if joint.axis == "-X" else IDENTITY
    _author_frames(authored, compose(joint_frame(joint), flip), flip)
    if joint.limits is not None:
        lower, upper = joint.limits
        authored.CreateLowerLimitAttr(_usd_position(joint, lower))
        authored.CreateUpperLimitAttr(_usd_position(joint, upper))
    _author_drive(authored.GetPrim(), joint)
    _author_state(authored.GetPrim(), joint)
    _author_solver_properties(authored.GetPrim(), joint)


def _author_frames(joint: UsdPhysics.Joint, in_body0: Pose, in_body1: Pose) -> None:
    joint.CreateLocalPos0Attr(_vec3f(in_body0.position))
    joint.CreateLocalRot0Attr(_quatf(in_body0.rotation))
    joint.CreateLocalPos1Attr(_vec3f(in_body1.position))
    joint.CreateLocalRot1Attr(_quatf(in_body1.rotation))


def _author_drive(prim: Usd.Prim, joint: Joint) -> None:
    # gains of an angular drive are per degree
    per_unit = 1.0 if joint.prismatic else math.radians(1.0)
    drive = UsdPhysics.DriveAPI.Apply(prim, _motion(joint))
    drive.CreateTypeAttr(UsdPhysics.Tokens.force)
    drive.CreateStiffnessAttr(_tidy(joint.stiffness * per_unit))
    drive.CreateDampingAttr(_tidy(joint.damping * per_unit))
    drive.CreateTargetPositionAttr(_usd_position(joint, joint.position))
    if joint.max_effort is not None:
        drive.CreateMaxForceAttr(joint.max_effort)


def _author_state(prim: Usd.Prim, joint: Joint) -> None:
    prim.AddAppliedSchema(f"PhysicsJointStateAPI:{_motion(joint)}")
    state = f"state:{_motion(joint)}:physics"
    author_float(prim, f"{state}:position", _usd_position(joint, joint.position))
    author_float(prim, f"{state}:velocity", 0.0)


def _author_solver_properties(prim: Usd.Prim, joint: Joint) -> None:
    if joint.armature is not None or joint.max_velocity is not None:
        prim.AddAppliedSchema("NewtonJointAPI")
    if joint.armature is not None:
        prim.AddAppliedSchema("PhysxJointAPI")
        author_float(prim, "newton:armature", joint.armature)
        author_float(prim, "physxJoint:armature", joint.armature)
    if joint.max_velocity is not None:
        author_float(prim, "newton:velocityLimit", _usd_position(joint, joint.max_velocity))


def author_float(prim: Usd.Prim, name: str, value: float) -> None:
    """Author an attribute of a schema."""
    prim.CreateAttribute(name, Sdf.ValueTypeNames.Float, custom=False).Set(value)


def _author_actuator(stage: Usd.Stage, robot_path: str, joint: str, actuators: dict[str, Gains]) -> None:
    gains = next(gains for pattern, gains in actuators.items() if re.fullmatch(pattern, joint))
    add_actuator(
        robot_path,
        joint,
        joint,
        PDControlConfig(gains.kp, gains.kd),
        clamping=[_limit(gains)],
        delay=DelayConfig(gains.delay_steps) if gains.delay_steps else None,
        stage=stage,
    )


def _limit(gains: Gains) -> MaxEffortClampingConfig | DCMotorClampingConfig:
    if gains.curve is None:
        return MaxEffortClampingConfig(gains.max_effort)
    return DCMotorClampingConfig(*gains.curve, gains.max_effort)


# SI to what USD stores


def _motion(joint: Joint) -> str:
    return "linear" if joint.prismatic else "angular"


def _usd_position(joint: Joint, value: float) -> float:
    """Return meters unchanged and radians in degrees; velocities likewise."""
    return _tidy(value if joint.prismatic else math.degrees(value))


def _tidy(value: float) -> float:
    """Round a value, so that zero is 0 and the last bit of a sine has no effect."""
    return round(value, 9) + 0.0  # + 0.0 turns -0.0 into 0.0


def _vec3f(values: Iterable[float]) -> Gf.Vec3f:
    return Gf.Vec3f([_tidy(value) for value in values])


def _quatf(rotation: Gf.Quatd) -> Gf.Quatf:
    """Return the quaternion with a positive first nonzero component, the unique one of two equal ones."""
    parts = [_tidy(value) for value in (rotation.GetReal(), *rotation.GetImaginary())]
    sign = math.copysign(1.0, next(value for value in parts if value))
    return Gf.Quatf(*(sign * value + 0.0 for value in parts))


if __name__ == "__main__":
    if len(sys.argv) > 2:
        sys.exit("usage: write_robots.py [OUTDIR]")
    for written in write_robots(Path(sys.argv[1]) if len(sys.argv) == 2 else FOLDER):
        print(written)
