"""The state of a step: its layout in memory and in saved states, the same for all engines.

A saved state holds arrays by name. Names of an actuator begin with its label; its arrays are robot-major over its
joints, independent of the engine and of other actuators:

    layout, version           number of this layout, and the version of the package that wrote it: none later than ours
    steps, faults             steps since the last reset; robot, joint, fault code and step of each fault, `(k, 4)`
    LABEL.delay.buffer_pos    position targets of the last steps, the newest last, `(largest delay, robots · joints)`;
                              also buffer_vel and buffer_act, and num_pushes, how many of the rows hold a command
    LABEL.controller.STATE    state of the control law, `(robots · joints,)`; axis 1 of a network's arrays
    LABEL.clamping.K.STATE    state of the actuator's limit number K; likewise for kinds that may occur repeatedly
    LABEL.KIND.STATE          state of its stage of any other kind; one in `ADDED` of its law may be missing
    LABEL.KIND.LATE           past results that act late, `(rows, robots · joints)`, as many rows as the longest
                              such delay of the plan needs; `newest_row` is the last one of each joint
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

import numpy as np
import warp as wp

from ...base.memory import Array, Tensor, apart
from ...base.version import __version__
from ...specs.signals import SIGNALS
from ...specs.stages import KINDS
from ..plan import Placement, Plan
from .fault import FAULT_INPUTS

LAYOUT = 2
"""Number of the layout of saved states; 1 had no number and differed between engines."""

_BUFFERS = ("buffer_pos", "buffer_vel", "buffer_act")
# upper bounds of fault codes and numbers of steps
_FAULT_LIMIT, _STEPS_LIMIT = 1 << len(FAULT_INPUTS), 1 << 31
# float32 has all integers up to here
_NUMBERS = 1 << 24


@dataclass(eq=False)
class StepState:
    """Delayed commands and states of laws, in NumPy or Warp arrays of one device.

    Columns of the delay run over robots and delayed slots, robot-major, as those of `Delay.State` do. The state of a
    law runs over robots and the slots that have the law: one float32 array `(·,)` per name in its `STATE`; arrays of a
    network run over robots and slots along axis 1.
    """

    buffer_pos: Tensor  # position targets of the last steps, float32 `(depth, ·)`
    buffer_vel: Tensor  # velocity targets, likewise
    buffer_act: Tensor  # feedforward, likewise
    num_pushes: Tensor  # rows with a command, int32 `(·,)`: 0 or `depth` after a step
    write_idx: Tensor  # row written last, int32 `(1,)`
    laws: list[tuple[Tensor, ...]] = field(default_factory=list)

    def arrays(self) -> Iterator[Tensor]:
        """All arrays, those of the delay first."""
        yield from (self.buffer_pos, self.buffer_vel, self.buffer_act, self.num_pushes, self.write_idx)
        for law in self.laws:
            yield from law


def new_signal(name: str, plan: Plan) -> np.ndarray:
    """Return the first values of a signal, float32 `(robots, slots)`: neutral ones, or what the engine writes once."""
    values = apart((plan.num_robots, plan.num_slots), SIGNALS[name].neutral)
    if name == "has_friction":
        values[:] = plan.with_friction
    elif SIGNALS[name].is_number:
        numbers = joint_numbers(plan.num_robots, plan.num_slots, range(plan.num_slots))
        values[:] = numbers if name == "joint_number" else np.arange(plan.num_robots)[:, None] % _NUMBERS
    return values


def joint_numbers(num_robots: int, num_joints: int, places: Sequence[int]) -> np.ndarray:
    """Return the numbers of some joints among all driven ones of all robots, float32 `(num_robots, len(places))`."""
    every = np.arange(num_robots)[:, None] * num_joints + np.asarray(places)
    return (every % _NUMBERS).astype(np.float32)


def new_state(plan: Plan, device: wp.DeviceLike = None) -> StepState:
    """Return a fresh state, in Warp arrays of `device`, or in NumPy arrays without one."""

    def filled(value: float, shape: int | tuple[int, ...], dtype: type = np.float32) -> Array:
        values = apart(shape, value, dtype)
        return values if device is None else wp.array(values, dtype=wp.dtype_from_numpy(values.dtype), device=device)

    delayed = plan.num_robots * plan.num_delayed
    laws = []
    for one in plan.stateful:
        shapes = one.shapes_of(plan.num_robots * one.count)
        laws.append(tuple(filled(start, shape) for (start, *_), shape in zip(one.resets, shapes, strict=True)))
    return StepState(
        buffer_pos=filled(0, (plan.depth, delayed)),
        buffer_vel=filled(0, (plan.depth, delayed)),
        buffer_act=filled(0, (plan.depth, delayed)),
        num_pushes=filled(0, delayed, np.int32),
        write_idx=filled(plan.depth - 1, 1, np.int32),
        laws=laws,
    )


def copy_state(source: StepState, target: StepState) -> None:
    """Copy the arrays of a state to another one of the same plan."""
    for values, array in zip(source.arrays(), target.arrays(), strict=True):
        if isinstance(array, wp.array):
            if array.size:
                wp.copy(array, values)
        else:
            array[...] = values


class Kept(Protocol):
    """Interface of a step that can be saved and restored."""

    @property
    def plan(self) -> Plan:
        """The plan."""
        ...

    @property
    def now(self) -> StepState:
        """The state that the next step reads."""
        ...

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all."""
        ...

    def faults(self) -> Sequence[tuple[int, int, int, int]]:
        """Robot, slot, code and step of each fault."""
        ...

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Replace the faults and the number of steps."""


Parts = Sequence[tuple[Sequence[int], Kept]]
"""Steps with the joint of each of their slots; a method `kept` yields arrays of custom components."""


def save(parts: Parts) -> dict[str, np.ndarray]:
    """Return a copy of the state of all steps, by name."""
    faults = [(robot, joints[slot], code, step) for joints, part in parts for robot, slot, code, step in part.faults()]
    saved = {
        "layout": np.array([LAYOUT]),
        "version": np.array([__version__]),
        "steps": np.array([parts[0][1].steps if parts else 0], np.int64),
        "faults": np.array(sorted(faults, key=lambda fault: (fault[1], fault[0])), np.int64).reshape(len(faults), 4),
    }
    return saved | {name: values.copy() for name, values in _of_actuators(parts).items()}


def restore(parts: Parts, saved: Mapping[str, object]) -> None:
    """Restore a result of `save`, of any engine; everything is checked before anything changes."""
    _require_readable(saved)
    given = dict(_added(parts)) | {name: np.asarray(saved[name]) for name in saved}
    _require_alike(given, _of_actuators(parts))
    _require_finite(given, parts)
    steps, faults = _steps_and_faults(given, parts)

    slot_of = {joint: (number, slot) for number, (joints, _) in enumerate(parts) for slot, joint in enumerate(joints)}
    for number, (_, part) in enumerate(parts):
        _restore_plan(part.plan, part.now, given)
        for name, array in _kept(part):
            _assign(array, given[name])
        mine = [(robot, *slot_of[joint], code, step) for robot, joint, code, step in faults]
        part.set_faults(
            [(robot, slot, code, step) for robot, owner, slot, code, step in mine if owner == number], steps
        )


def mask_of(robots: Sequence[int] | wp.array | None, num_robots: int, device: wp.DeviceLike) -> wp.array:
    """Return a mask of robots, given by indices, a mask, or None for all: bool `(robots,)` on the device."""
    if isinstance(robots, wp.array):
        has = f"{robots.dtype.__name__} {tuple(robots.shape)} on {robots.device}"
        if robots.dtype is not wp.bool or robots.shape != (num_robots,) or robots.device != wp.get_device(device):
            raise ValueError(f"mask is {has}: must be bool ({num_robots},) on {device}. Make one of that kind.")
        return robots
    chosen = np.zeros(num_robots, bool)
    chosen[slice(None) if robots is None else list(robots)] = True
    return wp.array(chosen, dtype=wp.bool, device=device)


def _of_actuators(parts: Parts) -> dict[str, np.ndarray]:
    """The state of all parts by name, in part not copied."""
    labels = [placement.label for _, part in parts for placement in part.plan.placements]
    if twice := [label for label in dict.fromkeys(labels) if labels.count(label) > 1]:
        raise ValueError(
            f"two actuators are called {twice[0]!r}: must have a name each to save or restore their state."
        )
    found: dict[str, np.ndarray] = {}
    for _, part in parts:
        found |= _saved_plan(part.plan, part.now)
        found |= {name: _values(array) for name, array in _kept(part)}
    return found


def _saved_plan(plan: Plan, state: StepState) -> dict[str, np.ndarray]:
    """The state of each actuator of a plan by name, copied."""
    saved: dict[str, np.ndarray] = {}
    buffers = [_values(getattr(state, name)) for name in _BUFFERS]
    pushes, newest = _values(state.num_pushes), int(_values(state.write_idx)[0])
    for placement in plan.placements:
        if placement.max_delay is not None:
            at = _columns(plan, np.flatnonzero(plan.delayed), placement)
            depth = max(1, placement.max_delay)
            for name, buffer in zip(_BUFFERS, buffers, strict=True):
                saved[f"{placement.label}.delay.{name}"] = _newest_rows(buffer[:, at], newest, pushes[at], depth)
            saved[f"{placement.label}.delay.num_pushes"] = np.where(pushes[at] > 0, depth, 0).astype(np.int32)
        for name, law, k, at in _law_states(plan, placement):
            saved[name] = _values(state.laws[law][k])[at]
    return saved


def _restore_plan(plan: Plan, state: StepState, saved: Mapping[str, np.ndarray]) -> None:
    """Restore a result of `_saved_plan`."""
    new = new_state(plan)
    for placement in plan.placements:
        if placement.max_delay is not None:
            at = _columns(plan, np.flatnonzero(plan.delayed), placement)
            pushes = saved[f"{placement.label}.delay.num_pushes"]
            for name in _BUFFERS:
                rows = saved[f"{placement.label}.delay.{name}"]
                getattr(new, name)[:, at] = _newest_rows(rows, len(rows) - 1, pushes, plan.depth)
            new.num_pushes[at] = np.where(pushes > 0, plan.depth, 0)
        for name, law, k, at in _law_states(plan, placement):
            new.laws[law][k][at] = saved[name]
    for array, values in zip(state.arrays(), new.arrays(), strict=True):
        _assign(array, values)


def _law_states(plan: Plan, placement: Placement) -> Iterator[tuple[str, int, int, tuple[slice | np.ndarray, ...]]]:
    """State of the laws of an actuator: name, number of the law, number in its `STATE`, and index into the array."""
    for law, one in enumerate(plan.stateful):
        owners = [("controller", one.law)] if one.stage is None and placement.controller is one.law else []
        owners += [
            (f"{kind}.{k}" if KINDS[kind].many else kind, one.law)
            for kind, k, stage in placement.stages
            if stage == one.stage
        ]
        for owner, _ in owners:
            places = _columns(plan, np.flatnonzero(one.used), placement)
            for k, name in enumerate(one.names):
                yield f"{placement.label}.{owner}.{name}", law, k, (*(slice(None),) * one.axis_of(name), places)


def _added(parts: Parts) -> Iterator[tuple[str, np.ndarray]]:
    """Yield name and first values of the states that saved states of earlier versions lack."""
    for plan in (part.plan for _, part in parts):
        fresh = new_state(plan).laws
        for placement in plan.placements:
            for name, law, k, at in _law_states(plan, placement):
                if plan.stateful[law].names[k] in plan.stateful[law].law.ADDED:
                    yield name, fresh[law][k][at]


def _columns(plan: Plan, having: np.ndarray, placement: Placement) -> np.ndarray:
    """Indices of an actuator's robots and joints into an array over robots and the slots `having` something."""
    mine = np.searchsorted(having, placement.slots)
    return (np.arange(plan.num_robots)[:, None] * len(having) + mine).ravel()


def _newest_rows(buffer: np.ndarray, newest: int, pushes: np.ndarray, count: int) -> np.ndarray:
    """The last `count` rows of a ring, newest last; the oldest row repeats, and an empty ring gives zeros."""
    depth = len(buffer)
    pushes = np.clip(pushes, 0, depth)
    ages = np.arange(count - 1, -1, -1)[:, None]
    rows = (newest - np.minimum(ages, np.maximum(pushes - 1, 0))) % depth
    return np.where(pushes > 0, np.take_along_axis(buffer, rows, axis=0), np.float32(0))


def _require_readable(saved: Mapping[str, object]) -> None:
    """Raise for what is no saved state, or one of another layout or a later version."""
    rule = f"must be {LAYOUT}, as version {__version__} of this package writes. Save the state anew."
    if not isinstance(saved, Mapping) or "layout" not in saved:
        raise ValueError(f"saved state has no layout number, as those that versions up to 0.2.0 wrote: {rule}")
    layout, version = (np.asarray(saved.get(name, [])).ravel().tolist() for name in _HEAD)
    if layout != [LAYOUT]:
        written_by, has = (*version, "unknown")[0], (*layout, None)[0]
        raise ValueError(f"saved state has layout {has}, of version {written_by}: {rule}")
    wrote = _numbers_of(version[0]) if len(version) == 1 else []
    if not wrote:
        raise ValueError(
            f"saved version = {version}: must be that of the package that wrote the state. Save the state anew."
        )
    if wrote > _numbers_of(__version__):
        raise ValueError(
            f"saved state is of version {version[0]}: must be of {__version__}, as this package is, or older. Install "
            "that version, or save the state anew."
        )


def _numbers_of(version: object) -> list[int]:
    """The leading numbers of a version, none if it is not a version."""
    found = re.match(r"\d{1,9}(\.\d{1,9})*", str(version))
    return [int(number) for number in found[0].split(".")] if found else []


_HEAD = ("layout", "version")


def _require_alike(given: Mapping[str, np.ndarray], expected: Mapping[str, np.ndarray]) -> None:
    """Raise for other names, shapes and types."""
    names = {*given} - {*_HEAD, "steps", "faults"}
    odd = [f"{name} is missing" for name in sorted({*expected} - names)]
    odd += [f"{name} is of no actuator here" for name in sorted(names - {*expected})]
    for name in sorted(names & {*expected}):
        has, wanted = ((array.dtype, array.shape) for array in (given[name], expected[name]))
        if has != wanted:
            odd.append(f"{name} is {has[0]} {has[1]}, not {wanted[0]} {wanted[1]}")
    if odd:
        raise ValueError(
            f"saved state differs in {'; '.join(odd[:3])}: must come from the same actuators, robots and delays. "
            "Save it with the wrapper that restores it, or one like it."
        )


def _require_finite(given: Mapping[str, np.ndarray], parts: Parts) -> None:
    """Raise for numbers that no step or reset produces; custom components may have any."""
    own = {name for _, part in parts for name, _ in _kept(part)}
    starts = {
        name: part.plan.stateful[law].resets[k][0]
        for _, part in parts
        for placement in part.plan.placements
        for name, law, k, _ in _law_states(part.plan, placement)
    }
    for name, values in given.items():
        if name in own or values.dtype.kind != "f":
            continue
        good = np.isfinite(values) | (np.isnan(values) & math.isnan(starts.get(name, 0.0)))
        if not good.all():
            odd = values[~good][0]
            raise ValueError(f"saved {name} holds {odd}: must be finite. Save the state anew.")


def _steps_and_faults(given: Mapping[str, np.ndarray], parts: Parts) -> tuple[int, list[tuple[int, int, int, int]]]:
    """Steps and faults of a saved state, each of a known robot and joint."""
    steps, faults = (given.get(name, np.zeros(0)) for name in ("steps", "faults"))
    if steps.shape != (1,) or steps.dtype.kind != "i" or not 0 <= steps[0] < _STEPS_LIMIT:
        raise ValueError(f"saved steps = {steps}: must be one integer, >= 0 and < {_STEPS_LIMIT}. Save the state anew.")
    if not _are_faults(faults, parts):
        raise ValueError("saved faults: must be robots, joints, codes and steps, (k, 4) integers. Save the state anew.")
    return int(steps[0]), [(robot, joint, code, step) for robot, joint, code, step in faults.tolist()]


def _are_faults(faults: np.ndarray, parts: Parts) -> bool:
    """Return True if each row is robot, joint, code and step of a known robot and joint."""
    if faults.dtype.kind != "i" or faults.ndim != 2 or faults.shape[1] != 4:
        return False
    joints = [joint for own, _ in parts for joint in own]
    robots = parts[0][1].plan.num_robots if parts else 0
    below = np.array([robots, max(joints, default=-1) + 1, _FAULT_LIMIT, _STEPS_LIMIT])
    return bool((faults >= 0).all() and (faults < below).all() and np.isin(faults[:, 1], joints).all())


def _kept(part: Kept) -> Iterator[tuple[str, wp.array]]:
    """Names and state arrays of custom components."""
    if (kept := getattr(part, "kept", None)) is not None:
        yield from kept()


def _values(array: Array) -> np.ndarray:
    return array.numpy() if isinstance(array, wp.array) else np.asarray(array)


def _assign(array: Array, values: np.ndarray) -> None:
    if isinstance(array, wp.array):
        array.assign(values)
    else:
        array[...] = values
