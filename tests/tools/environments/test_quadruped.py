"""A single robot: gymnasium's checker, and gymnasium's own vector of single ones beside ours."""

from functools import partial

import numpy as np
import pytest

pytest.importorskip("gymnasium", reason="gymnasium is not installed")

import gymnasium
from gymnasium.utils.env_checker import check_env
from isaacsim.core.experimental.actuators.tools.environments import Quadruped, Quadrupeds


def test_gymnasium_makes_it_by_name() -> None:
    one = gymnasium.make("actuators/Quadruped-v0", seconds=0.2)
    assert isinstance(one.unwrapped, Quadruped)
    check_env(one.unwrapped, skip_render_check=True)
    one.close()
    several = gymnasium.make_vec("actuators/Quadruped-v0", num_envs=2, seconds=0.1, autoreset="SameStep")
    assert isinstance(several, Quadrupeds) and (several.num_envs, several.max_steps) == (2, 5)
    assert several.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    several.close()


def test_gymnasium_checks_it() -> None:
    robot = Quadruped(seconds=0.2)
    check_env(robot, skip_render_check=True)
    robot.close()
    robot.close()


def test_it_is_what_gymnasium_makes_of_single_ones() -> None:
    ours = Quadrupeds(3, 0.3, vary={})
    theirs = gymnasium.vector.SyncVectorEnv([partial(Quadruped, seconds=0.3, vary={})] * 3)
    for name in ("single_observation_space", "single_action_space", "observation_space", "action_space"):
        assert getattr(ours, name) == getattr(theirs, name)
    assert ours.metadata["autoreset_mode"] == theirs.metadata["autoreset_mode"]
    rng, ends = np.random.default_rng(1), np.zeros((2, 3), int)
    np.testing.assert_array_equal(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
    for _ in range(40):
        # the first stands, the others kick
        actions = (np.array([[0.0], [1.0], [1.0]]) * rng.choice([-1.0, 1.0], (3, 12))).astype(np.float32)
        mine, other = ours.step(actions), theirs.step(actions)
        for got, expected in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-6)
            assert got.dtype == expected.dtype and got.shape == expected.shape
        assert mine[0] in ours.observation_space
        ends += np.array(mine[2:4], int)
    assert ends[1].min() > 1
    ours.close()
    theirs.close()


def test_resets_in_the_same_step_are_those_of_single_robots() -> None:
    mode = gymnasium.vector.AutoresetMode.SAME_STEP
    ours = Quadrupeds(3, 0.3, vary={}, autoreset=mode)
    theirs = gymnasium.vector.SyncVectorEnv([partial(Quadruped, seconds=0.3, vary={})] * 3, autoreset_mode=mode)
    rng, ends = np.random.default_rng(1), 0
    np.testing.assert_array_equal(ours.reset(seed=1)[0], theirs.reset(seed=1)[0])
    for _ in range(40):
        actions = (np.array([[0.0], [1.0], [1.0]]) * rng.choice([-1.0, 1.0], (3, 12))).astype(np.float32)
        mine, other = ours.step(actions), theirs.step(actions)
        for got, expected in zip(mine[:4], other[:4], strict=True):
            np.testing.assert_allclose(got, expected, atol=1e-6)
        done = mine[2] | mine[3]
        for robot in np.flatnonzero(done):
            np.testing.assert_allclose(mine[4]["final_obs"][robot], other[4]["final_obs"][robot], atol=1e-6)
            assert (mine[4]["final_obs"][robot] != mine[0][robot]).any()
        assert ("final_obs" in mine[4]) == done.any()
        ends += done.sum()
    assert ends > 4
    ours.close()
    theirs.close()
