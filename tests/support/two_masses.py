"""Joints in float64 whose motor drives them over an elastic transmission, many cases side by side."""

import dataclasses
import itertools
from collections.abc import Sequence

import numpy as np
from isaacsim.core.experimental.actuators import ActuatedArrays, ElasticTransmissionConfig
from one_inertia import joints_of, signals_of, write

KEY = ".*.transmission."


class TwoMasses:
    """Robots of one joint each: `v⁺ = v + dt·(effort + load)/inertia`, `q⁺ = q + dt·v⁺`, behind a transmission.

    Arrays are `(robots,)`: inertia of joints [kg·m²], inf for one that is held, first velocities [rad/s] and deflection
    [rad] of the rotors at the joint. With `told`, the law gets inertia and load as signals.
    """

    def __init__(
        self,
        config: ElasticTransmissionConfig,
        inertia: np.ndarray,
        dt: float,
        *,
        told: bool = False,
        rotor_velocity=0.0,
        velocity=0.0,
        deflection=0.0,
    ) -> None:
        count = len(inertia)
        self.config, self.inertia, self.dt, self.told = config, inertia, dt, told
        self.held = np.isinf(inertia)
        self.arrays: ActuatedArrays = joints_of(config, count)
        self.q, self.effort, self.load = np.zeros((3, count))
        self.v = np.where(self.held, 0.0, velocity)
        saved = dict(self.arrays.save_state())
        for name, value in (("rotor_position", deflection), ("rotor_velocity", rotor_velocity)):
            saved[KEY + name] = np.broadcast_to(np.asarray(value, np.float32), count).copy()
        self.arrays.restore_state(saved)
        self._signals = signals_of(self.arrays)
        # the same arrays in all steps, which need no check then
        self._q, self._v, self._target, self._given = np.zeros((4, count, 1), np.float32)

    def step(self, effort=0.0, load=0.0) -> None:
        """Step once under efforts of the motors at the joints, and loads on the joints [N·m]."""
        if self.told:
            # what holds a joint is known from the step before
            whole = np.where(self.held, -self.effort, load)
            write(self._signals, {"inertia": self.config.assumed_inertia, "load": -whole, "load_is_whole": 1.0})
        self._q[:, 0], self._v[:, 0], self._given[:, 0] = self.q, self.v, effort
        found = self.arrays.step(self._q, self._v, self._target, self.dt, feedforward=self._given)
        self.effort = np.array(found, float)[:, 0]
        self.v = self.v + self.dt * np.where(self.held, 0.0, self.effort + load) / self.inertia
        self.q = self.q + self.dt * self.v

    @property
    def rotors(self) -> tuple[np.ndarray, np.ndarray]:
        """Positions [rad] and velocities [rad/s] of the rotors at the joint."""
        saved = self.arrays.save_state()
        return tuple(saved[KEY + name].reshape(-1).astype(float) for name in ("rotor_position", "rotor_velocity"))

    @property
    def stiffness(self) -> np.ndarray:
        """Stiffness of the springs as the law takes it [N·m/rad]."""
        return np.minimum(self.config.stiffness, self.config.assumed_inertia / (2 * self.dt) ** 2)

    @property
    def rotor(self) -> np.ndarray:
        """Inertias of the rotors at the joint [kg·m²]."""
        return self.config.ratio**2 * self.config.rotor_inertia

    def energy(self, back: float = 0.0) -> np.ndarray:
        """Energy of rotor, spring and joint [J] with the deflection a share `back` of a step ago.

        The velocity after a step is that of its middle, half a step before its positions.
        """
        theta, omega = self.rotors
        deflection, gap = theta - self.q - back * self.dt * (omega - self.v), self.config.backlash / 2
        stretched = deflection - np.clip(deflection, -gap, gap)
        joint = np.where(self.held, 0.0, self.inertia) * self.v**2
        return 0.5 * (self.rotor * omega**2 + joint + self.stiffness * stretched**2)

    @property
    def keeps_energy(self) -> np.ndarray:
        """Mask of the cases without damping, of the law's own too, and without backlash."""
        is_free = (self.config.damping == 0) & (self.config.backlash == 0)
        return is_free & (self._squared(self.config.assumed_inertia) < 1 / 16 + 1e-9)

    @property
    def most_energy(self) -> np.ndarray:
        """Bound of the energy in the middle of a step, as a share of that at the start; with the true inertias."""
        is_resolved = self._squared(self.config.assumed_inertia) < 1 / 4
        return 1.0 + np.where(is_resolved, self._squared(self.inertia) / 2, 0.0)

    def _squared(self, inertia: np.ndarray) -> np.ndarray:
        return self.dt**2 * self.stiffness * (1 / self.rotor + 1 / inertia)


@dataclasses.dataclass(frozen=True)
class Cases:
    """Springs with and without backlash whose joints have other inertias than they assume, and two starts of each."""

    dt: float
    products: Sequence[float]
    told: bool = False

    def make(self) -> TwoMasses:
        """Return them all: the joint is half as heavy as assumed, as heavy, twice as heavy, or held."""
        choices = self.products, (0.1, 1.0, 10.0), (0.5, 1.0, 2.0, np.inf), (0.0, 0.002, 0.02), (0.0, 0.1), (0, 1)
        product, share, heavier, gap, damped, start = np.array([*itertools.product(*choices)]).T
        assumed, ratio = np.full(len(product), 0.05), 10.0
        rotor = share * assumed
        reduced = 1 / (1 / rotor + 1 / assumed)
        stiffness = (product / self.dt) ** 2 * reduced
        config = ElasticTransmissionConfig(
            ratio,
            rotor_inertia=rotor / ratio**2,
            stiffness=stiffness,
            damping=2 * damped * np.sqrt(stiffness * reduced),
            backlash=gap,
            assumed_inertia=assumed,
        )
        return TwoMasses(
            config,
            heavier * assumed,
            self.dt,
            told=self.told,
            deflection=np.where(start == 0, 0.01 + gap / 2, 0.0),
            rotor_velocity=np.where(start == 1, 1.0, 0.0),
            # without common motion: positions would lose their digits to it
            velocity=np.where(start == 1, -rotor / (heavier * assumed), 0.0),
        )


def energies(cases: TwoMasses, steps: int, every: int = 1, dense: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return the least and the largest energy of each case in the middle of steps, as shares of that at the start."""
    first, least, largest = cases.energy(), np.full(len(cases.q), np.inf), np.zeros(len(cases.q))
    for number in range(steps):
        cases.step()
        if number < dense or number % every == 0:
            now = cases.energy(0.5)
            least, largest = np.minimum(least, now), np.maximum(largest, now)
    return least / first, largest / first
