"""The step in Warp: one generated kernel, one launch per step, on the CPU or CUDA; see `warp_kernel`."""

# Warp structs and kernels are no Python types
# pyright: reportAttributeAccessIssue=false, reportGeneralTypeIssues=false

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ...base.memory import numpy_view, warp_view
from ...laws.contract.base import clear_kernel
from ...laws.contract.law import LawClass
from ...specs.stages import KINDS
from ..launches import recorded
from ..plan import Plan, Published, Row, is_network
from .binding import Columns, Indices
from .physics_step import checks_of
from .state import StepState, mask_of, new_signal, new_state
from .warp_functions import (
    BITS,
    Faults,
    Ring,
    Slots,
    advance_kernel,
    piece_kernel,
    publish_kernel,
    reset_kernel,
    total_kernel,
)
from .warp_kernel import COMMANDING, LINKED, OBSERVING, publishing_kernel, step_kernel

if TYPE_CHECKING:
    from .linkage_kernels import Links
    from .warp_network import WarpNetwork

# number of recorded launches that are kept, for bindings and states that alternate
_KEPT = 16


class WarpStep:
    """The step of a plan on a device."""

    name = "warp"

    def __init__(self, plan: Plan, device: wp.DeviceLike) -> None:
        self.plan, self.device = plan, device
        self._dt, self._steps, self._counts_there = 0.0, 0, False
        self._observed: tuple[wp.array, ...] = ()
        self._handed_over: tuple[wp.array, ...] = ()
        self._faults = Faults()
        self._on_fault: Callable[[], None] | None = None
        self._faults.codes, self._faults.steps = self._zeros(wp.int32), self._zeros(wp.int32)
        self._faults.counted = wp.zeros(1, dtype=wp.int32, device=device)
        # by their number among the laws with a state
        self._networks: dict[int, WarpNetwork] = self._new_networks() if plan.networks else {}
        self.signals = {
            name: wp.array(new_signal(name, plan), dtype=wp.float32, device=device) for name in plan.signals
        }
        """Signals that laws ask for, by name, float32 `(robots, slots)`; the host of the robot writes them.

        Published values of laws are written here at the start of a step, see `publish`.
        """
        self._measured = tuple(self._zeros(fill=math.nan) for _ in range(plan.num_measured))
        self._published = self._published_places()
        # signal and slots of each total, and the signal it is written to
        self._totals: list[tuple[wp.array, wp.array, wp.array]] = []
        self._slots = self._new_slots()
        # the lag is the last
        self._rows = {id(row): self._on_device(row) for row in plan.rows[:-1]}
        self._slots.lag = self._on_device(plan.lag)
        self._neutral = {
            one.signal: self._on_device(Row.filled(one.neutral, plan.num_slots))
            for one, _ in self._published
            if one.row is None
        }
        self._checks = checks_of(self)
        self._binding: Columns | Indices | None = None
        self._columns: list[int] = list(range(plan.num_slots))
        self._now = self._after = self.new_state()
        # launches by phase, binding and states, with the binding and states themselves
        self._launches: dict[tuple[str | int, ...], tuple[Any, tuple[object, ...]]] = {}
        self._kernels: dict[tuple[str, str], wp.Kernel] = {}
        # launches that copy pieces of rows into them, and the arrays that these read
        self._pieces: list[tuple[wp.Launch, list[wp.array]]] = []
        # states of the laws before a step in place that is cut in two; networks write theirs after the limits
        self._before: StepState | None = None
        # linkages, position and velocity of the joints, and the physics step on the device
        self._links: Links | None = None
        self._at_shafts = bool(plan.names_of_signals)
        self._shafts: list[wp.array] = []
        if plan.linkages:
            self._link(plan)
        if self._networks or self._links is not None:
            self._keep_between_phases()

    def _link(self, plan: Plan) -> None:
        # most plans have none
        from .linkage_kernels import link_in_kernel, link_out_kernel, links_of

        self._links = links_of(plan.linkages, self.device)
        self._link_kernels = link_in_kernel, link_out_kernel
        self._linkage_stage = 1 + [KINDS[stage.law.KIND].couples for stage in plan.stages].index(True)
        self._shafts = [self._zeros() for _ in range(7)]
        self._dt_there = wp.zeros(1, dtype=wp.float32, device=self.device)

    def new_state(self) -> StepState:
        """Return a fresh state."""
        return new_state(self.plan, self.device)

    def bind(self, binding: Columns | Indices) -> None:
        """Read signals and write efforts this way from now on."""
        if not any(one is binding for _, stands_on in self._launches.values() for one in stands_on):
            binding.check(self.plan.num_robots, self.plan.num_slots, self.device)
            self._compile(_kind(binding))
        if isinstance(binding, Columns) and list(binding.columns) != self._columns:
            self._columns = list(binding.columns)
            self._slots.column = self._ints(binding.columns)
            self._launches.clear()
        self._binding = binding

    def use(self, now: StepState, after: StepState) -> None:
        """Read the state `now` and write `after` from now on; the same one twice is updated in place."""
        self._now, self._after = now, after

    def step(self, dt: float) -> None:
        """Compute the efforts of all slots of all robots for a physics step of `dt` seconds."""
        if self._networks or self._links is not None:
            self.command(dt)
            self.limit()
            return self._look_for_faults()
        self._require_dt(dt)
        self._copy_pieces()
        if self._published:
            self.publish()
        self._launch("step", dt)
        self._advance()
        self._count()
        self._look_for_faults()

    def _look_for_faults(self) -> None:
        if self._on_fault is not None and numpy_view(self._faults.codes).any():
            call, self._on_fault = self._on_fault, None
            call()

    def _require_dt(self, dt: float) -> None:
        # a graph replays a step that was checked before its capture
        if self._checks and not wp.get_device(self.device).is_capturing:
            for one in self._checks:
                one.require_dt(dt)

    def command(self, dt: float) -> None:
        """The first phase of a step: guard, delay and law, see `hand_over`."""
        self._require_dt(dt)
        self._dt = dt
        self._copy_pieces()
        if self._before is not None and self._now is self._after:
            for number in range(len(self._now.laws)):
                if number not in self._networks:
                    for kept, values in zip(self._before.laws[number], self._now.laws[number], strict=True):
                        wp.copy(kept, values)
        if self._published:
            self.publish()
        if self._links is not None:
            self._launch("gather", dt)
            size = self.plan.num_robots, len(self.plan.linkages)
            wp.launch(self._link_kernels[0], size, [self._links, *self._shafts[:5]], device=self.device)
        self._launch("shaft" if self._at_shafts else "command", dt)
        for number, network in self._networks.items():
            network.compute(self._handed_flat, self._now.laws[number])
        self._advance()

    def limit(self) -> None:
        """The second phase of a step: limits, guard and efforts out."""
        if self._links is None:
            self._launch("limit", self._dt)
        else:
            if not self._at_shafts:
                self._launch("motor", self._dt)
            self._dt_there.fill_(self._dt)
            limited = (self._linkage_stage, self._observed[1]) if self._observed else (0, None)
            inputs = [self._links, self._dt_there, *self._shafts[5:], self._handed_over[6], *limited]
            wp.launch(
                self._link_kernels[1], (self.plan.num_robots, len(self.plan.linkages)), inputs, device=self.device
            )
            self._launch("joint", self._dt)
        for number, network in self._networks.items():
            network.advance(self._handed_flat, self._now.laws[number], self._after.laws[number])
        self._count()

    def hand_over(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array, computed: wp.array) -> None:
        """Step in two halves from now on, `command` and `limit`, with these arrays `(robots, slots)` between them.

        Signals are positions, velocities and delayed targets, of the motor where there is a transmission; a value that
        is not finite leaves the previous one. Fault codes `bad` are int32; the second half limits `efforts`, NaN for a
        fault, and records `computed` as those before all limits.
        """
        self._handed_over = (*signals, bad, efforts, computed)
        self._handed_flat = [array.flatten() for array in self._handed_over]
        self._forget_kernels()

    def _keep_between_phases(self) -> None:
        """Have arrays for a step that is cut in two."""
        signals = [self._zeros() for _ in range(5)]
        self.hand_over(signals, self._zeros(wp.int32), self._zeros(), self._zeros())
        if len(self.plan.stateful) > len(self.plan.networks):
            self._before = self.new_state()

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Reset state and faults of `robots`, indices or a mask, all by default; a mask is read on the device."""
        if robots is None:
            self._set_steps(0)
        plan = self.plan
        mask = mask_of(robots, plan.num_robots, self.device)
        inputs = [mask, self._slots, self._now.num_pushes, self._faults.codes]
        wp.launch(reset_kernel, (plan.num_robots, plan.num_slots), inputs, device=self.device)
        for one, law in zip(plan.stateful, self._now.laws, strict=True):
            for name, values, (start, is_kept, keeper) in zip(one.names, law, one.resets, strict=True):
                if not is_kept or keeper >= 0:
                    each = one.count * math.prod(values.shape[one.axis_of(name) + 1 :])
                    inputs = [mask, each, start, law[keeper] if keeper >= 0 else None]
                    wp.launch(clear_kernel, values.size, inputs, [values.flatten()], device=self.device)
        for measured in self._measured:
            inputs = [mask, plan.num_slots, math.nan, None]
            wp.launch(clear_kernel, measured.size, inputs, [measured.flatten()], device=self.device)
        self._copy_pieces()
        # readers get the reset value before the next step; values that a reset keeps stay published
        for number, (one, _) in enumerate(self._published):
            _, is_kept, keeper = plan.stateful[one.law].resets[one.state]
            if not is_kept or keeper >= 0:
                self._publishing(number, mask)

    def publish(self) -> None:
        """Publish the values that the next step publishes at its start, and add up the totals if this step does so."""
        launches = self._recorded("publish", self._now)
        if launches is None:
            launches = [self._publishing_all()] if self._published else []
            for signal, slots, total in self._totals:
                inputs = [signal, slots]
                robots = self.plan.num_robots
                launch = recorded(total_kernel, robots, inputs, [total], self.device)
                launches.append((launch, inputs))
            self._record(launches, "publish", self._now)
        for launch, _ in launches:
            launch.launch()

    def add_up_totals(self, on: bool) -> None:
        """Add up totals over the slots of the plan in each step from now on, or leave them to the host."""
        totals = self.plan.totals if on else []
        self._totals = [
            (self.signals[part], self._ints(slots), self.signals[name]) for name, part, slots in totals if len(slots)
        ]
        self._launches.clear()

    def _published_places(self) -> list[tuple[Published, wp.array]]:
        """Each published number, and the place of each slot among those that have its law."""
        plan = self.plan
        return [(one, self._ints(plan.stateful[one.law].places)) for one in plan.published]

    def _while_unset(self, one: Published) -> wp.array:
        """Values of a signal while its state is unknown, `(robots, slots)`."""
        return self._neutral[one.signal] if one.row is None else self._rows[id(one.row)]

    def _publishing(self, number: int, chosen: wp.array) -> None:
        """Publish a number of chosen robots."""
        one, places = self._published[number]
        state = self._now.laws[one.law][one.state]
        inputs = [chosen, state, places, int(one.used.sum()), self._while_unset(one)]
        signal = self.signals[one.signal]
        wp.launch(publish_kernel, signal.shape, inputs, [signal], device=self.device)

    def _publishing_all(self) -> tuple[wp.Launch, list[Any]]:
        """Record the launch of the kernel that publishes all numbers; return the launch and its inputs."""
        published = [one for one, _ in self._published]
        places = self._ints(np.stack([self.plan.stateful[one.law].places for one in published]))
        counts = self._ints([int(one.used.sum()) for one in published])
        states = [self._now.laws[one.law][one.state] for one in published]
        inputs = [places, counts, *states, *map(self._while_unset, published)]
        outputs = [self.signals[one.signal] for one in published]
        kernel = publishing_kernel(len(published))
        launch = recorded(kernel, outputs[0].shape, inputs, outputs, self.device)
        return launch, [*inputs, *outputs]

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages after the controllers."""
        return self.plan.stage_names

    @property
    def now(self) -> StepState:
        """The state that the next step reads."""
        return self._now

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        self._observed = tuple(self._zeros(dtype) for dtype in (wp.float32, wp.int32, wp.float32) if on)
        self._forget_kernels()

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the limits, 0 on a fault, and the last limit that changed each, from 1; `(robots, slots)`."""
        computed, limited_by = (array.numpy() for array in self._observed[:2])
        return computed, limited_by

    def motor_efforts(self) -> np.ndarray:
        """Efforts of the motors behind all limits, 0 on a fault, if observed; `(robots, slots)`."""
        return self._observed[2].numpy()

    @property
    def measured(self) -> tuple[wp.array, ...]:
        """Position, velocity and targets that controllers get, see `Plan.num_measured`; NaN since a reset."""
        return self._measured

    @property
    def computed(self) -> wp.array:
        """Efforts before the limits, 0 on a fault, if observed; float32 `(robots, slots)`."""
        return self._observed[0]

    def materialize(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        if not row.per_robot:
            row.materialize(self.plan.num_robots)
            array = self._on_device(row)
            if row is self.plan.lag:
                self._slots.lag = array
            else:
                self._rows[id(row)] = array
            self._launches.clear()
        return self._slots.lag if row is self.plan.lag else self._rows[id(row)]

    def take_piece(self, row: Row, slots: tuple[int, ...], piece: wp.array) -> None:
        """Read the values of these slots of a row with a value per robot from `piece`, `(robots, these slots)`."""
        inputs = [piece, self._ints(slots)]
        launch = recorded(piece_kernel, piece.shape, inputs, [self.materialize(row)], self.device)
        # a launch of older Warp does not keep its inputs alive
        self._pieces.append((launch, inputs))

    def values(self, row: Row) -> np.ndarray:
        """Current values of a row, `(robots, slots)`, read-only."""
        if not row.per_robot and row.live is None:
            return np.broadcast_to(row.shared, (self.plan.num_robots, self.plan.num_slots))
        self._copy_pieces()
        return (self._slots.lag if row is self.plan.lag else self._rows[id(row)]).numpy()

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Robot, slot, code and step of the first fault of each since its reset, by slot and robot."""
        codes, steps = self._faults.codes.numpy(), self._faults.steps.numpy() + self._counted
        places = np.argwhere(codes.T).tolist()
        return [(robot, slot, int(codes[robot, slot]), int(steps[robot, slot])) for slot, robot in places]

    def on_fault(self, call: Callable[[], None]) -> None:
        """Call this once, after the first whole step with a fault; not on a GPU."""
        self._on_fault = call if wp.get_device(self.device).is_cpu else None

    def clear_faults(self) -> None:
        """Clear all faults, and count steps from 0 again."""
        self._faults.codes.zero_()
        self._set_steps(0)

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Replace the faults, and the number of steps."""
        self._set_steps(steps)
        codes, when = (np.zeros(self._faults.codes.shape, np.int32) for _ in range(2))
        for robot, slot, code, step in faults:
            codes[robot, slot], when[robot, slot] = code, step - self._counted
        self._faults.codes.assign(codes)
        self._faults.steps.assign(when)

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all; reads the device once a graph was captured."""
        return self._steps + self._counted

    @property
    def _counted(self) -> int:
        """Number of steps that the device has counted."""
        return int(self._faults.counted.numpy()[0]) if self._counts_there else 0

    def _copy_pieces(self) -> None:
        for launch, _ in self._pieces:
            launch.launch()

    def _compile(self, binding: str) -> None:
        """Make the kernels of a binding, and compile them before the first step."""
        if self._published:
            wp.load_module(publishing_kernel(len(self._published)).module, device=self.device)
        stages, feedback = (tuple(stage.law for stage in some) for some in (self.plan.stages, self.plan.feedback))
        cut = LINKED[self._at_shafts] if self._links is not None else ("command", "limit")
        at_motor = tuple(bool(stage.is_behind) for stage in self.plan.feedback)
        for phase in cut if self._handed_over else ("step",):
            if (binding, phase) not in self._kernels:
                laws = self.plan.controllers, stages, feedback, at_motor
                kernel = step_kernel(*laws, binding, phase, bool(self._observed))
                load_kernel(kernel, (*self.plan.controllers, *stages, *feedback), self.device)
                self._kernels[binding, phase] = kernel

    def _forget_kernels(self) -> None:
        bindings = {binding for binding, _ in self._kernels}
        self._kernels.clear()
        self._launches.clear()
        for binding in bindings:
            self._compile(binding)

    def _advance(self) -> None:
        """Advance the delays by a row."""
        if not self.plan.num_delayed:
            return
        key = "go on", self._now, self._after
        launch: wp.Launch | None = self._recorded(*key)
        if launch is None:
            inputs, outputs = [self.plan.depth, self._now.write_idx], [self._after.write_idx]
            launch = recorded(advance_kernel, 1, inputs, outputs, self.device)
            self._record(launch, *key)
        launch.launch()

    def _count(self) -> None:
        """Count a step, unless the device has counted it."""
        self._steps += not self._counts_there

    def _set_steps(self, steps: int) -> None:
        """Set the number of steps; a graph keeps the Python count of the time of its capture."""
        if self._counts_there:
            self._faults.counted.fill_(steps - self._steps)
        else:
            self._steps = steps

    def _launch(self, phase: str, dt: float) -> None:
        """Launch the kernel of a phase; launches are recorded per binding and pair of states."""
        binding = self._binding
        if isinstance(binding, Indices) and phase in COMMANDING:
            binding.check_indices()
        key = phase, binding, self._now, self._after
        launch = self._recorded(*key)
        if launch is None:
            launch = self._record(self._new_launch(phase), *key)
        first = 1 + len(self._rows)
        launch.set_param_at_index(first, self._steps)
        # Warp gives the captures themselves, which are none after the capture
        self._counts_there = self._counts_there or bool(wp.get_device(self.device).is_capturing)
        launch.set_param_at_index(first + 1, int(self._counts_there))
        launch.set_param_at_index(first + 2, dt)
        launch.launch()

    def _recorded(self, what: str, *stands_on: object) -> Any:
        """The recorded launch of a phase for a binding and states, or None."""
        found = self._launches.get((what, *map(id, stands_on)))
        return None if found is None else found[0]

    def _record(self, launch: object, what: str, *stands_on: object) -> Any:
        # keeps the objects alive, so that no other object gets the same id
        self._launches[what, *map(id, stands_on)] = launch, stands_on
        if len(self._launches) > _KEPT:
            del self._launches[next(iter(self._launches))]
        return launch

    def _new_launch(self, phase: str) -> wp.Launch:
        """Record the launch of a phase for the current binding and states."""
        binding = self._binding
        if binding is None:
            raise ValueError("the step has no arrays yet. Call bind first.")
        inputs, efforts = binding.warp_views()
        observed = self._observed if phase in OBSERVING else ()
        before = self._now
        if phase in ("limit", "motor", "joint") and self._now is self._after:
            before = self._before or self._now
        arguments = [self._slots, *self._rows.values(), self._steps, 0, 0.0, *inputs]
        arguments += [self.signals[name] for name in self.plan.asked]
        arguments += [*self._arguments_of(before), *self._arguments_of(self._after)]
        arguments += [int(self._now is not self._after)]
        measured = self._measured if phase in COMMANDING else ()
        arguments += [self._faults, *measured, *observed, *self._handed_over, *self._shafts, *efforts]
        kernel, shape = self._kernels[_kind(binding), phase], (self.plan.num_robots, self.plan.num_slots)
        return recorded(kernel, shape, arguments, [], self.device)

    def _arguments_of(self, state: StepState) -> list[object]:
        """A state as arguments of the kernel, without those of networks."""
        ring = Ring()
        ring.pos, ring.vel, ring.act = state.buffer_pos, state.buffer_vel, state.buffer_act
        ring.pushes, ring.newest = state.num_pushes, state.write_idx
        laws = [law for number, law in enumerate(state.laws) if number not in self._networks]
        return [ring, *(values for law in laws for values in law)]

    def _on_device(self, row: Row) -> wp.array:
        """Values of a row per robot and slot; shared values are one row with a stride of 0."""
        dtype = wp.int32 if row.shared.dtype == np.int32 else wp.float32
        shape, size = (self.plan.num_robots, self.plan.num_slots), row.shared.itemsize
        if row.live is not None:
            array, strides = warp_view(row.live), (row.live.strides[0], size)
        else:
            array = wp.array(row.shared if row.own is None else row.own, dtype=dtype, device=self.device)
            # the array on the device takes over from the one in the plan
            row.own = None
            if array.ndim == 2:
                return array
            strides = (0, size)
        view = wp.array(ptr=array.ptr, dtype=dtype, shape=shape, strides=strides, device=self.device)
        view._ref = array
        return view

    def _ints(self, values: Sequence[int] | np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)

    def _per_slot(self, rows: Iterable[np.ndarray]) -> wp.array:
        """Rows of a number per slot; a row of zeros if there are none."""
        return self._ints(np.stack(list(rows) or [np.zeros(self.plan.num_slots)]))

    def _zeros(self, dtype: type = wp.float32, fill: float = 0) -> wp.array:
        size = self.plan.num_robots, self.plan.num_slots
        return wp.full(size, fill, dtype=dtype, device=self.device)

    def _new_networks(self) -> dict[int, WarpNetwork]:
        # most plans have none
        from .warp_network import WarpNetwork

        stateful = self.plan.stateful
        return {stateful.index(one): WarpNetwork(one, self.plan, self.device) for one in self.plan.networks}

    def _new_slots(self) -> Slots:
        plan, slots = self.plan, Slots()
        slots.column = self._ints(np.arange(plan.num_slots))
        slots.controller = self._ints(plan.controller_kind)
        slots.delay_place = self._ints(np.where(plan.delayed, np.cumsum(plan.delayed) - 1, -1))
        slots.num_slots, slots.num_delayed, slots.depth = plan.num_slots, plan.num_delayed, plan.depth
        # networks have index arrays of their own
        stateful = [one for one in plan.stateful if not is_network(one.law)]
        slots.law_count = self._ints([one.count for one in stateful])
        slots.law_place = self._per_slot(one.places for one in stateful)
        pulling = np.zeros(plan.num_slots, bool)
        for linkage in plan.linkages:
            pulling[list(linkage.slots)] = linkage.pulls
        slots.has = self._per_slot(_words([*(stage.used for stage in (*plan.stages, *plan.feedback)), pulling]))
        slots.asked = self._per_slot(plan.asked.values())
        # in the order in which the kernel numbers them
        laws = [*plan.controllers, *(stage.law for stage in (*plan.stages, *plan.feedback))]
        before = np.cumsum([0, *(len(law.CURVES) for law in laws)])
        first = np.zeros((max(before[-1], 1), plan.num_slots), np.int32)
        counts = np.zeros_like(first)
        rows = [np.zeros((0, 3), np.float32)]
        for law, one in plan.curves:
            number = before[law] + one.number
            first[number, one.used], counts[number, one.used] = sum(map(len, rows)), len(one.rows)
            rows.append(one.rows)
        slots.curve_first, slots.curve_count = self._ints(first), self._ints(counts)
        slots.curves = wp.array(np.concatenate(rows), dtype=wp.float32, ndim=2, device=self.device)
        return slots


def _words(flags: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Flags per slot as bits of integers, `BITS` of them in each; an empty list without flags."""
    parts = [flags[first : first + BITS] for first in range(0, len(flags), BITS)]
    shifted = ([one.astype(np.int64) << bit for bit, one in enumerate(part)] for part in parts)
    return [np.sum(np.stack(part), axis=0) for part in shifted]


def _kind(binding: Columns | Indices) -> str:
    return "columns" if isinstance(binding, Columns) else "indices"


def load_kernel(kernel: wp.Kernel, laws: Sequence[LawClass], device: wp.DeviceLike) -> None:
    """Compile the module of a kernel."""
    try:
        wp.load_module(kernel.module, device=device)
    except Exception as error:
        names = ", ".join(law.__name__ for law in laws)
        raise TypeError(f"the laws of {names} do not compile together: {error} Correct the wp.func.") from error
