"""Gradients of a pipeline by Warp's adjoint of its laws, on the CPU or CUDA; the core's `Gradients` does the same.

Arrays are Warp arrays of one device, or NumPy arrays on the CPU, and are used in place.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import warp as wp

from ...base.memory import warp_view
from ..step.binding import all_warp
from ..step.state import StepState
from ..step.warp import load_kernel
from .gradient_kernels import COMMANDS, SIGNALS, PipelineLaws, given_to, gradient_kernels
from .gradient_recorder import States, StepGradients, StepInputs

if TYPE_CHECKING:
    from ...laws.networks.network_law import NetworkLaw
    from .network_gradients import NetworkGradients


@dataclass(frozen=True, eq=False)
class _Record:
    """Inputs of a step for its backward pass, see `gradient_kernels.Kernels`."""

    numbers: wp.array
    delay: wp.array | None
    dt: float
    # state of the network
    network_state: list[wp.array]


class WarpGradients:
    """Records steps and runs their backward passes; a `GradientRecorder`.

    `curves` are prepared rows of the controller, then of each stage after it, then of the sensor.
    """

    def __init__(
        self,
        elements: int,
        laws: PipelineLaws,
        curves: Sequence[Sequence[np.ndarray]],
        depth: int,
        device: wp.DeviceLike,
        network: NetworkLaw | None = None,
    ) -> None:
        self._elements, self._depth, self._device = elements, depth, device
        self._kernels = gradient_kernels(laws, depth > 0, network is not None)
        owners = laws.all
        load_kernel(self._kernels.efforts, owners, device)
        self._curves = [wp.array(rows, dtype=wp.float32, device=device) for of_law in curves for rows in of_law]
        states, parameters = sum(len(one.STATE) for one in owners), sum(map(given_to, owners))
        self._rows = len(SIGNALS) + states + parameters
        shapes = (self._rows, elements), (2 + states, elements)
        self._by_numbers, self._by_outputs = (wp.zeros(shape, dtype=wp.float32, device=device) for shape in shapes)
        self._network: NetworkGradients | None = None
        if network is not None:
            # imported here: most pipelines have no network
            from .network_gradients import NetworkGradients

            self._network = NetworkGradients(network, elements, device)
        # number of state arrays of the network, which precede those of the laws
        self._network_states = len(network.STATE) if network else 0
        self._by_network = [wp.zeros(elements, dtype=wp.float32, device=device)] if network else []
        # signals of the network and gradients by them, if they are not those of the joint
        count = 2 if self._kernels.convert else 0
        self._converted = [wp.zeros((len(SIGNALS), elements), dtype=wp.float32, device=device) for _ in range(count)]

    def note(self, inputs: StepInputs) -> _Record:
        """Copy the inputs of a step before it runs, and return the record."""
        signals, indices, parameters, state, lag, dt = inputs
        if isinstance(state, States):
            position, velocity, effort = state.rings or [None] * 3
            state = StepState(position, velocity, effort, state.num_pushes, state.write_idx, [tuple(state.laws)])
        numbers = wp.empty_like(self._by_numbers)
        delay, ring = None, [None] * 6
        if self._depth:
            assert state is not None
            delay = wp.empty((4, self._elements), dtype=wp.int32, device=self._device)  # pyright: ignore
            ring = [state.buffer_pos, state.buffer_vel, state.buffer_act, state.num_pushes, state.write_idx, lag]
        states = [] if state is None else [array for law in state.laws for array in law]
        network_state = [wp.clone(warp_view(array), requires_grad=False) for array in states[: self._network_states]]
        states = states[self._network_states :]
        read = all_warp([*signals, *indices, *states, *parameters, *ring])
        self._launch(self._kernels.record, [*read, self._depth], [numbers, delay])
        return _Record(numbers, delay, dt, network_state)

    def efforts(self, noted: _Record) -> tuple[np.ndarray, np.ndarray]:
        """Return efforts, and efforts before the limits, of a recorded step; NaN on a fault."""
        network = self._network_efforts(noted)
        outputs = wp.full_like(self._by_outputs, wp.nan)
        self._launch(self._kernels.efforts, [noted.numbers, noted.dt, *self._curves, *network], [outputs])
        found = outputs.numpy()
        return found[0], found[1]

    def back(self, noted: _Record, by: StepGradients) -> None:
        """Run the backward pass of a recorded step; see `GradientRecorder`."""
        after, before = by.after, by.before
        kernels, by_outputs, by_numbers = self._kernels, self._by_outputs, self._by_numbers
        # `after` and `before` have rings of a delay, states of a network, states of laws
        rings = len(COMMANDS) if self._depth else 0
        first = rings + self._network_states
        given = all_warp([*by.efforts, by.effort_index, *after[first:]])
        self._launch(kernels.gather, given, [by_outputs, by_numbers])
        of_network = self._network_efforts(noted)
        if self._by_network:
            self._by_network[0].zero_()
        self._adjoint(kernels.efforts, noted, of_network, self._by_network, by_outputs)
        if self._network is not None:
            states = all_warp(after[rings:first]), all_warp(before[rings:first])
            signals_read, by_read = self._converted or (noted.numbers, by_numbers)
            self._network.back(signals_read, self._by_network[0], *states, by_read)
            if kernels.convert:
                self._adjoint(kernels.convert, noted, [], [], by_read)
        ring = all_warp([*(after[:rings] or [None] * 3), *(before[:rings] or [None] * 3)])
        added = all_warp([*by.signals, *by.indices, *before[first:], *by.parameters])
        self._launch(kernels.scatter, [by_numbers, noted.delay, self._depth], [*ring, *added])

    def _network_efforts(self, noted: _Record) -> list[wp.array]:
        if self._network is None:
            return []
        numbers = noted.numbers
        if self._kernels.convert:
            numbers, by_numbers = self._converted
            by_numbers.zero_()
            self._launch(self._kernels.convert, [noted.numbers, noted.dt, *self._curves], [numbers])
        return [self._network.compute(numbers, noted.network_state)]

    def _adjoint(
        self, kernel: wp.Kernel, noted: _Record, more: Sequence[wp.array], by_more: Sequence[wp.array], by: wp.array
    ) -> None:
        """Run the adjoint of a kernel, given the gradients `by` its outputs; those by the inputs are added to."""
        wp.launch(
            kernel,
            self._elements,
            inputs=[noted.numbers, noted.dt, *self._curves, *more],
            # the adjoint does not write them
            outputs=[by],
            adj_inputs=[self._by_numbers, 0.0, *(None for _ in self._curves), *by_more],
            adj_outputs=[by],
            device=self._device,
            adjoint=True,
            record_tape=False,
        )

    def _launch(self, kernel: wp.Kernel, inputs: Sequence[object], outputs: Sequence[object]) -> None:
        wp.launch(kernel, self._elements, inputs, outputs, device=self._device, record_tape=False)
