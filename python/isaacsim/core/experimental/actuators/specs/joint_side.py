"""Gains of an actuator, and bounds of its efforts and speeds, as they are at the joint.

With a transmission, control law, winding and limits are those of the motor. A gear of ratio N multiplies their gains by
N² and their efforts by |N|, and divides their speeds by |N|. For a rigid gear this is exact. Behind a spring the bounds
hold in steady motion, and the gains are those of the loop that the motor closes over its own angle.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

from .config import Config
from .servo import gains_of
from .stages import KINDS, AnyStage, Staged, acts_at_joint, is_linked
from .transmission import TransmissionConfig

ConfigOf = Callable[[AnyStage], object]
"""Returns the config of a stage, or None for a stage of which nothing is known."""


def _itself(stage: object) -> object:
    return stage


def ratio_of(staged: Staged, config_of: ConfigOf = _itself) -> Any:
    """Return the radians of the motor per radian or metre of the joint, a number or an array.

    They are 1 without a transmission, and NaN for one of which nothing is known, such as one of the user's own, and
    with a linkage, whose motors move several joints.
    """
    if is_linked(staged):
        return math.nan
    for kind, stage in staged.by_kind:
        if kind in KINDS and KINDS[kind].converts:
            config = config_of(stage)
            ratio = config.ratio if isinstance(config, TransmissionConfig) else None
            # a file may lack the ratio
            return math.nan if ratio is None else ratio
    return 1.0


def gains_at_joint(staged: Staged, config_of: ConfigOf = _itself) -> tuple[Any, ...] | None:
    """Return proportional, derivative and integral gain at the joint; None for what has none, or unknown ones."""
    gains, ratio = gains_of(staged, config_of), ratio_of(staged, config_of)
    if gains is None or _is_unknown(ratio):
        return None
    return tuple(gain * ratio**2 for gain in gains)


def bounds_at_joint(
    staged: Staged, of: Literal["effort", "speed"], config_of: ConfigOf = _itself
) -> list[tuple[AnyStage, str, float]]:
    """Return what bounds efforts that drive, or speeds without load, at the joint: stage, field, and bound.

    Bounds before a transmission of the user's own are left out.
    """
    ratio = ratio_of(staged, config_of)
    found: list[tuple[AnyStage, str, float]] = []
    for stage in staged.stages:
        config = config_of(stage)
        if not isinstance(config, Config) or (_is_unknown(ratio) and not acts_at_joint(config)):
            continue
        factor = effort_factor(config, ratio) ** (1 if of == "effort" else -1)
        found += [(stage, field, most * factor) for field, most in config.bounds(of).items()]
    return found


def effort_factor(stage: object, ratio: Any) -> Any:
    """Return the effort at the joint per effort of a stage: `|ratio|` before the transmission, 1 behind it."""
    return 1.0 if acts_at_joint(stage) else abs(ratio)


def _is_unknown(ratio: object) -> bool:
    return isinstance(ratio, float) and math.isnan(ratio)
