"""`ArticulationActuators` with outputs of the node: names of joints, and the error that stopped stepping."""

from __future__ import annotations

from ....base.errors import HostError
from ...articulation_actuators import ArticulationActuators


class NodeActuators(ArticulationActuators):
    """The actuators of a node."""

    @property
    def actuated_dof_names(self) -> list[str]:
        """Names of the actuated joints, by column."""
        names = self.articulation.dof_names
        return [names[column] for column in self.actuated_dof_indices]

    def require_running(self) -> None:
        """Raise what stopped automatic stepping, if anything did."""
        if (error := self._attachment.error) is not None:
            what = f"{type(error).__name__}: {error}"
            raise HostError(
                f"{self!r} stopped stepping on {what} Correct that, then pulse resetIn or play again."
            ) from error
