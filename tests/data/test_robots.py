"""The robot files say what was published, and are what their script writes."""

import functools
import math
import os
import re
import subprocess
import sys
from pathlib import Path

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.simulators.mujoco.address import mujoco
from pxr import Gf, Usd, UsdGeom, UsdPhysics

REPOSITORY = Path(__file__).resolve().parents[2]
FOLDER = REPOSITORY / "data" / "robots"
# file: root prim, authored joint positions [rad or m] by joint name
POSES = {
    "pendulum": ("Pendulum", {"hinge": 0.0}),
    "arm_2dof": ("Arm", {"shoulder": 0.0, "extension": 0.0}),
    "franka_panda": (
        "Panda",
        {f"panda_joint{i}": q for i, q in enumerate((0.0, -0.4, 0.0, -2.0, 0.0, 1.6, 0.785), start=1)},
    ),
    "anymal_c": (
        "Anymal",
        {
            f"{leg}_{joint}": q
            for leg, pose in {"LF": (0.0, 0.4, -0.8), "LH": (0.0, -0.4, 0.8)}.items()
            for leg in (leg, leg.replace("L", "R"))
            for joint, q in zip(("HAA", "HFE", "KFE"), pose, strict=True)
        },
    ),
}
# [kg]; Panda and ANYmal: sums over every link of the published URDF (the Panda's without hand)
MASSES = {"pendulum": 2.0, "arm_2dof": 8.0, "franka_panda": 16.691901, "anymal_c": 52.13485}
# robots of other people, tested in test_imported_robots.py
IMPORTED = ("unitree_go1", "unitree_g1", "i2rt_yam", "so101")
every_robot = pytest.mark.parametrize("robot", POSES)


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    folder = tmp_path_factory.mktemp("robots")
    path = os.pathsep.join(filter(None, [str(REPOSITORY / "python"), os.environ.get("PYTHONPATH")]))
    subprocess.run(
        [sys.executable, "-B", str(REPOSITORY / "tools" / "robots" / "write_robots.py"), str(folder)],
        env={**os.environ, "PYTHONPATH": path},
        check=True,
        capture_output=True,
    )
    return folder


@functools.cache  # a prim is valid only while its stage lives
def open_robot(robot):
    return Usd.Stage.Open(str(FOLDER / f"{robot}.usda"))


def prims(stage, schema):
    return [schema(prim) for prim in stage.Traverse() if prim.IsA(schema)]


def moving_joints(stage):
    return [*prims(stage, UsdPhysics.RevoluteJoint), *prims(stage, UsdPhysics.PrismaticJoint)]


def links(stage):
    return [UsdPhysics.MassAPI(prim) for prim in stage.Traverse() if prim.HasAPI(UsdPhysics.RigidBodyAPI)]


def world(prim):
    return UsdGeom.Xformable(prim).ComputeLocalToWorldTransform(Usd.TimeCode.Default())


def frame(rotation, position):
    return Gf.Matrix4d(1.0).SetRotate(Gf.Quatd(rotation)) * Gf.Matrix4d(1.0).SetTranslate(Gf.Vec3d(position))


@every_robot
@pytest.mark.slow
def test_committed_file_is_what_the_script_writes(robot, written):
    assert (FOLDER / f"{robot}.usda").read_bytes() == (written / f"{robot}.usda").read_bytes()


def test_hand_has_its_joints_motors_and_tendons(written):
    assert (FOLDER / "shadow_hand.xml").read_bytes() == (written / "shadow_hand.xml").read_bytes()
    motors = aa.motors_of_model(model := mujoco.MjModel.from_xml_path(str(FOLDER / "shadow_hand.xml")))
    assert (model.njnt, len(motors)) == (24, 20)
    shafts = [one for motor in motors.values() for one in motor.others if isinstance(one, aa.LinkageConfig)]
    assert [one.joints for one in shafts] == [[f"{name}J2", f"{name}J1"] for name in ("FF", "MF", "RF", "LF")]
    # published: that of the links without the mount
    assert model.body_mass.sum() == pytest.approx(4.911)


def test_every_committed_file_has_a_test(written):
    sys.path.insert(0, str(REPOSITORY / "tools" / "robots"))
    try:
        from imported_robots import ROBOTS
    finally:
        del sys.path[0]
    imported = {robot.file for robot in ROBOTS}
    names = {path.stem for path in written.glob("*.usda")}
    assert names == {path.stem for path in FOLDER.glob("*.usda")} - imported == set(POSES)
    assert imported == set(IMPORTED)


@every_robot
def test_total_mass_is_the_published_one(robot):
    assert sum(link.GetMassAttr().Get() for link in links(open_robot(robot))) == pytest.approx(MASSES[robot], abs=1e-5)


@every_robot
def test_inertias_are_possible(robot):
    for link in links(open_robot(robot)):
        moments = sorted(link.GetDiagonalInertiaAttr().Get())
        assert moments[0] > 0.0 and moments[2] < moments[0] + moments[1]


@pytest.mark.parametrize("robot", [*POSES, *IMPORTED])
def test_links_stand_where_the_joint_state_puts_them(robot):
    """Close every joint: parent, frame and motion must lead to the child's frame."""
    for joint in moving_joints(open_robot(robot)):
        prim = joint.GetPrim()
        parent, child = (
            world(prim.GetStage().GetPrimAtPath(body.GetTargets()[0]))
            for body in (joint.GetBody0Rel(), joint.GetBody1Rel())
        )
        in_parent = frame(joint.GetLocalRot0Attr().Get(), joint.GetLocalPos0Attr().Get())
        in_child = frame(joint.GetLocalRot1Attr().Get(), joint.GetLocalPos1Attr().Get())
        axis = Gf.Vec3d(*("XYZ"[k] == joint.GetAxisAttr().Get() for k in range(3)))
        if prim.IsA(UsdPhysics.RevoluteJoint):
            degrees = prim.GetAttribute("state:angular:physics:position").Get()
            motion = Gf.Matrix4d(1.0).SetRotate(Gf.Rotation(axis, degrees))
        else:
            motion = Gf.Matrix4d(1.0).SetTranslate(axis * prim.GetAttribute("state:linear:physics:position").Get())
        np.testing.assert_allclose(motion * in_parent * parent, in_child * child, atol=1e-6, err_msg=prim.GetName())


@every_robot
def test_every_joint_has_one_actuator(robot):
    stage = open_robot(robot)
    targets = [
        target
        for prim in stage.Traverse()
        if prim.GetTypeName() == "NewtonActuator"
        for target in prim.GetRelationship("newton:targets").GetTargets()
    ]
    assert sorted(targets) == sorted(joint.GetPath() for joint in moving_joints(stage))


@every_robot
def test_newton_reads_the_authored_pose(robot):
    import newton
    import newton.usd

    root, pose = POSES[robot]
    builder = newton.ModelBuilder()
    builder.add_usd(
        str(FOLDER / f"{robot}.usda"),
        ignore_paths=[rf"/World/{re.escape(root)}/Actuators(/.*)?$"],
        joint_ordering="bfs",
        schema_resolvers=[newton.usd.SchemaResolverNewton(), newton.usd.SchemaResolverPhysx()],
    )
    start = dict(zip(builder.joint_label, builder.joint_q_start, strict=True))
    read = {name: builder.joint_q[start[f"/World/{root}/joints/{name}"]] for name in pose}
    assert read == pytest.approx(pose, abs=1e-6)


def test_panda_flange_agrees_with_the_denavit_hartenberg_table():
    """Compute the last link's pose from Franka's published table (Craig's convention) instead of the URDF's frames."""
    a = (0.0, 0.0, 0.0, 0.0825, -0.0825, 0.0, 0.088)
    d = (0.333, 0.0, 0.316, 0.0, 0.384, 0.0, 0.0)
    alpha = np.array((0, -1, 1, 1, -1, 1, 1)) * math.pi / 2
    expected = np.eye(4)
    for a_i, d_i, alpha_i, q_i in zip(a, d, alpha, POSES["franka_panda"][1].values(), strict=True):
        (ca, sa), (cq, sq) = ((math.cos(x), math.sin(x)) for x in (alpha_i, q_i))
        expected = expected @ [
            [cq, -sq, 0.0, a_i],
            [sq * ca, cq * ca, -sa, -d_i * sa],
            [sq * sa, cq * sa, ca, d_i * ca],
            [0.0, 0.0, 0.0, 1.0],
        ]
    link7 = world(open_robot("franka_panda").GetPrimAtPath("/World/Panda/panda_link7"))
    np.testing.assert_allclose(np.array(link7).T, expected, atol=1e-6)


def test_anymal_feet_touch_the_ground():
    """Find four foot spheres whose lowest points lie on the plane z = 0."""
    feet = [
        sphere
        for sphere in prims(open_robot("anymal_c"), UsdGeom.Sphere)
        if sphere.GetPrim().HasAPI("PhysicsCollisionAPI")
    ]
    heights = [world(foot.GetPrim()).ExtractTranslation()[2] - foot.GetRadiusAttr().Get() for foot in feet]
    assert heights == pytest.approx([0.0] * 4, abs=1e-6)


@pytest.mark.parametrize(("leg", "front", "left"), [("LF", 1, 1), ("RF", 1, -1), ("LH", -1, 1), ("RH", -1, -1)])
def test_anymal_feet_stand_where_the_published_leg_puts_them(leg, front, left):
    """Compute the foot by hand: with abduction at zero a leg is two bars in a plane, mirrored from leg to leg."""
    hip_x, hip_y = 0.2999 + 0.0599, 0.104 + 0.08381
    knee, foot = np.array((0.0, -0.285)), np.array((0.08795, -0.33797))

    def pitch(angle):  # about +Y, acting on (x, z)
        return np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]])

    x, z = pitch(0.4) @ (knee + pitch(-0.8) @ foot)
    stage = open_robot("anymal_c")
    base = world(stage.GetPrimAtPath("/World/Anymal/base")).ExtractTranslation()
    sphere = next(s for s in prims(stage, UsdGeom.Sphere) if f"{leg}_SHANK" in str(s.GetPath()))
    offset = world(sphere.GetPrim()).ExtractTranslation() - base
    np.testing.assert_allclose(offset, (front * (hip_x + x), left * (hip_y + 0.1003 + 0.01305), z), atol=1e-6)
