"""A network made of tensors by name, as a state dict holds them, only where names and shapes determine it.

Names are compared by string methods, whose cost is linear; no regular expression meets a name of a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping

import numpy as np

from ...base.errors import NetworkError
from ...laws.networks.network import GRUCell, LSTMCell, Network
from .tracer import ROWS, Tensor, Tracer, Value

LONGEST_NAME = 512

Activation = Callable[[Tracer, Tensor], Tensor]

ACTIVATIONS: dict[str, Activation] = {
    "elu": lambda to, x: to.unary("elu", x, 1.0),
    "gelu": lambda to, x: to.gelu(x, "none"),
    "leaky_relu": lambda to, x: to.unary("leaky_relu", x, 0.01),
    "relu": lambda to, x: to.unary("relu", x),
    "relu6": lambda to, x: to.unary("clamp", x, 0.0, 6.0),
    "selu": lambda to, x: to.selu(x),
    "sigmoid": lambda to, x: to.unary("sigmoid", x),
    "silu": lambda to, x: to.binary("mul", x, to.unary("sigmoid", x)),
    "softplus": lambda to, x: to.unary("softplus", x, 1.0),
    "softsign": lambda to, x: to.unary("softsign", x),
    "tanh": lambda to, x: to.unary("tanh", x),
    "identity": lambda to, x: x,
}
# number of gates of each
RECURRENT = {4: LSTMCell, 3: GRUCell}


def network_of(named: Mapping[str, np.ndarray], metadata: Mapping[str, object]) -> Network:
    """The network of tensors by name; a `NetworkError` if names, shapes and metadata do not determine one.

    Layers are a sequence of linear ones (`0.weight`, `0.bias`, `2.weight` …), after an LSTM or GRU (`lstm.weight_ih_l0`
    …) if there is one. Metadata hold what tensors do not: `activation`, the function between linear layers, and
    `output_activation`, the one after the last layer, "identity" by default.
    """
    tensors = dict(named)
    if (longest := max(map(len, tensors), default=0)) > LONGEST_NAME:
        raise NetworkError(f"state dict has a name of {longest} letters: must be {LONGEST_NAME} at most.")
    cells = _take_cells(tensors)
    layers = _take_linear(tensors)
    if tensors:
        raise NetworkError(
            f"state dict has {next(iter(tensors))!r:.200}, which no layer known by its name uses (linear, LSTM, GRU). "
            "Convert the network to ONNX, which says what it computes."
        )
    if not layers:
        raise NetworkError("state dict has no linear layer: must have one, which gives the output. Use such a network.")
    inputs = (cells[0][0] if cells else layers[0][0]).shape[-1]
    to = Tracer(inputs)
    x = Value(0, (1, ROWS, inputs))
    for layer, arrays in enumerate(cells):
        to.count(arrays)
        rows, size = arrays[1].shape
        biases = arrays[2:] or [np.zeros(rows, np.float32)] * 2
        x = to.cell(RECURRENT[rows // size], x, layer, *arrays[:2], *biases)
    between = _activation(metadata, "activation", None if len(layers) > 1 else "identity")
    after = _activation(metadata, "output_activation", "identity")
    for number, (weight, bias) in enumerate(layers, 1):
        function = between if number < len(layers) else after
        x = to.value(function(to, _add_linear(to, x, weight, bias)))
    return Network(inputs, tuple(to.operations))


def _activation(metadata: Mapping[str, object], key: str, default: str | None) -> Activation:
    name = metadata.get(key, default)
    if name is None:
        raise NetworkError(
            f"{key} = nothing: tensors do not tell what stands between layers. Give it as metadata, "
            f'{{"{key}": "elu"}} or another of {", ".join(ACTIVATIONS)}: in a JSON file of the same name beside the '
            "file, or as metadata= of the class of its controller or of convert_checkpoint."
        )
    if not isinstance(name, str) or name.lower() not in ACTIVATIONS:
        raise NetworkError(f"{key} = {str(name)[:100]!r}: must be one of {', '.join(ACTIVATIONS)}.")
    return ACTIVATIONS[name.lower()]


def _add_linear(to: Tracer, x: Value, weight: np.ndarray, bias: np.ndarray | None) -> Value:
    rows, columns = weight.shape
    bias = np.zeros(1, np.float32) if bias is None else bias
    if columns != x.width or bias.size not in (1, rows):
        raise NetworkError(f"a linear layer of weight {weight.shape} does not fit a value of shape (rows, {x.width}).")
    to.count([weight, bias])
    return to.linear(x, weight, bias)


def _take_cells(tensors: dict[str, np.ndarray]) -> list[list[np.ndarray]]:
    found = [name for name in tensors if name.rpartition(".")[2] == "weight_ih_l0"]
    if not found:
        return []
    if len(found) > 1:
        raise NetworkError(f"state dict has several recurrent networks, {', '.join(found)[:200]}: must have one.")
    prefix = found[0].removesuffix("weight_ih_l0")
    cells = [[tensors.pop(name) for name in layer] for layer in _cell_names(tensors, prefix)]
    _check_cells(cells, prefix)
    return cells


def _cell_names(tensors: Mapping[str, np.ndarray], prefix: str) -> list[list[str]]:
    own = sorted(name for name in tensors if name.removeprefix(prefix).startswith(("weight_", "bias_")))
    kinds = ["weight_ih", "weight_hh"]
    if f"{prefix}bias_ih_l0" in tensors:
        kinds += ["bias_ih", "bias_hh"]
    wanted = [[f"{prefix}{kind}_l{layer}" for kind in kinds] for layer in range(len(own) // len(kinds))]
    if sorted(itertools.chain(*wanted)) != own:
        raise NetworkError(f"state dict has {', '.join(own)[:200]}: must be plain layers of one direction.")
    return wanted


def _check_cells(cells: list[list[np.ndarray]], prefix: str) -> None:
    weight = cells[0][1]
    if any(one.ndim != 2 for one, *_ in cells) or weight.ndim != 2 or not weight.shape[1]:
        raise NetworkError(f"{prefix}weight_ih_l0 and what follows: must be matrices. Save the state_dict anew.")
    rows, size = weight.shape
    if (gates := rows / size) not in RECURRENT:
        raise NetworkError(f"{prefix}weight_hh_l0 has {gates} gates: must be 4 (LSTM) or 3 (GRU). Convert it to ONNX.")
    for layer, arrays in enumerate(cells):
        wanted = [(rows, arrays[0].shape[1]), (rows, size), (rows,), (rows,)][: len(arrays)]
        if [one.shape for one in arrays] != wanted:
            raise NetworkError(f"layer {layer} has weights of shapes {[one.shape for one in arrays]}.")


def _take_linear(tensors: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Take weight and bias of the linear layers, in their order, out of the tensors."""
    matrices = [name for name, values in tensors.items() if values.ndim == 2]
    paths = [name.removesuffix("weight") for name in matrices if name.rpartition(".")[2] == "weight"]
    stems = [path.removesuffix(".") for path in paths]
    numbers = list(map(_number, stems))
    prefixes = set(map(str.removesuffix, stems, numbers))
    if len(paths) > 1 and (len(prefixes) > 1 or "" in numbers):
        raise NetworkError(
            f"state dict has linear layers {', '.join(stems)[:200]}: names must tell "
            "their order, as 0, 2, 4 do. Convert the network to ONNX, which says what it computes."
        )
    order = sorted(zip(numbers, paths, strict=True), key=lambda one: int(f"0{one[0]}"))
    return [(tensors.pop(f"{path}weight"), tensors.pop(f"{path}bias", None)) for _, path in order]


def _number(name: str) -> str:
    """The digits at the end of a name."""
    return name[len(name.rstrip("0123456789")) :]
