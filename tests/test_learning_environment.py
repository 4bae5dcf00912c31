"""The environment that the learning example brings: gymnasium's checker, and gymnasium's own vector of single ones."""

import sys
from collections.abc import Iterator
from functools import partial

import numpy as np
import pytest
from places import REPOSITORY

pytest.importorskip("gymnasium", reason="gymnasium is not installed")
# what examples share lies beside them
sys.path.append(str(REPOSITORY / "standalone_examples"))

import gymnasium
from gymnasium.utils.env_checker import check_env
from isaacsim.core.experimental.actuators import MotorConfig, save_motors
from isaacsim.core.experimental.actuators.tools.identification import from_identified
from learning import ANYMAL, Quadrupeds
from learning.one import Quadruped
from learning.search import SHAPE, act


@pytest.fixture
def robots() -> Iterator[Quadrupeds]:
    """Three of them, whose episodes last ten steps."""
    made = Quadrupeds(3, 0.2)
    yield made
    made.close()


def test_gymnasium_checks_it() -> None:
    """What gymnasium asks of an environment; its warnings are failures here."""
    robot = Quadruped(seconds=0.2)
    check_env(robot, skip_render_check=True)
    robot.close()
    robot.close()


def test_it_is_what_gymnasium_makes_of_single_ones() -> None:
    """Observations, rewards and ends, through episodes that end at different times; without random motors."""
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


def test_gymnasium_makes_it_by_name() -> None:
    """One robot and several, with the options of the class; the checker accepts what `make` returns."""
    one = gymnasium.make("learning:Quadruped-v0", seconds=0.2)
    assert isinstance(one.unwrapped, Quadruped)
    check_env(one.unwrapped, skip_render_check=True)
    one.close()
    several = gymnasium.make_vec("learning:Quadruped-v0", num_envs=2, seconds=0.1, autoreset="SameStep")
    assert isinstance(several, Quadrupeds)
    assert (several.num_envs, several.max_steps) == (2, 5)
    assert several.metadata["autoreset_mode"] is gymnasium.vector.AutoresetMode.SAME_STEP
    several.close()


def test_resets_in_the_same_step_are_those_of_single_robots() -> None:
    """Observations before and after the reset, as gymnasium's own vector in that mode has them."""
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


def test_who_falls_starts_over(robots) -> None:
    """The episode of that robot ends with a reward of -1, the step after begins the next; the others go on."""
    observations, _ = robots.reset(seed=1)
    poses = robots._robots.get_world_poses()[0].numpy()
    robots._robots.set_world_poses(poses[1:2] + [0, 0, 1], [[0.0, 1.0, 0.0, 0.0]], indices=[1])
    _, rewards, fallen, late, _ = robots.step(np.zeros((3, 12)))
    assert fallen.tolist() == [False, True, False] and not late.any()
    np.testing.assert_allclose(rewards, [0, -1, 0], atol=0.01)
    again, rewards, fallen, late, _ = robots.step(np.ones((3, 12)))
    assert not (fallen | late).any() and rewards[1] == 0 and rewards[0] != 0
    np.testing.assert_array_equal(again[1], observations[1])
    assert (again[0] != observations[0]).any()


def test_seeds_decide_about_motors(robots) -> None:
    """The same seed the same motors, others otherwise, and new ones in each episode."""

    def gains() -> list[float]:
        return robots._motors.actuators[0].controller.kp.numpy().tolist()

    seen = []
    for seed in (1, 1, 2, None):
        robots.reset(seed=seed)
        seen.append(gains())
    for _ in range(11):
        robots.step(np.zeros((3, 12)))
    seen.append(gains())
    assert seen[0] == seen[1]
    assert len({gain for one in seen[1:] for gain in one}) == 4 * 3 * 12


def test_steps_write_where_the_simulator_reads(robots) -> None:
    """Targets go into its own arrays, nothing is copied."""
    robots.reset(seed=1)
    robots.step(np.ones((3, 12)))
    targets = robots._sim.articulation(ANYMAL).get_dof_position_targets().numpy()
    np.testing.assert_allclose(targets, np.tile(robots._stance + 0.4, (3, 1)), atol=1e-6)


def test_policy_is_the_same_for_left_and_right() -> None:
    """A robot in the mirror acts in the mirror."""
    rng = np.random.default_rng(0)
    weights, seen = rng.standard_normal((1, *SHAPE)), rng.standard_normal((1, 35))
    mirrored = seen.copy()
    # y of vectors; turning about x and z; the clock half a cycle later
    mirrored[:, [1, 4, 6, 8, 33, 34]] *= -1
    legs = act(weights, seen).reshape(3, 4)
    np.testing.assert_allclose(act(weights, mirrored).reshape(3, 4)[:, [2, 3, 0, 1]] * [[-1], [1], [1]], legs)


class TestStableBaselines:
    """The adapter for the algorithms of Stable-Baselines3."""

    @pytest.fixture
    def adapter(self) -> Iterator:
        """Three robots whose episodes last ten steps."""
        pytest.importorskip("stable_baselines3", reason="Stable-Baselines3 is not installed")
        from learning.stable_baselines import StableBaselinesEnv

        made = StableBaselinesEnv(Quadrupeds(3, 0.2, autoreset="SameStep"))
        yield made
        made.close()

    def test_its_checker_accepts_the_environment(self) -> None:
        """The checker of Stable-Baselines3, whose warnings are failures here."""
        checker = pytest.importorskip("stable_baselines3.common.env_checker", reason="it is not installed")
        robot = Quadruped(seconds=0.2)
        checker.check_env(robot)
        robot.close()

    def test_steps_are_those_of_the_environment(self, adapter) -> None:
        """Observations and rewards; at the end of an episode what the algorithms ask for."""
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
            assert info["episode"]["l"] == 10
            assert info["episode"]["r"] == pytest.approx(total[robot])
        assert all(info == {} for info in adapter.step(actions)[3])
        same.close()

    def test_a_fall_is_no_truncation(self, adapter) -> None:
        """The robot that falls has the return of its fall."""
        adapter.reset()
        robots = adapter.envs._robots
        poses = robots.get_world_poses()[0].numpy()
        robots.set_world_poses(poses[1:2] + [0, 0, 1], [[0.0, 1.0, 0.0, 0.0]], indices=[1])
        _, rewards, done, infos = adapter.step(np.zeros((3, 12), np.float32))
        assert done.tolist() == [False, True, False]
        assert not infos[1]["TimeLimit.truncated"]
        assert infos[1]["episode"]["r"] == pytest.approx(rewards[1]) and rewards[1] < -0.9

    def test_refuses_resets_in_the_following_step(self, adapter, robots) -> None:
        """Stable-Baselines3 would take the first observation of an episode for the last one of another."""
        with pytest.raises(
            ValueError, match=r"autoreset_mode.* must be SAME_STEP\. Make the environment with autoreset="
        ):
            type(adapter)(robots)

    def test_robots_share_attributes(self, adapter) -> None:
        """What is set for one of them would be set for all."""
        assert adapter.get_attr("max_steps", [0, 2]) == [10, 10]
        assert adapter.env_is_wrapped(gymnasium.Wrapper) == [False] * 3
        with pytest.raises(NotImplementedError, match="robots share attributes"):
            adapter.set_attr("max_steps", 3)
        with pytest.raises(NotImplementedError, match="robots share methods"):
            adapter.env_method("reset")

    def test_ppo_learns_on_it(self, adapter) -> None:
        """Two updates change the policy; the logger has the scalars of TensorBoard."""
        from learning.ppo import NUMBERS, PPO, returns

        model = PPO("MlpPolicy", adapter, seed=1, **{**NUMBERS, "n_steps": 16, "batch_size": 48})
        before = returns(model, adapter, 1)
        model.learn(96)
        assert model.ep_info_buffer and model.ep_info_buffer[0]["l"] == 10
        assert (returns(model, adapter, 1) != before).any()


def test_motors_are_drawn_from_those_identified(tmp_path) -> None:
    """Of a file with intervals."""
    save_motors(tmp_path / "motors.yaml", {".*": MotorConfig(intervals={"kp": (110.0, 120.0)})})
    robots = Quadrupeds(2, 0.2, vary=from_identified(tmp_path / "motors.yaml"))
    robots.reset(seed=1)
    gains = robots._motors.actuators[0].controller.kp.numpy()
    assert 110.0 <= gains.min() < gains.max() <= 120.0
    robots.close()
