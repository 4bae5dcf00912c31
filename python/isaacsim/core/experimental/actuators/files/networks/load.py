"""Load a checkpoint of any format from a file: bounded reading, metadata beside it, one copy of the numbers."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from weakref import WeakValueDictionary

from ...base.errors import NetworkError
from ...laws.networks.checkpoint import Checkpoint
from ...laws.networks.metadata import check_metadata, read_sidecar
from ...laws.networks.network import Network
from ...laws.networks.torch_network import TorchNetwork, load_with_torch
from ...specs.arguments import path_of
from . import onnx, safetensors, trust
from .trust import is_trusted

# checkpoints in use, by digests of their files and by whether Torch runs them
_known: WeakValueDictionary[tuple[str, str, bool], Checkpoint] = WeakValueDictionary()


class NoSuchNetworkError(NetworkError, FileNotFoundError):
    """No file of a network exists at the path."""


def load_checkpoint(
    path: str | os.PathLike[str], metadata: Mapping[str, object] | None = None, trusted: bool = False
) -> Checkpoint:
    """Read the file of a network as data; nothing in it runs, unless it is trusted and cannot be read.

    Content decides the format, and 64 MB are the limit. `metadata` goes before the metadata of the file, as does a JSON
    object in `NAME.json` beside `NAME.onnx`. Torch may run a file that cannot be read if it is `trusted`, or its path
    was given to `trust_checkpoints`. A `NetworkError`, which is a `ValueError`, says that the file holds no network
    that can be computed here, an `OSError` that it cannot be read, and both that it does not exist.
    """
    path = path_of("path", path)
    beside = sidecar_of(str(path))
    sidecar = read_file(beside) if beside and os.path.lexists(beside) else None
    # resolved once, so that permission and content are those of the same file
    real = os.path.realpath(path)
    try:
        data = read_file(real)
    except FileNotFoundError as error:
        raise NoSuchNetworkError(f"{path} does not exist: must be the path of a network file. Correct it.") from error
    return checkpoint_of(data, str(path), sidecar, metadata, trusted or is_trusted(real), os.path.dirname(real))


def load_metadata(path: str | os.PathLike[str]) -> dict[str, object]:
    """Return the metadata of the file of a network, together with those of a JSON file beside it.

    Raises:
        NetworkError: A `ValueError`; the file holds no network that can be computed here.
        OSError: The file does not exist, or cannot be read.
    """
    return dict(load_checkpoint(path).metadata)


def checkpoint_of(
    data: bytes,
    name: str,
    sidecar: bytes | None = None,
    metadata: Mapping[str, object] | None = None,
    trusted: bool = False,
    folder: str | None = None,
) -> Checkpoint:
    """The checkpoint in the bytes of a file; the same object for the same bytes while it is in use.

    `name` is that of the file in errors, `sidecar` are the bytes of the JSON file beside it, and `metadata` goes before
    those of both. Torch may run a `trusted` file that cannot be read; its checkpoint is shared between trusted calls.
    Files in `folder`, a real path, may hold numbers of the network. A `NetworkError` says that it cannot be computed
    here.
    """
    digests = hashlib.sha256(data).hexdigest(), hashlib.sha256(sidecar).hexdigest() if sidecar is not None else ""
    # a checkpoint that was read as data comes first, and is shared by all calls
    for runs in (False, True)[: 1 + trusted]:
        if not metadata and (known := _known.get((*digests, runs))) is not None:
            return known
    parts: dict[str, bytes] = {}

    def beside(location: str) -> bytes:
        if location not in parts:
            parts[location] = read_part(str(folder), location)
            require_size(len(data) + sum(map(len, parts.values())), name)
        return parts[location]

    given = None if folder is None else beside
    found = read_checkpoint(data, name, metadata=metadata, sidecar=sidecar, trusted=trusted, beside=given)
    if parts:
        # not kept, because the other files may change
        return replace(found, digest=hashlib.sha256(b"".join([data, *parts.values()])).hexdigest())
    if not metadata:
        _known[(*digests, isinstance(found.network, TorchNetwork))] = found
    return found


def read_part(folder: str, location: str) -> bytes:
    """Read a file by its path relative to `folder`.

    A `ValueError` says that it is outside, links resolved, irregular or too large.
    """
    path = os.path.realpath(os.path.join(folder, location))
    odd = not location or os.path.isabs(location) or ".." in location.replace("\\", "/").split("/")
    if odd or not Path(path).is_relative_to(folder):
        raise ValueError("must be a relative path to a file in the folder of the network, links resolved")
    return read_file(path, follow=False)


def sidecar_of(name: str) -> str | None:
    """Return the path of the metadata beside a file, `knee.json` for `knee.onnx`; None for `knee.json` itself."""
    stem, extension = os.path.splitext(name)
    return None if extension.lower() == ".json" else f"{stem}.json"


def read_file(path: str | os.PathLike[str], *, follow: bool = True) -> bytes:
    """Read a whole regular file of `LARGEST` bytes at most, else a `ValueError`; `follow` allows symbolic links."""
    # opening a pipe would wait for its other end
    flags = ["O_RDONLY", "O_NONBLOCK", "O_BINARY", *([] if follow else ["O_NOFOLLOW"])]
    descriptor = os.open(path, sum(getattr(os, flag, 0) for flag in flags))
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise ValueError(f"{Path(path)}: must be a regular file. Give the path of a network file.")
        require_size(status.st_size, str(path))
        with open(descriptor, "rb", closefd=False) as file:
            data = file.read(LARGEST + 1)
        require_size(len(data), str(path))
        return data
    finally:
        os.close(descriptor)


def require_size(size: int, name: str) -> None:
    """Raise a `ValueError` for a file that is larger than `LARGEST`."""
    if size > LARGEST:
        raise ValueError(f"{name} has {size} bytes: must be at most {LARGEST}. Use a smaller network.")


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
    """A network and its metadata, read as data: nothing in the file runs, unless it is trusted and needs Torch.

    The first bytes of the file decide its format, not its name, which is for errors. `metadata` goes before those of
    the sidecar, which go before those of the file. `beside` reads another file in which this one keeps numbers, by its
    relative path. A `NetworkError` says that the file is of no known format, damaged, too large, or computes something
    that cannot be read, or that its metadata do not fit it.
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
    # never its content, which the user may not be allowed to read
    what = what or ("of no known format" if data else "an empty file")
    return (
        f"is {what}: must be ONNX, safetensors, TorchScript, torch.export or a state dict of PyTorch. "
        "Convert it where it was made: torch.onnx.export(net, inputs, 'net.onnx')."
    )
