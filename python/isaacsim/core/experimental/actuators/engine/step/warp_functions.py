"""Structs and functions that the generated kernel of a step calls, and small kernels beside it."""

# Warp structs and kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportOperatorIssue=false, reportReturnType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from typing import Any

import warp as wp

from ...laws.contract.late import SPARE_ROWS

wp.set_module_options({"enable_backward": False})

BITS = 31
"""Number of bits in an element of `Slots.has`."""


SPARE = wp.constant(SPARE_ROWS)


@wp.struct
class Slots:
    """The plan, by slot."""

    # per slot: column, controller, place among the slots with a delay; -1 for none
    column: wp.array[int]
    controller: wp.array[int]
    delay_place: wp.array[int]
    num_slots: int
    num_delayed: int
    depth: int
    lag: wp.array2d[int]
    # per stateful law: number of slots with the law, and place of each slot among them
    law_count: wp.array[int]
    law_place: wp.array2d[int]
    # a bit per stage after the controllers, then per feedback law: set if the slot has it; `BITS` of them a row
    has: wp.array2d[int]
    # per curve of a law and slot: first row and number of rows in `curves`
    curve_first: wp.array2d[int]
    curve_count: wp.array2d[int]
    # per signal that laws ask for and slot: nonzero if a law of the slot asks for it
    asked: wp.array2d[int]
    # prepared rows of all curves
    curves: wp.array2d[float]


@wp.struct
class Ring:
    """Ring buffers of delayed commands, see `StepState`."""

    pos: wp.array2d[float]
    vel: wp.array2d[float]
    act: wp.array2d[float]
    pushes: wp.array[int]
    newest: wp.array[int]


@wp.struct
class Faults:
    """First fault of each robot and slot, and its step.

    `counted` is the number of steps that the device has counted, as graphs step without Python. The step of a fault is
    `steps + counted`: a step that is counted lowers `steps` of all faults by one, since its threads cannot read the
    count while one of them writes it.
    """

    codes: wp.array2d[int]
    steps: wp.array2d[int]
    counted: wp.array[int]


@wp.func
def element(values: wp.array[float], at: wp.uint32) -> float:
    """Return an element of a flat array; NaN, which is a fault, beyond its end."""
    if at < wp.uint32(values.shape[0]):
        return values[at]
    return wp.nan


@wp.func
def element_or_zero(values: wp.array[float], indices: wp.array[wp.uint32], i: int) -> float:
    """Return an indexed element of an optional array; zero without the array."""
    if values:
        return element(values, indices[i])
    return 0.0


@wp.func
def add(values: wp.array[float], at: wp.uint32, value: float):
    """Add to an element of an optional array."""
    if values:
        if at < wp.uint32(values.shape[0]):
            # several joints may share an element
            wp.atomic_add(values, int(at), value)


@wp.func
def nan_or_zero(value: float) -> float:
    """Return NaN for NaN, else zero."""
    if wp.isnan(value):
        return value
    return 0.0


@wp.func
def keep(value: float, kept: wp.array2d[float], robot: int, slot: int):
    """Store a value; a value that is not finite leaves the previous one."""
    if wp.isfinite(value):
        kept[robot, slot] = value


@wp.func
def wrapped(row: int, depth: int) -> int:
    """Return a row number modulo the depth of the ring."""
    return (row % depth + depth) % depth


@wp.func
def entering(command: float, ring: wp.array2d[float], newest: int, j: int, pushes: int) -> float:
    """Return the command; if it is not finite, the previous command, if there is one."""
    if pushes > 0 and not wp.isfinite(command):
        return ring[newest, j]
    return command


@wp.func
def delayed(command: float, ring: wp.array2d[float], newest: int, j: int, lag: int, depth: int) -> float:
    """Return the command of `lag` steps ago; row `newest` holds the command of one step ago."""
    if lag > 0:
        return ring[wrapped(newest - lag + 1, depth), j]
    return command


@wp.func
def push(
    command: float, now: wp.array2d[float], after: wp.array2d[float], newest: int, j: int, pushes: int, apart: int
):
    """Write the row after `newest`, which is the oldest row; rows without a command get the oldest command."""
    depth = after.shape[0]
    if apart != 0 or pushes < depth:
        for age in range(depth - 1):
            row = wrapped(newest - age, depth)
            if pushes == 0:
                after[row, j] = command
            else:
                after[row, j] = now[wrapped(newest - wp.min(age, pushes - 1), depth), j]
    after[wrapped(newest + 1, depth), j] = command


@wp.func
def late_row(newest: float, depth: int) -> int:
    """Return the row of a ring of past results that a step writes; see `laws/contract/late.py`."""
    if newest >= 0.0 and newest < float(depth - 1):
        return int(newest) + 1
    return 0


@wp.func
def newest_after(newest: float, depth: int) -> float:
    """Return the newest row of a ring after a step; none if nothing is kept."""
    if depth <= SPARE:
        return newest
    return float(late_row(newest, depth))


@wp.func
def carry(now: wp.array2d[float], after: wp.array2d[float], j: int, apart: int):
    """Copy a ring of past results to the state after the step, if that is another one."""
    if apart != 0:
        for k in range(after.shape[0]):
            after[k, j] = now[k, j]


@wp.func
def acting(value: float, lag: float, newest: float, ring: wp.array2d[float], j: int) -> float:
    """Write a result to its ring, and return the one of `lag` steps ago, interpolated."""
    depth = ring.shape[0]
    if depth <= SPARE:
        # nothing is kept for a delay of zero
        return value
    row = late_row(newest, depth)
    if wp.isnan(newest):
        for k in range(depth):
            ring[k, j] = value
    ring[row, j] = value
    most = float(depth - SPARE)
    bounded = wp.float32(most)
    if lag < most:
        # a delay below zero, of an array that is not checked, is none
        bounded = wp.max(lag, 0.0)
    steps = int(bounded)
    rest = bounded - float(steps)
    one = ring[wrapped(row - steps, depth), j]
    other = ring[wrapped(row - steps - 1, depth), j]
    return one + rest * (other - one)


@wp.kernel
def advance_kernel(depth: int, now: wp.array[int], after: wp.array[int]):
    """Advance the delays by a row; a launch of its own, because every thread of the step reads the old row number."""
    after[0] = wrapped(now[0] + 1, depth)


@wp.kernel
def reset_kernel(chosen: wp.array[bool], slots: Slots, pushes: wp.array[int], latched: wp.array2d[int]):
    """Reset delayed commands and faults of the chosen robots."""
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
    unset: wp.array2d[float],
    signal: wp.array2d[float],
):
    """Publish a state of a law as a signal, of chosen robots or of all; another value where it is NaN."""
    robot, slot = wp.tid()
    if place[slot] >= 0:
        if chosen and not chosen[robot]:
            return
        value = state[robot * count + place[slot]]
        if wp.isnan(value):
            value = unset[robot, slot]
        signal[robot, slot] = value


@wp.kernel
def total_kernel(signal: wp.array2d[float], slots: wp.array[int], total: wp.array2d[float]):
    """Add up a signal over some slots of each robot, in their order; every slot of the robot gets the total."""
    robot = wp.tid()
    added = wp.float32(0.0)
    for k in range(slots.shape[0]):
        added += signal[robot, slots[k]]
    for slot in range(total.shape[1]):
        total[robot, slot] = added


@wp.kernel
def piece_kernel(piece: wp.array2d[Any], slots: wp.array[int], row: wp.array2d[Any]):
    """Copy the values of some slots into their row."""
    robot, k = wp.tid()
    row[robot, slots[k]] = piece[robot, k]


for _dtype in (wp.float32, wp.int32):
    wp.overload(piece_kernel, [wp.array2d(dtype=_dtype), wp.array(dtype=wp.int32), wp.array2d(dtype=_dtype)])


@wp.kernel
def write_efforts_kernel(
    at: wp.array[wp.uint32],
    bad: wp.array[int],
    raw: wp.array[float],
    limited: wp.array[float],
    computed: wp.array[float],
    efforts: wp.array[float],
):
    """Replace the efforts of the first phase, before and after limits; on a fault the effort is NaN."""
    n = wp.tid()
    computed[at[n]] = raw[n]
    if bad[at[n]] != 0 or not wp.isfinite(raw[n]):
        efforts[at[n]] = wp.nan
    else:
        efforts[at[n]] = limited[n]
