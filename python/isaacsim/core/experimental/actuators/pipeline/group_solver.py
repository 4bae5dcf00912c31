"""Newton's method for the impulses of coupled joints, whose laws see the state at the end of the step.

    r(p) = p − h·F(q⁺, v⁺) = 0,   v⁺ = v + A·(p − h·b),   q⁺ = q + h·v⁺        of each articulation, A = H⁻¹
    J·dp = −r,   J_ic = δ_ic − h·s_i·A_ic,   s = h·∂F/∂q + ∂F/∂v               F_i depends on p by v⁺_i alone
    p ← p + α·dp,   α = 1, ½, ¼, … until |r|² falls by 10⁻⁴·α of itself; the first step is always whole

F, the laws with their limits, is computed by a compiled step in single precision, and slopes by differences. Everything
else is float64: F of a state is that of the state in single precision, plus slope times what rounding took from it. A
last step with the slopes at hand, if it makes the residual ten times smaller, takes out the error of the differences.
Joints with an input that is not finite have no effort, and are no part of the equations; NaN in their rows of A is NaN
in their effort.
Source: newton.actuators 1.8, implicit effort mode; damped Newton iteration (Dennis and Schnabel, Numerical Methods for
Unconstrained Optimization and Nonlinear Equations, 1996).
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportIndexIssue=false, reportCallIssue=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import warp as wp

from ..specs.implicit_options import ImplicitOptions
from .launches import Launches

wp.set_module_options({"enable_backward": False})

# differences that single precision resolves: of velocities, relative, and of positions
_VELOCITY_STEP = wp.constant(wp.float64(2.0**-6))
_POSITION_STEP = wp.constant(wp.float64(2.0**-10))
# by how much |r|² has to fall, per length of the step, and in the last step
_DECREASE = wp.constant(wp.float64(1.0e-4))
_LAST_FALL = 0.01

_SOLVED, _BAD_INPUT, _BAD_RESPONSE = wp.constant(1), wp.constant(0), wp.constant(-1)


@dataclass(eq=False)
class Rows:
    """Rows of the inverse mass matrices that some joints have, and which joints are solved together.

    Args:
        block: Matrix of each joint, `(N,)`.
        place: Row of each joint in its matrix, `(N,)`.
        starts: Number of the first row of each matrix among all rows.
        counts: Number of rows of each matrix.
        device: Warp device.

    Attributes:
        arrays: Matrix, row and group of each joint, int32 `(N,)`; size of each group, and its joints, `(groups, ·)`.
    """

    block: np.ndarray
    place: np.ndarray
    starts: np.ndarray
    counts: np.ndarray
    device: Any
    arrays: list[wp.array] = field(init=False)

    def __post_init__(self) -> None:
        _, group = np.unique(self.block, return_inverse=True)
        sizes = np.bincount(group)
        joints = np.zeros((len(sizes), sizes.max()), np.int32)
        for number in range(len(sizes)):
            joints[number, : sizes[number]] = np.flatnonzero(group == number)
        given = self.block, self.place, group, sizes, joints
        self.arrays = [self._int(one) for one in given]
        self.first, self.number = self._int(self.starts), self._int(self.counts)
        """First row and number of rows of each matrix, int32."""

    def diagonal(self, inverse: wp.array, found: wp.array) -> None:
        """Write the response of each joint to its own impulse [1/(kg·m²) or 1/kg], float32 `(N,)`."""
        inputs = [*self.arrays[:2], inverse]
        wp.launch(_diagonal_kernel, len(found), inputs, [found], device=self.device, record_tape=False)

    def _int(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)


class GroupSolver:
    """Solves for the impulses of the joints of an actuator.

    Args:
        rows: Their rows in the inverse mass matrices.
        options: How.

    Attributes:
        position: Positions at the start of the step [rad or m], float32 `(N,)`; to be written before `solve`.
        velocity: Velocities at the start of the step, likewise.
        commands: Position targets, velocity targets and feedforward, likewise.
        end_position: Positions at which the laws are to be computed, likewise; after `solve` those of the end.
        end_velocity: Velocities, likewise.
        effort: Array that the laws add their efforts to, likewise.
        impulse: Impulses [N·m·s or N·s], float64 `(N,)`, NaN where the response is.
    """

    def __init__(self, rows: Rows, options: ImplicitOptions) -> None:
        count, (groups, most), device = len(rows.block), rows.arrays[4].shape, rows.device

        def zeros(dtype: Any, *shape: int) -> wp.array:
            return wp.zeros(shape, dtype=dtype, device=device)

        self._rows, self._options, self._device, self._groups = rows, options, device, groups
        self.position, self.velocity, self.end_position, self.end_velocity, self.effort, self._base = (
            zeros(wp.float32, count) for _ in range(6)
        )
        self.commands = [zeros(wp.float32, count) for _ in range(3)]
        self.impulse, self._change, self._residual, self._free, self._exact_q, self._exact_v = (
            zeros(wp.float64, count) for _ in range(6)
        )
        self._slope_q, self._slope_v = (zeros(wp.float64, count) for _ in range(2))
        self._norm, self._length = (zeros(wp.float64, groups) for _ in range(2))
        self._accepted, self._done = (zeros(wp.int32, groups) for _ in range(2))
        self._state = zeros(wp.int32, count)
        self._matrix = zeros(wp.float64, groups, most, most)
        self._bias = zeros(wp.float32, int((rows.starts + rows.counts).max()))
        self._launches = Launches(device)

    def solve(self, inverse: wp.array, dt: float, bias: wp.array | None, compute: Callable[[], None]) -> None:
        """Compute `impulse`, and the state at the end of the step.

        Args:
            inverse: Inverse mass matrices, float32 `(articulations, rows, rows)`.
            dt: Physics step [s].
            bias: Bias force of each row of the matrices [N·m or N], float32; None for none.
            compute: Adds the efforts of the laws at `end_position` and `end_velocity` to `effort`.
        """
        self._launches.for_arguments(inverse, dt)
        self._begin(inverse, dt, bias, compute)
        options = self._options
        tries = max(options.ls_iterations, 1)
        for iteration in range(options.max_iters):
            self._find_slopes(dt, compute)
            self._find_change(inverse, dt, last=False)
            whole = iteration == 0 or not options.ls_iterations
            for number in range(tries):
                self._try(inverse, dt, compute)
                self._judge(dt, whole=whole, final=number == tries - 1, last=False)
                if self._all(self._accepted):
                    break
            if self._all(self._done):
                break
        self._find_change(inverse, dt, last=True)
        self._try(inverse, dt, compute)
        self._judge(dt, whole=False, final=True, last=True)
        self._try(inverse, dt, compute)

    def _begin(self, inverse: wp.array, dt: float, bias: wp.array | None, compute: Callable[[], None]) -> None:
        rows, given = self._rows, None
        if bias is not None:
            given = self._bias
            wp.copy(given, bias)
        inputs = [*rows.arrays, rows.first, rows.number, inverse, given, dt, self.position, self.velocity]
        outputs = [self._free, self._state, self.end_position, self.end_velocity, self.effort]
        self._launch(("begin", given is None), _begin_kernel, inputs + self.commands, outputs)
        is_explicit = self._options.warm_start is ImplicitOptions.WarmStart.EXPLICIT
        if is_explicit:
            compute()
        inputs = [float(is_explicit), dt, self.effort, self._state]
        outputs = [self.impulse, self._change, self._slope_q, self._slope_v]
        self._launch("start", _start_kernel, inputs, outputs)
        self._accepted.zero_()
        self._try(inverse, dt, compute)
        self._judge(dt, whole=True, final=False, last=False)
        self._done.zero_()

    def _try(self, inverse: wp.array, dt: float, compute: Callable[[], None]) -> None:
        """Compute the laws at the end of the step under `impulse + length · change`."""
        inputs = [*self._rows.arrays, inverse, dt, self.position, self.velocity, self._free, self._state]
        inputs += [self.impulse, self._change, self._length]
        outputs = [self._exact_q, self._exact_v, self.end_position, self.end_velocity, self.effort]
        self._launch("try", _try_kernel, inputs, outputs)
        compute()

    def _find_slopes(self, dt: float, compute: Callable[[], None]) -> None:
        """Compute the slopes of the laws at the state of the last try; the efforts there are known."""
        fd = float(self._options.fd_epsilon)
        inputs = [dt, fd, self._exact_v]
        self._launch("aside", _step_aside_kernel, inputs, [self.end_position, self.effort, self._base])
        compute()
        outputs = [self.end_position, self.end_velocity, self.effort, self._slope_q]
        self._launch("slope q", _slope_q_kernel, [fd, self._exact_q, self._base], outputs)
        compute()
        outputs = [self.end_velocity, self.effort, self._slope_v]
        self._launch("slope v", _slope_v_kernel, [self._exact_v, self._base], outputs)

    def _find_change(self, inverse: wp.array, dt: float, *, last: bool) -> None:
        _, _, _, sizes, joints = self._rows.arrays
        inputs = [*self._rows.arrays[:2], sizes, joints, inverse, dt, self._state, self._slope_q, self._slope_v]
        inputs += [self._residual, float(self._options.derivative_floor), int(last)]
        outputs = [self._matrix, self._change, self._length, self._accepted, self._done]
        self._launch(("change", last), _change_kernel, inputs, outputs, self._groups)

    def _judge(self, dt: float, *, whole: bool, final: bool, last: bool) -> None:
        _, _, _, sizes, joints = self._rows.arrays
        options = self._options
        inputs = [sizes, joints, dt, self._state, self._exact_q, self._exact_v, self.end_position, self.end_velocity]
        inputs += [self.effort, self._slope_q, self._slope_v, int(whole), int(final), _LAST_FALL if last else 0.0]
        inputs += [float(options.residual_tol), float(options.update_tol)]
        outputs = [self.impulse, self._change, self._residual, self._norm, self._length, self._accepted, self._done]
        self._launch(("judge", whole, final, last), _judge_kernel, inputs, outputs, self._groups)

    def _launch(
        self, name: Hashable, kernel: Any, inputs: Sequence[Any], outputs: Sequence[Any], size: int | None = None
    ) -> None:
        self._launches.run(name, kernel, len(self.position) if size is None else size, inputs, outputs)

    def _all(self, flags: wp.array) -> bool:
        """Return True if all flags are set; False while a graph is captured, which has all iterations."""
        if not self._device.is_cpu and self._device.is_capturing:
            return False
        return bool(flags.numpy().all())


@wp.kernel
def _diagonal_kernel(block: wp.array[int], place: wp.array[int], inverse: wp.array3d[float], found: wp.array[float]):
    i = wp.tid()
    found[i] = inverse[block[i], place[i], place[i]]


@wp.func
def end_velocity_of(
    i: int,
    block: wp.array[int],
    place: wp.array[int],
    group: wp.array[int],
    sizes: wp.array[int],
    joints: wp.array2d[int],
    inverse: wp.array3d[float],
    state: wp.array[int],
    impulse: wp.array[wp.float64],
    change: wp.array[wp.float64],
    length: wp.float64,
) -> wp.float64:
    """Return by how much the impulses of its group change the velocity of a joint [rad/s or m/s]."""
    g = group[i]
    found = wp.float64(0.0)
    for k in range(sizes[g]):
        other = joints[g, k]
        if state[other] == _SOLVED:
            found += wp.float64(inverse[block[i], place[i], place[other]]) * (impulse[other] + length * change[other])
    return found


@wp.kernel
def _begin_kernel(
    block: wp.array[int],
    place: wp.array[int],
    group: wp.array[int],
    sizes: wp.array[int],
    joints: wp.array2d[int],
    first: wp.array[int],
    number: wp.array[int],
    inverse: wp.array3d[float],
    bias: wp.array[float],
    dt: float,
    position: wp.array[float],
    velocity: wp.array[float],
    position_target: wp.array[float],
    velocity_target: wp.array[float],
    feedforward: wp.array[float],
    free: wp.array[wp.float64],
    state: wp.array[int],
    end_position: wp.array[float],
    end_velocity: wp.array[float],
    effort: wp.array[float],
):
    i = wp.tid()
    b = block[i]
    gained = wp.float64(0.0)
    if bias:
        for k in range(number[b]):
            gained += wp.float64(inverse[b, place[i], k]) * wp.float64(bias[first[b] + k])
    gained = -wp.float64(dt) * gained
    free[i] = wp.float64(velocity[i]) + gained
    known = int(_SOLVED)
    for k in range(sizes[group[i]]):
        if not wp.isfinite(inverse[b, place[i], place[joints[group[i], k]]]):
            known = int(_BAD_RESPONSE)
    if not wp.isfinite(gained):
        known = int(_BAD_RESPONSE)
    if not (wp.isfinite(position[i]) and wp.isfinite(velocity[i]) and wp.isfinite(position_target[i])):
        known = int(_BAD_INPUT)
    if not (wp.isfinite(velocity_target[i]) and wp.isfinite(feedforward[i])):
        known = int(_BAD_INPUT)
    state[i] = known
    end_position[i] = position[i]
    end_velocity[i] = velocity[i]
    effort[i] = 0.0


@wp.kernel
def _start_kernel(
    with_effort: float,
    dt: float,
    effort: wp.array[float],
    state: wp.array[int],
    impulse: wp.array[wp.float64],
    change: wp.array[wp.float64],
    slope_q: wp.array[wp.float64],
    slope_v: wp.array[wp.float64],
):
    i = wp.tid()
    change[i] = wp.float64(0.0)
    slope_q[i] = wp.float64(0.0)
    slope_v[i] = wp.float64(0.0)
    impulse[i] = wp.float64(0.0)
    if state[i] == _SOLVED and with_effort > 0.5:
        impulse[i] = wp.float64(dt) * wp.float64(effort[i])
    if state[i] == _BAD_RESPONSE:
        impulse[i] = wp.float64(wp.nan)


@wp.kernel
def _try_kernel(
    block: wp.array[int],
    place: wp.array[int],
    group: wp.array[int],
    sizes: wp.array[int],
    joints: wp.array2d[int],
    inverse: wp.array3d[float],
    dt: float,
    position: wp.array[float],
    velocity: wp.array[float],
    free: wp.array[wp.float64],
    state: wp.array[int],
    impulse: wp.array[wp.float64],
    change: wp.array[wp.float64],
    length: wp.array[wp.float64],
    exact_q: wp.array[wp.float64],
    exact_v: wp.array[wp.float64],
    end_position: wp.array[float],
    end_velocity: wp.array[float],
    effort: wp.array[float],
):
    i = wp.tid()
    v = wp.float64(velocity[i])
    q = wp.float64(position[i])
    if state[i] == _SOLVED:
        gained = end_velocity_of(
            i, block, place, group, sizes, joints, inverse, state, impulse, change, length[group[i]]
        )
        v = free[i] + gained
        q += wp.float64(dt) * v
    exact_q[i] = q
    exact_v[i] = v
    end_position[i] = wp.float32(q)
    end_velocity[i] = wp.float32(v)
    effort[i] = 0.0


@wp.kernel
def _step_aside_kernel(
    dt: float,
    epsilon: float,
    exact_v: wp.array[wp.float64],
    end_position: wp.array[float],
    effort: wp.array[float],
    base: wp.array[float],
):
    i = wp.tid()
    base[i] = effort[i]
    effort[i] = 0.0
    step = wp.max(wp.float64(epsilon), _VELOCITY_STEP) * (wp.float64(1.0) + wp.abs(exact_v[i]))
    aside = wp.max(wp.float64(dt) * step, _POSITION_STEP)
    end_position[i] = wp.float32(wp.float64(end_position[i]) + aside)


@wp.kernel
def _slope_q_kernel(
    epsilon: float,
    exact_q: wp.array[wp.float64],
    base: wp.array[float],
    end_position: wp.array[float],
    end_velocity: wp.array[float],
    effort: wp.array[float],
    slope: wp.array[wp.float64],
):
    i = wp.tid()
    back = wp.float32(exact_q[i])
    aside = wp.float64(end_position[i]) - wp.float64(back)
    slope[i] = (wp.float64(effort[i]) - wp.float64(base[i])) / aside
    effort[i] = 0.0
    end_position[i] = back
    v = wp.float64(end_velocity[i])
    step = wp.max(wp.float64(epsilon), _VELOCITY_STEP) * (wp.float64(1.0) + wp.abs(v))
    end_velocity[i] = wp.float32(v + step)


@wp.kernel
def _slope_v_kernel(
    exact_v: wp.array[wp.float64],
    base: wp.array[float],
    end_velocity: wp.array[float],
    effort: wp.array[float],
    slope: wp.array[wp.float64],
):
    i = wp.tid()
    back = wp.float32(exact_v[i])
    aside = wp.float64(end_velocity[i]) - wp.float64(back)
    slope[i] = (wp.float64(effort[i]) - wp.float64(base[i])) / aside
    end_velocity[i] = back
    effort[i] = base[i]


@wp.kernel
def _change_kernel(
    block: wp.array[int],
    place: wp.array[int],
    sizes: wp.array[int],
    joints: wp.array2d[int],
    inverse: wp.array3d[float],
    dt: float,
    state: wp.array[int],
    slope_q: wp.array[wp.float64],
    slope_v: wp.array[wp.float64],
    residual: wp.array[wp.float64],
    floor: float,
    last: int,
    matrix: wp.array3d[wp.float64],
    change: wp.array[wp.float64],
    length: wp.array[wp.float64],
    accepted: wp.array[int],
    done: wp.array[int],
):
    g = wp.tid()
    n = sizes[g]
    h = wp.float64(dt)
    least = wp.float64(floor)
    # a last step needs efforts of the last state, which a group without a good length does not have
    skip = done[g] != 0
    if last != 0:
        skip = accepted[g] == 0
    if skip:
        if last == 0:
            accepted[g] = 1
        for r in range(n):
            change[joints[g, r]] = wp.float64(0.0)
        return
    accepted[g] = 0
    length[g] = wp.float64(1.0)
    for r in range(n):
        i = joints[g, r]
        slope = h * slope_q[i] + slope_v[i]
        change[i] = -residual[i]
        for c in range(n):
            entry = wp.float64(0.0)
            k = joints[g, c]
            if state[i] == _SOLVED and state[k] == _SOLVED:
                entry = -h * slope * wp.float64(inverse[block[i], place[i], place[k]])
            if r == c:
                entry += wp.float64(1.0)
            matrix[g, r, c] = entry
    for k in range(n):
        pivot = matrix[g, k, k]
        if wp.abs(pivot) < least:
            pivot = wp.where(pivot < wp.float64(0.0), -least, least)
            matrix[g, k, k] = pivot
        for r in range(k + 1, n):
            factor = matrix[g, r, k] / pivot
            for c in range(k + 1, n):
                matrix[g, r, c] = matrix[g, r, c] - factor * matrix[g, k, c]
            change[joints[g, r]] = change[joints[g, r]] - factor * change[joints[g, k]]
    for back in range(n):
        r = n - 1 - back
        value = change[joints[g, r]]
        for c in range(r + 1, n):
            value -= matrix[g, r, c] * change[joints[g, c]]
        change[joints[g, r]] = value / matrix[g, r, r]


@wp.kernel
def _judge_kernel(
    sizes: wp.array[int],
    joints: wp.array2d[int],
    dt: float,
    state: wp.array[int],
    exact_q: wp.array[wp.float64],
    exact_v: wp.array[wp.float64],
    end_position: wp.array[float],
    end_velocity: wp.array[float],
    effort: wp.array[float],
    slope_q: wp.array[wp.float64],
    slope_v: wp.array[wp.float64],
    whole: int,
    final: int,
    last_fall: float,
    residual_tol: float,
    update_tol: float,
    impulse: wp.array[wp.float64],
    change: wp.array[wp.float64],
    residual: wp.array[wp.float64],
    norm: wp.array[wp.float64],
    length: wp.array[wp.float64],
    accepted: wp.array[int],
    done: wp.array[int],
):
    g = wp.tid()
    if accepted[g] != 0:
        return
    h = wp.float64(dt)
    size = length[g]
    square = wp.float64(0.0)
    moved = wp.float64(0.0)
    for r in range(sizes[g]):
        i = joints[g, r]
        if state[i] == _SOLVED:
            rounding = slope_q[i] * (exact_q[i] - wp.float64(end_position[i]))
            rounding += slope_v[i] * (exact_v[i] - wp.float64(end_velocity[i]))
            left = impulse[i] + size * change[i] - h * (wp.float64(effort[i]) + rounding)
            square += left * left
            moved += change[i] * change[i]
    factor = wp.float64(1.0) - _DECREASE * size
    if last_fall > 0.0:
        factor = wp.float64(last_fall)
    good = whole != 0 or square <= factor * norm[g]
    if good:
        norm[g] = square
        accepted[g] = 1
        for r in range(sizes[g]):
            i = joints[g, r]
            if state[i] == _SOLVED:
                impulse[i] = impulse[i] + size * change[i]
                rounding = slope_q[i] * (exact_q[i] - wp.float64(end_position[i]))
                rounding += slope_v[i] * (exact_v[i] - wp.float64(end_velocity[i]))
                residual[i] = impulse[i] - h * (wp.float64(effort[i]) + rounding)
            else:
                residual[i] = wp.float64(0.0)
        small = wp.float64(residual_tol) * wp.float64(residual_tol)
        least = wp.float64(update_tol) * wp.float64(update_tol)
        if square < small or moved < least:
            done[g] = 1
    else:
        length[g] = wp.float64(0.5) * size
        if final != 0:
            done[g] = 1
    if good or final != 0:
        for r in range(sizes[g]):
            change[joints[g, r]] = wp.float64(0.0)
