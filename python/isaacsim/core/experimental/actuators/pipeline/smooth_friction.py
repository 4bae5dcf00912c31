"""Laws of dry friction for gradients that do not end at a joint that sticks.

A joint that sticks does not move when its effort changes a little, so its gradient says nothing about how to free it.
These laws bound the dry friction smoothly, of which the gradient is a surrogate; efforts stay those of the others.

    f⁺ = F·tanh(w/F)  instead of  clip(w, −F, F)     w  the dry friction that would keep the velocity
    ∂f⁺/∂w = 1 − tanh²(w/F)                          1 far inside, as of the clip, 0.42 at the level, 0.07 at twice it

They are the laws of `passive_friction.py` and `passive_friction_curve.py` with another bound.
"""

from __future__ import annotations

from types import FunctionType
from typing import Any, ClassVar, Final

import warp as wp

from ..components import friction_step, passive_friction, passive_friction_curve
from ..components.functions import tanh
from ..components.passive_friction import PassiveFriction
from ..components.passive_friction_curve import PassiveFrictionCurve

# smallest width of an interval that is smooth
_THIN: Final = 1.0e-30


@wp.func
def smoothly_bounded(value: float, lower: float, upper: float) -> float:
    """Return a value that stays within an interval, with a slope everywhere."""
    middle, half = 0.5 * (lower + upper), 0.5 * (upper - lower)
    scale = half if half > _THIN else _THIN
    return middle + half * tanh((value - middle) / scale)


def calling(law: Any, name: str, **functions: object) -> Any:
    """Return a `wp.func` of the source of another one that calls other functions by the same names.

    Args:
        law: The other function.
        name: Its name.
        functions: Functions by the names in the source.
    """
    known: FunctionType = law.func
    copied = FunctionType(known.__code__, known.__globals__ | functions, name, known.__defaults__, known.__closure__)
    copied.__annotations__, copied.__qualname__, copied.__module__ = known.__annotations__, name, __name__
    return wp.func(copied)


_step = calling(friction_step.friction_step, "smooth_friction_step", bounded=smoothly_bounded, within=smoothly_bounded)


class SmoothFriction(PassiveFriction):
    """`PassiveFriction` with a smooth bound."""

    LAW: ClassVar[Any] = calling(passive_friction.friction, "smooth_friction", friction_step=_step)


class SmoothFrictionCurve(PassiveFrictionCurve):
    """`PassiveFrictionCurve` with a smooth bound."""

    LAW: ClassVar[Any] = calling(
        passive_friction_curve.friction_of_curve, "smooth_friction_of_curve", friction_step=_step
    )


SMOOTH: Final[dict[Any, Any]] = {PassiveFriction: SmoothFriction, PassiveFrictionCurve: SmoothFrictionCurve}
"""The smooth law of each law of dry friction with a bound."""
