"""From a file to a checkpoint: bounded reading, metadata beside the file, and one copy of the numbers in memory."""

from __future__ import annotations

import hashlib
import os
import stat
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from weakref import WeakValueDictionary

from ..errors import NetworkError
from ..specs.arguments import path_of
from .checkpoint import Checkpoint
from .read import LARGEST, read_checkpoint
from .torch_network import TorchNetwork
from .trust import is_trusted

# networks in use, by the bytes they were read from and whether Torch runs those
_known: WeakValueDictionary[tuple[str, str, bool], Checkpoint] = WeakValueDictionary()


class NoSuchNetworkError(NetworkError, FileNotFoundError):
    """There is no file of a network at that path."""


def load_checkpoint(
    path: str | os.PathLike[str], metadata: Mapping[str, Any] | None = None, trusted: bool = False
) -> Checkpoint:
    """Read the file of a network as data; nothing in it runs, unless it is trusted and not recognised.

    Args:
        path: Any format, decided by content; 64 MB at most.
        metadata: Goes before what the file says; a JSON object in `NAME.json` beside `NAME.onnx` does too.
        trusted: Whether Torch may run what is not recognised; a path given to `trust_checkpoints` is trusted too.

    Raises:
        NetworkError: A `ValueError`; the file holds no network that can be computed here.
        OSError: There is no such file, which is a `NetworkError` too, or it cannot be read.
    """
    path = path_of("path", path)
    beside = sidecar_of(str(path))
    sidecar = read_file(beside) if beside and os.path.lexists(beside) else None
    # what is read is what was asked about, whatever becomes of a link
    real = os.path.realpath(path)
    try:
        data = read_file(real)
    except FileNotFoundError as error:
        raise NoSuchNetworkError(f"{path} does not exist: must be the path of a network file. Correct it.") from error
    return checkpoint_of(data, str(path), sidecar, metadata, trusted or is_trusted(real), os.path.dirname(real))


def load_metadata(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return what the file of a network says about it, with what a JSON file beside it adds.

    Raises:
        NetworkError: A `ValueError`; the file holds no network that can be computed here.
        OSError: There is no such file, or it cannot be read.
    """
    return dict(load_checkpoint(path).metadata)


def checkpoint_of(
    data: bytes,
    name: str,
    sidecar: bytes | None = None,
    metadata: Mapping[str, Any] | None = None,
    trusted: bool = False,
    folder: str | None = None,
) -> Checkpoint:
    """Return the checkpoint in the bytes of a file; the same bytes give the same one as long as it is in use.

    Args:
        data: The bytes.
        name: What errors call them.
        sidecar: Bytes of the JSON file beside it, if any.
        metadata: Goes before either.
        trusted: Whether Torch may run what is not recognised. What Torch runs is shared among those who trust only.
        folder: Real path of the folder whose files may hold numbers of the network; None: no file may.

    Raises:
        NetworkError: They hold no network that can be computed here.
    """
    digests = hashlib.sha256(data).hexdigest(), hashlib.sha256(sidecar).hexdigest() if sidecar is not None else ""
    # what was read as data comes first, and is everybody's
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
        # other numbers may stand there the next time
        whole = hashlib.sha256(b"".join([data, *parts.values()])).hexdigest()
        return replace(found, digest=whole)
    if not metadata:
        _known[(*digests, isinstance(found.network, TorchNetwork))] = found
    return found


def read_part(folder: str, location: str) -> bytes:
    """Read a file that another one in `folder` names, by its path from there; no link may lead out.

    Raises:
        ValueError: It is not below the folder, no regular file, or too large.
        OSError: There is no such file, or it cannot be read.
    """
    path = os.path.realpath(os.path.join(folder, location))
    odd = not location or os.path.isabs(location) or ".." in location.replace("\\", "/").split("/")
    if odd or not Path(path).is_relative_to(folder):
        raise ValueError("must be a relative path to a file in the folder of the network, links resolved")
    return read_file(path, follow=False)


def sidecar_of(name: str) -> str | None:
    """Where metadata stand beside a file: `knee.json` for `knee.onnx`; None for a file that is called so itself."""
    stem, extension = os.path.splitext(name)
    return None if extension.lower() == ".json" else f"{stem}.json"


def read_file(path: str | os.PathLike[str], *, follow: bool = True) -> bytes:
    """Read a regular file whole, of a symbolic link what it leads to only if asked to follow it.

    Raises:
        ValueError: It is none, or larger than `LARGEST`.
        OSError: There is no such file, or it cannot be read.
    """
    # a pipe would wait for its other end
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
    """Raise a `ValueError` for a file of more bytes than may be read."""
    if size > LARGEST:
        raise ValueError(f"{name} has {size} bytes: must be at most {LARGEST}. Use a smaller network.")
