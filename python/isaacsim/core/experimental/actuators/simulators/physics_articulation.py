"""The robots of embedded physics, with Isaac Sim's methods: joints and links, contact forces, dynamics."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ..base.errors import HostError
from ..base.values import Indices, resolve_indices
from ..specs.arguments import names_of
from ..specs.patterns import pattern_problem
from .articulation import name_in
from .default_state import DefaultState
from .dof_properties import DofProperties
from .transfer import warp_copy

if TYPE_CHECKING:
    from ..files.usd.handles import Prim


class PhysicsArticulation(DofProperties, DefaultState):
    """Robots on embedded physics: joint arrays plus quantities of physics and the stage."""

    _contact_links: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        """True if the robots are still on the stage."""
        return self._backend.stage is None or all(prim and prim.IsActive() for prim in self.prims)

    @property
    def prims(self) -> list[Prim]:
        """Articulation root prim of each row; copies have that of their prototype.

        Raises:
            HostError: There is no stage.
        """
        stage = self._backend.stage
        if stage is None:
            raise HostError(f"<{self.paths[0]}>: has no prims, for there is no stage. Open a USD file for them.")
        return [stage.GetPrimAtPath(robot.prototype[0]) for robot in self._robots]

    def is_physics_tensor_entity_valid(self) -> bool:
        """Return True if physics runs, so that state can be read and written."""
        return self._backend.arrays() is not None

    # joints and links; all rows have the same names

    @property
    def num_joints(self) -> int:
        """Number of joints inside a robot, those without DOFs among them."""
        return len(self.joint_names)

    @property
    def joint_names(self) -> list[str]:
        """Names of the joints inside a robot; one that fixes the base to the world is not among them."""
        return [name_in(path) for path in self._current()[0].joints]

    @property
    def joint_paths(self) -> list[list[str]]:
        """Path of each joint of each row."""
        return [list(robot.joints) for robot in self._current()]

    @property
    def num_links(self) -> int:
        """Number of links of a robot."""
        return len(self._current()[0].links)

    @property
    def link_names(self) -> list[str]:
        """Names of the links, the root first."""
        return [name_in(path) for path in self._current()[0].links]

    @property
    def link_paths(self) -> list[list[str]]:
        """Path of each link of each row."""
        return [list(robot.links) for robot in self._current()]

    # contact forces, computed only for observed links

    @property
    def contact_links(self) -> list[str]:
        """Names of the links whose contact forces are observed, in the order of `get_link_contact_forces`."""
        return list(self._contact_links)

    def observe_contact_forces(self, links: str | Sequence[str] | None) -> None:
        """Choose the links of `get_link_contact_forces`, replacing the earlier choice.

        Best called before play: while physics runs, its model is rebuilt; state and properties stay bit-identical.

        Args:
            links: Regular expressions such as `.*_FOOT`, which match whole link names; each must match at least one.
                None stops observing.

        Raises:
            ValueError: A pattern is invalid or matches no link.
            HostError: The simulator has no contact forces.
        """
        names = [name_in(path) for path in self._current()[0].links]
        patterns = [] if links is None else names_of("links", links, "a pattern")
        found: set[int] = set()
        for pattern in patterns:
            if problem := pattern_problem(pattern):
                raise ValueError(f"links: {pattern!r} {problem}")
            matched = {i for i, name in enumerate(names) if re.fullmatch(pattern, name)}
            if not matched:
                raise ValueError(
                    f"links: {pattern!r} matches no link: must match the whole name of at least one of "
                    f"{', '.join(names)}. Correct or remove it."
                )
            found |= matched
        chosen = sorted(found)
        self._backend.observe_contacts(self, self._numbers, chosen)
        self._contact_links = tuple(names[i] for i in chosen)

    def get_link_contact_forces(self, *, indices: Indices = None) -> wp.array:
        """Net forces [N] of all contacts on each observed link, shape `(robots, observed links, 3)`, world frame.

        Values are those of the last physics step; they are zero until the first step after play, after a reset of the
        environment or after `observe_contact_forces`.

        Args:
            indices: Rows; None means all.

        Raises:
            HostError: Physics is not running, or no links were chosen.
        """
        self._live()
        if not self._contact_links:
            raise HostError(
                "contact forces: no links were chosen. Call observe_contact_forces with patterns of their names first."
            )
        names = [name_in(path) for path in self._robots[0].links]
        if missing := [name for name in self._contact_links if name not in names]:
            raise HostError(f"links {missing} are no longer there. Call observe_contact_forces again.")
        rows = self._numbers[resolve_indices(indices, len(self._robots), "robot")]
        forces = self._backend.contact_forces(rows, [names.index(name) for name in self._contact_links])
        return warp_copy(forces)

    # Matrices and forces. With a floating base the coordinates of a robot are the linear and the angular velocity of
    # its root link, at its center of mass and in the world frame, then the DOFs: `C = DOFs + 6`. Otherwise `C = DOFs`.

    def get_mass_matrices(self, *, indices: Indices = None) -> wp.array:
        """Mass matrices, shape `(robots, C, C)`, joint armatures included."""
        return warp_copy(self._read(self._backend.mass_matrices, indices))

    def get_velocity_weights(self, *, indices: Indices = None) -> wp.array:
        """Weights w of the position step `q⁺ = q + dt·((1 − w)·v + w·v⁺)`, shape `(robots,)`.

        1 on MuJoCo, (n + 1)/(2·n) on PhysX with n solver position iterations.
        """
        return warp_copy(self._read(self._backend.velocity_weights, indices))

    def get_jacobian_matrices(self, *, indices: Indices = None) -> wp.array:
        """Linear, then angular velocities of the `L` links by the coordinates, in the world, shape `(robots, L, 6, C)`.

        Linear ones are those of the centers of mass; with a fixed base, the root link is left out.
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

    def _efforts(self, compute: Callable[[], np.ndarray], indices: Indices, dof_indices: Indices) -> wp.array:
        self._live()
        return warp_copy(compute()[self._index(indices, dof_indices)])
