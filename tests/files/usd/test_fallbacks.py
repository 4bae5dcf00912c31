"""Fallbacks of actuators on joints go with their actuators; what the robot's author put there stays."""

import math
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import isaacsim.core.experimental.actuators as aa
import numpy as np
import pytest
from driven import driven
from isaacsim.core.experimental.actuators.compat.isaac_lab import IdealPDActuatorCfg, ImplicitActuatorCfg
from isaacsim.core.experimental.actuators.files.usd.fallbacks import MARK
from isaacsim.core.experimental.actuators.files.usd.motors import own_effort_limits, own_properties
from isaacsim.core.experimental.actuators.files.usd.overlay import motor_overlay
from isaacsim.core.experimental.actuators.files.usd.schema import applied_schemas
from isaacsim.core.experimental.actuators.tools.comparison.run import _set
from isaacsim.core.experimental.actuators.tools.comparison.side import opened, side_of
from isaacsim.core.experimental.actuators.tools.inspection.lint import lint
from physics_engines import ENGINES, installed
from pxr import Sdf, Usd, UsdGeom
from refusals import cases, refused
from small_stages import SmallStage, pendulum

ROOT, HINGE = "/World/Robot", "/World/Robot/hinge"
PD = aa.PDControlConfig(20.0, 2.0)
FRICTION = aa.FrictionConfig(0.5, 0.25, 0.75)
ENVELOPE = aa.EnvelopeClampingConfig.from_physx(16.0, 0.5, 10.0, 0.5)
ROTOR = aa.TransmissionConfig(10.0, rotor_inertia=1e-4)
RICH = [PD, ENVELOPE, ROTOR, FRICTION]
AXIS = "physxJointAxis:angular:"
ENVELOPES = "physxDrivePerformanceEnvelope:angular:"


def bare() -> SmallStage:
    made = pendulum()
    made.drive(HINGE, stiffness=1.0)
    return made


def furnished() -> SmallStage:
    made = bare()
    made.drive(HINGE, maxForce=9.0)
    joint = made.stage.GetPrimAtPath(HINGE)
    for schema in ("NewtonJointAPI", "PhysxJointAxisAPI:angular", "PhysxDrivePerformanceEnvelopeAPI:angular"):
        joint.AddAppliedSchema(schema)
    for name in ("staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient", "armature"):
        made.attribute(HINGE, AXIS + name, 0.125)
    for name in ("friction", "damping", "armature"):
        made.attribute(HINGE, f"newton:{name}", 0.25)
    made.attribute(HINGE, f"{ENVELOPES}maxActuatorVelocity", 45.0)
    return made


def author(stage: Usd.Stage, motor: Sequence[Any], by: str = "motors") -> None:
    if by == "motors":
        aa.add_motors(ROOT, {"hinge": list(motor)}, stage=stage, overwrite_existing=True)
        return
    kinds = {type(one): one for one in motor}
    limits = [kinds[aa.EnvelopeClampingConfig]] if aa.EnvelopeClampingConfig in kinds else []
    others = [one for one in motor[1:] if one not in limits]
    aa.add_actuator(ROOT, "hinge", "hinge", PD, clamping=limits, others=others, stage=stage, overwrite_existing=True)


EFFORT_UNIT = 0.5e-4
"""That of the stage in other units [N·m]."""


def in_other_units() -> Usd.Stage:
    stage = furnished().stage
    for name, value in (("metersPerUnit", 0.01), ("kilogramsPerUnit", 0.5)):
        stage.SetMetadata(name, value)
    author(stage, RICH)
    return stage


def text_of(stage: Usd.Stage) -> str:
    layer = stage.GetRootLayer()
    copy = Sdf.Layer.CreateAnonymous(".usda")
    Sdf.CopySpec(layer, HINGE, copy, "/hinge")
    return copy.ExportToString()


def values(stage: Usd.Stage) -> dict[str, Any]:
    joint = stage.GetPrimAtPath(HINGE)
    return {one.GetName(): one.Get() for one in joint.GetAuthoredAttributes() if one.HasAuthoredValue()}


@cases("by", "motors", "actuator")
@cases("made", bare, furnished)
def test_motor_with_fewer_laws_leaves_the_joint_as_it_was(made: Any, by: str) -> None:
    stage = made().stage
    before = text_of(stage)
    author(stage, RICH, by)
    assert text_of(stage) != before
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(stage.GetRootLayer().ExportToString())
    author(read := Usd.Stage.Open(layer), [PD], by)
    assert text_of(read) == before


def test_motors_in_place_of_each_other_leave_nothing_behind() -> None:
    motors = [RICH, [PD, aa.FrictionConfig(0.1)], [PD, ENVELOPE], RICH, [PD, ROTOR], [PD]]
    stage = furnished().stage
    for motor in motors:
        author(stage, motor)
        alone = furnished().stage
        author(alone, motor)
        assert text_of(stage) == text_of(alone)


def test_value_that_was_changed_since_stays() -> None:
    made = bare()
    author(made.stage, RICH)
    made.stage.GetPrimAtPath(HINGE).GetAttribute("newton:friction").Set(3.0)
    author(made.stage, [PD])
    assert values(made.stage)["newton:friction"] == 3.0 and "newton:damping" not in values(made.stage)
    schemas = applied_schemas(made.stage.GetPrimAtPath(HINGE))
    assert "NewtonJointAPI" in schemas and "PhysxDrivePerformanceEnvelopeAPI:angular" not in schemas
    assert not made.stage.GetPrimAtPath(HINGE).GetCustomDataByKey(MARK)


def test_properties_given_by_number_stay() -> None:
    made = bare()
    aa.add_motors(ROOT, {"hinge": aa.MotorConfig(PD, armature=0.5)}, stage=made.stage)
    author(made.stage, [PD])
    assert aa.motors_of(made.stage)["hinge"].armature == pytest.approx(0.5)


def test_axes_of_a_joint_keep_their_own() -> None:
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/base")
    made.body(f"{ROOT}/link", (0, 0, 1))
    made.joint(f"{ROOT}/weld", "Fixed", None, f"{ROOT}/base")
    made.joint(HINGE, "", f"{ROOT}/base", f"{ROOT}/link")
    for axis in ("transX", "transY", "transZ", "rotZ"):
        made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(f"PhysicsLimitAPI:{axis}")
        made.attribute(HINGE, f"limit:{axis}:physics:low", 1.0)
        made.attribute(HINGE, f"limit:{axis}:physics:high", -1.0)
    aa.add_motors(ROOT, {"hinge:rot[XY]": [PD, FRICTION]}, stage=made.stage)
    aa.add_motors(ROOT, {"hinge:rotX": [PD]}, stage=made.stage, overwrite_existing=True)
    found = [name for name in values(made.stage) if "dynamicFrictionEffort" in name]
    assert found == ["physxJointAxis:rotY:dynamicFrictionEffort"]


@cases("made", bare, furnished)
def test_layer_over_a_file_hides_its_fallbacks(made: Any, tmp_path: Path) -> None:
    source, overlay = tmp_path / "robot.usda", tmp_path / "motors.usda"
    stage = made().stage
    before = values(stage)
    author(stage, RICH)
    stage.Export(str(source))
    with motor_overlay(source, overlay, ["hinge"], "") as (over, root):
        aa.add_motors(root, {"hinge": [PD]}, stage=over)
    found = Usd.Stage.Open(str(overlay))
    assert values(found) == before
    schemas = applied_schemas(found.GetPrimAtPath(HINGE))
    assert ("PhysxDrivePerformanceEnvelopeAPI:angular" in schemas) is (made is furnished)


def test_fallbacks_over_values_of_a_weaker_layer_go_without_a_trace() -> None:
    weak = furnished().stage
    strong = Sdf.Layer.CreateAnonymous(".usda")
    strong.subLayerPaths.append(weak.GetRootLayer().identifier)
    stage = Usd.Stage.Open(strong)
    author(stage, RICH)
    weak.GetPrimAtPath(HINGE).GetAttribute("newton:friction").Set(0.75)
    author(stage, [PD])
    assert values(stage) == values(weak) and values(weak)["newton:friction"] == 0.75


@cases("made, most", (furnished, 9.0), (bare, None))
def test_effort_limit_of_the_joint_is_not_that_of_a_fallback(made: Any, most: float | None) -> None:
    stage = made().stage
    author(stage, RICH)
    assert values(stage)["drive:angular:physics:maxForce"] not in (None, 9.0)
    if most is None:
        with pytest.raises(ValueError, match="joints hinge have no effort limit"):
            author(stage, [PD, aa.MaxEffortClampingConfig("joint")])
        return
    author(stage, [PD, aa.MaxEffortClampingConfig("joint")])
    assert aa.motors_of(stage)["hinge"].clamping == [aa.MaxEffortClampingConfig(most)]
    assert values(stage)["drive:angular:physics:maxForce"] == most


def test_effort_limit_of_the_joint_is_that_of_urdf_below_a_fallback() -> None:
    made = bare()
    made.attribute(HINGE, "urdf:limit:effort", 7.0)
    author(made.stage, RICH)
    author(made.stage, [PD, aa.MaxEffortClampingConfig("joint")])
    assert aa.motors_of(made.stage)["hinge"].clamping == [aa.MaxEffortClampingConfig(7.0)]


def limit_of(actuators: aa.ArticulationActuators) -> float:
    (limit,) = (one for one in actuators.actuators[0].clamping if hasattr(one, "max_effort"))
    return float(limit.max_effort.numpy()[0])


@cases("playing", False, True)
def test_effort_limit_of_a_motor_in_a_simulation_is_not_that_of_a_fallback(playing: bool) -> None:
    """Of motors and of groups; a limit that was set since is one."""
    stage = furnished().stage
    author(stage, RICH)
    fallback = values(stage)["drive:angular:physics:maxForce"]
    before = stage.GetRootLayer().ExportToString()
    motors = {"hinge": aa.MotorConfig(PD, [aa.MaxEffortClampingConfig("joint")])}
    cfg = IdealPDActuatorCfg(joint_names_expr=["hinge"], stiffness=1.0, damping=1.0, actuator_effort_limit=None)
    groups = {"all": cfg}
    with aa.Simulation(stage) as sim:
        if playing:
            sim.play()
        robot = sim.articulation(ROOT)
        assert robot.get_dof_max_efforts().numpy().item() == pytest.approx(fallback) != 9.0
        ways = (
            lambda: aa.ArticulationActuators.from_configs(ROOT, motors),
            lambda: aa.ArticulationActuators.from_groups(ROOT, groups),
        )
        for way in ways:
            actuators = way()
            assert limit_of(actuators) == 9.0
            actuators.close()
        with pytest.warns(UserWarning, match=r"motors of joints hinge \(9\) have no effort limit"):
            aa.ArticulationActuators.from_configs(ROOT, {"hinge": [PD]}).close()
        if playing:
            robot.set_dof_max_efforts(3.0)
            assert limit_of(ways[0]()) == 3.0
    assert stage.GetRootLayer().ExportToString() == before


def test_effort_limit_of_a_joint_without_one_below_a_fallback_is_missing() -> None:
    stage = bare().stage
    author(stage, RICH)
    with aa.Simulation(stage), pytest.raises(ValueError, match="joints hinge have no effort limit"):
        aa.ArticulationActuators.from_configs(ROOT, {"hinge": [PD, aa.MaxEffortClampingConfig("joint")]})


@cases("si", True, False)
def test_effort_limits_below_fallbacks_have_a_unit(si: bool) -> None:
    """That of the stage, as in Kit, or SI; for robots that differ, and beside joints that are elsewhere."""
    stage = in_other_units()
    fallback, unit = values(stage)["drive:angular:physics:maxForce"], EFFORT_UNIT if si else 1.0
    found = np.array([[fallback, 5.0], [7.0, 5.0]]) * unit
    own = own_effort_limits(found, stage, [HINGE, "/World/None/joint"], ["hinge", "joint"], si=si)
    np.testing.assert_allclose(own, np.array([[9.0, 5.0], [7.0, 5.0]]) * unit, rtol=1e-6)
    author(stage, [PD, aa.MaxEffortClampingConfig("joint")])
    (limit,) = aa.motors_of(stage)["hinge"].clamping
    assert limit.max_effort == pytest.approx(9.0 * EFFORT_UNIT)


def joint_values(robot: Any) -> list[float]:
    """Static, dynamic and viscous friction, and armature, of the hinge in a simulation."""
    found = *robot.get_dof_friction_properties(), robot.get_dof_armatures()
    return [float(one.numpy().item()) for one in found]


DEGREES = 180 / np.pi
# what a simulation has of the author's values: static, dynamic and viscous friction, and armature
OF_AUTHOR = {bare: [0.0] * 4, furnished: [0.125, 0.125, 0.125 * DEGREES, 0.125]}
FALLBACK = [0.5, 0.5, 0.25, 0.01]


@cases("engine", *ENGINES)
@cases("playing", False, True)
@cases("made", bare, furnished)
def test_motor_in_a_simulation_leaves_the_joint_what_its_author_gave_it(made: Any, playing: bool, engine: str) -> None:
    stage = made().stage
    author(stage, RICH)
    before = stage.GetRootLayer().ExportToString()
    own = pytest.approx(OF_AUTHOR[made], rel=1e-5)
    fallback = pytest.approx(FALLBACK, rel=1e-5)
    ways = (
        lambda: aa.ArticulationActuators.from_configs(ROOT, {"hinge": [PD, aa.MaxEffortClampingConfig(9.0)]}),
        lambda: aa.ArticulationActuators.from_actuators(ROOT, [(aa.ActuatorConfig(PD), "hinge")]),
    )
    with aa.Simulation(stage, engine=installed(engine)) as sim:
        robot = sim.articulation(ROOT)
        for way in ways:
            if playing:
                sim.play()
                assert joint_values(robot) == fallback
            with way():
                for _ in range(2):
                    sim.play()
                    assert joint_values(robot) == own
                    sim.step(5)
                    sim.stop()
                sim.play()
                robot.set_dof_armatures(0.75)
            # what was set since stays
            assert joint_values(robot) == pytest.approx([*FALLBACK[:3], 0.75], rel=1e-5)
            sim.stop()
    assert stage.GetRootLayer().ExportToString() == before


@cases("engine", *ENGINES)
def test_what_a_motor_in_a_simulation_states_is_stronger_than_its_author(engine: str) -> None:
    stage = furnished().stage
    author(stage, RICH)
    viscous = 0.125 * DEGREES
    motors = [
        (aa.MotorConfig(PD, friction=0.25), [0.25, 0.25, viscous, 0.125]),
        (aa.MotorConfig(PD, armature=0.5), [0.125, 0.125, viscous, 0.5]),
        (aa.MotorConfig(PD, viscous_friction=0.5), [0.125, 0.125, 0.5, 0.125]),
        ([PD, aa.FrictionConfig(0.2)], [0.0, 0.0, 0.0, 0.125]),
        ([PD, aa.FrictionConfig(0.2, viscous=0.1, in_engine=True)], [0.2, 0.2, 0.1, 0.125]),
        ([PD, aa.TransmissionConfig(10.0, rotor_inertia=2e-4)], [0.125, 0.125, viscous, 0.02]),
        (RICH, [0.0, 0.0, 0.0, 0.01]),
    ]
    with aa.Simulation(stage, engine=installed(engine)) as sim:
        sim.play()
        robot = sim.articulation(ROOT)
        for motor, expected in motors:
            with warnings.catch_warnings():
                warnings.filterwarnings("ignore", ".*(have no effort limit|will vibrate)")
                made = aa.ArticulationActuators.from_configs(ROOT, {"hinge": motor})
            assert joint_values(robot) == pytest.approx(expected, rel=1e-5), motor
            made.close()
            assert joint_values(robot) == pytest.approx(FALLBACK, rel=1e-5)


GAINS = {"joint_names_expr": ["hinge"], "stiffness": 20.0, "damping": 2.0}
GROUPS = [IdealPDActuatorCfg(actuator_effort_limit=9.0, **GAINS), ImplicitActuatorCfg(**GAINS)]


@cases("engine", *ENGINES)
@cases("rules", "documentation", "code")
def test_group_in_a_simulation_leaves_the_joint_what_its_author_gave_it(rules: Any, engine: str) -> None:
    stage = furnished().stage
    author(stage, RICH)
    own = OF_AUTHOR[furnished]
    with aa.Simulation(stage, engine=installed(engine)) as sim:
        robot = sim.articulation(ROOT)
        for cfg in GROUPS:
            with aa.ArticulationActuators.from_groups(ROOT, {"all": cfg}, rules=rules) as actuators:
                sim.play()
                assert joint_values(robot) == pytest.approx(own, rel=1e-5)
                left_out = [one for one in actuators.resolution_table().rows if one.property == "armature"]
                assert [(one.usd_value, one.cfg_value, one.applied) for one in left_out] == [(0.125, None, 0.125)]
            assert joint_values(robot) == pytest.approx(FALLBACK, rel=1e-5)
            for armature in (0.01, 0.125, 0.5):
                with aa.ArticulationActuators.from_groups(ROOT, {"all": cfg.replace(armature=armature)}, rules=rules):
                    assert joint_values(robot) == pytest.approx([*own[:3], armature], rel=1e-5)
            sim.stop()


@cases("cfg", *GROUPS)
def test_side_of_a_comparison_has_what_groups_leave_to_the_joint(cfg: Any, tmp_path: Path) -> None:
    stage = furnished().stage
    author(stage, RICH)
    stage.Export(str(file := tmp_path / "robot.usda"))
    with opened(side_of(file, groups={"all": cfg})) as (sim, robot, _):
        sim.play()
        _set(side_of(file, groups={"all": cfg}), robot)
        assert joint_values(robot) == pytest.approx(OF_AUTHOR[furnished], rel=1e-5)


@cases("engine", *ENGINES)
def test_friction_of_the_author_in_a_simulation_is_what_the_simulator_takes(engine: str) -> None:
    for attributes in (
        {f"{AXIS}staticFrictionEffort": 0.375, f"{AXIS}dynamicFrictionEffort": 0.25},
        {"mjc:frictionloss": 0.375, "mjc:armature": 0.25, "mjc:damping": 0.75},
        {"newton:friction": 0.0, "mjc:frictionloss": 0.375},
    ):
        made = bare()
        made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxJointAxisAPI:angular")
        for name, value in attributes.items():
            made.attribute(HINGE, name, value)
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", ".*static and dynamic friction")
            with aa.Simulation(made.stage, engine=installed(engine)) as sim:
                sim.play()
                alone = joint_values(sim.articulation(ROOT))
            author(made.stage, RICH)
            with aa.Simulation(made.stage, engine=engine) as sim:
                sim.play()
                robot = sim.articulation(ROOT)
                with aa.ArticulationActuators.from_configs(ROOT, {"hinge": [PD, aa.MaxEffortClampingConfig(9.0)]}):
                    assert joint_values(robot) == pytest.approx(alone, rel=1e-5)
                assert joint_values(robot) == pytest.approx(FALLBACK, rel=1e-5)


def test_armature_of_an_actuator_of_mujoco_is_no_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr("isaacsim.core.experimental.actuators.simulators.mujoco.host.MujocoHost.engine", "Another")
    made = pendulum()
    prim = made.stage.DefinePrim("/World/drive", "MjcActuator")
    prim.CreateRelationship("mjc:target").SetTargets([HINGE])
    for name, value in {"gainPrm": [10.0], "biasPrm": [0.0, -10.0, -1.0], "gear": [2.0]}.items():
        prim.CreateAttribute(f"mjc:{name}", Sdf.ValueTypeNames.DoubleArray).Set(value)
    prim.CreateAttribute("mjc:biasType", Sdf.ValueTypeNames.Token).Set("affine")
    prim.CreateAttribute("mjc:armature", Sdf.ValueTypeNames.Double).Set(0.25)
    author(made.stage, [PD, ROTOR])
    with aa.Simulation(made.stage) as sim:
        sim.play()
        robot = sim.articulation(ROOT)
        assert joint_values(robot)[-1] == pytest.approx(1.01)
        with aa.ArticulationActuators.from_configs(ROOT, {"hinge": [PD, aa.MaxEffortClampingConfig(9.0)]}):
            assert joint_values(robot)[-1] == pytest.approx(1.0)
        assert joint_values(robot)[-1] == pytest.approx(1.01)


def test_value_that_was_set_in_a_simulation_is_no_fallback() -> None:
    stage = furnished().stage
    author(stage, RICH)
    with aa.Simulation(stage, num_envs=2) as sim:
        sim.play()
        robot = sim.articulation("/World/envs/env_.*/Robot")
        robot.set_dof_armatures(0.75, indices=[1])
        motors = {"hinge": [PD, aa.MaxEffortClampingConfig(9.0)]}
        with aa.ArticulationActuators.from_configs("/World/envs/env_.*/Robot", motors):
            np.testing.assert_allclose(robot.get_dof_armatures().numpy()[:, 0], [0.125, 0.75], rtol=1e-6)
            np.testing.assert_allclose(robot.get_dof_friction_properties()[0].numpy()[:, 0], 0.125, rtol=1e-6)
        np.testing.assert_allclose(robot.get_dof_armatures().numpy()[:, 0], [0.01, 0.75], rtol=1e-6)


@cases("si", True, False)
def test_friction_below_fallbacks_has_a_unit(si: bool) -> None:
    """That of the stage with angles in rad, as in Kit, or SI."""
    stage = in_other_units()
    unit = EFFORT_UNIT if si else 1.0
    found = own_properties(stage, [(HINGE, "hinge")], si=si)
    fallbacks = {"friction": [0.5, 0.5], "viscous_friction": [0.25], "armature": [0.01]}
    for name, factor in {"friction": 1.0, "viscous_friction": DEGREES, "armature": 1.0}.items():
        marked, own = found[name]
        np.testing.assert_allclose(own[:, 0], 0.125 * unit * factor, rtol=1e-6)
        np.testing.assert_allclose(marked[:, 0], np.array(fallbacks[name]) * (unit / EFFORT_UNIT), rtol=1e-6)


DEGREE = math.radians(1)


def friction_values(stage: Usd.Stage) -> list[float | None]:
    return [stage.GetPrimAtPath(HINGE).GetAttribute(name).Get() for name in ("newton:friction", "newton:damping")]


def author_friction(made: SmallStage, friction: Any = FRICTION) -> None:
    aa.add_actuator(ROOT, "hinge", "own", PD, others=[friction], stage=made.stage)


@cases("in_engine", False, True)
def test_joints_get_coulomb_and_viscous_friction(in_engine: bool) -> None:
    friction = aa.FrictionConfig(0.5, 0.25, 0.75, in_engine=in_engine)
    made, other = pendulum(), pendulum()
    author_friction(made, friction)
    aa.add_motors(ROOT, {"hinge": [PD, friction]}, stage=other.stage)
    for stage in (made.stage, other.stage):
        assert friction_values(stage) == pytest.approx([0.5, 0.25 * DEGREE])
        assert "NewtonJointAPI" in applied_schemas(stage.GetPrimAtPath(HINGE))


def test_newton_reads_the_fallback() -> None:
    newton = pytest.importorskip("newton")
    made = pendulum()
    author_friction(made)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        builder.add_usd(made.stage, ignore_paths=[".*/Actuators/.*"])
    assert builder.joint_friction[-1] == pytest.approx(0.5) and builder.joint_damping[-1] == pytest.approx(0.25)


def test_stages_in_other_units_have_their_own() -> None:
    """Centimeters: a torque of 1 N·m is 10000 of theirs."""
    made = pendulum()
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    author_friction(made)
    assert friction_values(made.stage) == pytest.approx([5000.0, 2500.0 * DEGREE])


def test_what_physx_has_authored_follows() -> None:
    made = pendulum()
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxJointAxisAPI:angular")
    names = ("staticFrictionEffort", "dynamicFrictionEffort", "viscousFrictionCoefficient")
    for name in names:
        made.attribute(HINGE, f"physxJointAxis:angular:{name}", 9.0)
    author_friction(made)
    joint = made.stage.GetPrimAtPath(HINGE)
    found = [joint.GetAttribute(f"physxJointAxis:angular:{name}").Get() for name in names]
    assert found == pytest.approx([0.5, 0.5, 0.25 * DEGREE])
    assert friction_values(made.stage) == pytest.approx([0.5, 0.25 * DEGREE])


def test_joints_without_a_friction_stage_get_nothing() -> None:
    made = pendulum()
    aa.add_actuator(ROOT, "hinge", "own", PD, stage=made.stage)
    assert friction_values(made.stage) == [None, None]


def test_friction_of_a_stronger_layer_stays_with_a_warning() -> None:
    made = pendulum()
    made.attribute(HINGE, "newton:friction", 2.0)
    stage = made.stage
    weak = Sdf.Layer.CreateAnonymous(".usda")
    stage.GetRootLayer().subLayerPaths.append(weak.identifier)
    stage.SetEditTarget(weak)
    with pytest.warns(UserWarning, match=r"hinge>.newton:friction = 2 is authored in a stronger layer\. .* = 0.5"):
        author_friction(made)
    assert friction_values(stage)[0] == 2.0


def test_an_error_leaves_neither_prim_nor_fallback(monkeypatch: pytest.MonkeyPatch) -> None:
    from isaacsim.core.experimental.actuators.files.usd import author as module

    def fails(*_: Any) -> None:
        raise RuntimeError("as if")

    made = pendulum()
    before = made.stage.GetRootLayer().ExportToString()
    monkeypatch.setattr(module, "write_fallback", fails)
    refused(RuntimeError, lambda: author_friction(made), "as if")
    assert made.stage.GetRootLayer().ExportToString() == before


def test_here_the_stage_replaces_the_fallback() -> None:
    pytest.importorskip("mujoco")
    made = pendulum()
    author_friction(made)
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


LIMITS = 16.0, 0.5, 10.0, 0.5
LIMITED = aa.EnvelopeClampingConfig.from_physx(*LIMITS)
NAMES = ("velocityDependentResistance", "maxActuatorVelocity", "speedEffortGradient")


def driven_pendulum(**drive: float) -> SmallStage:
    made = pendulum()
    made.drive(HINGE, **{"stiffness": 1.0, **drive})
    return made


def envelope_values(stage: Usd.Stage) -> list[float | None]:
    joint = stage.GetPrimAtPath(HINGE)
    names = ["drive:angular:physics:maxForce", *(f"physxDrivePerformanceEnvelope:angular:{name}" for name in NAMES)]
    return [joint.GetAttribute(name).Get() for name in names]


IN_DEGREES = [16.0, 0.5 * DEGREE, 10.0 / DEGREE, 0.5 / DEGREE]


def test_drives_get_the_envelope() -> None:
    made, other = driven_pendulum(), driven_pendulum(maxForce=9.0)
    aa.add_actuator(ROOT, "hinge", "own", PD, clamping=[LIMITED], stage=made.stage)
    aa.add_motors(ROOT, {"hinge": [PD, LIMITED]}, stage=other.stage)
    for stage in (made.stage, other.stage):
        assert envelope_values(stage) == pytest.approx(IN_DEGREES)
        assert "PhysxDrivePerformanceEnvelopeAPI:angular" in applied_schemas(stage.GetPrimAtPath(HINGE))


def test_envelope_of_a_motor_is_that_of_its_joint() -> None:
    made, gear = driven_pendulum(), aa.TransmissionConfig(10.0)
    motor = aa.EnvelopeClampingConfig.from_physx(1.6, 0.5 / 100, 100.0, 50.0)
    aa.add_motors(ROOT, {"hinge": [PD, motor, gear]}, stage=made.stage)
    assert envelope_values(made.stage) == pytest.approx(IN_DEGREES, rel=1e-5)


def test_stages_in_other_units_have_their_own_envelope() -> None:
    """Centimetres: a torque of 1 N·m is 10000 of theirs."""
    made = driven_pendulum()
    UsdGeom.SetStageMetersPerUnit(made.stage, 0.01)
    aa.add_motors(ROOT, {"hinge": [PD, LIMITED]}, stage=made.stage)
    unit = 1e4
    expected = [16.0 * unit, 0.5 * DEGREE * unit, 10.0 / DEGREE, 0.5 / DEGREE / unit]
    assert envelope_values(made.stage) == pytest.approx(expected)


@cases(
    "made, limit",
    (pendulum, LIMITED),
    (driven_pendulum, aa.EnvelopeClampingConfig.from_dc_motor(30.0, 10.0)),
    (driven_pendulum, aa.EnvelopeClampingConfig(max_power=100.0)),
    ids=["no drive", "line", "power"],
)
def test_joints_without_such_a_drive_stay(made: Any, limit: aa.EnvelopeClampingConfig) -> None:
    found = made()
    aa.add_motors(ROOT, {"hinge": [PD, limit]}, stage=found.stage)
    assert "PhysxDrivePerformanceEnvelopeAPI:angular" not in applied_schemas(found.stage.GetPrimAtPath(HINGE))
    assert envelope_values(found.stage)[0] in (None, math.inf)


def test_lint_names_what_no_drive_of_physx_has(tmp_path: Path) -> None:
    for limit, is_named in ((aa.EnvelopeClampingConfig(max_power=100.0), True), (LIMITED, False)):
        made = driven_pendulum()
        aa.add_motors(ROOT, {"hinge": [PD, limit]}, stage=made.stage)
        file = tmp_path / f"robot_{is_named}.usda"
        made.stage.Export(str(file))
        problems = [one.problem for one in lint(file) if one.rule == "approximated"]
        assert any("limit a drive of PhysX differently" in one for one in problems) is is_named


def test_envelope_that_an_actuator_computes_is_not_warned_of() -> None:
    made = driven_pendulum()
    aa.add_motors(ROOT, {"hinge": [PD, LIMITED]}, stage=made.stage)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        aa.Simulation(made.stage).close()
    made.stage.RemovePrim(f"{ROOT}/Actuators")
    with pytest.warns(UserWarning, match="performance envelope"):
        aa.Simulation(made.stage).close()


def test_stronger_layer_keeps_its_envelope() -> None:
    made = driven_pendulum()
    stage = made.stage
    made.stage.GetPrimAtPath(HINGE).AddAppliedSchema("PhysxDrivePerformanceEnvelopeAPI:angular")
    made.attribute(HINGE, "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", 90.0)
    stage.SetEditTarget(stage.GetSessionLayer())
    made.attribute(HINGE, "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", 45.0)
    stage.SetEditTarget(stage.GetRootLayer())
    with pytest.warns(UserWarning, match="stronger layer.*in place of that of the actuator"):
        aa.add_motors(ROOT, {"hinge": [PD, LIMITED]}, stage=stage)


def test_physx_has_the_authored_envelope() -> None:
    made = driven_pendulum(damping=1.0)
    aa.add_motors(ROOT, {"hinge": [PD, LIMITED]}, stage=made.stage)
    with aa.Simulation(made.stage, engine=installed("physx")) as sim:
        sim.play()
        robot = sim.articulation(ROOT)
        gradient, fastest, resistance = (one.numpy().item() for one in robot.get_dof_drive_model_properties())
        most = robot.get_dof_max_efforts().numpy().item()
    np.testing.assert_allclose([most, resistance, fastest, gradient], LIMITS, rtol=1e-5)
