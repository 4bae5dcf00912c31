"""Networks with random numbers that between them use every operation."""

import numpy as np
from isaacsim.core.experimental.actuators.laws.networks import network

NUMBERS = {"alpha": 0.75, "beta": 2.0, "slope": 0.125, "lower": -0.5, "upper": 0.25}


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Float32 numbers around zero."""
    return np.random.default_rng([seed, *shape]).normal(scale=0.7, size=shape).astype(np.float32)


def mlp(*hidden: network.Operation | str, inputs: int = 6, width: int = 5) -> network.Network:
    operations: list[network.Operation] = [network.Linear(0, numbers(width, inputs), numbers(width, seed=1))]
    for function in hidden:
        if isinstance(function, str):
            taken = tuple(NUMBERS[name] for name in network.UNARY[function])
            operations.append(network.Unary(function, len(operations), taken))
        else:
            operations.append(function)
    operations.append(network.Linear(len(operations), numbers(1, width, seed=2), numbers(1, seed=3)))
    return network.Network(inputs, tuple(operations))


def with_binary(function: str) -> network.Network:
    """A function of a value and numbers that stand there, in both orders, and of two values."""
    operations = (
        network.Constant(np.array([2.0, 0.25, 3.0], np.float32)),
        network.Slice(0, 0, 3),
        network.Unary("abs", 2),
        network.Unary("sigmoid", 3),
        network.Binary(function, 4, 1),
        network.Binary(function, 1, 5),
        network.Constant(np.array([1.5], np.float32)),
        network.Binary(function, 6, 7),
        network.Binary(function, 4, 8),
        network.Linear(9, numbers(1, 3), numbers(1)),
    )
    return network.Network(6, operations)


def recurrent(kind: str, layers: int, hidden: int = 4) -> network.Network:
    """Scaled inputs, recurrent layers and a head, its output scaled by 20."""
    scales = network.Constant(np.array([2.0, 0.25], np.float32))
    operations: list[network.Operation] = [scales, network.Binary("mul", 0, 1)]
    for layer in range(layers):
        gates = hidden * (4 if kind == "lstm" else 3)
        weights = numbers(gates, hidden if layer else 2, seed=layer), numbers(gates, hidden, seed=layer + 9)
        biases = [numbers(gates, seed=layer + seed) for seed in (20, 30)]
        source = len(operations)
        if kind == "lstm":
            operations.append(network.LSTMCell(source, layer, *weights, biases[0]))
        else:
            operations.append(network.GRUCell(source, layer, *weights, *biases))
    last = len(operations)
    operations += [
        network.Linear(last, numbers(3, hidden), numbers(3)),
        network.Unary("tanh", last + 1),
        network.Concatenate((last + 2, 0)),
        network.Linear(last + 3, numbers(1, 5), numbers(1)),
        network.Constant(np.array([20.0], np.float32)),
        network.Binary("mul", last + 4, last + 5),
    ]
    return network.Network(2, tuple(operations))


NETWORKS = {
    **{function: mlp(*(() if function not in ("log", "sqrt") else ("abs",)), function) for function in network.UNARY},
    **{function: with_binary(function) for function in network.BINARY},
    **{f"{kind} {layers}": recurrent(kind, layers) for kind in ("lstm", "gru") for layers in (1, 2, 3)},
    "mlp": mlp("softsign"),
}
