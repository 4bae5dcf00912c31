"""A `.pt` file that `torch.save` wrote of tensors by name, read as data."""

from __future__ import annotations

from typing import Any

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.network import Network
from ..named_tensors import network_of
from .archive import Archive, entry_names, only_our_errors
from .unpickle import json_of, load

# first bytes of files of torch.save before version 1.6
LEGACY = b"\x80\x02\x8a\x0al\xfc\x9cF\xf9\x20j\xa8P\x19."
WRAPPERS = ("model_state_dict", "state_dict", "model")


def matches(data: bytes) -> bool:
    """Return True for a file of `torch.save`, by its entries."""
    names = entry_names(data)
    if not names:
        return data.startswith(LEGACY) or (data.startswith(b"PK\3\4") and b"/data.pkl" in data[:1024])
    return "data.pkl" in names and "constants.pkl" not in names


@only_our_errors("state dict")
def read(data: bytes, metadata: dict[str, object] | None = None) -> tuple[Network, dict[str, object]]:
    """The network of a state dict, see `network_of`, and its metadata, before which those given go.

    The file holds tensors by name, or a dict of `"model"` or `"state_dict"`, these tensors, and `"metadata"`. A
    `NetworkError` says that it is damaged or too large, holds anything but tensors and plain values, or does not
    determine a network.
    """
    if data.startswith(LEGACY):
        raise NetworkError("file was saved before PyTorch 1.6: must be newer. Load it and save its state_dict anew.")
    archive = Archive(data)
    held = load(archive.read("data.pkl"), lambda key: archive.read(f"data/{key}"))
    if not isinstance(held, dict):
        raise NetworkError(f"file holds {type(held).__name__}: must be a dict of tensors. Save the state_dict.")
    inner = [held[name] for name in WRAPPERS if isinstance(held.get(name), dict)]
    own = json_of(held.get("metadata") or {}) if inner else {}
    if not isinstance(own, dict):
        raise NetworkError("metadata of the file is no dict: must be. Save the file anew.")
    merged = {**own, **(metadata or {})}
    return network_of(_checked(inner[0] if inner else held), merged), merged


def _checked(tensors: dict[Any, Any]) -> dict[str, np.ndarray]:
    for name, value in tensors.items():
        if not isinstance(name, str) or not isinstance(value, np.ndarray):
            raise NetworkError(f"state dict has {str(name)[:100]!r} = {type(value).__name__}: must be tensors by name.")
    return tensors
