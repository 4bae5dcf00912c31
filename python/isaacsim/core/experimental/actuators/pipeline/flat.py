"""Run actuators over flat arrays with the native core: one call per step for a list of them, on the CPU."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ..components.clamping_position_based import ClampingPositionBased
from ..components.controller_pid import ControllerPID
from ..native import core
from .entry import ActuatorEntry
from .native_engine import CONTROL_ROWS, LIMITS
from .plan import between, is_built_in
from .sim_arrays import find_arrays, missing

if TYPE_CHECKING:
    from .actuator import Actuator

# the delay rings of the core, in its order
_RING = ("buffer_pos", "buffer_vel", "buffer_act", "num_pushes", "write_idx")
# how many frames and lists of states stay bound
_KEPT = 4


def runs_natively(actuator: Actuator) -> bool:
    """Whether the core was built and knows all laws of an actuator, whose arrays are on the CPU."""
    if core is None or not actuator.device.is_cpu:
        return False
    entry = ActuatorEntry(actuator.label, (), actuator.controller, actuator.clamping, actuator.delay)
    return between(entry) is None and is_built_in(entry)


class FlatEngine:
    """Actuators that run natively, stepped one after the other in one call.

    Arrays and states are bound when they are first seen; to step with the same ones again costs next to nothing.

    Args:
        actuators: The actuators, in their order.
    """

    def __init__(self, actuators: Sequence[Actuator]) -> None:
        self._actuators = tuple(actuators)
        self._flat: Any = None

    def is_current(self) -> bool:
        """Whether the actuators have the components and arrays that the core was told of, if it was already."""
        return self._flat is None or core.unchanged(self._told)

    def step(
        self, sim_state: Any, sim_control: Any, now: Sequence[Any], after: Sequence[Any], dt: float | None
    ) -> None:
        """Step all actuators; see `Actuator.step`. There is one state per actuator."""
        if self._flat is None:
            self._flat = self._bind()
        if dt is None:
            if self._integrates:
                raise ValueError("dt = None: must be the physics step in seconds for a law with an integral. Give it.")
            dt = 0.0
        frame = self._frame(sim_state, sim_control)
        if self._stateful:
            self._flat.step(frame, self._memory(now), self._memory(after), dt)
        else:
            self._flat.step(frame, self._nothing, self._nothing, dt)

    def _bind(self) -> Any:
        """Tell the core of the actuators, return what runs them."""
        self._stateful = any(actuator.is_stateful() for actuator in self._actuators)
        self._integrates = any(isinstance(actuator.controller, ControllerPID) for actuator in self._actuators)
        self._nothing = core.Memory([(0, None, [])] * len(self._actuators))
        # frames and lists of states by the identity of what is in them, which they keep alive
        self._frames: dict[tuple[int, ...], tuple[Any, list[Any]]] = {}
        self._memories: dict[tuple[int, ...], tuple[Any, list[Any], list[Any]]] = {}
        # the arrays of state and control, and whether each has to be there
        self._wanted: tuple[dict[str, bool], dict[str, bool]] = {}, {}
        for actuator in self._actuators:
            for of_control, name, required in _arrays_of(actuator):
                wanted = self._wanted[of_control]
                if name is not None:
                    wanted[name] = wanted.get(name, False) or required
        flat = core.Flat()
        self._told: list[tuple[Any, tuple[Any, ...]]] = []
        for number, actuator in enumerate(self._actuators):
            self._add(flat, actuator, actuator.label or f"actuator {number}")
            components = [one for one in (actuator.delay, actuator.controller, *actuator.clamping) if one is not None]
            self._told += [_contents(vars(one)) for one in (actuator, *components)]
            self._told.append(_contents(actuator.clamping))
        return flat

    def _add(self, flat: Any, actuator: Actuator, label: str) -> None:
        controller, delay, record = actuator.controller, actuator.delay, actuator.record
        indices = (actuator.indices, actuator.pos_indices, actuator.target_pos_indices, actuator.effort_indices)
        of_state, of_control = (list(wanted) for wanted in self._wanted)
        numbers = [
            -1 if name is None else len(of_state) + of_control.index(name) if control else of_state.index(name)
            for control, name, _ in _arrays_of(actuator)
        ]
        flat.add(
            label=label,
            indices=[_numbers(array) for array in indices],
            arrays=numbers,
            integral=isinstance(controller, ControllerPID),
            parameters=[_numbers(getattr(controller, name, None)) for name in CONTROL_ROWS],
            lag=None if delay is None else _numbers(delay.delay_steps),
            limits=[_limit(clamp) for clamp in actuator.clamping],
            record=[_numbers(array) for array in (record.fault, record.fault_step, record.steps, record.computed)],
        )

    def _frame(self, sim_state: Any, sim_control: Any) -> Any:
        """The arrays of a simulation as the core takes them."""
        of_state, of_control = self._wanted
        arrays = find_arrays(sim_state, of_state) + find_arrays(sim_control, of_control)
        key = tuple(map(id, arrays))
        kept = self._frames.get(key)
        if kept is None:
            given = []
            for source, wanted in zip((sim_state, sim_control), self._wanted, strict=True):
                for name, required in wanted.items():
                    array = arrays[len(given)]
                    if array is None and required:
                        raise missing(source, name)
                    given.append((name, _numbers(array, name)))
            kept = self._frames[key] = core.Frame(given), arrays
            _forget_oldest(self._frames)
        return kept[0]

    def _memory(self, states: Sequence[Any]) -> Any:
        """States as the core takes them."""
        key = tuple(map(id, states))
        kept = self._memories.get(key)
        if kept is None or not core.unchanged(kept[2]):
            given, told = [], []
            for actuator, state in zip(self._actuators, states, strict=True):
                law, delay = (getattr(state, name, None) for name in ("controller_state", "delay_state"))
                integral = _numbers(getattr(law, "integral", None))
                ring = [] if delay is None else [_numbers(getattr(delay, name)) for name in _RING]
                given.append((actuator.num_actuators, integral, ring))
                told += [_contents(vars(part)) for part in (state, law, delay) if part is not None]
            kept = self._memories[key] = core.Memory(given), list(states), told
            _forget_oldest(self._memories)
        return kept[0]


def _arrays_of(actuator: Actuator) -> list[tuple[bool, str | None, bool]]:
    """Whether of the control object, name, and whether it has to be there, of each array in the order of the core."""
    computed = actuator.control_computed_output_attr
    return [
        (False, actuator.state_pos_attr, True),
        (False, actuator.state_vel_attr, True),
        (True, actuator.control_target_pos_attr, True),
        (True, actuator.control_target_vel_attr, True),
        (True, actuator.control_feedforward_attr, False),
        (True, actuator.control_output_attr, True),
        (True, None if computed == actuator.control_output_attr else computed, True),
    ]


def _limit(clamp: Any) -> tuple[int, list[Any]]:
    """Kind and parameters of a clamp, or its table, for the core."""
    kind = next(number for number, known in enumerate(LIMITS) if isinstance(clamp, known))
    if isinstance(clamp, ClampingPositionBased):
        return kind, [np.array(column, np.float32) for column in (clamp.lookup_positions, clamp.lookup_efforts)]
    return kind, [_numbers(getattr(clamp, name)) for name in clamp.PARAMETERS]


def _numbers(array: Any, name: str = "array") -> Any:
    """A NumPy view of an array, None for none.

    Raises:
        ValueError: It is not on the CPU.
    """
    if isinstance(array, wp.array):
        device: Any = array.device
        if not device.is_cpu:
            raise ValueError(f"{name} is on {device}: must be on the CPU, as the actuator is. Copy it there.")
        return array.numpy()
    return None if array is None else np.asarray(array, copy=False)


def _contents(container: Any) -> tuple[Any, tuple[Any, ...]]:
    """A dict or list, and the objects in it now."""
    return container, tuple(container.values() if isinstance(container, dict) else container)


def _forget_oldest(kept: dict[Any, Any]) -> None:
    if len(kept) > _KEPT:
        del kept[next(iter(kept))]
