"""The scene that is read from a stage: names, SI units, poses, and errors."""

import itertools
import math
import os
import random
import sys
from collections.abc import Sequence
from pathlib import Path

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import _set_masks, read_scene, with_drawn
from isaacsim.core.experimental.actuators.simulators.scene.scene import Axis, Scene
from isaacsim.core.experimental.actuators.simulators.scene.shapes import Collider
from places import REPOSITORY, ROBOTS
from processes import ran
from pxr import Gf, Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum, two_robots
from stages import stage_of

PER_DEGREE = 180 / math.pi
HINGE = "/World/Robot/hinge"


def asset(name: str) -> Usd.Stage:
    import newton

    return Usd.Stage.Open(str(Path(newton.__file__).parent / "examples" / "assets" / name))


def hinge_of(made: SmallStage) -> Axis:
    (articulation,) = read_scene(made.stage).articulations
    (axis,) = articulation.axes
    return axis


def body_of(scene: Scene, path: str):
    return next(body for body in scene.bodies if body.path == path)


ANYMAL = [f"{leg}_{joint}" for joint in ("HAA", "HFE", "KFE") for leg in ("LF", "LH", "RF", "RH")]
HUMANOID = """
    left_upper_arm:rotX left_upper_arm:rotZ lower_waist:rotX lower_waist:rotY right_upper_arm:rotX right_upper_arm:rotZ
    left_elbow abdomen_x right_elbow left_thigh:rotX left_thigh:rotY left_thigh:rotZ right_thigh:rotX right_thigh:rotY
    right_thigh:rotZ left_knee right_knee left_foot:rotX left_foot:rotY right_foot:rotX right_foot:rotY
""".split()
ANT = [
    f"{side}_{part}" for part in ("leg", "foot") for side in ("front_left", "front_right", "left_back", "right_back")
]
FILES = {
    "pendulum": (lambda: Usd.Stage.Open(str(ROBOTS / "pendulum.usda")), ["/World/Pendulum"], ["hinge"]),
    "arm": (lambda: Usd.Stage.Open(str(ROBOTS / "arm_2dof.usda")), ["/World/Arm"], ["shoulder", "extension"]),
    "franka": (
        lambda: Usd.Stage.Open(str(ROBOTS / "franka_panda.usda")),
        ["/World/Panda"],
        [f"panda_joint{i}" for i in range(1, 8)],
    ),
    "anymal": (lambda: Usd.Stage.Open(str(ROBOTS / "anymal_c.usda")), ["/World/Anymal"], ANYMAL),
    "two anymals": (
        lambda: two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal"),
        ["/World/Left", "/World/Right"],
        ANYMAL,
    ),
    "ant": (lambda: asset("ant.usda"), ["/ant"], ANT),
    "humanoid": (lambda: asset("humanoid.usda"), ["/nv_humanoid/torso"], HUMANOID),
    "cartpole": (lambda: asset("cartpole.usda"), ["/cartPole"], ["railCartJoint", "cartPoleJoint", "polePoleJoint"]),
    "single cartpole": (
        lambda: asset("cartpole_single_pendulum.usda"),
        ["/cartpole"],
        ["slider_to_cart", "cart_to_pole"],
    ),
}


@pytest.mark.filterwarnings("ignore:joints begin outside their limits.* /ant/")
@pytest.mark.parametrize(("stage", "paths", "names"), FILES.values(), ids=list(FILES))
def test_robots_and_their_axes_are_found(stage, paths: list[str], names: list[str]) -> None:
    articulations = read_scene(stage()).articulations
    assert [a.path for a in articulations] == paths
    assert all([axis.name for axis in a.axes] == names for a in articulations)


def test_axes_of_one_joint_share_its_path() -> None:
    (humanoid,) = read_scene(asset("humanoid.usda")).articulations
    thigh = {axis.joint for axis in humanoid.axes if axis.name.startswith("left_thigh:")}
    assert thigh == {"/nv_humanoid/joints/left_thigh"}


@pytest.mark.parametrize("place", ["robot", "link", "joint"])
def test_articulation_root_may_sit_anywhere(place: str) -> None:
    made = pendulum()
    path = {"robot": "/World/Robot", "link": "/World/Robot/base", "joint": "/World/Robot/fix"}[place]
    made.stage.GetPrimAtPath("/World/Robot").RemoveAPI(UsdPhysics.ArticulationRootAPI)
    UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath(path))
    found = [(a.path, [axis.joint for axis in a.axes]) for a in read_scene(made.stage).articulations]
    assert found == [(path, [HINGE])]


@pytest.mark.parametrize("place", ["above", "on"])
def test_robot_of_one_body_has_no_axes(place: str) -> None:
    made = SmallStage()
    root = made.root("/World/Robot") if place == "above" else None
    body = made.body("/World/Robot/hull" if root else "/World/Robot")
    if root is None:
        UsdPhysics.ArticulationRootAPI.Apply(body)
    assert [(a.path, a.axes) for a in read_scene(made.stage).articulations] == [("/World/Robot", [])]


def test_loose_body_is_no_robot() -> None:
    made = pendulum()
    made.body("/World/ball")
    assert [a.path for a in read_scene(made.stage).articulations] == ["/World/Robot"]


def test_reading_leaves_the_stage_alone() -> None:
    stage = stage_of(ROBOTS / "arm_2dof.usda")
    before = stage.ExportToString()
    read_scene(stage)
    assert stage.ExportToString() == before


def test_broken_actuator_prim_does_not_stop_physics() -> None:
    """newton would refuse the whole stage."""
    stage = stage_of(ROBOTS / "arm_2dof.usda")
    stage.GetPrimAtPath("/World/Arm/Actuators/shoulder").GetRelationship("newton:targets").SetTargets(["/World/Arm"])
    assert len(read_scene(stage).articulations) == 1


@cases(
    "kind, limits, expected",
    ("Revolute", (-90, 45), (-math.pi / 2, math.pi / 4)),
    ("Revolute", (None, None), (-math.inf, math.inf)),
    ("Revolute", (-90, None), (-math.pi / 2, math.inf)),
    ("Revolute", (None, 45), (-math.inf, math.pi / 4)),
    ("Revolute", (0, 0), (0, 0)),
    ("Prismatic", (-0.5, 1.5), (-0.5, 1.5)),
    ("Prismatic", (None, 1.5), (-math.inf, 1.5)),
)
def test_limits_are_in_rad_and_m(kind: str, limits: tuple, expected: tuple[float, float]) -> None:
    axis = hinge_of(pendulum(kind=kind, limits=limits))
    assert (axis.lower, axis.upper) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(("kind", "drive", "per"), [("Revolute", "angular", PER_DEGREE), ("Prismatic", "linear", 1.0)])
def test_drive_is_read_in_si(kind: str, drive: str, per: float) -> None:
    made = pendulum(kind=kind)
    values = {"stiffness": 3.0, "damping": 0.5, "maxForce": 7.0, "targetPosition": 20.0, "targetVelocity": 9.0}
    made.drive(HINGE, drive, **values)
    axis = hinge_of(made)
    read = [axis.drive_stiffness, axis.drive_damping, axis.drive_limit, axis.position_target, axis.velocity_target]
    assert read == pytest.approx([3 * per, 0.5 * per, 7, 20 / per, 9 / per], rel=1e-6)


def test_drive_without_limit_is_unlimited() -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=3.0)
    assert hinge_of(made).drive_limit == math.inf


def test_joint_without_drive_has_zero_gains() -> None:
    axis = hinge_of(pendulum())
    assert (axis.drive_stiffness, axis.drive_damping) == (0.0, 0.0)


@pytest.mark.parametrize(("kind", "state", "per"), [("Revolute", "angular", PER_DEGREE), ("Prismatic", "linear", 1.0)])
def test_initial_state_is_read_in_si(kind: str, state: str, per: float) -> None:
    made = pendulum(kind=kind)
    made.state(HINGE, state, position=30.0, velocity=-12.0)
    axis = hinge_of(made)
    assert (axis.position, axis.velocity) == pytest.approx((30 / per, -12 / per), rel=1e-6)


@cases(
    "attribute, value, field, expected",
    ("newton:armature", 0.07, "armature", 0.07),
    ("physxJoint:armature", 0.07, "armature", 0.07),
    ("newton:friction", 0.3, "friction", 0.3),
    ("newton:damping", 0.01, "damping", 0.01 * PER_DEGREE),
)
def test_joint_attribute_is_read(attribute: str, value: float, field: str, expected: float) -> None:
    made = pendulum()
    made.attribute(HINGE, attribute, value)
    assert getattr(hinge_of(made), field) == pytest.approx(expected, rel=1e-6)


def test_armature_of_newton_wins_over_that_of_physx() -> None:
    made = pendulum()
    made.attribute(HINGE, "physxJoint:armature", 0.5)
    made.attribute(HINGE, "newton:armature", 0.25)
    assert hinge_of(made).armature == pytest.approx(0.25)


@pytest.mark.parametrize("gain", ["stiffness", "damping"])
@pytest.mark.parametrize(("kind", "axis"), [("Revolute", "angular"), ("Prismatic", "linear"), ("", "rotZ")])
def test_acceleration_drive_is_named_in_a_warning(kind: str, axis: str, gain: str) -> None:
    made = pendulum(kind=kind)
    made.drive(HINGE, axis, **{gain: 3.0}, type="acceleration")
    with pytest.warns(UserWarning, match=rf"'acceleration' act as force drives here: {HINGE}\. Author"):
        read_scene(made.stage)


@pytest.mark.parametrize("values", [{"stiffness": 3.0, "type": "force"}, {"stiffness": 0.0, "type": "acceleration"}])
def test_drive_that_means_what_it_says_is_not_warned_about(values: dict) -> None:
    made = pendulum()
    made.drive(HINGE, **values)
    read_scene(made.stage)


@cases(
    "schema, values, relation, expected",
    ("NewtonMimicAPI", {}, "newton:mimicJoint", (0.0, 1.0)),
    (
        "NewtonMimicAPI",
        {"newton:mimicCoef0": 18.0, "newton:mimicCoef1": -2.0},
        "newton:mimicJoint",
        (math.pi / 10, -2.0),
    ),
    (
        "PhysxMimicJointAPI:rotY",
        {"physxMimicJoint:rotY:gearing": 1.5},
        "physxMimicJoint:rotY:referenceJoint",
        (0.0, -1.5),
    ),
)
def test_mimic_joint_is_read(schema: str, values: dict, relation: str, expected: tuple[float, float]) -> None:
    made = pendulum()
    made.body("/World/Robot/other")
    prim = made.joint("/World/Robot/follow", "Revolute", "/World/Robot/base", "/World/Robot/other")
    prim.AddAppliedSchema(schema)
    prim.CreateRelationship(relation).SetTargets([HINGE])
    for name, value in values.items():
        made.attribute("/World/Robot/follow", name, value)
    (mimic,) = read_scene(made.stage).mimics
    assert (mimic.follower.name, mimic.leader.name) == ("follow", "hinge")
    assert mimic.coefficients == pytest.approx((*expected, 0, 0, 0), rel=1e-6)


MIMIC = """
import sys
sys.path.insert(0, {support!r})
from small_stages import pendulum
made = pendulum()
made.body("/World/Robot/other")
prim = made.joint("/World/Robot/follow", "Revolute", "/World/Robot/base", "/World/Robot/other")
prim.AddAppliedSchema("NewtonMimicAPI")
prim.CreateRelationship("newton:mimicJoint").SetTargets(["/World/Robot/hinge"])
from isaacsim.core.experimental.actuators import Simulation
print("coupled:", Simulation(made.stage)._host.model.neq)
"""


@pytest.mark.slow
def test_mimic_joint_is_coupled_whoever_opened_the_first_stage() -> None:
    """USD takes schemas only before its first stage, which another program may have opened."""
    code = MIMIC.format(support=str(REPOSITORY / "tests" / "support"))
    done = ran([sys.executable, "-c", code], env=os.environ | {"PYTHONPATH": str(REPOSITORY / "python")})
    assert done.stdout.strip() == "coupled: 1", done.stderr


def test_free_body_starts_where_it_stands() -> None:
    made = SmallStage()
    UsdGeom.Xform.Define(made.stage, "/World/group").AddTranslateOp().Set(Gf.Vec3d(1, 2, 3))
    made.body("/World/group/ball", (0.5, 0, 0), turn=((0, 0, 1), 90))
    body = body_of(read_scene(made.stage), "/World/group/ball")
    half = math.sqrt(0.5)
    np.testing.assert_allclose([*body.position, *body.quaternion], [1.5, 2, 3, half, 0, 0, half], atol=1e-7)


# USD has the velocity of the center of mass: v(origin) = v(com) − ω × com
@cases(
    "place, linear, angular, expected",
    ({"com": (0.5, 0, 0)}, (1, 2, 3), (0, 0, 180), [1, 2 - 0.5 * math.pi, 3, 0, 0, math.pi]),
    ({"turn": ((0, 0, 1), 90)}, (1, 0, 0), (90, 0, 0), [0, 1, 0, math.pi / 2, 0, 0]),
    ids=["of the origin", "turned with the body"],
)
def test_free_velocity_is_that_of_mujoco(place: dict, linear: tuple, angular: tuple, expected: list[float]) -> None:
    made = SmallStage()
    rigid = UsdPhysics.RigidBodyAPI(made.body("/World/ball", **place))
    rigid.CreateVelocityAttr(Gf.Vec3f(*linear))
    rigid.CreateAngularVelocityAttr(Gf.Vec3f(*angular))
    velocity = body_of(read_scene(made.stage), "/World/ball").velocity
    np.testing.assert_allclose(velocity, expected, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("attribute", ["kinematicEnabled", "rigidBodyEnabled"])
def test_body_that_physics_does_not_move_stays_and_keeps_its_colliders(attribute: str) -> None:
    made = SmallStage()
    prim = made.body("/World/table", (0, 0, 1))
    made.shape("/World/table/top", "Cube", size=0.5)
    prim.GetAttribute(f"physics:{attribute}").Set(attribute == "kinematicEnabled")
    scene = read_scene(made.stage)
    assert not [body for body in scene.bodies if body.kind == "free"]
    (shape,) = scene.shapes
    above = scene.bodies[shape.body].position[2] if shape.body >= 0 else 0.0
    assert above + shape.position[2] == pytest.approx(1.0)


@cases(
    "up, direction, magnitude, expected",
    ("Z", None, None, (0, 0, -9.81)),
    ("Y", None, None, (0, -9.81, 0)),
    ("Z", (1, 0, 0), 2.0, (2, 0, 0)),
    ("Z", None, 1.62, (0, 0, -1.62)),
    ("Y", None, 1.62, (0, -1.62, 0)),
    ("Z", None, 0.0, (0, 0, 0)),
)
def test_gravity_is_that_of_the_scene(up: str, direction, magnitude: float | None, expected: tuple) -> None:
    made = SmallStage(up)
    scene = UsdPhysics.Scene(made.stage.GetPrimAtPath("/World/physicsScene"))
    if direction is not None:
        scene.CreateGravityDirectionAttr(Gf.Vec3f(*direction))
    if magnitude is not None:
        scene.CreateGravityMagnitudeAttr(magnitude)
    np.testing.assert_allclose(read_scene(made.stage).gravity, expected, atol=1e-6)


def scaled(length: float, mass: float) -> Scene:
    made = SmallStage()
    force = mass * length
    made.root("/World/Robot")
    inertia = [one / (mass * length**2) for one in (0.02, 0.03, 0.04)]
    made.body("/World/Robot/base", (0, 0, 1 / length), mass=5 / mass, inertia=inertia)
    made.body("/World/Robot/tip", mass=2 / mass, com=(0.1 / length, 0, 0), inertia=inertia)
    made.joint(
        "/World/Robot/slide",
        "Prismatic",
        "/World/Robot/base",
        "/World/Robot/tip",
        axis="X",
        at=(0.5 / length, 0, 0),
        limits=(-0.2 / length, 0.4 / length),
    )
    made.drive("/World/Robot/slide", "linear", stiffness=300 / mass, damping=20 / mass, maxForce=50 / force)
    made.drive("/World/Robot/slide", "linear", targetPosition=0.3 / length)
    made.shape("/World/Robot/tip/g", "Sphere", radius=0.25 / length)
    UsdGeom.SetStageMetersPerUnit(made.stage, length)
    UsdPhysics.SetStageKilogramsPerUnit(made.stage, mass)
    return read_scene(made.stage)


@pytest.mark.filterwarnings("ignore:links are authored")
@pytest.mark.parametrize(("length", "mass"), [(0.01, 1.0), (1.0, 0.001), (0.0254, 0.45359237)])
def test_other_units_are_converted(length: float, mass: float) -> None:
    expected, found = scaled(1.0, 1.0), scaled(length, mass)
    np.testing.assert_allclose(found.gravity, expected.gravity, rtol=1e-6)
    for one, other in zip(found.bodies, expected.bodies, strict=True):
        for name in ("position", "mass", "com", "inertia"):
            np.testing.assert_allclose(getattr(one, name), getattr(other, name), rtol=1e-6, atol=1e-12)
    (axis,), (twin,) = (scene.articulations[0].axes for scene in (found, expected))
    for name in ("lower", "upper", "drive_stiffness", "drive_damping", "drive_limit", "position_target"):
        assert getattr(axis, name) == pytest.approx(getattr(twin, name), rel=1e-6), name
    np.testing.assert_allclose(found.shapes[0].size, expected.shapes[0].size, rtol=1e-6)


def test_unit_that_is_not_authored_is_the_metre() -> None:
    made = pendulum()
    made.stage.ClearMetadata("metersPerUnit")
    assert len(read_scene(made.stage).articulations) == 1


def chain(*, excluded: bool) -> SmallStage:
    made = pendulum()
    made.body("/World/Robot/tip")
    made.joint("/World/Robot/knee", "Revolute", "/World/Robot/bob", "/World/Robot/tip")
    prim = made.joint("/World/Robot/bar", "Revolute", "/World/Robot/base", "/World/Robot/tip")
    UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(excluded)
    return made


def test_joint_that_is_excluded_closes_the_loop() -> None:
    scene = read_scene(chain(excluded=True).stage)
    assert [(loop.joint, loop.kind) for loop in scene.loops] == [("/World/Robot/bar", "hinge")]
    assert [axis.name for axis in scene.articulations[0].axes] == ["hinge", "knee"]


def test_driven_joint_stays_in_the_tree() -> None:
    made = chain(excluded=False)
    for name in ("hinge", "bar"):
        made.drive(f"/World/Robot/{name}", stiffness=3.0)
    scene = read_scene(made.stage)
    assert [loop.joint for loop in scene.loops] == ["/World/Robot/knee"]
    assert [axis.name for axis in scene.articulations[0].axes] == ["bar", "hinge"]


def test_prismatic_joint_cannot_close_a_loop() -> None:
    made = pendulum()
    made.joint("/World/Robot/rail", "Prismatic", "/World/Robot/base", "/World/Robot/bob", axis="X")
    prim = made.joint("/World/Robot/bar", "Prismatic", "/World/Robot/base", "/World/Robot/bob", at=(1, 0, 0))
    UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(True)
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), r"<.*/bar> is a prismatic joint that closes a loop")


def test_four_bar_linkage_is_closed() -> None:
    scene = read_scene(asset("boxes_fourbar.usda"))
    assert [loop.kind for loop in scene.loops] == ["hinge"] and sum(len(body.axes) for body in scene.bodies) == 3


@pytest.mark.filterwarnings("ignore:joints belong to no robot")
@pytest.mark.parametrize(("beside", "robots"), [(False, ["/World/a"]), (True, ["/World/Robot"])])
def test_joint_between_loose_bodies_is_simulated(beside: bool, robots: list[str]) -> None:
    made = pendulum() if beside else SmallStage()
    made.body("/World/a")
    made.body("/World/b")
    made.joint("/World/j", "Revolute", "/World/a", "/World/b")
    scene = read_scene(made.stage)
    assert (body_of(scene, "/World/a").kind, body_of(scene, "/World/b").kind) == ("free", "axes")
    assert [articulation.path for articulation in scene.articulations] == robots


def test_joint_against_the_tree_turns_the_other_way() -> None:
    made, turned = pendulum(limits=(-20, 70)), pendulum()
    turned.stage.RemovePrim(HINGE)
    turned.joint(HINGE, "Revolute", "/World/Robot/bob", "/World/Robot/base", limits=(-20, 70))
    forward, backward = hinge_of(made), hinge_of(turned)
    np.testing.assert_allclose(backward.direction, -forward.direction)
    assert (backward.lower, backward.upper) == (forward.lower, forward.upper)


def test_excluded_branch_hangs_on_the_robot() -> None:
    made = pendulum()
    made.body("/World/Robot/bell")
    prim = made.joint("/World/Robot/string", "Revolute", "/World/Robot/bob", "/World/Robot/bell")
    UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(True)
    scene = read_scene(made.stage)
    bell = body_of(scene, "/World/Robot/bell")
    assert (scene.bodies[bell.parent].path, bell.axes[0].name) == ("/World/Robot/bob", "string")
    assert [axis.name for axis in scene.articulations[0].axes] == ["hinge"]


def test_nested_roots_are_one_robot() -> None:
    made = pendulum()
    made.root("/World/Robot/gripper")
    made.body("/World/Robot/gripper/palm")
    made.body("/World/Robot/gripper/finger")
    made.joint("/World/Robot/mount", "Fixed", "/World/Robot/bob", "/World/Robot/gripper/palm")
    made.joint("/World/Robot/gripper/open", "Revolute", "/World/Robot/gripper/palm", "/World/Robot/gripper/finger")
    found = [(a.path, [axis.name for axis in a.axes]) for a in read_scene(made.stage).articulations]
    assert found == [("/World/Robot", ["hinge", "open"])]


def test_distance_joint_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedSceneError, match=rf"<{HINGE}> is a distance joint"):
        read_scene(pendulum(kind="Distance").stage)


def test_body_without_mass_gets_little_and_is_named() -> None:
    made = SmallStage()
    UsdPhysics.RigidBodyAPI.Apply(made.stage.DefinePrim("/World/ghost", "Xform"))
    with pytest.warns(UserWarning, match=r"have no mass get 0\.001 kg: </World/ghost>"):
        assert body_of(read_scene(made.stage), "/World/ghost").mass == 1e-3


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_crossed_limits_are_refused_by_name(kind: str) -> None:
    """No position would be allowed."""
    with pytest.raises(UnsupportedSceneError, match=rf"<{HINGE}> has lower limit .* > upper limit"):
        read_scene(pendulum(kind=kind, limits=(10, -10)).stage)


def test_axis_without_a_limit_is_free() -> None:
    made = pendulum(kind="")
    for axis in ("transX", "transY", "transZ", "rotX", "rotY"):
        limit = UsdPhysics.LimitAPI.Apply(made.stage.GetPrimAtPath(HINGE), axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    axis = hinge_of(made)
    assert (axis.name, axis.usd_name, axis.lower, axis.upper) == ("hinge", "rotZ", -math.inf, math.inf)


def test_colors_are_encoded_for_display() -> None:
    made = SmallStage()
    UsdGeom.Gprim(made.shape("/World/ball", "Sphere")).CreateDisplayColorAttr([Gf.Vec3f(0.25, 0.5, 0.75)])
    (shape,) = with_drawn(made.stage, read_scene(made.stage)).shapes
    encoded = [1.055 * value ** (1 / 2.4) - 0.055 for value in (0.25, 0.5, 0.75)]
    assert shape.color == pytest.approx((*encoded, 1.0), rel=1e-3)


@cases(
    "kind, values, size",
    ("Cube", {"size": 0.4}, (0.2, 0.2, 0.2)),
    ("Sphere", {"radius": 0.3}, (0.3,)),
    ("Capsule", {"radius": 0.1, "height": 0.5}, (0.1, 0.25)),
    ("Cylinder", {"radius": 0.1, "height": 0.5}, (0.1, 0.25)),
)
@pytest.mark.parametrize("collides", [True, False])
def test_shape_has_the_size_mujoco_wants(kind: str, values: dict, size: tuple, collides: bool) -> None:
    made = SmallStage()
    made.body("/World/thing")
    made.shape("/World/thing/g", kind, collides=collides, **values)
    (shape,) = with_drawn(made.stage, read_scene(made.stage)).shapes
    assert (shape.collides, tuple(shape.size[: len(size)])) == (collides, pytest.approx(size))


def test_meshes_are_scaled() -> None:
    made = SmallStage()
    made.mesh("/World/tent", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)], [[0, 2, 1], [0, 1, 3], [0, 3, 2], [1, 2, 3]])
    UsdGeom.Xformable(made.stage.GetPrimAtPath("/World/tent")).AddScaleOp().Set(Gf.Vec3f(1, 2, 3))
    (shape,) = read_scene(made.stage).shapes
    np.testing.assert_allclose(np.ptp(shape.vertices, axis=0), [1, 2, 3])


def test_instanced_geometry_is_read() -> None:
    made = pendulum()
    library = made.stage.CreateClassPrim("/library")
    made.shape(f"{library.GetPath()}/g", "Sphere", radius=0.3)
    visuals = UsdGeom.Xform.Define(made.stage, "/World/Robot/bob/geometry").GetPrim()
    visuals.GetReferences().AddInternalReference(library.GetPath())
    visuals.SetInstanceable(True)
    (shape,) = read_scene(made.stage).shapes
    assert (shape.path, shape.size[0]) == ("/World/Robot/bob/geometry/g", pytest.approx(0.3))


def test_joint_nowhere_is_refused_by_name() -> None:
    made = pendulum()
    UsdPhysics.Joint(made.stage.GetPrimAtPath(HINGE)).CreateLocalPos1Attr(Gf.Vec3f(math.nan, 0, 0))
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), rf"<{HINGE}>: its local positions .* must be finite")


def test_body_nowhere_is_refused_by_name() -> None:
    made = pendulum()
    made.body("/World/ball", (math.nan, 0, 0))
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), r"rigid bodies \['/World/ball'\] are nowhere")


@pytest.mark.parametrize("value", [math.nan, math.inf, -1.0])
def test_mass_that_is_none_is_refused_by_name(value: float) -> None:
    made = pendulum()
    UsdPhysics.MassAPI(made.stage.GetPrimAtPath("/World/Robot/bob")).CreateMassAttr(value)
    with pytest.raises(UnsupportedSceneError, match=r"</World/Robot/bob>\.physics:mass = .*: must be a finite"):
        read_scene(made.stage)


def test_limit_that_is_no_number_is_refused_by_name() -> None:
    with pytest.raises(UnsupportedSceneError, match=rf"<{HINGE}>\.physics:lowerLimit = nan"):
        read_scene(pendulum(limits=(math.nan, 10)).stage)


def test_colliders_that_are_switched_off_are_no_shapes() -> None:
    made = SmallStage()
    UsdPhysics.CollisionAPI(made.shape("/World/ball", "Sphere")).CreateCollisionEnabledAttr(False)
    assert read_scene(made.stage).shapes == []


def test_meshes_of_three_points_are_not_drawn() -> None:
    made = SmallStage()
    mesh = UsdGeom.Mesh.Define(made.stage, "/World/triangle")
    mesh.CreatePointsAttr([(0, 0, 0), (1, 0, 0), (0, 1, 0)])
    mesh.CreateFaceVertexCountsAttr([3])
    mesh.CreateFaceVertexIndicesAttr([0, 1, 2])
    assert with_drawn(made.stage, read_scene(made.stage)).shapes == []


def test_link_that_is_fixed_to_the_world_stays_where_it_is_authored() -> None:
    made = pendulum()
    made.stage.GetPrimAtPath("/World/Robot/fix").GetAttribute("physics:localPos0").Set(Gf.Vec3f(0, 0, 5))
    np.testing.assert_array_equal(body_of(read_scene(made.stage), "/World/Robot/base").position, (0, 0, 0))


def test_link_with_the_root_schema_is_the_root() -> None:
    made = pendulum()
    made.stage.RemovePrim("/World/Robot/fix")
    made.stage.GetPrimAtPath("/World/Robot").RemoveAPI(UsdPhysics.ArticulationRootAPI)
    UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath("/World/Robot/bob"))
    scene = read_scene(made.stage)
    (robot,) = scene.articulations
    assert [scene.bodies[number].path for number in robot.bodies] == ["/World/Robot/bob", "/World/Robot/base"]


def test_root_link_that_nothing_hangs_on_is_no_robot() -> None:
    made = pendulum()
    made.stage.RemovePrim("/World/Robot/fix")
    root = made.stage.GetPrimAtPath("/World/Robot")
    UsdPhysics.RigidBodyAPI.Apply(root)
    UsdPhysics.MassAPI.Apply(root).CreateMassAttr(1.0)
    (robot,) = read_scene(made.stage).articulations
    assert [axis.name for axis in robot.axes] == ["hinge"]


def test_largest_part_below_a_root_is_the_robot() -> None:
    made = pendulum()
    made.body("/World/Robot/a_loose_one")
    (robot,) = read_scene(made.stage).articulations
    assert [axis.name for axis in robot.axes] == ["hinge"] and len(robot.bodies) == 2


def test_excluded_joint_that_carries_a_robot_is_none_of_its_own() -> None:
    made = pendulum()
    made.stage.RemovePrim("/World/Robot/fix")
    made.body("/World/cart")
    made.joint("/World/rail", "Fixed", None, "/World/cart")
    prim = made.joint("/World/swivel", "Revolute", "/World/cart", "/World/Robot/base")
    prim.GetAttribute("physics:excludeFromArticulation").Set(True)
    scene = read_scene(made.stage)
    assert [body.parent for body in scene.bodies] == [-1, 0, 1]
    assert [[axis.name for axis in robot.axes] for robot in scene.articulations] == [["hinge"]]


def test_capsule_scaled_unevenly_has_its_larger_radius() -> None:
    made = SmallStage()
    prim = made.shape("/World/pill", "Capsule", radius=0.1, height=0.5, axis="Z")
    UsdGeom.Xformable(prim).AddScaleOp().Set(Gf.Vec3d(2, 3, 1))
    (shape,) = read_scene(made.stage).shapes
    assert shape.kind == "CAPSULE" and shape.size[:2] == pytest.approx((0.3, 0.25))


ROBOT, JOINT = "/World/Robot", "/World/Robot/joint"
# colliders by short names
A, A2, B, C = f"{ROBOT}/a/g", f"{ROBOT}/a/g2", f"{ROBOT}/b/g", "/World/c/g"
NAMES = {A: "a", A2: "a2", B: "b", C: "c"}
# all pairs of different bodies
ALL = {"a-b", "a2-b", "a-c", "a2-c", "b-c"}


def heap() -> SmallStage:
    """Siblings that overlap a base, the first with two colliders, and a loose body: a parent would not be touched."""
    made = SmallStage()
    made.root(ROBOT)
    for path in (f"{ROBOT}/base", f"{ROBOT}/a", f"{ROBOT}/b", "/World/c"):
        made.body(path)
    for link in "ab":
        made.joint(f"{ROBOT}/hinge_{link}", "Revolute", f"{ROBOT}/base", f"{ROBOT}/{link}")
    joint = UsdPhysics.Joint(made.joint(JOINT, "Spherical", f"{ROBOT}/a", f"{ROBOT}/b"))
    joint.CreateExcludeFromArticulationAttr(True)
    joint.CreateCollisionEnabledAttr(True)
    for path in NAMES:
        made.shape(path, "Cube", size=0.5)
    return made


def touching(scene: Scene) -> set[str]:
    model, _ = build_model(scene, 0.001)
    data = mujoco.MjData(model)
    mujoco.mj_forward(model, data)
    found = set()
    for contact in data.contact:
        paths = (model.geom(int(one)).name.partition("#")[0] for one in contact.geom)
        found.add("-".join(sorted(NAMES[path] for path in paths)))
    return found


def found(made: SmallStage) -> set[str]:
    return touching(read_scene(made.stage))


def filtered(made: SmallStage, path: str, *others: str) -> SmallStage:
    api = UsdPhysics.FilteredPairsAPI.Apply(made.stage.GetPrimAtPath(path))
    api.CreateFilteredPairsRel().SetTargets(list(others))
    return made


def group(made: SmallStage, name: str, members: Sequence[str], apart: Sequence[str], *, inverted: bool = False) -> None:
    made_group = UsdPhysics.CollisionGroup.Define(made.stage, f"/World/{name}")
    Usd.CollectionAPI.Apply(made_group.GetPrim(), "colliders").CreateIncludesRel().SetTargets(list(members))
    made_group.CreateFilteredGroupsRel().SetTargets([f"/World/{other}" for other in apart])
    if inverted:
        made_group.CreateInvertFilteredGroupsAttr(True)


def test_all_bodies_touch() -> None:
    assert found(heap()) == ALL


def test_bodies_of_a_joint_do_not_touch() -> None:
    made = heap()
    UsdPhysics.Joint(made.stage.GetPrimAtPath(JOINT)).CreateCollisionEnabledAttr(False)
    assert found(made) == {"a-c", "a2-c", "b-c"}


@pytest.mark.parametrize("name", ["newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"])
def test_links_of_a_robot_need_not_touch(name: str) -> None:
    made = heap()
    made.attribute(ROBOT, name, False)
    assert found(made) == {"a-c", "a2-c", "b-c"}
    made.attribute(ROBOT, name, True)
    assert found(made) == ALL


@cases(
    "path, other, gone",
    (A, B, {"a-b"}),
    (A, C, {"a-c"}),
    (C, A, {"a-c"}),
    (A, f"{ROBOT}/b", {"a-b"}),
    (f"{ROBOT}/a", f"{ROBOT}/b", {"a-b", "a2-b"}),
    ("/World/c", f"{ROBOT}/a", {"a-c", "a2-c"}),
    ("/World/c", ROBOT, {"a-c", "a2-c", "b-c"}),
    (ROBOT, "/World/c", {"a-c", "a2-c", "b-c"}),
    (ROBOT, C, {"a-c", "a2-c", "b-c"}),
)
def test_pairs_are_filtered(path: str, other: str, gone: set[str]) -> None:
    assert found(filtered(heap(), path, other)) == ALL - gone


def test_several_pairs_are_filtered() -> None:
    assert found(filtered(filtered(heap(), A, B, C), A2, C)) == {"a2-b", "b-c"}


def test_groups_are_filtered() -> None:
    made = heap()
    group(made, "left", [A, B], ["right"])
    group(made, "right", [C], [])
    assert found(made) == ALL - {"a-c", "b-c"}
    group(made, "left", [A, B], ["left"])
    assert found(made) == ALL - {"a-b"}


def test_inverted_group_touches_only_what_it_names() -> None:
    made = heap()
    group(made, "left", [A], ["right"], inverted=True)
    group(made, "right", [B], [])
    group(made, "other", [C], [])
    assert found(made) == ALL - {"a-c"}


def test_whole_bodies_take_no_bits() -> None:
    scene = read_scene(filtered(heap(), f"{ROBOT}/a", f"{ROBOT}/b").stage)
    assert {shape.touches for shape in scene.shapes} == {(1, 1)}
    numbers = {body.path: number for number, body in enumerate(scene.bodies)}
    assert (numbers[f"{ROBOT}/a"], numbers[f"{ROBOT}/b"]) in scene.no_contact


def test_too_many_filters_are_refused() -> None:
    """MuJoCo has 32 bits."""
    made = SmallStage()
    for number in range(33):
        made.body(f"/World/b{number}")
        for side in "xy":
            made.shape(f"/World/b{number}/{side}", "Cube", size=0.5)
    for number in range(32):
        filtered(made, f"/World/b{number}/x", f"/World/b{number + 1}/x")
    with pytest.raises(UnsupportedSceneError, match=r"34 different ways, such as </World/b0/x>: must be at most 31"):
        read_scene(made.stage)


@pytest.mark.parametrize("seed", range(30))
def test_bits_keep_apart_what_is_to_be_and_nothing_else(seed: int) -> None:
    chance = random.Random(seed)
    made = SmallStage()
    for number in range(8):
        made.shape(f"/World/g{number}", "Cube")
    colliders = [
        Collider(Sdf.Path(shape.path), made.stage.GetPrimAtPath(shape.path), shape, np.eye(4), 0.0)
        for shape in read_scene(made.stage).shapes
    ]
    pairs = list(itertools.combinations(range(8), 2))
    apart = set(chance.sample(pairs, chance.randrange(len(pairs) + 1)))
    _set_masks(colliders, apart)
    touches = [collider.shape.touches for collider in colliders]
    for a, b in pairs:
        assert bool(touches[a][0] & touches[b][1] or touches[b][0] & touches[a][1]) is ((a, b) not in apart)
