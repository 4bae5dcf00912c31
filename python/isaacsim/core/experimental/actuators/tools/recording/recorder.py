"""`Recorder`: records the inputs and outputs of actuators, before and after each of their steps.

Without a recorder a step has no overhead.
"""

from __future__ import annotations

import functools
import os
import warnings
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from ...base.errors import NotCopied
from ...base.memory import numpy_view, on_host
from ...engine.actuator import Actuator
from ...engine.assembly import Assembly
from ...engine.recorded_signals import (
    DERIVED,
    KINDS,
    MEASURED,
    OF_PASSIVE_STAGES,
    OF_STATES,
    OF_TRANSMISSIONS,
    SIGNALS,
    measured_by,
)
from ...engine.step.binding import SIGNALS as INPUTS
from ...engine.step.binding import Columns
from ...engine.step.native import NativeStep
from ...engine.step.state import mask_of
from ...laws.contract.catalogue import law_of
from ...specs.arguments import names_of, number_of
from ...specs.stages import is_geared
from ..feedback import gears, has_dry_friction, has_passive_stages
from .files import Subject
from .power import Resets, at_rest, mean_power, velocities_after
from .recording import Recording, writable
from .tape import NativeTape, Tape

_DELAYED = {"delayed_position_targets": 0, "delayed_velocity_targets": 1}
_OBSERVED = {"computed_efforts", "motor_efforts", "limited_by"}
# signals that need the velocity after each step
_OF_MOTION = {"power", "losses", "passive_power", "sticking"}


class Recorder(NotCopied):
    """Records rows and joints within a `with` block, whose value is the `Recording`.

    Of all `SIGNALS`, those of laws are recorded only if a joint has such laws. The last `capacity` steps are kept, or
    all. `turns` say which joints turn, by column, if that is known. It is saved at `path` at the end, also after
    Ctrl+C, which does not end the program then.
    """

    _INSTEAD = "Copy or pickle the Recording that its block gives."

    def __init__(
        self,
        assembly: Assembly,
        robot_names: Sequence[str],
        signals: Sequence[str],
        capacity: int | None,
        robots: Sequence[int],
        joints: Sequence[int],
        turns: Sequence[bool | None] | None = None,
        path: str | os.PathLike[str] | None = None,
    ) -> None:
        self._signals = _chosen(signals, assembly, joints)
        if capacity is not None and number_of("capacity", capacity) < 1:
            raise ValueError(f"capacity = {capacity}: must be at least 1, or None for all steps.")
        if not all(map(len, (self._signals, robots, joints))):
            raise ValueError("nothing to record: must be one signal, robot and joint at least. Choose some.")
        self._assembly, self._robots, self._joints = assembly, list(robots), list(joints)
        self._needs_motion = bool(_OF_MOTION & {*self._signals})
        self._recorded = [name for name in self._signals if name in KINDS]
        self._capacity = capacity
        self._subject = self._subject_of(robot_names, turns)
        parts = (_Part(part, at, self) for at, (_, part) in enumerate(assembly.parts))
        self._parts = [part for part in parts if part.slots]
        self._tape: Tape | NativeTape | None = None
        self._resets = Resets(self._robots, capacity)
        self._reader: _Reader | None = None
        self._path = None if path is None else writable(path)
        self._recording: Recording | None = None

    def _subject_of(self, robot_names: Sequence[str], turns: Sequence[bool | None] | None) -> Subject:
        kinds = [None if turns is None else turns[self._assembly.columns[joint]] for joint in self._joints]
        known = tuple(kind for kind in kinds if kind is not None)
        clamps = dict.fromkeys(name for _, part in self._assembly.parts for name in part.stage_names)
        robots = tuple(robot_names[robot] for robot in self._robots)
        joints = tuple(self._assembly.dof_names[joint] for joint in self._joints)
        limits = np.full((len(robots), len(joints)), np.nan, np.float32)
        return Subject(robots, joints, ("", *clamps), limits, known if len(known) == len(kinds) else None)

    def __enter__(self) -> Recording:
        # ratio and offset of each joint, `(2, robots, joints)`
        found = np.concatenate(list(map(gears, self._assembly.actuators)), axis=2)[:, self._robots][:, :, self._joints]
        for part in self._parts:
            part.read_max_efforts(self._subject.max_efforts, np.abs(found[0]))
        if _OBSERVED & {*self._recorded}:
            self._assembly.observe(True, self)
        (_, step), *others = self._assembly.parts
        own = step if isinstance(step, NativeStep) and not others else None
        # the tape of the core knows neither states of laws nor what sensors and laws make of their signals
        if own is not None and ({*OF_STATES, *MEASURED} & {*self._recorded} or own.plan.num_measured >= 4):
            own = None
        if own is not None:
            # a single native step records itself
            (part,) = self._parts
            self._tape = NativeTape(own, self._robots, part.slots, self._recorded, self._capacity, part.clamps)
        else:
            shape = len(self._robots), len(self._joints)
            rows = {name: (shape, KINDS[name]) for name in self._recorded}
            self._tape = Tape({"dt": ((), np.dtype(np.float64)), **rows}, self._capacity)
        self._assembly.watch(self, steps=own is None)
        masks = self._dry_joints(), self._wound_joints(), self._nominal_voltages()
        self._reader = _Reader(self._tape, self._resets, self._velocities, *masks, found)
        self._recording = Recording(self._subject, self._signals, self._reader)
        return self._recording

    def __exit__(self, kind: type[BaseException] | None = None, *_: object) -> bool | None:
        if self._reader is not None:
            self._reader.stop()
        if isinstance(self._tape, NativeTape):
            self._tape.stop()
        self._assembly.unwatch(self)
        self._assembly.observe(False, self)
        if self._path is None or self._recording is None:
            return None
        self._recording.save(self._path)
        if kind is None or not issubclass(kind, KeyboardInterrupt):
            return None
        warnings.warn(f"{self._path}: interrupted after {len(self._recording)} recorded steps.", stacklevel=2)
        return True

    def before(self) -> None:
        """Read the arrays that the step overwrites."""
        device = self._assembly.device
        if not device.is_cpu and device.is_capturing:
            raise RuntimeError(
                "the recorder reads the GPU after each step: must not be captured in a CUDA graph. Capture outside of "
                "the `with` block."
            )
        if self._tape is None:
            raise RuntimeError("nothing is recorded yet. Enter the `with` block.")
        for part in self._parts:
            part.before()

    def after(self, dt: float) -> None:
        """Record a successful step."""
        tape = self._tape
        if not isinstance(tape, Tape):
            return
        row = tape.next_row()
        # rows are reused
        if "faults" in row:
            row["faults"][...] = 0
        for part in self._parts:
            part.after(row)
        row["dt"][...] = dt
        tape.advance()

    def reset(self, robots: Sequence[int] | wp.array | None) -> None:
        """Record which robots are reset: their next velocities do not follow from the last step."""
        if self._tape is not None and self._needs_motion:
            mask = mask_of(robots, self._assembly.num_robots, self._assembly.device)
            self._resets.note(self._tape.count, mask.numpy())

    def _velocities(self) -> np.ndarray:
        """Return the current velocities, `(robots, joints)`: those after the last step, if physics writes in place."""
        found = np.full((len(self._robots), len(self._joints)), np.nan, np.float32)
        if self._assembly.bound and self._needs_motion:
            for part in self._parts:
                part.read_velocities(found)
        return found

    def _dry_joints(self) -> np.ndarray:
        """Return a mask of the joints with dry friction, `(robots, joints)`."""
        if "sticking" not in self._signals:
            return np.zeros((len(self._robots), len(self._joints)), bool)
        count = self._assembly.num_robots
        masks = [has_dry_friction(actuator, count) for actuator in self._assembly.actuators]
        return np.concatenate(masks, axis=1)[np.ix_(self._robots, self._joints)]

    def _wound_joints(self) -> np.ndarray:
        """Return a mask of the recorded joints whose motors have an electrical law, `(joints,)`."""
        each = _actuators_by_joint(self._assembly)
        wound = [any("electrical_power" in recorded_states(stage) for stage in one.stages) for one in each]
        return np.array(wound)[self._joints]

    def _nominal_voltages(self) -> np.ndarray:
        """Return the voltages of windings without a supply law [V], `(robots, joints)`; infinite for others."""
        found = np.full((self._assembly.num_robots, len(self._assembly.dof_names)), np.inf, np.float32)
        first = 0
        for actuator in self._assembly.actuators:
            columns = slice(first, first + len(actuator.dof_names))
            for stage in actuator.stages:
                if "terminal_voltages" in recorded_states(stage):
                    found[:, columns] = stage.read("voltage").reshape(len(found), -1)
            first = columns.stop
        return found[np.ix_(self._robots, self._joints)]

    @property
    def recorded(self) -> list[str]:
        """Names of the recorded arrays."""
        return self._recorded

    @property
    def chosen(self) -> tuple[list[int], list[int]]:
        """The recorded robots and joints."""
        return self._robots, self._joints

    @property
    def assembly(self) -> Assembly:
        """The actuators."""
        return self._assembly

    @property
    def subject(self) -> Subject:
        """Robots, joints and limits of the recording."""
        return self._subject


def _chosen(signals: Sequence[str], assembly: Assembly, joints: Sequence[int]) -> list[str]:
    """Return the signals to record in the order of `SIGNALS`, with those that they follow from.

    Of all signals, those that no joint has a law for are left out. Efforts on the shaft before the clamps need those
    after the clamps.
    """
    names = names_of("signals", signals)
    if odd := [name for name in names if name not in SIGNALS]:
        raise ValueError(f"signals: {odd}: must be some of {list(SIGNALS)}. Correct the name.")
    if "computed_efforts" in names and any(map(is_geared, _actuators_of(assembly, joints))):
        names = [*names, "shaft_efforts"]
    wanted = {*names}.union(*(DERIVED.get(name, ()) for name in names))
    if wanted == {*SIGNALS}:
        wanted -= _without_law(assembly, joints)
    return [name for name in SIGNALS if name in wanted]


def _actuators_by_joint(assembly: Assembly) -> list[Actuator]:
    """Return the actuator of each joint."""
    return [actuator for actuator in assembly.actuators for _ in actuator.dof_names]


def _actuators_of(assembly: Assembly, joints: Sequence[int]) -> list[Actuator]:
    """Return the actuators of some joints, each once."""
    each = _actuators_by_joint(assembly)
    return list({id(actuator): actuator for joint in joints for actuator in [each[joint]]}.values())


def _without_law(assembly: Assembly, joints: Sequence[int]) -> set[str]:
    """Return the signals that none of some joints has a law for, with those that follow from them."""
    chosen = _actuators_of(assembly, joints)
    recorded = {name for actuator in chosen for stage in actuator.stages for name in recorded_states(stage)}
    # a winding without a supply law has its own voltage, and one without a law of losses no others
    recorded |= {"supply_voltages", "loss_power"} if "terminal_voltages" in recorded else set()
    has_law = {
        MEASURED: any(actuator.sensing for actuator in chosen),
        OF_PASSIVE_STAGES: any(map(has_passive_stages, chosen)),
        OF_TRANSMISSIONS: any(map(is_geared, chosen)),
    }
    missing = {*OF_STATES}.difference(recorded).union(*(signals for signals, has in has_law.items() if not has))
    return missing | {name for name, parts in DERIVED.items() if missing.intersection(parts)}


def recorded_states(stage: object) -> Mapping[str, str]:
    """Return the states of a stage that are recorded, by name of the signal; none of stages of other libraries."""
    return getattr(stage, "RECORDED", {})


class _Reader:
    """Reads arrays of the tape, and what follows from them; `found` are transmissions, `(2, robots, joints)`."""

    def __init__(
        self,
        tape: Tape | NativeTape,
        resets: Resets,
        velocities: Callable[[], np.ndarray],
        is_dry: np.ndarray,
        is_wound: np.ndarray,
        voltages: np.ndarray,
        found: np.ndarray,
    ) -> None:
        self._tape, self._resets, self._is_dry, self._is_wound = tape, resets, is_dry, is_wound
        self._voltages, (self._ratios, self._offsets) = voltages, found
        self._velocities: Callable[[], np.ndarray] | None = velocities
        self._last: np.ndarray | None = None

    def __call__(self, name: str) -> np.ndarray:
        """Return an array by name."""
        if name not in DERIVED:
            return self._tape.read(name)
        if name == "passive_efforts":
            return self._passive_efforts()
        if name == "at_voltage_limit":
            supplied = self._tape.read("supply_voltages")
            available = np.where(supplied > 0.0, supplied, self._voltages)
            return (np.abs(self._tape.read("terminal_voltages")) >= 0.9999 * available) & self._is_wound
        if name == "magnet_temperatures":
            return self._tape.read("housing_temperatures") + self._tape.read("magnet_rises")
        if name in OF_TRANSMISSIONS:
            (given,) = DERIVED[name]
            values = self._tape.read(given).astype(float)
            if name == "shaft_positions":
                found = values * self._ratios + self._offsets
            else:
                rigid = self._ratios + 0.0 * self._offsets
                found = values * rigid if name == "shaft_velocities" else values / rigid
            return found.astype(np.float32)
        before, after = self._motion()
        if name == "sticking":
            return at_rest(before, after) & self._is_dry
        if name == "losses":
            drawn = self._tape.read("electrical_power")
            work = mean_power(self._tape.read("motor_efforts"), before, after)
            return np.where(self._is_wound, drawn - work, np.float32(0.0)) + self._tape.read("loss_power")
        efforts = self._tape.read("applied_efforts") if name == "power" else self._passive_efforts()
        return mean_power(efforts, before, after)

    def _passive_efforts(self) -> np.ndarray:
        """Return what passive stages add to the efforts of motors; a step with a fault has neither."""
        return self._tape.read("applied_efforts") - self._tape.read("motor_efforts")

    def _motion(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the velocities before and after each step."""
        before = self._tape.read("velocities")
        is_reset = self._resets.after_steps(self._tape.count, len(before))
        last = self._last if self._velocities is None else self._velocities()
        return before, velocities_after(before, last, is_reset)

    def stop(self) -> None:
        """Keep the current velocities as those after the last step, and release the actuators."""
        if self._velocities is not None:
            self._last, self._velocities = self._velocities(), None


class _Part:
    """The recorder of one part of the actuators."""

    def __init__(self, step: Any, number: int, recorder: Recorder) -> None:
        self._step, self._number, self._assembly, self._recorded = step, number, recorder.assembly, recorder.recorded
        self._robots, chosen = recorder.chosen
        mine = recorder.assembly.parts[number][0]
        self.slots = [mine.index(joint) for joint in chosen if joint in mine]
        at = [place for place, joint in enumerate(chosen) if joint in mine]
        self._in = _index(range(len(self._robots)), at)
        self._dense = _index(self._robots, self.slots)
        self._place = dict(zip(self.slots, at, strict=True))
        self._row = {robot: row for row, robot in enumerate(self._robots)}
        names = ["", *step.stage_names]
        self.clamps = np.array([recorder.subject.clamps.index(name) for name in names], np.uint8)
        self._binding: Columns | None = None
        self._sources: list[tuple[str, np.ndarray | wp.array, tuple[slice | list[int] | np.ndarray, ...]]] = []
        self._delayed: list[np.ndarray] = []
        self._wants_delayed = [name for name in _DELAYED if name in self._recorded]

    def read_max_efforts(self, to: np.ndarray, ratios: np.ndarray) -> None:
        """Write the plain limits, at the joints; `ratios` are efforts there per effort of the motor, NaN if unknown."""
        for stage in self._step.plan.stages:
            law = law_of(stage.law)
            # a plain limit does nothing but bound the effort
            for name in stage.rows if law is not None and law.is_plain_limit else ():
                values = self._step.values(stage.rows[name])[self._dense]
                values = values if stage.is_behind else values * ratios[self._in]
                used = stage.used[self.slots]
                to[self._in] = np.where(used & np.isfinite(values), np.fmin(values, to[self._in]), to[self._in])

    def read_velocities(self, to: np.ndarray) -> None:
        """Write the current velocities."""
        self._follow()
        for name, array, index in self._sources:
            if name == "velocities":
                to[self._in] = on_host(array)[index]

    def before(self) -> None:
        """Read the commands that leave the delay in this step."""
        self._follow()
        if self._wants_delayed and not hasattr(self._step, "inserts"):
            targets = [on_host(array)[index].copy() for array, index in self._all_targets[:2]]
            self._delayed = self._delay(targets) if self._step.plan.num_delayed else targets

    def after(self, row: dict[str, np.ndarray]) -> None:
        """Write the signals of a step into a row."""
        for name, array, index in self._sources:
            row[name][self._in] = on_host(array)[index]
        if self._wants_delayed:
            found = self._delayed_targets()
            for name in self._wants_delayed:
                row[name][self._in] = found[_DELAYED[name]][self._dense]
        for name, law, state, count, columns, places in self._state_places:
            if name in row:
                row[name][:, places] = on_host(self._step.now.laws[law][state]).reshape(-1, count)[columns]
        for name, values in self._observed(row).items():
            chosen = values[self._dense]
            row[name][self._in] = self.clamps[chosen] if name == "limited_by" else chosen
        if "faults" in row:
            self._write_faults(row["faults"])

    def _write_faults(self, to: np.ndarray) -> None:
        for robot, slot, code, _ in self._step.faults():
            if robot in self._row and slot in self._place:
                to[self._row[robot], self._place[slot]] = code

    @functools.cached_property
    def _state_places(self) -> list[tuple[str, int, int, int, tuple[np.ndarray, ...], list[int]]]:
        """Where recorded states of laws are: name, law, state, its columns, index into them, and places in a row."""
        found: list[tuple[str, int, int, int, tuple[np.ndarray, ...], list[int]]] = []
        for number, law in enumerate(self._step.plan.stateful):
            slots = np.flatnonzero(law.used).tolist()
            mine = [slot for slot in self.slots if slot in slots]
            columns = np.ix_(self._robots, [slots.index(slot) for slot in mine])
            places = [self._place[slot] for slot in mine]
            for name, state in recorded_states(law.law).items():
                found.append((name, number, law.law.STATE.index(state), len(slots), columns, places))
        return found

    def _observed(self, names: Container[str]) -> dict[str, np.ndarray]:
        """Return those of some signals that the step keeps for observers, of all robots and slots; limits by number."""
        found: dict[str, np.ndarray] = {}
        if "computed_efforts" in names or "limited_by" in names:
            computed, numbers = self._step.observed()
            found = {"computed_efforts": computed, "limited_by": numbers}
        if any(name in names for name in MEASURED):
            binding = self._assembly.bound[self._number]
            true = [on_host(_on_host(binding.inputs[number]))[:, list(binding.columns)] for number in range(2)]
            found |= dict(zip(MEASURED, measured_by(self._step) or true, strict=True))
        if "motor_efforts" in names:
            found["motor_efforts"] = self._step.motor_efforts()
        return {name: array for name, array in found.items() if name in names}

    def _follow(self) -> None:
        """Find the arrays that are read and written in place, after a new binding."""
        binding = self._assembly.bound[self._number]
        if binding is self._binding:
            return
        columns = np.asarray(binding.columns)
        given = {name: array for name, array in zip(INPUTS, binding.inputs, strict=True) if name in self._recorded}
        if "applied_efforts" in self._recorded:
            given["applied_efforts"] = binding.efforts
        index = _index(self._robots, columns[self.slots])
        self._sources = [(name, _on_host(array), index) for name, array in given.items()]
        all_rows = _index(range(self._assembly.num_robots), columns)
        self._all_targets = [(_on_host(binding.inputs[number]), all_rows) for number in (2, 3)]
        self._binding = binding

    def _delay(self, targets: list[np.ndarray]) -> list[np.ndarray]:
        """Replace targets by those of `lag` steps ago; see `delayed` of the step."""
        plan, state = self._step.plan, self._step.now
        slots = np.flatnonzero(plan.delayed)
        lag = np.clip(self._step.values(plan.lag)[:, slots], 0, plan.depth)
        pushes = on_host(state.num_pushes).reshape(lag.shape)
        newest = int(on_host(state.write_idx)[0])
        row = (newest + 1 - lag) % plan.depth
        waits = (lag > 0) & (pushes > 0)
        columns = np.arange(lag.size).reshape(lag.shape)
        for target, buffer in zip(targets, (state.buffer_pos, state.buffer_vel), strict=True):
            target[:, slots] = np.where(waits, on_host(buffer)[row, columns], target[:, slots])
        return targets

    def _delayed_targets(self) -> list[np.ndarray]:
        """Return the targets that the controllers got, of all robots and slots."""
        if len(self._step.measured) == 4:
            return list(map(on_host, self._step.measured[2:]))
        if not hasattr(self._step, "inserts"):
            return self._delayed
        # between the phases, with those that components delayed there
        shape = self._assembly.num_robots, len(self._step.plan.dof_names)
        found = [on_host(array).reshape(shape).copy() for array in self._step.handed[2:4]]
        for insert in self._step.inserts:
            if insert.array_stages.delay is not None:
                for target, acting in zip(found, insert.acting, strict=False):
                    target[:, insert.slots] = on_host(acting).reshape(shape[0], -1)
        return found


def _index(rows: Iterable[int], columns: Iterable[int]) -> tuple[slice | list[int] | np.ndarray, ...]:
    """Return an index of rows and columns: slices if they are neighbors, which copy nothing."""
    ends = [_run(list(rows)), _run(list(columns))]
    if all(isinstance(end, slice) for end in ends):
        return ends[0], ends[1]
    return np.ix_(list(rows), list(columns))


def _run(numbers: list[int]) -> slice | list[int]:
    numbers = [int(number) for number in numbers]
    first = numbers[0]
    return slice(first, first + len(numbers)) if numbers == [*range(first, first + len(numbers))] else numbers


def _on_host(array: object) -> np.ndarray | wp.array:
    """Return a NumPy view of an array, or one of a GPU as it is."""
    return array if isinstance(array, wp.array) and not wp.get_device(array.device).is_cpu else numpy_view(array)
