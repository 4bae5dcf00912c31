"""Links and joints of articulations by their paths, in PhysX's order."""

import contextlib
from importlib.util import find_spec

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.physx.links import LinkGraph
from places import ROBOTS
from played import playing_robot
from pxr import Usd, UsdGeom, UsdPhysics
from small_stages import SmallStage, two_robots

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
ROOT = "/World/Robot"


def tree(root: str = ROOT, *, names: str = "abcdef", stage: SmallStage | None = None, at: float = 0.0) -> SmallStage:
    """`a` – `b` – `c`, with `d` and `e` welded to `b`, and `f` that turns on `d`; joints are named after both."""
    made = stage or SmallStage()
    made.root(root)
    for i, name in enumerate(names):
        made.body(f"{root}/{name}", (0.3 * i, at, 1), com=(0.01 * i, 0.02, 0), mass=1 + i)
    a, b, c, d, e, f = names
    for kind, parent, child in (
        ("Revolute", a, b),
        ("Fixed", b, d),
        ("Revolute", b, c),
        ("Fixed", b, e),
        ("Revolute", d, f),
    ):
        apart = 0.3 * (names.index(child) - names.index(parent))
        made.joint(f"{root}/{parent}_{child}", kind, f"{root}/{parent}", f"{root}/{child}", at=(apart, 0, 0))
    return made


def running(stage: Usd.Stage, path: str = ROOT) -> Articulation:
    _, robot = playing_robot(path, stage, 1e-3, engine="physx")
    size = robot.num_dofs
    robot.set_dof_positions(np.linspace(-0.4, 0.7, size)[None])
    robot.set_dof_velocities(np.linspace(1.0, -2.0, size)[None])
    return robot


@pytest.mark.parametrize("fixed", [True, False])
def test_rows_of_the_jacobian_are_those_of_the_links(fixed) -> None:
    made = tree()
    if fixed:
        made.joint(f"{ROOT}/base", "Fixed", None, f"{ROOT}/a", at=(0, 0, 1))
    robot = running(made.stage)
    velocities = robot.get_dof_velocities().numpy()[0]
    if not fixed:
        robot.set_velocities([[0.1, 0.2, -0.3]], [[0.5, -0.4, 0.3]])
        root = [array.numpy()[0] for array in robot.get_velocities()]
        velocities = np.concatenate([*root, velocities])
    found = np.concatenate([array.numpy()[0] for array in robot.get_link_velocities()], axis=1)
    jacobian = robot.get_jacobian_matrices().numpy()[0]
    np.testing.assert_allclose(jacobian @ velocities, found[1:] if fixed else found, atol=1e-6)
    assert sorted(robot.link_names) == list("abcdef")


def test_masses_are_those_of_the_paths() -> None:
    robot = running(tree().stage)
    masses = dict(zip(robot.link_names, robot.get_link_masses().numpy()[0].tolist(), strict=True))
    assert masses == {name: 1.0 + i for i, name in enumerate("abcdef")}


def test_each_link_but_the_root_has_the_joint_that_leads_there() -> None:
    robot = running(tree().stage)
    assert len(robot.joint_names) == 5
    for link, joint in zip(robot.link_names[1:], robot.joint_names, strict=True):
        assert link in joint.split("_"), joint


def test_robots_with_the_same_names_are_told_apart() -> None:
    made = tree("/World/Right", at=5.0)
    tree("/World/Left", stage=made)
    for side in ("Up", "Down"):
        made.root(f"/World/{side}")
        for name in "ab":
            made.body(f"/World/{side}/{name}", (0, 9, 1))
        made.joint(f"/World/{side}/a_b", "Fixed", f"/World/{side}/a", f"/World/{side}/b")
    sim = Simulation(made.stage, engine="physx")
    for robot in sim._host.robots():
        assert {path.rsplit("/", 1)[0] for path in (*robot.links, *robot.joints)} == {robot.path}


def test_links_of_two_references_are_their_own() -> None:
    sim = Simulation(two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal"), engine="physx")
    sim.play()
    left, right = (sim.articulation(f"/World/{side}") for side in ("Left", "Right"))
    apart = right.get_link_world_poses()[0].numpy() - left.get_link_world_poses()[0].numpy()
    np.testing.assert_allclose(apart, np.broadcast_to([0, 3, 0], apart.shape), atol=1e-5)
    assert (left.link_names, len(left.link_names)) == (right.link_names, 13)


def test_root_may_be_a_joint() -> None:
    made = SmallStage()
    for i, name in enumerate("ab"):
        made.body(f"/World/{name}", (i, 0, 0))
    UsdPhysics.ArticulationRootAPI.Apply(made.joint("/World/base", "Fixed", None, "/World/a"))
    made.joint("/World/hinge", "Revolute", "/World/a", "/World/b", at=(1, 0, 0))
    robot = running(made.stage, "/World/base")
    assert (robot.link_paths, robot.joint_paths) == ([["/World/a", "/World/b"]], [["/World/hinge"]])


def test_joint_may_name_a_part_of_a_link() -> None:
    made = tree()
    UsdGeom.Xform.Define(made.stage, f"{ROOT}/c/tip")
    made.body(f"{ROOT}/g", (1.2, 0, 1))
    made.joint(f"{ROOT}/c_g", "Revolute", f"{ROOT}/c/tip", f"{ROOT}/g", at=(0.6, 0, 0))
    assert "c_g" in running(made.stage).joint_names


def test_tree_that_is_not_there_is_not_found() -> None:
    graph = LinkGraph(tree().stage, {f"{ROOT}/{name}" for name in "abcdef"})
    assert graph.find(ROOT, ["a", "b"], ["a_b"], set()) == ((f"{ROOT}/a", f"{ROOT}/b"), (f"{ROOT}/a_b",))
    for links, joints, known in (
        (["a", "x"], ["a_b"], set()),
        (["a", "b"], ["b_a"], set()),
        (["a", "b"], ["a_b"], {"/J"}),
    ):
        assert graph.find(ROOT, links, joints, known) is None


@pytest.mark.parametrize("fixed", [True, False])
def test_joint_from_the_world_that_physx_does_not_have_is_told(fixed) -> None:
    """It would be locked in silence; with a base link that is fixed to the world it moves, in silence."""
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/a", com=(0.5, 0, 0))
    made.body(f"{ROOT}/b", (1, 0, 0), com=(0.5, 0, 0))
    made.joint(f"{ROOT}/elbow", "Revolute", f"{ROOT}/a", f"{ROOT}/b", at=(1, 0, 0))
    if fixed:
        made.body(f"{ROOT}/base")
        made.joint(f"{ROOT}/fix", "Fixed", None, f"{ROOT}/base")
    made.joint(f"{ROOT}/shoulder", "Revolute", f"{ROOT}/base" if fixed else None, f"{ROOT}/a")
    words = r"</World/Robot/shoulder> leads to </World/Robot/a> from what is no rigid body: engine 'physx' holds"
    with contextlib.nullcontext() if fixed else pytest.warns(UserWarning, match=words):
        sim = Simulation(made.stage, engine="physx")
    assert sim.articulation(ROOT).dof_names == (["shoulder", "elbow"] if fixed else ["elbow"])


def test_links_that_cannot_be_told_are_refused(monkeypatch) -> None:
    monkeypatch.setattr(LinkGraph, "find", lambda *_: None)
    with pytest.raises(UnsupportedSceneError, match=r"</World/Robot>: its joints do not lead to the links that PhysX"):
        Simulation(tree().stage, engine="physx")
