"""A joint of one inertia in float64, with the stages of one actuator on it."""

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, PDControlConfig, ServoControlConfig


class Plant:
    """Robots of a joint: `v⁺ = v + dt·(effort + load)/inertia`, `q⁺ = q + dt·v⁺`; `told` if stages get these."""

    def __init__(self, stages, inertia: float, dt: float, robots: int = 1, velocity=0.0, told: bool = False) -> None:
        self.arrays = joints_of(stages, robots)
        self.inertia, self.dt, self._told = inertia, dt, told
        self._signals = signals_of(self.arrays)
        # the same arrays in all steps, which need no check then
        self._q, self._v, self._target, self._given = np.zeros((4, robots, 1), np.float32)
        self.q = np.zeros(robots)
        self.v = np.broadcast_to(np.asarray(velocity, np.float64), robots).copy()
        self.farthest = np.zeros(robots)
        self.effort = np.zeros(robots)

    def run(self, steps: int, effort=0.0, load=0.0) -> None:
        """Step under an effort of the motor and a load that acts on the joint [N·m]."""
        load = np.broadcast_to(np.asarray(load, np.float64), len(self.q))
        self._given[:, 0] = effort
        if self._told:
            told = {"inertia": self.inertia, "coupled_inertia": self.inertia, "load": -load, "load_is_whole": 1.0}
            write(self._signals, told)
        for _ in range(steps):
            self._q[:, 0], self._v[:, 0] = self.q, self.v
            found = self.arrays.step(self._q, self._v, self._target, self.dt, feedforward=self._given)
            self.effort = np.array(found, np.float64)[:, 0]
            self.v = self.v + self.dt * (self.effort + load) / self.inertia
            self.q = self.q + self.dt * self.v
            self.farthest = np.maximum(self.farthest, self.q)

    def state(self, name: str) -> np.ndarray:
        return state_of(self.arrays, name)


def joints_of(stages, robots: int) -> ActuatedArrays:
    """Robots of one joint, whose motor gives its feedforward: an effort, or a voltage for a winding that takes one."""
    stages = stages if isinstance(stages, list) else [stages]
    in_volts = any(getattr(stage, "command", "") == "voltage" for stage in stages)
    first = ServoControlConfig(kp=0.0, error_gain=0.0, voltage=1.0) if in_volts else PDControlConfig(0.0, 0.0)
    return ActuatedArrays(["j"], {".*": [first, *stages]}, num_robots=robots)


def signals_of(arrays: ActuatedArrays) -> dict[str, list[np.ndarray]]:
    """Signals that laws ask for, by name, to be written in place: `(robots, 1)` of each part."""
    return {name: [array.numpy() for _, array in parts] for name, parts in arrays._assembly.signals.items()}


def write(signals: dict[str, list[np.ndarray]], values: dict) -> None:
    """Write those of these signals that there are, one number or one per robot; others keep their values."""
    for name, value in values.items():
        for array in signals.get(name, ()):
            array[...] = np.reshape(value, (-1, 1))


def tell(arrays: ActuatedArrays, values: dict) -> None:
    """Write signals that laws ask for; see `write`."""
    write(signals_of(arrays), values)


def state_of(arrays: ActuatedArrays, name: str) -> np.ndarray:
    return next(values for key, values in arrays.save_state().items() if key.endswith(f".{name}")).reshape(-1)


def efforts_of(
    stages, velocities: np.ndarray, efforts: np.ndarray, dt: float, signals: dict[str, np.ndarray]
) -> tuple[np.ndarray, dict[str, np.ndarray]]:
    """Efforts of the first step of many robots with told signals, and the states after it by name."""
    count = len(velocities)
    arrays = joints_of(stages, count)
    tell(arrays, signals)
    zero = np.zeros((count, 1), np.float32)
    given = [np.asarray(one, np.float32)[:, None].copy() for one in (velocities, efforts)]
    found = np.array(arrays.step(zero, given[0], zero, dt, feedforward=given[1]))[:, 0]
    return found, {key.rpartition(".")[2]: values.reshape(-1) for key, values in arrays.save_state().items()}
