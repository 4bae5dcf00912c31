"""The adapter for the algorithms of Stable-Baselines3."""

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from places import REPOSITORY
from refusals import refused

pytest.importorskip("gymnasium", reason="gymnasium is not installed")
pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
# what examples share lies beside them
sys.path.append(str(REPOSITORY / "standalone_examples"))

import gymnasium
from isaacsim.core.experimental.actuators.tools.environments import Quadruped, Quadrupeds
from isaacsim.core.experimental.actuators.tools.environments.stable_baselines import StableBaselinesEnv
from learning.ppo import NUMBERS, PPO, returns
from stable_baselines3.common.env_checker import check_env


@pytest.fixture
def adapter() -> Iterator:
    made = StableBaselinesEnv(Quadrupeds(3, 0.2, autoreset="SameStep"))
    yield made
    made.close()


def test_its_checker_accepts_the_environment() -> None:
    """The checker of Stable-Baselines3, whose warnings are failures here."""
    robot = Quadruped(seconds=0.2)
    check_env(robot)
    robot.close()


def test_steps_are_those_of_the_environment(adapter) -> None:
    same = Quadrupeds(3, 0.2, autoreset="SameStep")
    adapter.seed(5)
    np.testing.assert_array_equal(adapter.reset(), same.reset(seed=5)[0])
    total = np.zeros(3)
    for number in range(10):
        actions = np.full((3, 12), 0.02 * number, np.float32)
        observations, rewards, done, infos = adapter.step(actions)
        expected = same.step(actions)
        np.testing.assert_array_equal(observations, expected[0])
        np.testing.assert_allclose(rewards, expected[1], rtol=1e-6)
        assert rewards.dtype == np.float32 and observations.shape == (3, 35)
        total += expected[1]
        assert done.all() == (number == 9)
    for robot, info in enumerate(infos):
        assert info["TimeLimit.truncated"]
        np.testing.assert_array_equal(info["terminal_observation"], expected[4]["final_obs"][robot])
        assert info["episode"]["l"] == 10 and info["episode"]["r"] == pytest.approx(total[robot])
    assert all(info == {} for info in adapter.step(actions)[3])
    same.close()


def test_a_fall_is_no_truncation(adapter) -> None:
    adapter.reset()
    robots = adapter.envs._robots
    robots.set_world_poses(robots.get_world_poses()[0].numpy()[1:2] + [0, 0, 1], [[0.0, 1.0, 0.0, 0.0]], indices=[1])
    _, rewards, done, infos = adapter.step(np.zeros((3, 12), np.float32))
    assert done.tolist() == [False, True, False] and not infos[1]["TimeLimit.truncated"]
    assert infos[1]["episode"]["r"] == pytest.approx(rewards[1]) and rewards[1] < -0.9


def test_refuses_resets_in_the_following_step(adapter) -> None:
    """Stable-Baselines3 would take the first observation of an episode for the last one of another."""
    robots = Quadrupeds(3, 0.2)
    with pytest.raises(ValueError, match=r"autoreset_mode.* must be SAME_STEP\. Make the environment with autoreset="):
        type(adapter)(robots)
    robots.close()


def test_robots_share_attributes(adapter) -> None:
    """What is set for one of them would be set for all."""
    assert adapter.get_attr("max_steps", [0, 2]) == [10, 10]
    assert adapter.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
    refused(NotImplementedError, lambda: adapter.set_attr("max_steps", 3), "robots share attributes")
    refused(NotImplementedError, lambda: adapter.env_method("reset"), "robots share methods")


def test_ppo_learns_on_it(adapter) -> None:
    model = PPO("MlpPolicy", adapter, seed=1, **{**NUMBERS, "n_steps": 16, "batch_size": 48})
    before = returns(model, adapter, 1)
    model.learn(96)
    assert model.ep_info_buffer and model.ep_info_buffer[0]["l"] == 10
    assert (returns(model, adapter, 1) != before).any()
