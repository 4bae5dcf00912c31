"""Copy the state of a component into another state of it, in place."""

from __future__ import annotations

import dataclasses
import sys
from typing import Any

import warp as wp

from ..laws.contract.base import Component

_REMEDY = "Take both from state() of one actuator."


def assign_state(mine: Any, other: Any, name: str) -> None:
    """Copy the arrays of a component's state into those of another, by its method `assign` if it has one."""
    if mine is None and other is None:
        return
    if mine is None or type(mine) is not type(other):
        raise ValueError(f"{name} is a {type(other).__name__}: must be a {type(mine).__name__}. {_REMEDY}")
    if hasattr(mine, "assign"):
        mine.assign(other)
        return
    declared = _declared(mine)
    extra = {*getattr(mine, "__dict__", ()), *getattr(other, "__dict__", ())} - set(declared)
    if extra:
        raise ValueError(
            f"{name} has undeclared state attributes: {', '.join(sorted(extra))}. Declare them as fields of the class."
        )
    for field in declared:
        _copy(getattr(mine, field), getattr(other, field), f"{name}.{field}")


def _declared(state: Any) -> list[str]:
    own = type(state)
    # the component of a law names the arrays
    if own is Component.State:
        return list(vars(state))
    # a subclass that is no dataclass may have attributes that its base does not declare
    if "__dataclass_fields__" not in vars(own):
        raise NotImplementedError(f"{own.__qualname__} must be decorated with @dataclass or implement assign.")
    return [field.name for field in dataclasses.fields(state)]


def _copy(mine: Any, other: Any, name: str) -> None:
    if mine is None and other is None:
        return
    kind, shape = type(other).__name__, getattr(other, "shape", None)
    if mine is None or type(mine) is not type(other) or shape != getattr(mine, "shape", None):
        raise ValueError(
            f"{name} is {kind} of shape {shape}: must be {type(mine).__name__} of {getattr(mine, 'shape', None)}. "
            f"{_REMEDY}"
        )
    if isinstance(mine, wp.array):
        wp.copy(mine, other)
    elif hasattr(mine, "copy_"):
        # a program with tensors has imported Torch
        with sys.modules["torch"].inference_mode():
            mine.copy_(other)
    else:
        raise ValueError(f"{name} is {kind}: must be an array of Warp or Torch. Write assign in the state's class.")
