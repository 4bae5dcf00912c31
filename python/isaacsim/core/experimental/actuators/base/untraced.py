"""Keep actuators, which are native code that reads arrays in place, out of compilers that trace Python.

`torch.compile` ends its graph before a call and begins another one behind it. Two things see to that: a mark on a
function, as `torch.compiler.disable` leaves it, which ends the graph of the caller; and a note on its code, by which
the function and what it calls run as they are. `torch.compiler.disable` itself would import the compiler, which takes
seconds, and be one call more in each step. `jax.jit` goes through a function once, without numbers, so that what it
traces is refused. Neither library is imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, TypeVar

Function = TypeVar("Function", bound=Callable[..., object])

_REASON = "Actuators are native code that reads arrays where they lie. Compile what is around them."
_marked: list[Any] = []


def untraced(function: Function) -> Function:
    """Keep a function, and whatever it calls, out of graphs; from `leave_out` on out of the compiler, too."""
    marked: Any = function
    marked._torchdynamo_disable, marked._torchdynamo_disable_msg = True, _REASON
    _marked.append(marked)
    return function


@untraced
def leave_out() -> None:
    """Note it on the code of all functions that are marked, if Torch is there by now."""
    torch = sys.modules.get("torch")
    frames: Any = getattr(getattr(getattr(torch, "_C", None), "_dynamo", None), "eval_frame", None)
    if not _marked or not hasattr(frames, "set_code_exec_strategy"):
        return
    skip = frames._FrameAction.SKIP
    while _marked:
        frames.set_code_exec_strategy(_marked.pop().__code__, frames._FrameExecStrategy(skip, skip))


def refuse_traced(value: object, name: str = "a value") -> None:
    """Raise a `ValueError` for what JAX passes to a function that it traces; the error calls it `name`."""
    if any(base.__name__ == "Tracer" and base.__module__.startswith("jax.") for base in type(value).__mro__):
        raise ValueError(
            f"{name} is traced by JAX: must be an array, actuators do not run within jax.jit, jax.grad or jax.vmap. "
            "Call them outside, or through jax.experimental.io_callback with ordered=True."
        )
