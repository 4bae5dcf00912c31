"""Files that are written whole or not at all, and paths in them."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path, PurePath


@contextlib.contextmanager
def whole_file(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a `with` block another name to write to, which becomes the wanted one at its end; an error leaves neither.

    An existing file stays until then. A target that is no file, such as a device or a pipe, is written directly.
    """
    wanted = Path(path)
    require_place(wanted)
    if wanted.exists() and not wanted.is_file():
        with _naming(wanted):
            yield wanted
        return
    # a link stays one
    final = Path(os.path.realpath(wanted))
    with _naming(wanted):
        folder = Path(tempfile.mkdtemp(prefix=f".{final.stem}-", dir=final.parent))
    try:
        # of the same name, for there are writers that look at it, or note it down
        written = folder / final.name
        with _naming(wanted):
            yield written
            if final.exists():
                shutil.copymode(final, written)
            written.replace(final)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def require_place(path: Path) -> None:
    """Raise for a file that could not be written in the end."""
    folder = path.absolute().parent
    if path.is_dir():
        raise IsADirectoryError(f"{path}: must be a file, and is a folder. Name a file in it.")
    if not folder.is_dir():
        raise FileNotFoundError(f"{path}: its folder must be there. Make it, or choose another.")
    if not (path.exists() and not path.is_file()) and not os.access(folder, os.W_OK):
        raise PermissionError(f"{path}: its folder must be one that you may write. Choose another.")


def relative_path(path: str | os.PathLike[str], folder: str | os.PathLike[str]) -> str:
    """Return a path from a folder, with slashes; a full one if it is on another drive."""
    try:
        return PurePath(os.path.relpath(path, folder)).as_posix()
    except ValueError:
        return PurePath(os.path.abspath(path)).as_posix()


@contextlib.contextmanager
def _naming(wanted: Path) -> Iterator[None]:
    """Add the file and a remedy to errors of the system."""
    try:
        yield
    except OSError as error:
        number, reason = error.errno or 0, os.strerror(error.errno) if error.errno else str(error)
        remedy = "Make room" if number in (errno.ENOSPC, errno.EDQUOT) else "Change that"
        named = type(OSError(number, reason))(
            f"{wanted}: cannot be written: {reason}. {remedy}, or choose another place."
        )
        named.errno = error.errno
        raise named from error
