"""Friction of actuators beside their prims, on the joints, for programs that do not know the schema."""

import math
import warnings

import isaacsim.core.experimental.actuators as aa
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from pxr import Sdf, Usd, UsdGeom
from small_stages import SmallStage, pendulum

ROOT, HINGE = "/World/Robot", "/World/Robot/hinge"
PD = aa.PDControlConfig(20.0, 2.0)
FRICTION = aa.FrictionConfig(0.5, 0.25, 0.75)
DEGREE = math.radians(1)


def values(stage: Usd.Stage) -> list[float | None]:
    """Newton's attributes of the hinge."""
    return [stage.GetPrimAtPath(HINGE).GetAttribute(name).Get() for name in ("newton:friction", "newton:damping")]


def author(made: SmallStage, friction=FRICTION) -> None:
    aa.add_actuator(ROOT, "hinge", "own", PD, others=[friction], stage=made.stage)


@pytest.mark.parametrize("in_engine", [False, True])
def test_joints_get_coulomb_and_viscous_friction(in_engine) -> None:
    """By add_actuator and add_motors, as newton reads them; per degree on joints that turn."""
    friction = aa.FrictionConfig(0.5, 0.25, 0.75, in_engine=in_engine)
    made, other = pendulum(), pendulum()
    author(made, friction)
    aa.add_motors(ROOT, {"hinge": [PD, friction]}, stage=other.stage)
    for stage in (made.stage, other.stage):
        assert values(stage) == pytest.approx([0.5, 0.25 * DEGREE])
        assert "NewtonJointAPI" in applied_schemas(stage.GetPrimAtPath(HINGE))


def test_newton_reads_the_fallback() -> None:
    newton = pytest.importorskip("newton")
    made = pendulum()
    author(made)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder.add_usd(made.stage, ignore_paths=[".*/Actuators/.*"])
    assert builder.joint_friction[-1] == pytest.approx(0.5)
    assert builder.joint_damping[-1] == pytest.approx(0.25)


def test_stages_in_other_units_have_their_own() -> None:
    """Centimeters: a torque of 1 N·m is 10000 of theirs."""
    made = pendulum()
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    author(made)
    assert values(made.stage) == pytest.approx([5000.0, 2500.0 * DEGREE])


def test_what_physx_has_authored_follows() -> None:
    """It is stronger than newton's attributes."""
    made = pendulum()
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxJointAxisAPI:angular")
    names = ("staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
    for name in names:
        made.attribute(HINGE, f"physxJointAxis:angular:{name}", 9.0)
    author(made)
    joint = made.stage.GetPrimAtPath(HINGE)
    found = [joint.GetAttribute(f"physxJointAxis:angular:{name}").Get() for name in names]
    assert found == pytest.approx([0.5, 0.5, 0.25 * DEGREE]) and values(made.stage) == pytest.approx(
        [0.5, 0.25 * DEGREE]
    )


def test_joints_without_a_friction_stage_get_nothing() -> None:
    """Nor do those of other actuators."""
    made = pendulum()
    aa.add_actuator(ROOT, "hinge", "own", PD, stage=made.stage)
    assert values(made.stage) == [None, None]


def test_friction_of_a_stronger_layer_stays_with_a_warning() -> None:
    """By name and value."""
    made = pendulum()
    made.attribute(HINGE, "newton:friction", 2.0)
    stage = made.stage
    weak = Sdf.Layer.CreateAnonymous(".usda")
    stage.GetRootLayer().subLayerPaths.append(weak.identifier)
    stage.SetEditTarget(weak)
    with pytest.warns(UserWarning, match=r"hinge>.newton:friction = 2 is authored in a stronger layer\. .* = 0.5"):
        author(made)
    assert values(stage)[0] == 2.0


def test_an_error_leaves_neither_prim_nor_fallback(monkeypatch) -> None:
    """The edit target is as before."""
    from isaacsim.core.experimental.actuators.files.usd import author as module

    def fails(*_) -> None:
        raise RuntimeError("as if")

    made = pendulum()
    before = made.stage.GetRootLayer().ExportToString()
    monkeypatch.setattr(module, "write_fallback", fails)
    with pytest.raises(RuntimeError, match="as if"):
        author(made)
    assert made.stage.GetRootLayer().ExportToString() == before


def test_here_the_stage_replaces_the_fallback() -> None:
    """While actuators are attached, from the file and from a program."""
    pytest.importorskip("mujoco")
    made = pendulum()
    author(made)
    with aa.Simulation(made.stage) as sim:
        sim.play()
        robot = sim.articulation(ROOT)
        fallback = [part.numpy().item() for part in robot.get_dof_friction_properties()]
        assert fallback == pytest.approx([0.5, 0.5, 0.25])
        for make in (
            aa.ArticulationActuators,
            lambda path: driven(path, {"hinge": aa.MotorConfig(PD, others=[FRICTION])}),
        ):
            with make(ROOT):
                assert [part.numpy().item() for part in robot.get_dof_friction_properties()] == [0.0, 0.0, 0.0]
            assert [part.numpy().item() for part in robot.get_dof_friction_properties()] == fallback
