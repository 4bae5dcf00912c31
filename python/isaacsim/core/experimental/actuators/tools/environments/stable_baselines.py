"""A gymnasium vector environment as the `VecEnv` of Stable-Baselines3."""

import numpy as np
from gymnasium.vector import AutoresetMode, VectorEnv
from stable_baselines3.common.vec_env import VecEnv  # pyright: ignore[reportMissingImports]


# docs: begin adapter
class StableBaselinesEnv(VecEnv):
    """A vector environment for the algorithms of Stable-Baselines3; nothing is copied from robot to robot.

    The infos of a finished episode have `terminal_observation`, `TimeLimit.truncated`, and `episode` with return `r`,
    length `l` in steps, whose means the algorithms log, also to TensorBoard. Environments that do not reset in the
    same step, as Stable-Baselines3 expects, are a ValueError.
    """

    def __init__(self, envs: VectorEnv) -> None:
        mode = envs.metadata.get("autoreset_mode")
        if mode is not AutoresetMode.SAME_STEP:
            what = "must be SAME_STEP. Make the environment with autoreset='SameStep'."
            raise ValueError(f"metadata['autoreset_mode'] of envs = {mode}: {what}")
        self.envs = envs
        super().__init__(envs.num_envs, envs.single_observation_space, envs.single_action_space)
        self._returns, self._lengths = np.zeros(envs.num_envs), np.zeros(envs.num_envs, int)

    def reset(self) -> np.ndarray:
        """Begin an episode of all robots."""
        observations, _ = self.envs.reset(seed=self._seeds[0])
        self._reset_seeds()
        self._returns[:], self._lengths[:] = 0.0, 0
        return observations

    def step_async(self, actions: np.ndarray) -> None:
        """Take the actions of the next step."""
        self._actions = actions

    def step_wait(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, list[dict[str, object]]]:
        """Step all robots; those whose episode is over begin the next."""
        observations, rewards, terminated, truncated, told = self.envs.step(self._actions)
        self._returns += rewards
        self._lengths += 1
        done, infos = terminated | truncated, [{} for _ in range(self.num_envs)]
        for robot in np.flatnonzero(done):
            infos[robot] = {
                "terminal_observation": told["final_obs"][robot],
                "TimeLimit.truncated": bool(truncated[robot] and not terminated[robot]),
                "episode": {"r": float(self._returns[robot]), "l": int(self._lengths[robot])},
            }
        self._returns[done], self._lengths[done] = 0.0, 0
        return observations, rewards.astype(np.float32), done, infos

    def close(self) -> None:
        """Close the environment."""
        self.envs.close()

    def get_attr(self, attr_name: str, indices: object = None) -> list[object]:
        """Return an attribute of the environment, once per index."""
        return [getattr(self.envs, attr_name)] * len(self._get_indices(indices))

    def set_attr(self, attr_name: str, value: object, indices: object = None) -> None:
        """Raise: robots share attributes."""
        raise NotImplementedError(f"set_attr({attr_name!r}): robots share attributes. Set it on `envs`.")

    def env_method(self, method_name: str, *args: object, indices: object = None, **options: object) -> list[object]:
        """Raise: robots share methods."""
        raise NotImplementedError(f"env_method({method_name!r}): robots share methods. Call it on `envs`.")

    def env_is_wrapped(self, wrapper_class: object, indices: object = None) -> list[bool]:
        """Return False for each index: single robots are not wrapped."""
        return [False] * len(self._get_indices(indices))
        # docs: end adapter
