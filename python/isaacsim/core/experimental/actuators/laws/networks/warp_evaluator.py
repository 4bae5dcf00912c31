"""Evaluation of a network in Warp: one kernel for all networks, a thread per row, which executes the instructions.

Its functions define their slopes, so that kinks have those of Torch: 0 for |x| and ReLU at 0, and half for each of
two equal numbers. They are compiled for a kernel with an adjoint only, see `warp_gradients`.
"""

# Warp kernels are no Python types
# pyright: reportAttributeAccessIssue=false, reportGeneralTypeIssues=false, reportIndexIssue=false
# pyright: reportReturnType=false, reportArgumentType=false, reportCallIssue=false, reportOperatorIssue=false
# pyright: reportOptionalMemberAccess=false

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
import warp as wp

from ...base.memory import warp_view
from .calls import Array, Calls, Device
from .network import BINARY, UNARY
from .program import CODES, Program

# numbers of an instruction besides its code
_FIELDS = ("out", "width", "first", "first_width", "second", "second_width", "numbers", "layer")
_CODE = {code: wp.constant(number) for number, code in enumerate(CODES)}

CONSTANT, LINEAR, LSTM, GRU = (_CODE[code] for code in ("constant", "linear", "lstm", "gru"))
ADD, SUB, MUL, DIV, MINIMUM, MAXIMUM, POW = (_CODE[code] for code in BINARY)
ABS, CLAMP, LEAKY_RELU, NEG, RELU, SIGN, ELU, ERF, EXP, LOG, RECIPROCAL, SIGMOID, SOFTPLUS, SOFTSIGN, SQRT, TANH = (
    _CODE[code] for code in UNARY
)


@wp.func
def sigmoid(x: float) -> float:
    """Return 1 / (1 + e^-x)."""
    return 1.0 / (1.0 + wp.exp(-x))


@wp.func_grad(sigmoid)
def _sigmoid_back(x: float, by: float):
    y = 1.0 / (1.0 + wp.exp(-x))
    wp.adjoint[x] += by * y * (1.0 - y)


@wp.func
def sign_of(x: float) -> float:
    """Return -1, 0 or 1, NaN if the number is."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return x


@wp.func
def least(x: float, y: float) -> float:
    """Return the smaller number, NaN if either is."""
    if wp.isnan(x) or x < y:
        return x
    return y


@wp.func
def most(x: float, y: float) -> float:
    """Return the larger number, NaN if either is."""
    if wp.isnan(x) or x > y:
        return x
    return y


@wp.func
def piecewise(code: int, x: float, a: float, b: float) -> float:
    """Return a piecewise linear function; of a copy the number itself."""
    y = x
    if code == ABS:
        y = wp.abs(x)
    elif code == CLAMP:
        y = least(most(x, a), b)
    elif code == LEAKY_RELU:
        y = wp.where(x <= 0.0, a * x, x)
    elif code == NEG:
        y = -x
    elif code == RELU:
        y = most(x, 0.0)
    elif code == SIGN:
        y = sign_of(x)
    return y


@wp.func
def smooth(code: int, x: float, a: float) -> float:
    """Return a smooth function."""
    y = x
    if code == ELU:
        # e^x - 1 without cancellation
        t = wp.tanh(0.5 * x)
        y = wp.where(x <= 0.0, a * 2.0 * t / (1.0 - t), x)
    elif code == ERF:
        y = wp.erf(x)
    elif code == EXP:
        y = wp.exp(x)
    elif code == LOG:
        y = wp.log(x)
    elif code == RECIPROCAL:
        y = 1.0 / x
    elif code == SIGMOID:
        y = sigmoid(x)
    elif code == SOFTPLUS:
        y = (most(a * x, 0.0) + wp.log(1.0 + wp.exp(-wp.abs(a * x)))) / a
    elif code == SOFTSIGN:
        y = x / (1.0 + wp.abs(x))
    elif code == SQRT:
        y = wp.sqrt(x)
    else:
        y = wp.tanh(x)
    return y


@wp.func
def unary(code: int, x: float, a: float, b: float) -> float:
    """Return an elementwise function of one number with its parameters."""
    if code < ELU:
        return piecewise(code, x, a, b)
    return smooth(code, x, a)


@wp.func
def binary(code: int, x: float, y: float) -> float:
    """Return an elementwise function of two numbers."""
    z = x
    if code == ADD:
        z = x + y
    elif code == SUB:
        z = x - y
    elif code == MUL:
        z = x * y
    elif code == DIV:
        z = x / y
    elif code == MINIMUM:
        z = least(x, y)
    elif code == MAXIMUM:
        z = most(x, y)
    elif code == POW:
        z = wp.pow(x, y)
    return z


@wp.func
def piecewise_slope(code: int, x: float, a: float, b: float) -> float:
    """Return the slope of a piecewise linear function; of a copy 1."""
    slope = wp.float32(1.0)
    if code == ABS:
        slope = wp.where(x > 0.0, 1.0, wp.where(x < 0.0, -1.0, 0.0))
    elif code == CLAMP:
        slope = wp.where(x < a or x > b, 0.0, 1.0)
    elif code == LEAKY_RELU:
        slope = wp.where(x > 0.0, 1.0, a)
    elif code == NEG:
        slope = wp.float32(-1.0)
    elif code == RELU:
        slope = wp.where(x > 0.0, 1.0, 0.0)
    elif code == SIGN:
        slope = wp.float32(0.0)
    return slope


@wp.func
def smooth_slope(code: int, x: float, a: float) -> float:
    """Return the slope of a smooth function."""
    slope = wp.float32(0.0)
    if code == ELU:
        slope = wp.where(x > 0.0, 1.0, a * wp.exp(x))
    elif code == ERF:
        # 2 / sqrt(pi)
        slope = 1.1283791670955126 * wp.exp(-x * x)
    elif code == EXP:
        slope = wp.exp(x)
    elif code == LOG:
        slope = 1.0 / x
    elif code == RECIPROCAL:
        slope = -1.0 / (x * x)
    elif code == SIGMOID:
        y = sigmoid(x)
        slope = y * (1.0 - y)
    elif code == SOFTPLUS:
        slope = sigmoid(a * x)
    elif code == SOFTSIGN:
        below = 1.0 + wp.abs(x)
        slope = 1.0 / (below * below)
    elif code == SQRT:
        slope = 0.5 / wp.sqrt(x)
    else:
        t = wp.tanh(x)
        slope = 1.0 - t * t
    return slope


@wp.func_grad(unary)
def _unary_back(code: int, x: float, a: float, b: float, by: float):
    slope = wp.float32(0.0)
    if code < ELU:
        slope = piecewise_slope(code, x, a, b)
    else:
        slope = smooth_slope(code, x, a)
    wp.adjoint[x] += by * slope


@wp.func
def binary_slopes(code: int, x: float, y: float) -> wp.vec2:
    """Return the slopes of an elementwise function of two numbers."""
    first = wp.float32(1.0)
    second = wp.float32(1.0)
    if code == SUB:
        second = wp.float32(-1.0)
    elif code == MUL:
        first = y
        second = x
    elif code == DIV:
        first = 1.0 / y
        second = -x / y / y
    elif code == MINIMUM or code == MAXIMUM:
        first = wp.where((x < y) == (code == MINIMUM), 1.0, 0.0)
        if x == y:
            first = wp.float32(0.5)
        second = 1.0 - first
    elif code == POW:
        power = wp.pow(x, y)
        first = wp.where(y == 0.0, 0.0, y * wp.pow(x, y - 1.0))
        second = wp.where(power == 0.0, 0.0, power * wp.log(x))
    return wp.vec2(first, second)


@wp.func_grad(binary)
def _binary_back(code: int, x: float, y: float, by: float):
    slopes = binary_slopes(code, x, y)
    wp.adjoint[x] += by * slopes[0]
    wp.adjoint[y] += by * slopes[1]


@wp.func
def weighted(
    columns: wp.array2d[float], row: int, first: int, width: int, numbers: wp.array[float], weights: int
) -> float:
    """Return the sum of weights times columns."""
    total = wp.float32(0.0)
    for k in range(width):
        total += numbers[weights + k] * columns[first + k, row]
    return total


@wp.func_grad(weighted)
def _weighted_back(
    columns: wp.array2d[float], row: int, first: int, width: int, numbers: wp.array[float], weights: int, by: float
):
    # weights have no gradients here
    for k in range(width):
        wp.adjoint[columns][first + k, row] += by * numbers[weights + k]


@wp.func
def load_state(state: wp.array3d[float], columns: wp.array2d[float], row: int, first: int):
    """Copy the state of a row to columns."""
    for k in range(state.shape[0] * state.shape[2]):
        columns[first + k, row] = state[k / state.shape[2], row, k % state.shape[2]]


@wp.func
def store_state(columns: wp.array2d[float], row: int, first: int, state: wp.array3d[float]):
    """Copy columns to the state of a row."""
    for k in range(state.shape[0] * state.shape[2]):
        state[k / state.shape[2], row, k % state.shape[2]] = columns[first + k, row]


@wp.func
def all_finite(columns: wp.array2d[float], row: int, first: int, count: int) -> bool:
    """Return True if all numbers of some columns are finite."""
    good = wp.bool(True)
    for k in range(count):
        if not wp.isfinite(columns[first + k, row]):
            good = wp.bool(False)
    return good


@wp.func
def is_good(columns: wp.array2d[float], row: int, inputs: int, new: int, count: int, output: int) -> bool:
    """Return True if input, new state and output are finite."""
    finite = all_finite(columns, row, 0, inputs) and all_finite(columns, row, new, count)
    return finite and wp.isfinite(columns[output, row])


# complexity 15: the adjoint of a function would evaluate it again, so instructions are no functions
@wp.kernel(enable_backward=False)
def evaluate_kernel(
    # Params:
    code: wp.array2d[int],
    numbers: wp.array[float],
    inputs: int,
    output: int,
    layers: int,
    hidden: int,
    states: int,
    # In:
    x: wp.array2d[float],
    hidden_in: wp.array3d[float],
    cell_in: wp.array3d[float],
    # Work:
    columns: wp.array2d[float],
    # Out:
    hidden_out: wp.array3d[float],
    cell_out: wp.array3d[float],
    y: wp.array[float],
):
    """Evaluate a row of a network."""
    row = wp.tid()
    size = layers * hidden
    new = inputs + states * size
    for k in range(inputs):
        columns[k, row] = x[row, k]
    load_state(hidden_in, columns, row, inputs)
    load_state(cell_in, columns, row, inputs + size)

    for i in range(code.shape[0]):
        what = code[i, 0]
        out = code[i, 1]
        width = code[i, 2]
        first = code[i, 3]
        first_width = code[i, 4]
        second = code[i, 5]
        start = code[i, 7]
        before = inputs + code[i, 8] * hidden
        after = before + states * size
        if what == CONSTANT:
            for k in range(width):
                columns[out + k, row] = numbers[start + k]
        elif what == LINEAR:
            bias = start + width * first_width
            for k in range(width):
                columns[out + k, row] = numbers[bias + k] + weighted(
                    columns, row, first, first_width, numbers, start + k * first_width
                )
        elif what == LSTM:
            weights_hh = start + 4 * width * first_width
            bias = weights_hh + 4 * width * width
            for k in range(4 * width):
                gate = numbers[bias + k] + weighted(columns, row, first, first_width, numbers, start + k * first_width)
                columns[second + k, row] = gate + weighted(columns, row, before, width, numbers, weights_hh + k * width)
            for k in range(width):
                i_gate = sigmoid(columns[second + k, row])
                f_gate = sigmoid(columns[second + width + k, row])
                change = wp.tanh(columns[second + 2 * width + k, row])
                o_gate = sigmoid(columns[second + 3 * width + k, row])
                cell = f_gate * columns[before + size + k, row] + i_gate * change
                columns[after + size + k, row] = cell
                columns[after + k, row] = o_gate * wp.tanh(cell)
        elif what == GRU:
            weights_hh = start + 3 * width * first_width
            bias = weights_hh + 3 * width * width
            bias_hh = bias + 3 * width
            for k in range(width):
                z_k = width + k
                n_k = 2 * width + k
                r = numbers[bias + k] + numbers[bias_hh + k]
                r = r + weighted(columns, row, first, first_width, numbers, start + k * first_width)
                r = sigmoid(r + weighted(columns, row, before, width, numbers, weights_hh + k * width))
                z = numbers[bias + z_k] + numbers[bias_hh + z_k]
                z = z + weighted(columns, row, first, first_width, numbers, start + z_k * first_width)
                z = sigmoid(z + weighted(columns, row, before, width, numbers, weights_hh + z_k * width))
                of_x = numbers[bias + n_k] + weighted(
                    columns, row, first, first_width, numbers, start + n_k * first_width
                )
                of_h = numbers[bias_hh + n_k] + weighted(columns, row, before, width, numbers, weights_hh + n_k * width)
                n = wp.tanh(of_x + r * of_h)
                columns[after + k, row] = (1.0 - z) * n + z * columns[before + k, row]
        elif what >= ADD:
            # a source that is one number wide serves all
            first_step = wp.where(first_width > 1, 1, 0)
            second_step = wp.where(code[i, 6] > 1, 1, 0)
            for k in range(width):
                columns[out + k, row] = binary(
                    what, columns[first + first_step * k, row], columns[second + second_step * k, row]
                )
        else:
            for k in range(width):
                columns[out + k, row] = unary(what, columns[first + k, row], numbers[start], numbers[start + 1])

    # a row that is not finite keeps its state
    good = is_good(columns, row, inputs, new, states * size, output)
    y[row] = wp.where(good, columns[output, row], wp.float32(wp.nan))
    kept = wp.where(good, new, inputs)
    store_state(columns, row, kept, hidden_out)
    store_state(columns, row, kept + size, cell_out)


class WarpEvaluator:
    """Evaluates in Warp; allocates nothing after the first call with the same arrays."""

    name = "warp"

    def __init__(self, program: Program, rows: int, device: Device) -> None:
        self._rows, self._program, self._device = rows, program, wp.get_device(device)
        self._calls = Calls(program, rows, device, self._bind)
        self._code, self._numbers = instructions_of(program, device)
        self._columns = wp.zeros((program.columns, rows), dtype=wp.float32, device=device)
        self._none = wp.zeros((0, rows, 0), dtype=wp.float32, device=device)

    def evaluate(self, x: Array, y: Array, state_in: Sequence[Array] = (), state_out: Sequence[Array] = ()) -> None:
        """Compute the outputs of all rows, see `Evaluator`."""
        self._calls.find(x, y, state_in, state_out)()

    def _bind(self, x: Array, y: Array, state_in: list[Array], state_out: list[Array]) -> Callable[[], None]:
        program = self._program
        now, after = ([*map(warp_view, states), self._none, self._none][:2] for states in (state_in, state_out))
        sizes = program.inputs, program.output, program.num_layers, program.hidden_size, program.num_states
        inputs = [self._code, self._numbers, *sizes, warp_view(x), *now, self._columns, *after, warp_view(y)]
        return wp.launch(evaluate_kernel, self._rows, inputs, device=self._device, record_cmd=True).launch


def instructions_of(program: Program, device: Device) -> tuple[wp.array, wp.array]:
    """Return the instructions of a program and their numbers as arrays of the kernel."""
    lines = [[CODES.index(one.code), *(getattr(one, field) for field in _FIELDS)] for one in program.instructions]
    code = np.array(lines, np.int32).reshape(-1, 1 + len(_FIELDS))
    # two numbers are read for every function of one value
    numbers = np.append(program.numbers, np.zeros(2, np.float32))
    return wp.array(code, dtype=wp.int32, device=device), wp.array(numbers, dtype=wp.float32, device=device)
