"""MuJoCo keeps joints to their largest velocity, of which it knows nothing itself."""

import math
from collections.abc import Callable

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError, SimulationDivergedError, UnsupportedSceneError
from isaacsim.core.experimental.actuators.compat.isaac_lab import ImplicitActuatorCfg
from isaacsim.core.experimental.actuators.simulators.mujoco import velocity_limits
from isaacsim.core.experimental.actuators.simulators.mujoco.address import AxisAddress
from isaacsim.core.experimental.actuators.simulators.mujoco.velocity_limits import velocity_limiter
from physics_engines import ROOT, floating_pair, installed, playing, telescope, weightless
from places import ROBOTS
from played import played, played_robot
from small_stages import SmallStage, pendulum, two_robots

DT = 1 / 1000
# of the pendulum about its hinge [kg m²]
INERTIA = 0.01 + 0.5**2
HINGE = f"{ROOT}/hinge"
PANDA = ROBOTS / "franka_panda.usda"


def limited(limit: float, attribute: str = "newton:velocityLimit") -> SmallStage:
    made = pendulum()
    made.attribute(HINGE, attribute, math.degrees(limit))
    return made


def speeds(robot) -> np.ndarray:
    return robot.get_dof_velocities().numpy().astype(float)


@pytest.mark.parametrize("way", [1, -1])
@pytest.mark.parametrize("attribute", ["newton:velocityLimit", "physxJoint:maxJointVelocity"])
def test_a_joint_stays_at_its_limit(attribute, way) -> None:
    sim, robot = playing(weightless(limited(0.3, attribute)), "mujoco", DT)
    robot.set_dof_efforts(way * 5.0)
    before = 0.0
    for step in range(1, 51):
        sim.step()
        expected = way * min(step * DT * 5.0 / INERTIA, 0.3)
        now = sim.data().qpos[0]
        np.testing.assert_allclose(speeds(robot), expected, atol=1e-6)
        np.testing.assert_allclose((now - before) / DT, expected, atol=1e-6)
        before = now
    robot.set_dof_efforts(-way * 5.0)
    sim.step(10)
    np.testing.assert_allclose(speeds(robot), way * (0.3 - 10 * DT * 5.0 / INERTIA), atol=1e-6)


def test_the_same_on_physx() -> None:
    found = []
    for engine in ("mujoco", installed("physx")):
        sim, robot = playing(weightless(limited(0.3)), engine, DT)
        robot.set_dof_efforts(5.0)
        sim.step(100)
        found.append((speeds(robot).item(), robot.get_dof_positions().numpy().item()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-3)
    assert found[0][1] == pytest.approx(found[1][1], abs=0.3 * DT)


@pytest.mark.parametrize("engine", ["mujoco", "physx"])
def test_zero_in_a_file_of_newton_is_no_limit(engine) -> None:
    """Converters write it where a file says nothing; 0 that is set holds the joint."""
    sim, robot = playing(weightless(limited(0.0)), installed(engine), DT)
    assert robot.get_dof_max_velocities().numpy().item() == math.inf
    robot.set_dof_efforts(5.0)
    sim.step(10)
    assert speeds(robot).item() == pytest.approx(10 * DT * 5.0 / INERTIA, rel=1e-3)
    robot.set_dof_max_velocities(0.0)
    robot.set_dof_efforts(5.0)
    sim.step(2)
    assert speeds(robot).item() == pytest.approx(0.0, abs=1e-6)


def test_negative_limit_is_refused() -> None:
    with pytest.raises(UnsupportedSceneError, match=rf"<{HINGE}> has a largest velocity of -1 .*must be >= 0"):
        Simulation(limited(-1.0, "physxJoint:maxJointVelocity").stage)


def test_environments_have_limits_of_their_own() -> None:
    sim, robot = playing(weightless(limited(2.0)), "mujoco", DT, num_envs=4)
    with sim:
        np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), np.full((4, 1), 2.0), rtol=1e-6)
        robot.set_dof_max_velocities([[0.0], [0.1], [math.inf]], indices=[0, 1, 2])
        robot.set_dof_efforts(5.0)
        sim.step(200)
        free = 200 * DT * 5.0 / INERTIA
        np.testing.assert_allclose(speeds(robot).ravel(), [0.0, 0.1, free, 2.0], rtol=1e-6)
        sim.reset([1])
        np.testing.assert_allclose(robot.get_dof_max_velocities().numpy().ravel(), [0.0, 0.1, math.inf, 2.0], rtol=1e-6)
        sim.stop()
        sim.play()
        np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), np.full((4, 1), 2.0), rtol=1e-6)
        robot.set_dof_efforts(5.0)
        sim.step(200)
        np.testing.assert_allclose(speeds(robot), np.full((4, 1), 2.0), rtol=1e-6)


def test_a_turning_and_a_sliding_joint_of_two_robots() -> None:
    made = telescope()
    made.attribute(f"{ROOT}/turn", "newton:velocityLimit", math.degrees(0.5))
    sim, robot = playing(weightless(made), "mujoco", DT)
    np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), [[0.5, math.inf]], rtol=1e-6)
    robot.set_dof_efforts([[40.0, 3.0]])
    sim.step(300)
    assert speeds(robot)[0, 0] == pytest.approx(0.5, abs=1e-6)
    # what swings out with the boom is pushed by more than the effort
    assert speeds(robot)[0, 1] > 0.3
    robot.set_dof_max_velocities(0.2, dof_indices=[1])
    sim.step(1)
    np.testing.assert_allclose(speeds(robot), [[0.5, 0.2]], atol=1e-6)


def test_several_robots_and_bases_that_float() -> None:
    with played(two_robots(ROBOTS / "anymal_c.usda", "/World/Anymal")) as sim:
        left, right = (sim.articulation(f"/World/{side}") for side in ("Left", "Right"))
        left.set_dof_max_velocities(0.25)
        right.set_dof_max_velocities(0.5, dof_indices=[3])
        right.set_dof_max_velocities(math.inf, dof_indices=[0, 1, 2, *range(4, 12)])
        for robot in (left, right):
            robot.set_dof_gains(0.0, 0.0)
            robot.set_dof_efforts(20.0)
            robot.set_velocities(linear_velocities=[[0.0, 0.0, 3.0]])
        sim.step(4)
        before = left.get_dof_positions().numpy()
        sim.step(1)
        np.testing.assert_allclose(speeds(left), np.full((1, 12), 0.25), atol=1e-6)
        # of a base, positions are one more than velocities
        moved = left.get_dof_positions().numpy() - before
        np.testing.assert_allclose(moved, np.full((1, 12), 0.25 * sim.dt), atol=1e-6)
        assert speeds(right)[0, 3] == pytest.approx(0.5, abs=1e-6)
        assert np.delete(np.abs(speeds(right)[0]), 3).min() > 0.5 and left.get_velocities()[0].numpy()[0, 2] > 1.0


def test_steps_at_once_are_single_steps() -> None:
    found = []
    for parts in ([200], [1] * 200, [64, 100, 36]):
        with played_robot("/World/envs/env_.*/Panda", PANDA, num_envs=2) as (sim, robot):
            robot.set_dof_efforts(np.linspace(-60, 60, 14).reshape(2, 7))
            for part in parts:
                sim.step(part)
            found.append(sim._host._batch.state.tolist())
            at_limit = np.isclose(np.abs(speeds(robot)), robot.get_dof_max_velocities().numpy(), rtol=1e-6)
            assert 0 < at_limit.sum() < 14
    assert found[0] == found[1] == found[2]


def test_without_limits_nothing_is_done() -> None:
    at = AxisAddress(*(np.arange(2),) * 3)
    state = np.zeros((3, 2)), np.zeros((3, 2))
    for none in (math.inf, float(np.finfo(np.float32).max)):
        assert velocity_limiter(np.full((3, 2), none), at, DT, *state) is None
    calls = []
    with played(weightless(limited(0.3))) as sim:
        counted(sim, calls)
        sim.step(100)
        assert sum(calls) == len(calls) == 100
        sim.articulation(ROOT).set_dof_max_velocities(math.inf)
        calls.clear()
        sim.step(100)
        assert calls == [64, 36]


def counted(sim: Simulation, calls: list[int]) -> None:
    host = sim._host
    advance: Callable[[int], None] = host._advance

    def noted(count: int) -> None:
        calls.append(count)
        advance(count)

    host._advance = noted


def test_groups_set_limits_and_give_them_back() -> None:
    cfg = ImplicitActuatorCfg(
        joint_names_expr=["panda_joint[1-3]"], stiffness=0.0, damping=0.0, joint_velocity_limit=0.5, armature=0.1
    )
    with played_robot("/World/Panda", PANDA) as (sim, robot):
        authored = robot.get_dof_max_velocities().numpy()
        with pytest.warns(UserWarning, match="are in no group"):
            actuators = ArticulationActuators.from_groups("/World/Panda", {"arm": cfg})
        np.testing.assert_array_equal(robot.get_dof_max_velocities().numpy()[0, :3], 0.5)
        robot.set_dof_efforts(60.0, dof_indices=[0])
        sim.step(60)
        assert speeds(robot)[0, 0] == pytest.approx(0.5, abs=1e-6)
        actuators.close()
        np.testing.assert_array_equal(robot.get_dof_max_velocities().numpy(), authored)
        robot.set_dof_efforts(60.0, dof_indices=[0])
        sim.step(60)
        assert 0.5 < speeds(robot)[0, 0] <= authored[0, 0]


def test_all_or_nothing() -> None:
    sim, robot = playing(weightless(limited(0.3)), "mujoco", DT)
    at = np.zeros((1, 1), int)
    values = {"max_velocities": np.ones((1, 1)), "speed_effort_gradients": np.ones((1, 1))}
    with pytest.raises(HostError, match="speed effort gradients: MuJoCo does not have them"):
        sim._host.write_properties(values, at)
    np.testing.assert_allclose(robot.get_dof_max_velocities().numpy(), [[0.3]], rtol=1e-6)


def test_what_is_not_finite_is_told_of() -> None:
    sim, robot = playing(weightless(limited(0.3)), "mujoco", DT, num_envs=3)
    for value in (math.inf, -math.inf, math.nan):
        robot.set_dof_velocities([[1.0]], indices=[0])
        sim._host._qvel[1] = value
        with pytest.raises(SimulationDivergedError, match="env_1/Robot has positions or velocities") as caught:
            sim.step()
        assert caught.value.robots == ("/World/envs/env_1/Robot",)
        assert speeds(robot)[0, 0] == pytest.approx(0.3, abs=1e-6)
        sim.reset()


def test_what_is_infinite_is_left() -> None:
    """To make a limit of it would hide that the simulation has diverged."""
    at = AxisAddress(*(np.arange(3),) * 3)
    positions, velocities = np.zeros((1, 3)), np.array([[math.inf, -2.0, math.nan]])
    limit = velocity_limiter(np.ones((1, 3)), at, 0.5, positions, velocities)
    assert limit is not None
    limit()
    np.testing.assert_array_equal(velocities, [[math.inf, -1.0, math.nan]])
    np.testing.assert_array_equal(positions, [[0.0, 0.5, 0.0]])


def test_what_was_beyond_all_numbers_is_not() -> None:
    with played_robot("/World/Panda", PANDA) as (sim, robot):
        for _ in range(20):
            robot.set_dof_efforts(1e30)
            sim.step()
        np.testing.assert_array_less(np.abs(speeds(robot)), robot.get_dof_max_velocities().numpy() + 1e-6)


def test_limits_outlast_what_is_made_anew() -> None:
    sim, robot = playing(floating_pair().stage, "mujoco", DT)
    robot.set_dof_max_velocities(0.1)
    robot.observe_contact_forces(".*")
    robot.set_dof_efforts(5.0)
    sim.step(50)
    assert speeds(robot)[0, 0] == pytest.approx(0.1, abs=1e-6)


@pytest.mark.parametrize("ratio", [2.0, -2.0, 0.0])
def test_followers_lose_what_their_leaders_lose(ratio) -> None:
    """And lend them their limits, so that the coupling holds."""
    at = AxisAddress(*(np.arange(2),) * 3)
    positions, velocities = np.zeros((1, 2)), np.array([[3.0, 3.0 * ratio]])
    limit = velocity_limiter(np.array([[2.5, 4.0]]), at, 0.5, positions, velocities, [(1, 0, ratio)])
    assert limit is not None
    limit()
    leader = 2.0 if ratio else 2.5
    np.testing.assert_allclose(velocities, [[leader, leader * ratio]])
    np.testing.assert_allclose(positions, [[0.5 * (leader - 3.0), 0.5 * ratio * (leader - 3.0)]])


def test_the_core_does_what_numpy_does(monkeypatch, rng) -> None:
    at = AxisAddress(*(np.array(columns) for columns in ([4, 1, 3, 0], [2, 0, 5, 4], [0, 1, 2, 3])))
    limits = rng.uniform(0.1, 1.0, (50, 4))
    limits[:, 1] = math.inf
    begun = rng.normal(size=(50, 5)), rng.normal(size=(50, 6))
    begun[1][::7, 2], begun[1][::11, 5] = math.nan, -math.inf
    found = []
    for core in (velocity_limits.core, None):
        monkeypatch.setattr(velocity_limits, "core", core)
        positions, velocities = (array.copy() for array in begun)
        limit = velocity_limiter(limits, at, 0.01, positions, velocities, [(3, 0, -1.5), (2, 1, 0.0)])
        assert limit is not None
        limit()
        found.append((positions, velocities))
    np.testing.assert_array_equal(found[0][0], found[1][0])
    np.testing.assert_array_equal(found[0][1], found[1][1])
    assert (found[0][1] != begun[1]).sum() > 50


@pytest.mark.parametrize("slow", ["hinge", "follow"])
def test_a_limit_tears_no_coupling(slow) -> None:
    made = pendulum()
    made.body(f"{ROOT}/other")
    prim = made.joint(f"{ROOT}/follow", "Revolute", f"{ROOT}/base", f"{ROOT}/other")
    prim.AddAppliedSchema("NewtonMimicAPI")
    prim.CreateRelationship("newton:mimicJoint").SetTargets([HINGE])
    made.attribute(f"{ROOT}/{slow}", "newton:velocityLimit", math.degrees(0.5))
    sim, robot = playing(weightless(made), "mujoco", DT)
    robot.set_dof_efforts(5.0, dof_indices=robot.get_dof_indices("hinge"))
    sim.step(400)
    np.testing.assert_allclose(speeds(robot), 0.5, atol=1e-3)
    ahead, behind = robot.get_dof_positions().numpy()[0]
    assert abs(ahead - behind) < 2e-3 < abs(ahead)
