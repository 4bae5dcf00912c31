"""Gradients of a network in Warp: the adjoint of the kernel that evaluates it, on columns that all values keep."""

# Warp kernels are no Python types
# pyright: reportFunctionMemberAccess=false

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import warp as wp

from .calls import Device
from .network import Network
from .program import Program
from .warp_evaluator import evaluate_kernel, instructions_of

Arrays = Sequence[wp.array]


@functools.cache
def differentiable_kernel() -> wp.Kernel:
    """Return the kernel that evaluates, with an adjoint, in a separate module."""
    module = wp.get_module(f"{__name__}.evaluate")
    # older versions of Warp read this option for functions
    module.options["enable_backward"] = True
    return wp.Kernel(evaluate_kernel.func, key="evaluate", module=module, options={"enable_backward": True})


class DifferentiableEvaluator:
    """Evaluates a network as `WarpEvaluator` does, and computes gradients of the last evaluation."""

    name = "warp"

    def __init__(self, network: Network, rows: int, device: Device) -> None:
        program = Program(network, keep=True)
        self._rows, self._device = rows, device
        sizes = program.inputs, program.output, program.num_layers, program.hidden_size, program.num_states
        self._program = [*instructions_of(program, device), *sizes]
        shape = program.columns, rows
        self._columns, self._by_columns = (wp.zeros(shape, dtype=wp.float32, device=device) for _ in range(2))
        self._none = wp.zeros((0, rows, 0), dtype=wp.float32, device=device)
        self._read: list[object] = []
        self._written: list[object] = []
        wp.load_module(differentiable_kernel().module, device=device)

    def evaluate(self, x: wp.array, y: wp.array, state_in: Arrays = (), state_out: Arrays = ()) -> None:
        """Compute the outputs of all rows, see `Evaluator`."""
        self._read = [*self._program, x, *self._states(state_in), self._columns]
        self._written = [*self._states(state_out), y]
        self._launch()

    def back(self, by_x: wp.array, by_y: wp.array, by_in: Arrays = (), by_out: Arrays = ()) -> None:
        """Add gradients of inputs and states before, given those of outputs and states after.

        Gradients of a row that is not finite are undefined.
        """
        self._by_columns.zero_()
        nothing = [None, None, 0, 0, 0, 0, 0]
        self._launch(
            adj_inputs=[*nothing, by_x, *self._states(by_in), self._by_columns],
            adj_outputs=[*self._states(by_out), by_y],
            adjoint=True,
        )

    def _launch(self, **more: Any) -> None:
        kernel, arguments = differentiable_kernel(), (self._read, self._written)
        wp.launch(kernel, self._rows, *arguments, device=self._device, record_tape=False, **more)

    def _states(self, states: Arrays) -> list[wp.array]:
        return [*states, self._none, self._none][:2]
