"""The package's own exceptions: each message names subject, value, rule and remedy."""

from __future__ import annotations

from collections.abc import Sequence


class ActuatorParseError(ValueError):
    """Actuator prims of a stage cannot be used; `issues` lists every problem found, one line each."""

    def __init__(self, issues: Sequence[str]) -> None:
        self.issues = tuple(issues)
        super().__init__("\n".join(self.issues))


class HostError(RuntimeError):
    """No simulator is there to work with, or its physics is not running."""


class UnsupportedSceneError(ValueError):
    """The stage holds something the embedded physics cannot reproduce; the message names the prims."""


class SimulationDivergedError(RuntimeError):
    """Physics produced a value that is not finite; `robots` holds the paths of the robots it happened to."""

    def __init__(self, message: str, robots: Sequence[str]) -> None:
        self.robots = tuple(robots)
        super().__init__(message)
