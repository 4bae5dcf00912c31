"""Joints: series and loops, initial positions, attributes of MuJoCo; loops stay closed."""

import math
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model, initial_state
from isaacsim.core.experimental.actuators.simulators.scene.frames import Frame
from isaacsim.core.experimental.actuators.simulators.scene.joints import position_in
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Axis, Mimic, Scene
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum, quaternion

BASE, BOB, HINGE = "/World/Robot/base", "/World/Robot/bob", "/World/Robot/hinge"
LOCKED = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


def simulated(made: SmallStage) -> tuple[Scene, mujoco.MjModel, mujoco.MjData]:
    scene = read_scene(made.stage)
    model, _ = build_model(scene, 0.001)
    return scene, model, mujoco.MjData(model)


def the_axis(made: SmallStage) -> Axis:
    (articulation,) = read_scene(made.stage).articulations
    (axis,) = articulation.axes
    return axis


def hinges(*joints: dict) -> Scene:
    made = pendulum()
    made.stage.RemovePrim(HINGE)
    for number, values in enumerate(joints):
        path = f"/World/Robot/h{number}"
        made.joint(**{"path": path, "kind": "Revolute", "parent": BASE, "child": BOB} | values)
    return read_scene(made.stage)


def named(scene: Scene) -> tuple[list[str], list[str]]:
    return [axis.name for axis in scene.articulations[0].axes], [loop.joint.rpartition("/")[2] for loop in scene.loops]


def triangle(kind: str = "Revolute") -> SmallStage:
    made = pendulum()
    made.body("/World/Robot/tip")
    made.joint("/World/Robot/second", "Revolute", BOB, "/World/Robot/tip")
    made.joint("/World/Robot/third", kind, BASE, "/World/Robot/tip")
    return made


@cases("kind, driven, loop", ("Revolute", False, "third"), ("Revolute", True, "second"), ("Prismatic", False, "second"))
def test_joint_that_is_driven_or_slides_closes_no_loop(kind, driven, loop) -> None:
    made = triangle(kind)
    if driven:
        made.drive("/World/Robot/third", stiffness=1.0)
    assert named(read_scene(made.stage))[1] == [loop]


@pytest.mark.parametrize(("schema", "kind"), [("MjcEqualityConnectAPI", "ball"), ("MjcEqualityWeldAPI", "fixed")])
def test_constraint_of_mujoco_leaves_nothing_free(schema, kind) -> None:
    made = triangle()
    made.body("/World/loose")
    made.joint("/World/hang", "Revolute", None, "/World/loose")
    for path in (HINGE, "/World/hang"):
        made.stage.GetPrimAtPath(path).AddAppliedSchema(schema)
    scene = read_scene(made.stage)
    assert [(loop.joint, loop.kind) for loop in scene.loops] == [(HINGE, kind)]
    assert named(scene)[0] == ["third", "second"]
    assert [body.kind for body in scene.bodies if body.path == "/World/loose"] == [kind]


def test_joint_between_a_body_and_itself_is_nothing() -> None:
    made = pendulum()
    made.joint("/World/Robot/own", "Fixed", BOB, BOB)
    made.joint("/World/still", "Fixed", None, "/World")
    assert named(read_scene(made.stage)) == (["hinge"], [])


def test_two_hinges_of_a_door_are_a_loop() -> None:
    scene = hinges({"axis": "Z"}, {"axis": "Z", "at": (0, 0, 1), "in_child": (0, 0, 1)})
    assert named(scene) == (["h0"], ["h1"])


def test_hinges_about_three_axes_are_one_behind_the_other() -> None:
    scene = hinges(*({"axis": axis, "path": f"/World/Robot/{name}"} for axis, name in zip("ZXY", "bca", strict=True)))
    assert named(scene) == (["b", "c", "a"], [])
    directions = [axis.direction for axis in scene.articulations[0].axes]
    np.testing.assert_allclose(directions, [(0, 0, 1), (1, 0, 0), (0, 1, 0)], atol=1e-7)


def test_hinge_that_is_excluded_from_the_robot_is_a_loop() -> None:
    made = pendulum()
    prim = made.joint("/World/Robot/other", "Revolute", BASE, BOB, axis="X")
    prim.GetAttribute("physics:excludeFromArticulation").Set(True)
    assert named(read_scene(made.stage)) == (["hinge"], ["other"])


def test_slide_beside_a_hinge_is_behind_it() -> None:
    """About the same axis too: a screw joint without its thread, either way round."""
    assert named(hinges({"axis": "Z"}, {"kind": "Prismatic", "axis": "Z"})) == (["h0", "h1"], [])
    assert named(hinges({"kind": "Prismatic", "axis": "Z"}, {"axis": "Z"})) == (["h0", "h1"], [])


@pytest.mark.parametrize("other", [{"at": (0, 0, 0.3)}, {"turn": ((0, 0, 1), 30)}])
def test_hinges_that_want_the_bodies_elsewhere_are_a_loop(other) -> None:
    """At joint zero two of them would have the link in two places."""
    assert named(hinges({"axis": "Y"}, {"axis": "X", **other})) == (["h0"], ["h1"])


def test_fixed_joint_beside_a_hinge_holds_it() -> None:
    assert named(hinges({"axis": "Y"}, {"kind": "Fixed"})) == (["h0"], ["h1"])


def generic(free: Sequence[str], *, backward: bool) -> SmallStage:
    """A D6 joint between base and bob, from the one to the other or back, with its frame off the origins."""
    made = pendulum()
    made.stage.RemovePrim(HINGE)
    ends = ((BASE, (0.1, 0.2, 0.3), ((1, 1, 0), 40)), (BOB, (0.0, -0.1, 0.2), ((0, 1, 1), -70)))
    (parent, at, turn), (child, in_child, turn_in_child) = ends[::-1] if backward else ends
    made.joint(HINGE, "", parent, child, at=at, turn=turn, in_child=in_child, turn_in_child=turn_in_child)
    for axis in LOCKED:
        limit = UsdPhysics.LimitAPI.Apply(made.stage.GetPrimAtPath(HINGE), axis)
        low, high = (-2.0, 1.0) if axis in free else (1.0, -1.0)
        limit.CreateLowAttr(low)
        limit.CreateHighAttr(high)
    return made


@pytest.mark.parametrize("free", [("rotX", "rotZ"), ("transY", "rotX", "rotY", "rotZ"), ("transX", "transZ")])
@pytest.mark.filterwarnings("ignore:links are authored")
def test_joint_with_its_bodies_swapped_moves_the_other_way(free, rng) -> None:
    """Its frame in body1, as seen from that in body0, is `T(x) T(y) T(z) R(x) R(y) R(z)`: here by hand."""
    values = dict(zip(free, rng.uniform(-0.8, 0.8, len(free)).tolist(), strict=True))
    expected = Gf.Matrix4d(1.0)
    for name in reversed(free):
        axis = Gf.Vec3d.Axis("XYZ".index(name[-1]))
        one = Gf.Matrix4d(1.0)
        if name.startswith("rot"):
            one.SetRotate(Gf.Rotation(axis, math.degrees(values[name])))
        else:
            one.SetTranslate(axis * values[name])
        # Gf multiplies rows from the left: the last one turns first
        expected = expected * one
    for backward in (False, True):
        made = generic(free, backward=backward)
        scene, model, data = simulated(made)
        for axis in scene.articulations[0].axes:
            wanted = pytest.approx((-2.0, 1.0) if axis.linear else (math.radians(-2), math.radians(1)), rel=1e-6)
            assert (axis.lower, axis.upper) == wanted
            data.joint(f"{HINGE}:{axis.usd_name}").qpos[0] = values[axis.usd_name]
        mujoco.mj_kinematics(model, data)
        joint = UsdPhysics.Joint(made.stage.GetPrimAtPath(HINGE))
        first, second = (local(joint, side) * world(data, str(body(joint, side).GetTargets()[0])) for side in (0, 1))
        np.testing.assert_allclose(np.array(second * first.GetInverse()), np.array(expected), atol=1e-6)


def body(joint: UsdPhysics.Joint, side: int) -> Usd.Relationship:
    return joint.GetBody1Rel() if side else joint.GetBody0Rel()


def local(joint: UsdPhysics.Joint, side: int) -> Gf.Matrix4d:
    place, turn = (joint.GetPrim().GetAttribute(f"physics:local{what}{side}").Get() for what in ("Pos", "Rot"))
    return Gf.Matrix4d(Gf.Rotation(Gf.Quatd(turn).GetNormalized()), Gf.Vec3d(place))


def world(data: mujoco.MjData, path: str) -> Gf.Matrix4d:
    found = data.body(path)
    return Gf.Matrix4d(Gf.Rotation(Gf.Quatd(*found.xquat.tolist())), Gf.Vec3d(*found.xpos.tolist()))


@pytest.mark.parametrize("linear", [False, True])
@pytest.mark.parametrize("seed", range(20))
def test_position_is_found_back(linear, seed) -> None:
    rng = np.random.default_rng(seed)
    direction, anchor = rng.normal(size=3), rng.normal(size=3)
    direction /= np.linalg.norm(direction)
    axis = Axis("a", "/a", "linear" if linear else "angular", linear, anchor, direction)
    position = float(rng.uniform(-2, 2) if linear else rng.uniform(-3.1, 3.1))
    along, through = Gf.Vec3d(*direction.tolist()), Gf.Vec3d(*anchor.tolist())
    if linear:
        pose = Frame(along * position, Gf.Quatd(1.0))
    else:
        turn = Gf.Quatd(Gf.Rotation(along, math.degrees(position)).GetQuat())
        # either quaternion of a rotation
        pose = Frame(through - turn.Transform(through), turn * (1 if seed % 2 else -1))
    assert position_in(axis, pose) == pytest.approx((position, 0.0), abs=1e-9)
    aside = Gf.Cross(along, Gf.Vec3d(0.3, 0.4, 0.5))
    found, off = position_in(axis, Frame(pose.place + aside.GetNormalized() * 0.25, pose.turn))
    assert (found, off) == pytest.approx((position, 0.25), abs=1e-9)


def posed(degrees: float, *, kind: str = "Revolute", **joint: object) -> SmallStage:
    made = pendulum(kind=kind, at=(0, 0, 0.5), in_child=(0, 0, 0.2), **joint)
    turn = quaternion((0, 1, 0), degrees if kind == "Revolute" else 0)
    place = Gf.Vec3d(0, 0, 0.5) - Gf.Vec3d(Gf.Quatd(turn).Transform(Gf.Vec3d(0, 0, 0.2)))
    prim = made.stage.GetPrimAtPath(BOB)
    prim.GetAttribute("xformOp:translate").Set(place + Gf.Vec3d(0, 0 if kind == "Revolute" else degrees, 0))
    UsdGeom.Xformable(prim).AddOrientOp().Set(turn)
    return made


@pytest.mark.parametrize(("kind", "value", "expected"), [("Revolute", 35.0, math.radians(35)), ("Prismatic", 0.3, 0.3)])
def test_joint_begins_where_its_link_is_authored(kind, value, expected) -> None:
    made = posed(value, kind=kind)
    scene, model, data = simulated(made)
    data.qpos[:], _ = initial_state(scene, model)
    assert data.qpos[0] == pytest.approx(expected, abs=1e-6)
    mujoco.mj_kinematics(model, data)
    place = made.stage.GetPrimAtPath(BOB).GetAttribute("xformOp:translate").Get()
    np.testing.assert_allclose(data.body(BOB).xpos, place, atol=1e-6)


def test_authored_state_goes_before_the_pose() -> None:
    made = posed(35.0, limits=(-20, 20))
    made.state(HINGE, position=10.0)
    assert the_axis(made).position == pytest.approx(math.radians(10), rel=1e-6)


def test_pose_outside_the_limits_is_told() -> None:
    with pytest.warns(UserWarning, match=rf"limits .* do not let them be.*{HINGE} \(0.6109, limits -0.3491 … 0.3491\)"):
        assert the_axis(posed(35.0, limits=(-20, 20))).position == 0.0


def test_pose_that_no_position_reaches_is_told() -> None:
    made = pendulum()
    made.stage.GetPrimAtPath(BOB).GetAttribute("xformOp:translate").Set(Gf.Vec3d(0.3, 0, 0))
    with pytest.warns(UserWarning, match=rf"joints cannot take them: {HINGE}\. These joints begin at 0"):
        assert the_axis(made).position == 0.0


def test_one_warning_names_several_joints() -> None:
    made = SmallStage()
    made.root("/World/Robot")
    made.body(BASE)
    made.joint("/World/Robot/fix", "Fixed", None, BASE)
    for number in range(6):
        made.body(f"/World/Robot/l{number}", (1.0, 0, 0))
        made.joint(f"/World/Robot/j{number}", "Revolute", BASE, f"/World/Robot/l{number}")
    with pytest.warns(UserWarning, match=r"/j0, .*/j1, .*/j2, .*/j3 and 2 more\. These") as caught:
        read_scene(made.stage)
    assert len(caught) == 1


@cases(
    "attribute, value, field, angular",
    ("mjc:armature", 0.07, "armature", False),
    ("mjc:frictionloss", 0.3, "friction", False),
    ("mjc:damping", 0.01, "damping", False),
    ("mjc:stiffness", 5.0, "stiffness", False),
    ("mjc:springref", 30.0, "rest", True),
    ("mjc:ref", 20.0, "reference", True),
)
@pytest.mark.parametrize("unit", ["degree", "radian", None])
@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_attribute_of_mujoco_is_read(attribute, value, field, angular, unit, kind) -> None:
    made = pendulum(kind=kind)
    made.attribute(HINGE, attribute, value)
    if unit is not None:
        scene = made.stage.GetPrimAtPath("/World/physicsScene")
        scene.CreateAttribute("mjc:compiler:angle", Sdf.ValueTypeNames.Token).Set(unit)
    in_degrees = angular and kind == "Revolute" and unit != "radian"
    assert getattr(the_axis(made), field) == pytest.approx(math.radians(value) if in_degrees else value, rel=1e-6)


def test_spring_pulls_to_its_rest() -> None:
    made = pendulum()
    made.attribute(HINGE, "mjc:stiffness", 5.0)
    made.attribute(HINGE, "mjc:springref", 30.0)
    _, model, data = simulated(made)
    mujoco.mj_forward(model, data)
    assert data.qfrc_passive[0] == pytest.approx(5 * math.radians(30), rel=1e-6)


def test_spring_is_found_for_a_time_constant() -> None:
    """MuJoCo's stiffness is I / (T r)², its damping 2 I / T."""
    made = pendulum()
    hinge = made.stage.GetPrimAtPath(HINGE)
    hinge.CreateAttribute("mjc:springdamper", Sdf.ValueTypeNames.DoubleArray).Set([0.5, 0.7])
    model, _ = build_model(read_scene(made.stage), 0.001)
    stiffness, damping = model.jnt_stiffness[0], model.dof_damping[0]
    assert stiffness > 0 and damping / stiffness == pytest.approx(2 * 0.5 * 0.7**2, rel=1e-6)


def test_reference_is_where_the_link_is_authored() -> None:
    made = pendulum()
    made.attribute(HINGE, "mjc:ref", 20.0)
    scene, model, data = simulated(made)
    data.qpos[:], _ = initial_state(scene, model)
    mujoco.mj_kinematics(model, data)
    assert data.qpos[0] == pytest.approx(math.radians(20), rel=1e-6)
    np.testing.assert_allclose(data.body(BOB).xquat, [1, 0, 0, 0], atol=1e-7)


@cases(
    "values, limited, drive, expected",
    ((-3.0, 5.0), "auto", None, 5.0),
    ((-3.0, 5.0), "false", None, math.inf),
    ((0.0, 0.0), "auto", None, math.inf),
    ((-3.0, 5.0), "true", 2.0, 2.0),
)
def test_force_range_limits_the_drive(values, limited, drive, expected) -> None:
    made = pendulum()
    for name, value in zip(("min", "max"), values, strict=True):
        made.attribute(HINGE, f"mjc:actuatorfrcrange:{name}", value)
    prim = made.stage.GetPrimAtPath(HINGE)
    prim.CreateAttribute("mjc:actuatorfrclimited", Sdf.ValueTypeNames.Token).Set(limited)
    if drive is not None:
        made.drive(HINGE, maxForce=drive)
    assert the_axis(made).drive_limit == expected


def test_newton_goes_before_mujoco() -> None:
    made = pendulum()
    made.attribute(HINGE, "newton:armature", 0.25)
    made.attribute(HINGE, "mjc:armature", 0.5)
    made.attribute(HINGE, "newton:friction", 0.75)
    made.attribute(HINGE, "mjc:frictionloss", 0.5)
    assert (the_axis(made).armature, the_axis(made).friction) == pytest.approx((0.25, 0.75))


def test_static_friction_is_taken_and_told() -> None:
    made = pendulum()
    prim = made.stage.GetPrimAtPath(HINGE)
    prim.AddAppliedSchema("PhysxJointAxisAPI:angular")
    for name, value in (("static", 0.4), ("dynamic", 0.3)):
        made.attribute(HINGE, f"physxJointAxis:angular:{name}FrictionEffort", value)
    with pytest.warns(UserWarning, match=f"friction of {HINGE} differ"):
        assert the_axis(made).friction == pytest.approx(0.4)


def four_bar(kind: str) -> SmallStage:
    """A crank, a coupler and a rocker on a base, closed at the far end of the coupler; the crank is driven."""
    made = SmallStage()
    made.root("/World/Robot")
    links = {"base": (0, 0, 0), "crank": (0, 0, 0), "coupler": (0, 0, 0.3), "rocker": (1, 0, 0)}
    for name, place in links.items():
        made.body(f"/World/Robot/{name}", place)
    made.joint("/World/Robot/fix", "Fixed", None, BASE)
    robot = "/World/Robot"
    made.joint(f"{robot}/a", "Revolute", BASE, f"{robot}/crank")
    made.joint(f"{robot}/b", "Revolute", f"{robot}/crank", f"{robot}/coupler", at=(0, 0, 0.3))
    made.joint(f"{robot}/c", "Revolute", BASE, f"{robot}/rocker", at=(1, 0, 0))
    ends = {"at": (1, 0, 0), "in_child": (0, 0, 0.3)}
    if kind == "Fixed":
        # a bar that moves with the coupler has to be a hinge: an extra link welded to one and hinged to the other
        made.body(f"{robot}/pin", (1, 0, 0.3))
        made.joint(f"{robot}/d", "Revolute", f"{robot}/rocker", f"{robot}/pin", at=(0, 0, 0.3))
        ends = {"at": (1, 0, 0)}
    far = f"{robot}/{'pin' if kind == 'Fixed' else 'rocker'}"
    prim = made.joint(f"{robot}/loop", kind, f"{robot}/coupler", far, **ends)
    UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(True)
    return made


@pytest.mark.parametrize(("kind", "found"), [("Fixed", "fixed"), ("Revolute", "hinge"), ("Spherical", "ball")])
def test_four_bar_linkage_stays_closed_while_it_is_driven(kind, found) -> None:
    scene = read_scene(four_bar(kind).stage)
    assert [loop.kind for loop in scene.loops] == [found]
    model, _ = build_model(scene, 0.001)
    data = mujoco.MjData(model)
    crank = model.joint("/World/Robot/a").dofadr[0]
    far = "pin" if kind == "Fixed" else "rocker"
    pin = (1.0, 0, 0), (0.0, 0, 0.0 if kind == "Fixed" else 0.3)
    apart = turned = moved = 0.0
    for _ in range(2000):
        data.qfrc_applied[crank] = 1.5 * math.sin(4 * data.time)
        mujoco.mj_step(model, data)
        one, other = data.body("/World/Robot/coupler"), data.body(f"/World/Robot/{far}")
        points = [link.xpos + link.xmat.reshape(3, 3) @ point for link, point in zip((one, other), pin, strict=True)]
        moved = max(moved, abs(data.qpos[crank]))
        apart = max(apart, float(np.linalg.norm(points[0] - points[1])))
        turned = max(turned, float(np.abs(one.xmat - other.xmat).max()))
    assert apart < 1e-3 and moved > 0.3
    assert kind != "Fixed" or turned < 1e-2


@pytest.mark.filterwarnings("ignore:joints belong to no robot")
def test_drive_of_a_joint_outside_any_articulation_acts() -> None:
    made = pendulum()
    for name, values in (
        ("shut", {"stiffness": 20.0, "damping": 2.0, "targetPosition": 30.0}),
        ("turning", {"damping": 2.0, "targetVelocity": 90.0}),
    ):
        made.body(f"/World/{name}")
        made.joint(f"/World/{name}_hinge", "Revolute", None, f"/World/{name}", axis="Z")
        made.drive(f"/World/{name}_hinge", **values)
    scene = read_scene(made.stage)
    assert [axis.name for articulation in scene.articulations for axis in articulation.axes] == ["hinge"]
    model, _ = build_model(scene, 0.001)
    data = mujoco.MjData(model)
    for _ in range(3000):
        mujoco.mj_step(model, data)
    assert data.joint("/World/shut_hinge").qpos[0] == pytest.approx(math.radians(30), abs=1e-3)
    assert data.joint("/World/turning_hinge").qvel[0] == pytest.approx(math.radians(90), rel=1e-3)


@cases("attribute, value, part", ("physxRigidBody:disableGravity", True, 1.0), ("mjc:body:gravcomp", 0.5, 0.5))
def test_weight_can_be_taken_from_a_body(attribute, value, part) -> None:
    made = SmallStage()
    made.body("/World/ball")
    made.attribute("/World/ball", attribute, value)
    _, model, data = simulated(made)
    mujoco.mj_forward(model, data)
    assert data.qacc[2] == pytest.approx(-9.81 * (1 - part), abs=1e-9)


def test_reading_says_nothing_of_what_is_right() -> None:
    read_scene(posed(15.0, limits=(-20, 20)).stage)


LEADER, FOLLOWER = "/World/Robot/hinge", "/World/Robot/follow"


def coupled(
    schema: str = "NewtonMimicAPI", relation: str = "newton:mimicJoint", kind: str = "Revolute", **leader: object
) -> SmallStage:
    made = pendulum(**leader)
    made.body("/World/Robot/other")
    prim = made.joint(FOLLOWER, kind, "/World/Robot/base", "/World/Robot/other")
    prim.AddAppliedSchema(schema)
    prim.CreateRelationship(relation).SetTargets([LEADER])
    return made


def author(made: SmallStage, **values: float) -> None:
    for name, value in values.items():
        made.attribute(FOLLOWER, name.replace("__", ":"), value)


def mimics(made: SmallStage) -> list[Mimic]:
    return read_scene(made.stage).mimics


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_follower_takes_the_polynomial(kind: str) -> None:
    made = coupled(kind=kind)
    made.stage.GetPrimAtPath(FOLLOWER).AddAppliedSchema("MjcEqualityJointAPI")
    author(made, newton__mimicCoef0=3.0, newton__mimicCoef1=0.5, mjc__coef2=-0.25, mjc__coef3=0.125, mjc__coef4=0.0625)
    scene = read_scene(made.stage)
    unit = math.radians(1) if kind == "Revolute" else 1.0
    coefficients = (3 * unit, 0.5, -0.25, 0.125, 0.0625)
    (mimic,) = scene.mimics
    assert mimic.coefficients == pytest.approx(coefficients, rel=1e-6)
    model, _ = build_model(scene, 0.001)
    model.opt.gravity[:] = 0.0
    data = mujoco.MjData(model)
    follower, leader = (model.joint(path).qposadr[0] for path in (FOLLOWER, LEADER))
    # heavy enough to lead
    model.dof_armature[leader] = 1e6
    data.qpos[leader] = 0.8
    for _ in range(2000):
        mujoco.mj_step(model, data)
    expected = sum(coefficient * 0.8**power for power, coefficient in enumerate(coefficients))
    assert data.qpos[follower] == pytest.approx(expected, abs=1e-3)


def test_older_converters_name_the_leader_otherwise() -> None:
    made = coupled("MjcEqualityJointAPI", "mjc:target")
    author(made, mjc__coef0=0.1, mjc__coef1=2.0)
    (mimic,) = mimics(made)
    assert mimic.leader is not None and mimic.leader.joint == LEADER
    assert mimic.coefficients == pytest.approx((0.1, 2.0, 0, 0, 0), rel=1e-6)


def test_offset_of_physx_is_on_the_other_side() -> None:
    """follower + gearing · leader + offset = 0, in degrees."""
    made = coupled("PhysxMimicJointAPI:rotX", "physxMimicJoint:rotX:referenceJoint")
    author(made, physxMimicJoint__rotX__gearing=-2.0, physxMimicJoint__rotX__offset=90.0)
    (mimic,) = mimics(made)
    assert mimic.coefficients == pytest.approx((-math.pi / 2, 2.0, 0, 0, 0), rel=1e-6)


def test_nothing_follows_on_a_fixed_joint() -> None:
    assert mimics(coupled(kind="Fixed")) == []


def test_what_follows_a_fixed_joint_stays() -> None:
    made = coupled(kind="Revolute")
    made.stage.RemovePrim(LEADER)
    made.joint(LEADER, "Fixed", "/World/Robot/base", "/World/Robot/bob")
    author(made, newton__mimicCoef0=20.0)
    (mimic,) = mimics(made)
    assert mimic.leader is None
    _, model, data = simulated(made)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.joint(FOLLOWER).qpos[0] == pytest.approx(math.radians(20), abs=1e-3)


def test_coupling_can_be_switched_off() -> None:
    made = coupled()
    author(made, newton__mimicEnabled=False)
    assert mimics(made) == []


@pytest.mark.parametrize("target", ["/World/Robot/nothing", "/World/Robot/base", None])
def test_leader_that_is_none_is_named(target: str | None) -> None:
    made = coupled()
    made.stage.GetPrimAtPath(FOLLOWER).GetRelationship("newton:mimicJoint").SetTargets([target] if target else [])
    named = f"<{target}>" if target else "nothing"
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), rf"<{FOLLOWER}> follows {named}")


def test_leader_that_closes_a_loop_is_named() -> None:
    made = coupled()
    prim = made.joint("/World/Robot/bar", "Revolute", "/World/Robot/bob", "/World/Robot/other")
    UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(True)
    made.stage.GetPrimAtPath(FOLLOWER).GetRelationship("newton:mimicJoint").SetTargets(["/World/Robot/bar"])
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), "must be a joint that closes no loop")


def test_several_axes_cannot_be_followed() -> None:
    made = coupled(kind="")
    for axis in ("transX", "transY", "transZ", "rotX"):
        limit = UsdPhysics.LimitAPI.Apply(made.stage.GetPrimAtPath(FOLLOWER), axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    with pytest.raises(UnsupportedSceneError, match=f"<{FOLLOWER}> follows <{LEADER}> and one of them has several"):
        read_scene(made.stage)


@pytest.mark.parametrize("several", ["leader", "follower"])
def test_joints_of_several_axes_neither_follow_nor_lead(several: str) -> None:
    made = coupled(kind="") if several == "follower" else coupled()
    if several == "leader":
        made.stage.GetPrimAtPath(LEADER).SetTypeName("PhysicsJoint")
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), "one of them has several axes")
