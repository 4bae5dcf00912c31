"""Entry point of the extension in Kit."""

from __future__ import annotations

import contextlib
import sys
from pathlib import Path
from typing import Any

try:
    from omni.ext import IExt  # pyright: ignore[reportMissingImports]
except ImportError:
    # outside Kit there is no extension manager to talk to
    IExt = object

# where OmniGraph looks for nodes, below the extension's root: at the import path
_NODES = Path(*__name__.split(".")[:-1], "nodes")
# what shutdown calls, first to last, of the modules that were in use
_AT_SHUTDOWN = (
    ("nodes.state", "release_all"),
    ("nodes.registration", "take_back"),
    ("articulation_actuators", "close_all"),
    ("hosts.current", "close_kit_host"),
)


class Extension(IExt):  # pyright: ignore[reportGeneralTypeIssues]
    """Started and stopped by Kit's extension manager; the package itself needs neither."""

    def on_startup(self, ext_id: str) -> None:
        """Say which version runs, and register the node where Kit does not find it.

        Args:
            ext_id: The extension as Kit names it: name, a dash, version.
        """
        import carb  # pyright: ignore[reportMissingImports]
        import omni.kit.app  # pyright: ignore[reportMissingImports]

        manager = omni.kit.app.get_app().get_extension_manager()
        carb.log_info(_which_runs(ext_id, manager))
        # a package has the node there; a clone has it below `python`
        if not (Path(manager.get_extension_path(ext_id)) / _NODES).is_dir():
            from .nodes.registration import keep_registered

            keep_registered(ext_id, manager)

    def on_shutdown(self) -> None:
        """Close what is open: joint drives are as they were, and Kit holds no callback of ours."""
        with contextlib.ExitStack() as stack:
            # an error in one of them keeps none of the others
            for module, function in reversed(_AT_SHUTDOWN):
                if (loaded := sys.modules.get(f"{__package__}.{module}")) is not None:
                    stack.callback(getattr(loaded, function))


def _which_runs(ext_id: str, manager: Any) -> str:
    """Name the version that runs and those of the same name that do not, each with its path."""
    name, _, version = ext_id.partition("-")
    ids = sorted({known["id"] for known in manager.get_extensions()} - {ext_id})
    others = [other for other in ids if other.partition("-")[0] == name]
    said = [f"{name} {version} runs, from {manager.get_extension_path(ext_id)}."]
    for other in others:
        other_version = other.partition("-")[2]
        said.append(
            f"{other_version} does not, from {manager.get_extension_path(other)}. To have it instead, write "
            f'"{name}" = {{ version = "{other_version}", exact = true }} under [dependencies] of the .kit file.'
        )
    return " ".join(said)
