"""A network as read from its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from .network import Network
from .torch_network import TorchNetwork


@dataclass(frozen=True, eq=False)
class Checkpoint:
    """A network and its metadata."""

    network: Network | TorchNetwork  # a `TorchNetwork` is run by Torch, and its operations are not known
    metadata: Mapping[str, object]  # as JSON holds them: `model_type`, `input_order`, `input_idx`, scales, …
    format: str  # "onnx", "safetensors", "torchscript", "pt2" or "state dict"
    digest: str  # SHA-256 of the file, hexadecimal


class CheckpointPath(str):
    """The path of a file, with the checkpoint that was read from it, so that it is not read again."""

    __slots__ = ("checkpoint",)
    checkpoint: Checkpoint

    def __new__(cls, path: str, checkpoint: Checkpoint) -> Self:
        """Return the path."""
        made = super().__new__(cls, path)
        made.checkpoint = checkpoint
        return made

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (str(self), self.checkpoint)
