"""Articulations and joints are found anywhere on a stage."""

import pytest
from isaacsim.core.experimental.actuators.files.usd import articulation
from pxr import Sdf, Usd, UsdPhysics

API = '(prepend apiSchemas = ["PhysicsArticulationRootAPI"])'


def stage_from(text: str) -> Usd.Stage:
    """A stage that holds the prims of `text`."""
    layer = Sdf.Layer.CreateAnonymous("scene.usda")
    layer.ImportFromString(f"#usda 1.0\n{text}")
    return Usd.Stage.Open(layer)


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
    """Add an instance of the prim at `source`."""
    prim = stage.DefinePrim(path)
    prim.GetReferences().AddInternalReference(source)
    prim.SetInstanceable(True)
    return stage


# prims


def test_every_prim_enters_instances():
    """Visit what lies inside an instance, at its path on the stage."""
    stage = instanced(stage_with("/Source", "/Source/link"), "/Copy", "/Source")
    assert [str(prim.GetPath()) for prim in articulation.every_prim(stage.GetPrimAtPath("/Copy"))] == [
        "/Copy",
        "/Copy/link",
    ]


@pytest.mark.parametrize(
    "hide", [lambda prim: prim.SetActive(False), lambda prim: prim.SetSpecifier(Sdf.SpecifierOver)]
)
def test_every_prim_skips_what_is_not_there(hide):
    """Skip prims that are inactive or mere overs, and what lies below them."""
    stage = stage_with("/R", "/R/gone", "/R/gone/below", "/R/there")
    hide(stage.GetPrimAtPath("/R/gone"))
    assert [str(prim.GetPath()) for prim in articulation.every_prim(stage.GetPrimAtPath("/R"))] == ["/R", "/R/there"]


@pytest.mark.parametrize(
    ("kind", "locked", "axes"),
    [
        ("PhysicsRevoluteJoint", (), ("angular",)),
        ("PhysicsPrismaticJoint", (), ("linear",)),
        ("PhysicsJoint", (), ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")),
        ("PhysicsJoint", ("transX", "transY", "transZ", "rotY"), ("rotX", "rotZ")),
        ("PhysicsFixedJoint", (), ()),
        ("PhysicsSphericalJoint", (), ()),
        ("Xform", (), ()),
        ("", (), ()),
    ],
)
def test_axes_are_those_that_a_joint_leaves_free(kind, locked, axes):
    """By kind; a generic joint locks an axis by limits the wrong way round."""
    stage = stage_with(("/joint", kind))
    joint = stage.GetPrimAtPath("/joint")
    for axis in locked:
        limit = UsdPhysics.LimitAPI.Apply(joint, axis)
        limit.CreateLowAttr(1.0)
        limit.CreateHighAttr(-1.0)
    assert articulation.axes_of(joint) == axes


def test_no_prim_has_no_axes():
    """A path without a prim is of no joint."""
    stage = stage_with("/A")
    assert articulation.axes_of(stage.GetPrimAtPath("/hip")) == ()


def test_payloads_that_are_not_loaded_are_listed(tmp_path):
    """Those of the whole stage, or those on the way to or from a path."""
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
    """List articulation roots in stage order, instances included, inactive ones not."""
    stage = instanced(stage_with("/Z", "/A/base", "/Gone"), "/Copy", "/A")
    make_root(stage, "/Gone", "/A/base", "/Z")
    stage.GetPrimAtPath("/Gone").SetActive(False)
    assert articulation.articulation_roots(stage) == ["/Z", "/A/base", "/Copy/base"]


def test_stage_without_articulations_has_no_roots():
    """List nothing where there is nothing."""
    assert articulation.articulation_roots(stage_with("/World/A")) == []


# bodies


@pytest.mark.parametrize(
    ("sides", "bodies"),
    [({}, []), ({"body0": "/A"}, ["/A"]), ({"body1": "/B"}, ["/B"]), ({"body0": "/A", "body1": "/B"}, ["/A", "/B"])],
)
def test_bodies_of_a_joint(sides, bodies):
    """The world is no body."""
    stage = stage_with("/A", "/B", ("/hip", "PhysicsRevoluteJoint"))
    for side, body in sides.items():
        stage.GetPrimAtPath("/hip").CreateRelationship(f"physics:{side}").SetTargets([body])
    assert [str(body) for body in articulation.bodies_of(stage, "/hip")] == bodies


def test_joint_that_is_not_on_the_stage_has_no_bodies():
    """Need no joint at the path."""
    assert articulation.bodies_of(stage_with("/A"), "/hip") == []
