"""MuJoCo's actuators on a hinge or slide as linear laws of the joint, and as motors.

MuJoCo computes for an actuator with gear `g` and control `u` at position `q` and velocity `v`:

    force = gain·u + b0 + b1·g·q + b2·g·v, limited to forcerange; effort = g·force

so that `kp = −b1·g²`, `kd = −b2·g²` and `const_effort = b0·g`. With `kp = 0`, the range of `u` is an effort limit that
falls with speed by `kd`: that of a DC motor, or of velocity targets. Otherwise `u` is a position, and its range is the
range of position targets, which drives have and motors do not. The gear is in the values of the joint: there, laws
without state are exact, several on a joint are one, and a drive can replace them.
Source: MuJoCo documentation, "Computation", Actuation model.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from .configs import ClampingConfig, DCMotorClampingConfig, MaxEffortClampingConfig, PDControlConfig
from .motors import MotorConfig

Bounds = tuple[float, float]
NO_BOUNDS: Bounds = (-math.inf, math.inf)
Key = TypeVar("Key", bound=Hashable)


@dataclass(frozen=True)
class Law:
    """An actuator as a law of its joint: gains, and lower and upper bounds; inf means no bound.

    `efforts` bounds the effort, `inputs` the effort that the control commands, `positions` the position targets;
    `asymmetry` names the first of the two effort bounds that is not symmetric.
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
        """True if the actuator bounds its effort."""
        return any(map(math.isfinite, (*self.efforts, *self.inputs)))

    @property
    def bounds(self) -> Bounds:
        """Effort bounds of the equivalent drive; a velocity target bounds no effort."""
        (low, high), (least, most) = self.efforts, self.inputs
        return self.efforts if self.kd else (max(low, least), min(high, most))

    @property
    def velocities(self) -> Bounds:
        """Range of its velocity targets."""
        return _times(self.inputs, 1 / self.kd) if self.kd else NO_BOUNDS


def law_of(
    gear: float, gain: float, bias: Sequence[float], forces: Bounds | None, controls: Bounds | None
) -> Law | str:
    """Return an actuator as a law of its joint, or the reason why it is none."""
    b0, b1, b2 = map(float, bias)
    if b1 > 0 or b2 > 0:
        return f"its stiffness {-b1:g} or damping {-b2:g} is negative"
    positions = NO_BOUNDS
    if b1 != 0 and controls is not None:
        # a control without gain commands nothing
        positions = _times(controls, gain / -b1 / gear) if gain * gear else NO_BOUNDS
        controls = None
    if controls is not None and b0 != 0:
        return "its ctrlrange limits the effort about a constant"
    efforts = NO_BOUNDS if forces is None else _times(forces, gear)
    inputs = NO_BOUNDS if controls is None else _times(controls, gain * gear)
    asymmetry = _asymmetry(forces, controls)
    return Law(-b1 * gear**2, -b2 * gear**2, b0 * gear, efforts, inputs, positions, asymmetry)


def _asymmetry(forces: Bounds | None, controls: Bounds | None) -> str:
    if forces is not None and forces[0] != -forces[1]:
        return f"its forcerange {forces[0]:g} … {forces[1]:g} is not symmetric"
    if controls is not None and controls[0] != -controls[1]:
        return f"its ctrlrange {controls[0]:g} … {controls[1]:g}, which limits the effort, is not symmetric"
    return ""


def refused(laws: Mapping[Key, Law | str], joint: str) -> list[tuple[Key, str]]:
    """Return the actuators of one joint that are no linear laws of it, with reasons; together they must be one law."""
    wrong = [(actuator, law) for actuator, law in laws.items() if isinstance(law, str)]
    if wrong or len(laws) < 2:
        return wrong
    why = _conflict([law for law in laws.values() if isinstance(law, Law)])
    return [(next(iter(laws)), f"one of {len(laws)} on joint {joint!r}, with {why}")] if why else []


def _conflict(laws: Sequence[Law]) -> str:
    if any(law.limited for law in laws):
        return "limits of their own"
    return "other ranges of positions" if len({law.positions for law in laws if law.kp}) > 1 else ""


def target_ranges(laws: Sequence[Law]) -> tuple[Bounds, Bounds]:
    """Return the ranges of the position and of the velocity targets of a drive that does what some laws do."""
    positions = next((law.positions for law in laws if law.kp), NO_BOUNDS)
    return positions, next((law.velocities for law in laws if not law.kp), NO_BOUNDS)


def ranges_without_motor(laws: Mapping[str, Law]) -> list[str]:
    """Return actuators, by name, with the range of position targets that no motor has."""
    ranges = {name: law.positions for name, law in laws.items() if law.positions != NO_BOUNDS}
    return [f"{name} ({low:g} … {high:g})" for name, (low, high) in ranges.items()]


def motor_of(laws: Sequence[Law], limit: float, properties: Mapping[str, float | None] | None = None) -> MotorConfig:
    """Return the motor that is equivalent to the actuators of one joint, of which there may be none."""
    kp, kd, constant = (sum((getattr(law, name) for law in laws), 0.0) for name in ("kp", "kd", "const_effort"))
    most = min((law.inputs[1] for law in laws), default=math.inf)
    limit = min([limit, *(law.efforts[1] for law in laws)])
    clamps: list[ClampingConfig] = []
    if math.isfinite(most) and kd > 0:
        clamps = [DCMotorClampingConfig(most, most / kd, limit)]
    elif math.isfinite(limit := min(limit, most)):
        clamps = [MaxEffortClampingConfig(limit)]
    own: dict[str, Any] = dict(properties or {})
    return MotorConfig(PDControlConfig(kp, kd, constant), clamps, **own)


def _times(bounds: Bounds, factor: float) -> Bounds:
    low, high = sorted(float(bound * factor) for bound in bounds)
    return low, high
