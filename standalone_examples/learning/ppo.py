"""Train walking with PPO of Stable-Baselines3."""

from typing import Any

import numpy as np
import torch
from isaacsim.core.experimental.actuators.tools.environments.stable_baselines import StableBaselinesEnv
from stable_baselines3 import PPO

# docs: begin train
NUMBERS = {
    "n_steps": 64,
    "batch_size": 512,
    "n_epochs": 5,
    "learning_rate": 1e-3,
    "gamma": 0.97,
    "gae_lambda": 0.95,
    "policy_kwargs": {"log_std_init": -1.0, "net_arch": [64, 64]},
}


def learner(robots: StableBaselinesEnv, seed: int, tensorboard: str | None = None) -> PPO:
    """Return PPO with a policy that stands, and scalars for TensorBoard in a folder."""
    # networks this small are slower on several threads
    torch.set_num_threads(1)
    return PPO("MlpPolicy", robots, seed=seed, tensorboard_log=tensorboard, **NUMBERS)


def learn(model: PPO, steps: int) -> np.ndarray:
    """Train, and return environment steps and the mean return of the last episodes at each update, `(updates, 2)`."""
    seen: list[tuple[int, float]] = []

    def keep(found: dict[str, Any], _: dict[str, Any]) -> bool:
        if model.ep_info_buffer and found["n_steps"] == NUMBERS["n_steps"] - 1:
            seen.append((model.num_timesteps, float(np.mean([one["r"] for one in model.ep_info_buffer]))))
        return True

    model.learn(steps, keep)
    return np.array(seen)
    # docs: end train


def returns(model: PPO, robots: StableBaselinesEnv, seed: int) -> np.ndarray:
    """Return the return of an episode of each robot, with the mean actions of the policy."""
    robots.seed(seed)
    observations, total, going = robots.reset(), np.zeros(robots.num_envs), np.full(robots.num_envs, True)
    while going.any():
        observations, rewards, done, _ = robots.step(model.predict(observations, deterministic=True)[0])
        total += rewards * going
        going &= ~done
    return total
