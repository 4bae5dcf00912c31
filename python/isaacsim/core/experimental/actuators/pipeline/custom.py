"""Components of the user's own that compute arrays, between the two phases of a plan's step.

The plan guards inputs, delays targets and evaluates the laws it knows; then come the user's components, on dense arrays
that hold nothing that is not finite; then the plan limits, guards and stores. A joint with a fault keeps the state of
its own components too.
"""

# Warp kernels are no Python types
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportAssignmentType=false, reportArgumentType=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import warp as wp

from .actuator import Actuator
from .fault import FAULT_INPUTS, Fault
from .plan import Between, Plan, Row
from .warp_engine import mask_of

wp.set_module_options({"enable_backward": False})


@wp.kernel
def _take_kernel(at: wp.array[wp.uint32], efforts: wp.array[float], mine: wp.array[float]):
    n = wp.tid()
    mine[n] = efforts[at[n]]


@wp.kernel
def _repeat_kernel(mask: wp.array[bool], each: int, repeated: wp.array[bool]):
    n = wp.tid()
    repeated[n] = mask[n / each]


@wp.kernel
def _hold_kernel(
    at: wp.array[wp.uint32], bad: wp.array[int], raw: wp.array[float], before: wp.array[Any], after: wp.array[Any]
):
    n = wp.tid()
    if bad[at[n]] != 0 or not wp.isfinite(raw[n]):
        after[n] = before[n]


@wp.kernel
def _give_kernel(
    at: wp.array[wp.uint32],
    bad: wp.array[int],
    raw: wp.array[float],
    limited: wp.array[float],
    efforts: wp.array[float],
):
    n = wp.tid()
    # a fault is a fault whatever a limit made of it
    if bad[at[n]] != 0 or not wp.isfinite(raw[n]):
        efforts[at[n]] = wp.nan
    else:
        efforts[at[n]] = limited[n]


class _Part:
    """What of one actuator stands between the phases.

    Args:
        actuator: What users see of it.
        between: Those of its components.
        slots: Its slots in the plan.
    """

    def __init__(self, actuator: Actuator, between: Between, slots: Sequence[int], num_slots: int) -> None:
        self.actuator, self.between, self.slots = actuator, between, list(slots)
        self.device, count = actuator.device, actuator.num_actuators
        rows = np.arange(count // len(slots))[:, None] * num_slots
        self.at = self._indices((rows + np.asarray(slots)).ravel())
        self.one_by_one = self._indices(np.arange(count))
        self.raw, self.limited = (wp.zeros(count, dtype=wp.float32, device=self.device) for _ in range(2))
        self.states = [self._new_state() for _ in range(2)]

    def _new_state(self) -> Actuator.State:
        delay, controller = self.between.delay, self.between.controller
        count = self.actuator.num_actuators
        return Actuator.State(
            delay.state(count, self.device) if delay is not None else None,
            controller.state(count, self.device) if controller is not None and controller.is_stateful() else None,
        )

    def compute(self, signals: Sequence[wp.array], bad: wp.array, efforts: wp.array, dt: float) -> None:
        """Put this actuator's efforts in the place of those of the first phase; `states` go from first to second."""
        (now, after), at, device = self.states, self.at, self.device
        positions, velocities, *targets = signals
        controller = self.between.controller
        if controller is None:
            wp.launch(_take_kernel, len(at), [at, efforts], [self.raw], device=device)
        else:
            acting, where = targets, at
            if self.between.delay is not None:
                acting = self.between.delay.get_delayed_targets(*targets, at, at, now.delay_state)
                where = self.one_by_one
            arguments = [positions, velocities, *acting, at, at, where, where, self.raw, now.controller_state, dt]
            controller.compute(*arguments, device=device)
        limited = self.raw
        for clamp in self.between.clamping:
            clamp.modify_forces(limited, self.limited, positions, velocities, at, at, device=device)
            limited = self.limited
        if controller is not None and now.controller_state is not None:
            controller.update_state(now.controller_state, after.controller_state)
            self._hold(bad)
        if self.between.delay is not None:
            self.between.delay.update_state(*targets, at, at, now.delay_state, after.delay_state)
        wp.launch(_give_kernel, len(at), [at, bad, self.raw, limited], [efforts], device=device)

    def _hold(self, bad: wp.array) -> None:
        """A law with a fault keeps its state."""
        now, after = (state.controller_state for state in self.states)
        for name, before in vars(now).items():
            if not isinstance(before, wp.array) or before.shape[-1] != len(self.at) or before.ndim > 2:
                continue
            kept = getattr(after, name)
            rows = [slice(None)] if before.ndim == 1 else range(before.shape[0])
            for old, new in ((before[row], kept[row]) for row in rows):
                wp.launch(_hold_kernel, len(self.at), [self.at, bad, self.raw, old, new], device=self.device)

    def _indices(self, values: np.ndarray) -> wp.array:
        return wp.array(values.astype(np.uint32), dtype=wp.uint32, device=self.device)


class CustomStage:
    """A plan whose actuators have components between the two phases of its step.

    Args:
        engine: What runs the plan.
        actuators: What users see of its actuators.
        betweens: Those of their components.
        slots: Slots of each in the plan.
    """

    def __init__(
        self, engine: Any, actuators: Sequence[Actuator], betweens: Sequence[Between], slots: Sequence[Sequence[int]]
    ) -> None:
        self.engine = engine
        self.growing = frozenset(f"plan.{name}" for name in engine.growing)
        device, shape = actuators[0].device, (self.plan.num_robots, self.plan.num_slots)
        self._signals = [wp.zeros(shape, dtype=wp.float32, device=device) for _ in FAULT_INPUTS[:-1]]
        self._bad = wp.zeros(shape, dtype=wp.int32, device=device)
        self._efforts = wp.zeros(shape, dtype=wp.float32, device=device)
        engine.hand_over(self._signals, self._bad, self._efforts)
        self._flat = [array.flatten() for array in (*self._signals, self._bad, self._efforts)]
        triples = zip(actuators, betweens, slots, strict=True)
        self._parts = [_Part(actuator, one, mine, shape[1]) for actuator, one, mine in triples]

    @property
    def name(self) -> str:
        """What runs."""
        return f"{self.engine.name} with custom components"

    @property
    def plan(self) -> Plan:
        """The plan around the user's components."""
        return self.engine.plan

    @property
    def stage_names(self) -> list[str]:
        """Class names of the limits; those between the phases, by the last of each actuator, come at the end."""
        last = [part.between.clamping[-1:] for part in self._parts]
        return [*self.engine.stage_names, *(type(clamp).__name__ for clamps in last for clamp in clamps)]

    def bind(self, columns: Sequence[int], inputs: Sequence[wp.array], efforts: wp.array) -> None:
        """Attach the articulation's arrays, as `Engine.bind`; `columns` are those of the plan's slots."""
        self.engine.bind(columns, inputs, efforts)
        # compile before the first step, not in it
        modules: set[Any] = {wp.get_module(__name__)}
        for part in self._parts:
            for component in (part.between.delay, part.between.controller, *part.between.clamping):
                if component is not None:
                    modules.add(wp.get_module(type(component).__module__))
                    modules |= {component.kernel().module} if component.LAW is not None else set()
        for module in modules:
            module.load(self._bad.device)

    def step(self, dt: float) -> None:
        """Compute the efforts of all joints; when a component raises, all state is as before."""
        self.engine.command(dt)
        *signals, bad, efforts = self._flat
        try:
            for part in self._parts:
                part.compute(signals, bad, efforts, dt)
        except BaseException:
            self.engine.take_back()
            raise
        for part in self._parts:
            part.states.reverse()
        self.engine.limit()

    def observe(self, on: bool) -> None:
        """Record from the next step on what `observed` returns, or stop it."""
        self.engine.observe(on)

    def observed(self) -> tuple[Any, Any]:
        """Efforts before the limits, and the stage that changed each last, from 1; shape `(robots, slots)`."""
        computed, numbers = (np.array(array) for array in self.engine.observed())
        number = len(self.engine.stage_names)
        for part in self._parts:
            if part.between.clamping:
                number += 1
                raw = part.raw.numpy().reshape(-1, len(part.slots))
                changed = np.isfinite(raw) & (computed[:, part.slots] != raw) & (numbers[:, part.slots] == 0)
                numbers[:, part.slots] = np.where(changed, number, numbers[:, part.slots])
                computed[:, part.slots] = raw
        return computed, numbers

    def spread(self, row: Row) -> wp.array:
        """Give every robot values of its own, shape `(robots, slots)`; writing to them acts at the next step."""
        return self.engine.spread(row)

    def reset(self, robots: Sequence[int] | wp.array | None = None) -> None:
        """Forget state and faults of `robots`, indices or a mask, all by default."""
        self.engine.reset(robots)
        for part in self._parts:
            mask = None
            if robots is not None:
                mask = wp.empty(len(part.at), dtype=wp.bool, device=part.device)
                chosen = mask_of(robots, self.plan.num_robots, part.device)
                wp.launch(_repeat_kernel, len(mask), [chosen, len(part.slots)], [mask], device=part.device)
            part.states[0].reset(mask)

    def save(self) -> dict[str, np.ndarray]:
        """A copy of everything that carries over from one step to the next, by name.

        Raises:
            TypeError: A component keeps its state in something else than a dataclass of Warp arrays.
        """
        plan = {f"plan.{name}": array for name, array in self.engine.save().items()}
        return plan | {name: array.numpy().copy() for name, array in self._memory()}

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Take over what `save` returned."""
        self.engine.restore({name.removeprefix("plan."): saved[name] for name in saved if name.startswith("plan.")})
        for name, array in self._memory():
            array.assign(np.asarray(saved[name]))

    def _memory(self) -> Iterator[tuple[str, wp.array]]:
        for number, part in enumerate(self._parts):
            for kind, state in vars(part.states[0]).items():
                for name, array in vars(state).items() if state is not None else ():
                    if not isinstance(array, wp.array):
                        where = f"actuator {part.actuator.label!r}: {kind}.{name}"
                        raise TypeError(f"{where} is no Warp array and cannot be saved. Keep the state in arrays.")
                    yield f"{number}.{kind}.{name}", array

    def faults(self) -> list[Fault]:
        """The first fault of each joint and robot since its reset; reads the device."""
        return self.engine.faults()
