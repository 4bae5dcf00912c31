"""Joints and motors of a robot file."""

from __future__ import annotations

import os
from collections.abc import Mapping

from ...base.extras import needs
from ...specs.arguments import MODEL_FILES, path_of, require_type
from .described import InspectedRobot
from .model import robots_of_model
from .stage import robots_of_stage


def inspect_robots(file: str | os.PathLike[str], variants: Mapping[str, str] | None = None) -> list[InspectedRobot]:
    """Return the robots of a file: joints, limits, drivers, and the source of each value.

    Broken actuator prims are listed in `problems` and hide nothing else. Networks of known formats are read. Numbers
    are SI.

    Args:
        file: Path of a USD, MJCF (`.xml`, `.mjcf`) or URDF file.
        variants: Variants of a USD file to select, by variant set; None keeps those of the file.

    Raises:
        FileNotFoundError: No such file.
        ValueError: The file cannot be read, or there is no such variant.
        ModuleNotFoundError: USD or MuJoCo is missing, which the extra `sim` brings.

    Example:
        >>> from isaacsim.core.experimental.actuators import inspect_robots
        >>> (arm,) = inspect_robots("data/robots/arm_2dof.usda")
        >>> [(joint.name, joint.driven_by) for joint in arm.joints]
        [('shoulder', 'actuator'), ('extension', 'actuator')]
        >>> arm.actuators[0].pipeline
        'PD(kp=200, kd=20) → max effort 60'
    """
    if variants is not None:
        require_type("variants", variants, Mapping, "a dictionary")
    path = path_of("file", file)
    if path.suffix.lower() in MODEL_FILES:
        if variants:
            raise ValueError(f"{path}: has no variants, for it is not USD. Leave them out.")
        return robots_of_model(path)
    with needs("a USD file", "usd"):
        from ...files.usd.stage import open_stage, select_variants

    stage = open_stage(path)
    select_variants(stage, variants or {})
    return robots_of_stage(stage)
