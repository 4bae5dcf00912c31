"""The gradients of a pipeline by Warp's adjoint of its laws, on the CPU or CUDA; the core's `Gradients` does the same.

Arrays are Warp's of one device, or on the CPU NumPy's, and stay where they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import warp as wp

from ...components.law import LawClass
from ...memory import warp_view
from .binding import all_warp
from .gradient_kernels import COMMANDS, SIGNALS, given_to, gradient_kernels
from .state import StepState
from .warp import load_kernel

if TYPE_CHECKING:
    from ...components.network_back import NetworkBack
    from ...components.network_law import NetworkLaw


@dataclass(frozen=True, eq=False)
class _Noted:
    """What the way back needs of a step, see `gradient_kernels.Kernels`."""

    numbers: wp.array
    delay: wp.array | None
    dt: float
    # of the network
    remembered: list[wp.array]


class WarpGradients:
    """Notes steps, and goes back through them.

    Args:
        elements: Number of joints.
        controller: Class of the controller, None for a network or for no controller.
        limits: Classes of the stages after it.
        curves: Prepared rows of the curves of the controller, then of those of each of these.
        depth: Rows of the delay's ring, 0 without a delay.
        device: Warp device.
        network: The law of a network, which is the controller then.

    Raises:
        TypeError: A law of the user's own does not compile.
    """

    def __init__(
        self,
        elements: int,
        controller: LawClass | None,
        limits: Sequence[LawClass],
        curves: Sequence[Sequence[np.ndarray]],
        depth: int,
        device: Any,
        network: NetworkLaw | None = None,
    ) -> None:
        self._elements, self._depth, self._device = elements, depth, device
        self._kernels = gradient_kernels(controller, tuple(limits), depth > 0, network is not None)
        owners = [*([controller] if controller else []), *limits]
        load_kernel(self._kernels.efforts, owners, device)
        self._curves = [wp.array(rows, dtype=wp.float32, device=device) for of_law in curves for rows in of_law]
        states, parameters = sum(len(one.STATE) for one in owners), sum(map(given_to, owners))
        self._rows = len(SIGNALS) + states + parameters
        shapes = (self._rows, elements), (2 + states, elements)
        self._by_numbers, self._by_outputs = (wp.zeros(shape, dtype=wp.float32, device=device) for shape in shapes)
        self._network: NetworkBack | None = None
        if network is not None:
            # most pipelines have none
            from ...components.network_back import NetworkBack

            self._network = NetworkBack(network, elements, device)
        # arrays that the network remembers, which come before the states
        self._remembered = len(network.STATE) if network else 0
        self._by_network = [wp.zeros(elements, dtype=wp.float32, device=device)] if network else []

    def note(
        self,
        signals: Sequence[Any],
        indices: Sequence[Any],
        parameters: Sequence[Any],
        state: StepState | None,
        lag: Any,
        dt: float,
    ) -> Any:
        """Copy what a step is about to read."""
        numbers = wp.empty_like(self._by_numbers)
        delay, ring = None, [None] * 6
        if self._depth:
            assert state is not None
            delay = wp.empty((4, self._elements), dtype=wp.int32, device=self._device)  # pyright: ignore
            ring = [state.buffer_pos, state.buffer_vel, state.buffer_act, state.num_pushes, state.write_idx, lag]
        states = [] if state is None else [array for law in state.laws for array in law]
        remembered = [wp.clone(warp_view(array), requires_grad=False) for array in states[: self._remembered]]
        states = states[self._remembered :]
        read = all_warp([*signals, *indices, *states, *parameters, *ring])
        self._launch(self._kernels.note, [*read, self._depth], [numbers, delay])
        return _Noted(numbers, delay, dt, remembered)

    def back(
        self,
        noted: Any,
        efforts: Sequence[Any],
        effort_index: Any,
        signals: Sequence[Any],
        indices: Sequence[Any],
        parameters: Sequence[Any],
        after: Sequence[Any],
        before: Sequence[Any],
        numbers: Any = None,
    ) -> None:
        """Add gradients, given those of efforts and of the state after the step; see `gradients.Notes`."""
        kernels, by_outputs, by_numbers = self._kernels, self._by_outputs, self._by_numbers
        # rings of a delay, what a network remembers, states
        rings = len(COMMANDS) if self._depth else 0
        first = rings + self._remembered
        given = all_warp([*efforts, effort_index, *after[first:]])
        self._launch(kernels.take, given, [by_outputs, by_numbers])
        of_network = []
        if self._network is not None:
            of_network = [self._network.compute(noted.numbers, noted.remembered)]
            self._by_network[0].zero_()
        wp.launch(
            kernels.efforts,
            self._elements,
            inputs=[noted.numbers, noted.dt, *self._curves, *of_network],
            # which the way back does not write
            outputs=[by_outputs],
            adj_inputs=[by_numbers, 0.0, *(None for _ in self._curves), *self._by_network],
            adj_outputs=[by_outputs],
            device=self._device,
            adjoint=True,
            record_tape=False,
        )
        if self._network is not None:
            states = after[rings:first], before[rings:first]
            self._network.back(noted.numbers, self._by_network[0], *states, by_numbers)
        ring = all_warp([*(after[:rings] or [None] * 3), *(before[:rings] or [None] * 3)])
        added = all_warp([*signals, *indices, *before[first:], *parameters])
        self._launch(kernels.leave, [by_numbers, noted.delay, self._depth], [*ring, *added])

    def _launch(self, kernel: wp.Kernel, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        wp.launch(kernel, self._elements, inputs, outputs, device=self._device, record_tape=False)
