"""The default state that an articulation keeps."""

import numpy as np
import pytest
from isaacsim.core.experimental.actuators import Simulation
from isaacsim.core.experimental.actuators.base.errors import HostError
from physics_engines import ROOT, floating_pair, playing, telescope, weightless

NAMES = [
    *("positions", "orientations", "linear_velocities", "angular_velocities"),
    *("dof_positions", "dof_velocities", "dof_efforts"),
]


def test_everything_comes_back(engine) -> None:
    """Root and joints, after motion."""
    sim, robot = playing(weightless(floating_pair()), engine)
    given = {
        "positions": [[1.0, 2.0, 3.0]],
        "orientations": [[0.5, 0.5, 0.5, 0.5]],
        "linear_velocities": [[0.1, 0.2, 0.3]],
        "angular_velocities": [[0.4, 0.5, 0.6]],
        "dof_positions": [[0.7]],
        "dof_velocities": [[0.8]],
        "dof_efforts": [[0.9]],
    }
    robot.set_default_state(**given)
    kept = robot.get_default_state()
    for name, array in zip(NAMES, kept, strict=True):
        np.testing.assert_allclose(array.numpy(), given[name], rtol=1e-6)
    sim.step(20)
    robot.reset_to_default_state()
    read = (
        *robot.get_world_poses(),
        *robot.get_velocities(),
        robot.get_dof_positions(),
        robot.get_dof_velocities(),
        robot.get_dof_efforts(),
    )
    for name, array in zip(NAMES, read, strict=True):
        np.testing.assert_allclose(array.numpy(), given[name], rtol=1e-5, err_msg=name)


def test_what_was_not_given_stays(engine) -> None:
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


def test_state_kept_before_play_outlasts_play(engine) -> None:
    """It is the user's, not the simulation's; going to it needs running physics."""
    sim = Simulation(telescope().stage, engine=engine)
    robot = sim.articulation(ROOT)
    robot.set_default_state(dof_positions=[[0.1, 0.2]])
    with pytest.raises(HostError, match="physics is not running"):
        robot.reset_to_default_state()
    sim.play()
    robot.reset_to_default_state()
    np.testing.assert_allclose(robot.get_dof_positions().numpy(), [[0.1, 0.2]], rtol=1e-6)


def test_wrong_values_keep_nothing(engine) -> None:
    """Neither does the right one beside it."""
    _, robot = playing(telescope().stage, engine)
    with pytest.raises(ValueError, match="dof_velocities has shape"):
        robot.set_default_state(dof_positions=0.1, dof_velocities=[[1, 2, 3]])
    assert robot.get_default_state() == (None,) * 7


def test_rows_have_states_of_their_own() -> None:
    """Those of other environments stay where they are."""
    sim = Simulation(telescope().stage, num_envs=3)
    sim.play()
    robots = sim.articulation(ROOT)
    robots.set_default_state(positions=[[1, 2, 3]], dof_positions=[[0.1, 0.2]], indices=[1])
    robots.set_dof_positions(0.5)
    robots.reset_to_default_state()
    np.testing.assert_allclose(robots.get_dof_positions().numpy(), [[0.5, 0.5], [0.1, 0.2], [0.5, 0.5]], rtol=1e-6)
    np.testing.assert_allclose(robots.get_world_poses()[0].numpy(), [[0, 0, 0], [1, 2, 3], [0, 0, 0]], atol=1e-6)
