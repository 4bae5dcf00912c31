"""The closed loops of a wrapper's robots: inertia and step as the simulator has them, gains as the actuators have."""

from __future__ import annotations

import dataclasses
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import HostError
from ..hosts.binding import Binding
from ..hosts.values import as_numpy
from ..motor_properties import read_property
from ..pipeline.assembly import Assembly
from ..pipeline.feedback import feedback_gains
from .loop import Loop
from .table import JointStability, Stability, stability_of

# joints that a warning names
_NAMED = 3


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
        armatures = self._armatures()
        found: dict[bytes, Stability] = {}
        tables = []
        for row, inverse in zip(rows, self._inverses(rows), strict=True):
            gains, armature = self._gains[:, row, known], armatures[row, known]
            key = b"".join(part.tobytes() for part in (inverse, gains, armature))
            if key not in found:
                # of these joints alone, the others free
                matrix = np.linalg.inv(inverse)
                found[key] = stability_of(matrix, step, *gains, armature=armature, joints=names)
            tables.append(_named(found[key], paths[row]))
        joints = tuple(joint for table in tables for joint in table.joints)
        unknown = tuple(name for name, is_known in zip(self._names, known, strict=True) if not is_known)
        return Stability(step, joints, tuple(robot for table in tables for robot in table.robots), unknown)

    def warning(self) -> str | None:
        """What to say of the first robot, if it will vibrate; the simulator has to be known.

        Integrals are let be: one that swings up does so at every step, slowly, and friction may hold it.
        """
        dt = self._dt
        if dt is None or not self._known.any():
            return None
        first = np.zeros(1, int)
        without_integral = self._gains[:, 0, self._known] * [[1.0], [1.0], [0.0]]
        if Loop(self._inverses(first)[0], without_integral).is_stable(dt):
            return None
        table = self.stability(first, None)
        whole = table.robots[0]
        worst = sorted(table.joints, key=lambda joint: joint.margin)
        short = [joint for joint in worst if joint.smallest_armature > joint.armature]
        joints = "; ".join(map(_told, short[:_NAMED])) + (" …" if len(short) > _NAMED else "")
        among = (
            ""
            if self._robots.num_robots == 1
            else f", the first of {self._robots.num_robots} and the only one looked at,"
        )
        return (
            f"{self._owner!r}: <{whole.robot}>{among} will vibrate at dt = {dt:.3g} s: its gains may be at most "
            f"{whole.margin:.3g} times what they are. {joints}. Raise the armature, or step with dt <= "
            f"{whole.largest_step:.3g} s, or lower the gains; stability() shows all joints."
        )

    # inside

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

    def _armatures(self) -> np.ndarray:
        """Of the joints of the actuators, `(robots, joints)`; 0 where the articulation does not tell."""
        found = read_property(self._robots.articulation, "armature")
        columns = np.sort(self._assembly.columns)
        return np.zeros((self._robots.num_robots, len(columns))) if found is None else found[:, columns]


def _named(table: Stability, robot: str) -> Stability:
    """The same of another robot."""
    joints = tuple(dataclasses.replace(joint, robot=robot) for joint in table.joints)
    return Stability(table.dt, joints, tuple(dataclasses.replace(one, robot=robot) for one in table.robots))


def _told(joint: JointStability) -> str:
    return (
        f"{joint.joint} has kp = {joint.kp:.3g}, kd = {joint.kd:.3g}, inertia {joint.inertia:.3g}, armature "
        f"{joint.armature:.3g}, and needs an armature of {joint.smallest_armature:.3g}"
    )
