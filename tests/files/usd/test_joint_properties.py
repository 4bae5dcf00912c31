"""Per-DOF properties on a stage: their attributes, the strongest opinion, and writing."""

import math

import numpy as np
import pytest
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.files.usd.joint_properties import (
    PROPERTIES,
    authored,
    axis_of,
    envelopes,
    layer_of_parameter,
    layer_of_property,
    read_property,
    write_properties,
)
from places import ROBOTS
from pxr import Sdf, Usd, UsdGeom, UsdPhysics
from refusals import cases, refused
from robot_files import OF_SHOULDER, SHOULDER, number
from small_stages import SmallStage, pendulum

HINGE = "/World/Robot/hinge"
AXIS = [(HINGE, "angular")]
# the caller keeps the layers alive
KEPT: list[Sdf.Layer] = []


@pytest.fixture
def made() -> SmallStage:
    return pendulum()


@cases("name", *PROPERTIES)
@cases("axis", "angular", "linear", "rotY")
def test_every_property_is_read_as_it_was_written(made, name, axis) -> None:
    place = [(HINGE, axis)]
    assert np.isnan(authored(made.stage, name, place)).all()
    assert read_property(made.stage, name, place) == [PROPERTIES[name].fallback]
    write_properties(made.stage, {name: np.array([0.7])}, place)
    np.testing.assert_allclose(read_property(made.stage, name, place), [0.7], rtol=1e-6)


@cases("axis", "angular", "linear", "rotY", "transX")
def test_numbers_of_the_stage_are_in_its_units(made, axis) -> None:
    """A mass is 1000 times larger in grams, a length 100 times in centimeters; angles are in degrees."""
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    UsdPhysics.SetStageKilogramsPerUnit(made.stage, 0.001)
    turns = axis in ("angular", "rotY")
    effort, position = (1e7, math.degrees(1.0)) if turns else (1e5, 1e2)
    expected = dict.fromkeys(PROPERTIES, effort / position)
    expected |= dict.fromkeys(("max_efforts", "static_frictions", "dynamic_frictions"), effort)
    expected |= dict.fromkeys(("position_targets", "velocity_targets", "lower_limits", "upper_limits"), position)
    expected |= dict.fromkeys(("max_velocities", "max_actuator_velocities"), position)
    expected |= {"armatures": 1e7 if turns else 1e3, "speed_effort_gradients": position / effort}
    place = [(HINGE, axis)]
    for name, known in PROPERTIES.items():
        write_properties(made.stage, {name: np.array([2.0])}, place)
        raw = made.stage.GetPrimAtPath(HINGE).GetAttribute(known.on(axis)[0][0]).Get()
        assert raw == pytest.approx(2.0 * expected[name], rel=1e-6), name
        np.testing.assert_allclose(read_property(made.stage, name, place), [2.0], rtol=1e-6)


def test_attribute_without_its_schema_says_nothing(made) -> None:
    made.attribute(HINGE, "drive:angular:physics:stiffness", 3.0)
    assert read_property(made.stage, "stiffnesses", AXIS) == [0.0]
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysicsDriveAPI:angular")
    assert read_property(made.stage, "stiffnesses", AXIS) == [pytest.approx(math.degrees(3.0))]


@cases("value", 0.0, -1.0)
def test_no_velocity_limit_of_newton_is_zero(made, value) -> None:
    """Converters write 0 for a missing limit; a limit of PhysX beside it applies, and may be 0."""
    made.attribute(HINGE, "newton:velocityLimit", value)
    assert read_property(made.stage, "max_velocities", AXIS) == [math.inf]
    write_properties(made.stage, {"max_velocities": np.array([0.0])}, AXIS)
    assert read_property(made.stage, "max_velocities", AXIS) == [0.0]


@cases(
    "attribute, name, expected",
    ("newton:armature", "armatures", 2.0),
    ("physxJoint:armature", "armatures", 2.0),
    ("newton:friction", "static_frictions", 2.0),
    ("newton:friction", "dynamic_frictions", 2.0),
    ("newton:damping", "viscous_frictions", math.degrees(2.0)),
    ("newton:velocityLimit", "max_velocities", math.radians(2.0)),
    ("physxJoint:maxJointVelocity", "max_velocities", math.radians(2.0)),
)
def test_other_schemas_are_read_where_that_of_the_axis_is_silent(made, attribute, name, expected) -> None:
    made.attribute(HINGE, attribute, 2.0)
    assert read_property(made.stage, name, AXIS) == [pytest.approx(expected)]
    with Usd.EditContext(made.stage, made.stage.GetSessionLayer()):
        write_properties(made.stage, {name: np.array([0.5])}, AXIS)
    assert read_property(made.stage, name, AXIS) == [pytest.approx(0.5)]
    assert made.stage.GetPrimAtPath(HINGE).GetAttribute(attribute).Get() == pytest.approx(2.0 * 0.5 / expected)


def test_newton_agrees_with_what_was_written(made) -> None:
    newton = pytest.importorskip("newton", reason="newton is not installed")
    values = {"stiffnesses": 3.0, "dampings": 0.5, "position_targets": 0.2, "velocity_targets": 0.1}
    values |= {"max_efforts": 4.0, "lower_limits": -0.3, "upper_limits": 0.6}
    write_properties(made.stage, {name: np.array([value]) for name, value in values.items()}, AXIS)
    builder = newton.ModelBuilder()
    builder.add_usd(made.stage)
    found = ("target_ke", "target_kd", "target_q", "target_qd", "effort_limit", "limit_lower", "limit_upper")
    read = [float(getattr(builder, f"joint_{name}")[-1]) for name in found]
    assert read == pytest.approx(list(values.values()), rel=1e-5)


@cases("name, expected", ("hinge", "angular"), ("hinge:rotY", "rotY"), ("hinge:transX", "transX"))
def test_axis_of_a_dof_is_told_by_its_name(made, name, expected) -> None:
    if expected != "angular":
        made.stage.GetPrimAtPath(HINGE).SetTypeName("PhysicsJoint")
    assert axis_of(made.stage, HINGE, name) == expected


def test_only_free_axis_of_a_generic_joint(made) -> None:
    made.stage.GetPrimAtPath(HINGE).SetTypeName("PhysicsJoint")
    for axis in ("transX", "transY", "transZ", "rotX", "rotZ"):
        made.attribute(HINGE, f"limit:{axis}:physics:low", 1.0)
        made.attribute(HINGE, f"limit:{axis}:physics:high", -1.0)
    assert axis_of(made.stage, HINGE, "hinge") == "rotY"


def locked(stage: Usd.Stage) -> None:
    stage.GetRootLayer().SetPermissionToEdit(False)


def gone(stage: Usd.Stage) -> None:
    stage.RemovePrim(HINGE)


def instanced(stage: Usd.Stage) -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.TransferContent(stage.GetRootLayer())
    stage.RemovePrim("/World/Robot")
    robot = stage.DefinePrim("/World/Robot")
    robot.GetReferences().AddReference(layer.identifier, "/World/Robot")
    robot.SetInstanceable(True)
    KEPT.append(layer)


def out_of_reach(stage: Usd.Stage) -> None:
    """The edit target is the file that another prim refers to."""
    layer = Sdf.Layer.CreateAnonymous(".usda")
    Sdf.CreatePrimInLayer(layer, "/Other")
    other = stage.DefinePrim("/World/Other")
    other.GetReferences().AddReference(layer.identifier, "/Other")
    node = next(node for node in other.GetPrimIndex().rootNode.children if node.path == "/Other")
    stage.SetEditTarget(Usd.EditTarget(layer, node))
    KEPT.append(layer)


def test_joint_that_is_gone_cannot_be_read(made) -> None:
    gone(made.stage)
    refused(HostError, lambda: read_property(made.stage, "armatures", AXIS), "hinge>: not on the stage any more")


@cases(
    "spoil, message",
    (locked, "is locked. Set another edit target"),
    (gone, "not on the stage any more"),
    (instanced, "part of an instance and cannot be edited here"),
    (out_of_reach, "out of reach of the edit target"),
    ids=["locked", "gone", "instanced", "out of reach"],
)
def test_what_cannot_be_written_is_refused(made, spoil, message) -> None:
    spoil(made.stage)
    layers = [layer.ExportToString() for layer in made.stage.GetUsedLayers()]
    refused(HostError, lambda: write_properties(made.stage, {"armatures": np.array([0.5])}, AXIS), message)
    assert [layer.ExportToString() for layer in made.stage.GetUsedLayers()] == layers


def test_hidden_by_a_stronger_layer_is_undone(made) -> None:
    weak = Sdf.Layer.CreateAnonymous(".usda")
    made.stage.GetRootLayer().subLayerPaths.append(weak.identifier)
    write_properties(made.stage, {"armatures": np.array([0.5])}, AXIS)
    empty = weak.ExportToString()
    with Usd.EditContext(made.stage, weak), pytest.raises(HostError, match="a stronger layer authors it"):
        write_properties(made.stage, {"stiffnesses": np.array([1.0]), "armatures": np.array([0.7])}, AXIS)
    assert (weak.ExportToString(), read_property(made.stage, "stiffnesses", AXIS)) == (empty, [0.0])


def with_envelope(made: SmallStage, **values: float) -> SmallStage:
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxDrivePerformanceEnvelopeAPI:angular")
    for name, value in values.items():
        made.attribute(HINGE, f"physxDrivePerformanceEnvelope:angular:{name}", value)
    return made


@cases(
    "name, value, said",
    ("maxActuatorVelocity", 180.0, "maxActuatorVelocity = 3.14159"),
    ("speedEffortGradient", 180.0, "speedEffortGradient = 3.14159"),
    ("velocityDependentResistance", math.pi / 180, "velocityDependentResistance = 1"),
)
def test_an_envelope_is_told_with_its_joint(made, name, value, said) -> None:
    (line,) = envelopes(with_envelope(made, **{name: value}).stage, AXIS)
    assert line.startswith(f"<{HINGE}>: the performance envelope of its angular drive, {said} (SI), is not carried")


def test_an_envelope_that_bounds_nothing_is_not_told(made) -> None:
    none = {"maxActuatorVelocity": 3.4028235e38, "speedEffortGradient": 0.0, "velocityDependentResistance": 0.0}
    assert envelopes(with_envelope(made, **none).stage, AXIS) == []
    assert envelopes(with_envelope(made, maxActuatorVelocity=math.inf).stage, AXIS) == []
    assert envelopes(pendulum().stage, AXIS) == []


URDF = {"effort": ("max_efforts", 30.0), "velocity": ("max_velocities", 2.0)} | {
    side: (f"{side}_limits", value) for side, value in (("lower", -0.5), ("upper", 0.7))
}


def of_urdf(made: SmallStage, values: dict[str, float]) -> None:
    joint = made.stage.GetPrimAtPath(HINGE)
    for name, value in values.items():
        joint.CreateAttribute(f"urdf:limit:{name}", Sdf.ValueTypeNames.Float, custom=True).Set(value)


def test_limits_that_a_converter_left_hold_in_si(made) -> None:
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    of_urdf(made, {name: value for name, (_, value) in URDF.items()})
    for name, value in URDF.values():
        np.testing.assert_allclose(read_property(made.stage, name, AXIS), [value], rtol=1e-6)


def test_what_the_joint_says_itself_is_stronger(made) -> None:
    of_urdf(made, {name: value for name, (_, value) in URDF.items()})
    for name, _ in URDF.values():
        write_properties(made.stage, {name: np.array([0.1])}, AXIS)
        np.testing.assert_allclose(read_property(made.stage, name, AXIS), [0.1], rtol=1e-6)


def test_zeros_of_a_converter_are_no_limits(made) -> None:
    of_urdf(made, dict.fromkeys(URDF, 0.0))
    for name, _ in URDF.values():
        assert np.isinf(read_property(made.stage, name, AXIS)).all()


ARM = ROBOTS / "arm_2dof.usda"


def test_the_strongest_layer_that_says_it() -> None:
    above = Sdf.Layer.CreateAnonymous("above.usda")
    above.subLayerPaths.append(str(ARM))
    stage = Usd.Stage.Open(above)
    for edit in (number(OF_SHOULDER, "newton:kp", 5.0), number(SHOULDER, "physics:lowerLimit", -9.0)):
        edit(stage)
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:kp") == above.GetDisplayName()
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:kd") == ARM.name
    assert layer_of_parameter(stage, OF_SHOULDER, "newton:gear") is None
    axis = SHOULDER, "angular"
    assert layer_of_property(stage, "lower_limits", axis) == above.GetDisplayName()
    assert layer_of_property(stage, "upper_limits", axis) == ARM.name
    assert layer_of_property(stage, "armatures", axis) is None
    # of the names that a property has, the first that is authored
    number(SHOULDER, "newton:armature", 0.1)(stage)
    assert layer_of_property(stage, "armatures", axis) == above.GetDisplayName()
