"""`ArticulationActuators` that also tell what a node shows: the last efforts, and the error that stopped stepping."""

from __future__ import annotations

from typing import Any

import numpy as np
import warp as wp

from ..articulation_actuators import ArticulationActuators
from ..errors import HostError
from ..values import as_numpy


class NodeActuators(ArticulationActuators):
    """The actuators of a node."""

    # efforts of all joints in the last step; simulators may clear theirs once they have acted
    _applied: Any = None

    @property
    def actuated_dof_names(self) -> list[str]:
        """Names of the actuated joints, by column."""
        names = self.articulation.dof_names
        return [names[column] for column in self.actuated_dof_indices]

    @property
    def applied_efforts(self) -> np.ndarray:
        """Efforts of the last step [N·m or N], shape `(robots, actuated DOFs)`; zero before the first."""
        columns = self.actuated_dof_indices
        if self._applied is None:
            return np.zeros((self._attachment.num_robots, len(columns)), np.float32)
        return as_numpy(self._applied)[:, columns]

    def step_actuators(self, step_dt: float, context: Any = None) -> None:
        """Step, and keep the efforts."""
        super().step_actuators(step_dt, context)
        if (buffers := self._attachment.buffers) is None:
            return
        efforts = buffers.efforts
        if self._applied is None or self._applied.shape != efforts.shape:
            self._applied = wp.clone(efforts) if isinstance(efforts, wp.array) else efforts.copy()
        elif isinstance(efforts, wp.array):
            wp.copy(self._applied, efforts)
        else:
            np.copyto(self._applied, efforts)

    def require_running(self) -> None:
        """Raise what stopped automatic stepping, if anything did.

        Raises:
            HostError: Naming the robot, the error and the remedy.
        """
        if (error := self._attachment.error) is not None:
            what = f"{type(error).__name__}: {error}"
            raise HostError(
                f"{self!r} stopped stepping on {what} Correct that, then pulse resetIn or play again."
            ) from error
