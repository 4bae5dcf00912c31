"""A single quadruped as a plain environment, for programs without vector environments."""

from typing import Any

import gymnasium
import numpy as np

from .quadrupeds import Quadrupeds


class Quadruped(gymnasium.Env[np.ndarray, np.ndarray]):
    """`Quadrupeds` with one robot and the same arguments. Call `reset` when an episode is over."""

    def __init__(self, **options: Any) -> None:
        self._robots = Quadrupeds(1, **options)
        self.motors = self._robots.motors
        self.observation_space = self._robots.single_observation_space
        self.action_space = self._robots.single_action_space

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode."""
        super().reset(seed=seed)
        observations, told = self._robots.reset(seed=seed, options=options)
        return observations[0], told

    def step(self, action: np.ndarray) -> tuple[np.ndarray, float, bool, bool, dict[str, Any]]:
        """Step the robot."""
        observations, rewards, fallen, late, told = self._robots.step(action[None])
        return observations[0], float(rewards[0]), bool(fallen[0]), bool(late[0]), told

    def close(self) -> None:
        """Close its simulation."""
        self._robots.close()
