"""Which engine runs a plan, and what stands between its phases; engines are imported where one is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..plan import ArrayStages, Plan
from .native import NativeStep


def make_step(plan: Plan, device: Any, *, on_core: bool, label: str = "") -> Any:
    """Return the step of a plan.

    Args:
        plan: What to run; it has slots.
        device: Warp device.
        on_core: Whether the native core runs it; else Warp does.
        label: What errors of the core call it.
    """
    if on_core:
        return NativeStep(plan, label)
    from .warp import WarpStep

    return WarpStep(plan, device)


def with_components(step: Any, components: Sequence[tuple[str, ArrayStages, Sequence[int]]], device: Any) -> Any:
    """Return a step with components of one's own between its phases.

    Args:
        step: What runs the plan around them.
        components: Label, components and slots of each actuator.
        device: Warp device.
    """
    from .between import ArrayStagesStep, Insert

    return ArrayStagesStep(step, [Insert(label, one, at, step.plan, device) for label, one, at in components], device)
