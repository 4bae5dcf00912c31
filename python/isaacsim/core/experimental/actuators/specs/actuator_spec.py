"""One actuator as plain data: the input of the pipeline, from USD or from motors of a program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from .configs import ClampingConfig, Config, ControlConfig, DelayConfig
from .stages import Staged

ACTUATOR_TYPE = "NewtonActuator"
"""Type of the prim."""


@dataclass(frozen=True)
class ActuatorSpec(Staged):
    """One actuator of a robot file or of a program.

    In a program, a value of a config may be an array `(joints,)` or `(robots, joints)`.
    """

    # of the `NewtonActuator` prim, or the pattern of a motor
    path: str
    # driven joint prims, in authored order, as are stages; each has the whole pipeline
    targets: tuple[str, ...]
    controller: ControlConfig | None = None
    clamping: Sequence[ClampingConfig] = ()
    delay: DelayConfig | None = None
    # network of a neural controller, if its file was read
    checkpoint: Any = field(default=None, compare=False, repr=False)
    # driven joint axes; by default the names of the joints
    dof_names: tuple[str, ...] = ()
    others: Sequence[Config] = ()

    def __post_init__(self) -> None:
        # the class is frozen
        controller, others = self.with_switches()
        for name, value in (("controller", controller), ("clamping", tuple(self.clamping)), ("others", tuple(others))):
            object.__setattr__(self, name, value)
        if not self.dof_names:
            object.__setattr__(self, "dof_names", tuple(target.rsplit("/", 1)[1] for target in self.targets))

    @property
    def target_paths(self) -> tuple[str, ...]:
        """Path of each joint, or of the axis of one that has several, `/Robot/hip.rotX`."""
        axes = [name.partition(":")[2] for name in self.dof_names]
        return tuple(f"{joint}.{axis}" if axis else joint for joint, axis in zip(self.targets, axes, strict=True))
