"""Walking quadrupeds as a gymnasium vector environment: one simulation of `num_envs` robots."""

from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from gymnasium.spaces import Box

from ...extension.articulation_actuators import ArticulationActuators
from ...simulators.current import Articulation
from ...simulators.simulation import Simulation
from ...specs.distributions import Uniform
from ...specs.motors import MotorConfig

# in a wheel the robot is beside this file, in a clone and in a package for Kit at its root
_PLACES = (folder / "data" / "robots" / "anymal_c.usda" for folder in Path(__file__).parents)
ROBOT, ANYMAL = next(filter(Path.exists, _PLACES)), "/World/Anymal"
DT, DECIMATION = 1 / 200, 4  # physics step [s], physics steps per policy step
REACH, GAIT = 0.4, 2.0  # of the targets around the stance [rad], cycles of the gait per second
MOTORS = {".*": MotorConfig.from_catalogue("anymal_c", kp=100.0, kd=3.0, delay_steps=1)}
VARY = {"strength": Uniform(0.9, 1.0), "kp": Uniform(90.0, 110.0), "delay_steps": Uniform(0, 1)}


# docs: begin environment
class Quadrupeds(gymnasium.vector.VectorEnv):
    """ANYmal C robots on flat ground, with the forward distance [m] as reward; a fall costs 1 and ends the episode.

    Observations `(num_envs, 35)`: gravity in the frame of the base, its velocities in the world, joint positions from
    the stance, joint velocities, clock of the gait. Actions `(num_envs, 12)`, -1 … 1: targets around the stance. The
    actuators are `motors`, for a `Recorder` for instance; from `gymnasium.make_vec`, `robots.unwrapped.motors`.

    Args:
        num_envs: Number of robots.
        seconds: Length of an episode.
        vary: Parameters of the motors to randomize in each episode, `VARY` for None; `from_identified` has those of
            identified motors.
        motors: By pattern of joints; `MOTORS` for None. With an `EncoderConfig`, observations are measured, and
            `truth` has the true ones.
        autoreset: Step that resets a finished episode. "SameStep" returns the last observation as `final_obs`.
    """

    def __init__(self, num_envs=1, seconds=3.0, vary: Any = None, motors: Any = None, autoreset="NextStep") -> None:
        self.metadata = {"autoreset_mode": gymnasium.vector.AutoresetMode(autoreset)}
        vary, motors = VARY if vary is None else vary, MOTORS if motors is None else motors
        self.num_envs, self.max_steps, self._vary = num_envs, round(seconds / (DT * DECIMATION)), vary
        self.single_observation_space, self.single_action_space = Box(-100.0, 100.0, (35,)), Box(-1.0, 1.0, (12,))
        self.observation_space, self.action_space = Box(-100.0, 100.0, (num_envs, 35)), Box(-1.0, 1.0, (num_envs, 12))
        self._sim = Simulation(ROBOT, DT, num_envs)
        self._robots, self.motors = Articulation(ANYMAL), ArticulationActuators.from_configs(ANYMAL, motors)
        self._sim.play()
        self._state, self._done = self._robots.buffers(), np.zeros(num_envs, bool)
        self._stance, self._steps = self._state.positions[0].copy(), np.zeros(num_envs, int)

    def reset(self, *, seed: int | None = None, options: object = None) -> tuple[np.ndarray, dict[str, Any]]:
        """Begin an episode of all robots, with new motors."""
        super().reset(seed=seed)
        self.motors.randomize(self._vary, seed=int(self.np_random.integers(2**31)))
        self._start(np.full(self.num_envs, True))
        return self._observe(), {"truth": self._observe(true=True)}

    def step(self, actions: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, dict[str, Any]]:
        """Step all robots; those whose episode was over begin the next."""
        state, over = self._state, self._done
        before = state.root_poses[:, 0].copy()
        state.position_targets[:] = self._stance + REACH * np.clip(actions, -1.0, 1.0)
        self._sim.step(DECIMATION)
        self._steps += 1
        fallen = ~over & ((state.projected_gravity[:, 2] > -0.7) | (state.root_poses[:, 2] < 0.35))
        rewards = np.where(over, 0.0, state.root_poses[:, 0] - before - fallen).astype(np.float64)
        late = ~over & ~fallen & (self._steps >= self.max_steps)
        self._done, told = fallen | late, {}
        if self._done.any() and self.metadata["autoreset_mode"].value == "SameStep":
            over = self._done.copy()
            told = {"final_obs": self._observe(), "_final_obs": over}
        if over.any():
            self._start(over)
        return self._observe(), rewards, fallen, late, {**told, "truth": self._observe(true=True)}

    def close_extras(self, **_: object) -> None:
        """Close the simulation."""
        self.motors.close()
        self._sim.close()

    def _start(self, robots: np.ndarray) -> None:
        self._sim.reset(robots)
        self._steps[robots], self._done[robots] = 0, False

    def _observe(self, true: bool = False) -> np.ndarray:
        state, motors, clock = self._state, self.motors, 2 * np.pi * GAIT * DT * DECIMATION * self._steps[:, None]
        q, qd = (state.positions, state.velocities) if true else (motors.measured_positions, motors.measured_velocities)
        parts = state.projected_gravity, state.root_velocities, q - self._stance, 0.1 * qd, np.sin(clock), np.cos(clock)
        return np.hstack(parts, dtype=np.float32).clip(-100.0, 100.0)

    # docs: end environment
