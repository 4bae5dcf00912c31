"""Evaluation of a law with a network on arrays of any device: features, efforts and next state; see `NetworkLaw`."""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportGeneralTypeIssues=false
# pyright: reportAttributeAccessIssue=false, reportOperatorIssue=false, reportAssignmentType=false
# pyright: reportReturnType=false, reportCallIssue=false

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import warp as wp

from .evaluator import Evaluator, make_evaluator
from .features import COLUMNS
from .network_law import NetworkLaw

wp.set_module_options({"enable_backward": False})


@wp.func
def is_unset(value: float) -> bool:
    """Return True for a value that a reset has set, a positive zero; a measured zero is stored as a negative zero."""
    return value == 0.0 and 1.0 / value > 0.0


@wp.func
def past_value(history: wp.array2d[float], row: int, n: int, first_fills: int, now: float) -> float:
    """Return a value of a history; the current value if it is unset and the first step fills the history."""
    value = history[row, n]
    if first_fills != 0 and is_unset(value):
        return now
    return value


@wp.kernel
def _features_kernel(
    positions: wp.array[float],
    velocities: wp.array[float],
    position_targets: wp.array[float],
    velocity_targets: wp.array[float],
    custom: wp.array[float],
    position_indices: wp.array[wp.uint32],
    velocity_indices: wp.array[wp.uint32],
    position_target_indices: wp.array[wp.uint32],
    velocity_target_indices: wp.array[wp.uint32],
    factors: wp.array2d[float],
    offsets: wp.array[float],
    scales: wp.array[float],
    back: wp.array[int],
    kept: wp.array[int],
    first_fills: int,
    first_history: wp.array2d[float],
    second_history: wp.array2d[float],
    inputs: wp.array2d[float],
    newest: wp.array2d[float],
):
    n, column = wp.tid()
    # a factor of zero would not remove a signal that is not finite
    value = wp.float32(0.0)
    if factors[column, 2] != 0.0:
        value = factors[column, 2] * position_targets[position_target_indices[n]]
    if factors[column, 3] != 0.0:
        value = factors[column, 3] * velocity_targets[velocity_target_indices[n]]
    if factors[column, 0] != 0.0:
        value += factors[column, 0] * positions[position_indices[n]]
    if factors[column, 1] != 0.0:
        value += factors[column, 1] * velocities[velocity_indices[n]]
    if factors[column, 4] != 0.0:
        value = custom[velocity_indices[n]]
    if column < inputs.shape[1]:
        if back[column] > 0:
            if kept[column] == 0:
                value = past_value(first_history, back[column] - 1, n, first_fills, value)
            else:
                value = past_value(second_history, back[column] - 1, n, first_fills, value)
        inputs[n, column] = (value - offsets[column]) * scales[column]
    else:
        newest[column - inputs.shape[1], n] = value


@wp.kernel
def _efforts_kernel(outputs: wp.array[float], scale: float, offset: float, efforts: wp.array[float]):
    n = wp.tid()
    efforts[n] = outputs[n] * scale + offset


@wp.func
def is_good(efforts: wp.array[float], bad: wp.array[int], at: wp.array[wp.uint32], n: int) -> bool:
    """Return True if the effort and the signals of an actuator are finite, so that its state advances."""
    if bad:
        if bad[at[n]] != 0:
            return False
    return wp.isfinite(efforts[n])


@wp.kernel
def _roll_kernel(
    efforts: wp.array[float],
    bad: wp.array[int],
    at: wp.array[wp.uint32],
    before: wp.array2d[float],
    newest: wp.array[float],
    first_fills: int,
    after: wp.array2d[float],
):
    n = wp.tid()
    if is_good(efforts, bad, at, n):
        value = newest[n]
        if first_fills != 0 and value == 0.0:
            # unary minus would subtract from a positive zero
            value = wp.abs(value) * wp.float32(-1.0)
        # oldest row first, because both may be the same array
        for k in range(after.shape[0] - 1):
            row = after.shape[0] - 1 - k
            past = before[row - 1, n]
            if first_fills != 0 and is_unset(past):
                past = value
            after[row, n] = past
        after[0, n] = value
    else:
        for row in range(after.shape[0]):
            after[row, n] = before[row, n]


@wp.kernel
def _recurrent_state_kernel(
    efforts: wp.array[float],
    bad: wp.array[int],
    at: wp.array[wp.uint32],
    before: wp.array3d[float],
    computed: wp.array3d[float],
    after: wp.array3d[float],
):
    outer, n, inner = wp.tid()
    if is_good(efforts, bad, at, n):
        after[outer, n, inner] = computed[outer, n, inner]
    else:
        after[outer, n, inner] = before[outer, n, inner]


class NetworkRun:
    """A network for some actuators; its evaluator is by default the fastest one for the device."""

    def __init__(self, law: NetworkLaw, rows: int, device: wp.DeviceLike, evaluator: Evaluator | None = None) -> None:
        self.law, self.device = law, device
        self.efforts = wp.zeros(rows, dtype=wp.float32, device=device)
        """Efforts of the last `compute` [N·m or N]; NaN if a signal was not finite."""
        features, kept = law.features, list(law.history)
        # columns of inputs, then of histories
        columns = [*(feature.column for feature in features), *kept]
        self.tables = [
            # the last factor is that of a custom input
            self._array([(*COLUMNS.get(one, (0, 0, 0, 0)), one not in COLUMNS) for one in columns], wp.float32),
            self._array([feature.offset for feature in features], wp.float32),
            self._array([feature.scale for feature in features], wp.float32),
            self._array([feature.back for feature in features], wp.int32),
            self._array([kept.index(one.column) if one.column in kept else 0 for one in features], wp.int32),
        ]
        """Factors of each column in the signals; offset and scale, steps back and history of each input."""
        self._inputs = wp.zeros((rows, len(features)), dtype=wp.float32, device=device)
        self._newest = wp.zeros((len(kept), rows), dtype=wp.float32, device=device)
        self._outputs = wp.zeros(rows, dtype=wp.float32, device=device)
        # next state of a recurrent network
        self._computed = [] if kept else self.new_state()
        self._no_history = wp.zeros((0, 0), dtype=wp.float32, device=device)
        self._is_computed = False
        self._evaluator = evaluator or make_evaluator(law.network, rows, device)
        wp.get_module(__name__).load(wp.get_device(device))

    def new_state(self) -> list[wp.array]:
        """Return fresh state arrays."""
        shape = self.law.state_shape(len(self.efforts))
        return [wp.zeros(shape, dtype=wp.float32, device=self.device) for _ in self.law.STATE]

    def compute(
        self,
        signals: Sequence[wp.array],
        indices: Sequence[wp.array],
        state: Sequence[wp.array],
        custom: wp.array | None = None,
    ) -> None:
        """Compute `efforts`."""
        law, histories = self.law, [self._no_history] * 2
        if law.history:
            histories[: len(state)] = state
        inputs = [*signals, custom, *indices, *self.tables, int(law.first_fills), *histories]
        shape = len(self.efforts), len(law.features) + len(law.history)
        wp.launch(_features_kernel, shape, inputs, [self._inputs, self._newest], device=self.device)
        recurrent = () if law.history else (state, self._computed)
        self._is_computed = True
        self._evaluator.evaluate(self._inputs, self._outputs, *recurrent)
        scaled = [self._outputs, law.scale, law.offset]
        wp.launch(_efforts_kernel, len(self.efforts), scaled, [self.efforts], device=self.device)

    def advance(
        self,
        now: Sequence[wp.array],
        after: Sequence[wp.array],
        bad: wp.array | None = None,
        at: wp.array | None = None,
    ) -> None:
        """Write the state after the computed step; an actuator with a fault keeps its state."""
        if not self._is_computed:
            raise RuntimeError("update_state has nothing new: compute must run before it. Call compute.")
        self._is_computed = False
        shared = [self.efforts, bad, at]
        for number, (before, written) in enumerate(zip(now, after, strict=True)):
            if self.law.history:
                inputs = [before, self._newest[number], int(self.law.first_fills)]
                kernel, shape = _roll_kernel, before.shape[1]
            else:
                inputs, kernel, shape = [before, self._computed[number]], _recurrent_state_kernel, before.shape
            wp.launch(kernel, shape, [*shared, *inputs], [written], device=self.device)

    def _array(self, values: Sequence[object], dtype: object) -> wp.array:
        return wp.array(np.asarray(values), dtype=dtype, device=self.device)
