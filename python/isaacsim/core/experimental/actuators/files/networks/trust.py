"""Permissions that the host program gives beyond what is safe by itself; nothing in a stage or a file can add to them.

They hold for this process: files that any stage may name, which are read as data like all others, and among them those
that Torch may run when they cannot be read. Imports the standard library only, since Kit reads its setting at startup.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Self

from ...base.errors import NetworkError
from ...specs.arguments import require_type

CONVERT = "python -m isaacsim.core.experimental.actuators.files.networks convert --trusted IN OUT"
"""The command that converts a file."""
REMEDY = (
    f"Where it can be trusted: convert it, `{CONVERT}`, or let Torch run it, by trusted=True or "
    "trust_checkpoints([path]) in the program, in Kit by the setting trustCheckpoints."
)
"""Remedy for a file that only Torch can run."""

_Paths = str | os.PathLike[str] | Iterable[str | os.PathLike[str]]

_given: list[Permission] = []
# real paths that the host program named in this process
_named: set[str] = set()


class NeedsTorchError(NetworkError):
    """A file, "torchscript", "pt2" or "state dict", that cannot be read as data, but that Torch may be able to run."""

    def __str__(self) -> str:
        return self.args[0]

    @property
    def form(self) -> str:
        """Format of the file."""
        return self.args[1]


class Permission:
    """A permission of `trust_checkpoints` or `allow_checkpoints`, until `revoke` or the end of its `with` block.

    Networks that were read meanwhile stay in use.
    """

    def __init__(self, paths: _Paths, *, trusted: bool) -> None:
        several = [paths] if isinstance(paths, str | os.PathLike) else paths
        require_type("paths", several, Iterable, "a path or a list of them")
        resolved: list[str] = []
        for path in several:
            # the empty path would be the current folder
            require_type("path", path, (str, os.PathLike), "a path")
            if not (text := os.fspath(path)):
                raise ValueError(f"path {text!r} of checkpoints: must not be empty. Give a file or a folder.")
            real = os.path.realpath(text)
            if not os.path.lexists(real):
                raise FileNotFoundError(f"path {text!r} of checkpoints leads to {real}: must be there. Correct it.")
            resolved.append(real)
        self.paths = tuple(resolved)
        """Real paths of the files and folders."""
        self.trusted = trusted
        """True if Torch may run the files that cannot be read."""
        _given.append(self)

    def revoke(self) -> None:
        """End the permission; no-op if it has ended."""
        _given[:] = [one for one in _given if one is not self]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.revoke()

    def __repr__(self) -> str:
        return f"<{'trusted' if self.trusted else 'allowed'}: {', '.join(self.paths)}>"


def trust_checkpoints(paths: _Paths) -> Permission:
    """Let any stage name these networks, and Torch run those among them that cannot be read as data.

    Such a file can do whatever a program can. A file that can be read as data is read as data all the same.

    Args:
        paths: Files, packages (usdz) and folders with everything below them, links resolved; or one of them.

    Returns:
        The permission, valid until its `revoke`, or for a `with` block.

    Raises:
        FileNotFoundError: A path does not exist.
        ValueError: A path is empty.

    Example:
        >>> from isaacsim.core.experimental.actuators import ArticulationActuators, Simulation, trust_checkpoints
        >>> with Simulation("data/robots/pendulum.usda"), trust_checkpoints("data/robots"):
        ...     actuators = ArticulationActuators("/World/Pendulum")
    """
    return Permission(paths, trusted=True)


def allow_checkpoints(roots: _Paths) -> Permission:
    """Let any stage name the networks in these folders besides those in its own; they are read as data.

    Args:
        roots: Folders with everything below them, packages (usdz) and files, links resolved; or one of them.

    Returns:
        The permission, valid until its `revoke`, or for a `with` block.

    Raises:
        FileNotFoundError: A path does not exist.
        ValueError: A path is empty.
    """
    return Permission(roots, trusted=False)


def is_trusted(path: str | os.PathLike[str]) -> bool:
    """Return True if Torch may run the file at a path, or one in a package there."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(root) for one in _given if one.trusted for root in one.paths)


def note_named(path: str) -> None:
    """Let all files of this process name a file, which the host program named; symbolic links are resolved."""
    _named.add(os.path.realpath(path))


def may_name(real: str, folder: str | None, permitted: Iterable[str | os.PathLike[str]]) -> bool:
    """True if a file may name another one: of its folder, of the host program, or permitted by it; by real paths."""
    if real in _named or any(is_below(real, os.path.realpath(one)) for one in permitted):
        return True
    return folder is not None and is_below(real, folder)


def is_below(path: str, folder: str) -> bool:
    """Return True if a path is a folder, or below it."""
    return Path(path).is_relative_to(folder)


def roots() -> list[str]:
    """Return real paths of the files and folders that any stage may name."""
    return [root for one in _given for root in one.paths]
