"""Config of what a motor loses beside the heat of its current."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass
from typing import ClassVar, Unpack

from .config import Config
from .fields import Description, described, parameter


def _loss(name: str, unit: str, otherwise: object = 0.0, /, **rule: Unpack[Description]) -> Description:
    return described("losses", name, unit, otherwise) | {"lower": 0.0} | rule


@dataclass
class LossesConfig(Config):
    """What a motor loses beside the heat of its current: in iron, by friction, in an idle driver and by a weak field.

    `iron = hysteresis·|v| + eddy·v²`, `weak field = flux_loss·(1 − flux_speed/|v|)²` from `flux_speed` on

    The driver draws iron, idle power and weak field from the supply beside the power of the winding; they take no
    effort. Friction takes effort in a stage or property of the joint: here it only warms the housing, with
    `share·(friction·|v| + viscous·v² + gear·|effort·v|)`. Iron warms the housing as well, a weak field the winding, and
    an idle driver nothing of the motor. Values are those at the joint, before a gear of a `TransmissionConfig` those of
    the motor. The schema is our own.
    """

    SCHEMA: ClassVar[str] = "ActuatorLossesAPI"
    KIND: ClassVar[str] = "losses"

    hysteresis: float = parameter(**_loss("hysteresis", "N·m or N"))
    """Loss of iron per speed, by hysteresis [N·m or N]."""
    eddy: float = parameter(**_loss("eddy", "N·m·s/rad or N·s/m"))
    """Loss of iron per square of the speed, by eddy currents [N·m·s/rad or N·s/m]."""
    friction: float = parameter(**_loss("friction", "N·m or N"))
    """Dry friction whose heat counts here [N·m or N]."""
    viscous: float = parameter(**_loss("viscous", "N·m·s/rad or N·s/m"))
    """Viscous friction whose heat counts here [N·m·s/rad or N·s/m]."""
    gear: float = parameter(**_loss("gear", "", upper=1.0))
    """Share of the power of the motor that its gear loses: 1 less its efficiency."""
    share: float = parameter(**_loss("share", "", 1.0, upper=1.0))
    """Share of the heat of friction and gear that warms the housing of the motor."""
    idle_power: float = parameter(**_loss("idlePower", "W"))
    """Power of the driver without current [W]."""
    flux_speed: float = parameter(**_loss("fluxSpeed", "rad/s or m/s", math.inf, above=True, infinite=True))
    """Speed from which on the driver weakens the field [rad/s or m/s]; inf for never."""
    flux_loss: float = parameter(**_loss("fluxLoss", "W"))
    """Heat of the current that takes away the whole field, 1.5·R_ph·(λ/L)² [W]."""

    def idle(self) -> dict[str, str]:
        """The heat of a field that is never weakened."""
        if isinstance(self.flux_loss, numbers.Real) and self.flux_loss > 0.0 and self.flux_speed == math.inf:
            return {"flux_loss": "an infinite actuator:losses:fluxSpeed means a full field. Author its speed."}
        return {}
