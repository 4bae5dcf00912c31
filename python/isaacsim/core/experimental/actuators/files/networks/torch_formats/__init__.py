"""Readers of the files that PyTorch writes: TorchScript, torch.export (`.pt2`) and state dicts, all read as data.

`read` is the only way in. It is imported when a file begins as one of these does, and by nothing else.
"""

from __future__ import annotations

from collections.abc import Mapping

from ....base.errors import NetworkError
from ....laws.networks.network import Network
from ..trust import NeedsTorchError
from . import exported, state_dict, torchscript
from .archive import Archive, entry_names
from .unpickle import load

FORMATS = {"pt2": exported, "torchscript": torchscript, "state dict": state_dict}


def read(data: bytes, metadata: Mapping[str, object]) -> tuple[Network, dict[str, object], str] | None:
    """The network of a file, its metadata, and the name of its format; None for no file of PyTorch.

    `metadata` goes before that of a state dict, which alone does not determine a network. A `NetworkError` says that
    the file cannot be read, a `NeedsTorchError` that PyTorch may be able to run it.
    """
    form = next((form for form, reader in FORMATS.items() if reader.matches(data)), None)
    try:
        if form == "state dict":
            return *state_dict.read(data, dict(metadata)), form
        return (*FORMATS[form].read(data), form) if form else None
    except NetworkError as error:
        if form is not None and _holds_code(form, data):
            raise NeedsTorchError(str(error), form) from error
        raise


def _holds_code(form: str, data: bytes) -> bool:
    """True if PyTorch might run something in the file; it runs no tensors."""
    if data.startswith(state_dict.LEGACY):
        return True
    if form != "state dict":
        return bool(entry_names(data))
    try:
        archive = Archive(data)
        pickled = archive.read("data.pkl")
    except NetworkError:
        return False
    try:
        load(pickled, lambda key: archive.read(f"data/{key}"))
    except NetworkError:
        return True
    return False
