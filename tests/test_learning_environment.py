"""The environment that the learning example brings: gymnasium's checker, and gymnasium's own vector of single ones."""

from __future__ import annotations

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


def test_who_falls_starts_over(robots: Quadrupeds) -> None:
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


def test_seeds_decide_about_motors(robots: Quadrupeds) -> None:
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


def test_steps_write_where_the_simulator_reads(robots: Quadrupeds) -> None:
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
    others = act(weights, mirrored).reshape(3, 4)
    np.testing.assert_allclose(others[:, [2, 3, 0, 1]] * [[-1], [1], [1]], legs)
