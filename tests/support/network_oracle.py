"""What a network computes, in NumPy's float64, from the formulas in the docstrings and not from an evaluator."""

import numpy as np
from isaacsim.core.experimental.actuators.laws.networks import network as network_module


def erf(x: np.ndarray) -> np.ndarray:
    """The error function, by its series near zero and the continued fraction of its complement elsewhere."""
    x = np.asarray(x, np.float64)
    small = np.clip(x, -2.5, 2.5)
    term, total = small.copy(), small.copy()
    for k in range(1, 60):
        term = -term * small**2 / k
        total = total + term / (2 * k + 1)
    large = np.maximum(np.abs(x), 2.5)
    fraction = np.zeros_like(large)
    for k in range(60, 0, -1):
        fraction = k / 2 / (large + fraction)
    complement = np.exp(-(large**2)) / (np.sqrt(np.pi) * (large + fraction))
    return np.where(np.abs(x) < 2.5, 2 / np.sqrt(np.pi) * total, np.sign(x) * (1 - complement))


def sigmoid(x: np.ndarray) -> np.ndarray:
    """1 / (1 + exp(-x)), without overflow."""
    return np.exp(-np.logaddexp(0.0, -x))


def unary(function: str, numbers: tuple[float, ...], x: np.ndarray) -> np.ndarray:
    match function, numbers:
        case "abs", ():
            return np.abs(x)
        case "clamp", (lower, upper):
            return np.minimum(np.maximum(x, lower), upper)
        case "elu", (alpha,):
            return np.where(x > 0, x, alpha * np.expm1(np.minimum(x, 0.0)))
        case "erf", ():
            return erf(x)
        case "exp", ():
            return np.exp(x)
        case "leaky_relu", (slope,):
            return np.where(x > 0, x, slope * x)
        case "log", ():
            return np.log(x)
        case "neg", ():
            return -x
        case "reciprocal", ():
            return 1.0 / x
        case "relu", ():
            return np.maximum(x, 0.0)
        case "sigmoid", ():
            return sigmoid(x)
        case "sign", ():
            return np.sign(x)
        case "softplus", (beta,):
            return np.logaddexp(0.0, beta * x) / beta
        case "softsign", ():
            return x / (1.0 + np.abs(x))
        case "sqrt", ():
            return np.sqrt(x)
        case "tanh", ():
            return np.tanh(x)
    raise ValueError(f"{function}{numbers}")


BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide, "pow": np.power}
BINARY |= {"minimum": np.minimum, "maximum": np.maximum}


def evaluate(
    network: network_module.Network, x: np.ndarray, hidden: np.ndarray | None = None, cell: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """One step of a network: outputs `(rows,)`, and new hidden and cell states `(num_layers, rows, hidden_size)`."""
    rows = len(x)
    shape = (network.num_layers, rows, network.hidden_size)
    old_h = np.zeros(shape) if hidden is None else np.asarray(hidden, np.float64)
    old_c = np.zeros(shape) if cell is None else np.asarray(cell, np.float64)
    new_h, new_c = old_h.copy(), old_c.copy()
    values = [np.asarray(x, np.float64)]

    def numbers(array: np.ndarray) -> np.ndarray:
        return array.astype(np.float64)

    for operation in network.operations:
        match operation:
            case network_module.Constant(array):
                value = np.tile(numbers(array), (rows, 1))
            case network_module.Linear(source, weight, bias):
                value = values[source] @ numbers(weight).T + numbers(bias)
            case network_module.Unary(function, source, parameters):
                value = unary(function, parameters, values[source])
            case network_module.Binary(function, first, second):
                value = BINARY[function](values[first], values[second])
            case network_module.Concatenate(sources):
                value = np.concatenate([values[source] for source in sources], axis=1)
            case network_module.Slice(source, start, stop):
                value = values[source][:, start:stop]
            case network_module.LSTMCell(source, layer, weight_ih, weight_hh, bias):
                gates = values[source] @ numbers(weight_ih).T + old_h[layer] @ numbers(weight_hh).T + numbers(bias)
                i, f, g, o = np.split(gates, 4, axis=1)
                new_c[layer] = sigmoid(f) * old_c[layer] + sigmoid(i) * np.tanh(g)
                value = new_h[layer] = sigmoid(o) * np.tanh(new_c[layer])
            case network_module.GRUCell(source, layer, weight_ih, weight_hh, bias_ih, bias_hh):
                of_input = np.split(values[source] @ numbers(weight_ih).T + numbers(bias_ih), 3, axis=1)
                of_hidden = np.split(old_h[layer] @ numbers(weight_hh).T + numbers(bias_hh), 3, axis=1)
                r, z = sigmoid(of_input[0] + of_hidden[0]), sigmoid(of_input[1] + of_hidden[1])
                n = np.tanh(of_input[2] + r * of_hidden[2])
                value = new_h[layer] = (1.0 - z) * n + z * old_h[layer]
        values.append(value)
    return values[-1][:, 0], new_h, new_c
