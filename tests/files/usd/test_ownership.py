"""Every actuator prim belongs to at most one articulation, and a broken one to the robot it is meant for."""

import pytest
from isaacsim.core.experimental.actuators.files.usd.ownership import Ownership
from pxr import Usd, UsdPhysics


def stage_with(*joints: str, roots: tuple[str, ...], doors: tuple[str, ...] = ()) -> Usd.Stage:
    """A stage with articulation roots, hinges between two links each, and hinges of doors, which have no root."""
    stage = Usd.Stage.CreateInMemory()
    for path in roots:
        UsdPhysics.ArticulationRootAPI.Apply(stage.DefinePrim(path, "Xform"))
    for path in (*joints, *doors):
        hinge = UsdPhysics.RevoluteJoint.Define(stage, path)
        robot = path.rsplit("/", 1)[0]
        for side, link in zip((hinge.CreateBody0Rel(), hinge.CreateBody1Rel()), ("base", "link"), strict=True):
            side.SetTargets([stage.DefinePrim(f"{robot}/{link}", "Xform").GetPath()])
    return stage


# one robot at each of these places: its root, one joint, and where its actuators may lie
PLACES = {
    "root is the robot": ("/World/R", "/World/R/hip", "/World/R/Actuators/act"),
    "root is a link": ("/World/R/base", "/World/R/hip", "/World/R/Actuators/act"),
    "root is a joint": ("/World/R/joints/fix", "/World/R/joints/hip", "/World/R/Actuators/act"),
    "all lies deeper": ("/World/R/body/base", "/World/R/body/base/hip", "/World/R/Actuators/act"),
    "robot is a root prim": ("/R/base", "/R/base/hip", "/R/Actuators/act"),
    "actuators below the root": ("/World/R/base", "/World/R/hip", "/World/R/base/Actuators/act"),
}
every_place = pytest.mark.parametrize(("root", "joint", "actuator"), PLACES.values(), ids=PLACES)
BROKEN = pytest.mark.parametrize("targets", [[], ["/Nowhere"], ["/World"]], ids=["empty", "no prim", "no joint"])


@every_place
@BROKEN
def test_broken_prim_belongs_to_its_robot(root, joint, actuator, targets):
    """Claim a prim without a good target for the robot it lies at, among others on the stage."""
    stage = stage_with(joint, roots=(root, "/World/Other/base", "/Third"))
    assert Ownership(stage, root, [joint]).of(actuator, targets) == "ours"


@every_place
@BROKEN
def test_broken_prim_concerns_no_other_robot(root, joint, actuator, targets):
    """Leave another robot's broken prim to that robot."""
    stage = stage_with(joint, "/World/Other/base/hip", roots=(root, "/World/Other/base"))
    assert Ownership(stage, "/World/Other/base", ["/World/Other/base/hip"]).of(actuator, targets) == "another's"


def test_driver_of_a_joint_belongs_to_its_robot_wherever_it_lies():
    """Go by the target first, by the place second."""
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owner = Ownership(stage, "/World/A", ["/World/A/hip"])
    places = ("/World/A/act", "/World/B/act", "/World/act", "/act")
    assert [owner.of(place, ["/World/A/hip"]) for place in places] == ["ours"] * 4


def test_robot_is_asked_about_its_prim_that_drives_another_one():
    """Claim a prim that lies at this robot and drives a joint of another: copied and not corrected."""
    stage = stage_with("/World/A/base/hip", "/World/B/base/hip", roots=("/World/A/base", "/World/B/base"))
    owner = Ownership(stage, "/World/A/base", ["/World/A/base/hip"])
    assert owner.of("/World/A/Actuators/act", ["/World/B/base/hip"]) == "ours"


def test_only_robot_claims_the_whole_world():
    """Claim a broken prim anywhere below the prim that holds the only robot."""
    stage = stage_with("/World/A/hip", roots=("/World/A",))
    assert Ownership(stage, "/World/A", ["/World/A/hip"]).of("/World/Actuators/act", []) == "ours"


def test_prim_between_robots_goes_to_the_one_it_points_at():
    """Go by the path of a misspelled target where the place does not decide."""
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owners = [Ownership(stage, f"/World/{name}", [f"/World/{name}/hip"]) for name in "AB"]
    assert [owner.of("/World/act", ["/World/B/hp"]) for owner in owners] == ["another's", "ours"]


@pytest.mark.parametrize("path", ["/World/act", "/act", "/Elsewhere/act"])
@BROKEN
def test_prim_between_robots_belongs_to_nobody(path, targets):
    """A prim between two robots, or apart from all, belongs to none."""
    stage = stage_with("/World/A/hip", "/World/B/hip", roots=("/World/A", "/World/B"))
    owners = [Ownership(stage, f"/World/{name}", [f"/World/{name}/hip"]) for name in "AB"]
    assert [owner.of(path, targets) for owner in owners] == ["nobody's", "nobody's"]


@pytest.mark.parametrize(
    ("path", "owner"), [("/World/A/Actuators/act", "/World/A"), ("/World/A/hand/Actuators/act", "/World/A/hand/base")]
)
def test_prim_of_a_robot_in_a_robot_belongs_to_the_inner_one(path, owner):
    """Go to the nearest articulation where one lies below another."""
    roots = ("/World/A", "/World/A/hand/base", "/World/B")
    stage = stage_with(roots=roots)
    claims = [root for root in roots if Ownership(stage, root, [f"{root}/hip"]).of(path, []) == "ours"]
    assert claims == [owner]


@pytest.mark.parametrize("roots", [("/World/A",), ("/World/A", "/World/B")], ids=["one robot", "two robots"])
def test_actuator_of_a_door_belongs_to_nobody(roots):
    """Refuse no robot because a mechanism without articulation root has an actuator."""
    stage = stage_with("/World/A/hip", roots=roots, doors=("/World/Door/hinge",))
    owner = Ownership(stage, "/World/A", ["/World/A/hip"])
    assert owner.of("/World/Door/Actuators/act", ["/World/Door/hinge"]) == "nobody's"


def test_joint_of_the_robot_that_is_not_its_own_is_no_door():
    """Claim a prim that drives a joint between the robot's links which the articulation left out."""
    stage = stage_with("/World/A/hip", "/World/A/loop", roots=("/World/A",))
    assert Ownership(stage, "/World/A", ["/World/A/hip"]).of("/World/act", ["/World/A/loop"]) == "ours"


@pytest.mark.parametrize(
    ("schema", "root"),
    [((), "/World/R"), (("/World/R/base",), "/World/R"), (("/World/R",), "/World/R/base")],
    ids=["nowhere", "below", "above"],
)
def test_root_may_lack_the_schema(schema, root):
    """The articulation of a host may be named by a prim above or below the one with the schema, or have none."""
    stage = stage_with("/World/R/hip", roots=schema)
    stage.DefinePrim("/World/R/base")
    assert Ownership(stage, root, ["/World/R/hip"]).of("/World/R/Actuators/act", []) == "ours"


@pytest.mark.parametrize(("path", "near"), [("/World/A/mesh", True), ("/World/B/mesh", False), ("/mesh", False)])
def test_nearness_is_a_matter_of_place(path, near):
    """Know what lies at this robot."""
    assert Ownership(stage_with(roots=("/World/A", "/World/B")), "/World/A", []).is_near(path) is near
