"""Earlier import paths of modules that moved: each returns the module at its current path.

An earlier path emits a `DeprecationWarning` and is removed in 1.1, except for those of the documented extension.
A module is the same object under both paths. It is imported when one of them is.
"""

from __future__ import annotations

import importlib
import sys
import warnings
from importlib.machinery import ModuleSpec
from types import CodeType, ModuleType
from typing import Any

# current path by earlier path, within the package; it applies to the modules below, and the longest match counts
EARLIER = {
    "commands": "toolbox.commands",
    "graphs": "action_graphs.runner",
    "graphs.__main__": "__main__",
    "graphs.watch": "toolbox.commands.watch",
    "inspection": "toolbox.inspection",
    "nodes": "action_graphs.nodes",
    "omnigraph": "action_graphs.omnigraph",
    "plots": "toolbox.plots",
    "recording": "toolbox.recording",
    "recording.signals": "pipeline.recorded_signals",
    "stability": "toolbox.stability",
    "training": "toolbox.training",
    "trials": "toolbox.trials",
    "viewing": "toolbox.viewing",
}
# paths of the documented extension, which stay
STAY = ("nodes",)

_PREFIX = f"{__package__}."


class EarlierPaths:
    """Finder of modules by their earlier paths."""

    @staticmethod
    def find_spec(fullname: str, path: object = None, target: object = None) -> ModuleSpec | None:
        """Return the spec of a module by its earlier path; None for other modules, and if there is no such module."""
        if not fullname.startswith(_PREFIX):
            return None
        earlier = fullname.removeprefix(_PREFIX)
        current = _current(earlier)
        found = None if current is None else _spec(_PREFIX + current)
        if found is None:
            return None
        loader: Any = _Alias(fullname, found.name, warns=earlier.partition(".")[0] not in STAY)
        return ModuleSpec(fullname, loader, is_package=found.submodule_search_locations is not None)


class _Alias:
    """Loader of the module at the current path.

    Args:
        earlier: The earlier path.
        current: The current path.
        warns: True if the earlier path is deprecated.
    """

    def __init__(self, earlier: str, current: str, warns: bool) -> None:
        self._earlier, self._current, self._warns = earlier, current, warns

    def create_module(self, spec: ModuleSpec) -> None:
        """Let the import system create a module, which `exec_module` replaces."""

    def exec_module(self, module: ModuleType) -> None:
        """Replace the created module with the one at the current path."""
        if self._warns:
            warnings.warn(
                f"{self._earlier} is deprecated and will be removed in 1.1: use {self._current}.",
                DeprecationWarning,
                stacklevel=2,
            )
        sys.modules[self._earlier] = importlib.import_module(self._current)

    def get_code(self, fullname: str) -> CodeType | None:
        """Return the code at the current path, for `python -m`."""
        spec: Any = _spec(self._current)
        return spec.loader.get_code(self._current)


def support_earlier_paths() -> None:
    """Put the finder before those that search folders; it replaces that of a reloaded package."""
    others = [finder for finder in sys.meta_path if getattr(finder, "__module__", None) != __name__]
    finder: Any = EarlierPaths
    sys.meta_path[:] = [finder, *others]


def _current(earlier: str) -> str | None:
    """Return the current path of a module by its earlier path, None if it has not moved."""
    room = earlier
    while room:
        if room in EARLIER:
            return EARLIER[room] + earlier.removeprefix(room)
        room = room.rpartition(".")[0]
    return None


def _spec(name: str) -> ModuleSpec | None:
    # imported here, because most programs use no earlier path
    from importlib.util import find_spec

    return find_spec(name)
