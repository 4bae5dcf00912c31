"""A folder for Warp's compiled kernels, also without a writable home.

Warp creates a folder in the user's home on start, and raises an error if the home is read-only, missing or a file.
Importing this module selects a writable folder before Warp starts.
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

# environment variable that Warp reads
_CHOSEN = "WARP_CACHE_PATH"


def prepare_cache() -> None:
    """Select a temporary folder for kernels, with a warning, if Warp's own folder is not writable."""
    folder = Path(wp.config.kernel_cache_dir or os.environ.get(_CHOSEN) or _own_folder())
    # Warp creates a folder in it for its version
    used = (folder / wp.config.version).absolute()
    existing = next(parent for parent in (used, *used.parents) if os.path.lexists(parent))
    if existing.is_dir() and os.access(existing, os.W_OK | os.X_OK):
        return
    try:
        other = _temporary_folder()
    except OSError:
        # Warp reports an error of its own folder
        return
    wp.config.kernel_cache_dir = other
    warnings.warn(
        f"{folder}: Warp would keep compiled kernels there and cannot write there; they are in {other}. Set {_CHOSEN} "
        "to a folder of yours.",
        stacklevel=2,
    )


def _own_folder() -> Path:
    """Return Warp's default folder of kernels."""
    home = Path(os.path.expanduser("~"))
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "NVIDIA" / "warp"
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "warp"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "warp"


def _temporary_folder() -> str:
    """Return a temporary folder: the same in each run if only this user can write it, because its content is run."""
    user = os.getuid() if hasattr(os, "getuid") else 0
    folder = Path(tempfile.gettempdir(), f"warp-cache-{user}")
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    about = folder.lstat()
    if not stat.S_ISDIR(about.st_mode) or about.st_uid != user or about.st_mode & 0o077:
        return tempfile.mkdtemp(prefix="warp-cache-")
    return str(folder)


prepare_cache()
