"""A law with a network gone back through on arrays of any device; see `network_run`."""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportOperatorIssue=false, reportAssignmentType=false, reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import warp as wp

from ..networks.warp_gradients import DifferentiableEvaluator
from .network_law import NetworkLaw
from .network_run import NetworkRun, is_unset

wp.set_module_options({"enable_backward": False})


@wp.kernel
def _begin_kernel(
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
def _take_kernel(after: wp.array3d[float], taken: wp.array3d[float]):
    outer, n, inner = wp.tid()
    taken[outer, n, inner] = after[outer, n, inner]
    after[outer, n, inner] = 0.0


@wp.kernel
def _leave_kernel(
    good: wp.array[int], taken: wp.array3d[float], by_state: wp.array3d[float], before: wp.array3d[float]
):
    outer, n, inner = wp.tid()
    value = taken[outer, n, inner]
    if good[n] != 0:
        value = by_state[outer, n, inner]
    before[outer, n, inner] = before[outer, n, inner] + value


@wp.func
def _leave(value: float, factors: wp.array2d[float], column: int, by_signals: wp.array2d[float], n: int):
    """Add the gradient of a column to those of the signals that it is made of."""
    for signal in range(4):
        # no product of zero and infinity
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
                _leave(value, factors, column, by_signals, n)
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
            _leave(value, factors, column, by_signals, n)
        elif before:
            # what was remembered went up by a step
            older = row - good[n]
            before[older, n] = before[older, n] + value


class NetworkBack:
    """A network for some actuators, computed once more and gone back through.

    Args:
        law: What is computed.
        rows: Number of actuators.
        device: Warp device.
    """

    def __init__(self, law: NetworkLaw, rows: int, device: Any) -> None:
        self.law, self._rows, self._device = law, rows, device
        network = law.data
        self._evaluator = DifferentiableEvaluator(network, rows, device)
        self._run = NetworkRun(law, rows, device, self._evaluator)
        self._places = wp.array(np.arange(rows, dtype=np.uint32), dtype=wp.uint32, device=device)
        self._good = wp.zeros(rows, dtype=wp.int32, device=device)
        self._by_output = wp.zeros(rows, dtype=wp.float32, device=device)
        self._by_inputs = wp.zeros((rows, len(law.features)), dtype=wp.float32, device=device)
        # of a network with a history: what it remembered in `compute`
        self._histories: list[Any] = [None, None]
        # of a recurrent network: gradients of states after the step, and before
        self._taken, self._by_states = ([] if law.history else self._run.new_state() for _ in range(2))

    def new_state(self) -> list[wp.array]:
        """Arrays that remember nothing."""
        return self._run.new_state()

    def compute(self, signals: wp.array, state: Sequence[wp.array]) -> wp.array:
        """Return the efforts, NaN where something was not finite.

        Args:
            signals: Positions, velocities, both targets and feedforward, `(5, N)`.
            state: What was remembered.
        """
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
        """Go back through what was computed last.

        Args:
            signals: Those of it.
            by_effort: Gradients of the efforts.
            after: Of what is remembered after the step, taken and zero from then on; None without one.
            before: Of what was remembered, added to; may be the same arrays.
            by_signals: Of the signals, added to.
        """
        law, good, tables = self.law, self._good, self._run.tables
        begin = [signals, self._run.efforts, by_effort, law.scale]
        self._launch(_begin_kernel, self._rows, begin, [good, self._by_output])
        for by_state, taken, one in zip(self._by_states, self._taken, after, strict=False):
            by_state.zero_()
            taken.zero_()
            if one is not None:
                self._launch(_take_kernel, taken.shape, [one], [taken])
        self._by_inputs.zero_()
        self._evaluator.back(self._by_inputs, self._by_output, self._by_states, self._taken)
        for by_state, taken, one in zip(self._by_states, self._taken, before, strict=False):
            if one is not None:
                self._launch(_leave_kernel, taken.shape, [good, taken, by_state], [one])
        by_histories = [*before, None, None][:2] if law.history else [None, None]
        fills = int(law.first_fills)
        for number, one in enumerate(after if law.history else ()):
            if one is not None:
                given = [good, tables[0], len(law.features) + number, fills, self._histories[number]]
                self._launch(_roll_kernel, self._rows, given, [one, by_histories[number], by_signals])
        given = [good, self._by_inputs, *tables, fills, *self._histories]
        self._launch(_features_kernel, self._rows, given, [*by_histories, by_signals])

    def _launch(self, kernel: wp.Kernel, dim: Any, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        wp.launch(kernel, dim, inputs, outputs, device=self._device, record_tape=False)
