"""Per-DOF properties where PhysX has its own way; what it shares with MuJoCo is in `hosts/test_dof_properties.py`."""

import math
from importlib.util import find_spec

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Articulation, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import weightless
from places import ROBOTS
from pxr import Usd, UsdPhysics
from refusals import cases
from small_stages import SmallStage, pendulum
from stages import stage_of

pytestmark = pytest.mark.skipif(find_spec("ovphysx") is None, reason="the PhysX wheel is not installed")
DT = 1 / 240
# of the pendulum of `small_stages`, about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
ROOT, HINGE = "/World/Robot", "/World/Robot/hinge"
AXIS, ENVELOPE = "physxJointAxis:angular", "physxDrivePerformanceEnvelope:angular"
DEGREE = math.radians(1)


def running(stage: Usd.Stage, path: str = ROOT) -> tuple[Simulation, Articulation]:
    sim = Simulation(stage, DT, engine="physx")
    sim.play()
    return sim, sim.articulation(path)


def authored(schema: str | None = None, **attributes: float) -> SmallStage:
    made = pendulum()
    if schema is not None:
        made.stage.GetPrimAtPath(HINGE).AddAppliedSchema(schema)
    for name, value in attributes.items():
        made.attribute(HINGE, name.replace("__", ":"), value)
    return made


def value(array: object) -> float:
    return array.numpy().item()


def test_joint_without_limits_gets_none_while_it_runs() -> None:
    _, robot = running(pendulum().stage)
    for limits in ((-1.0, 1.0), (None, 1.0), (-1.0, math.inf)):
        with pytest.raises(HostError, match=r"set_dof_limits: <.*hinge> had no limits at play\(\), and engine 'physx'"):
            robot.set_dof_limits(*limits)
    robot.set_dof_limits(-math.inf, math.inf)
    assert [value(limit) for limit in robot.get_dof_limits()] == [-math.inf, math.inf]


def test_limits_come_back_after_they_were_taken_away() -> None:
    sim, robot = running(weightless(pendulum(limits=(-30, 30))))
    robot.set_dof_limits(-math.inf, math.inf)
    robot.set_dof_limits(upper=0.1)
    assert [value(limit) for limit in robot.get_dof_limits()] == [-math.inf, pytest.approx(0.1)]
    robot.set_dof_efforts(2.0)
    sim.step(240)
    assert value(robot.get_dof_positions()) == pytest.approx(0.1, abs=1e-3)


@pytest.mark.parametrize(("limits", "way"), [((None, 10.0), -1), ((-10.0, None), 1)])
def test_one_limit_alone_limits_one_way(limits, way) -> None:
    """PhysX would lock the joint."""
    sim, robot = running(weightless(pendulum(limits=limits)))
    for sign, expected in ((-way, -way * math.radians(10)), (way, None)):
        robot.set_dof_efforts(sign * 2.0)
        sim.step(240)
        if expected is not None:
            assert value(robot.get_dof_positions()) == pytest.approx(expected, abs=1e-3)
    assert way * value(robot.get_dof_positions()) > 1.0


def test_max_velocity_is_enforced() -> None:
    sim, robot = running(weightless(pendulum()))
    robot.set_dof_max_velocities(0.5)
    robot.set_dof_efforts(10.0)
    sim.step(60)
    assert value(robot.get_dof_velocities()) == pytest.approx(0.5, rel=1e-4)
    robot.set_dof_max_velocities(math.inf)
    sim.step(60)
    assert value(robot.get_dof_velocities()) == pytest.approx(0.5 + 10.0 * 60 * DT / INERTIA, rel=1e-2)


def test_drive_model_bounds_the_drive_at_speed() -> None:
    sim, robot = running(weightless(pendulum()))
    robot.set_dof_gains(0.0, 1000.0)
    robot.set_dof_max_efforts(20.0)
    robot.set_dof_drive_model_properties(0.1, 3.0, 0.5)
    robot.set_dof_velocity_targets(100.0)
    speeds = []
    for _ in range(40):
        sim.step()
        speeds.append(value(robot.get_dof_velocities()))
    efforts = np.diff(speeds) / DT * INERTIA
    assert efforts[0] == pytest.approx(20.0 - 0.5 * speeds[1], rel=0.05) and 2.5 < speeds[-1] <= 3.0
    assert (speeds[1:] <= 3.0 - 0.1 * efforts + 0.05).all()


@pytest.mark.parametrize("on", [False, True])
def test_bounds_of_a_drive_that_is_off_bound_nothing(on) -> None:
    sim, robot = running(weightless(pendulum()))
    robot.set_dof_max_efforts(1.0)
    robot.set_dof_drive_model_properties(0.0, 0.2, 0.1)
    if on:
        robot.set_dof_gains(0.0, 1e-6)
    robot.set_dof_efforts(30.0)
    sim.step(5)
    speed = value(robot.get_dof_velocities())
    assert speed <= 0.2 if on else speed == pytest.approx(5 * 30.0 * DT / INERTIA, rel=1e-3)
    assert value(robot.get_dof_max_efforts()) == 1.0
    assert [value(array) for array in robot.get_dof_drive_model_properties()] == pytest.approx([0.0, 0.2, 0.1])


def test_frictions_go_up_and_down_together() -> None:
    _, robot = running(pendulum().stage)
    for frictions in ((3.0, 2.0, 0.5), (0.3, 0.2, 0.1), (5.0, 5.0, 0.0), (0.0, 0.0, 0.0)):
        robot.set_dof_friction_properties(*frictions)
        assert [value(array) for array in robot.get_dof_friction_properties()] == pytest.approx(frictions)


@pytest.mark.parametrize("frictions", [(1.0, 2.0), (None, 4.0), (0.5, None)])
def test_static_friction_below_the_dynamic_one_is_refused(frictions) -> None:
    _, robot = running(pendulum().stage)
    robot.set_dof_friction_properties(3.0, 1.0)
    with pytest.raises(HostError, match=r"set_dof_friction_properties: static friction .* < dynamic .* engine 'physx'"):
        robot.set_dof_friction_properties(*frictions, 0.7)
    assert [value(array) for array in robot.get_dof_friction_properties()] == [3.0, 1.0, 0.0]


def test_static_friction_below_the_dynamic_one_on_the_stage_is_warned_of() -> None:
    """PhysX alone would take neither."""
    made = authored("PhysxJointAxisAPI:angular")
    made.attribute(HINGE, f"{AXIS}:staticFrictionEffort", 1.0)
    made.attribute(HINGE, f"{AXIS}:dynamicFrictionEffort", 2.0)
    with pytest.warns(UserWarning, match=r"static friction 1 < dynamic friction 2 of <.*hinge>: engine 'physx'"):
        _, robot = running(made.stage)
    assert [value(array) for array in robot.get_dof_friction_properties()] == [2.0, 2.0, 0.0]


@cases(
    "attribute, getter, unit",
    ("physxJoint:armature", "get_dof_armatures", 1.0),
    ("physxJoint:maxJointVelocity", "get_dof_max_velocities", DEGREE),
    ("newton:armature", "get_dof_armatures", 1.0),
)
def test_older_attributes_are_in_force(attribute, getter, unit) -> None:
    made = pendulum()
    made.attribute(HINGE, attribute, 2.0)
    sim = Simulation(made.stage, engine="physx")
    robot = sim.articulation(ROOT)
    before = value(getattr(robot, getter)())
    sim.play()
    assert (before, value(getattr(robot, getter)())) == (pytest.approx(2.0 * unit), pytest.approx(2.0 * unit))


def test_drive_model_without_a_drive_is_in_force() -> None:
    made = authored("PhysxDrivePerformanceEnvelopeAPI:angular")
    made.attribute(HINGE, f"{ENVELOPE}:maxActuatorVelocity", 90.0)
    _, robot = running(made.stage)
    assert value(robot.get_dof_drive_model_properties()[1]) == pytest.approx(math.pi / 2)


def test_largest_float_is_no_limit() -> None:
    made = authored("PhysxJointAxisAPI:angular")
    made.attribute(HINGE, f"{AXIS}:maxJointVelocity", float(np.finfo(np.float32).max))
    made.drive(HINGE, maxForce=float(np.finfo(np.float32).max))
    _, robot = running(made.stage)
    assert (value(robot.get_dof_max_velocities()), value(robot.get_dof_max_efforts())) == (math.inf, math.inf)


@cases(
    "change",
    lambda robot: robot.set_dof_gains(0.0, 0.0),
    lambda robot: robot.set_dof_max_efforts(0.01),
    lambda robot: robot.set_dof_limits(-0.2, 0.2),
    ids=["gains", "max effort", "limits"],
)
def test_robot_at_rest_wakes_up_when_it_is_changed(change) -> None:
    """PhysX lets it sleep as its drive holds it, and would leave it in the air."""
    made = pendulum(limits=(-90, 90))
    made.drive(HINGE, stiffness=1000.0, damping=100.0, targetPosition=30.0)
    sim, robot = running(made.stage)
    sim.step(1200)
    change(robot)
    sim.step(60)
    assert value(robot.get_dof_positions()) < 0.3


@cases(
    "name, signs",
    ("armatures", [1]),
    ("max_efforts", [1]),
    ("max_velocities", [1]),
    ("friction_properties", [1, 1, 1]),
    ("limits", [-1, 1]),
    ("drive_model_properties", [1, 1, 1]),
)
def test_joints_that_nobody_wrote_keep_their_bits(rng, name, signs) -> None:
    _, robot = running(stage_of(ROBOTS / "franka_panda.usda"), "/World/Panda")
    setter = getattr(robot, f"set_dof_{name}")

    def held() -> np.ndarray:
        found = getattr(robot, f"get_dof_{name}")()
        return np.concatenate([array.numpy() for array in (found if isinstance(found, tuple) else (found,))])

    # values that change with a change of units there and back
    magnitudes = rng.uniform(0.1, 2.0, 7)
    setter(*(sign * magnitudes for sign in signs))
    before, values = held(), rng.uniform(0.1, 2.0, 2)
    setter(*(sign * values for sign in signs), dof_indices=[1, 4])
    after = held()
    np.testing.assert_allclose(after[:, [1, 4]], np.outer(signs, values), rtol=1e-6)
    np.testing.assert_array_equal(np.delete(after, [1, 4], 1), np.delete(before, [1, 4], 1))


def test_axes_of_one_joint_have_their_own() -> None:
    made = pendulum(kind="")
    joint = made.stage.GetPrimAtPath(HINGE)
    for axis in ("transX", "transY", "transZ", "rotX", "rotY", "rotZ"):
        limit = UsdPhysics.LimitAPI.Apply(joint, axis)
        free = axis in ("rotX", "rotY")
        limit.CreateLowAttr(-60.0 if free else 1.0)
        limit.CreateHighAttr(60.0 if free else -1.0)
    _, robot = running(made.stage)
    robot.set_dof_limits(-0.25, 0.5, dof_indices=[1])
    robot.set_dof_armatures(0.5, dof_indices=[1])
    expected = [[-math.pi / 3, -0.25], [math.pi / 3, 0.5]]
    np.testing.assert_allclose([array.numpy()[0] for array in robot.get_dof_limits()], expected, rtol=1e-6)
    assert robot.get_dof_armatures().numpy().tolist() == [[0.0, 0.5]]


def test_a_drive_of_another_name_is_run() -> None:
    made = pendulum()
    made.drive(HINGE, "X", stiffness=2.0, maxForce=20.0)
    with pytest.warns(UserWarning, match=f"<{HINGE}> applies PhysicsDriveAPI:X: read as PhysicsDriveAPI:angular"):
        sim, robot = running(weightless(made))
    with sim:
        assert value(robot.get_dof_gains()[0]) == pytest.approx(2.0 / DEGREE)
        assert value(robot.get_dof_max_efforts()) == 20.0
        robot.set_dof_position_targets(0.3)
        sim.step()
        assert value(robot.get_dof_velocities()) > 0.1
