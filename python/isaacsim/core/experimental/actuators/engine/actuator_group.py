"""`ActuatorGroup`: several actuators over the same simulation, stepped as one."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ..base.errors import NotCopied
from ..base.memory import Array
from ..base.untraced import untraced
from ..specs.arguments import require_type
from .actuator import Actuator, as_ours
from .calls import Calls, is_native
from .gradients.actuator_gradients import tape_now
from .step.fault import Fault


class ActuatorGroup(NotCopied):
    """Actuators that share state and control objects; `step` steps them in their order.

    Consecutive actuators with built-in laws on the CPU are stepped in one call, which is much faster.

    Args:
        actuators: Actuators of this package or of newton, each once; they may differ in components, indices and numbers
            of joints. Those of newton are converted.

    Raises:
        TypeError: An element is no actuator.
        ValueError: An actuator is listed twice, or an actuator of newton cannot be used.
    """

    _INSTEAD = "Make another one of actuators of its own."

    def __init__(self, actuators: Sequence[object]) -> None:
        require_type("actuators", actuators, Sequence, "a list of actuators")
        if len(set(map(id, actuators))) != len(actuators):
            raise ValueError("an actuator is listed twice: must be there once, as it keeps one record. Make another.")
        self.actuators = tuple(map(as_ours, actuators))
        self._runs: list[tuple[slice, Calls | None]] = []
        self._calls: list[Calls] = []
        self._without = (None,) * len(self.actuators)

    def is_stateful(self) -> bool:
        """Return True if `step` needs states."""
        return any(actuator.is_stateful() for actuator in self.actuators)

    def is_graphable(self) -> bool:
        """Return True if `step` can be captured in a CUDA graph."""
        return all(actuator.is_graphable() for actuator in self.actuators)

    def state(self) -> list[Actuator.State | None]:
        """Return a fresh state of each actuator, None for an actuator without state."""
        return [actuator.state() for actuator in self.actuators]

    @untraced
    def step(
        self,
        sim_state: object,
        sim_control: object,
        current_states: Sequence[Actuator.State | None] | None = None,
        next_states: Sequence[Actuator.State | None] | None = None,
        dt: float | None = None,
        *,
        bias_force: Array | None = None,
    ) -> None:
        """Add the efforts of this step to the output arrays; see `Actuator.step`.

        Args:
            sim_state: Object or mapping with positions and velocities.
            sim_control: Object or mapping with targets, feedforward and outputs.
            current_states: State of each actuator before this step.
            next_states: State of each actuator after this step, which is written.
            dt: Physics step [s]; laws without an integral do not need it.
            bias_force: For actuators in the implicit effort mode, see `Actuator.step`.

        Raises:
            ValueError: An array or a state is missing.
        """
        runs = self._runs
        if not runs or not all(calls.is_current() for calls in self._calls):
            runs = self._split()
        now, after = self._states(current_states, next_states)
        if tape_now() is not None and any(actuator.requires_grad for actuator in self.actuators):
            # a tape records each actuator separately
            runs = [(slice(None), None)]
        for mine, calls in runs:
            if calls is not None:
                calls.step(sim_state, sim_control, now[mine], after[mine], dt)
                continue
            for actuator, before, following in zip(self.actuators[mine], now[mine], after[mine], strict=True):
                actuator.step(sim_state, sim_control, before, following, dt, bias_force=bias_force)

    @property
    def faults(self) -> list[Fault]:
        """Faults of all actuators; see `Actuator.faults`."""
        return [fault for actuator in self.actuators for fault in actuator.faults]

    def clear_faults(self) -> None:
        """Clear the faults of all actuators."""
        for actuator in self.actuators:
            actuator.clear_faults()

    def _split(self) -> list[tuple[slice, Calls | None]]:
        """Group consecutive actuators by whether the core steps them."""
        self._stateful = [number for number, actuator in enumerate(self.actuators) if actuator.is_stateful()]
        self._runs, first = [], 0
        for native, mine in itertools.groupby(self.actuators, is_native):
            part = slice(first, first + len(list(mine)))
            self._runs.append((part, Calls(self.actuators[part]) if native else None))
            first = part.stop
        self._calls = [calls for _, calls in self._runs if calls is not None]
        return self._runs

    def _states(self, *given: Sequence[Actuator.State | None] | None) -> list[Sequence[Actuator.State | None]]:
        """Return both lists of states, validated before anything is stepped."""
        now, after = both = [self._without if states is None else states for states in given]
        for name, states in zip(("current_states", "next_states"), both, strict=True):
            require_type(name, states, Sequence, "a list of states")
            if len(states) != len(self.actuators):
                raise ValueError(
                    f"{name} has {len(states)} states: must have {len(self.actuators)}, one per actuator. Take state()."
                )
        for number in self._stateful:
            self.actuators[number].require_states(now[number], after[number])
        return both
