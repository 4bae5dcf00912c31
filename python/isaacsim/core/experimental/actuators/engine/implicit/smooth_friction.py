"""Laws of dry friction for gradients that do not end at a joint that sticks.

A joint that sticks does not move when its effort changes a little, so its gradient says nothing about how to free it.
These laws bound the dry friction smoothly, of which the gradient is a surrogate; efforts stay those of the others.

    f⁺ = F·tanh(w/F)  instead of  clip(w, −F, F)     w  the dry friction that would keep the velocity
    ∂f⁺/∂w = 1 − tanh²(w/F)                          1 far inside, as of the clip, 0.42 at the level, 0.07 at twice it

They are the laws that call `friction_step`, with another bound there.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any, Final

import warp as wp

from ...laws.contract import friction_step
from ...laws.contract.functions import tanh
from ...specs.stages import AnyStage

# smallest width of an interval that is smooth
_THIN: Final = 1.0e-30


@wp.func
def smoothly_bounded(value: float, lower: float, upper: float) -> float:
    """Return a value that stays within an interval, with a slope everywhere."""
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    scale = half if half > _THIN else _THIN
    return middle + half * tanh((value - middle) / scale)


def calling(law: AnyStage, name: str, **functions: object) -> AnyStage:
    """Return a `wp.func` of the source of another one that calls other functions by the same names."""
    known: FunctionType = law.func
    copied = FunctionType(known.__code__, known.__globals__ | functions, name, known.__defaults__, known.__closure__)
    copied.__annotations__, copied.__qualname__, copied.__module__ = known.__annotations__, name, __name__
    return wp.func(copied)


_step = calling(friction_step.friction_step, "smooth_friction_step", bounded=smoothly_bounded, within=smoothly_bounded)


def _smooth(function: Any, *callers: object) -> Any:
    """Return a `wp.func` with smooth steps in the place of those that it calls, also by others; None if it has none."""
    known = function.func
    # of Warp's own there is no source, and some call themselves
    if not isinstance(known, FunctionType) or function in callers:
        return None
    called = {name: one for name in known.__code__.co_names if hasattr(one := known.__globals__.get(name), "func")}
    smooth = {
        name: found
        for name, one in called.items()
        if (found := _step if one is friction_step.friction_step else _smooth(one, function, *callers)) is not None
    }
    return calling(function, f"smooth_{known.__name__}", **smooth) if smooth else None


@functools.cache
def smooth_law(law: AnyStage) -> AnyStage:
    """Return the law with a smooth bound of the dry friction; None for a law that does not step any."""
    function = getattr(law, "LAW", None)
    smooth = None if function is None else _smooth(function)
    return None if smooth is None else type(f"Smooth{law.__name__}", (law,), {"LAW": smooth, "__doc__": law.__doc__})
