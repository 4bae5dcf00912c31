"""Which actuators of robots are unlike those of the first: by composition, by the text of layers, and by values."""

from collections.abc import Callable

import pytest
from isaacsim.core.experimental.actuators import PDControlConfig, add_actuator
from isaacsim.core.experimental.actuators.files.usd.twins import Original, Twins
from pxr import Sdf, Usd, UsdPhysics

ROBOT, JOINTS = "/World/env_{}/Robot", ("hip", "knee", "wrist")
HIP, KNEE, WRIST = (f"/World/env_0/Robot/Actuators/{name}" for name in JOINTS)


@pytest.fixture
def stage() -> Usd.Stage:
    """A robot with three motors in a scope."""
    made, path = Usd.Stage.CreateInMemory(), ROBOT.format(0)
    UsdPhysics.ArticulationRootAPI.Apply(made.DefinePrim(path, "Xform"))
    made.DefinePrim(f"{path}/defaults").CreateAttribute("newton:kp", Sdf.ValueTypeNames.Float).Set(10.0)
    for name in JOINTS:
        UsdPhysics.RevoluteJoint.Define(made, f"{path}/joints/{name}")
    for name in JOINTS:
        add_actuator(path, name, name, PDControlConfig(10.0, 0.0), stage=made)
    return made


def copied(stage: Usd.Stage, change: Callable[[str], object] = lambda _: None) -> list[str]:
    """Copy the robot, change the copy at its path, and return the names of the motors that are unlike."""
    layer = stage.GetRootLayer()
    Sdf.CopySpec(layer, "/World/env_0", layer, "/World/env_1")
    change(ROBOT.format(1))
    twins = Twins(Original(stage, ROBOT.format(0)), ROBOT.format(1))
    return [path.rpartition("/")[2] for path in (HIP, KNEE, WRIST) if twins.differ(path)]


def test_copies_are_alike(stage) -> None:
    """Each drives its own joints."""
    assert copied(stage) == []


@pytest.mark.parametrize("name", JOINTS)
def test_only_the_actuator_that_differs_is_unlike(stage, name) -> None:
    """The first, one between and the last of a scope."""
    assert copied(stage, lambda robot: set_kp(stage, f"{robot}/Actuators/{name}", 5.0)) == [name]


def test_opinions_of_another_layer(stage) -> None:
    """The text of the root layer is the same, and a session layer says more."""

    def change(robot: str) -> None:
        with Usd.EditContext(stage, stage.GetSessionLayer()):
            set_kp(stage, f"{robot}/Actuators/hip", 5.0)

    assert copied(stage, change) == ["hip"]


def test_joints_of_another_robot(stage) -> None:
    """A copy that drives a joint of the first robot."""

    def change(robot: str) -> None:
        motor = stage.GetPrimAtPath(f"{robot}/Actuators/knee")
        motor.GetRelationship("newton:targets").SetTargets([f"{ROBOT.format(0)}/joints/knee"])

    assert copied(stage, change) == ["knee"]


def test_the_same_text_may_refer_to_other_values(stage) -> None:
    """Each motor refers to a prim of its own robot, and that of the copy has another gain."""
    motor = stage.GetPrimAtPath(KNEE)
    motor.RemoveProperty("newton:kp")
    motor.GetReferences().AddInternalReference(f"{ROBOT.format(0)}/defaults")
    assert copied(stage) == []

    def change(robot: str) -> None:
        references = stage.GetPrimAtPath(f"{robot}/Actuators/knee").GetReferences()
        references.SetReferences([Sdf.Reference(primPath=f"{robot}/defaults")])
        set_kp(stage, f"{robot}/defaults", 5.0)

    assert copied(stage, change) == ["knee"]


def test_the_same_text_may_forward_to_other_joints(stage) -> None:
    """The targets are those of a relationship of the robot, which names another joint at the copy."""
    chosen = stage.GetPrimAtPath(ROBOT.format(0)).CreateRelationship("driven")
    chosen.SetTargets([f"{ROBOT.format(0)}/joints/knee"])
    stage.GetPrimAtPath(KNEE).GetRelationship("newton:targets").SetTargets([f"{ROBOT.format(0)}.driven"])

    def change(robot: str) -> None:
        stage.GetPrimAtPath(robot).GetRelationship("driven").SetTargets([f"{robot}/joints/hip"])

    assert copied(stage) == [] and copied(stage, change) == ["knee"]


def test_text_of_several_lines_may_look_like_a_prim(stage) -> None:
    """A gain that stands behind such a text, of the motor before."""
    lines = 'first\n    def NewtonActuator "knee" (\n    )\n'
    stage.GetPrimAtPath(KNEE).SetMetadata("documentation", lines)
    assert copied(stage, lambda robot: set_kp(stage, f"{robot}/Actuators/knee", 5.0)) == ["knee"]


def set_kp(stage: Usd.Stage, path: str, kp: float) -> None:
    """Author the gain of a prim."""
    stage.OverridePrim(path).CreateAttribute("newton:kp", Sdf.ValueTypeNames.Float).Set(kp)
