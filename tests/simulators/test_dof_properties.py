"""Per-DOF properties of robots on embedded physics: what they do while it runs, and what the stage holds while not."""

import math
from collections.abc import Callable

import numpy as np
import pytest
import warp as wp
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from isaacsim.core.experimental.actuators.simulators.dof_properties import DofType
from physics_engines import ROOT, telescope, weightless
from played import models_of
from pxr import Sdf, Usd, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum

DT = 1 / 1000
# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
HINGE = f"{ROOT}/hinge"
DEGREE = math.radians(1)
# getter and setter without `get_dof_` or `set_dof_`, which of the values it is, attribute on the stage, its unit in SI
PROPERTIES = [
    ("gains", 0, "drive:angular:physics:stiffness", 1 / DEGREE),
    ("gains", 1, "drive:angular:physics:damping", 1 / DEGREE),
    ("position_targets", None, "drive:angular:physics:targetPosition", DEGREE),
    ("velocity_targets", None, "drive:angular:physics:targetVelocity", DEGREE),
    ("max_efforts", None, "drive:angular:physics:maxForce", 1.0),
    ("limits", 0, "physics:lowerLimit", DEGREE),
    ("limits", 1, "physics:upperLimit", DEGREE),
    ("armatures", None, "physxJointAxis:angular:armature", 1.0),
    ("friction_properties", 0, "physxJointAxis:angular:staticFrictionEffort", 1.0),
    ("friction_properties", 1, "physxJointAxis:angular:dynamicFrictionEffort", 1.0),
    ("friction_properties", 2, "physxJointAxis:angular:viscousFrictionCoefficient", 1 / DEGREE),
    ("max_velocities", None, "physxJointAxis:angular:maxJointVelocity", DEGREE),
    ("drive_model_properties", 0, "physxDrivePerformanceEnvelope:angular:speedEffortGradient", DEGREE),
    ("drive_model_properties", 1, "physxDrivePerformanceEnvelope:angular:maxActuatorVelocity", DEGREE),
    ("drive_model_properties", 2, "physxDrivePerformanceEnvelope:angular:velocityDependentResistance", 1 / DEGREE),
]
IDS = [attribute.rsplit(":", 1)[-1] for *_, attribute, _ in PROPERTIES]


def opened(made: SmallStage, engine: str, num_envs: int = 1) -> tuple[Simulation, object]:
    sim = Simulation(weightless(made), DT, num_envs, engine=engine)
    return sim, sim.articulation(ROOT)


def value_of(robot: object, name: str, part: int | None, row: int = 0) -> float:
    found = getattr(robot, f"get_dof_{name}")()
    return float((found if part is None else found[part]).numpy()[row, 0])


def set_value(robot: object, name: str, part: int | None, value: object, **indices: object) -> None:
    arguments = [] if part is None else [None] * part
    getattr(robot, f"set_dof_{name}")(*arguments, value, **indices)


def raw(stage: Usd.Stage, attribute: str, joint: str = HINGE) -> float | None:
    return stage.GetPrimAtPath(joint).GetAttribute(attribute).Get()


@pytest.mark.parametrize(("name", "part", "attribute", "unit"), PROPERTIES, ids=IDS)
def test_stopped_setter_authors_the_attribute_in_its_unit(engine, name, part, attribute, unit) -> None:
    sim, robot = opened(pendulum(limits=(-90, 90)), engine)
    set_value(robot, name, part, 0.7)
    assert raw(sim.stage, attribute) == pytest.approx(0.7 / unit, rel=1e-6)
    assert value_of(robot, name, part) == pytest.approx(0.7, rel=1e-6)


@pytest.mark.filterwarnings("ignore:joints begin outside their limits")
@pytest.mark.filterwarnings("ignore:.*performance envelope:UserWarning")
@pytest.mark.parametrize(("name", "part", "attribute", "unit"), PROPERTIES, ids=IDS)
def test_what_is_set_while_stopped_holds_after_play(engine, name, part, attribute, unit) -> None:
    sim, robot = opened(pendulum(limits=(-90, 90)), engine)
    set_value(robot, name, part, 0.7)
    sim.play()
    assert value_of(robot, name, part) == pytest.approx(0.7, rel=1e-5)


@pytest.mark.filterwarnings("ignore:joints begin outside their limits")
@pytest.mark.filterwarnings("ignore:.*performance envelope:UserWarning")
@pytest.mark.parametrize(("name", "part", "attribute", "unit"), PROPERTIES, ids=IDS)
def test_authored_value_is_read_the_same_before_and_after_play(engine, name, part, attribute, unit) -> None:
    made = pendulum(limits=(-90, 90))
    joint = made.stage.GetPrimAtPath(HINGE)
    for schema in ("PhysicsDriveAPI", "PhysxJointAxisAPI", "PhysxDrivePerformanceEnvelopeAPI"):
        joint.AddAppliedSchema(f"{schema}:angular")
    joint.CreateAttribute(attribute, Sdf.ValueTypeNames.Float).Set(0.3 / unit)
    sim, robot = opened(made, engine)
    before = value_of(robot, name, part)
    sim.play()
    assert (before, value_of(robot, name, part)) == (pytest.approx(0.3, rel=1e-5), pytest.approx(0.3, rel=1e-5))


@cases(
    "name, expected",
    ("gains", [0, 0]),
    ("limits", [-math.inf, math.inf]),
    ("friction_properties", [0, 0, 0]),
    ("drive_model_properties", [0, math.inf, 0]),
    ("armatures", [0]),
    ("max_efforts", [math.inf]),
    ("max_velocities", [math.inf]),
    ("position_targets", [0]),
    ("velocity_targets", [0]),
)
@pytest.mark.parametrize("playing", [False, True])
def test_what_nobody_authored_has_its_default(engine, name, expected, playing) -> None:
    sim, robot = opened(pendulum(), engine)
    if playing:
        sim.play()
    found = getattr(robot, f"get_dof_{name}")()
    arrays = found if isinstance(found, tuple) else (found,)
    assert [array.numpy().tolist() for array in arrays] == [[[value]] for value in expected]
    assert {(array.dtype, str(array.device), array.shape) for array in arrays} == {(wp.float32, "cpu", (1, 1))}


def test_attributes_of_other_schemas_are_written_along(engine) -> None:
    made = pendulum()
    for name in ("newton:armature", "physxJoint:armature"):
        made.attribute(HINGE, name, 0.1)
    sim, robot = opened(made, engine)
    assert value_of(robot, "armatures", None) == pytest.approx(0.1)
    robot.set_dof_armatures(0.4)
    names = ("newton:armature", "physxJoint:armature", "physxJointAxis:angular:armature")
    assert [raw(sim.stage, name) for name in names] == [pytest.approx(0.4)] * 3


@pytest.mark.parametrize(("kind", "scale"), [("Revolute", 1 / DEGREE), ("Prismatic", 1.0)])
def test_linear_axes_are_in_metres(engine, kind, scale) -> None:
    sim, robot = opened(pendulum(kind=kind), engine)
    robot.set_dof_limits(-0.5, 0.25)
    assert raw(sim.stage, "physics:lowerLimit") == pytest.approx(-0.5 * scale)
    assert raw(sim.stage, "physics:upperLimit") == pytest.approx(0.25 * scale)
    assert robot.dof_types == [DofType.Rotation if kind == "Revolute" else DofType.Translation]


def test_axis_of_several_has_attributes_of_its_own(engine) -> None:
    made = pendulum(kind="")
    joint = made.stage.GetPrimAtPath(HINGE)
    for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        limit = UsdPhysics.LimitAPI.Apply(joint, axis)
        free = axis in ("rotX", "rotY")
        limit.CreateLowAttr(-60.0 if free else 1.0)
        limit.CreateHighAttr(60.0 if free else -1.0)
    sim, robot = opened(made, engine)
    assert robot.dof_names == ["hinge:rotX", "hinge:rotY"]
    robot.set_dof_limits([[-0.3, -0.4]], [[0.5, 0.6]])
    robot.set_dof_gains([[1.0, 2.0]])
    robot.set_dof_armatures([[0.1, 0.2]])
    assert raw(sim.stage, "limit:rotY:physics:high") == pytest.approx(0.6 / DEGREE)
    assert raw(sim.stage, "drive:rotX:physics:stiffness") == pytest.approx(1.0 * DEGREE)
    sim.play()
    np.testing.assert_allclose([array.numpy()[0] for array in robot.get_dof_limits()], [[-0.3, -0.4], [0.5, 0.6]], 1e-5)
    np.testing.assert_allclose(robot.get_dof_gains()[0].numpy(), [[1.0, 2.0]], rtol=1e-5)
    np.testing.assert_allclose(robot.get_dof_armatures().numpy(), [[0.1, 0.2]], rtol=1e-5)


def test_stop_undoes_what_was_set_while_playing(engine) -> None:
    sim, robot = opened(pendulum(), engine)
    text = sim.stage.GetRootLayer().ExportToString()
    sim.play()
    robot.set_dof_armatures(0.5)
    robot.set_dof_gains(3.0, 1.0)
    sim.stop()
    assert sim.stage.GetRootLayer().ExportToString() == text
    sim.play()
    assert (value_of(robot, "armatures", None), value_of(robot, "gains", 0)) == (0.0, 0.0)


def test_setting_goes_to_the_edit_target(engine) -> None:
    sim, robot = opened(pendulum(), engine)
    text = sim.stage.GetRootLayer().ExportToString()
    with Usd.EditContext(sim.stage, sim.stage.GetSessionLayer()):
        robot.set_dof_armatures(0.5)
    assert (sim.stage.GetRootLayer().ExportToString(), value_of(robot, "armatures", None)) == (text, 0.5)


def test_what_a_stronger_layer_authors_cannot_be_set_below_it(engine) -> None:
    sim, robot = opened(pendulum(), engine)
    with Usd.EditContext(sim.stage, sim.stage.GetSessionLayer()):
        robot.set_dof_gains(dampings=2.0)
    text = sim.stage.GetRootLayer().ExportToString()
    with pytest.raises(HostError, match=r"hinge>\.drive:angular:physics:damping: setting it at the edit target"):
        robot.set_dof_gains(7.0, 7.0)
    assert sim.stage.GetRootLayer().ExportToString() == text
    assert [value_of(robot, "gains", part) for part in (0, 1)] == [0.0, pytest.approx(2.0)]


@cases(
    "setter, arguments, message",
    ("set_dof_armatures", (-0.1,), r"armatures\[0, 0\] = -0.1: must be >= 0"),
    ("set_dof_armatures", (math.inf,), "must be finite"),
    ("set_dof_limits", (1.0, -1.0), r"lower limit 1 > upper limit -1"),
    ("set_dof_limits", (2.0,), r"lower limit 2 > upper limit 1.5"),
    ("set_dof_limits", (math.nan, 1.0), "must be finite"),
    ("set_dof_limits", (), "must not all be None"),
    ("set_dof_friction_properties", (1.0, 1.0, -1.0), r"viscous_frictions\[0, 0\] = -1: must be >= 0"),
    ("set_dof_max_efforts", ([1.0, 2.0],), r"must fit \(1, 1\)"),
    ids=["negative", "infinite", "crossed", "crossed with the other", "nan", "none", "one of three", "shape"],
)
@pytest.mark.parametrize("playing", [False, True])
def test_wrong_values_change_nothing(engine, setter, arguments, message, playing) -> None:
    sim, robot = opened(pendulum(limits=(-90, math.degrees(1.5))), engine)
    if playing:
        sim.play()
    before = [value_of(robot, name, part) for name, part, *_ in PROPERTIES]
    refused(ValueError, lambda: getattr(robot, setter)(*arguments), message)
    assert [value_of(robot, name, part) for name, part, *_ in PROPERTIES] == before


def test_copies_share_the_stage_while_stopped() -> None:
    sim, robots = opened(pendulum(), "mujoco", 3)
    robots.set_dof_armatures([[0.2], [0.2], [0.2]])
    assert robots.get_dof_armatures().numpy().tolist() == [[pytest.approx(0.2)]] * 3
    text = sim.stage.GetRootLayer().ExportToString()
    for values, indices in (([[0.1], [0.2], [0.3]], None), (0.5, [1])):
        with pytest.raises(HostError, match=r"armatures of <.*hinge> would differ between copies.* after play"):
            robots.set_dof_armatures(values, indices=indices)
    with pytest.raises(HostError, match="would differ between copies"):
        sim.articulation("/World/envs/env_1/Robot").set_dof_armatures(0.5)
    assert sim.stage.GetRootLayer().ExportToString() == text


@cases(
    "name, part", ("armatures", None), ("limits", 0), ("limits", 1), ("max_efforts", None), ("friction_properties", 2)
)
def test_copies_have_values_of_their_own_while_playing(name, part) -> None:
    sim, robots = opened(pendulum(limits=(-90, 90)), "mujoco", 3)
    sim.play()
    before = value_of(robots, name, part, 0)
    set_value(robots, name, part, 0.25, indices=[1])
    assert [value_of(robots, name, part, row) for row in range(3)] == [before, 0.25, before]


def test_each_copy_moves_by_its_own_armature() -> None:
    sim, robots = opened(pendulum(), "mujoco", 3)
    sim.play()
    robots.set_dof_armatures([[0.0], [0.5], [2.0]])
    robots.set_dof_efforts(1.0)
    sim.step(1)
    expected = DT / (INERTIA + np.array([[0.0], [0.5], [2.0]]))
    np.testing.assert_allclose(robots.get_dof_velocities().numpy(), expected, rtol=1e-5)


@pytest.fixture(params=["stopped", "playing"])
def when(request: pytest.FixtureRequest) -> str:
    return request.param


def started(made: SmallStage, engine: str, when: str, configure: Callable) -> tuple[Simulation, object]:
    sim, robot = opened(made, engine)
    if when == "stopped":
        configure(robot)
    sim.play()
    if when == "playing":
        configure(robot)
    return sim, robot


def test_armature_adds_to_the_inertia(engine, when) -> None:
    sim, robot = started(pendulum(), engine, when, lambda robot: robot.set_dof_armatures(0.5))
    robot.set_dof_efforts(2.0)
    sim.step(10)
    expected = 10 * DT * 2.0 / (INERTIA + 0.5)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), expected, rtol=1e-4)


def test_dry_friction_holds_and_slows(engine, when) -> None:
    sim, robot = started(pendulum(), engine, when, lambda robot: robot.set_dof_friction_properties(1.0, 1.0))
    robot.set_dof_efforts(0.9)
    sim.step(100)
    assert abs(robot.get_dof_velocities().numpy()[0, 0]) < 0.02 * 100 * DT * 0.9 / INERTIA
    robot.set_dof_velocities(0.0)
    robot.set_dof_efforts(3.0)
    sim.step(100)
    expected = 100 * DT * (3.0 - 1.0) / INERTIA
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), expected, rtol=0.02)


def test_viscous_friction_slows_by_its_coefficient(engine, when) -> None:
    sim, robot = started(
        pendulum(), engine, when, lambda robot: robot.set_dof_friction_properties(viscous_frictions=2.0)
    )
    robot.set_dof_velocities(1.0)
    sim.step(130)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), math.exp(-0.13 * 2.0 / INERTIA), rtol=0.02)


@pytest.mark.parametrize("authored", [(None, None), (-90, 90), (None, 90)])
def test_limits_stop_the_joint(engine, when, authored) -> None:
    if (engine, when, authored) == ("physx", "playing", (None, None)):
        pytest.skip("PhysX gives a joint without limits none while it runs; hosts/physx/test_properties.py has that")
    sim, robot = started(pendulum(limits=authored), engine, when, lambda robot: robot.set_dof_limits(-0.1, 0.2))
    for effort, end in ((5.0, 0.2), (-5.0, -0.1)):
        robot.set_dof_efforts(effort)
        sim.step(500)
        assert robot.get_dof_positions().numpy()[0, 0] == pytest.approx(end, abs=0.03)
    robot.set_dof_limits(-math.inf, math.inf)
    sim.step(500)
    assert robot.get_dof_positions().numpy()[0, 0] < -0.5


def test_max_effort_bounds_the_drive_and_nothing_else(engine, when) -> None:
    def configure(robot: object) -> None:
        robot.set_dof_gains(1000.0, 0.0)
        robot.set_dof_max_efforts(2.0)

    sim, robot = started(pendulum(), engine, when, configure)
    robot.set_dof_position_targets(1.0)
    sim.step(1)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), DT * 2.0 / INERTIA, rtol=1e-3)
    robot.set_dof_velocities(0.0)
    robot.set_dof_position_targets(1.0)
    robot.set_dof_velocity_targets(0.0)
    robot.set_dof_max_efforts(math.inf)
    sim.step(1)
    assert robot.get_dof_velocities().numpy()[0, 0] > 5 * DT * 2.0 / INERTIA


def test_max_effort_does_not_bound_efforts() -> None:
    sim, robot = opened(pendulum(), "mujoco")
    sim.play()
    robot.set_dof_max_efforts(0.0)
    robot.set_dof_gains(1000.0, 100.0)
    robot.set_dof_position_targets(1.0)
    robot.set_dof_efforts(3.0)
    sim.step(1)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), DT * 3.0 / INERTIA, rtol=1e-5)
    assert value_of(robot, "max_efforts", None) == 0.0


@cases(
    "setter, arguments, what",
    ("set_dof_drive_model_properties", (1.0, None, None), "speed effort gradients: MuJoCo does not have them"),
    ("set_dof_friction_properties", (1.0, 0.5), "static friction 1 with dynamic friction 0.5: MuJoCo has one dry"),
)
def test_what_mujoco_lacks_is_refused_while_playing(setter, arguments, what) -> None:
    sim, robot = opened(pendulum(), "mujoco")
    sim.play()
    refused(HostError, lambda: getattr(robot, setter)(*arguments), what)
    assert [array.numpy().tolist() for array in robot.get_dof_friction_properties()] == [[[0.0]]] * 3


@pytest.mark.parametrize("given", [(1.0,), (None, 1.0), (1.0, 1.0)])
def test_one_dry_friction_is_both(given) -> None:
    sim, robot = opened(pendulum(), "mujoco")
    sim.play()
    robot.set_dof_friction_properties(*given)
    assert [value_of(robot, "friction_properties", part) for part in range(3)] == [1.0, 1.0, 0.0]


def test_frictions_that_differ_on_the_stage_are_warned_of() -> None:
    sim, robot = opened(pendulum(), "mujoco")
    robot.set_dof_friction_properties(2.0, 1.0)
    with pytest.warns(UserWarning, match=r"friction of /World/Robot/hinge differ: MuJoCo has one dry friction"):
        sim.play()
    assert value_of(robot, "friction_properties", 0) == 2.0


@pytest.mark.parametrize("playing", [False, True])
@pytest.mark.parametrize(("mode", "gains"), [("position", [8, 2]), ("velocity", [0, 2]), ("effort", [0, 0])])
def test_control_mode_sets_gains_from_the_defaults(engine, mode, gains, playing) -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=8 * DEGREE, damping=2 * DEGREE)
    sim, robot = opened(made, engine)
    if playing:
        sim.play()
    robot.switch_dof_control_mode("effort")
    robot.switch_dof_control_mode(mode)
    assert [value_of(robot, "gains", part) for part in (0, 1)] == pytest.approx(gains, rel=1e-5)


@pytest.mark.parametrize(("update", "expected"), [(True, [5.0, 1.0]), (False, [8.0, 2.0])])
def test_gains_that_are_set_become_the_defaults_if_asked(engine, update, expected) -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=8 * DEGREE, damping=2 * DEGREE)
    sim, robot = opened(made, engine)
    sim.play()
    robot.set_dof_gains(5.0, 1.0, update_default_gains=update)
    robot.switch_dof_control_mode("position")
    assert [value_of(robot, "gains", part) for part in (0, 1)] == pytest.approx(expected, rel=1e-5)


def test_defaults_outlast_play(engine) -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=8 * DEGREE, damping=2 * DEGREE)
    sim, robot = opened(made, engine)
    robot.switch_dof_control_mode("effort")
    sim.play()
    assert value_of(robot, "gains", 0) == 0.0
    robot.switch_dof_control_mode("position")
    assert value_of(robot, "gains", 0) == pytest.approx(8.0)


def test_control_mode_moves_the_joint_its_way(engine) -> None:
    made = pendulum()
    made.drive(HINGE, stiffness=200 * DEGREE, damping=20 * DEGREE)
    sim, robot = opened(made, engine)
    sim.play()
    robot.set_dof_position_targets(0.5)
    sim.step(1000)
    assert robot.get_dof_positions().numpy()[0, 0] == pytest.approx(0.5, abs=1e-3)
    robot.switch_dof_control_mode("velocity")
    robot.set_dof_velocity_targets(1.0)
    sim.step(200)
    assert robot.get_dof_velocities().numpy()[0, 0] == pytest.approx(1.0, abs=1e-3)
    robot.switch_dof_control_mode("effort")
    robot.set_dof_velocities(0.0)
    robot.set_dof_efforts(1.0)
    sim.step(10)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), 10 * DT / INERTIA, rtol=1e-3)


def test_unknown_control_mode_is_refused(engine) -> None:
    with pytest.raises(ValueError, match=r"mode = 'torque': must be one of 'position', 'velocity', 'effort'"):
        opened(pendulum(), engine)[1].switch_dof_control_mode("torque")


@pytest.mark.parametrize("field", ["dof_M0", "dof_invweight0", "body_invweight0"])
def test_constants_of_mujoco_follow_an_armature(field) -> None:
    sim, robots = opened(pendulum(), "mujoco", 2)
    sim.play()
    robots.set_dof_armatures(0.5, indices=[1])
    found = [getattr(model, field).copy() for model in models_of(sim)]
    sim.stop()
    np.testing.assert_allclose(found[0], getattr(sim._host.model, field))
    robots.set_dof_armatures(0.5)
    sim.play()
    np.testing.assert_allclose(found[1], getattr(sim._host.model, field), rtol=1e-6)
    assert not np.allclose(*found)


def test_joints_between_the_same_two_bodies_have_properties_of_their_own() -> None:
    made = pendulum()
    made.joint(f"{ROOT}/roll", "Revolute", f"{ROOT}/base", f"{ROOT}/bob", axis="X")
    made.attribute(HINGE, "newton:armature", 0.25)
    sim, robot = opened(made, "mujoco")
    assert robot.dof_names == ["hinge", "roll"] and robot.get_dof_armatures().numpy().tolist() == [[0.25, 0.0]]
    robot.set_dof_armatures([[0.25, 0.125]])
    sim.play()
    assert robot.get_dof_armatures().numpy().tolist() == [[0.25, 0.125]]
    robot.set_dof_gains(2.0, 1.0)
    robot.set_dof_armatures([[0.5, 0.75]])
    assert robot.get_dof_armatures().numpy().tolist() == [[0.5, 0.75]]


def test_armature_of_steps_is_beside_that_of_the_joint(engine) -> None:
    sim, robot = opened(telescope(), engine)
    sim.play()
    assert robot.takes_step_armatures
    robot.set_dof_armatures(0.5)
    robot.set_step_armatures([[2.0, 3.0]])
    robot.set_dof_armatures(1.5)
    if engine == "mujoco":
        assert sim._host._fields.constant("dof_M0")[0] == pytest.approx([4.4 + 1.5, 3.0 + 1.5])
    found = []
    for efforts in ([[11.8, 15.0]], [[5.9, 9.0]]):
        assert value_of(robot, "armatures", None) == 1.5
        robot.set_dof_velocities(0.0)
        robot.set_dof_efforts(efforts)
        sim.step()
        found.append(robot.get_dof_velocities().numpy()[0] / DT)
        robot.set_step_armatures(0.0)
    np.testing.assert_allclose(found[0], [11.8 / 7.9, 15.0 / 7.5], rtol=1e-3)
    np.testing.assert_allclose(found[1], [5.9 / 5.9, 9.0 / 4.5], rtol=1e-3)
    robot.set_step_armatures(1.0)
    sim.stop()
    refused(HostError, lambda: robot.set_step_armatures(1.0), "physics")
    sim.close()
