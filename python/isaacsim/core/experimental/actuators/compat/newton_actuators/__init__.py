"""The API of newton-actuators 0.1.1, for code that was written for it: only its import line changes.

    import isaacsim.core.experimental.actuators.compat.newton_actuators as newton_actuators

Its classes are thin views of our plan, which computes the efforts. Rules of its own are separate laws. The remaining
differences, and the replacement of each class, are in `docs/tutorials/migrate_from_newton_actuators.md`.
"""

from __future__ import annotations

import warnings

from .base import Actuator
from .classes import (
    ActuatorDCMotor,
    ActuatorDelayedPD,
    ActuatorNetLSTM,
    ActuatorNetMLP,
    ActuatorPD,
    ActuatorPID,
    ActuatorRemotizedPD,
)
from .prims import ParsedActuator, parse_actuator_prim

__version__ = "0.1.1"
"""Version of newton-actuators whose API this is."""

__all__ = [
    "Actuator",
    "ActuatorDCMotor",
    "ActuatorDelayedPD",
    "ActuatorNetLSTM",
    "ActuatorNetMLP",
    "ActuatorPD",
    "ActuatorPID",
    "ActuatorRemotizedPD",
    "ParsedActuator",
    "__version__",
    "parse_actuator_prim",
]

warnings.warn(
    "newton-actuators has ended, and so will its API. See docs/tutorials/migrate_from_newton_actuators.md, which says "
    "what to write instead.",
    DeprecationWarning,
    stacklevel=2,
)
