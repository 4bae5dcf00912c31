"""All actuators of an articulation, divided into plans, each run by the best engine.

The native engine runs built-in laws on the CPU. The Warp engine runs custom laws, and all laws on CUDA or without the
core. Components that compute arrays run between the two phases of a step.
"""

from __future__ import annotations

import functools
import itertools
import logging
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, cast

import numpy as np
import warp as wp

from ..base.callers import level_outside, weakly
from ..base.cores import missing_core
from ..base.memory import Array, Tensor, on_host, warp_view
from ..base.quiet_warp import device_of
from ..laws.contract import newton_classes
from ..laws.contract.base import Component
from ..laws.contract.coupling import Shafts
from ..specs.signals import OF_SHAFTS, SHAFT_INERTIA
from .actuator import Actuator, PlannedActuator
from .entry import ActuatorEntry, effort_modes
from .faults import found_faults, in_words
from .linkages import add_rotors, shaft_of, share_modes
from .parameters import Parameters
from .plan import array_stages, compile_plan, in_sequence, is_built_in
from .recorded_signals import measured_by
from .step.binding import COLUMN_NAMES, Columns, check_custom
from .step.engine import make_step, with_array_stages
from .step.fault import Fault
from .step.native import NativeStep, has_native_core
from .step.state import joint_numbers, mask_of, restore, save
from .user_components import release

if TYPE_CHECKING:
    from .random.randomization import JointProperties, Randomization, Randomized
    from .step.interface import Step
    from .totals import Member, Round

_log = logging.getLogger(__name__)
_Members = list[tuple[ActuatorEntry, Sequence[int]]]
_warned: set[str] = set()


class _Part(NamedTuple):
    """Properties that actuators must share to be in one plan."""

    is_custom: bool  # with components that compute arrays
    on_core: bool  # on the native core
    has_mode: bool  # with efforts of the end of the step, which solve what others only evaluate
    at_shafts: bool = False  # of motors with a linkage, whose signals are those of their shafts


class Watcher(Protocol):
    """Listener of steps and resets."""

    def before(self) -> None:
        """Called before a step."""

    def after(self, dt: float) -> None:
        """Called after a step that raised nothing."""

    def reset(self, robots: Sequence[int] | wp.array | None) -> None:
        """Called when robots are reset: indices or a mask, None for all."""


class Assembly:
    """All actuators of an articulation on a device; slots of a plan are in the order of the columns of their joints."""

    step: Callable[[float], None]
    """Compute the efforts of all joints of all robots for a physics step, given in seconds."""

    def __init__(
        self,
        entries: Sequence[ActuatorEntry],
        num_robots: int,
        device: wp.DeviceLike,
        columns: Sequence[int] | None = None,
    ) -> None:
        self.num_robots, self.device = num_robots, device_of(device)
        # the garbage collector does not see into the core
        warn = weakly(self._warn_of_fault)
        joints = in_sequence(entries)
        add_rotors(entries, num_robots, self.device)
        share_modes(entries, num_robots, self.device)
        self.columns = list(range(sum(map(len, joints))) if columns is None else columns)
        """Column of each joint in the articulation, in the order of the entries."""
        self.dof_names: list[str] = list(itertools.chain.from_iterable(entry.dof_names for entry in entries))
        """Name of each joint, likewise."""
        self._bound: Sequence[Columns] = ()
        # returns a NumPy array of an array that `follower` has bound
        self._view: Callable[[Tensor], np.ndarray] | None = None
        self._watchers: list[Watcher] = []
        # watchers that are called at each step
        self._step_watchers: list[Watcher] = []
        # objects that require observed efforts
        self._observers: set[object] = set()
        self.custom_inputs: dict[str, Array] = {}
        """Custom inputs of controllers by name, `(robots, DOFs)`; see `set_custom_input`."""
        self._parameters = Parameters(num_robots, device)
        # joints of each step, and the step itself
        self._parts: list[tuple[list[int], Step]] = []

        # before the plans take over the arrays of the components
        self.actuators = list(map(self._actuator, entries))
        parts: dict[_Part, _Members] = {}
        for part, entry, mine in zip(_parts_of(entries, self.device), entries, joints, strict=True):
            parts.setdefault(part, []).append((entry, mine))
        # custom components step first: an error in them leaves the state of the other joints unchanged
        for part in sorted(parts, reverse=True):
            self._add_part(part, parts[part])
        self._warns = True
        for _, step in self._parts:
            step.on_fault(warn)
            # the plans take over the attributes of the components: the last that changes these
            self._parameters.bind(step.plan, step)
        self._given: list[Component] = []
        for entry in entries:
            for component in entry.stages:
                vars(component)["_in_use"] = True
            if not entry.shared:
                self._given += entry.stages
        self._rounds: dict[int, tuple[Round, Member]] = {}
        if self.has_totals:
            # imported here: most robots have no totals
            from .totals import share_totals

            share_totals([(self, range(self.num_robots))])
        self._choose_step()
        self._randomization: Randomization | None = None

    def _add_part(self, part: _Part, members: _Members) -> None:
        joints = itertools.chain.from_iterable(mine for _, mine in members)
        order = sorted(joints, key=self.columns.__getitem__)
        slots = [[order.index(joint) for joint in mine] for _, mine in members]
        plan = compile_plan([entry for entry, _ in members], self.num_robots, slots)
        planned = make_step(plan, self.device, on_core=part.on_core)
        placed = zip(members, slots, strict=True)
        custom = [(entry.label, own, at) for (entry, _), at in placed if (own := array_stages(entry)) is not None]
        step = with_array_stages(planned, custom, self.device) if custom else planned
        if "joint_number" in step.signals:
            # as one plan of all joints numbers them: what is random does not depend on the parts
            places = np.argsort(np.argsort(self.columns))
            step.signals["joint_number"].assign(joint_numbers(self.num_robots, len(places), places[order].tolist()))
        self._parts.append((order, step))

    @property
    def name(self) -> str:
        """Names of the engines, in the order in which they step."""
        return ", ".join(part.name for _, part in self._parts)

    @property
    def parts(self) -> list[tuple[list[int], Step]]:
        """Joints of each step, and the step itself, a `Step`."""
        return self._parts

    def bind(self, columns: Sequence[int], inputs: Sequence[Array], efforts: Array) -> None:
        """Attach five signals and efforts, float32 `(N, D)`; efforts are written in the columns of the joints only."""
        self.rebind(self.bindings(columns, inputs, efforts))
        self.place(columns, warp_view(efforts).shape[1])

    def bindings(
        self,
        columns: Sequence[int],
        inputs: Sequence[Tensor],
        efforts: Tensor,
        names: Sequence[str] = COLUMN_NAMES,
        first: int = 0,
    ) -> list[Columns]:
        """Return the bindings for `rebind`, with arguments as for `bind`."""
        custom = self.custom_inputs, first
        return [
            Columns([int(columns[joint]) for joint in joints], inputs, efforts, names, *custom)
            for joints, _ in self._parts
        ]

    @property
    def custom_names(self) -> list[str]:
        """Names of the custom inputs of the controllers."""
        asked = (getattr(actuator.controller, "custom_inputs", ()) for actuator in self.actuators)
        return list(dict.fromkeys(name for names in asked for name in names))

    @property
    def signals(self) -> dict[str, list[tuple[list[int], wp.array]]]:
        """Signals that laws ask for, by name: joints and array of each part, float32 `(robots, these joints)`.

        The host of the robot writes them in place before a step; until then they are neutral, see `specs/signals.py`.
        Published values of laws and totals are written at the start of a step. Those of shafts are in the columns of
        their motors.
        """
        found: dict[str, list[tuple[list[int], wp.array]]] = {}
        for joints, part in self._parts:
            names_of = part.plan.names_of_signals
            for name, array in part.signals.items():
                found.setdefault(names_of.get(name, name), []).append((joints, array))
        return found

    @property
    def shafts(self) -> Shafts | None:
        """Shafts whose inertia laws need; of a table, at its middle. None where all laws assume an inertia."""
        if self.signals.keys().isdisjoint(OF_SHAFTS.values()):
            return None
        count = len(self.dof_names)
        rows, linked, growth = np.zeros((count, count)), np.zeros((count, count), bool), np.ones(count)
        needing, at_end, alone = (np.zeros(count, bool) for _ in range(3))
        is_needed = False
        for joints, step in self._parts:
            plan = step.plan
            at_shafts = bool(plan.names_of_signals)
            # an idle shaft has no effort
            at_end[joints] = at_shafts & (plan.controller_kind >= 0)
            alone[joints] = plan.has_mode != at_shafts
            for stage in plan.stages_asking(SHAFT_INERTIA):
                needing[joints] |= stage.used
                is_needed |= bool((~(step.values(stage.rows["assumed_inertia"]) > 0.0) & stage.used).any())
            mine = np.ix_(joints, joints)
            rows[mine], linked[mine] = plan.shafts
            for linkage in plan.linkages if at_shafts else ():
                growth[[joints[slot] for slot in linkage.slots]] = linkage.growth
        if not (is_needed or at_end.any()):
            return None
        motors = np.flatnonzero(needing | at_end)
        return Shafts(motors.tolist(), rows[motors], growth[motors], linked[motors], at_end[motors], alone)

    @property
    def assumes_inertias(self) -> bool:
        """True if all stages that step a joint were given an inertia to assume, but for effort modes."""
        stages = [stage for actuator in self.actuators for stage in actuator.stages if "coupled_inertia" in stage.ASKS]
        return all(
            stage.END is None
            and "assumed_inertia" in stage.PARAMETERS
            and bool((stage.read("assumed_inertia") > 0.0).all())
            for stage in stages
        )

    def set_custom_input(self, name: str, array: Tensor, num_dofs: int) -> None:
        """Read a custom input of `num_dofs` columns from this array from now on; None removes it."""
        if name not in self.custom_names:
            raise ValueError(
                f"custom input {name!r}: must be one that a controller asks for, {self.custom_names}. Correct the name."
            )
        if array is None:
            self.custom_inputs.pop(name, None)
            return
        check_custom(name, array, (self.num_robots, num_dofs), "(robots, DOFs)", self.device)
        self.custom_inputs[name] = array

    def rebind(self, bindings: Sequence[Columns]) -> None:
        """Attach the arrays of `bindings`; binding the same arrays again is cheap."""
        for (_, part), binding in zip(self._parts, bindings, strict=True):
            part.bind(binding)
        self._bound, self._view = bindings, None

    @property
    def bound(self) -> Sequence[Columns]:
        """The binding of each part."""
        if self._view is None:
            return self._bound
        *inputs, efforts = map(self._view, cast(NativeStep, self._parts[0][1]).arrays)
        return [replace(self._bound[0], inputs=inputs, efforts=efforts)]

    def follower(self, given: Sequence[object], view: Callable[[object], np.ndarray]) -> Callable[..., bool] | None:
        """Return a function that rebinds arrays like the bound ones; see `NativeStep.follower`.

        Given are five signals and the efforts, None for one that stays bound. `view` returns a later one as NumPy
        array.
        """
        (_, part), *others = self._parts
        follow = part.follower(given) if isinstance(part, NativeStep) and not others else None
        if follow is not None:
            # drop the references to the first arrays
            self._bound, self._view = [replace(self._bound[0], inputs=(), efforts=None)], view
        return follow

    def place(self, columns: Sequence[int], num_dofs: int) -> None:
        """Set the indices of the actuators into flattened arrays `(robots, num_dofs)`."""
        self.columns = list(columns)
        joint, rows = 0, np.arange(self.num_robots)[:, None] * num_dofs
        for actuator in self.actuators:
            mine = np.asarray(columns[joint : joint + len(actuator.dof_names)])
            # in place, because the other index arrays of the actuator are the same array
            actuator.indices.assign((rows + mine).ravel().astype(np.uint32))
            joint += len(actuator.dof_names)

    def reset(self, robots: Sequence[int] | wp.array | None = None, *, new_joints: bool = False) -> None:
        """Reset state and faults of robots, and draw the parameters that are drawn at each reset.

        A mask is bool `(robots,)` on the device, copied to the host only if random numbers are drawn. `new_joints`
        tells that the simulator has created its joints again, with nominal armature and friction.
        """
        randomization = self._randomization
        if randomization is not None and new_joints:
            randomization.reset_properties()
        if randomization is not None and randomization.active:
            drawn = np.flatnonzero(mask_of(robots, self.num_robots, self.device).numpy()).tolist()
            randomization.draw(drawn, again=True)
        for _, part in self._parts:
            part.reset(robots)
        if robots is None:
            self._begin_rounds()
        for watcher in self._watchers:
            watcher.reset(robots)

    def randomize(
        self, given: Randomized, seed: int, each_reset: bool, first_robot: int, properties: JointProperties | None
    ) -> None:
        """Draw parameters for each robot now, and optionally at each reset; see `ActuatorSet.randomize`."""
        if self._randomization is None:
            # imported here: most programs do not need it
            from .random.randomization import Randomization

            plans = [(step, order) for order, step in self._parts]
            self._randomization = Randomization(plans, self.dof_names, self._parameters, self.num_robots)
        self._randomization.bind(self.columns, properties)
        self._randomization.request(given, seed, each_reset, first_robot)

    def drawn(self) -> dict[str, dict[str, np.ndarray]]:
        """Return what `randomize` drew, by parameter and joint."""
        return {} if self._randomization is None else self._randomization.drawn()

    def release(self) -> None:
        """Release the components that the program passed in; they keep their current values."""
        release(self._given)
        self._given = []

    def save(self) -> dict[str, np.ndarray]:
        """Return a copy of the state by name; see `step.state`."""
        return save(self._parts)

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restore a result of `save`, of this or another engine."""
        restore(self._parts, saved)
        self._begin_rounds()
        for watcher in self._watchers:
            watcher.reset(None)

    def observe(self, on: bool, observer: object = None) -> None:
        """Record from the next step on what `observed` returns, as long as there is an observer."""
        before = bool(self._observers)
        (self._observers.add if on else self._observers.discard)(observer)
        if bool(self._observers) != before:
            for _, part in self._parts:
                part.observe(on)

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the clamps [N·m or N], and the class name of the last clamp that changed each, else empty.

        Both have shape `(robots, joints)`, joints in the order of the entries.
        """
        count = sum(len(joints) for joints, _ in self._parts)
        computed = np.zeros((self.num_robots, count), np.float32)
        limited_by = np.full((self.num_robots, count), "", object)
        for joints, part in self._parts:
            efforts, numbers = part.observed()
            computed[:, joints] = efforts
            limited_by[:, joints] = np.array(["", *part.stage_names], object)[numbers]
        return computed, limited_by

    def motor_efforts(self) -> np.ndarray:
        """Efforts behind the limits [N·m or N], float32 `(robots, joints)`, in the order of the entries."""
        count = sum(len(joints) for joints, _ in self._parts)
        found = np.zeros((self.num_robots, count), np.float32)
        for joints, part in self._parts:
            found[:, joints] = part.motor_efforts()
        return found

    def measured(self) -> tuple[np.ndarray, np.ndarray]:
        """Position and velocity that the controllers got last, float32 `(robots, joints)`, in the order of the entries.

        Joints without a sensor, and robots that did not step since their reset, have those of the bound arrays.
        """
        count = sum(len(joints) for joints, _ in self._parts)
        found = np.zeros((self.num_robots, count), np.float32), np.zeros((self.num_robots, count), np.float32)
        for (joints, part), binding in zip(self._parts, self.bound, strict=True):
            seen = measured_by(part)
            for number, values in enumerate(found):
                true = on_host(binding.inputs[number])[:, list(binding.columns)]
                values[:, joints] = true if seen is None else np.where(np.isnan(seen[number]), true, seen[number])
        return found

    def watch(self, watcher: Watcher, *, steps: bool = True) -> None:
        """Add a watcher of resets and, unless `steps` is False, of steps."""
        self._watchers.append(watcher)
        if steps:
            self._step_watchers.append(watcher)
        self._choose_step()

    def unwatch(self, watcher: Watcher) -> None:
        """Remove a watcher; no-op if absent."""
        self._watchers = [one for one in self._watchers if one is not watcher]
        self._step_watchers = [one for one in self._step_watchers if one is not watcher]
        self._choose_step()

    def join_rounds(self, rounds: Mapping[int, tuple[Round, Member]]) -> None:
        """Replace the rounds of the steps, by identity of the step; see `totals`."""
        self._rounds = {id(part): rounds[id(part)] for _, part in self._parts if id(part) in rounds}
        for _, part in self._parts:
            part.add_up_totals(id(part) not in self._rounds)
        self._choose_step()

    @functools.cached_property
    def has_totals(self) -> bool:
        """True if laws ask for totals of robots, or publish terms of them."""
        return any(step.plan.has_totals for _, step in self._parts)

    def _begin_rounds(self) -> None:
        """Treat the steps as ones that have not run in this round, because their states are new."""
        for together, member in self._rounds.values():
            together.forget(member)

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device.

        Warns:
            UserWarning: These are the first faults. On the CPU the step warns of them.
        """
        found = found_faults(self._parts)
        if found and self._warns:
            self._warns = False
            others = f" So did {len(found) - 1} others." if len(found) > 1 else ""
            warnings.warn(
                f"{in_words(found[0])}{others} No further fault is reported; `faults` lists them.",
                stacklevel=level_outside(),
            )
        return found

    def _warn_of_fault(self) -> None:
        if self._warns:
            self.faults()

    def _choose_step(self) -> None:
        """Choose the fastest function for `step`; with one part it is the step of the part."""
        alone = len(self._parts) == 1 and not self._rounds
        self._step_alone = self._parts[0][1].step if alone else self._step_all
        self.step = self._step_watched if self._step_watchers else self._step_alone

    def _step_watched(self, dt: float) -> None:
        for watcher in self._step_watchers:
            watcher.before()
        self._step_alone(dt)
        for watcher in self._step_watchers:
            watcher.after(dt)

    def _step_all(self, dt: float) -> None:
        for _, part in self._parts:
            if (found := self._rounds.get(id(part))) is not None:
                together, member = found
                together.begin(member)
            part.step(dt)

    def _actuator(self, entry: ActuatorEntry) -> Actuator:
        """Return the `Actuator` of an entry that users see; `place` sets its indices."""
        count = self.num_robots * len(entry.dof_names)
        made: Any = PlannedActuator(
            wp.zeros(count, dtype=wp.uint32, device=self.device),
            entry.controller,
            entry.delay,
            entry.clamping,
            others=entry.others,
            control_feedforward_attr="joint_control_feedforward",
            label=entry.label,
            dof_names=entry.dof_names,
        )
        # what users see
        made.__class__ = Actuator
        return newton_classes.as_newton_instance(made).fix()


def _parts_of(entries: Sequence[ActuatorEntry], device: wp.DeviceLike) -> list[_Part]:
    native = _use_native(device)
    parts = [
        _Part(array_stages(entry) is not None, native and is_built_in(entry), bool(effort_modes(entry)))
        for entry in entries
    ]
    for linked in filter(None, map(shaft_of, entries)):
        # motors of a linkage run in one plan
        mine = [at for at, entry in enumerate(entries) if not {*linked.shaft.joints}.isdisjoint(entry.dof_names)]
        together = np.array([parts[at] for at in mine], bool).reshape(-1, len(_Part._fields))
        has_mode = bool(together[:, 2].any())
        part = _Part(bool(together[:, 0].any()), bool(together[:, 1].all()), has_mode, at_shafts=has_mode)
        parts = [part if at in mine else one for at, one in enumerate(parts)]
    return parts


def _use_native(device: wp.DeviceLike) -> bool:
    """Return True if built-in laws run on the core; log a warning once if the core is missing."""
    if not wp.get_device(device).is_cpu:
        return False
    if not has_native_core() and not _warned:
        _warned.add("missing")
        # no message if the core is disabled; a core that fails to load has been reported
        if missing := missing_core():
            _log.warning(missing)
    return has_native_core()
