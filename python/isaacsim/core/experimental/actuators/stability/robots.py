"""The closed loops of a wrapper's robots: inertia and step as the simulator has them, gains as the actuators have."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import HostError
from ..hosts.binding import Binding
from ..motor_properties import read_property
from ..pipeline.assembly import Assembly
from ..pipeline.feedback import feedback_gains
from ..specs.stages import KINDS
from ..values import as_numpy
from .loop import Loop
from .table import JointStability, Stability, stability_of

# joints that a warning names
_NAMED = 3
# what helps besides a shorter step, by whether smaller gains do
_CURES = {True: "Raise the armature, or lower the gains", False: "Raise the damping"}


class ClosedLoops:
    """Robots with running physics and their actuators.

    Args:
        owner: Whose they are, for messages.
        robots: The articulation.
        assembly: The actuators.
        dt: Physics step [s], where the simulator tells it.
    """

    def __init__(self, owner: Any, robots: Binding, assembly: Assembly, dt: float | None) -> None:
        self._owner, self._robots, self._assembly, self._dt = owner, robots, assembly, dt

    @property
    def known(self) -> bool:
        """Whether the simulator tells mass matrices and its step."""
        return self._has_matrices and self._dt is not None

    def stability(self, rows: np.ndarray, dt: float | None) -> Stability:
        """How far some robots are from vibrating.

        Raises:
            HostError: Physics does not run, or the simulator does not tell mass matrices with armatures or its step.
            ValueError: `dt` is not a finite number > 0.
        """
        robots = self._robots.articulation
        if not self._has_matrices:
            raise HostError(
                f"{self._owner!r}: {type(robots).__name__} tells no mass matrices with the armatures in them: must "
                "have them for stability(). Use Simulation, or compute it from numbers with stability_of()."
            )
        if (step := self._dt if dt is None else dt) is None:
            raise HostError(f"{self._owner!r}: its simulator tells no physics step. Pass stability(dt=...).")
        known, paths = self._known, list(robots.paths)
        names = [name for name, is_known in zip(self._names, known, strict=True) if is_known]
        armatures = self._property("armature")
        found: dict[bytes, Stability] = {}
        tables = []
        for row, inverse, weight in zip(rows, self._inverses(rows), self._velocity_weights(rows), strict=True):
            gains, armature = self._gains[:, row, known], armatures[row, known]
            key = b"".join(part.tobytes() for part in (inverse, gains, armature, weight))
            if key not in found:
                # of these joints alone, the others free
                matrix = np.linalg.inv(inverse)
                options = {"armature": armature, "joints": names, "velocity_weight": float(weight)}
                found[key] = stability_of(matrix, step, *gains, **options)
            tables.append(_named(found[key], paths[row]))
        joints = tuple(joint for table in tables for joint in table.joints)
        unknown = tuple(name for name, is_known in zip(self._names, known, strict=True) if not is_known)
        whole = tuple(robot for table in tables for robot in table.robots)
        return Stability(step, joints, whole, unknown, self._left_out)

    def warning(self) -> str | None:
        """What to say of the first robot, if it will vibrate; the simulator has to be known.

        Integrals are let be: one that swings up does so at every step, slowly, and friction may hold it. Viscous
        friction stands in for damping that is too small for the stiffness.
        """
        dt = self._dt
        if dt is None or not self._known.any():
            return None
        first = np.zeros(1, int)
        gains = self._gains[:, 0, self._known] * [[1.0], [1.0], [0.0]]
        damped = gains + [[0.0], [1.0], [0.0]] * self._property("viscous_friction")[0, self._known]
        inverse, weight = self._inverses(first)[0], float(self._velocity_weights(first)[0])
        if any(Loop(inverse, either, weight).is_stable(dt) for either in (gains, damped)):
            return None
        table = self.stability(first, None)
        whole = table.robots[0]
        worst = sorted(table.joints, key=lambda joint: joint.margin)
        # below it no armature helps
        least = {joint.joint: (1.0 - weight) * joint.kp * dt for joint in worst}
        short = [
            joint
            for joint in worst
            if joint.armature < joint.smallest_armature < np.inf or joint.kd < least[joint.joint]
        ]
        told = [_told(joint, least[joint.joint]) for joint in short[:_NAMED]]
        joints = "; ".join(told) + (" …" if len(short) > _NAMED else "")
        among = (
            ""
            if self._robots.num_robots == 1
            else f", the first of {self._robots.num_robots} and the only one looked at,"
        )
        return (
            f"{self._owner!r}: <{whole.robot}>{among} will vibrate at dt = {dt:.3g} s: its gains may be at most "
            f"{whole.margin:.3g} times what they are. {joints}. {_CURES[whole.margin > 0.0]}, or step with dt <= "
            f"{whole.largest_step:.3g} s; stability() shows all joints."
        )

    # inside

    @property
    def _left_out(self) -> tuple[str, ...]:
        """Class names of stages that change the loop and have no place in the equations."""
        found = [part for actuator in self._assembly.actuators for part in actuator.by_kind]
        return tuple(dict.fromkeys(type(one).__name__ for kind, one in found if KINDS[kind].changes_loop))

    @property
    def _has_matrices(self) -> bool:
        # in Kit, nothing says whether the armatures are in them
        return hasattr(self._robots.articulation, "get_mass_matrices") and not self._robots.in_stage_units

    @cached_property
    def _order(self) -> np.ndarray:
        """Joints of the actuators by their columns."""
        return np.argsort(self._assembly.columns)

    @cached_property
    def _names(self) -> list[str]:
        names = self._robots.articulation.dof_names
        return [names[column] for column in sorted(self._assembly.columns)]

    @cached_property
    def _gains(self) -> np.ndarray:
        """Shape `(3, robots, joints)`, NaN where there are none."""
        count = self._robots.num_robots
        parts = [feedback_gains(actuator, count) for actuator in self._assembly.actuators]
        return np.concatenate([np.empty((3, count, 0)), *parts], axis=2)[:, :, self._order]

    @cached_property
    def _known(self) -> np.ndarray:
        """Which joints have gains; a law is that of all robots."""
        return ~np.isnan(self._gains[0, 0])

    def _inverses(self, rows: np.ndarray) -> np.ndarray:
        """Inverse mass matrices in the rows and columns of the joints with gains, `(rows, joints, joints)`."""
        robots: Any = self._robots.articulation
        matrices = as_numpy(robots.get_mass_matrices(indices=rows)).astype(float)
        driven = np.sort(self._assembly.columns)[self._known] + matrices.shape[-1] - robots.num_dofs
        return np.linalg.inv(matrices)[:, driven[:, None], driven]

    def _velocity_weights(self, rows: np.ndarray) -> np.ndarray:
        """Of each row; 1 where the articulation does not tell."""
        tell = getattr(self._robots.articulation, "get_velocity_weights", None)
        return np.ones(len(rows)) if tell is None else as_numpy(tell(indices=rows)).astype(float)

    def _property(self, name: str) -> np.ndarray:
        """Of the joints of the actuators, `(robots, joints)`; 0 where the articulation does not tell."""
        found = read_property(self._robots.articulation, name)
        columns = np.sort(self._assembly.columns)
        return np.zeros((self._robots.num_robots, len(columns))) if found is None else found[:, columns]


def _named(table: Stability, robot: str) -> Stability:
    """The same of another robot."""
    joints = tuple(dataclasses.replace(joint, robot=robot) for joint in table.joints)
    return Stability(table.dt, joints, tuple(dataclasses.replace(one, robot=robot) for one in table.robots))


def _told(joint: JointStability, least_damping: float) -> str:
    has = (
        f"{joint.joint} has kp = {joint.kp:.3g}, kd = {joint.kd:.3g}, inertia {joint.inertia:.3g}, armature "
        f"{joint.armature:.3g}"
    )
    if joint.kd < least_damping:
        return f"{has}, and needs kd >= {least_damping:.3g}"
    return f"{has}, and needs an armature of {joint.smallest_armature:.3g}"
