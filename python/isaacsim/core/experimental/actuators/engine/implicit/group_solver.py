"""Newton's method for the impulses of coupled joints, whose laws see the state at the end of the step.

    r(p) = p − h·F(q⁺, v⁺) = 0,   v⁺ = v + A·(p − h·b),   q⁺ = q + h·v⁺        of each articulation, A = H⁻¹
    J·dp = −r,   J_ic = δ_ic − h·s_i·A_ic,   s = h·∂F/∂q + ∂F/∂v               F_i depends on p by v⁺_i alone
    p ← p + α·dp,   α = 1, ½, ¼, … until |r|² falls by 10⁻⁴·α of itself; the first step is always whole

F, the laws with their limits, is computed by a compiled step in single precision, and slopes by differences. Everything
else is float64: F of a state is that of the state in single precision, plus slope times what rounding took from it. A
last step with the slopes at hand, if it makes the residual ten times smaller, takes out the error of the differences.
Joints with an input that is not finite have no effort, and are no part of the equations; NaN in their rows of A is NaN
in their effort.

A kernel takes each group, joints of one matrix, from one evaluation of the laws to the next, by what it has asked for:
see the phases below. Groups need not be alike, and a graph may hold all evaluations that there can be.
Source: newton.actuators 1.8, implicit effort mode; damped Newton iteration (Dennis and Schnabel, Numerical Methods for
Unconstrained Optimization and Nonlinear Equations, 1996).
"""

# kernels read arrays as numbers
# pyright: reportArgumentType=false, reportAssignmentType=false, reportCallIssue=false, reportAttributeAccessIssue=false
# pyright: reportGeneralTypeIssues=false, reportIndexIssue=false, reportOperatorIssue=false

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import warp as wp

from ...specs.implicit_options import ImplicitOptions
from ..launches import Launches

wp.set_module_options({"enable_backward": False})

# differences that single precision resolves: of velocities, relative, and of positions
_VELOCITY_STEP = wp.constant(wp.float64(2.0**-6))
_POSITION_STEP = wp.constant(wp.float64(2.0**-10))
# from the second iteration on efforts are near those that are found, smaller, and bends of limits are close
_LATER = wp.constant(wp.float64(2.0**-5))
# by how much |r|² has to fall, per length of the step, and in the last step
_DECREASE = wp.constant(wp.float64(1.0e-4))
_LAST_FALL = wp.constant(wp.float64(0.01))

# what a joint is
_SOLVED, _BAD_INPUT, _BAD_RESPONSE = wp.constant(1), wp.constant(0), wp.constant(-1)

# the state at which a group has asked for the efforts of the laws: that of the start of the step, …
_AT_START = wp.constant(0)
# … the first one that is tried, one aside in position and one in velocity, for slopes, …
_AT_FIRST, _ASIDE_Q, _ASIDE_V = wp.constant(1), wp.constant(2), wp.constant(3)
# … the end of a step of some length, or of the last step; or the end of the physics step, which it has found
_AT_TRY, _AT_LAST, _FOUND = wp.constant(4), wp.constant(5), wp.constant(6)
# evaluations for the last two, the first two, and the slopes of an iteration
_OTHERS, _SLOPES = 4, 2
# no group has found it before
_LEAST = 6


@dataclass(eq=False)
class Rows:
    """Rows of the inverse mass matrices that some joints have, and which joints are solved together."""

    block: np.ndarray  # matrix of each joint, `(N,)`
    place: np.ndarray  # row of each joint in its matrix, `(N,)`
    starts: np.ndarray  # number of the first row of each matrix among all rows
    counts: np.ndarray  # number of rows of each matrix
    device: wp.Device
    sizes: wp.array = field(init=False)  # number of joints of each group, int32 `(groups,)`
    joints: wp.array = field(init=False)  # of each group, int32 `(groups, ·)`

    def __post_init__(self) -> None:
        _, group = np.unique(self.block, return_inverse=True)
        sizes = np.bincount(group)
        joints = np.zeros((len(sizes), sizes.max()), np.int32)
        for number in range(len(sizes)):
            joints[number, : sizes[number]] = np.flatnonzero(group == number)
        self.sizes, self.joints = self._int(sizes), self._int(joints)
        self.block_array, self.place_array = self._int(self.block), self._int(self.place)
        """Matrix and row of each joint, int32 `(N,)`."""
        self.first, self.number = self._int(self.starts), self._int(self.counts)
        """First row and number of rows of each matrix, int32."""

    def diagonal(self, inverse: wp.array, found: wp.array) -> None:
        """Write the response of each joint to its own impulse [1/(kg·m²) or 1/kg], float32 `(N,)`."""
        inputs = [self.block_array, self.place_array, inverse]
        wp.launch(_diagonal_kernel, len(found), inputs, [found], device=self.device, record_tape=False)

    def _int(self, values: np.ndarray) -> wp.array:
        return wp.array(np.asarray(values, np.int32), dtype=wp.int32, device=self.device)


@wp.struct
class _Data:
    """Arrays by joint, `(N,)`, and by group."""

    block: wp.array(dtype=int)
    place: wp.array(dtype=int)
    sizes: wp.array(dtype=int)
    joints: wp.array2d(dtype=int)
    first: wp.array(dtype=int)
    number: wp.array(dtype=int)
    position: wp.array(dtype=float)
    velocity: wp.array(dtype=float)
    position_target: wp.array(dtype=float)
    velocity_target: wp.array(dtype=float)
    feedforward: wp.array(dtype=float)
    end_position: wp.array(dtype=float)
    end_velocity: wp.array(dtype=float)
    effort: wp.array(dtype=float)
    base: wp.array(dtype=float)
    impulse: wp.array(dtype=wp.float64)
    change: wp.array(dtype=wp.float64)
    residual: wp.array(dtype=wp.float64)
    free: wp.array(dtype=wp.float64)
    exact_q: wp.array(dtype=wp.float64)
    exact_v: wp.array(dtype=wp.float64)
    slope_q: wp.array(dtype=wp.float64)
    slope_v: wp.array(dtype=wp.float64)
    state: wp.array(dtype=int)
    norm: wp.array(dtype=wp.float64)
    length: wp.array(dtype=wp.float64)
    phase: wp.array(dtype=int)
    iteration: wp.array(dtype=int)
    tries: wp.array(dtype=int)
    matrix: wp.array3d(dtype=wp.float64)


@wp.struct
class _Options:
    """Numbers of `ImplicitOptions`."""

    from_explicit: int
    max_iters: int
    ls_iterations: int
    residual_tol: wp.float64
    update_tol: wp.float64
    fd_epsilon: wp.float64
    derivative_floor: wp.float64


class GroupSolver:
    """Solves for the impulses of the joints of an actuator; arrays are float32 `(N,)`.

    `position`, `velocity` and `commands` (both targets and feedforward) are of the start, written before `solve`.
    `effort` is what the laws add their efforts at `end_position` and `end_velocity` to. `impulse` is float64, NaN where
    the response is.
    """

    def __init__(self, rows: Rows, options: ImplicitOptions) -> None:
        self._rows, self._device, self._groups = rows, rows.device, rows.joints.shape[0]
        found = _Options()
        found.from_explicit = int(options.warm_start is ImplicitOptions.WarmStart.EXPLICIT)
        for name in ("max_iters", "ls_iterations", "residual_tol", "update_tol", "fd_epsilon", "derivative_floor"):
            setattr(found, name, getattr(options, name))
        count, (groups, most), data = len(rows.block), rows.joints.shape, _Data()
        shapes = {"norm": groups, "length": groups, "phase": groups, "iteration": groups, "tries": groups}
        for name, kind in _Data.vars.items():
            given = getattr(rows, f"{name}_array", None) or getattr(rows, name, None)
            if not isinstance(given, wp.array):
                shape = (groups, most, most) if name == "matrix" else shapes.get(name, count)
                given = wp.zeros(shape, dtype=kind.type.dtype, device=rows.device)
            setattr(data, name, given)
        self._data, self._options = data, found
        self.position, self.velocity, self.impulse = data.position, data.velocity, data.impulse
        self.commands = [data.position_target, data.velocity_target, data.feedforward]
        self.end_position, self.end_velocity, self.effort = data.end_position, data.end_velocity, data.effort
        self._most = options.max_iters * (_SLOPES + max(options.ls_iterations, 1)) + _OTHERS
        self._bias = wp.zeros(int((rows.starts + rows.counts).max()), dtype=wp.float32, device=self._device)
        self._launches = Launches(self._device)
        # on the CPU the same memory
        self._phases = data.phase.numpy() if self._device.is_cpu else None

    def solve(self, inverse: wp.array, dt: float, bias: wp.array | None, compute: Callable[[], None]) -> None:
        """Compute `impulse`, and the state at the end of the step.

        Inverse mass matrices are float32 `(articulations, rows, rows)`, `bias` the bias force of each row [N·m or N].
        `compute` adds the efforts of the laws at `end_position` and `end_velocity` to `effort`.
        """
        launches, given = self._launches, None
        launches.for_arguments(inverse, dt)
        if bias is not None:
            given = self._bias
            wp.copy(given, bias)
        numbers = [self._data, self._options, inverse, dt]
        launches.run(("begin", given is None), _begin_kernel, self._groups, [*numbers, given], [])
        for number in range(self._most):
            compute()
            launches.run("advance", _advance_kernel, self._groups, numbers, [])
            if number >= _LEAST - 2 and self._is_found():
                break
        compute()

    def _is_found(self) -> bool:
        """Return True if all groups have found their efforts; False while a graph is captured."""
        if self._phases is None and self._device.is_capturing:
            return False
        phases = self._data.phase.numpy() if self._phases is None else self._phases
        return bool((phases == _FOUND).all())


@wp.kernel
def _diagonal_kernel(block: wp.array[int], place: wp.array[int], inverse: wp.array3d[float], found: wp.array[float]):
    i = wp.tid()
    found[i] = inverse[block[i], place[i], place[i]]


@wp.func
def effort_of(d: _Data, i: int) -> wp.float64:
    """Return the effort of a joint at the exact state, for that in single precision."""
    q = d.slope_q[i] * (d.exact_q[i] - wp.float64(d.end_position[i]))
    v = d.slope_v[i] * (d.exact_v[i] - wp.float64(d.end_velocity[i]))
    return wp.float64(d.effort[i]) + q + v


@wp.func
def ask_at_end(d: _Data, inverse: wp.array3d[float], g: int, h: wp.float64, phase: int):
    """Ask for the efforts at the end of the step under `impulse + length · change`."""
    d.phase[g] = phase
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        q = wp.float64(d.position[i])
        v = wp.float64(d.velocity[i])
        if d.state[i] == _SOLVED:
            v = d.free[i]
            for c in range(d.sizes[g]):
                k = d.joints[g, c]
                # a joint that is left out may have NaN
                if d.state[k] == _SOLVED:
                    own = wp.float64(inverse[d.block[i], d.place[i], d.place[k]])
                    v += own * (d.impulse[k] + d.length[g] * d.change[k])
            q += h * v
        d.exact_q[i] = q
        d.exact_v[i] = v
        d.end_position[i] = wp.float32(q)
        d.end_velocity[i] = wp.float32(v)
        d.effort[i] = 0.0


@wp.func
def velocity_step(d: _Data, o: _Options, g: int, v: wp.float64) -> wp.float64:
    """Return the difference of velocities for slopes."""
    least = _VELOCITY_STEP
    if d.iteration[g] > 0:
        least = _VELOCITY_STEP * _LATER
    return wp.max(o.fd_epsilon, least) * (wp.float64(1.0) + wp.abs(v))


@wp.func
def ask_aside_q(d: _Data, o: _Options, g: int, h: wp.float64):
    """Ask for the efforts aside in position; those where they are known now are kept."""
    d.phase[g] = _ASIDE_Q
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        d.base[i] = d.effort[i]
        d.effort[i] = 0.0
        least = _POSITION_STEP
        if d.iteration[g] > 0:
            least = _POSITION_STEP * _LATER
        aside = wp.max(h * velocity_step(d, o, g, d.exact_v[i]), least)
        d.end_position[i] = wp.float32(wp.float64(d.end_position[i]) + aside)


@wp.func
def ask_aside_v(d: _Data, o: _Options, g: int):
    """Take the slopes by position, and ask for the efforts aside in velocity."""
    d.phase[g] = _ASIDE_V
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        back = wp.float32(d.exact_q[i])
        aside = wp.float64(d.end_position[i]) - wp.float64(back)
        d.slope_q[i] = (wp.float64(d.effort[i]) - wp.float64(d.base[i])) / aside
        d.effort[i] = 0.0
        d.end_position[i] = back
        v = wp.float64(d.end_velocity[i])
        d.end_velocity[i] = wp.float32(v + velocity_step(d, o, g, d.exact_v[i]))


@wp.func
def take_slopes_v(d: _Data, g: int):
    """Take the slopes by velocity."""
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        back = wp.float32(d.exact_v[i])
        aside = wp.float64(d.end_velocity[i]) - wp.float64(back)
        d.slope_v[i] = (wp.float64(d.effort[i]) - wp.float64(d.base[i])) / aside
        d.end_velocity[i] = back


@wp.func
def find_change(d: _Data, o: _Options, inverse: wp.array3d[float], g: int, h: wp.float64):
    """Solve the linear equations for the change of the impulses, by Gauss' method."""
    n = d.sizes[g]
    d.length[g] = wp.float64(1.0)
    for r in range(n):
        i = d.joints[g, r]
        d.change[i] = -d.residual[i]
        slope = h * d.slope_q[i] + d.slope_v[i]
        for c in range(n):
            k = d.joints[g, c]
            entry = wp.float64(0.0)
            if d.state[i] == _SOLVED and d.state[k] == _SOLVED:
                entry = -h * slope * wp.float64(inverse[d.block[i], d.place[i], d.place[k]])
            if r == c:
                entry += wp.float64(1.0)
            d.matrix[g, r, c] = entry
    for k in range(n):
        pivot = d.matrix[g, k, k]
        if wp.abs(pivot) < o.derivative_floor:
            pivot = wp.where(pivot < wp.float64(0.0), -o.derivative_floor, o.derivative_floor)
            d.matrix[g, k, k] = pivot
        for r in range(k + 1, n):
            factor = d.matrix[g, r, k] / pivot
            for c in range(k + 1, n):
                d.matrix[g, r, c] = d.matrix[g, r, c] - factor * d.matrix[g, k, c]
            i = d.joints[g, r]
            d.change[i] = d.change[i] - factor * d.change[d.joints[g, k]]
    for back in range(n):
        r = n - 1 - back
        i = d.joints[g, r]
        value = d.change[i]
        for c in range(r + 1, n):
            value -= d.matrix[g, r, c] * d.change[d.joints[g, c]]
        d.change[i] = value / d.matrix[g, r, r]


@wp.func
def square_left(d: _Data, g: int, h: wp.float64) -> wp.float64:
    """Return |r|² at the state whose efforts are known now."""
    square = wp.float64(0.0)
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        if d.state[i] == _SOLVED:
            left = d.impulse[i] + d.length[g] * d.change[i] - h * effort_of(d, i)
            square += left * left
    return square


@wp.func
def accept(d: _Data, g: int, h: wp.float64, square: wp.float64) -> wp.float64:
    """Take the change of the impulses, and return its square."""
    moved = wp.float64(0.0)
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        d.residual[i] = wp.float64(0.0)
        if d.state[i] == _SOLVED:
            moved += d.change[i] * d.change[i]
            d.impulse[i] = d.impulse[i] + d.length[g] * d.change[i]
            d.residual[i] = d.impulse[i] - h * effort_of(d, i)
        d.change[i] = wp.float64(0.0)
    d.norm[g] = square
    return moved


@wp.func
def drop_change(d: _Data, g: int):
    """Leave the impulses as they are."""
    for r in range(d.sizes[g]):
        d.change[d.joints[g, r]] = wp.float64(0.0)


@wp.func
def start(d: _Data, o: _Options, inverse: wp.array3d[float], g: int, h: wp.float64):
    """Begin at the explicit impulses, or at none."""
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        d.change[i] = wp.float64(0.0)
        d.slope_q[i] = wp.float64(0.0)
        d.slope_v[i] = wp.float64(0.0)
        d.impulse[i] = wp.float64(0.0)
        if d.state[i] == _SOLVED and o.from_explicit != 0:
            d.impulse[i] = h * wp.float64(d.effort[i])
        if d.state[i] == _BAD_RESPONSE:
            d.impulse[i] = wp.float64(wp.nan)
    d.iteration[g] = 0
    ask_at_end(d, inverse, g, h, _AT_FIRST)


@wp.func
def judge(d: _Data, o: _Options, inverse: wp.array3d[float], g: int, h: wp.float64):
    """Take the step that was tried, or half of it; then ask for slopes, or for the end of a last step."""
    square = square_left(d, g, h)
    whole = d.iteration[g] == 0 or o.ls_iterations == 0
    if whole or square <= (wp.float64(1.0) - _DECREASE * d.length[g]) * d.norm[g]:
        moved = accept(d, g, h, square)
        d.iteration[g] = d.iteration[g] + 1
        small = square < o.residual_tol * o.residual_tol or moved < o.update_tol * o.update_tol
        if small or d.iteration[g] >= o.max_iters:
            find_change(d, o, inverse, g, h)
            ask_at_end(d, inverse, g, h, _AT_LAST)
        else:
            ask_aside_q(d, o, g, h)
        return
    d.tries[g] = d.tries[g] + 1
    d.length[g] = wp.float64(0.5) * d.length[g]
    if d.tries[g] < o.ls_iterations:
        ask_at_end(d, inverse, g, h, _AT_TRY)
    else:
        drop_change(d, g)
        ask_at_end(d, inverse, g, h, _FOUND)


@wp.kernel
def _begin_kernel(d: _Data, o: _Options, inverse: wp.array3d[float], dt: float, bias: wp.array[float]):
    g = wp.tid()
    d.phase[g] = _AT_START
    d.length[g] = wp.float64(0.0)
    for r in range(d.sizes[g]):
        i = d.joints[g, r]
        b = d.block[i]
        gained = wp.float64(0.0)
        if bias:
            for k in range(d.number[b]):
                gained -= wp.float64(inverse[b, d.place[i], k]) * wp.float64(bias[d.first[b] + k])
        gained = wp.float64(dt) * gained
        d.free[i] = wp.float64(d.velocity[i]) + gained
        known = int(_SOLVED)
        for c in range(d.sizes[g]):
            if not wp.isfinite(inverse[b, d.place[i], d.place[d.joints[g, c]]]):
                known = int(_BAD_RESPONSE)
        if not wp.isfinite(gained):
            known = int(_BAD_RESPONSE)
        if not (wp.isfinite(d.position[i]) and wp.isfinite(d.velocity[i]) and wp.isfinite(d.position_target[i])):
            known = int(_BAD_INPUT)
        if not (wp.isfinite(d.velocity_target[i]) and wp.isfinite(d.feedforward[i])):
            known = int(_BAD_INPUT)
        d.state[i] = known
        d.end_position[i] = d.position[i]
        d.end_velocity[i] = d.velocity[i]
        d.effort[i] = 0.0


@wp.kernel
def _advance_kernel(d: _Data, o: _Options, inverse: wp.array3d[float], dt: float):
    g = wp.tid()
    h = wp.float64(dt)
    phase = d.phase[g]
    if phase == _AT_START:
        start(d, o, inverse, g, h)
    elif phase == _AT_FIRST:
        accept(d, g, h, square_left(d, g, h))
        ask_aside_q(d, o, g, h)
    elif phase == _ASIDE_Q:
        ask_aside_v(d, o, g)
    elif phase == _ASIDE_V:
        take_slopes_v(d, g)
        find_change(d, o, inverse, g, h)
        d.tries[g] = 0
        ask_at_end(d, inverse, g, h, _AT_TRY)
    elif phase == _AT_TRY:
        judge(d, o, inverse, g, h)
    elif phase == _AT_LAST:
        square = square_left(d, g, h)
        if square <= _LAST_FALL * d.norm[g]:
            accept(d, g, h, square)
        drop_change(d, g)
        ask_at_end(d, inverse, g, h, _FOUND)
    else:
        # others are not there yet, and all laws are evaluated together
        for r in range(d.sizes[g]):
            d.effort[d.joints[g, r]] = 0.0
