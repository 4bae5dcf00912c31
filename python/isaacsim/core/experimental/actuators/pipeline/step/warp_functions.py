"""What the generated kernel of a step calls, and the small kernels around it."""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import warp as wp

wp.set_module_options({"enable_backward": False})


@wp.struct
class Slots:
    """What a plan says of its slots."""

    # per slot: column, controller, place among those with a delay, -1 for none
    column: wp.array[int]
    controller: wp.array[int]
    delay_place: wp.array[int]
    num_slots: int
    num_delayed: int
    depth: int
    lag: wp.array2d[int]
    # per stateful law: how many slots have it, and the place of each slot among them
    law_count: wp.array[int]
    law_place: wp.array2d[int]
    # per stage after the controllers and slot: whether it has the stage
    used: wp.array2d[int]
    # per curve of a law and slot: where its rows are
    curve_first: wp.array2d[int]
    curve_count: wp.array2d[int]
    # per signal that laws ask for and slot: whether a law of the slot does
    asked: wp.array2d[int]
    # per feedback law and slot: whether it has the law
    sensed: wp.array2d[int]
    # prepared rows of all curves
    curves: wp.array2d[float]


@wp.struct
class Ring:
    """Commands that wait, see `StepState`."""

    pos: wp.array2d[float]
    vel: wp.array2d[float]
    act: wp.array2d[float]
    pushes: wp.array[int]
    newest: wp.array[int]


@wp.struct
class Faults:
    """First fault of each robot and slot, its step, and the steps that Python does not see: those of a graph."""

    codes: wp.array2d[int]
    steps: wp.array2d[int]
    counted: wp.array[int]


@wp.func
def element(values: wp.array[float], at: wp.uint32) -> float:
    """Return an element of a flat array; NaN beyond its end, which is a fault."""
    if at < wp.uint32(values.shape[0]):
        return values[at]
    return wp.nan


@wp.func
def element_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], i: int) -> float:
    """Return what an index stands for in an optional array; without the array, zero."""
    if values:
        return element(values, indices[i])
    return 0.0


@wp.func
def add(values: wp.array[float], at: wp.uint32, value: float):
    """Add to an element of an optional array."""
    if values:
        if at < wp.uint32(values.shape[0]):
            # several joints may share a place
            wp.atomic_add(values, int(at), value)


@wp.func
def nan_or_zero(value: float) -> float:
    """Return NaN for NaN, else zero."""
    if wp.isnan(value):
        return value
    return 0.0


@wp.func
def keep(value: float, kept: wp.array2d[float], robot: int, slot: int):
    """Lay down a value; what is not finite leaves the value before."""
    if wp.isfinite(value):
        kept[robot, slot] = value


@wp.func
def wrapped(row: int, depth: int) -> int:
    """Return the row of the ring that a number stands for, whatever it is."""
    return (row % depth + depth) % depth


@wp.func
def entering(command: float, ring: wp.array2d[float], newest: int, j: int, pushes: int) -> float:
    """Return the command; one that is not finite is as it was before, once there was one."""
    if pushes > 0 and not wp.isfinite(command):
        return ring[newest, j]
    return command


@wp.func
def delayed(command: float, ring: wp.array2d[float], newest: int, j: int, lag: int, depth: int) -> float:
    """Return the command of `lag` steps ago; row `newest` holds that of one step ago."""
    if lag > 0:
        return ring[wrapped(newest - lag + 1, depth), j]
    return command


@wp.func
def push(
    command: float,
    now: wp.array2d[float],
    after: wp.array2d[float],
    newest: int,
    j: int,
    pushes: int,
    depth: int,
    apart: int,
):
    """Write the row after `newest`, which is the oldest one; rows without a command get the oldest there is."""
    if apart != 0 or pushes < depth:
        for age in range(depth - 1):
            row = wrapped(newest - age, depth)
            if pushes == 0:
                after[row, j] = command
            else:
                after[row, j] = now[wrapped(newest - wp.min(age, pushes - 1), depth), j]
    after[wrapped(newest + 1, depth), j] = command


@wp.kernel
def advance_kernel(depth: int, steps: int, now: wp.array[int], after: wp.array[int], counted: wp.array[int]):
    """Let the delays go on by a row: by itself, when every thread of the step has read where they stood."""
    after[0] = wrapped(now[0] + 1, depth)
    counted[0] = counted[0] + steps


@wp.kernel
def count_kernel(counted: wp.array[int]):
    """Count a step."""
    counted[0] = counted[0] + 1


@wp.kernel
def reset_kernel(chosen: wp.array[bool], slots: Slots, pushes: wp.array[int], latched: wp.array2d[int]):
    """Forget commands and faults of the chosen robots."""
    robot, slot = wp.tid()
    if chosen[robot]:
        if slots.delay_place[slot] >= 0:
            pushes[robot * slots.num_delayed + slots.delay_place[slot]] = 0
        latched[robot, slot] = 0


@wp.kernel
def publish_kernel(
    chosen: wp.array[bool],
    state: wp.array[float],
    place: wp.array[int],
    count: int,
    neutral: float,
    signal: wp.array2d[float],
):
    """Publish a number that a law remembers; one that is not set stands for the neutral value. Robots may be chosen."""
    robot, slot = wp.tid()
    if place[slot] >= 0:
        if chosen and not chosen[robot]:
            return
        value = state[robot * count + place[slot]]
        if wp.isnan(value):
            value = neutral
        signal[robot, slot] = value


@wp.kernel
def total_kernel(signal: wp.array2d[float], slots: wp.array[int], total: wp.array2d[float]):
    """Add up a signal over some slots of each robot, in their order, for all of its slots."""
    robot = wp.tid()
    added = wp.float32(0.0)
    for k in range(slots.shape[0]):
        added += signal[robot, slots[k]]
    for slot in range(total.shape[1]):
        total[robot, slot] = added


@wp.kernel
def piece_kernel(piece: wp.array2d[Any], slots: wp.array[int], row: wp.array2d[Any]):
    """Put the values of some slots into their row."""
    robot, k = wp.tid()
    row[robot, slots[k]] = piece[robot, k]


for _dtype in (wp.float32, wp.int32):
    wp.overload(piece_kernel, [wp.array2d(dtype=_dtype), wp.array(dtype=wp.int32), wp.array2d(dtype=_dtype)])


@wp.kernel
def give_kernel(
    at: wp.array[wp.uint32],
    bad: wp.array[int],
    raw: wp.array[float],
    limited: wp.array[float],
    computed: wp.array[float],
    efforts: wp.array[float],
):
    """Put efforts in the place of those of the first phase, before limits and after; a fault is one whatever comes."""
    n = wp.tid()
    computed[at[n]] = raw[n]
    if bad[at[n]] != 0 or not wp.isfinite(raw[n]):
        efforts[at[n]] = wp.nan
    else:
        efforts[at[n]] = limited[n]
