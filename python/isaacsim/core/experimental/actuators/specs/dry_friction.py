"""Parameters that are dry friction, by their names, which all laws of friction have in common."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from .engine_friction import is_friction, portable_levels

LEVELS: Final = ("coulomb", "static")
"""Levels of dry friction [N·m or N]; the larger one breaks a joint away."""

_PER_EFFORT: Final = "_load"


def is_dry(parameter: str) -> bool:
    """Return True if a parameter is a level of dry friction, or dry friction per effort."""
    return parameter in LEVELS or parameter.endswith(_PER_EFFORT)


def breakaway(stages: Iterable[object]) -> float:
    """Return the level at which the dry friction of stages breaks away without load [N·m or N]; 0 for none."""
    return sum(max(portable_levels(stage)[: len(LEVELS)]) for stage in filter(is_friction, stages))
