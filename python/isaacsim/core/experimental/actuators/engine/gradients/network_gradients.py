"""Gradients of a law with a network on arrays of any device; see `network_run`."""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false, reportAssignmentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from ...laws.networks.network_law import NetworkLaw
from ...laws.networks.network_run import NetworkRun, is_unset
from ...laws.networks.warp_gradients import DifferentiableEvaluator

wp.set_module_options({"enable_backward": False})


@wp.kernel
def _output_gradient_kernel(
    signals: wp.array2d[float],
    efforts: wp.array[float],
    by_effort: wp.array[float],
    scale: float,
    good: wp.array[int],
    by_output: wp.array[float],
):
    n = wp.tid()
    good[n] = 0
    by_output[n] = 0.0
    if wp.isfinite(efforts[n]):
        good[n] = 1
        for row in range(5):
            if not wp.isfinite(signals[row, n]):
                good[n] = 0
    if good[n] != 0:
        by_output[n] = by_effort[n] * scale


@wp.kernel
def _take_state_gradient_kernel(after: wp.array3d[float], taken: wp.array3d[float]):
    outer, n, inner = wp.tid()
    taken[outer, n, inner] = after[outer, n, inner]
    after[outer, n, inner] = 0.0


@wp.kernel
def _add_state_gradient_kernel(
    good: wp.array[int], taken: wp.array3d[float], by_state: wp.array3d[float], before: wp.array3d[float]
):
    outer, n, inner = wp.tid()
    value = taken[outer, n, inner]
    if good[n] != 0:
        value = by_state[outer, n, inner]
    before[outer, n, inner] = before[outer, n, inner] + value


@wp.func
def _add_to_signals(value: float, factors: wp.array2d[float], column: int, by_signals: wp.array2d[float], n: int):
    """Add the gradient by a column to the gradients by its signals."""
    for signal in range(4):
        # avoids the product of zero and infinity
        if factors[column, signal] != 0.0:
            by_signals[signal, n] = by_signals[signal, n] + factors[column, signal] * value


@wp.kernel
def _features_kernel(
    good: wp.array[int],
    by_inputs: wp.array2d[float],
    factors: wp.array2d[float],
    offsets: wp.array[float],
    scales: wp.array[float],
    back: wp.array[int],
    kept: wp.array[int],
    first_fills: int,
    first_history: wp.array2d[float],
    second_history: wp.array2d[float],
    first_before: wp.array2d[float],
    second_before: wp.array2d[float],
    by_signals: wp.array2d[float],
):
    n = wp.tid()
    if good[n] != 0:
        for column in range(by_inputs.shape[1]):
            value = by_inputs[n, column] * scales[column]
            row = back[column] - 1
            is_now = bool(back[column] == 0)
            if first_fills != 0 and not is_now:
                if kept[column] == 0:
                    is_now = is_unset(first_history[row, n])
                else:
                    is_now = is_unset(second_history[row, n])
            if is_now:
                _add_to_signals(value, factors, column, by_signals, n)
            else:
                if kept[column] == 0:
                    if first_before:
                        first_before[row, n] = first_before[row, n] + value
                elif second_before:
                    second_before[row, n] = second_before[row, n] + value


@wp.kernel
def _roll_kernel(
    good: wp.array[int],
    factors: wp.array2d[float],
    column: int,
    first_fills: int,
    history: wp.array2d[float],
    after: wp.array2d[float],
    before: wp.array2d[float],
    by_signals: wp.array2d[float],
):
    n = wp.tid()
    for row in range(after.shape[0]):
        value = after[row, n]
        after[row, n] = 0.0
        is_newest = bool(row == 0)
        if first_fills != 0 and row > 0:
            is_newest = is_unset(history[row - 1, n])
        if good[n] != 0 and is_newest:
            _add_to_signals(value, factors, column, by_signals, n)
        elif before:
            # the step moved the history by a row
            older = row - good[n]
            before[older, n] = before[older, n] + value


class NetworkGradients:
    """Backward passes of a network for some actuators, each after another evaluation."""

    def __init__(self, law: NetworkLaw, rows: int, device: wp.DeviceLike) -> None:
        self.law, self._rows, self._device = law, rows, device
        network = law.data
        self._evaluator = DifferentiableEvaluator(network, rows, device)
        self._run = NetworkRun(law, rows, device, self._evaluator)
        self._places = wp.array(np.arange(rows, dtype=np.uint32), dtype=wp.uint32, device=device)
        self._good = wp.zeros(rows, dtype=wp.int32, device=device)
        self._by_output = wp.zeros(rows, dtype=wp.float32, device=device)
        self._by_inputs = wp.zeros((rows, len(law.features)), dtype=wp.float32, device=device)
        # histories in `compute`, for a network with histories
        self._histories: list[wp.array | None] = [None, None]
        # gradients by the states after the step and before it, for a recurrent network
        self._taken, self._by_states = ([] if law.history else self._run.new_state() for _ in range(2))

    def compute(self, signals: wp.array, state: Sequence[wp.array]) -> wp.array:
        """Evaluate the network at the five signals, `(5, N)`, and return the efforts, NaN if a signal is not finite."""
        self._histories = [*state, None, None][:2] if self.law.history else [None, None]
        self._run.compute([signals[row] for row in range(4)], [self._places] * 4, state)
        return self._run.efforts

    def back(
        self,
        signals: wp.array,
        by_effort: wp.array,
        after: Sequence[wp.array | None],
        before: Sequence[wp.array | None],
        by_signals: wp.array,
    ) -> None:
        """Run the backward pass of the last evaluation; arrays are gradients, None for none."""
        law, good, tables = self.law, self._good, self._run.tables
        begin = [signals, self._run.efforts, by_effort, law.scale]
        self._launch(_output_gradient_kernel, self._rows, begin, [good, self._by_output])
        for by_state, taken, one in zip(self._by_states, self._taken, after, strict=False):
            by_state.zero_()
            taken.zero_()
            if one is not None:
                self._launch(_take_state_gradient_kernel, taken.shape, [one], [taken])
        self._by_inputs.zero_()
        self._evaluator.back(self._by_inputs, self._by_output, self._by_states, self._taken)
        for by_state, taken, one in zip(self._by_states, self._taken, before, strict=False):
            if one is not None:
                self._launch(_add_state_gradient_kernel, taken.shape, [good, taken, by_state], [one])
        by_histories = [*before, None, None][:2] if law.history else [None, None]
        fills = int(law.first_fills)
        for number, one in enumerate(after if law.history else ()):
            if one is not None:
                given = [good, tables[0], len(law.features) + number, fills, self._histories[number]]
                self._launch(_roll_kernel, self._rows, given, [one, by_histories[number], by_signals])
        given = [good, self._by_inputs, *tables, fills, *self._histories]
        self._launch(_features_kernel, self._rows, given, [*by_histories, by_signals])

    def _launch(
        self, kernel: wp.Kernel, dim: int | tuple[int, ...], inputs: Sequence[object], outputs: Sequence[object]
    ) -> None:
        wp.launch(kernel, dim, inputs, outputs, device=self._device, record_tape=False)
