"""Arrays as tensors of Torch, for peers that compute with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    import torch  # pyright: ignore[reportMissingImports]


def tensor(values: np.ndarray) -> torch.Tensor:
    """Return a copy of an array as a tensor, as peers may write into it."""
    import torch  # pyright: ignore[reportMissingImports]

    return torch.from_numpy(values.copy())
