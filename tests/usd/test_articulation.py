"""Articulations and joints are found wherever a stage may hold them, and paths match segment by segment."""

from __future__ import annotations

import pytest
from calls import calls
from isaacsim.core.experimental.actuators.usd.articulation import (
    Roots,
    acceleration_drives,
    articulation_roots,
    bodies_of,
    every_prim,
    is_single_axis_joint,
    joints_by_name,
    loop_joints,
    match_roots,
    require_same_joints,
)
from pxr import Sdf, Usd, UsdPhysics

API = '(prepend apiSchemas = ["PhysicsArticulationRootAPI"])'
ROOTS = ["/World/A", "/World/B/base", "/World/B/tail", "/World/envs/env_0/C", "/World/envs/env_1/C"]


def stage_from(text: str) -> Usd.Stage:
    """A stage that holds the prims of `text`."""
    layer = Sdf.Layer.CreateAnonymous("scene.usda")
    layer.ImportFromString(f"#usda 1.0\n{text}")
    return Usd.Stage.Open(layer)


def stage_with(*prims: str | tuple[str, str]) -> Usd.Stage:
    """A stage with prims of a type, `Xform` where none is given, made in this order."""
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
    """Add an instance of the prim at `source`."""
    prim = stage.DefinePrim(path)
    prim.GetReferences().AddInternalReference(source)
    prim.SetInstanceable(True)
    return stage


# prims


def test_every_prim_enters_instances():
    """Visit what lies inside an instance, at its path on the stage."""
    stage = instanced(stage_with("/Source", "/Source/link"), "/Copy", "/Source")
    assert [str(prim.GetPath()) for prim in every_prim(stage.GetPrimAtPath("/Copy"))] == ["/Copy", "/Copy/link"]


@pytest.mark.parametrize(
    "hide", [lambda prim: prim.SetActive(False), lambda prim: prim.SetSpecifier(Sdf.SpecifierOver)]
)
def test_every_prim_skips_what_is_not_there(hide):
    """Skip prims that are inactive or mere overs, and what lies below them."""
    stage = stage_with("/R", "/R/gone", "/R/gone/below", "/R/there")
    hide(stage.GetPrimAtPath("/R/gone"))
    assert [str(prim.GetPath()) for prim in every_prim(stage.GetPrimAtPath("/R"))] == ["/R", "/R/there"]


@pytest.mark.parametrize(
    ("kind", "single"),
    [
        ("PhysicsRevoluteJoint", True),
        ("PhysicsPrismaticJoint", True),
        ("PhysicsFixedJoint", False),
        ("PhysicsSphericalJoint", False),
        ("PhysicsDistanceJoint", False),
        ("PhysicsJoint", False),
        ("Xform", False),
        ("", False),
    ],
)
def test_knows_single_axis_joints(kind, single):
    """Count revolute and prismatic joints only."""
    assert is_single_axis_joint(stage_with(("/joint", kind)).GetPrimAtPath("/joint")) is single


def test_joints_are_keyed_by_name():
    """Collect joints of every kind and depth below the root by their last path segment."""
    stage = stage_with(
        "/R",
        ("/R/hip", "PhysicsRevoluteJoint"),
        ("/R/arm/hip", "PhysicsPrismaticJoint"),
        ("/R/arm/weld", "PhysicsFixedJoint"),
        ("/R/arm/free", "PhysicsJoint"),
        ("/Other/elbow", "PhysicsRevoluteJoint"),
    )
    assert joints_by_name(stage.GetPrimAtPath("/R")) == {
        "hip": ["/R/hip", "/R/arm/hip"],
        "weld": ["/R/arm/weld"],
        "free": ["/R/arm/free"],
    }


def test_root_is_none_of_its_joints():
    """Leave the root itself out, although it is a joint."""
    stage = stage_with(("/R", "PhysicsRevoluteJoint"), ("/R/hip", "PhysicsRevoluteJoint"))
    assert list(joints_by_name(stage.GetPrimAtPath("/R"))) == ["hip"]


def test_joints_inside_an_instance_are_found():
    """Give the path on the stage of a joint inside an instance."""
    stage = instanced(stage_with("/Source", ("/Source/wheel", "PhysicsRevoluteJoint")), "/R/part", "/Source")
    assert joints_by_name(stage.GetPrimAtPath("/R")) == {"wheel": ["/R/part/wheel"]}


def test_roots_come_in_stage_order():
    """List articulation roots in stage order, instances included, inactive ones not."""
    stage = instanced(stage_with("/Z", "/A/base", "/Gone"), "/Copy", "/A")
    make_root(stage, "/Gone", "/A/base", "/Z")
    stage.GetPrimAtPath("/Gone").SetActive(False)
    assert articulation_roots(stage) == ["/Z", "/A/base", "/Copy/base"]


def test_stage_without_articulations_has_no_roots():
    """List nothing where there is nothing."""
    assert articulation_roots(stage_with("/World/A")) == []


def test_no_prim_is_no_joint():
    """Take a path without a prim for no joint."""
    assert not is_single_axis_joint(stage_with("/A").GetPrimAtPath("/hip"))


# patterns


@pytest.mark.parametrize(
    ("pattern", "path", "matched"),
    [
        ("/World/A", "/World/A", True),
        ("/World/A/", "/World/A", True),
        ("World/A", "/World/A", True),
        ("/World/A", "/World/AB", False),
        ("/World/B", "/World/AB", False),
        ("/World/A.*", "/World/AB", True),
        ("/World/.*", "/World", False),
        ("/World/.*/.*", "/World/A/base", True),
        ("/.*/base", "/World/base", True),
        ("/.*/base", "/World/A/base", False),
        ("/World/(A|B)", "/World/B", True),
        ("/World/(A|B)", "/World/C", False),
        ("/World/env_[0-9]+/R", "/World/env_12/R", True),
        ("/World/env_[0-9]+/R", "/World/env_x/R", False),
        ("/world/a", "/World/A", False),
    ],
)
def test_pattern_matches_segment_by_segment(pattern, path, matched):
    """Match each whole segment as a regular expression and never across a slash."""
    assert Roots([path]).find(pattern) == ([0] if matched else [])


@pytest.mark.parametrize(
    ("patterns", "picked"),
    [
        ("/World/A", [0]),
        ("/World/B/base", [1]),
        ("/World/B", [1, 2]),
        ("/World/B/.*", [1, 2]),
        ("/World", [0, 1, 2, 3, 4]),
        ("/World/.*", [0, 1, 2, 3, 4]),
        ("/World/envs/.*/C", [3, 4]),
        ("/World/envs/env_.*", [3, 4]),
        ("/World/envs", [3, 4]),
        ("/World/envs/env_1/C", [4]),
        (["/World/B", "/World/A"], [1, 2, 0]),
        (["/World/A", "/World/(A|B)"], [0, 1, 2]),
        (("/World/A", "/World/A"), [0]),
    ],
    ids=str,
)
def test_pattern_picks_every_root_below(patterns, picked):
    """Pick, pattern by pattern and each once, the articulations that matching prims are or are above of."""
    assert match_roots(patterns, ROOTS) == picked


@pytest.mark.parametrize(
    "pattern",
    ["/World/X", "/World/A/base", "/World/a", "World/.*/.*/.*/.*", "/", "", "/World/A/.*", "/World/envs/.*/D"],
)
def test_no_match_lists_what_exists(pattern):
    """Name the pattern and list the articulations when none matches."""
    with pytest.raises(ValueError) as caught:
        match_roots(pattern, ROOTS)
    assert repr(pattern) in str(caught.value) and str(ROOTS) in str(caught.value)


@pytest.mark.parametrize(
    ("pattern", "picked"),
    [("/World", [0, 2]), ("/World/Arm", [0]), ("/World/Arm/hand", [1]), ("/World/Arm/.*", [1]), ("/World/.*", [0, 2])],
)
def test_root_inside_another_is_not_counted_again(pattern, picked):
    """A root stands for itself alone, whatever is below it."""
    assert match_roots(pattern, ["/World/Arm", "/World/Arm/hand", "/World/Base"]) == picked


def test_robots_that_differ_are_told_apart():
    """Name two that differ, and the paths of those that are alike, as far as somebody would read them."""
    paths = [f"/World/Robot_{i}" for i in range(7)]
    with pytest.raises(ValueError) as caught:
        require_same_joints(paths, [["hip"], *[["hip", "knee"]] * 6])
    assert str(caught.value) == (
        "</World/Robot_1> has joints ['hip', 'knee'], </World/Robot_0> has ['hip']: robots of one articulation must "
        "have the same. Select them apart: '/World/Robot_0'; '/World/Robot_1', '/World/Robot_2', '/World/Robot_3', "
        "'/World/Robot_4' and 2 more."
    )


@pytest.mark.parametrize("paths", [[], ["/A"], ["/A", "/B"]])
def test_robots_that_are_alike_pass(paths):
    """Take any number of them."""
    require_same_joints(paths, [["hip"]] * len(paths))


@pytest.mark.parametrize("segment", ["env_{}", "env_{}.{{0}}"], ids=["names", "expressions"])
def test_a_list_of_paths_costs_as_much_as_it_is_long(segment):
    """Looking four times as many robots up takes four times the calls, where each path has a place of its own."""

    def look_up(count: int) -> None:
        patterns = [f"/World/group_{i}/{segment.format(i)}/Arm" for i in range(count)]
        roots = [f"/World/group_{i}/env_{i}/Arm" for i in range(count)]
        assert match_roots(patterns, roots) == list(range(count))

    look_up(256)
    assert calls(look_up, 256) < 5 * calls(look_up, 64)


def test_no_match_says_what_to_give():
    """End with what a path may be."""
    with pytest.raises(ValueError, match="Give the path of a prim with PhysicsArticulationRootAPI, or of one above it"):
        match_roots("/World/X", ROOTS)


def test_no_match_on_an_empty_stage_says_so():
    """Say that there are no articulations at all."""
    with pytest.raises(ValueError, match=r"'/World/A' matches none of the articulations here: there are none"):
        match_roots("/World/A", [])


def test_one_of_several_patterns_without_a_match_is_reported():
    """Refuse a list in which one pattern matches nothing."""
    with pytest.raises(ValueError, match="'/World/X'"):
        match_roots(["/World/A", "/World/X"], ROOTS)


@pytest.mark.parametrize("segment", ["[", "(", "*", "a{2,1}", "(?P<n", "a{99999999999999999999}"])
def test_bad_expression_is_named(segment):
    """Name a pattern that is no regular expression and say what to do."""
    with pytest.raises(ValueError) as caught:
        match_roots(f"/World/{segment}", ROOTS)
    words = (repr(f"/World/{segment}"), "no regular expression", "Correct the segment or escape it")
    assert [word for word in words if word not in str(caught.value)] == []


# bodies


@pytest.mark.parametrize(
    ("sides", "bodies"),
    [({}, []), ({"body0": "/A"}, ["/A"]), ({"body1": "/B"}, ["/B"]), ({"body0": "/A", "body1": "/B"}, ["/A", "/B"])],
)
def test_bodies_of_a_joint(sides, bodies):
    """List the bodies that a joint names; the world is none."""
    stage = stage_with("/A", "/B", ("/hip", "PhysicsRevoluteJoint"))
    for side, body in sides.items():
        stage.GetPrimAtPath("/hip").CreateRelationship(f"physics:{side}").SetTargets([body])
    assert [str(body) for body in bodies_of(stage, "/hip")] == bodies


def test_joint_that_is_not_on_the_stage_has_no_bodies():
    """Need no joint at the path."""
    assert bodies_of(stage_with("/A"), "/hip") == []


# drives


@pytest.mark.parametrize(
    ("kind", "axis", "drive", "found"),
    [
        ("PhysicsRevoluteJoint", "angular", {"Type": "acceleration", "Stiffness": 5.0}, True),
        ("PhysicsRevoluteJoint", "angular", {"Type": "acceleration", "Damping": 5.0}, True),
        ("PhysicsPrismaticJoint", "linear", {"Type": "acceleration", "Stiffness": 5.0}, True),
        ("PhysicsRevoluteJoint", "angular", {"Type": "acceleration"}, False),
        ("PhysicsRevoluteJoint", "angular", {"Type": "acceleration", "Stiffness": 0.0, "Damping": 0.0}, False),
        ("PhysicsRevoluteJoint", "angular", {"Type": "force", "Stiffness": 5.0}, False),
        ("PhysicsRevoluteJoint", "angular", {"Stiffness": 5.0}, False),
    ],
)
def test_finds_acceleration_drives_with_gains(kind, axis, drive, found):
    """List the joints whose drive acts in accelerations and does act."""
    stage = stage_with("/R", ("/R/hip", kind))
    api = UsdPhysics.DriveAPI.Apply(stage.GetPrimAtPath("/R/hip"), axis)
    for name, value in drive.items():
        getattr(api, f"Create{name}Attr")(value)
    assert acceleration_drives(stage) == (["/R/hip"] if found else [])


def test_no_pattern_is_refused() -> None:
    """An empty list of paths is a mistake, not an empty articulation."""
    with pytest.raises(ValueError, match="empty"):
        match_roots([], ["/Robot"])


def test_loop_joints_are_those_that_close_a_loop() -> None:
    """The world is one body; a chain has no loop, a second way between two bodies is one."""
    stage = Usd.Stage.CreateInMemory()
    links = [("base", "", "/A"), ("hip", "/A", "/B"), ("knee", "/B", "/C"), ("bar", "/A", "/C"), ("stand", "", "/C")]
    for name, parent, child in links:
        joint = UsdPhysics.FixedJoint.Define(stage, f"/joints/{name}")
        if parent:
            joint.CreateBody0Rel().SetTargets([parent])
        joint.CreateBody1Rel().SetTargets([child])
    assert loop_joints(stage) == ["/joints/bar", "/joints/stand"]
