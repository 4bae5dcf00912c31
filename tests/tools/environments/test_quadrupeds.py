"""The environment of many robots: episodes, motors, and where targets go."""

import sys
from collections.abc import Iterator

import numpy as np
import pytest
from places import REPOSITORY

pytest.importorskip("gymnasium", reason="gymnasium is not installed")
# what examples share lies beside them
sys.path.append(str(REPOSITORY / "standalone_examples"))

from isaacsim.core.experimental.actuators import MotorConfig, save_motors
from isaacsim.core.experimental.actuators.tools.environments.quadrupeds import ANYMAL, Quadrupeds
from isaacsim.core.experimental.actuators.tools.identification import from_identified
from learning.search import SHAPE, act


@pytest.fixture
def robots() -> Iterator[Quadrupeds]:
    made = Quadrupeds(3, 0.2)
    yield made
    made.close()


def test_who_falls_starts_over(robots) -> None:
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
        return robots.motors.actuators[0].controller.kp.numpy().tolist()

    seen = []
    for seed in (1, 1, 2, None):
        robots.reset(seed=seed)
        seen.append(gains())
    for _ in range(11):
        robots.step(np.zeros((3, 12)))
    seen.append(gains())
    assert seen[0] == seen[1] and len({gain for one in seen[1:] for gain in one}) == 4 * 3 * 12


def test_steps_write_where_the_simulator_reads(robots) -> None:
    robots.reset(seed=1)
    robots.step(np.ones((3, 12)))
    targets = robots._sim.articulation(ANYMAL).get_dof_position_targets().numpy()
    np.testing.assert_allclose(targets, np.tile(robots._stance + 0.4, (3, 1)), atol=1e-6)


def test_motors_are_drawn_from_those_identified(tmp_path) -> None:
    save_motors(tmp_path / "motors.yaml", {".*": MotorConfig(intervals={"kp": (110.0, 120.0)})})
    robots = Quadrupeds(2, 0.2, vary=from_identified(tmp_path / "motors.yaml"))
    robots.reset(seed=1)
    gains = robots.motors.actuators[0].controller.kp.numpy()
    assert 110.0 <= gains.min() < gains.max() <= 120.0
    robots.close()


def test_policy_is_the_same_for_left_and_right() -> None:
    rng = np.random.default_rng(0)
    weights, seen = rng.standard_normal((1, *SHAPE)), rng.standard_normal((1, 35))
    mirrored = seen.copy()
    # y of vectors; turning about x and z; the clock half a cycle later
    mirrored[:, [1, 4, 6, 8, 33, 34]] *= -1
    legs = act(weights, seen).reshape(3, 4)
    np.testing.assert_allclose(act(weights, mirrored).reshape(3, 4)[:, [2, 3, 0, 1]] * [[-1], [1], [1]], legs)
