"""State of the node *Articulation Actuators* between pulses: its actuators."""

from __future__ import annotations

import logging
import weakref
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .node_actuators import NodeActuators

_log = logging.getLogger(__name__)

# outlives a reload of the node's own module
_states: weakref.WeakSet[OgnArticulationActuatorsInternalState] = weakref.WeakSet()


class OgnArticulationActuatorsInternalState:
    """The actuators of one node, none before its first pulse."""

    def __init__(self) -> None:
        self.actuators: NodeActuators | None = None
        """The actuators, or None before `initialize` and after `release`."""
        self._robot_path: str | list[str] | None = None
        self._auto_step_pre_physics: bool | None = None
        _states.add(self)

    @property
    def initialized(self) -> bool:
        """True if there are actuators."""
        return self.actuators is not None

    def initialize(self, robot_path: str | list[str], auto: bool) -> NodeActuators:
        """Make the actuators of the robots at a path or several, and return them; former ones are released."""
        # Warp and USD are loaded when the first pulse needs them
        from .node_actuators import NodeActuators

        self.release()
        actuators = NodeActuators(robot_path, auto_step_pre_physics=auto)
        actuators.observe_efforts()
        self.actuators, self._robot_path, self._auto_step_pre_physics = actuators, robot_path, auto
        return actuators

    def update(self, robot_path: str | list[str], auto: bool) -> NodeActuators:
        """Return the actuators of this robot; new ones if the robot has changed."""
        if (actuators := self.actuators) is None or robot_path != self._robot_path:
            return self.initialize(robot_path, auto)
        if auto != self._auto_step_pre_physics:
            toggle = actuators.enable_auto_step_pre_physics if auto else actuators.disable_auto_step_pre_physics
            toggle()
            self._auto_step_pre_physics = auto
        return actuators

    def release(self) -> None:
        """Give the joints back to their drives; calling it again does nothing."""
        actuators, self.actuators = self.actuators, None
        self._robot_path = self._auto_step_pre_physics = None
        if actuators is not None:
            actuators.close()


def release_all() -> None:
    """Release the states of all nodes; each makes new actuators at its next pulse."""
    for state in list(_states):
        try:
            state.release()
        except Exception:
            # the others are still to be released
            _log.exception("Articulation Actuators: a node could not give its robot back")
