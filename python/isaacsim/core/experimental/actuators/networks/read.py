"""The one way from the bytes of a checkpoint to a network, whatever the format."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..errors import NetworkError
from . import exported, onnx, safetensors, state_dict, torchscript, trust
from .checkpoint import Checkpoint
from .metadata import check_metadata, read_sidecar
from .torch_network import can_run, load_with_torch

LARGEST = 64 * 2**20
# ONNX last: it begins with two bytes that are hardly a magic number
FORMATS = {
    "safetensors": safetensors,
    "pt2": exported,
    "torchscript": torchscript,
    "state dict": state_dict,
    "onnx": onnx,
}


def read_checkpoint(
    data: bytes,
    name: str,
    *,
    metadata: Mapping[str, Any] | None = None,
    sidecar: bytes | None = None,
    trusted: bool = False,
    beside: Callable[[str], bytes] | None = None,
) -> Checkpoint:
    """A network and its metadata, read as data: nothing in the file runs, unless it is trusted and not recognised.

    The format is what the file begins with; its name decides nothing.

    Args:
        data: The whole file, 64 MB at most.
        name: What errors call it.
        metadata: Metadata that the file lacks or has wrong; they
            go before the sidecar's, and those before the file's.
        sidecar: A JSON file of metadata, as it lies beside the checkpoint.
        trusted: Whether Torch may run what cannot be read.
        beside: What reads another file that this one keeps numbers in, by its path from here; None: nothing does.

    Raises:
        NetworkError: The file is of no known format, damaged or too large, computes something that cannot be read, or
            its metadata do not fit it.
    """
    try:
        if len(data) > LARGEST:
            raise NetworkError(f"{len(data)} bytes: must be {LARGEST} at most. Use a smaller network.")
        kind = next((kind for kind, reader in FORMATS.items() if reader.matches(data)), None)
        if kind is None:
            raise NetworkError(unrecognised(data))
        given = {**(read_sidecar(sidecar, "sidecar") if sidecar is not None else {}), **(metadata or {})}
        try:
            # tensors by name do not tell what stands between them; metadata do
            if kind in ("safetensors", "state dict"):
                network, own = FORMATS[kind].read(data, given)
            elif kind == "onnx":
                network, own = onnx.read(data, beside)
            else:
                network, own = FORMATS[kind].read(data)
        except NetworkError as error:
            if not can_run(kind, data):
                raise
            if not trusted:
                raise NetworkError(f"{error} {trust.REMEDY}") from error
            try:
                network, own = load_with_torch(kind, data, given)
            except NetworkError as second:
                raise NetworkError(f"{second} It cannot be read as data either: {error}") from second
        merged = {**own, **given}
        check_metadata(merged, network)
    except NetworkError as error:
        # remedies name it too
        file = os.path.basename(name) or name
        told = re.sub(r"\b(Correct|Write|Copy) the file\b", lambda found: f"{found[1]} {file}", str(error))
        raise NetworkError(f"{name}: {told}") from (error.__cause__ or error)
    # whatever else a hostile file makes fail is one error too
    except Exception as error:
        raise NetworkError(f"{name}: {error!r:.200}: cannot be read. Save the network again.") from error
    return Checkpoint(network, merged, kind, hashlib.sha256(data).hexdigest())


def unrecognised(data: bytes) -> str:
    """What to say of a file of no known format."""
    begins = {
        b"PK\3\4": "a zip file, but none that PyTorch writes",
        b"\x80": "a Python pickle",
        b"version https://git-lfs": "a pointer to a file that Git LFS has not fetched",
        b"\x89HDF": "an HDF5 file",
        b"<": "a web page or XML",
        b"{": "JSON",
    }
    what = next((what for start, what in begins.items() if data.startswith(start)), None)
    what = what or (f"a file that begins with {data[:8]!r}" if data else "an empty file")
    return (
        f"is {what}: must be ONNX, safetensors, TorchScript, torch.export or a state dict of PyTorch. "
        "Convert it where it was made: torch.onnx.export(net, inputs, 'net.onnx')."
    )
