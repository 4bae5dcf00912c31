"""A `.pt` file that holds tensors by name: a network is made of them only where names and shapes leave no doubt."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from ..errors import NetworkError
from .network import GRUCell, LSTMCell, Network
from .torch_archive import Archive, entry_names
from .torch_pickle import json_of, load
from .torchscript_operations import perform
from .torchscript_values import ROWS, Builder, State, Tensor

# how torch.save began its files before version 1.6
LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9\x20j\xa8P\x19."
# of layers within layers
LONGEST_NAME = 512
WRAPPERS = ("model_state_dict", "state_dict", "model")

ACTIVATIONS = (
    *("elu", "gelu", "leaky_relu", "relu", "relu6", "selu", "sigmoid", "silu", "softplus", "softsign", "tanh"),
    "identity",
)
RECURRENT = {"lstm": (LSTMCell, 4, "hc"), "gru": (GRUCell, 3, "h")}


def matches(data: bytes) -> bool:
    """Is this what `torch.save` writes of tensors by name, by its entries?"""
    names = entry_names(data)
    if not names:
        return data.startswith(LEGACY) or (data.startswith(b"PK\3\4") and b"/data.pkl" in data[:1024])
    return "data.pkl" in names and "constants.pkl" not in names


def read(data: bytes, metadata: dict[str, Any] | None = None) -> tuple[Network, dict[str, Any]]:
    """The network of a state dict, and its metadata.

    The file holds tensors by name, or a dict of `"model"` or `"state_dict"`, these tensors, and `"metadata"`. Layers
    are a sequence of linear ones (`0.weight`, `0.bias`, `2.weight` …), after an LSTM or GRU (`lstm.weight_ih_l0` …)
    where there is one. What stands between linear layers no tensor tells: `activation` of the metadata does, and
    `output_activation`, "identity" by default, what comes after the last one.

    Args:
        data: Bytes of the file.
        metadata: What to add to the file's own.

    Raises:
        NetworkError: The file is damaged or too large, holds anything but tensors and plain values, or does not tell
            its network.
    """
    try:
        return _read(data, metadata or {})
    except NetworkError:
        raise
    except Exception as error:  # whatever a hostile file makes fail is one error
        raise NetworkError(f"file is no state dict that can be read ({error!r}). Save it anew.") from error


def _read(data: bytes, metadata: dict[str, Any]) -> tuple[Network, dict[str, Any]]:
    if data.startswith(LEGACY):
        raise NetworkError("file was saved before PyTorch 1.6: must be newer. Load it and save its state_dict anew.")
    archive = Archive(data)
    held = load(archive.read("data.pkl"), lambda key: archive.read(f"data/{key}"))
    if not isinstance(held, dict):
        raise NetworkError(f"file holds {type(held).__name__}: must be a dict of tensors. Save the state_dict.")
    inner = next((held[name] for name in WRAPPERS if isinstance(held.get(name), dict)), None)
    told: Any = {}
    if inner is not None:
        told = json_of(held.get("metadata") or {})
        if not isinstance(told, dict):
            raise NetworkError("metadata of the file is no dict: must be. Save the file anew.")
    tensors = held if inner is None else inner
    for name, value in tensors.items():
        if not isinstance(name, str) or not isinstance(value, np.ndarray):
            raise NetworkError(f"state dict has {str(name)[:100]!r} = {type(value).__name__}: must be tensors by name.")
    told = {**told, **metadata}
    return network_of(tensors, told), told


def network_of(named: Mapping[str, np.ndarray], told: Mapping[str, Any]) -> Network:
    """The network of tensors by name, see `read`.

    Args:
        named: The tensors.
        told: The metadata.

    Raises:
        NetworkError: They do not tell a network.
    """
    tensors = dict(named)
    if (longest := max(map(len, tensors), default=0)) > LONGEST_NAME:
        raise NetworkError(f"state dict has a name of {longest} letters: must be {LONGEST_NAME} at most.")
    recurrent = _recurrent(tensors)
    layers = _linear(tensors)
    if tensors:
        raise NetworkError(
            f"state dict has {next(iter(tensors))!r:.200}, which no layer known by its name uses (linear, LSTM, GRU). "
            "Convert the network to ONNX, which says what it computes."
        )
    inputs = (recurrent[1][0] if recurrent else layers[0][0]).shape[-1] if recurrent or layers else 0
    if not layers:
        raise NetworkError("state dict has no linear layer: must have one, which gives the output. Use such a network.")
    builder = Builder(inputs)
    x = Tensor(0, (ROWS, inputs))
    if recurrent:
        kind, weights, biases, count = recurrent
        cell, gates, names = RECURRENT[kind]
        states = [State(name, count, weights[1].shape[-1]) for name in names]
        arguments = (weights, biases, count, 0.0, False, False, True)
        y = builder.recur(cell, gates, Tensor(0, (ROWS, 1, inputs)), states, names, arguments)[0]
        x = Tensor(y.node, (ROWS, y.shape[-1]))
    between = _activation(told, "activation", None if len(layers) > 1 else "identity")
    for weight, bias in layers[:-1]:
        x = between(builder, builder.linear(x, weight, bias))
    x = _activation(told, "output_activation", "identity")(builder, builder.linear(x, *layers[-1]))
    return builder.network(x, {})


def _activation(told: Mapping[str, Any], key: str, default: str | None) -> Callable[[Builder, Tensor], Tensor]:
    """What comes after a linear layer."""
    name = told.get(key, default)
    if name is None:
        raise NetworkError(
            f"{key} = nothing: tensors do not tell what stands between layers. Give it as metadata, "
            f'{{"{key}": "elu"}} or another of {", ".join(ACTIVATIONS)}: in a JSON file of the same name beside the '
            "file, or as metadata= of the class of its controller or of convert_checkpoint."
        )
    if not isinstance(name, str) or name.lower() not in ACTIVATIONS:
        raise NetworkError(f"{key} = {str(name)[:100]!r}: must be one of {', '.join(ACTIVATIONS)}.")
    name = name.lower()
    if name == "identity":
        return lambda builder, x: x
    if name == "softsign":
        return lambda builder, x: builder.unary("softsign", x)
    return lambda builder, x: perform(builder, name, [x], {})


def _recurrent(tensors: dict[str, np.ndarray]) -> tuple[str, list[np.ndarray], bool, int] | None:
    """Kind, weights, whether with biases, and number of the recurrent layers; they are taken out of `tensors`."""
    found = [name for name in tensors if re.fullmatch(r"(.*\.)?weight_ih_l0", name)]
    if not found:
        return None
    if len(found) > 1:
        raise NetworkError(f"state dict has several recurrent networks, {', '.join(found)[:200]}: must have one.")
    prefix = found[0].removesuffix("weight_ih_l0")
    own = sorted(name for name in tensors if re.match(r"(weight|bias)_[a-z]+_l\d+", name.removeprefix(prefix)))
    biases = f"{prefix}bias_ih_l0" in tensors
    names = ("weight_ih", "weight_hh", "bias_ih", "bias_hh") if biases else ("weight_ih", "weight_hh")
    count = len(own) // len(names)
    wanted = [f"{prefix}{name}_l{layer}" for layer in range(count) for name in names]
    if sorted(wanted) != own:
        raise NetworkError(f"state dict has {', '.join(own)[:200]}: must be plain layers of one direction.")
    weights = [tensors.pop(name) for name in wanted]
    if any(one.ndim != 2 for one in weights[:: len(names)]) or weights[1].ndim != 2 or not weights[1].shape[1]:
        raise NetworkError(f"{found[0]} and what follows: must be matrices. Save the state_dict anew.")
    gates = weights[1].shape[0] / weights[1].shape[1]
    for kind, (_, number, _) in RECURRENT.items():
        if gates == number:
            return kind, weights, biases, count
    raise NetworkError(f"{prefix}weight_hh_l0 has {gates} gates: must be 4 (LSTM) or 3 (GRU). Convert it to ONNX.")


def _linear(tensors: dict[str, np.ndarray]) -> list[tuple[np.ndarray, np.ndarray | None]]:
    """Weight and bias of the linear layers in their order; they are taken out of `tensors`."""
    names = [name.removesuffix("weight") for name in tensors if re.fullmatch(r"(.*\.)?weight", name)]
    names = [name for name in names if tensors[f"{name}weight"].ndim == 2]
    parts = [re.fullmatch(r"(.*?)(\d*)\.?", name) for name in names]
    sequence = [(part[1], part[2]) for part in parts if part]
    if len(names) > 1 and (len({prefix for prefix, _ in sequence}) > 1 or not all(number for _, number in sequence)):
        raise NetworkError(
            f"state dict has linear layers {', '.join(name.rstrip('.') for name in names)[:200]}: names must tell "
            "their order, as 0, 2, 4 do. Convert the network to ONNX, which says what it computes."
        )
    order = sorted(range(len(names)), key=lambda n: int(sequence[n][1] or 0))
    return [(tensors.pop(f"{names[n]}weight"), tensors.pop(f"{names[n]}bias", None)) for n in order]
