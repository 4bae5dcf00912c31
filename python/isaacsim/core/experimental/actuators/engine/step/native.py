"""The step in C++: one call on the CPU, see `native/step.cpp`. Without the compiled module there is none."""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import warp as wp

from ...base import native
from ...base.callers import weakly
from ...base.memory import apart, numpy_view, warp_view
from ...laws.contract.late import SPARE_ROWS
from ...specs.signals import SIGNALS
from ..plan import Plan, Row, StatefulLaw
from .binding import Columns, Indices
from .physics_step import Check, KeptDelays, checks_of
from .state import StepState, mask_of, new_signal, new_state

if TYPE_CHECKING:
    from ...laws.networks.network_law import NetworkLaw


def has_native_core() -> bool:
    """Return True if the native core is available."""
    return native.core is not None


class NativeStep:
    """The step of a plan of built-in laws on the CPU; `WarpStep` offers the same.

    `ACTUATORS_ISA` forces an instruction set: avx512, avx2 or baseline.
    """

    def __init__(self, plan: Plan, label: str = "") -> None:
        self.plan = plan
        # the lag is the last
        self._number = {id(row): number for number, row in enumerate(plan.rows[:-1])}
        networks = [network_of(one) for one in plan.networks]
        self.networks = [one[0] for one in networks]
        """The compiled networks of the plan, in its order."""
        self._core = self._new_core(label, networks)
        size = plan.num_robots, plan.num_slots
        signals = {name: new_signal(name, plan) for name in plan.signals}
        self.signals = dict(zip(signals, map(warp_view, signals.values()), strict=True))
        """Signals that laws ask for, by name, float32 `(robots, slots)`; the host of the robot writes them.

        Published values of laws are written here at the start of a step, see `publish`.
        """
        self._measured = tuple(apart(size, np.nan) for _ in range(plan.num_measured))
        self._core.measure(self._measured)
        self._give_laws(signals)
        self.scattered: list[tuple[np.ndarray, np.ndarray]] = []
        """Live arrays that are not contiguous, each with the array that `step` copies it to."""
        # pieces of rows by `id`: slots and values, which the core reads instead of those in `own`
        self._pieces: dict[int, list[tuple[tuple[int, ...], np.ndarray]]] = {}
        for row in plan.rows:
            self._give(row)
        self._observed: tuple[Any, Any] = (None, None)
        self._motor: np.ndarray | None = None
        # states as the core takes them
        self._bound: weakref.WeakKeyDictionary[StepState, object] = weakref.WeakKeyDictionary()
        self._state = self.new_state()
        self.use(self._state, self._state)
        self.checks = checks_of(self)
        """What checks the physics step: networks that require a fixed one, and delays for which the past is kept."""
        self.limit = self._core.limit
        self.command = self._in_order(self._core.command, self.checks)
        step, checks = self._core.step, self.checks
        # what is checked once per time step is so by the core, without a call of Python in each step
        if checks and all(isinstance(one, KeptDelays) for one in checks):
            # the garbage collector does not see into the core
            step, checks = self._core.stepper(weakly(self._require_dt)), ()
        self.step = self._in_order(step, checks)

    @property
    def core(self) -> Any:
        """The compiled plan."""
        return self._core

    @property
    def name(self) -> str:
        """Name of the engine with its instruction set."""
        return f"native {self._core.variant}"

    def new_state(self) -> StepState:
        """Return a fresh state."""
        state = new_state(self.plan)
        delayed = self.plan.num_robots * self.plan.num_delayed
        # in the core's layout for reading many rows
        state.buffer_pos, state.buffer_vel, state.buffer_act = native.core.ring(self.plan.depth, delayed)
        return state

    def bind(self, binding: Columns | Indices) -> None:
        """Read signals and write efforts this way from now on."""
        size = self.plan.num_robots, self.plan.num_slots
        if isinstance(binding, Columns):
            if not binding.is_numpy:
                binding.check(*size, "cpu")
            try:
                # the core checks NumPy arrays itself, faster than Python
                return self._core.bind_columns(*binding.numpy_views())
            except ValueError:
                # names the array that does not fit
                binding.check(*size, "cpu")
                raise
        binding.check(*size, "cpu")
        self._core.bind_indices(list(binding.names), *binding.numpy_views())

    def follower(self, given: Sequence[object]) -> Callable[..., bool] | None:
        """Return a function that rebinds six arrays like the bound ones at other addresses, and tells if it did.

        It does if class, type, shape and strides are those given. None if the core cannot read them, such as Warp
        arrays.
        """
        return self._core.follower(tuple(given))

    @property
    def arrays(self) -> list[object]:
        """Bound signals and efforts: arrays, or memory views where `follower` cannot keep an array."""
        return self._core.arrays

    def use(self, now: StepState, after: StepState) -> None:
        """Read the state `now` and write `after` from now on; the same one twice is updated in place."""
        self._state = now
        self._core.use(self.as_bound(now), self.as_bound(after))

    def hand_over(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array, computed: wp.array) -> None:
        """Step in two halves from now on, `command` and `limit`, with these arrays `(robots, slots)` between them.

        Signals are positions, velocities and delayed targets, of the motor where there is a transmission; a value that
        is not finite leaves the previous one. Fault codes `bad` are int32; the second half limits `efforts`, NaN for a
        fault, and records `computed` as those before all limits.
        """
        self._core.hand_over([array.numpy() for array in signals], *(a.numpy() for a in (bad, efforts, computed)))

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Reset state and faults of `robots`, indices or a mask, all by default."""
        if isinstance(robots, wp.array):
            robots = np.flatnonzero(mask_of(robots, self.plan.num_robots, "cpu").numpy()).tolist()
        self._core.reset(robots)

    def publish(self) -> None:
        """Publish the values that the next step publishes at its start."""
        self._core.publish()

    def add_up_totals(self, on: bool) -> None:
        """Add up totals over the slots of the plan in each step from now on, or leave them to the host."""
        totals = [one for one in self.plan.totals if on and len(one[2])]
        arrays = {name: numpy_view(array) for name, array in self.signals.items()}
        self._core.set_totals([(arrays[part], slots.tolist(), arrays[name]) for name, part, slots in totals])

    @property
    def now(self) -> StepState:
        """The state that the next step reads."""
        return self._state

    @property
    def stage_names(self) -> list[str]:
        """Class names of the stages after the controllers."""
        return self.plan.stage_names

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        size = (self.plan.num_robots, self.plan.num_slots)
        self._observed = (apart(size), apart(size, dtype=np.uint8)) if on else (None, None)
        self._motor = apart(size) if on else None
        self._core.observe(*self._observed, self._motor, self.plan.motor_stages)

    def observe_computed(self, computed: np.ndarray) -> None:
        """Record from the next step on the efforts before the limits, 0 on a fault, in an array `(robots, slots)`."""
        self._observed, self._motor = (computed, None), None
        self._core.observe(computed, None)

    def observed(self) -> tuple[np.ndarray, np.ndarray]:
        """Efforts before the limits, 0 on a fault, and the last limit that changed each, from 1; `(robots, slots)`."""
        return self._observed

    def motor_efforts(self) -> np.ndarray:
        """Efforts of the motors behind all limits, 0 on a fault, if observed; `(robots, slots)`."""
        return cast(np.ndarray, self._motor)

    @property
    def measured(self) -> tuple[np.ndarray, ...]:
        """Position, velocity and targets that controllers get, see `Plan.num_measured`; NaN since a reset."""
        return self._measured

    @property
    def computed(self) -> np.ndarray:
        """Efforts before the limits, 0 on a fault, if observed; float32 `(robots, slots)`."""
        return self._observed[0]

    def materialize(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        values = row.materialize(self.plan.num_robots)
        self._give(row)
        return warp_view(values)

    def take_piece(self, row: Row, slots: tuple[int, ...], piece: wp.array) -> None:
        """Read the values of these slots of a row with a value per robot from `piece`, `(robots, these slots)`."""
        values = numpy_view(piece)
        self._pieces.setdefault(id(row), []).append((slots, values))
        if row is self.plan.lag:
            self._core.own_lag_piece(values, slots)
        else:
            self._core.own_piece(self._number[id(row)], values, slots)

    def values(self, row: Row) -> np.ndarray:
        """Current values of a row, `(robots, slots)`, read-only."""
        if row.live is not None:
            return numpy_view(row.live).reshape(-1, 1)
        if row.own is None:
            return np.broadcast_to(row.shared, (self.plan.num_robots, self.plan.num_slots))
        for slots, piece in self._pieces.get(id(row), ()):
            row.own[:, slots] = piece
        return row.own

    def faults(self) -> list[tuple[int, int, int, int]]:
        """Robot, slot, code and step of the first fault of each since its reset, by slot and robot."""
        return sorted(self._core.faults(), key=lambda fault: (fault[1], fault[0]))

    def on_fault(self, call: Callable[[], None]) -> None:
        """Call this once, after the first whole step with a fault."""
        self._core.on_fault(call)

    def clear_faults(self) -> None:
        """Clear all faults, and count steps from 0 again."""
        self._core.set_faults([], 0)

    def set_faults(self, faults: Sequence[tuple[int, int, int, int]], steps: int) -> None:
        """Replace the faults and the number of steps; the next step checks the restored state."""
        self._core.set_faults(list(faults), steps)
        self._core.unsettle()

    @property
    def steps(self) -> int:
        """Number of steps since the last reset of all."""
        return self._core.steps

    @property
    def bytes_held(self) -> int:
        """Bytes held besides the articulation's arrays and parameters of single robots."""
        held = [*self._state.arrays(), *map(numpy_view, self.signals.values())]
        return self._core.memory + sum(array.nbytes for array in held)

    def _new_core(self, label: str, networks: list[tuple[object, ...]]) -> Any:
        """Compile the plan; signals, curves and values of rows follow."""
        plan = self.plan
        controllers = [
            (law.__name__, self._numbers(map(plan.control.__getitem__, law.PARAMETERS)), _slots(used))
            for law, used in plan.laws[: len(plan.controllers)]
        ]
        limits, feedback = (
            [(stage.law.__name__, self._numbers(stage.rows.values()), _slots(stage.used)) for stage in stages]
            for stages in (plan.stages, plan.feedback)
        )
        neutral = [float(row.neutral) for row in plan.rows[:-1]]
        size, delayed = (plan.num_robots, plan.num_slots), (_slots(plan.delayed), plan.depth)
        first = len(plan.controllers)
        late = [
            (first + number, max(stage.depth, SPARE_ROWS), bool(stage.is_behind) and stage in plan.feedback)
            for number, stage in enumerate([*plan.stages, *plan.feedback])
            if stage.depth or stage in plan.feedback
        ]
        return native.core.Plan(label, *size, neutral, controllers, limits, *delayed, networks, feedback, late)

    def _give_laws(self, signals: Mapping[str, np.ndarray]) -> None:
        """Hand the signals that laws ask for or publish to the core, and their curves and reset values."""
        plan = self.plan
        for name in plan.asked:
            self._core.give_signal(list(SIGNALS).index(name), signals[name])
        for one in plan.published:
            array = sum(len(stateful.names) for stateful in plan.stateful[: one.law]) + one.state
            self._core.add_published(array, signals[one.signal], one.neutral, self._number.get(id(one.row), -1))
        for number, one in plan.curves:
            self._core.add_curve(number, one.number, one.rows, _slots(one.used))
        starts: list[tuple[float, bool, int]] = []
        for law in plan.stateful:
            first = len(starts)
            starts += [(start, is_kept, first + keeper if keeper >= 0 else -1) for start, is_kept, keeper in law.resets]
        self._core.start_at(starts)
        if plan.linkages:
            self._core.set_linkages([linkage.for_core for linkage in plan.linkages])

    def _numbers(self, rows: Iterable[Row]) -> list[int]:
        return [self._number[id(row)] for row in rows]

    def _give(self, row: Row) -> None:
        """Hand the values of a row to the core, which does not copy values per robot."""
        own = row.own
        if row.live is not None:
            own = numpy_view(row.live).reshape(-1, 1)
            if not own.flags.c_contiguous:
                self.scattered.append((own, own.copy()))
                own = self.scattered[-1][1]
        values = row.shared if own is None else own
        if row is self.plan.lag:
            (self._core.share_lag if own is None else self._core.own_lag)(values)
        else:
            (self._core.share if own is None else self._core.own)(self._number[id(row)], values)

    def _require_dt(self, dt: float) -> None:
        for one in self.checks:
            one.require_dt(dt)

    def _in_order(self, run: Callable[[float], None], checks: Sequence[Check]) -> Callable[[float], None]:
        """Return `run`, preceded by checks and copies where the plan needs them."""
        if not checks and not self.scattered:
            return run

        def run_in_order(dt: float) -> None:
            for one in checks:
                one.require_dt(dt)
            for values, copy in self.scattered:
                copy[...] = values
            run(dt)

        return run_in_order

    def as_bound(self, state: StepState) -> object:
        """The core's object of a state."""
        bound = self._bound.get(state)
        if bound is None:
            arrays = [numpy_view(array) for array in state.arrays()]
            *buffers, pushes, write_idx = arrays[:5]
            bound = self._bound[state] = native.core.State(buffers, pushes, write_idx, arrays[5:])
        return bound


def network_of(one: StatefulLaw[NetworkLaw], *, keep: bool = False) -> tuple[object, ...]:
    """A network as an argument of the core; gradients need `keep`, which keeps intermediate results."""
    # most plans have none
    from ...laws.networks.evaluator import core_of
    from ...laws.networks.features import COLUMNS
    from ...laws.networks.program import Program

    law, columns = one.law, list(COLUMNS)
    kept = list(law.history)
    features = [
        (columns.index(f.column), f.back, kept.index(f.column) if f.back else 0, f.offset, f.scale)
        for f in law.features
    ]
    histories = [columns.index(column) for column in kept]
    numbers = law.steps, law.scale, law.offset
    network = core_of(Program(law.data, keep=keep))
    return network, features, histories, *numbers, _slots(one.used), law.first_fills


def _slots(used: np.ndarray) -> list[int]:
    return np.flatnonzero(used).tolist()
