"""Choice of the engine that runs a plan; Warp and array stages are imported on use."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import warp as wp

from ..plan import ArrayStages, Plan
from .native import NativeStep

if TYPE_CHECKING:
    from .array_stages import ArrayStagesStep
    from .warp import WarpStep


def make_step(plan: Plan, device: wp.DeviceLike, *, on_core: bool, label: str = "") -> NativeStep | WarpStep:
    """Return the step of a plan."""
    if on_core:
        return NativeStep(plan, label)
    from .warp import WarpStep

    return WarpStep(plan, device)


def with_array_stages(
    step: NativeStep | WarpStep, stages: Sequence[tuple[str, ArrayStages, Sequence[int]]], device: wp.DeviceLike
) -> ArrayStagesStep:
    """Return a step with array stages between its phases."""
    from .array_stages import ArrayStagesStep, Insert

    return ArrayStagesStep(step, [Insert(label, one, at, step.plan, device) for label, one, at in stages], device)
