"""Components that a plan does not know: built-in laws computed by methods, as a user's own are."""

from __future__ import annotations

from typing import Any

from isaacsim.core.experimental.actuators import ClampingDCMotor, ClampingMaxEffort, ControllerPID, Delay


class OwnDelay(Delay):
    """A delay that a plan does not know."""


class OwnController(ControllerPID):
    """PID computed by a method."""

    def compute(self, *args: Any, **kwargs: Any) -> None:
        super().compute(*args, **kwargs)


class OwnMotor(ClampingDCMotor):
    """A motor computed by a method."""

    def modify_forces(self, *args: Any, **kwargs: Any) -> None:
        super().modify_forces(*args, **kwargs)


class OwnLimit(ClampingMaxEffort):
    """A limit computed by a method."""

    def modify_forces(self, *args: Any, **kwargs: Any) -> None:
        super().modify_forces(*args, **kwargs)
