"""A place for Warp's compiled kernels, also where there is no home that can be written.

Warp keeps them in a folder of the user's, which it makes when it starts; a home that is read-only, missing or a file
would be an error from inside Warp. Whoever imports this has a place that can be written, before Warp starts.
"""

from __future__ import annotations

import contextlib
import os
import stat
import sys
import tempfile
import warnings
from pathlib import Path

import warp as wp

# Warp's own variable
_CHOSEN = "WARP_CACHE_PATH"


def prepare_cache() -> None:
    """Let Warp keep kernels in a temporary folder if its own cannot be written, and warn of it."""
    folder = Path(wp.config.kernel_cache_dir or os.environ.get(_CHOSEN) or _own_folder())
    # Warp makes a folder in it for its version
    if _can_be_written(folder / wp.config.version):
        return
    try:
        other = _temporary_folder()
    except OSError:
        # what Warp says of its own folder is as good
        return
    wp.config.kernel_cache_dir = other
    warnings.warn(
        f"{folder}: Warp would keep compiled kernels there and cannot write there; they are in {other}. Set {_CHOSEN} "
        "to a folder of yours.",
        stacklevel=2,
    )


def _own_folder() -> Path:
    """Where Warp keeps kernels when nobody says anything."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "NVIDIA" / "warp"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "warp"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "warp"


def _can_be_written(folder: Path) -> bool:
    """Whether a folder can be written, or made."""
    there = next(one for one in (folder.absolute(), *folder.absolute().parents) if os.path.lexists(one))
    return there.is_dir() and os.access(there, os.W_OK | os.X_OK)


def _temporary_folder() -> str:
    """The same at each run where it is this user's alone, for what is in it will run."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"warp-cache-{user}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != user or about.st_mode & 0o077:
        return tempfile.mkdtemp(prefix="warp-cache-")
    return str(folder)


prepare_cache()
