"""MuJoCo's actuators on a hinge or slide as laws of it, and as motors.

What MuJoCo computes for an actuator with gear `g` and control `u` at position `q` and velocity `v`:

    force = gain·u + b0 + b1·g·q + b2·g·v, limited to forcerange; effort = g·force

so that `kp = −b1·g²`, `kd = −b2·g²` and `const_effort = b0·g`. Where `kp = 0`, a range of `u` is a limit of the effort,
which falls with speed by `kd`: that of a DC motor, or of velocity targets. Where it is not, `u` is a position, and its
range one of position targets: drives have it, motors do not.
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
NO_BOUNDS: Bounds = (-math.inf, math.inf)
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Law:
    """An actuator as a law of its joint: gains, and lower and upper bounds; inf is none.

    `efforts` are bounds of what it does, `inputs` of the effort that its control asks for, `positions` of the position;
    `asymmetry` says which of the first two is not the same either way.
    """

    kp: float
    kd: float
    const_effort: float
    efforts: Bounds = NO_BOUNDS
    inputs: Bounds = NO_BOUNDS
    positions: Bounds = NO_BOUNDS
    asymmetry: str = ""

    @property
    def limited(self) -> bool:
        """Whether the actuator has bounds of its effort of its own."""
        return any(map(math.isfinite, (*self.efforts, *self.inputs)))

    @property
    def bounds(self) -> Bounds:
        """Between which efforts a drive does what it does: a velocity that is asked for limits none."""
        (low, high), (least, most) = self.efforts, self.inputs
        return self.efforts if self.kd else (max(low, least), min(high, most))

    @property
    def velocities(self) -> Bounds:
        """Between which velocities it is asked for one."""
        return _times(self.inputs, 1 / self.kd) if self.kd else NO_BOUNDS


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
    positions = NO_BOUNDS
    if b1 != 0 and controls is not None:
        # a control without gain asks for nothing
        positions = _times(controls, gain / -b1 / gear) if gain * gear else NO_BOUNDS
        controls = None
    if controls is not None and b0 != 0:
        return "its ctrlrange limits the effort about a constant"
    asymmetry = ""
    if forces is not None and forces[0] != -forces[1]:
        asymmetry = f"its forcerange {forces[0]:g} … {forces[1]:g} is not symmetric"
    elif controls is not None and controls[0] != -controls[1]:
        asymmetry = f"its ctrlrange {controls[0]:g} … {controls[1]:g}, which limits the effort, is not symmetric"
    efforts = NO_BOUNDS if forces is None else _times(forces, gear)
    inputs = NO_BOUNDS if controls is None else _times(controls, gain * gear)
    return Law(-b1 * gear**2, -b2 * gear**2, b0 * gear, efforts, inputs, positions, asymmetry)


def refused(laws: Mapping[Key, Law | str], joint: str) -> list[tuple[Key, str]]:
    """Those of the actuators of one joint that are no laws of it, with the reason; together they must be one."""
    wrong = [(actuator, law) for actuator, law in laws.items() if isinstance(law, str)]
    good = [law for law in laws.values() if isinstance(law, Law)]
    if not wrong and len(laws) > 1 and any(law.limited for law in good):
        return [(next(iter(laws)), f"one of {len(laws)} on joint {joint!r}, with limits of their own")]
    if not wrong and len({law.positions for law in good if law.kp}) > 1:
        return [(next(iter(laws)), f"one of {len(laws)} on joint {joint!r}, with other ranges of positions")]
    return wrong


def ranges_without_motor(laws: Mapping[str, Law]) -> list[str]:
    """Return actuators, by name, with the range of position targets that no motor has."""
    ranges = {name: law.positions for name, law in laws.items() if law.positions != NO_BOUNDS}
    return [f"{name} ({low:g} … {high:g})" for name, (low, high) in ranges.items()]


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


def _times(bounds: Bounds, factor: float) -> Bounds:
    """Bounds of a multiple, whichever comes first."""
    low, high = sorted(float(bound * factor) for bound in bounds)
    return low, high
