"""Train walking with an evolution strategy: each robot tries its own policy, and the returns weight the next step."""

from collections.abc import Iterator

import numpy as np
from isaacsim.core.experimental.actuators.tools.environments import Quadrupeds

# legs left front, left hind, right front, right hind, in the order of the actions
LEFT, TROT = (1, 1, -1, -1), (1, -1, -1, 1)
SCALE = np.repeat([1.0, 0.5, 0.3], 3)  # gravity, velocity and angular velocity of the base
SHAPE = 2, 3, 11  # weights of front and hind legs: three joints, by base and clock


# docs: begin policy
def act(weights: np.ndarray, observations: np.ndarray) -> np.ndarray:
    """Return the actions of linear policies, one per robot; legs share weights with the mirrored leg next to them."""
    actions = np.empty((len(observations), 12))
    for leg, (side, trot) in enumerate(zip(LEFT, TROT, strict=True)):
        mirrored = SCALE * [1, side, 1, 1, side, 1, side, 1, side]
        felt = np.hstack([observations[:, :9] * mirrored, observations[:, -2:] * trot])
        actions[:, leg::4] = np.einsum("rij,rj->ri", weights[:, leg % 2], felt) * (side, 1, 1)
    return actions
    # docs: end policy


# docs: begin learn
def returns(robots: Quadrupeds, weights: np.ndarray, seed: int) -> np.ndarray:
    """Return the return of each robot's policy in one episode."""
    observations, _ = robots.reset(seed=seed)
    total, going = np.zeros(robots.num_envs), np.full(robots.num_envs, True)
    for _ in range(robots.max_steps):
        observations, rewards, fallen, late, _ = robots.step(act(weights, observations))
        total += rewards * going
        going &= ~(fallen | late)
    return total


def learn(robots: Quadrupeds, rounds: int, seed: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Yield the policy and the returns of its perturbations after each round.

    Each random change of the weights is tried with both signs. A step is the sum of the changes, each weighted by how
    much better it was than its opposite (Mania, Guy, Recht 2018, arXiv:1803.07055).
    """
    rng, policy = np.random.default_rng(seed), np.zeros(SHAPE)
    for number in range(rounds):
        changes = rng.standard_normal((robots.num_envs // 2, *SHAPE))
        found = returns(robots, policy + 0.15 * np.concatenate([changes, -changes]), seed + number)
        better = found[: len(changes)] - found[len(changes) :]
        policy = policy + 0.3 * np.tensordot(better, changes, 1) / (len(changes) * found.std())
        yield policy, found
    # docs: end learn
