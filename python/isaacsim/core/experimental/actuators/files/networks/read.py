"""Reading a network from the bytes of a checkpoint of any format."""

from __future__ import annotations

import hashlib
import os
import re
from collections.abc import Callable, Mapping

from ...base.errors import NetworkError
from ...laws.networks.checkpoint import Checkpoint
from ...laws.networks.metadata import check_metadata, read_sidecar
from ...laws.networks.network import Network
from ...laws.networks.torch_network import TorchNetwork, load_with_torch
from . import onnx, safetensors, trust

LARGEST = 64 * 2**20
# a zip file or a pickle
TORCH = (b"PK\3\4", b"\x80\x02")


def read_checkpoint(
    data: bytes,
    name: str,
    *,
    metadata: Mapping[str, object] | None = None,
    sidecar: bytes | None = None,
    trusted: bool = False,
    beside: Callable[[str], bytes] | None = None,
) -> Checkpoint:
    """Return a network and its metadata, read as data: nothing in the file runs, unless it is trusted and needs Torch.

    The first bytes of the file decide its format, not its name.

    Args:
        data: The whole file, 64 MB at most.
        name: Name of the file in errors.
        metadata: Metadata that go before the sidecar's, which go before the file's.
        sidecar: The JSON file of metadata beside the checkpoint.
        trusted: Whether Torch may run a file that cannot be read.
        beside: Reads another file in which this one keeps numbers, by its relative path; None if there is none.

    Raises:
        NetworkError: The file is of no known format, damaged or too large, computes something that cannot be read, or
            its metadata do not fit it.
    """
    try:
        if len(data) > LARGEST:
            raise NetworkError(f"{len(data)} bytes: must be {LARGEST} at most. Use a smaller network.")
        given = {**(read_sidecar(sidecar, "sidecar") if sidecar is not None else {}), **(metadata or {})}
        network, own, form = _read(data, given, trusted, beside)
        merged = {**own, **given}
        check_metadata(merged, network)
    except NetworkError as error:
        # remedies name the file too
        file = os.path.basename(name) or name
        text = re.sub(r"\b(Correct|Write|Copy) the file\b", lambda found: f"{found[1]} {file}", str(error))
        subject, colon, rule = text.partition(": must ")
        # newton names the key first, and programs match that
        is_of_key = bool(colon) and subject.startswith("metadata ")
        words = f"{subject} in {name}{colon}{rule}" if is_of_key else f"{name}: {text}"
        raise NetworkError(words) from (error.__cause__ or error)
    # a hostile file may fail in any other way
    except Exception as error:
        raise NetworkError(f"{name}: {error!r:.200}: cannot be read. Save the network again.") from error
    return Checkpoint(network, merged, form, hashlib.sha256(data).hexdigest())


def _read(
    data: bytes, given: Mapping[str, object], trusted: bool, beside: Callable[[str], bytes] | None
) -> tuple[Network | TorchNetwork, dict[str, object], str]:
    """The network, the metadata of the file, and the name of the format."""
    try:
        return _read_as_data(data, given, beside)
    except trust.NeedsTorchError as error:
        if not trusted:
            raise NetworkError(f"{error} {trust.REMEDY}") from error.__cause__
        try:
            return (*load_with_torch(error.form, data, given), error.form)
        except NetworkError as second:
            raise NetworkError(f"{second} It cannot be read as data either: {error}") from second


def _read_as_data(
    data: bytes, given: Mapping[str, object], beside: Callable[[str], bytes] | None
) -> tuple[Network, dict[str, object], str]:
    if safetensors.matches(data):
        return (*safetensors.read(data, given), "safetensors")
    if data.startswith(TORCH):
        from . import torch_formats

        if found := torch_formats.read(data, given):
            return found
    # last, for it begins with two bytes that are hardly a magic number
    if onnx.matches(data):
        return (*onnx.read(data, beside), "onnx")
    raise NetworkError(unrecognised(data))


def unrecognised(data: bytes) -> str:
    """Return the error text for a file of no known format."""
    begins = {
        b"PK\3\4": "a zip file, but none that PyTorch writes",
        b"\x80": "a Python pickle",
        b"version https://git-lfs": "a pointer to a file that Git LFS has not fetched",
        b"\x89HDF": "an HDF5 file",
        b"<": "a web page or XML",
        b"{": "JSON",
    }
    what = next((what for start, what in begins.items() if data.startswith(start)), None)
    # never its content: whoever names a file may not be allowed to read it
    what = what or ("of no known format" if data else "an empty file")
    return (
        f"is {what}: must be ONNX, safetensors, TorchScript, torch.export or a state dict of PyTorch. "
        "Convert it where it was made: torch.onnx.export(net, inputs, 'net.onnx')."
    )
