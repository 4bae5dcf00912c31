"""Joints of an articulation in the order of its tree."""

from __future__ import annotations

import pytest
from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.usd.joint_order import joint_orders
from places import ROBOTS
from pxr import UsdPhysics
from small_stages import SmallStage
from stages import stage_of


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
    (joints,) = joint_orders(made.stage, [root])
    return [joint.rsplit("/", 1)[1] for joint in joints]


@pytest.mark.parametrize("root", ["/World/R", "/World/R/base", "/World/R/fix"])
def test_order_is_breadth_first(root: str) -> None:
    """Go out from the base, whichever prim is the root."""
    assert names(tree(root), root) == ["shoulder_a", "shoulder_b", "elbow_a", "elbow_b"]


def test_joints_of_one_link_come_by_name() -> None:
    """However they were written down; the order that PhysX and MuJoCo have for the quadruped."""
    (joints,) = joint_orders(stage_of(ROBOTS / "anymal_c.usda"), ["/World/Anymal"])
    assert [joint.rsplit("/", 1)[1] for joint in joints[:4]] == ["LF_HAA", "LH_HAA", "RF_HAA", "RH_HAA"]
    pytest.importorskip("mujoco", reason="the embedded simulator is not installed")
    with Simulation(ROBOTS / "anymal_c.usda"):
        assert [joint.rsplit("/", 1)[1] for joint in joints] == Articulation("/World/Anymal").dof_names


def test_root_link_comes_first() -> None:
    """Begin with the body that is the root, although nothing is fixed."""
    made = tree("/World/R/fore_b")
    made.stage.RemovePrim("/World/R/fix")
    assert names(made, "/World/R/fore_b") == ["elbow_b", "shoulder_b", "shoulder_a", "elbow_a"]


def test_fixed_link_comes_first() -> None:
    """Begin where the robot is fixed to the world."""
    made = tree("/World/R")
    made.stage.RemovePrim("/World/R/fix")
    made.joint("/World/R/fix", "Fixed", None, "/World/R/fore_a")
    assert names(made, "/World/R") == ["elbow_a", "shoulder_a", "shoulder_b", "elbow_b"]


@pytest.mark.parametrize(("attribute", "value"), [("excludeFromArticulation", True), ("jointEnabled", False)])
def test_joint_that_is_no_part_is_left_out(attribute: str, value: bool) -> None:
    """Neither list it nor go on behind it."""
    made = tree("/World/R")
    made.stage.GetPrimAtPath("/World/R/shoulder_b").GetAttribute(f"physics:{attribute}").Set(value)
    assert names(made, "/World/R") == ["shoulder_a", "elbow_a"]


def test_other_robots_are_left_out() -> None:
    """List each articulation's own joints, in the order asked for."""
    made = tree("/World/R")
    made.root("/World/S")
    made.body("/World/S/base")
    made.body("/World/S/link")
    made.joint("/World/S/hip", "Revolute", "/World/S/base", "/World/S/link")
    hip, arms = joint_orders(made.stage, ["/World/S", "/World/R"])
    assert (hip, len(arms)) == (["/World/S/hip"], 4)


def test_robot_without_joints_has_none() -> None:
    """Return an empty list."""
    made = SmallStage()
    made.root("/World/S")
    assert joint_orders(made.stage, ["/World/S"]) == [[]]
