"""Envelopes of actuators beside their prims, on the drives of the joints, for PhysX without actuators."""

import math
import warnings

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from physics_engines import installed
from pxr import Usd, UsdGeom
from small_stages import SmallStage, pendulum

ROOT, HINGE = "/World/Robot", "/World/Robot/hinge"
LIMITS = 16.0, 0.5, 10.0, 0.5
ENVELOPE = aa.EnvelopeClampingConfig.from_physx(*LIMITS)
PD = aa.PDControlConfig(20.0, 2.0)
DEGREE = math.radians(1)
NAMES = ("velocityDependentResistance", "maxActuatorVelocity", "speedEffortGradient")


def driven(**drive: float) -> SmallStage:
    """A pendulum with a drive."""
    made = pendulum()
    made.drive(HINGE, **{"stiffness": 1.0, **drive})
    return made


def values(stage: Usd.Stage) -> list[float | None]:
    """Effort at rest of the drive, and its envelope."""
    joint = stage.GetPrimAtPath(HINGE)
    names = ["drive:angular:physics:maxForce", *(f"physxDrivePerformanceEnvelope:angular:{name}" for name in NAMES)]
    return [joint.GetAttribute(name).Get() for name in names]


IN_DEGREES = [16.0, 0.5 * DEGREE, 10.0 / DEGREE, 0.5 / DEGREE]


def test_drives_get_the_envelope() -> None:
    """By add_actuator and add_motors, per degree on joints that turn."""
    made, other = driven(), driven(maxForce=9.0)
    aa.add_actuator(ROOT, "hinge", "own", PD, clamping=[ENVELOPE], stage=made.stage)
    aa.add_motors(ROOT, {"hinge": [PD, ENVELOPE]}, stage=other.stage)
    for stage in (made.stage, other.stage):
        assert values(stage) == pytest.approx(IN_DEGREES)
        assert "PhysxDrivePerformanceEnvelopeAPI:angular" in applied_schemas(stage.GetPrimAtPath(HINGE))


def test_envelope_of_a_motor_is_that_of_its_joint() -> None:
    """Behind a gear: the ratio times the effort, at speeds less by the ratio."""
    made, gear = driven(), aa.TransmissionConfig(10.0)
    motor = aa.EnvelopeClampingConfig.from_physx(1.6, 0.5 / 100, 100.0, 50.0)
    aa.add_motors(ROOT, {"hinge": [PD, motor, gear]}, stage=made.stage)
    assert values(made.stage) == pytest.approx(IN_DEGREES, rel=1e-5)


def test_stages_in_other_units_have_their_own() -> None:
    """Centimetres: a torque of 1 N·m is 10000 of theirs."""
    made = driven()
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    aa.add_motors(ROOT, {"hinge": [PD, ENVELOPE]}, stage=made.stage)
    unit = 1e4
    assert values(made.stage) == pytest.approx([16.0 * unit, 0.5 * DEGREE * unit, 10.0 / DEGREE, 0.5 / DEGREE / unit])


@pytest.mark.parametrize(
    ("made", "limit"),
    [
        (pendulum, ENVELOPE),
        (driven, aa.EnvelopeClampingConfig.from_dc_motor(30.0, 10.0)),
        (driven, aa.EnvelopeClampingConfig(max_power=100.0)),
    ],
    ids=["no drive", "line", "power"],
)
def test_joints_without_such_a_drive_stay(made, limit) -> None:
    """Neither the schema nor a largest effort."""
    found = made()
    aa.add_motors(ROOT, {"hinge": [PD, limit]}, stage=found.stage)
    assert "PhysxDrivePerformanceEnvelopeAPI:angular" not in applied_schemas(found.stage.GetPrimAtPath(HINGE))
    assert values(found.stage)[0] in (None, math.inf)


def test_lint_names_what_no_drive_of_physx_has(tmp_path) -> None:
    """A note with the joint; none for an envelope that is authored."""
    for limit, is_named in ((aa.EnvelopeClampingConfig(max_power=100.0), True), (ENVELOPE, False)):
        made = driven()
        aa.add_motors(ROOT, {"hinge": [PD, limit]}, stage=made.stage)
        file = tmp_path / f"robot_{is_named}.usda"
        made.stage.Export(str(file))
        problems = [one.problem for one in aa.lint(file) if one.rule == "approximated"]
        assert any("limit a drive of PhysX differently" in one for one in problems) is is_named


def test_envelope_that_an_actuator_computes_is_not_warned_of() -> None:
    """On MuJoCo, whose drives have none; without the actuator it is."""
    made = driven()
    aa.add_motors(ROOT, {"hinge": [PD, ENVELOPE]}, stage=made.stage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aa.Simulation(made.stage).close()
    made.stage.RemovePrim(f"{ROOT}/Actuators")
    with pytest.warns(UserWarning, match="performance envelope"):
        aa.Simulation(made.stage).close()


def test_stronger_layer_keeps_its_envelope() -> None:
    """A warning says what PhysX has in place of it."""
    made = driven()
    stage = made.stage
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxDrivePerformanceEnvelopeAPI:angular")
    made.attribute(HINGE, "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", 90.0)
    stage.SetEditTarget(stage.GetSessionLayer())
    made.attribute(HINGE, "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", 45.0)
    stage.SetEditTarget(stage.GetRootLayer())
    with pytest.warns(UserWarning, match="stronger layer.*in place of that of the actuator"):
        aa.add_motors(ROOT, {"hinge": [PD, ENVELOPE]}, stage=stage)


def test_physx_has_the_authored_envelope() -> None:
    """Its own numbers, which `tests/laws/test_clamping_envelope.py` compares with the law."""
    made = driven(damping=1.0)
    aa.add_motors(ROOT, {"hinge": [PD, ENVELOPE]}, stage=made.stage)
    with aa.Simulation(made.stage, engine=installed("physx")) as sim:
        sim.play()
        robot = sim.articulation(ROOT)
        gradient, fastest, resistance = (one.numpy().item() for one in robot.get_dof_drive_model_properties())
        most = robot.get_dof_max_efforts().numpy().item()
    np.testing.assert_allclose([most, resistance, fastest, gradient], LIMITS, rtol=1e-5)
