"""The laws of an actuator at states that are only tried: without its delay, and with what it remembers held.

    F(q, v) = limits(law(q, v, targets; held))          what a solver of the end of the step evaluates
    limits(effort, q, v)                                what limits make of the effort that was found

Both are compiled steps of their own, which read and write arrays of a solver. An integral is held: that of PID is the
bias of a PD law, `const + ki·I⁺`, with I⁺ of the error at the start of the step, as newton does it. A network is
linear, see `linear_network.py`.
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import warp as wp

from ...base.memory import Array, warp_view
from ...laws.contract import newton_classes
from ...laws.contract.base import Controller
from ...laws.contract.catalogue import component_class, law_of
from ...laws.contract.law import value_or_zero
from ...laws.controller_pd import ControllerPD
from ...laws.delay import Delay
from ...laws.networks.neural import ControllerNeural
from ...specs.stages import KINDS, AnyStage
from ..calls import ActuatorLike, step_of
from ..launches import Launches
from ..plan import has_law, network_law_of
from ..step.binding import Indices
from ..step.interface import Step
from .linear_network import LinearNetwork

wp.set_module_options({"enable_backward": False})

# laws with an integral, and the law that each is while the integral is held
_HELD = {"ControllerPID": "ControllerPD", "ControllerGearedPID": "ControllerGearedPD"}


def require_solvable(actuator: ActuatorLike) -> None:
    """Raise for an actuator whose laws cannot be evaluated at a state that is only tried."""
    if actuator.controller is None:
        raise NotImplementedError(
            f"{actuator.label or 'actuator'} has no controller: must have one in the implicit effort mode. Leave it "
            "explicit."
        )
    for stage in actuator.stages:
        if (reason := _reason_against(stage)) is not None:
            raise NotImplementedError(
                f"{type(stage).__name__} {reason}: must be a controller or limit with a law and no memory, a PID law, "
                "a network that this package computes or a Delay in the implicit effort mode. Leave the actuator "
                "explicit."
            )


def _reason_against(stage: AnyStage) -> str | None:
    kind = getattr(stage, "KIND", "")
    if not has_law(stage):
        is_network = isinstance(stage, ControllerNeural) or newton_classes.is_network(type(stage))
        return "is a network that Torch or newton computes" if is_network else "computes arrays"
    if network_law_of(stage) is not None:
        return None
    if kind == "delay":
        return None if isinstance(stage, Delay) else "delays commands by a law of its own"
    if kind not in ("controller", "clamping"):
        return f"is {KINDS[kind].words}"
    return "remembers what no step may advance twice" if stage.is_stateful() and _held_name(stage) is None else None


def _held_name(stage: object) -> str | None:
    """Name of the law that a law with an integral is while that is held; None for other laws."""
    law = law_of(type(stage))
    return None if law is None or law.name is None else _HELD.get(law.name)


@dataclass(frozen=True, eq=False)
class _Part:
    """Some stages of an actuator, as `step_of` takes them."""

    label: str
    stages: tuple[AnyStage, ...]
    num_actuators: int
    device: wp.Device


@dataclass(frozen=True, eq=False)
class TrialArrays:
    """Arrays of a solver that the laws read and write, float32 `(N,)` each."""

    start: tuple[wp.array, wp.array]  # positions [rad or m] and velocities [rad/s or m/s] at the start of the step
    tried: tuple[wp.array, wp.array]  # those that are tried
    commands: Sequence[wp.array]  # position targets, velocity targets and feedforward
    effort: wp.array  # the laws add theirs [N·m or N]


class TrialLaws:
    """Compiled steps of the laws of an actuator, which `require_solvable` let pass, and of its limits alone.

    `computed` are efforts of the controller before the limits at the last `compute`, float32 `(N,)`. `network` is the
    controller if it is one, to be refreshed before `hold`; `limits` and `inner` are steps of the limits and the rest.
    """

    def __init__(self, actuator: ActuatorLike, arrays: TrialArrays) -> None:
        count, device = actuator.num_actuators, actuator.device

        def zeros() -> wp.array:
            return wp.zeros(count, dtype=wp.float32, device=device)

        self._actuator, self._arrays, self._count, self._device = actuator, arrays, count, device
        self._bias, self._forward, self._found = zeros(), zeros(), zeros()
        label, limits = actuator.label or "actuator", tuple(actuator.clamping)
        self.network: LinearNetwork | None = None
        if network_law_of(actuator.controller) is not None:
            self.network = LinearNetwork(self._part(label, (actuator.controller,)), *arrays.start, arrays.commands)
        law, computed = self._held_law(), zeros()
        self._law = step_of(self._part(label, (law, *limits)), computed)
        self.inner = [self._law] if self.network is None else [self._law, self.network.step]
        self.computed = computed if self._law.computed is None else warp_view(self._law.computed).flatten()
        constant = ControllerPD(zeros(), zeros(), self._found)
        self.limits = step_of(self._part(label, (constant, *limits)), zeros())
        self._own_order = wp.array(np.arange(count, dtype=np.uint32), dtype=wp.uint32, device=device)
        commands = arrays.commands if self.network is None else [*arrays.start, zeros()]
        self._bind(self._law, commands, arrays.effort, self._own_order)
        self._output: tuple[object, object] = (None, None)
        self._launches = Launches(device)

    def _part(self, label: str, stages: tuple[object, ...]) -> _Part:
        return _Part(label, stages, self._count, self._device)

    def _held_law(self) -> AnyStage:
        law = self._actuator.controller
        name = _held_name(law)
        if self.network is not None:
            return self.network.law
        if name is None:
            return law
        held: AnyStage = component_class(name)
        return held(**{one: self._bias if one == "const_effort" else getattr(law, one) for one in held.PARAMETERS})

    def _bind(self, step: Step, commands: Sequence[wp.array], efforts: Array, indices: wp.array) -> None:
        inputs = [*self._arrays.tried, *commands]
        names = ("position", "velocity", "position target", "velocity target", "feedforward", "effort", "computed")
        binding = Indices(inputs, [self._own_order] * 5, efforts, indices, None, self._actuator.label, names)
        step.bind(binding)

    def hold(self, state: Any) -> None:
        """Hold what the controller remembers, with the signals of the actuator."""
        law = self._actuator.controller
        if _held_name(law) is not None:
            inputs = [law.const_effort, law.ki, state.controller_state.integral]
            wp.launch(_hold_kernel, self._count, inputs, [self._bias], device=self._device, record_tape=False)
        if self._law.signals:
            for name, array in self._actuator.compiled().signals.items():
                for step in (self._law, self.limits):
                    if name in step.signals:
                        wp.copy(step.signals[name], array)

    def compute(self, dt: float) -> None:
        """Add the efforts at the tried state to the array of the solver."""
        self._law.step(dt)

    def apply(self, impulse: wp.array, dt: float, efforts: Array, indices: wp.array) -> None:
        """Add the efforts of impulses, behind the limits at the tried state, to an array at indices, uint32 `(N,)`.

        Impulses are float64 `(N,)` [N·m·s or N·s]; NaN is a fault.
        """
        # feedforward is in the impulse; if it is not finite, that is a fault
        inputs = [impulse, dt, self._arrays.commands[2]]
        outputs = [self._found, self._forward]
        self._launches.for_arguments(dt)
        self._launches.run("effort", _effort_kernel, self._count, inputs, outputs)
        if self._output[0] is not efforts or self._output[1] is not indices:
            self._bind(self.limits, [*self._arrays.commands[:2], self._forward], efforts, indices)
            self._output = efforts, indices
        self.limits.step(dt)

    def add_computed(self, output: object, indices: wp.array) -> None:
        """Add `computed` to an array at some indices."""
        outputs = [warp_view(output)]
        wp.launch(_add_kernel, self._count, [self.computed, indices], outputs, device=self._device, record_tape=False)


def overrides_preparation(law: AnyStage) -> bool:
    """Return True if a controller overrides `prepare_implicit`."""
    return type(law).prepare_implicit is not Controller.prepare_implicit


@wp.kernel
def _hold_kernel(const_effort: wp.array[float], ki: wp.array[float], integral: wp.array[float], bias: wp.array[float]):
    i = wp.tid()
    bias[i] = value_or_zero(const_effort, i) + ki[i] * integral[i]


@wp.kernel
def _effort_kernel(
    impulse: wp.array[wp.float64],
    dt: float,
    feedforward: wp.array[float],
    effort: wp.array[float],
    forward: wp.array[float],
):
    i = wp.tid()
    effort[i] = wp.float32(impulse[i] / wp.float64(dt))
    forward[i] = 0.0 if wp.isfinite(feedforward[i]) else feedforward[i]


@wp.kernel
def _add_kernel(values: wp.array[float], indices: wp.array[wp.uint32], output: wp.array[float]):
    i = wp.tid()
    wp.atomic_add(output, int(indices[i]), values[i])
