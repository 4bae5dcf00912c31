"""A motor as one describes it: control law, limits, delay, and what it adds to the joint that it drives."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from .configs import ClampingConfig, Config, ControlConfig, DelayConfig


@dataclass
class MotorConfig:
    """What drives a joint.

    Numbers may be dictionaries from patterns, which match joint names in full, to numbers.
    """

    controller: ControlConfig | None = None
    """The control law."""
    clamping: list[ClampingConfig] = field(default_factory=list)
    """Effort limits."""
    delay: DelayConfig | None = None
    """Command delay."""
    armature: float | dict[str, float] | None = None
    """Inertia that the rotor adds to the joint [kg·m² or kg]; None leaves it as it is."""
    friction: float | dict[str, float] | None = None
    """Dry friction of the joint [N·m or N]; None leaves it as it is."""


Motors = Mapping[str, MotorConfig | Sequence[Config]]
"""Motors by pattern, which matches joint names in full; a list of configs stands for a motor of them."""
