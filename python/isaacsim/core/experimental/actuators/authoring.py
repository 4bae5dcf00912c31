"""Put an actuator into a robot's USD stage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from .extras import needs
from .hosts.current import current_stage
from .specs.configs import ClampingConfig, ControlConfig, DelayConfig


def add_actuator(
    articulation_root: str,
    target_names: str | Sequence[str],
    name: str,
    controller: ControlConfig,
    *,
    clamping: Sequence[ClampingConfig] | None = None,
    delay: DelayConfig | None = None,
    overwrite_existing: bool = False,
    stage: Any = None,
) -> Any:
    """Define the actuator prim `<articulation_root>/Actuators/<name>` and return it.

    Everything is checked before the stage is touched. Units are rad, rad/s and N·m (m, m/s and N for prismatic joints),
    never degrees. Wrappers that exist already do not pick the prim up.

    Args:
        articulation_root: Path of the robot's prim.
        target_names: Name of the joint to drive, or several; found anywhere below the root.
        name: Name of the new prim.
        controller: The control law.
        clamping: Effort limits.
        delay: Command delay.
        overwrite_existing: Replace a prim of that name.
        stage: Where to author; None means that of the innermost `use_stage` or simulation.

    Raises:
        ValueError: Bad root, name, joint or value, a taken name, or a place that cannot be edited here.
        TypeError: A config of the wrong kind, or no stage.
        HostError: No stage given and none current.
        ModuleNotFoundError: USD is missing, which the extra `usd` brings.

    Example:
        >>> from pxr import Usd
        >>> from isaacsim.core.experimental.actuators import MaxEffortClampingConfig, PDControlConfig, add_actuator
        >>> stage = Usd.Stage.Open("data/robots/pendulum.usda")
        >>> prim = add_actuator(
        ...     "/World/Pendulum", "hinge", "soft_hinge", PDControlConfig(kp=5.0, kd=0.5),
        ...     clamping=[MaxEffortClampingConfig(8.0)], stage=stage,
        ... )
        >>> print(prim.GetPath())
        /World/Pendulum/Actuators/soft_hinge
    """
    with needs("add_actuator", "usd"):
        from .usd.author import author_actuator

    return author_actuator(
        current_stage() if stage is None else stage,
        articulation_root,
        target_names,
        name,
        controller,
        clamping=clamping,
        delay=delay,
        overwrite_existing=overwrite_existing,
    )
