"""The default state that an articulation keeps."""

from typing import Any

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ROOT, floating_pair, playing, telescope, weightless
from played import playing_robot
from pxr import Usd, UsdPhysics
from refusals import cases, refused
from small_stages import SmallStage, pendulum

NAMES = [
    *("positions", "orientations", "linear_velocities", "angular_velocities"),
    *("dof_positions", "dof_velocities", "dof_efforts"),
]


def test_everything_comes_back(engine: str) -> None:
    sim, robot = playing(weightless(floating_pair()), engine)
    values = [1.0, 2.0, 3.0], [0.5, 0.5, 0.5, 0.5], [0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7], [0.8], [0.9]
    given = {name: [row] for name, row in zip(NAMES, values, strict=True)}
    robot.set_default_state(**given)
    for name, array in zip(NAMES, robot.get_default_state(), strict=True):
        np.testing.assert_allclose(array.numpy(), given[name], rtol=1e-6)
    sim.step(20)
    robot.reset_to_default_state()
    joints = [getattr(robot, f"get_{name}")() for name in NAMES[4:]]
    read = (*robot.get_world_poses(), *robot.get_velocities(), *joints)
    for name, array in zip(NAMES, read, strict=True):
        np.testing.assert_allclose(array.numpy(), given[name], rtol=1e-5, err_msg=name)


def test_what_was_not_given_stays(engine: str) -> None:
    _, robot = playing(telescope().stage, engine)
    assert robot.get_default_state() == (None,) * 7
    robot.set_default_state(dof_positions=0.25, dof_indices=[1])
    kept = robot.get_default_state()
    assert [array is None for array in kept] == [True, True, True, True, False, True, True]
    np.testing.assert_array_equal(kept[4].numpy(), [[np.nan, 0.25]])
    robot.set_dof_positions([[0.1, 0.2]])
    robot.set_dof_velocities([[0.3, 0.4]])
    robot.reset_to_default_state()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), [[0.1, 0.25]], rtol=1e-6)
    np.testing.assert_allclose(robot.get_dof_velocities().numpy(), [[0.3, 0.4]], rtol=1e-6)


def test_state_kept_before_play_outlasts_play(engine: str) -> None:
    sim = Simulation(telescope().stage, engine=engine)
    robot = sim.articulation(ROOT)
    robot.set_default_state(dof_positions=[[0.1, 0.2]])
    refused(HostError, robot.reset_to_default_state, "physics is not running")
    sim.play()
    robot.reset_to_default_state()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), [[0.1, 0.2]], rtol=1e-6)


def test_wrong_values_keep_nothing(engine: str) -> None:
    _, robot = playing(telescope().stage, engine)
    with pytest.raises(ValueError, match="dof_velocities has shape"):
        robot.set_default_state(dof_positions=0.1, dof_velocities=[[1, 2, 3]])
    assert robot.get_default_state() == (None,) * 7


def test_rows_have_states_of_their_own() -> None:
    _, robots = playing_robot(ROOT, telescope().stage, num_envs=3)
    robots.set_default_state(positions=[[1, 2, 3]], dof_positions=[[0.1, 0.2]], indices=[1])
    robots.set_dof_positions(0.5)
    robots.reset_to_default_state()
    np.testing.assert_allclose(robots.get_dof_positions().numpy(), [[0.5, 0.5], [0.1, 0.2], [0.5, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(robots.get_world_poses()[0].numpy(), [[0, 0, 0], [1, 2, 3], [0, 0, 0]], atol=1e-6)


TURN = np.array([0.5, 0.5, -0.5, 0.5], np.float32)


@pytest.fixture
def pair(engine: str) -> tuple[Simulation, Any]:
    return playing(weightless(floating_pair()), engine)


def values(arrays: tuple[Any, ...]) -> list[np.ndarray]:
    return [array.numpy()[0] for array in arrays]


def hanging() -> Usd.Stage:
    made = SmallStage()
    made.root(ROOT)
    made.body(f"{ROOT}/upper", com=(0, 0, -0.5))
    made.body(f"{ROOT}/lower", (0, 0, -1), com=(0, 0, -0.5))
    made.joint(f"{ROOT}/hinge", "Revolute", None, f"{ROOT}/upper")
    made.joint(f"{ROOT}/elbow", "Revolute", f"{ROOT}/upper", f"{ROOT}/lower", at=(0, 0, -1))
    return made.stage


@cases("call", "get_world_poses", "get_velocities", "get_link_world_poses", "get_link_velocities", "get_link_masses")
def test_they_need_running_physics(engine: str, call: str) -> None:
    with pytest.raises(HostError, match="physics is not running"):
        getattr(Simulation(pendulum().stage, engine=engine).articulation(ROOT), call)()


def test_floating_root_is_where_it_was_put(pair: tuple[Simulation, Any]) -> None:
    _, robot = pair
    robot.set_dof_positions(0.4)
    robot.set_velocities([[1, 2, 3]], [[0.1, 0.2, 0.3]])
    apart = np.subtract(*robot.get_link_world_poses()[0].numpy()[0])
    robot.set_world_poses([[1, 2, 3]], TURN[None] * 2)
    position, turn = values(robot.get_world_poses())
    np.testing.assert_allclose(position, [1, 2, 3], rtol=1e-6)
    np.testing.assert_allclose(turn * np.sign(turn[0]), TURN, rtol=1e-6)
    links = values(robot.get_link_world_poses())
    np.testing.assert_allclose(links[0][0], position)
    assert np.linalg.norm(np.subtract(*links[0])) == pytest.approx(np.linalg.norm(apart), rel=1e-5)
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), 0.4)
    np.testing.assert_allclose(values(robot.get_velocities()), [[1, 2, 3], [0.1, 0.2, 0.3]], rtol=1e-5)


@pytest.mark.parametrize("given", [0, 1])
def test_half_a_pose_leaves_the_other_half(pair: tuple[Simulation, Any], given: int) -> None:
    _, robot = pair
    before = values(robot.get_world_poses())
    arguments = [None, None]
    arguments[given] = [[1.0, 2.0, 3.0]] if given == 0 else TURN[None]
    robot.set_world_poses(*arguments)
    after = values(robot.get_world_poses())
    np.testing.assert_allclose(after[1 - given], before[1 - given], rtol=1e-6)
    assert not np.allclose(after[given], before[given])


def test_velocity_of_the_root_is_of_its_centre_of_mass(pair: tuple[Simulation, Any]) -> None:
    _, robot = pair
    robot.set_velocities([[0, 0, 0]], [[0.5, -0.2, 0.9]])
    np.testing.assert_allclose(values(robot.get_velocities()), [[0, 0, 0], [0.5, -0.2, 0.9]], atol=1e-6)
    linear, angular = values(robot.get_link_velocities())
    np.testing.assert_allclose(angular, [[0.5, -0.2, 0.9]] * 2, atol=1e-6)
    assert np.linalg.norm(linear[1]) > 0.1


def test_velocities_are_those_of_motion(pair: tuple[Simulation, Any]) -> None:
    sim, robot = playing(weightless(floating_pair()), pair[0].engine, 1e-4)
    robot.set_dof_velocities(1.0)
    robot.set_velocities([[1, -2, 0.5]], [[0.5, -0.2, 0.9]])
    linear = values(robot.get_link_velocities())[0]
    before = centres(robot)
    sim.step(1)
    np.testing.assert_allclose((centres(robot) - before) / 1e-4, linear, atol=0.02)


def centres(robot: Any) -> np.ndarray:
    positions, turns = values(robot.get_link_world_poses())
    coms = values(robot.get_link_coms())[0]
    return np.array([place + turned(turn, com) for place, turn, com in zip(positions, turns, coms, strict=True)])


def turned(quaternion: np.ndarray, vector: np.ndarray) -> np.ndarray:
    w, v = float(quaternion[0]), quaternion[1:].astype(float)
    return vector + 2 * np.cross(v, np.cross(v, vector) + w * vector)


@pytest.mark.parametrize("kind", ["linear", "angular"])
def test_one_velocity_leaves_the_other(pair: tuple[Simulation, Any], kind: str) -> None:
    _, robot = pair
    robot.set_velocities([[1, 2, 3]], [[4, 5, 6]])
    getattr(robot, f"set_{kind}_velocities")([[7, 8, 9]])
    expected = {"linear": [1, 2, 3], "angular": [4, 5, 6], kind: [7, 8, 9]}
    for name, velocity in expected.items():
        np.testing.assert_allclose(getattr(robot, f"get_{name}_velocities")().numpy(), [velocity], rtol=1e-5)


def test_fixed_base_is_put_elsewhere_until_a_reset(engine: str) -> None:
    sim, robot = playing(pendulum().stage, engine)
    robot.set_world_poses([[1, 2, 3]], [[np.sqrt(0.5), 0, np.sqrt(0.5), 0]])
    np.testing.assert_allclose(values(robot.get_link_world_poses())[0], [[1, 2, 3]] * 2, atol=1e-5)
    # lying on its side
    assert abs(robot.get_dof_gravity_compensation_forces().numpy()[0, 0]) == pytest.approx(9.81 * 0.5, rel=1e-4)
    sim.step(1)
    expected = 9.81 * 0.5 / 0.26 * sim.dt
    assert abs(robot.get_dof_velocities().numpy()[0, 0]) == pytest.approx(expected, rel=1e-3)
    sim.reset()
    np.testing.assert_allclose(values(robot.get_world_poses())[0], [0, 0, 0], atol=1e-6)


def test_fixed_base_has_no_velocity_to_set(engine: str) -> None:
    _, robot = playing(pendulum().stage, engine)
    refused(HostError, lambda: robot.set_velocities([[1, 0, 0]]), r"</World/Robot>: its base is fixed")
    np.testing.assert_allclose(values(robot.get_velocities()), np.zeros((2, 3)), atol=1e-6)


def test_root_on_a_joint_cannot_be_put() -> None:
    _, robot = playing(hanging(), "mujoco")
    assert robot.get_jacobian_matrices().shape == (1, 2, 6, 2)
    refused(HostError, lambda: robot.set_world_poses([[1, 2, 3]]), "hangs on a joint that moves")


@cases(
    "setter, arguments, message",
    ("set_world_poses", ([[1, 2]],), r"must fit \(1, 3\)"),
    ("set_world_poses", (None, [[0, 0, 0, 0]]), r"orientations\[0\] has length 0"),
    ("set_world_poses", ([[np.nan, 0, 0]],), "must be finite"),
    ("set_velocities", ([[1, 0, 0]], [[1, 0]]), r"angular_velocities has shape"),
    ids=["shape", "no rotation", "nan", "second of two"],
)
def test_wrong_values_change_nothing(pair: tuple[Simulation, Any], setter: str, arguments: tuple, message: str) -> None:
    _, robot = pair
    read = robot.get_world_poses, robot.get_velocities
    before = [values(get()) for get in read]
    refused(ValueError, lambda: getattr(robot, setter)(*arguments), message)
    for get, kept in zip(read, before, strict=True):
        np.testing.assert_array_equal(get()[0].numpy()[0], kept[0])
        np.testing.assert_array_equal(get()[1].numpy()[0], kept[1])


def test_masses_and_inertias_are_those_of_the_stage(engine: str) -> None:
    _, robot = playing(telescope().stage, engine)
    np.testing.assert_allclose(robot.get_link_masses().numpy(), [[1, 2, 3]])
    np.testing.assert_allclose(robot.get_link_coms()[0].numpy()[0], [[0, 0, 0], [0.5, 0, 0], [0, 0, 0]], atol=1e-6)
    inertias = robot.get_link_inertias().numpy()[0].reshape(3, 3, 3)
    np.testing.assert_allclose(inertias[1:], [np.diag([0.2, 0.25, 0.3]), np.diag([0.4, 0.5, 0.6])], atol=1e-6)


@pytest.mark.parametrize("getter", ["get_link_world_poses", "get_link_velocities", "get_link_coms"])
def test_rows_and_links_are_those_asked_for(getter: str) -> None:
    _, robots = playing_robot(ROOT, telescope().stage, num_envs=3)
    robots.set_dof_positions([[0.1, 0.2], [0.3, 0.5], [0.7, 0.9]])
    robots.set_dof_velocities([[1.0, 0.2], [0.3, 1.5], [1.7, 0.9]])
    every = [array.numpy() for array in getattr(robots, getter)()]
    some = [array.numpy() for array in getattr(robots, getter)(indices=[2, 0], link_indices=[2])]
    for one, other in zip(every, some, strict=True):
        assert one.shape[:2] == (3, 3)
        np.testing.assert_array_equal(other, one[np.ix_([2, 0], [2])])
    refused(ValueError, lambda: getattr(robots, getter)(link_indices=[3]), "link index 3: must be in 0 … 2")


def test_copies_are_placed_one_by_one() -> None:
    _, robots = playing_robot(ROOT, floating_pair().stage, num_envs=3)
    robots.set_world_poses([[1, 2, 3]], indices=[1])
    robots.set_velocities([[4, 5, 6]], indices=[2])
    np.testing.assert_allclose(robots.get_world_poses()[0].numpy(), [[0, 0, 5], [1, 2, 3], [0, 0, 5]])
    np.testing.assert_allclose(robots.get_velocities()[0].numpy(), [[0, 0, 0], [0, 0, 0], [4, 5, 6]], atol=1e-6)


@pytest.mark.parametrize("up", ["Z", "Y"])
def test_gravity_is_seen_from_the_root_link(engine: str, up: str) -> None:
    made = SmallStage(up)
    made.root(ROOT)
    made.body(f"{ROOT}/base", (0, 5, 5))
    made.body(f"{ROOT}/arm", (0, 5, 5))
    made.joint(f"{ROOT}/hinge", "Revolute", f"{ROOT}/base", f"{ROOT}/arm")
    _, robot = playing(made.stage, engine)
    down = [0, 0, -1] if up == "Z" else [0, -1, 0]
    np.testing.assert_allclose(robot.get_projected_gravity().numpy(), [down], atol=1e-6)
    # a quarter turn about x: what was y is z now
    robot.set_world_poses(orientations=[[np.sqrt(0.5), np.sqrt(0.5), 0, 0]])
    expected = [0, -1, 0] if up == "Z" else [0, 0, 1]
    np.testing.assert_allclose(robot.get_projected_gravity().numpy(), [expected], atol=1e-6)


def test_without_gravity_its_direction_is_zero(pair: tuple[Simulation, Any]) -> None:
    np.testing.assert_array_equal(pair[1].get_projected_gravity().numpy(), np.zeros((1, 3)))


def test_gravity_of_the_rows_asked_for() -> None:
    stage = floating_pair().stage
    UsdPhysics.Scene(stage.GetPrimAtPath("/World/physicsScene")).CreateGravityDirectionAttr((1.0, 0.0, -1.0))
    _, robots = playing_robot(ROOT, stage, num_envs=3)
    robots.set_world_poses(orientations=[[1, 0, 0, 0], [0, 0, 0, 1], [0, 1, 0, 0]])
    half = np.sqrt(0.5)
    expected = [[half, 0, half], [-half, 0, -half]]
    np.testing.assert_allclose(robots.get_projected_gravity(indices=[2, 1]).numpy(), expected, atol=1e-6)


def test_robots_of_one_stage_are_told_apart(engine: str) -> None:
    made = SmallStage()
    for name, x in (("Free", 0), ("Fixed", 3)):
        made.root(f"/World/{name}")
        made.body(f"/World/{name}/base", (x, 0, 1))
        made.body(f"/World/{name}/arm", (x, 0, 1), com=(0.3, 0, 0))
        if name == "Fixed":
            made.joint(f"/World/{name}/fix", "Fixed", None, f"/World/{name}/base", at=(x, 0, 1))
        made.joint(f"/World/{name}/hinge", "Revolute", f"/World/{name}/base", f"/World/{name}/arm")
    _, robots = playing_robot(["/World/Fixed", "/World/Free"], weightless(made), engine=engine)
    refused(HostError, lambda: robots.set_velocities([[1, 2, 3]]), "</World/Fixed>: its base is fixed")
    robots.set_velocities([[1, 2, 3]], indices=[1])
    robots.set_world_poses([[7, 0, 0], [8, 0, 0]])
    np.testing.assert_allclose(robots.get_world_poses()[0].numpy(), [[7, 0, 0], [8, 0, 0]], atol=1e-6)
    np.testing.assert_allclose(robots.get_velocities()[0].numpy(), [[0, 0, 0], [1, 2, 3]], atol=1e-6)
    places = robots.get_link_world_poses()[0].numpy()
    np.testing.assert_allclose(places, [[[7, 0, 0]] * 2, [[8, 0, 0]] * 2], atol=1e-6)
    np.testing.assert_allclose(robots.get_link_velocities()[0].numpy()[1], [[1, 2, 3]] * 2, atol=1e-6)
    none = robots.get_world_poses(indices=[]) + robots.get_link_velocities(indices=[])
    assert [array.shape for array in none] == [(0, 3), (0, 4), (0, 2, 3), (0, 2, 3)]


def test_a_root_that_hangs_on_a_joint_has_no_arrays(engine: str) -> None:
    sim, robot = playing(hanging() if engine == "mujoco" else floating_pair().stage, engine)
    sim.step()
    assert robot.buffers().root_poses is robot.buffers().root_velocities is robot.buffers().projected_gravity is None
    assert robot.get_world_poses()[0].shape == robot.get_projected_gravity().shape == (1, 3)
