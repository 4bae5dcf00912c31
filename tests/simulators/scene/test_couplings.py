"""Joints that follow others: polynomials, fixed joints, disabled couplings, and missing leaders."""

import math

import mujoco
import pytest
from isaacsim.core.experimental.actuators.base.errors import UnsupportedSceneError
from isaacsim.core.experimental.actuators.simulators.mujoco.model import build_model
from isaacsim.core.experimental.actuators.simulators.scene.read import read_scene
from isaacsim.core.experimental.actuators.simulators.scene.scene import Mimic
from pxr import UsdPhysics
from refusals import refused
from small_stages import SmallStage, pendulum

LEADER, FOLLOWER = "/World/Robot/hinge", "/World/Robot/follow"


def coupled(
    schema: str = "NewtonMimicAPI", relation: str = "newton:mimicJoint", kind: str = "Revolute", **leader: object
) -> SmallStage:
    """A pendulum and a second link on its base that follows it."""
    made = pendulum(**leader)
    made.body("/World/Robot/other")
    prim = made.joint(FOLLOWER, kind, "/World/Robot/base", "/World/Robot/other")
    prim.AddAppliedSchema(schema)
    prim.CreateRelationship(relation).SetTargets([LEADER])
    return made


def author(made: SmallStage, **values: float) -> None:
    """Attributes of the follower, with `__` for a colon."""
    for name, value in values.items():
        made.attribute(FOLLOWER, name.replace("__", ":"), value)


def mimics(made: SmallStage) -> list[Mimic]:
    return read_scene(made.stage).mimics


@pytest.mark.parametrize("kind", ["Revolute", "Prismatic"])
def test_follower_takes_the_polynomial(kind) -> None:
    """In MuJoCo, a follower goes to the polynomial of its leader's position."""
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
    """`mjc:target`, with coefficients in radians."""
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
    """It stays where it is."""
    assert mimics(coupled(kind="Fixed")) == []


def test_what_follows_a_fixed_joint_stays() -> None:
    """At the position that the offset gives it."""
    made = coupled(kind="Revolute")
    made.stage.RemovePrim(LEADER)
    made.joint(LEADER, "Fixed", "/World/Robot/base", "/World/Robot/bob")
    author(made, newton__mimicCoef0=20.0)
    (mimic,) = mimics(made)
    assert mimic.leader is None
    model, _ = build_model(read_scene(made.stage), 0.001)
    data = mujoco.MjData(model)
    for _ in range(1000):
        mujoco.mj_step(model, data)
    assert data.joint(FOLLOWER).qpos[0] == pytest.approx(math.radians(20), abs=1e-3)


def test_coupling_can_be_switched_off() -> None:
    made = coupled()
    author(made, newton__mimicEnabled=False)
    assert mimics(made) == []


@pytest.mark.parametrize("target", ["/World/Robot/nothing", "/World/Robot/base", None])
def test_leader_that_is_none_is_named(target) -> None:
    """A path without a joint, or no path."""
    made = coupled()
    made.stage.GetPrimAtPath(FOLLOWER).GetRelationship("newton:mimicJoint").SetTargets([target] if target else [])
    named = f"<{target}>" if target else "nothing"
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), rf"<{FOLLOWER}> follows {named}")


def test_leader_that_closes_a_loop_is_named() -> None:
    """It is no axis."""
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
def test_joints_of_several_axes_neither_follow_nor_lead(several) -> None:
    made = coupled(kind="") if several == "follower" else coupled()
    if several == "leader":
        made.stage.GetPrimAtPath(LEADER).SetTypeName("PhysicsJoint")
    refused(UnsupportedSceneError, lambda: read_scene(made.stage), "one of them has several axes")
