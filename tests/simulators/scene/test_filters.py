"""Contacts in MuJoCo between four overlapping boxes, of a robot and a loose body."""

import itertools
import random
from collections.abc import Sequence

import mujoco
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.filters import _set_masks
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Scene
from isaacsim.core.experimental.actuators.simulators.scene.shapes import Collider
from pxr import Sdf, Usd, UsdPhysics
from small_stages import SmallStage

ROBOT, JOINT = "/World/Robot", "/World/Robot/joint"
# colliders by short names
A, A2, B, C = f"{ROBOT}/a/g", f"{ROBOT}/a/g2", f"{ROBOT}/b/g", "/World/c/g"
NAMES = {A: "a", A2: "a2", B: "b", C: "c"}
# all pairs of different bodies
ALL = {"a-b", "a2-b", "a-c", "a2-c", "b-c"}


def heap() -> SmallStage:
    """Two links on a base, connected to each other, the first with two colliders, and a loose body: all overlap.

    The links are siblings: in MuJoCo a body and its parent do not touch.
    """
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
    """Pairs of colliders that MuJoCo finds in contact."""
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
    """With a filter at one prim against others."""
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
    """Where nothing is filtered."""
    assert found(heap()) == ALL


def test_bodies_of_a_joint_do_not_touch() -> None:
    """Unless the joint enables their collision."""
    made = heap()
    UsdPhysics.Joint(made.stage.GetPrimAtPath(JOINT)).CreateCollisionEnabledAttr(False)
    assert found(made) == {"a-c", "a2-c", "b-c"}


@pytest.mark.parametrize("name", ["newton:selfCollisionEnabled", "physxArticulation:enabledSelfCollisions"])
def test_links_of_a_robot_need_not_touch(name) -> None:
    """A loose body still touches the links."""
    made = heap()
    made.attribute(ROBOT, name, False)
    assert found(made) == {"a-c", "a2-c", "b-c"}
    made.attribute(ROBOT, name, True)
    assert found(made) == ALL


@pytest.mark.parametrize(
    ("path", "other", "gone"),
    [
        (A, B, {"a-b"}),
        (A, C, {"a-c"}),
        (C, A, {"a-c"}),
        (A, f"{ROBOT}/b", {"a-b"}),
        (f"{ROBOT}/a", f"{ROBOT}/b", {"a-b", "a2-b"}),
        ("/World/c", f"{ROBOT}/a", {"a-c", "a2-c"}),
        ("/World/c", ROBOT, {"a-c", "a2-c", "b-c"}),
        (ROBOT, "/World/c", {"a-c", "a2-c", "b-c"}),
        (ROBOT, C, {"a-c", "a2-c", "b-c"}),
    ],
)
def test_pairs_are_filtered(path, other, gone) -> None:
    """Of colliders, bodies and articulations, either way round."""
    assert found(filtered(heap(), path, other)) == ALL - gone


def test_several_pairs_are_filtered() -> None:
    """Of single colliders, in ways that have nothing to do with each other."""
    assert found(filtered(filtered(heap(), A, B, C), A2, C)) == {"a2-b", "b-c"}


def test_groups_are_filtered() -> None:
    """From each other, and one from itself."""
    made = heap()
    group(made, "left", [A, B], ["right"])
    group(made, "right", [C], [])
    assert found(made) == ALL - {"a-c", "b-c"}
    group(made, "left", [A, B], ["left"])
    assert found(made) == ALL - {"a-b"}


def test_inverted_group_touches_only_what_it_names() -> None:
    """And what is in no group."""
    made = heap()
    group(made, "left", [A], ["right"], inverted=True)
    group(made, "right", [B], [])
    group(made, "other", [C], [])
    assert found(made) == ALL - {"a-c"}


def test_whole_bodies_take_no_bits() -> None:
    """They are excluded by pairs, of which there may be any number."""
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
def test_bits_keep_apart_what_is_to_be_and_nothing_else(seed) -> None:
    """Two shapes touch if the own mask of one has a bit of the contact mask of the other."""
    chance = random.Random(seed)
    colliders = colliders_of(8)
    pairs = list(itertools.combinations(range(8), 2))
    apart = set(chance.sample(pairs, chance.randrange(len(pairs) + 1)))
    _set_masks(colliders, apart)
    touches = [collider.shape.touches for collider in colliders]
    for a, b in pairs:
        together = bool(touches[a][0] & touches[b][1] or touches[b][0] & touches[a][1])
        assert together is ((a, b) not in apart)


def colliders_of(count: int) -> list[Collider]:
    """As many colliders as are wanted."""
    made = SmallStage()
    for number in range(count):
        made.shape(f"/World/g{number}", "Cube")
    return [
        Collider(Sdf.Path(shape.path), made.stage.GetPrimAtPath(shape.path), shape, np.eye(4), 0.0)
        for shape in read_scene(made.stage).shapes
    ]
