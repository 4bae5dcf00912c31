"""Learn to walk by an evolution strategy: every robot tries a policy of its own, and the better ones show the way."""

from collections.abc import Iterator

import numpy as np

from . import Quadrupeds

# legs left front, left hind, right front, right hind, as their joints stand among the actions
LEFT, TROT = (1, 1, -1, -1), (1, -1, -1, 1)
SCALE = np.repeat([1.0, 0.5, 0.3], 3)  # of gravity, velocity and turning of the base
SHAPE = 2, 3, 11  # weights of front and hind legs: three joints, by base and clock


# docs: begin policy
def act(weights: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Return the actions of linear policies, one per robot; legs share weights with the mirrored leg beside them."""
    actions = np.empty((len(observations), 12))
    for leg, (side, trot) in enumerate(zip(LEFT, TROT, strict=True)):
        mirrored = SCALE * [1, side, 1, 1, side, 1, side, 1, side]
        felt = np.hstack([observations[:, :9] * mirrored, observations[:, -2:] * trot])
        actions[:, leg::4] = np.einsum("rij,rj->ri", weights[:, leg % 2], felt) * (side, 1, 1)
    return actions
    # docs: end policy


# docs: begin learn
def returns(robots: Quadrupeds, weights: np.ndarray, seed: int) -> np.ndarray:
    """Return what each robot's policy is rewarded with in one episode."""
    observations, _ = robots.reset(seed=seed)
    total, going = np.zeros(robots.num_envs), np.full(robots.num_envs, True)
    for _ in range(robots.max_steps):
        observations, rewards, fallen, late, _ = robots.step(act(weights, observations))
        total += rewards * going
        going &= ~(fallen | late)
    return total


def learn(robots: Quadrupeds, rounds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the policy, and the returns of those around it that were tried, after each round.

    A random change of the weights and its opposite are a pair; a step goes along the changes, each as far as it was
    better than its opposite (Mania, Guy, Recht 2018, arXiv:1803.07055).
    """
    rng, policy = np.random.default_rng(seed), np.zeros(SHAPE)
    for number in range(rounds):
        changes = rng.standard_normal((robots.num_envs // 2, *SHAPE))
        found = returns(robots, policy + 0.15 * np.concatenate([changes, -changes]), seed + number)
        better = found[: len(changes)] - found[len(changes) :]
        policy = policy + 0.3 * np.tensordot(better, changes, 1) / (len(changes) * found.std())
        yield policy, found
    # docs: end learn
