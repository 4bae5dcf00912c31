"""The robots of embedded physics, with Isaac Sim's methods."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..base.errors import HostError
from .articulation import name_in
from .contacts import Contacts
from .default_state import DefaultState
from .dof_properties import DofProperties
from .dynamics import Dynamics

if TYPE_CHECKING:
    from ..files.usd.handles import Prim


class PhysicsArticulation(DofProperties, Dynamics, DefaultState, Contacts):
    """Robots on embedded physics: joint arrays plus quantities of physics and the stage."""

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
