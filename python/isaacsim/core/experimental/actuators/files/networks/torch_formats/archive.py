"""The zip archive that PyTorch writes, opened within bounds: entries are read in memory, none is unpacked to disk."""

from __future__ import annotations

import contextlib
import io
import math
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from ....base.errors import NetworkError
from ....laws.networks.metadata import read_sidecar

METADATA = "extra/metadata.json"
# the checkpoint of an actuator is kilobytes; these bound the cost of a hostile one
MAX_BYTES = 64 << 20
MAX_ENTRIES = 4096
MAX_RATIO = 1000

ENCRYPTED = 0x1 | 0x40 | 0x2000


class Archive:
    """The entries of a PyTorch archive by name, without its top folder.

    A `NetworkError` says that it is no zip file, is truncated, has bytes before or after it, that an entry is
    encrypted, compressed in an unusual way, named twice or outside the top folder, or that the entries are too many or,
    with more than `max_bytes` together, too large.
    """

    def __init__(self, data: bytes, max_bytes: int = MAX_BYTES) -> None:
        self._zip = _opened(data)
        entries = self._zip.infolist()
        if not entries:
            raise NetworkError("archive is empty: must hold a network. Save it anew.")
        _check_ends(data, entries)
        total = sum(entry.file_size for entry in entries)
        if total > max_bytes:
            raise NetworkError(f"archive holds {total} bytes: must be at most {max_bytes}. Use a smaller network.")
        self._entries: dict[str, zipfile.ZipInfo] = {}
        for entry in entries:
            _check_entry(entry)
            name = entry.filename.partition("/")[2]
            if name in self._entries:
                raise NetworkError(f"entry {entry.filename!r:.200} is there twice: must be once. Save the file anew.")
            self._entries[name] = entry
        if (tops := len({entry.filename.partition("/")[0] for entry in entries})) != 1:
            raise NetworkError(f"archive has {tops} top folders: must be one. Save it anew with PyTorch.")
        if "byteorder" in self and self.read("byteorder") != b"little":
            raise NetworkError("archive is of another byte order: must be little. Save it on another machine.")

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def names(self) -> list[str]:
        """Names of all entries, without the top folder."""
        return list(self._entries)

    def read(self, name: str) -> bytes:
        """The bytes of an entry; a `NetworkError` if it is missing or damaged."""
        if name not in self:
            raise NetworkError(f"archive has no {name!r:.200}: must have. Save it anew with PyTorch.")
        entry = self._entries[name]
        try:
            with self._zip.open(entry) as file:
                content = file.read(entry.file_size)
        except (OSError, EOFError, RuntimeError, NotImplementedError, zipfile.BadZipFile, zlib.error) as error:
            raise NetworkError(
                f"entry {name!r:.200} is damaged ({error!s:.200}): must be whole. Copy the file again."
            ) from error
        if len(content) != entry.file_size:
            raise NetworkError(f"entry {name!r:.200} is shorter than it says: must be whole. Copy the file again.")
        return content


def _check_ends(data: bytes, entries: Sequence[zipfile.ZipInfo]) -> None:
    if not data.startswith(b"PK\3\4") or min(entry.header_offset for entry in entries) != 0:
        raise NetworkError("archive does not start at the first byte of the file: must. Save it anew.")
    # the end of the directory if no comment follows
    if data[-22:-18] != b"PK\5\6":
        raise NetworkError("archive does not end at the last byte of the file: must. Save it anew.")


def _check_entry(entry: zipfile.ZipInfo) -> None:
    name, parts = entry.filename, entry.filename.split("/")
    if "\\" in name or ":" in name or len(parts) < 2 or any(part in ("", ".", "..") for part in parts):
        raise NetworkError(f"entry {name!r:.200}: must be a file inside the archive's folder. Save it anew.")
    if entry.flag_bits & ENCRYPTED or entry.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
        raise NetworkError(f"entry {name!r:.200} is encrypted or oddly compressed: must be stored or deflated.")
    if entry.file_size > max(MAX_RATIO * entry.compress_size, 1 << 16):
        raise NetworkError(f"entry {name!r:.200} swells {entry.compress_size} bytes to {entry.file_size}: too much.")


def _opened(data: bytes) -> zipfile.ZipFile:
    # signatures of directory entries, counted before an object is made of each
    if (count := data.count(b"PK\1\2")) > MAX_ENTRIES:
        raise NetworkError(f"archive has {count} entries: must be at most {MAX_ENTRIES}. Save it anew.")
    try:
        return zipfile.ZipFile(io.BytesIO(data))
    # zipfile raises errors of many types
    except Exception as error:
        raise NetworkError(f"file is no complete zip archive ({error}): must be whole. Copy it again.") from error


def are_whole(numbers: Iterable[object], below: float = math.inf) -> bool:
    """Return True if all are whole numbers from 0."""
    return all(type(number) is int and 0 <= number < below for number in numbers)


def view_of(values: np.ndarray, offset: int, size: Sequence[int], stride: Sequence[int]) -> np.ndarray | None:
    """Return a read-only view into numbers; None if it leaves them."""
    if 0 in size:
        return np.empty(size, values.dtype)
    if offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True)) >= len(values):
        return None
    steps = [step * values.itemsize for step in stride]
    return np.lib.stride_tricks.as_strided(values[offset:], size, steps, writeable=False)


@contextlib.contextmanager
def only_our_errors(what: str) -> Iterator[None]:
    """Make a `NetworkError` of any error of a reader; a hostile file may fail in any way."""
    try:
        yield
    except NetworkError:
        raise
    except Exception as error:
        raise NetworkError(f"file is no {what} that can be read ({error!r:.200}). Save it anew.") from error


def metadata_of(archive: Archive) -> dict[str, object]:
    """The metadata in an entry of their own, empty without one; a `NetworkError` if it is no JSON object."""
    return read_sidecar(archive.read(METADATA), METADATA) if METADATA in archive else {}


def entry_names(data: bytes) -> list[str]:
    """Return the names in a zip file without their top folder, empty if it is none; used to tell formats apart."""
    if not data.startswith(b"PK\3\4"):
        return []
    try:
        return [name.partition("/")[2] for name in _opened(data).namelist()]
    # the reader reports the problem
    except NetworkError:
        return []
