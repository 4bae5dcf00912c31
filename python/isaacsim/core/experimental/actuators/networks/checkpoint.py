"""What is read from the file of a network."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

from .network import Network
from .torch_network import TorchNetwork


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A network and what its file says about it.

    Args:
        network: What it computes; a `TorchNetwork` is run and not known.
        metadata: What the file says besides, as JSON has it: `model_type`, `input_order`, `input_idx`, scales, …
        format: "onnx", "safetensors", "torchscript", "pt2" or "state dict".
        digest: SHA-256 of the file, hexadecimal.
    """

    network: Network | TorchNetwork
    metadata: dict[str, Any]
    format: str
    digest: str


class CheckpointPath(str):
    """The path of a file, with the network that was read from it: who takes it need not read again.

    Args:
        path: The path.
        checkpoint: What was read.
    """

    __slots__ = ("checkpoint",)
    checkpoint: Checkpoint

    def __new__(cls, path: str, checkpoint: Checkpoint) -> Self:
        """Return the path."""
        made = super().__new__(cls, path)
        made.checkpoint = checkpoint
        return made

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (str(self), self.checkpoint)
