"""Drives with another instance name than the axis of their joint are read, with a message."""

import math

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.files.usd.authored import instance_for, misnamed, rename_misnamed
from isaacsim.core.experimental.actuators.files.usd.joint_properties import read_property, write_properties
from pxr import Usd
from small_stages import SmallStage, pendulum

HINGE, SLIDE = "/World/Robot/hinge", "/World/Robot/slide"
DRIVE = "PhysicsDriveAPI"


def driven(*instances: str, kind: str = "Revolute", axis: str = "Y") -> Usd.Stage:
    """A joint with a drive for each instance, the first with stiffness 1, the second with 2, and so on."""
    made = SmallStage()
    path = HINGE if kind == "Revolute" else SLIDE
    for body in ("base", "bob"):
        made.body(f"/World/Robot/{body}")
    made.joint(path, kind, "/World/Robot/base", "/World/Robot/bob", axis=axis)
    for number, instance in enumerate(instances, start=1):
        made.drive(path, instance, stiffness=float(number), type="acceleration")
    return made.stage


@pytest.mark.parametrize("instance", ["X", "Y", "Z", "rotX", "rotZ", "Angular"])
def test_drive_of_a_letter_is_that_of_the_axis(instance) -> None:
    stage = driven(instance)
    np.testing.assert_allclose(read_property(stage, "stiffnesses", [(HINGE, "angular")]), [math.degrees(1.0)])
    (line,) = misnamed(stage, [HINGE])
    assert line.startswith(f"<{HINGE}> applies {DRIVE}:{instance}: read as {DRIVE}:angular")


@pytest.mark.parametrize("instance", ["X", "transZ"])
def test_drive_of_a_slide(instance) -> None:
    stage = driven(instance, kind="Prismatic")
    assert read_property(stage, "stiffnesses", [(SLIDE, "linear")]).tolist() == [1.0]
    assert f"{DRIVE}:{instance}: read as {DRIVE}:linear" in misnamed(stage, [SLIDE])[0]


@pytest.mark.parametrize(
    ("instances", "read"),
    [(("angular", "X"), "angular"), (("X", "angular"), "angular"), (("X", "Y"), "Y"), (("X", "Z"), "X")],
)
def test_own_name_wins_and_then_the_letter_of_the_axis(instances, read) -> None:
    stage = driven(*instances)
    assert instance_for(stage.GetPrimAtPath(HINGE), DRIVE, "angular") == read
    (other,) = set(instances) - {read}
    assert any(f"{DRIVE}:{other}, which has no effect" in line for line in misnamed(stage, [HINGE]))


@pytest.mark.parametrize("instance", ["linear", "transX", "left", "distance"])
def test_drive_of_no_axis_is_named(instance) -> None:
    stage = driven(instance)
    assert read_property(stage, "stiffnesses", [(HINGE, "angular")]).tolist() == [0.0]
    (line,) = misnamed(stage, [HINGE])
    assert line == (
        f"<{HINGE}> applies {DRIVE}:{instance}, which has no effect: the joint knows angular. Rename or remove it."
    )


def test_joint_of_several_axes_has_letters() -> None:
    assert [line.split()[2] for line in misnamed(driven("rotX", "transY", "X", kind=""), [SLIDE])] == [f"{DRIVE}:X,"]


def test_drive_that_is_called_right_is_not_named() -> None:
    stage = driven("angular")
    stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxJointAPI")
    assert misnamed(stage, [HINGE]) == []


def test_setting_goes_where_reading_looks() -> None:
    """A drive beside it would hide its other values."""
    stage, axes = driven("X"), [(HINGE, "angular")]
    write_properties(stage, {"max_efforts": np.array([5.0])}, axes)
    assert stage.GetPrimAtPath(HINGE).GetAttribute("drive:X:physics:maxForce").Get() == 5.0
    np.testing.assert_allclose(read_property(stage, "stiffnesses", axes), [math.degrees(1.0)])


def test_a_layer_is_renamed_for_others() -> None:
    """Attributes and schema, so that what knows the right name only finds them."""
    layer = driven("X").Flatten()
    rename_misnamed(layer)
    stage = Usd.Stage.Open(layer)
    joint = stage.GetPrimAtPath(HINGE)
    assert f"{DRIVE}:angular" in joint.GetAppliedSchemas()
    assert joint.GetAttribute("drive:angular:physics:stiffness").Get() == 1.0
    assert not joint.GetAttribute("drive:X:physics:stiffness")


def test_a_file_is_opened_with_its_drive() -> None:
    made = pendulum()
    made.drive(HINGE, "X", stiffness=1.0, maxForce=20.0, type="acceleration")
    with (
        pytest.warns(UserWarning, match=f"<{HINGE}> applies {DRIVE}:X: read as {DRIVE}:angular"),
        pytest.warns(UserWarning, match="of type 'acceleration'"),
        Simulation(made.stage) as sim,
    ):
        sim.play()
        robot = sim.articulation("/World/Robot")
        assert robot.get_dof_gains()[0].numpy().item() == pytest.approx(math.degrees(1.0))
        assert robot.get_dof_max_efforts().numpy().item() == 20.0
