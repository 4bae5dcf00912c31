"""Class prims of actuators: opinions on a prim itself, and classes without heirs."""

import pytest
from isaacsim.core.experimental.actuators import PDControlConfig, add_actuator, add_motors
from isaacsim.core.experimental.actuators.files.usd.shared import classes_of, drop_unused, free_name, own_specs
from pxr import Sdf, Usd
from small_stages import pendulum

ROOT = "/World/Robot"
SCOPE = Sdf.Path(f"{ROOT}/Actuators")
PD = PDControlConfig(20.0, 2.0)


@pytest.fixture
def stage():
    made = pendulum().stage
    add_actuator(ROOT, "hinge", "hinge", PD, stage=made).GetInherits().AddInherit(SCOPE.AppendChild("_motor"))
    made.CreateClassPrim(SCOPE.AppendChild("_motor"))
    return made


def hinge(stage):
    return stage.GetPrimAtPath(SCOPE.AppendChild("hinge"))


def test_a_class_is_not_the_prim_itself(stage) -> None:
    assert classes_of(hinge(stage)) == [SCOPE.AppendChild("_motor")] and len(hinge(stage).GetPrimStack()) == 2
    assert [spec.layer for spec in own_specs(hinge(stage))] == [stage.GetRootLayer()]
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        hinge(stage).SetActive(True)
    assert [spec.layer for spec in own_specs(hinge(stage))] == [stage.GetSessionLayer(), stage.GetRootLayer()]


def test_a_prim_of_a_robot_that_is_referred_to_cannot_be_replaced(stage) -> None:
    scene = Usd.Stage.CreateInMemory()
    scene.DefinePrim(ROOT).GetReferences().AddReference(stage.GetRootLayer().identifier, ROOT)
    with pytest.raises(ValueError, match="is also defined in layer"):
        add_actuator(ROOT, "hinge", "hinge", PD, overwrite_existing=True, stage=scene)
    with pytest.raises(ValueError, match="is also defined in layer"):
        add_motors(ROOT, {"hinge": [PD]}, overwrite_existing=True, stage=scene)


def test_only_classes_that_nobody_needs_are_dropped(stage) -> None:
    shared, other = SCOPE.AppendChild("_motor"), SCOPE.AppendChild("other")
    hinge(stage).SetActive(False)
    stage.DefinePrim(other)
    drop_unused(stage, [shared, other])
    assert stage.GetPrimAtPath(shared) and stage.GetPrimAtPath(other)
    stage.RemovePrim(SCOPE.AppendChild("hinge"))
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        drop_unused(stage, [shared])
    assert stage.GetPrimAtPath(shared), "another layer says it"
    drop_unused(stage, [shared])
    assert not stage.GetPrimAtPath(shared)


def test_names_are_free(stage) -> None:
    assert free_name(stage, SCOPE, "_knee") == "_knee" and free_name(stage, SCOPE, "_motor") == "_motor_2"
