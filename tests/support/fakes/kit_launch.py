"""Which extension of our name Kit runs: it decides at launch, and never again."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

NAME = "isaacsim.core.experimental.actuators"
# Isaac Sim's base experience depends on it, whatever its version
BUNDLED_VERSION = "0.1.2"


@dataclass(frozen=True)
class LaunchedExtension:
    """The extension that runs.

    Args:
        version: Of its `extension.toml`.
        root: Its folder, None for the bundled one.
    """

    version: str
    root: Path | None

    @property
    def id(self) -> str:
        """As Kit names it."""
        return f"{NAME}-{self.version}"

    @property
    def import_path(self) -> Path:
        """The folder that it adds to Python's path."""
        assert self.root is not None, f"{self.id} is the bundled one, which the stand-ins do not have"
        return self.root / _read(self.root)["python"]["module"][0].get("path", ".")


def launch(arguments: list[str]) -> LaunchedExtension:
    """Solve the dependencies of the base experience and of `--enable`.

    Raises:
        RuntimeError: No folder has what was asked for, or two versions were; Kit ends then.
    """
    wanted = [value for option, value in pairwise(arguments) if option == "--enable"]
    folders = [Path(value) for option, value in pairwise(arguments) if option == "--ext-folder"]
    found = {BUNDLED_VERSION: LaunchedExtension(BUNDLED_VERSION, None)}
    for folder in folders:
        # an extension is called like its folder
        if (root := folder / NAME) and (root / "config" / "extension.toml").exists():
            found[version(root)] = LaunchedExtension(version(root), root)
    versions = {one.removeprefix(f"{NAME}-") for one in wanted if one.startswith(f"{NAME}-")}
    if len(versions) > 1 or not versions <= set(found):
        raise RuntimeError(f"dependency solver failure: {wanted} with {sorted(found)}")
    # what asks for no version gets what the base experience has already
    return found[versions.pop() if versions else BUNDLED_VERSION]


def version(root: Path) -> str:
    """Of the extension in a folder."""
    return _read(root)["package"]["version"]


def _read(root: Path) -> dict[str, Any]:
    return tomllib.loads((root / "config" / "extension.toml").read_text())
