"""Joints of links without an articulation root belong to no robot, with a warning."""

import pytest
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from pxr import UsdPhysics
from small_stages import SmallStage, pendulum


def door(made: SmallStage) -> None:
    for name in ("frame", "leaf", "handle"):
        made.body(f"/World/Door/{name}")
    made.joint("/World/Door/hinge", "Revolute", "/World/Door/frame", "/World/Door/leaf")
    made.joint("/World/Door/latch", "Revolute", "/World/Door/leaf", "/World/Door/handle")


def test_tree_without_a_root_belongs_to_no_robot() -> None:
    made = pendulum()
    door(made)
    said = (
        r"joints belong to no robot, .* no articulation root: /World/Door/hinge, /World/Door/latch\. .* Apply Physics"
    )
    with pytest.warns(UserWarning, match=said) as caught:
        scene = read_scene(made.stage)
    assert len(caught) == 1 and [robot.path for robot in scene.articulations] == ["/World/Robot"]


@pytest.mark.parametrize("how", ["root", "alone", "excluded"])
def test_what_is_a_robot_or_meant_to_be_none_is_not_told_of(how) -> None:
    made = SmallStage() if how == "alone" else pendulum()
    door(made)
    if how == "root":
        UsdPhysics.ArticulationRootAPI.Apply(made.stage.GetPrimAtPath("/World/Door"))
    elif how == "excluded":
        for name in ("hinge", "latch"):
            prim = made.stage.GetPrimAtPath(f"/World/Door/{name}")
            UsdPhysics.Joint(prim).CreateExcludeFromArticulationAttr(True)
    read_scene(made.stage)
