"""Networks of newton-actuators: a module of the program, which Torch runs, or a file, which is read as data."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

from ...base.errors import shown
from ...files.networks.load import load_checkpoint
from ...laws.networks.checkpoint import Checkpoint
from ...laws.networks.torch_network import TorchNetwork


def checkpoint_of(network: Any, path: str | os.PathLike[str] | None, metadata: Mapping[str, object]) -> Checkpoint:
    """Return the network of the program, or the one in a file."""
    if network is None:
        if path is None:
            raise ValueError("network = None and network_path = None: must be one of them. Give a module or a file.")
        return load_checkpoint(path, metadata)
    if not callable(getattr(network, "parameters", None)):
        raise TypeError(
            f"network = {shown(network)}: must be a module of Torch, not {type(network).__name__}. Give one."
        )
    gradients = [(parameter, parameter.requires_grad) for parameter in network.parameters()]
    taken = TorchNetwork(network, metadata)
    # the program may go on training it
    for parameter, needed in gradients:
        parameter.requires_grad_(needed)
    return Checkpoint(taken, dict(metadata), "torch", "of the program")


def lstm_sizes(network: object) -> dict[str, int]:
    """Return number and width of the LSTM layers of a module.

    Raises:
        ValueError: It has none, or others than can be used.
    """
    layers = getattr(network, "lstm", None)
    if layers is None:
        raise ValueError(f"{type(network).__name__} has no attribute lstm: must be its torch.nn.LSTM. Call it so.")
    rules = {"input_size": 2, "batch_first": True, "bidirectional": False, "proj_size": 0}
    for name, rule in rules.items():
        if getattr(layers, name, rule) != rule:
            raise ValueError(
                f"{type(network).__name__}.lstm.{name} = {getattr(layers, name)}: must be {rule}. Change the network."
            )
    return {name: getattr(layers, name) for name in ("num_layers", "hidden_size")}
