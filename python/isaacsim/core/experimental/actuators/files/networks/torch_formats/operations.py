"""The closed list of operations that the code of a TorchScript archive and an exported graph may name."""

from __future__ import annotations

import math
import operator
from collections.abc import Callable, Sequence
from typing import Any, TypeGuard

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import Constant, GRUCell, LSTMCell
from ..tracer import FOLDS, MOST_NUMBERS, ROWS, Number, Rows, Tensor, Value, axis_of, one_axis
from ..tracer import folded as folded_arrays
from .values import REMEDY, Builder, State, Unknown, refuse, same

END = 2**63 - 1
# PyTorch's numbers for float32 and float64
DTYPES = {6: np.float32, 7: np.float64}

# operations that only ask about an array, and do not use its numbers
QUESTIONS = {
    *("size", "dim", "len", "list", "eq", "ne", "__is__", "__isnot__", "__contains__", "format", "warn"),
    *("prim.dtype", "prim.device", "prim.unchecked_unwrap_optional"),
}

# all that take a hidden state
OF_STATES = QUESTIONS | {
    *("select", "squeeze", "slice", "lstm", "gru", "contiguous", "detach", "alias", "clone", "to", "type_as"),
}

Plain = Number | np.ndarray
Operand = Value | Plain
Shaped = Value | State | np.ndarray
Function = Callable[..., Any]
OPERATIONS: dict[str, Function] = {}


def operation(names: str) -> Callable[[Function], Function]:
    """Add a function to the list under these names; the builder is its first argument."""

    def enter(function: Function) -> Function:
        OPERATIONS.update(dict.fromkeys(names.split(), function))
        return function

    return enter


def plain(value: object) -> TypeGuard[Plain]:
    """Return True for a number or an array."""
    return isinstance(value, Plain)


def known(value: Any) -> Plain:
    """Return a computed number or array, after its size is checked."""
    if isinstance(value, np.ndarray | np.generic):
        return np.asarray(value)
    if isinstance(value, int) and not -END <= value <= END:
        raise NetworkError("makes a whole number of more than 64 bits.")
    return value


def folded(function: Function, *values: Plain) -> Plain:
    """Return a function of numbers and arrays, computed with NumPy."""
    if any(isinstance(value, np.ndarray) for value in values):
        return folded_arrays(function, *values)
    with np.errstate(all="ignore"):
        return known(function(*values))


# ---- arithmetic ----

UNARY_FOLDS: dict[str, Function] = {
    **{"abs": np.abs, "neg": np.negative, "exp": np.exp, "log": np.log, "sqrt": np.sqrt, "tanh": np.tanh},
    **{"sign": np.sign, "reciprocal": lambda x: 1.0 / x, "relu": lambda x: np.maximum(x, 0)},
    "sigmoid": lambda x: 1.0 / (1.0 + np.exp(-x)),
}
# powers that are other operations
POWERS: dict[float, Function] = {
    1.0: lambda b, x: Value(x.source, x.shape),
    2.0: lambda b, x: b.binary("mul", x, x),
    3.0: lambda b, x: b.binary("mul", x, b.binary("mul", x, x)),
    0.5: lambda b, x: b.unary("sqrt", x),
    -1.0: lambda b, x: b.unary("reciprocal", x),
}


def arithmetic(b: Builder, name: str, first: Any, second: Any) -> Any:
    """Return an elementwise function of two values."""
    if plain(first) and plain(second):
        return folded(FOLDS[name], first, second)
    if all(isinstance(one, Value) or plain(one) for one in (first, second)):
        return b.binary(name, first, second)
    # rows times 1 are rows
    if name == "mul" and [(type(one), one) for one in (first, second) if one is not ROWS] == [(int, 1)]:
        return ROWS
    raise refuse(f"{name} of {type(first).__name__} and {type(second).__name__}")


def elementwise(b: Builder, name: str, x: Operand) -> Operand:
    """Return an elementwise function of one value."""
    if isinstance(x, Value):
        return b.unary(name, x)
    if plain(x) and name in UNARY_FOLDS:
        result = folded(UNARY_FOLDS[name], x)
        return result if isinstance(x, np.ndarray) else known(np.asarray(result).item())
    raise refuse(f"{name} of {type(x).__name__}")


def _elementwise(name: str) -> Function:
    return lambda b, x: elementwise(b, name, x)


for _name in ("abs", "neg", "exp", "log", "sqrt", "tanh", "reciprocal", "relu", "sigmoid", "erf", "sign"):
    operation(f"{_name} {_name}_")(_elementwise(_name))
operation("negative")(_elementwise("neg"))
operation("sgn sgn_")(_elementwise("sign"))


@operation("add add_")
def _add(b: Builder, x: Operand, y: Operand, alpha: float = 1) -> Operand:
    return arithmetic(b, "add", x, y if alpha == 1 else arithmetic(b, "mul", y, alpha))


@operation("sub sub_")
def _sub(b: Builder, x: Operand, y: Operand, alpha: float = 1) -> Operand:
    return arithmetic(b, "sub", x, y if alpha == 1 else arithmetic(b, "mul", y, alpha))


@operation("div div_ divide true_divide")
def _div(b: Builder, x: Operand, y: Operand, rounding_mode: None = None) -> Operand:
    if rounding_mode is not None:
        raise refuse(f"div with rounding_mode {rounding_mode!r}")
    return arithmetic(b, "div", x, y)


def _extremum(name: str) -> Function:
    def extremum(b: Builder, x: Operand, y: Operand) -> Operand:
        # a number would be an axis
        if not isinstance(y, Value | np.ndarray):
            raise refuse("min or max along an axis")
        return arithmetic(b, name, x, y)

    return extremum


operation("minimum min")(_extremum("minimum"))
operation("maximum max")(_extremum("maximum"))


@operation("pow pow_")
def _pow(b: Builder, x: Operand, y: Operand) -> Operand:
    if isinstance(x, Value) and plain(y) and np.ndim(y) == 0 and (simple := POWERS.get(float(y))):
        return simple(b, x)
    return arithmetic(b, "pow", x, y)


@operation("clamp clamp_ clip")
def _clamp(b: Builder, x: Operand, min: Operand | None = None, max: Operand | None = None) -> Operand:
    if isinstance(min, Number) and isinstance(max, Number) and isinstance(x, Value):
        return b.unary("clamp", x, min, max)
    if min is not None:
        x = arithmetic(b, "maximum", x, min)
    return x if max is None else arithmetic(b, "minimum", x, max)


@operation("elu elu_")
def _elu(b: Builder, x: Value, alpha: float = 1.0, scale: float = 1.0, input_scale: float = 1.0) -> Value:
    if input_scale != 1:
        raise refuse(f"elu with input_scale {input_scale}")
    y = b.unary("elu", x, alpha)
    return y if scale == 1 else b.binary("mul", y, scale)


@operation("prelu")
def _prelu(b: Builder, x: Value, weight: np.ndarray) -> Value:
    if np.size(weight) != 1 and (len(x.shape) != 2 or x.shape[0] is not ROWS):
        raise refuse(f"prelu of a value of shape {x.shape}")
    negative = b.binary("minimum", x, 0.0)
    return b.binary("add", b.unary("relu", x), b.binary("mul", negative, np.reshape(weight, -1)))


@operation("softplus")
def _softplus(b: Builder, x: Value, beta: float = 1.0, threshold: float = 20.0) -> Value:
    # above the threshold PyTorch returns x, which from 20 on differs by less than float32 does
    if threshold < 20:
        raise refuse(f"softplus with threshold {threshold}")
    return b.unary("softplus", x, beta)


def _hardsigmoid(b: Builder, x: Value) -> Value:
    return b.binary("div", b.unary("clamp", b.binary("add", x, 3.0), 0.0, 6.0), 6.0)


# ---- layers ----


@operation("matmul mm")
def _matmul(b: Builder, x: Value, y: np.ndarray) -> Value:
    if not isinstance(x, Value) or not isinstance(y, np.ndarray) or y.ndim not in (1, 2):
        raise refuse("matmul of anything but a value and a matrix")
    product = b.linear(x, y.T if y.ndim == 2 else y[None])
    return product if y.ndim == 2 else Value(product.source, product.shape[:-1])


@operation("addmm")
def _addmm(b: Builder, bias: Plain, x: Value, y: np.ndarray, beta: float = 1, alpha: float = 1) -> Value:
    if not plain(bias) or not isinstance(y, np.ndarray) or (np.ndim(bias) == 2 and np.shape(bias)[0] != 1):
        raise refuse("addmm of anything but numbers, a value and a matrix")
    return b.linear(x, np.transpose(folded(lambda a: a * alpha, y)), folded(lambda a: a * beta, np.asarray(bias)))


@operation("batch_norm")
# PyTorch's parameters
def _batch_norm(
    b: Builder, x: Value, weight: Plain | None, bias: Plain | None,
    mean: np.ndarray | None, variance: np.ndarray | None,
    training: bool, momentum: float, eps: float, cudnn: bool,
) -> Value:  # fmt: skip
    if training is not False or mean is None or variance is None or len(x.shape) != 2 or x.shape[0] is not ROWS:
        raise refuse("batch_norm that is training (save after eval()), or of a value not of shape (rows, width)")
    scale = 1.0 / np.sqrt(variance.astype(np.float64) + eps) * (1.0 if weight is None else weight)
    shift = (0.0 if bias is None else bias) - mean * scale
    return b.binary("add", b.binary("mul", x, scale), shift)


@operation("layer_norm")
# PyTorch's parameters
def _layer_norm(
    b: Builder, x: Value, shape: list[int], weight: Plain | None = None, bias: Plain | None = None,
    eps: float = 1e-5, cudnn: bool = False,
) -> Value:  # fmt: skip
    if len(shape) != 1 or x.shape[-1] is ROWS or x.shape[-1] != shape[0]:
        raise refuse(f"layer_norm over {shape} of a value of shape {x.shape}")
    return b.layer_norm(x, weight, bias, eps)


@operation("dropout dropout_ feature_dropout alpha_dropout")
def _dropout(b: Builder, x: Operand, p: float, train: bool) -> Operand:
    if train is not False and p != 0:
        raise refuse("dropout while training (save after eval())")
    return x


@operation("lstm")
def _lstm(b: Builder, x: Value, states: object, *arguments: object) -> tuple[Value | State, ...]:
    if len(arguments) != 7 or not isinstance(states, list):
        raise refuse("lstm of packed sequences")
    return b.recur(LSTMCell, x, states, arguments)


@operation("gru")
def _gru(b: Builder, x: Value, state: object, *arguments: object) -> tuple[Value | State, ...]:
    if len(arguments) != 7 or not isinstance(state, State):
        raise refuse("gru of packed sequences, or without a state")
    return b.recur(GRUCell, x, [state], arguments)


# ---- shapes ----


def ints(values: object) -> list[Any]:
    """Return sizes as one list."""
    values = list(values) if isinstance(values, list | tuple) else [values]
    if not all(type(one) is int or one is ROWS for one in values):
        raise refuse("a shape that is not made of whole numbers and the number of rows")
    return values


@operation("flatten")
def _flatten(b: Builder, x: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    shape = x.shape
    start, end = axis_of(start_dim, len(shape)), axis_of(end_dim, len(shape))
    merged = shape[start : end + 1]
    return b.reshape(x, (*shape[:start], ROWS if ROWS in merged else math.prod(merged), *shape[end + 1 :]))


@operation("squeeze")
def _squeeze(b: Builder, x: Shaped, dim: int | Sequence[int] | None = None) -> Tensor:
    if isinstance(x, State):
        if dim == 0 and x.layers == 1:
            return _select(b, x, 0, 0)
        raise refuse("squeeze of the hidden state")
    places = {
        axis_of(one, len(x.shape)) for one in (range(len(x.shape)) if dim is None else np.atleast_1d(dim).tolist())
    }
    return b.squeeze(x, [place for place in places if x.shape[place] == 1])


@operation("transpose swapaxes")
def _transpose(b: Builder, x: Tensor, first: int, second: int) -> Tensor:
    order = list(range(len(x.shape)))
    order[first], order[second] = order[second], order[first]
    return b.transpose(x, order)


@operation("select")
def _select(b: Builder, x: Shaped, dim: int, index: int) -> Tensor:
    if not isinstance(x, State):
        return b.select(x, dim, index)
    if dim not in (0, -3) or x.sources is None or x.name != "h":
        raise refuse("a part of the hidden state")
    return Value(x.sources[axis_of(index, len(x.sources))], (ROWS, x.size), shared=True)


@operation("slice")
def _slice(b: Builder, x: Shaped, dim: int = 0, start: Any = None, end: Any = None, step: int = 1) -> Shaped | Tensor:
    first, last = 0 if start is None else start, END if end is None else end
    if not isinstance(x, State) and x.shape[axis_of(dim, len(x.shape))] is not ROWS:
        return b.slice(x, dim, first, last, step)
    if first != 0 or last not in (END, ROWS) or step != 1:
        raise refuse("slice of rows or of the hidden state")
    return x


@operation("split split_with_sizes")
def _split(b: Builder, x: Tensor, sizes: object, dim: int = 0) -> list[Tensor]:
    width = b.along(x, dim)[1]
    each = [min(sizes, width - at) for at in range(0, width, sizes)] if type(sizes) is int else ints(sizes)
    return b.split(x, dim, each)


@operation("chunk")
def _chunk(b: Builder, x: Tensor, chunks: int, dim: int = 0) -> list[Tensor]:
    return _split(b, x, -(-b.along(x, dim)[1] // chunks), dim)


@operation("cat concat concatenate")
def _cat(b: Builder, values: Sequence[Tensor], dim: int = 0) -> Tensor:
    return _clone(b, b.concatenate(values, dim))


@operation("clone")
def _clone(b: Builder, x: object, memory_format: object = None) -> Any:
    return Value(x.source, x.shape) if isinstance(x, Value) else x


@operation("expand")
def _expand(b: Builder, x: Shaped, shape: object, implicit: bool = False) -> Value:
    target = ints(shape)
    if not isinstance(x, Value) or len(target) != len(x.shape):
        raise refuse("expand of numbers over rows")
    if any(n not in (-1, old) for n, old in zip(target, x.shape, strict=True)):
        raise refuse(f"expand of a value of shape {x.shape} to {shape}")
    return x.view(x.shape)


@operation("full")
def _full(b: Builder, shape: object, value: object, **rest: object) -> Tensor:
    target = ints(shape)
    if not isinstance(value, bool | int | float) or any(n is not ROWS and n < 0 for n in target):
        raise refuse(f"full of {value!r:.80} in the shape {target!s:.80}")
    width = [n for n in target if n is not ROWS]
    if math.prod(width) > MOST_NUMBERS:
        raise NetworkError("makes a constant of too many numbers.")
    numbers = np.full(width, value, DTYPES[_dtype(rest.get("dtype"))])
    if ROWS not in target:
        return numbers
    return b.add(Constant(numbers.astype(np.float32).reshape(-1)), one_axis(tuple(target)))


def _dtype(*wanted: object) -> int:
    """Return the number of the type of floats that is asked for, by default float32."""
    numbers = [one for one in wanted if type(one) is int]
    if any(one not in DTYPES for one in numbers):
        raise refuse(f"a conversion to numbers of type {numbers[0]} (6, float32, and 7, float64, are known)")
    return numbers[0] if numbers else 6


@operation("to float double type_as")
def _to(b: Builder, x: object, *arguments: object, dtype: object = None, **_rest: object) -> object:
    wanted = dtype, *arguments[:2]
    chosen = DTYPES[_dtype(*wanted)]
    return x.astype(chosen) if isinstance(x, np.ndarray) and any(type(one) is int for one in wanted) else x


# ---- questions about values ----


@operation("size")
def _size(b: Builder, x: Shaped, dim: object = None) -> object:
    shape = list(x.shape)
    return shape if dim is None else shape[axis_of(dim, len(shape))]


@operation("prim.layout prim.requires_grad prim.is_cuda is_floating_point is_grad_enabled")
def _layout(b: Builder, x: object = None) -> None:
    raise refuse("a question about layout, gradients or devices")


@operation("item Int Float FloatImplicit IntImplicit ScalarImplicit")
def _item(b: Builder, x: object) -> object:
    if isinstance(x, Rows | Unknown):
        return x
    if not plain(x) or np.size(x) != 1:
        raise refuse("a single number of a value")
    return np.asarray(x).item()


def _comparison(function: Callable[[float, float], bool]) -> Function:
    def compare(b: Builder, x: object, y: object) -> bool:
        if not isinstance(x, bool | int | float) or not isinstance(y, bool | int | float):
            raise refuse("a comparison with what differs from row to row")
        return function(x, y)

    return compare


for _name in ("lt", "le", "gt", "ge"):
    operation(_name)(_comparison(getattr(operator, _name)))


def _truth(x: object) -> bool:
    if not isinstance(x, bool):
        raise refuse("a condition that differs from row to row")
    return x


@operation("prim.RaiseException")
def _raise(b: Builder, text: object = "", *_kind: object) -> None:
    raise refuse(f"a forward pass that raises an error, {str(text)[:200]!r},")


# ---- all others ----

# parameters have PyTorch's names
SIMPLE: dict[str, Function] = {
    "mul mul_ multiply": lambda b, x, y: arithmetic(b, "mul", x, y),
    "rsub": lambda b, x, y, alpha=1: _sub(b, y, x, alpha),
    "addcmul": lambda b, x, y, z, value=1: _add(b, x, arithmetic(b, "mul", y, z), value),
    "square square_": lambda b, x: arithmetic(b, "mul", x, x),
    "rsqrt": lambda b, x: elementwise(b, "reciprocal", elementwise(b, "sqrt", x)),
    "hardtanh hardtanh_": lambda b, x, min_val=-1.0, max_val=1.0: b.unary("clamp", x, min_val, max_val),
    "clamp_min clamp_min_": lambda b, x, min: arithmetic(b, "maximum", x, min),
    "clamp_max clamp_max_": lambda b, x, max: arithmetic(b, "minimum", x, max),
    "relu6 relu6_": lambda b, x: b.unary("clamp", x, 0.0, 6.0),
    "selu selu_": lambda b, x: b.selu(x),
    "celu celu_": lambda b, x, alpha=1.0: b.binary("mul", b.unary("elu", b.binary("div", x, alpha), 1.0), alpha),
    "leaky_relu leaky_relu_": lambda b, x, negative_slope=0.01: b.unary("leaky_relu", x, negative_slope),
    "silu silu_": lambda b, x: b.gated(x, "sigmoid", x),
    "mish mish_": lambda b, x: b.gated(x, "tanh", b.unary("softplus", x, 1.0)),
    "log_sigmoid": lambda b, x: b.unary("neg", b.unary("softplus", b.unary("neg", x), 1.0)),
    "hardsigmoid hardsigmoid_": _hardsigmoid,
    "hardswish hardswish_": lambda b, x: b.binary("mul", x, _hardsigmoid(b, x)),
    "gelu gelu_": lambda b, x, approximate="none": b.gelu(x, approximate),
    "linear": lambda b, x, weight, bias=None: b.linear(x, weight, bias),
    "view reshape _unsafe_view": lambda b, x, shape: b.reshape(x, ints(shape)),
    "unsqueeze": lambda b, x, dim: b.unsqueeze(x, [dim]),
    "permute": lambda b, x, dims: b.transpose(x, dims),
    "narrow": lambda b, x, dim, start, length: _slice(b, x, dim, start, start + length),
    "t numpy_T": lambda b, x: x if len(x.shape) < 2 else _transpose(b, x, 0, 1),
    "stack": lambda b, values, dim=0: _cat(b, [b.unsqueeze(one, [dim]) for one in values], dim),
    "expand_as": lambda b, x, other: _expand(b, x, list(other.shape)),
    "contiguous detach alias detach_": lambda b, x, memory_format=None: x,
    "dim": lambda b, x: len(x.shape),
    "len": lambda b, x: len(x) if isinstance(x, list | tuple | str) else x.shape[0],
    "prim.dtype": lambda b, x: 7 if isinstance(x, np.ndarray) and x.dtype == np.float64 else 6,
    "prim.device device": lambda b, *x: "cpu",
    "prim.NumToTensor list prim.unchecked_unwrap_optional scalar_tensor tensor": lambda b, x, **rest: x,
    "zeros": lambda b, shape, **rest: _full(b, shape, 0.0, **rest),
    "ones": lambda b, shape, **rest: _full(b, shape, 1.0, **rest),
    "full_like": lambda b, x, value, **rest: _full(b, list(x.shape), value, **rest),
    "zeros_like": lambda b, x, **rest: _full(b, list(x.shape), 0.0, **rest),
    "ones_like": lambda b, x, **rest: _full(b, list(x.shape), 1.0, **rest),
    "eq": lambda b, x, y: same(x, y),
    "ne": lambda b, x, y: not same(x, y),
    "__is__": lambda b, x, y: x is y,
    "__isnot__": lambda b, x, y: x is not y,
    "__not__": lambda b, x: not _truth(x),
    "__and__": lambda b, x, y: _truth(x) and _truth(y),
    "__or__": lambda b, x, y: _truth(x) or _truth(y),
    "__contains__": lambda b, values, x: any(same(one, x) for one in values),
    "format": lambda b, text, *values: str(text)[:200],
    "warn": lambda b, *values: None,
}
for _names, _simple in SIMPLE.items():
    # errors of wrong arguments contain it
    _simple.__name__ = _names.partition(" ")[0]
    operation(_names)(_simple)


def perform(b: Builder, name: str, arguments: list[object], named: dict[str, object]) -> object:
    """The result of an operation by its name; a `NetworkError` if it is not listed, or takes other arguments."""
    if name not in OPERATIONS:
        raise refuse(f"operation {name[:100]}")
    given = [*arguments, *named.values()]
    if name not in OF_STATES and any(isinstance(one, State) for one in given):
        raise refuse(f"operation {name} of the hidden state")
    if name not in QUESTIONS:
        b.use(given)
    writes = name.endswith("_") and not name.endswith("__")
    return (_write if writes else _perform)(b, name, arguments, named)


def _write(b: Builder, name: str, arguments: list[object], named: dict[str, object]) -> Value:
    """Write into the first argument, which changes for all its names."""
    target = arguments[0] if arguments else None
    if not isinstance(target, Value) or target.shared:
        raise refuse(f"operation {name}, which writes into a value that is used elsewhere,")
    result = _perform(b, name, arguments, named)
    if not isinstance(result, Value) or result.shape != target.shape:
        raise refuse(f"operation {name}, which changes the shape of its value in place,")
    target.source = result.source
    return target


def _perform(b: Builder, name: str, arguments: list[object], named: dict[str, object]) -> object:
    try:
        result = OPERATIONS[name](b, *arguments, **named)
        b.count([result])
        return result
    except NetworkError as error:
        raise error if REMEDY in str(error) else NetworkError(f"operation {name} {error} {REMEDY}") from None
    except (TypeError, AttributeError, ValueError, IndexError, ArithmeticError, KeyError) as error:
        raise refuse(f"operation {name} with these arguments ({str(error)[:200]})") from error
