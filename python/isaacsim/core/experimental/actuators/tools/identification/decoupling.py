"""Decoupling: inertia and load of each joint along a log, with which the joints become problems of their own.

While one joint is simulated, the others follow the log. So the inertia of joint i is M_ii, and its load is what
balances gravity and Coriolis forces, plus the sum of M_ij·q̈_j over the other joints; both are known along the log
from the links alone. How the load changes with the joint's own position is taken along, so that a simulated joint
that leaves the log does not feel the gravity of another place. `shafts.py` has the same of shafts of several joints.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ...simulators.simulation import Simulation
from .log import MotorLog
from .motion import motion_of
from .shafts import Shafts

if TYPE_CHECKING:
    from ...simulators.physics_articulation import PhysicsArticulation

# copies of the robot that are evaluated at once
_COPIES = 512
# a block of a log, the longest [s] and of its duration, and which blocks are held out of fits: each fourth one
_BLOCK, _SHARE, _FOURTH = 5.0, 0.125, 4
# time from one inertia among freely moving joints to the next, which changes slowly [s]
_EVERY = 0.01


@dataclass(frozen=True, eq=False)
class Decoupled:
    """An evenly sampled log, ready for rollouts of its joints one by one; arrays have the shape `(samples, joints)`.

    Inertias are without armature [kg·m² or kg], `least` where the others move freely, `(joints,)`. The load balances
    gravity, Coriolis forces and the other joints [N·m or N], taken at a true `place` [rad or m], with a slope by that
    place. `defect` is how far the whole robot is off the joints by themselves [rad or m], found by `refine`; None
    before.
    """

    log: MotorLog
    inertia: np.ndarray
    load: np.ndarray
    slope: np.ndarray
    place: np.ndarray
    velocity: np.ndarray
    least: np.ndarray
    defect: np.ndarray | None = None

    def along(self, joint: int) -> np.ndarray:
        """Return command, inertia, load, slope, place and supply voltage (inf: its own) of a joint, `(6, samples)`."""
        return self._along[joint]

    @functools.cached_property
    def held_out(self) -> np.ndarray:
        """Whether each sample is held out of fits that are compared, shape `(samples,)`: blocks all over the log."""
        past = self.log.time - self.log.time[0]
        return (past / min(_BLOCK, _SHARE * self.log.duration)).astype(int) % _FOURTH == _FOURTH - 1

    @functools.cached_property
    def dt(self) -> float:
        """Time between samples [s]."""
        return self.log.dt

    @functools.cached_property
    def _along(self) -> np.ndarray:
        # a fit asks for it again and again
        log = self.log
        volts = log.signals.get("volts") if len(log.joints) > 1 else None
        volts = np.full_like(log.command, np.inf) if volts is None else volts
        parts = (log.command, self.inertia, self.load, self.slope, self.place, volts)
        return np.ascontiguousarray(np.stack(parts).transpose(2, 0, 1))


class Links:
    """The links of a robot, without its motors."""

    def __init__(self, robot: str | os.PathLike[str], joints: Sequence[str], shafts: Shafts | None = None) -> None:
        self._simulation = Simulation(robot, num_envs=_COPIES)
        self._robots: Any = self._simulation.articulation("/")
        names = list(self._robots.dof_names)
        if unknown := [name for name in joints if name not in names]:
            self.close()
            raise ValueError(f"{robot}: it lacks {', '.join(unknown)}: must have the joints of the log, {names}.")
        self._at = [names.index(name) for name in joints]
        self._simulation.play()
        self._initial = self._robots.get_dof_positions().numpy().astype(float)
        try:
            require_fixed_base(robot, self._robots)
        except ValueError:
            self.close()
            raise
        self._shafts = Shafts({}, joints) if shafts is None else shafts
        armatures = self._robots.get_dof_armatures().numpy()[0, self._at].astype(float)
        self.armatures: np.ndarray = armatures[self._shafts.at] * self._shafts.are_joints
        """Armatures of the joints in the file [kg·m² or kg], 0 of shafts, shape `(columns,)`."""
        lower, upper = (one.numpy()[0, self._at].astype(float) for one in self._robots.get_dof_limits())
        self.limits: dict[str, tuple[float, float]] = {
            name: (float(low), float(high)) for name, low, high in zip(joints, lower, upper, strict=True)
        }
        """Position limits of the joints [rad or m], by name."""
        speeds = self._robots.get_dof_max_velocities().numpy()[0, self._at].astype(float)
        self.speeds: dict[str, float] = dict(zip(joints, speeds.tolist(), strict=True))
        """Largest speeds of the joints in the file [rad/s or m/s], by name."""

    def close(self) -> None:
        """Close the simulation."""
        self._simulation.close()

    def decouple(self, log: MotorLog, bias: np.ndarray) -> Decoupled:
        """Return inertia and load of each column of an evenly sampled log; biases [rad or m] are `(columns,)`."""
        shafts, dt = self._shafts, log.dt
        whole, rows = shafts.whole_of(log), shafts.rows
        # shafts have no bias, and the rows of joints are those of the identity
        place = whole.position - bias @ (rows != 0.0)
        velocity, acceleration = motion_of(place, dt)
        sparse = max(1, round(_EVERY / dt))
        parts = (slice(k, k + _COPIES) for k in range(0, len(place), _COPIES))
        equations = [self._equations(place[part], velocity[part], sparse) for part in parts]
        matrices, loads, slopes, free = (np.concatenate(parts) for parts in zip(*equations, strict=True))
        found = [_alone(row, matrices, loads, slopes, acceleration) for row in rows]
        inertia, load, slope = (np.stack(parts, -1) for parts in zip(*found, strict=True))
        least = 1.0 / np.einsum("ci,kij,cj->kc", rows, free, rows)
        place, velocity = place @ rows.T + shafts.offset, velocity @ rows.T
        return Decoupled(log, inertia - self.armatures, load, slope, place, velocity, least.min(0) - self.armatures)

    def _equations(self, place: np.ndarray, velocity: np.ndarray, sparse: int) -> tuple[np.ndarray, ...]:
        """Return mass matrices of the joints, efforts that balance gravity and Coriolis forces, how those of gravity
        change with the own position of each joint, and, of each `sparse` row, the inverse matrix.
        """
        count, robots = len(place), self._robots
        positions, velocities = self._initial.copy(), np.zeros_like(self._initial)
        positions[:count, self._at], velocities[:count, self._at] = place, velocity
        robots.set_dof_positions(positions)
        robots.set_dof_velocities(velocities)
        # first what depends on velocities: the rest is then known, too
        load = robots.get_dof_coriolis_and_centrifugal_compensation_forces().numpy().astype(float)
        load += robots.get_dof_gravity_compensation_forces().numpy()
        matrices = robots.get_mass_matrices().numpy()[:count].astype(float)
        free = np.linalg.inv(matrices[::sparse])[:, self._at][:, :, self._at]
        slope = robots.gravity_slopes()[:count, self._at]
        return matrices[:, self._at][:, :, self._at], load[:count, self._at], slope, free


def _alone(
    row: np.ndarray, matrices: np.ndarray, loads: np.ndarray, slopes: np.ndarray, acceleration: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return inertia, load and its slope of a joint, or of a shaft with these coefficients, while others follow."""
    mine = row != 0.0
    own, others = matrices[:, mine][:, :, mine], matrices[:, mine][:, :, ~mine]
    load = loads[:, mine] + np.einsum("kij,kj->ki", others, acceleration[:, ~mine])
    # how the joints move with the effort of the shaft
    ways = np.linalg.solve(own, np.broadcast_to(row[mine, None], (len(own), mine.sum(), 1)))[..., 0]
    inertia = 1.0 / (ways @ row[mine])
    ways *= inertia[:, None]
    return inertia, (ways * load).sum(-1), (ways**2 * slopes[:, mine]).sum(-1)


def require_fixed_base(robot: str | os.PathLike[str], robots: PhysicsArticulation) -> None:
    """Raise for a robot whose base floats."""
    if robots.get_mass_matrices().shape[-1] != robots.num_dofs:
        raise ValueError(f"{robot}: its base floats: must be fixed, as it is on a stand. Fix the base in the file.")
