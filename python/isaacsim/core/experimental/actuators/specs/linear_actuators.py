"""MuJoCo's actuators on a hinge or slide as laws of it, and as motors.

What MuJoCo computes for an actuator with gear `g` and control `u` at position `q` and velocity `v`:

    force = gain·u + b0 + b1·g·q + b2·g·v, limited to forcerange; effort = g·force

so that `kp = −b1·g²`, `kd = −b2·g²` and `const_effort = b0·g`. Where `kp = 0`, a range of `u` is a limit of the effort,
which falls with speed by `kd`: that of a DC motor. Where it is not, `u` is a position, which motors do not limit.
Source: MuJoCo documentation, "Computation", Actuation model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from .configs import ClampingConfig, DCMotorClampingConfig, MaxEffortClampingConfig, PDControlConfig
from .motors import MotorConfig

Bounds = tuple[float, float]
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Law:
    """An actuator as a law of its joint: gains, and the lower and upper bounds of its effort; inf is none.

    `efforts` are bounds of what it does, `inputs` of what its control asks for; `asymmetry` says which of them is not
    the same either way.
    """

    kp: float
    kd: float
    const_effort: float
    efforts: Bounds = (-math.inf, math.inf)
    inputs: Bounds = (-math.inf, math.inf)
    asymmetry: str = ""

    @property
    def limited(self) -> bool:
        """Whether the actuator has bounds of its own."""
        return any(map(math.isfinite, (*self.efforts, *self.inputs)))

    @property
    def bounds(self) -> Bounds:
        """Between which efforts a drive does what it does: a velocity that is asked for limits none."""
        (low, high), (least, most) = self.efforts, self.inputs
        return self.efforts if self.kd else (max(low, least), min(high, most))


def law_of(
    gear: float, gain: float, bias: Sequence[float], forces: Bounds | None, controls: Bounds | None
) -> Law | str:
    """Return an actuator as a law of its joint, or why it is none.

    Args:
        gear: Its transmission.
        gain: Force per control.
        bias: Force that is constant, per position and per velocity.
        forces: Lower and upper bound of its force, None without.
        controls: Those of its control.
    """
    b0, b1, b2 = map(float, bias)
    if b1 > 0 or b2 > 0:
        return f"its stiffness {-b1:g} or damping {-b2:g} is negative"
    if b1 != 0:
        controls = None
    if controls is not None and b0 != 0:
        return "its ctrlrange limits the effort about a constant"
    asymmetry = ""
    if forces is not None and forces[0] != -forces[1]:
        asymmetry = f"its forcerange {forces[0]:g} … {forces[1]:g} is not symmetric"
    elif controls is not None and controls[0] != -controls[1]:
        asymmetry = f"its ctrlrange {controls[0]:g} … {controls[1]:g}, which limits the effort, is not symmetric"
    return Law(-b1 * gear**2, -b2 * gear**2, b0 * gear, _times(forces, gear), _times(controls, gain * gear), asymmetry)


def refused(laws: Mapping[Key, Law | str], joint: str) -> list[tuple[Key, str]]:
    """Those of the actuators of one joint that are no laws of it, with the reason; together they must be one."""
    wrong = [(actuator, law) for actuator, law in laws.items() if isinstance(law, str)]
    if not wrong and len(laws) > 1 and any(isinstance(law, Law) and law.limited for law in laws.values()):
        return [(next(iter(laws)), f"one of {len(laws)} on joint {joint!r}, with limits of their own")]
    return wrong


def motor_of(
    laws: Sequence[Law], limit: float, armature: float | None = None, friction: float | None = None
) -> MotorConfig:
    """Return the motor that does what the actuators of one joint do; none of them is a motor too.

    Args:
        laws: Of its actuators, with symmetric bounds, and where they are several without.
        limit: Of their effort, which the joint has; inf is none.
        armature: Of the joint.
        friction: Of the joint.
    """
    kp, kd, constant = (sum((getattr(law, name) for law in laws), 0.0) for name in ("kp", "kd", "const_effort"))
    most = min((law.inputs[1] for law in laws), default=math.inf)
    limit = min([limit, *(law.efforts[1] for law in laws)])
    clamps: list[ClampingConfig] = []
    if math.isfinite(most) and kd > 0:
        clamps = [DCMotorClampingConfig(most, most / kd, limit)]
    elif math.isfinite(limit := min(limit, most)):
        clamps = [MaxEffortClampingConfig(limit)]
    return MotorConfig(PDControlConfig(kp, kd, constant), clamps, armature=armature, friction=friction)


def _times(bounds: Bounds | None, factor: float) -> Bounds:
    """Bounds of a multiple, whichever comes first."""
    if bounds is None:
        return -math.inf, math.inf
    low, high = sorted(float(bound * factor) for bound in bounds)
    return low, high
