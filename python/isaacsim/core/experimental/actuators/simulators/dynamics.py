"""Quantities of the equations of motion of robots on embedded physics, at their state now."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import warp as wp

from ..base.values import Indices
from .articulation import ArrayArticulation, PhysicsBackend
from .copied import warp_copy


class Dynamics(ArrayArticulation):
    """Matrices and forces; they need running physics.

    With a floating base the coordinates of a robot are the linear and the angular velocity of its root link, at its
    center of mass and in the world frame, then the DOFs: `C = DOFs + 6`. Otherwise `C = DOFs`.
    """

    _backend: PhysicsBackend

    def get_mass_matrices(self, *, indices: Indices = None) -> wp.array:
        """Mass matrices, shape `(robots, C, C)`, joint armatures included."""
        return warp_copy(self._read(self._backend.mass_matrices, indices))

    def get_velocity_weights(self, *, indices: Indices = None) -> wp.array:
        """Weights w of the position step `q⁺ = q + dt·((1 − w)·v + w·v⁺)`, shape `(robots,)`.

        1 on MuJoCo, (n + 1)/(2·n) on PhysX with n solver position iterations.
        """
        return warp_copy(self._read(self._backend.velocity_weights, indices))

    def get_jacobian_matrices(self, *, indices: Indices = None) -> wp.array:
        """Linear, then angular velocities of the links by the coordinates, shape `(robots, L, 6, C)`.

        `L` is the number of links; with a fixed base, the root link is left out. Velocities are in the world frame,
        linear ones those of the centers of mass.
        """
        return warp_copy(self._read(self._backend.jacobians, indices))

    def get_dof_coriolis_and_centrifugal_compensation_forces(
        self, *, indices: Indices = None, dof_indices: Indices = None
    ) -> wp.array:
        """Efforts [N·m or N] that balance Coriolis and centrifugal forces at positions and velocities now."""
        return self._efforts(self._backend.coriolis_efforts, indices, dof_indices)

    def get_dof_gravity_compensation_forces(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Efforts [N·m or N] that hold the joints still against gravity at their positions now."""
        return self._efforts(self._backend.gravity_efforts, indices, dof_indices)

    def get_dof_projected_joint_forces(self, *, indices: Indices = None, dof_indices: Indices = None) -> wp.array:
        """Efforts [N·m or N] that pass through the joints along their axes, shape `(robots, DOFs)`.

        Those of actuators, drives, friction and limits together, less what turns the armatures: what a torque sensor in
        the joint shows. On MuJoCo at the state, efforts and targets now, on PhysX in the last physics step.
        """
        return self._efforts(self._backend.projected_forces, indices, dof_indices)

    # inside

    def _efforts(self, compute: Callable[[], np.ndarray], indices: Indices, dof_indices: Indices) -> wp.array:
        self._live()
        return warp_copy(compute()[self._index(indices, dof_indices)])
