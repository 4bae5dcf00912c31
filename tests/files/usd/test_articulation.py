"""Articulations and joints are found anywhere on a stage."""

import pytest
from isaacsim.core.experimental.actuators import Articulation, PDControlConfig, Simulation, add_actuator, add_motors
from isaacsim.core.experimental.actuators.files.usd import articulation
from places import ROBOTS
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases
from small_stages import SmallStage
from stages import stage_of

API = '(prepend apiSchemas = ["PhysicsArticulationRootAPI"])'


def stage_with(*prims: str | tuple[str, str]) -> Usd.Stage:
    """A stage with prims of a type, `Xform` by default, defined in this order."""
    stage = Usd.Stage.CreateInMemory()
    for prim in prims:
        path, kind = (prim, "Xform") if isinstance(prim, str) else prim
        stage.DefinePrim(path, kind)
    return stage


def make_root(stage: Usd.Stage, *paths: str) -> Usd.Stage:
    for path in paths:
        UsdPhysics.ArticulationRootAPI.Apply(stage.GetPrimAtPath(path))
    return stage


def instanced(stage: Usd.Stage, path: str, source: str) -> Usd.Stage:
    prim = stage.DefinePrim(path)
    prim.GetReferences().AddInternalReference(source)
    prim.SetInstanceable(True)
    return stage


def test_every_prim_enters_instances():
    stage = instanced(stage_with("/Source", "/Source/link"), "/Copy", "/Source")
    prims = articulation.every_prim(stage.GetPrimAtPath("/Copy"))
    assert [str(prim.GetPath()) for prim in prims] == ["/Copy", "/Copy/link"]


@cases("hide", lambda prim: prim.SetActive(False), lambda prim: prim.SetSpecifier(Sdf.SpecifierOver))
def test_every_prim_skips_what_is_not_there(hide):
    stage = stage_with("/R", "/R/gone", "/R/gone/below", "/R/there")
    hide(stage.GetPrimAtPath("/R/gone"))
    assert [str(prim.GetPath()) for prim in articulation.every_prim(stage.GetPrimAtPath("/R"))] == ["/R", "/R/there"]


@cases(
    "kind, locked, axes",
    ("PhysicsRevoluteJoint", (), ("angular",)),
    ("PhysicsPrismaticJoint", (), ("linear",)),
    ("PhysicsJoint", (), ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")),
    ("PhysicsJoint", ("transX", "transY", "transZ", "rotY"), ("rotX", "rotZ")),
    ("PhysicsFixedJoint", (), ()),
    ("PhysicsSphericalJoint", (), ()),
    ("Xform", (), ()),
    ("", (), ()),
)
def test_axes_are_those_that_a_joint_leaves_free(kind, locked, axes):
    stage = stage_with(("/joint", kind))
    joint = stage.GetPrimAtPath("/joint")
    for axis in locked:
        limit = UsdPhysics.LimitAPI.Apply(joint, axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    assert articulation.axes_of(joint) == axes


def test_no_prim_has_no_axes():
    stage = stage_with("/A")
    assert articulation.axes_of(stage.GetPrimAtPath("/hip")) == ()


def test_payloads_that_are_not_loaded_are_listed(tmp_path):
    (tmp_path / "arm.usda").write_text('#usda 1.0\n(defaultPrim = "Arm")\ndef Xform "Arm" {}\n')
    stage = stage_with("/World/A", "/World/B", "/World/AB")
    for path in ("/World/A", "/World/B/arm", "/World/AB"):
        stage.DefinePrim(path, "Xform").GetPayloads().AddPayload(str(tmp_path / "arm.usda"))
    assert articulation.unloaded_payloads(stage) == []
    for path in ("/World/AB", "/World/B/arm", "/World/A"):
        stage.Unload(path)
    assert articulation.unloaded_payloads(stage) == ["/World/A", "/World/AB", "/World/B/arm"]
    assert articulation.unloaded_at(stage, "/World/A/elbow") == ["/World/A"]
    assert articulation.unloaded_at(stage, "/World/B") == ["/World/B/arm"]


def test_roots_come_in_stage_order():
    stage = instanced(stage_with("/Z", "/A/base", "/Gone"), "/Copy", "/A")
    make_root(stage, "/Gone", "/A/base", "/Z")
    stage.GetPrimAtPath("/Gone").SetActive(False)
    assert articulation.articulation_roots(stage) == ["/Z", "/A/base", "/Copy/base"]


def test_stage_without_articulations_has_no_roots():
    assert articulation.articulation_roots(stage_with("/World/A")) == []


@pytest.mark.parametrize(
    ("sides", "bodies"),
    [({}, []), ({"body0": "/A"}, ["/A"]), ({"body1": "/B"}, ["/B"]), ({"body0": "/A", "body1": "/B"}, ["/A", "/B"])],
)
def test_bodies_of_a_joint(sides, bodies):
    stage = stage_with("/A", "/B", ("/hip", "PhysicsRevoluteJoint"))
    for side, body in sides.items():
        stage.GetPrimAtPath("/hip").CreateRelationship(f"physics:{side}").SetTargets([body])
    assert [str(body) for body in articulation.bodies_of(stage, "/hip")] == bodies


def test_joint_that_is_not_on_the_stage_has_no_bodies():
    assert articulation.bodies_of(stage_with("/A"), "/hip") == []


# robots with motors for some joints only
unmoved = pytest.mark.filterwarnings("ignore:.* have no motor, and nothing else moves them")


def tree(root: str) -> SmallStage:
    """A base with two arms of two joints each; the joints are written down depth-first."""
    made = SmallStage()
    for name in ("base", "upper_a", "fore_a", "upper_b", "fore_b"):
        made.body(f"/World/R/{name}")
    made.joint("/World/R/fix", "Fixed", None, "/World/R/base")
    for arm in "ab":
        made.joint(f"/World/R/shoulder_{arm}", "Revolute", "/World/R/base", f"/World/R/upper_{arm}")
        made.joint(f"/World/R/elbow_{arm}", "Prismatic", f"/World/R/upper_{arm}", f"/World/R/fore_{arm}")
    UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath(root))
    return made


def names(made: SmallStage, root: str) -> list[str]:
    (joints,) = articulation.joint_orders(made.stage, [root])
    return [joint.rsplit("/", 1)[1] for joint in joints]


@unmoved
@pytest.mark.parametrize("root", ["/World/R", "/World/R/base", "/World/R/fix"])
def test_order_is_breadth_first(root: str) -> None:
    assert names(tree(root), root) == ["shoulder_a", "shoulder_b", "elbow_a", "elbow_b"]


@unmoved
def test_joints_of_one_link_come_by_name() -> None:
    (joints,) = articulation.joint_orders(stage_of(ROBOTS / "anymal_c.usda"), ["/World/Anymal"])
    assert [joint.rsplit("/", 1)[1] for joint in joints[:4]] == ["LF_HAA", "LH_HAA", "RF_HAA", "RH_HAA"]
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    with Simulation(ROBOTS / "anymal_c.usda"):
        assert [joint.rsplit("/", 1)[1] for joint in joints] == Articulation("/World/Anymal").dof_names


@unmoved
def test_root_link_comes_first() -> None:
    """Begin with the body that is the root, although nothing is fixed."""
    made = tree("/World/R/fore_b")
    made.stage.RemovePrim("/World/R/fix")
    assert names(made, "/World/R/fore_b") == ["elbow_b", "shoulder_b", "shoulder_a", "elbow_a"]


@unmoved
@pytest.mark.parametrize("name", ["unitree_go1.usda", "i2rt_yam.usda"])
def test_topmost_link_comes_first(name: str) -> None:
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    with Simulation(ROBOTS / name) as sim:
        (root,) = articulation.articulation_roots(sim.stage)
        (joints,) = articulation.joint_orders(sim.stage, [root])
        assert articulation.dof_names(sim.stage, joints) == Articulation(root).dof_names


@unmoved
def test_fixed_link_comes_first() -> None:
    made = tree("/World/R")
    made.stage.RemovePrim("/World/R/fix")
    made.joint("/World/R/fix", "Fixed", None, "/World/R/fore_a")
    assert names(made, "/World/R") == ["elbow_a", "shoulder_a", "shoulder_b", "elbow_b"]


@unmoved
@pytest.mark.parametrize(("attribute", "value"), [("excludeFromArticulation", True), ("jointEnabled", False)])
def test_joint_that_is_no_part_is_left_out(attribute: str, value: bool) -> None:
    made = tree("/World/R")
    made.stage.GetPrimAtPath("/World/R/shoulder_b").GetAttribute(f"physics:{attribute}").Set(value)
    assert names(made, "/World/R") == ["shoulder_a", "elbow_a"]


@unmoved
def test_other_robots_are_left_out() -> None:
    made = tree("/World/R")
    made.root("/World/S")
    made.body("/World/S/base")
    made.body("/World/S/link")
    made.joint("/World/S/hip", "Revolute", "/World/S/base", "/World/S/link")
    hip, arms = articulation.joint_orders(made.stage, ["/World/S", "/World/R"])
    assert (hip, len(arms)) == (["/World/S/hip"], 4)


@unmoved
def test_robot_without_joints_has_none() -> None:
    made = SmallStage()
    made.root("/World/S")
    assert articulation.joint_orders(made.stage, ["/World/S"]) == [[]]


@unmoved
def test_joint_with_several_axes_comes_as_often() -> None:
    """Its DOFs are named by axis, linear ones first; where these are missing, the simulator has locked them."""
    made = tree("/World/R")
    ball = made.joint("/World/R/shoulder_b", "", "/World/R/base", "/World/R/upper_b").GetPath().pathString
    for axis in ("transX", "transY", "rotY"):
        limit = UsdPhysics.LimitAPI.Apply(made.stage.GetPrimAtPath(ball), axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    assert names(made, "/World/R") == ["shoulder_a", *["shoulder_b"] * 3, "elbow_a", "elbow_b"]
    (joints,) = articulation.joint_orders(made.stage, ["/World/R"])
    several = ["shoulder_b:transZ", "shoulder_b:rotX", "shoulder_b:rotZ"]
    assert articulation.dof_names(made.stage, joints) == ["shoulder_a", *several, "elbow_a", "elbow_b"]
    assert articulation.dof_names(made.stage, [ball, ball, "/World/gone"]) == [*several[1:], "gone"]
    assert articulation.dof_names(made.stage, [ball]) == ["shoulder_b"]


# the joints of the robot at a prim


def found(stage: Usd.Stage, path: str) -> list[str]:
    return [str(joint.GetPath()) for joint in articulation.joints_of(stage.GetPrimAtPath(path))]


@unmoved
def test_joints_below_a_prim_are_its_own() -> None:
    stage = tree("/World/R").stage
    stage.DefinePrim("/World/R/wheel", "PhysicsRevoluteJoint")
    stage.DefinePrim("/World/R/wheel/axle", "PhysicsRevoluteJoint")
    copy = stage.DefinePrim("/World/S/part")
    copy.GetReferences().AddInternalReference("/World/R/wheel")
    copy.SetInstanceable(True)
    names = ("fix", "shoulder_a", "elbow_a", "shoulder_b", "elbow_b", "wheel", "wheel/axle")
    assert found(stage, "/World/R") == [f"/World/R/{name}" for name in names]
    assert found(stage, "/World/R/wheel") == ["/World/R/wheel/axle"]
    assert found(stage, "/World/S") == ["/World/S/part", "/World/S/part/axle"]


@unmoved
@pytest.mark.parametrize("root", ["/World/R/base", "/World/R/fix", "/World/R/links"])
def test_joints_beside_a_root_are_found_by_the_links_they_connect(root: str) -> None:
    made = SmallStage()
    base = "/World/R/links/base" if root == "/World/R/links" else "/World/R/base"
    for path in (base, "/World/R/upper", "/World/S/base", "/World/S/upper"):
        made.body(path)
    made.joint("/World/R/fix", "Fixed", None, base)
    # what moves not at all does not make it the robot's place
    made.joint(f"{base}/weld", "Fixed", base, "/World/R/upper")
    made.joint("/World/R/hip", "Revolute", base, "/World/R/upper")
    made.joint("/World/S/hip", "Revolute", "/World/S/base", "/World/S/upper")
    UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath(root))
    assert set(found(made.stage, root)) == {"/World/R/fix", "/World/R/hip", f"{base}/weld"}


def list_joints(stage: Usd.Stage, robot: str, *joints: str) -> None:
    relation = stage.GetPrimAtPath(robot).CreateRelationship("isaac:physics:robotJoints")
    relation.SetTargets([Sdf.Path(joint) for joint in joints])


@unmoved
def test_listed_joints_come_first_in_the_order_of_the_list() -> None:
    stage = tree("/World/R").stage
    list_joints(stage, "/World/R", *[f"/World/R/{name}" for name in ("elbow_b", "shoulder_b", "gone", "elbow_b")])
    names = [path.rsplit("/", 1)[1] for path in found(stage, "/World/R")]
    assert names == ["elbow_b", "shoulder_b", "fix", "shoulder_a", "elbow_a"]


@unmoved
def test_list_adds_joints_that_lie_elsewhere() -> None:
    stage = tree("/World/R").stage
    stage.DefinePrim("/World/R/Looks", "Scope")
    list_joints(stage, "/World/R/Looks", "/World/R/shoulder_a")
    assert found(stage, "/World/R/Looks") == ["/World/R/shoulder_a"]
    prim = add_actuator("/World/R/Looks", "shoulder_a", "a", PDControlConfig(1.0, 0.0), stage=stage)
    assert prim.GetRelationship("newton:targets").GetTargets() == ["/World/R/shoulder_a"]


@unmoved
def test_robots_in_a_list_stand_for_their_joints() -> None:
    stage = tree("/World/R").stage
    stage.DefinePrim("/World/S/gripper")
    list_joints(stage, "/World/S", "/World/S/gripper", "/World/R/elbow_a")
    list_joints(stage, "/World/S/gripper", "/World/R/elbow_b", "/World/S")
    assert found(stage, "/World/S") == ["/World/R/elbow_b", "/World/R/elbow_a"]


@unmoved
def test_list_above_a_robot_orders_its_joints_only() -> None:
    stage = tree("/World/R/base").stage
    stage.DefinePrim("/World/S/wheel", "PhysicsRevoluteJoint")
    list_joints(stage, "/World", "/World/S/wheel", "/World/R/elbow_b", "/World/R/shoulder_a")
    assert found(stage, "/World/R")[:2] == ["/World/R/elbow_b", "/World/R/shoulder_a"]
    assert "/World/S/wheel" not in found(stage, "/World/R")


@unmoved
def test_list_leaves_the_order_of_dofs_alone() -> None:
    stage = tree("/World/R").stage
    before = articulation.joint_orders(stage, ["/World/R"])
    list_joints(stage, "/World/R", "/World/R/elbow_b")
    assert articulation.joint_orders(stage, ["/World/R"]) == before
    stage.GetPrimAtPath("/World/R").RemoveProperty("isaac:physics:robotJoints")
    stage.GetPrimAtPath("/World/R").CreateAttribute("isaac:physics:robotJoints", Sdf.ValueTypeNames.Int).Set(1)
    assert found(stage, "/World/R")[0] == "/World/R/fix"


@unmoved
def test_motors_are_authored_in_the_order_of_the_list() -> None:
    stage = tree("/World/R").stage
    list_joints(stage, "/World/R", "/World/R/elbow_b", "/World/R/shoulder_a")
    prims = add_motors("/World/R", {"elbow_b|shoulder_a": [PDControlConfig(1.0, 0.0)]}, stage=stage)
    targets = [str(path) for prim in prims for path in prim.GetRelationship("newton:targets").GetTargets()]
    assert targets == ["/World/R/elbow_b", "/World/R/shoulder_a"]


@unmoved
def test_prim_without_links_has_no_joints() -> None:
    stage = tree("/World/R").stage
    stage.DefinePrim("/World/Looks", "Scope")
    assert found(stage, "/World/Looks") == []
