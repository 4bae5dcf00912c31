"""Kernels made from a scalar law: gathering its arguments and scattering its results is generated, the law is not.

A law is a `wp.func` of floats. A controller's takes

    (position, velocity, position target, velocity target, feedforward, dt, *state, *parameters)

and returns the effort [N·m or N], followed by the new state where it has one; a clamp's takes

    (effort, position, velocity, *parameters)

and returns the limited effort. States and parameters come in the order of the class's `STATE` and `PARAMETERS`.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Sequence
from typing import Any

import warp as wp

CONTROLLER_SIGNALS = ("position", "velocity", "position_target", "velocity_target", "feedforward", "dt")
CLAMPING_SIGNALS = ("effort", "position", "velocity")


@wp.func
def value_or_zero(values: wp.array[float], at: int) -> float:
    """Return an element of an optional array; without the array, zero."""
    if values:
        return values[at]  # pyright: ignore[reportReturnType]
    return 0.0


@wp.func
def indexed_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], at: int) -> float:
    """Return the element of an optional array that an index stands for; without the array, zero."""
    if values:
        return values[indices[at]]  # pyright: ignore
    return 0.0


@wp.func
def bounded(value: float, lower: float, upper: float) -> float:
    """Return `value` within the bounds; NaN when it is NaN or the bounds are no interval, so that a fault shows."""
    if wp.isnan(value) or not lower <= upper:
        return wp.nan
    return wp.clamp(value, lower, upper)


def require_law(owner: Any, signals: Sequence[str]) -> None:
    """Refuse a law that does not take what its class promises.

    Raises:
        TypeError: It is no `wp.func`, or has another number of arguments.
    """
    law, expected = owner.LAW, (*signals, *getattr(owner, "STATE", ()), *owner.PARAMETERS)
    if not isinstance(law, wp.Function):
        raise TypeError(f"{owner.__name__}.LAW = {law!r}: must be a wp.func. Decorate the law with @wp.func.")
    if len(law.input_types) != len(expected):
        raise TypeError(
            f"{owner.__name__}.LAW takes {len(law.input_types)} arguments ({', '.join(law.input_types)}): must take "
            f"{len(expected)} ({', '.join(expected)}). Correct the law, STATE or PARAMETERS."
        )


def generated_kernel(name: str, text: str, functions: dict[str, Any]) -> wp.Kernel:
    """Return the kernel `name` of a source text that calls `functions`, in a module of its own."""
    laws = [f"{law.func.__module__}.{law.key}" for law in functions.values() if isinstance(law, wp.Function)]
    digest = hashlib.sha256(f"{text}{laws}".encode()).hexdigest()[:12]
    scope = {"wp": wp, **functions}
    exec(compile(text, f"<{name}>", "exec"), scope)
    module = wp.get_module(f"{__name__}.{name}_{digest}")
    module.options["enable_backward"] = False
    return wp.Kernel(scope[name], key=name, module=module, source=text)


def each(pattern: str, names: Sequence[str]) -> str:
    """Return the pattern once per name, its braces filled with the position of the name."""
    return "".join(pattern.format(number) for number in range(len(names)))


@functools.cache
def controller_kernel(owner: Any) -> wp.Kernel:
    """The kernel of a controller class by itself: one thread per actuator, arrays read through indices."""
    require_law(owner, CONTROLLER_SIGNALS)
    text = f"""
def compute(
    # In:
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    feedforward: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    dt: float,
    # State in, params:
    {each("state_{}: wp.array[float], ", owner.STATE)}
    {each("parameter_{}: wp.array[float], ", owner.PARAMETERS)}
    # State out, out:
    {each("next_{}: wp.array[float], ", owner.STATE)}
    efforts: wp.array[float],
):
    slot = wp.tid()
    effort{each(", new_{}", owner.STATE)} = law(
        positions[position_indices[slot]],
        velocities[velocity_indices[slot]],
        position_targets[position_target_indices[slot]],
        velocity_targets[velocity_target_indices[slot]],
        value_or_zero(feedforward, int(velocity_target_indices[slot])),
        dt,
        {each("state_{}[slot], ", owner.STATE)}
        {each("value_or_zero(parameter_{}, slot), ", owner.PARAMETERS)}
    )
    efforts[slot] = effort
    {each("next_{0}[slot] = new_{0}; ", owner.STATE)}
"""
    return generated_kernel("compute", text, {"law": owner.LAW, "value_or_zero": value_or_zero})


@functools.cache
def clamping_kernel(owner: Any) -> wp.Kernel:
    """The kernel of a clamping class by itself: one thread per actuator, arrays read through indices."""
    require_law(owner, CLAMPING_SIGNALS)
    text = f"""
def limit(
    # In:
    efforts_in: wp.array[float],
    positions: wp.array[float],
    velocities: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    # Params:
    {each("parameter_{}: wp.array[float], ", owner.PARAMETERS)}
    # Out:
    efforts_out: wp.array[float],
):
    slot = wp.tid()
    efforts_out[slot] = law(
        efforts_in[slot],
        indexed_or_zero(positions, position_indices, slot),
        indexed_or_zero(velocities, velocity_indices, slot),
        {each("value_or_zero(parameter_{}, slot), ", owner.PARAMETERS)}
    )
"""
    functions = {"law": owner.LAW, "value_or_zero": value_or_zero, "indexed_or_zero": indexed_or_zero}
    return generated_kernel("limit", text, functions)
