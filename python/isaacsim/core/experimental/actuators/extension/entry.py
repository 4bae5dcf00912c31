"""Entry point of the extension in Kit."""

from __future__ import annotations

import contextlib
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from ..base.cores import missing_core

if TYPE_CHECKING:
    from ..files.networks.trust import Permission

try:
    from omni.ext import IExt  # pyright: ignore[reportMissingImports]
except ImportError:
    # outside Kit there is no extension manager to talk to
    IExt = object

# where OmniGraph looks for nodes, below the extension's root: at the import path
_NODES = Path(*__name__.split(".")[:-1], "action_graphs", "nodes")
# files and folders whose networks Torch may run when they are not recognized
_NAME = __name__.rsplit(".", 2)[0]
_TRUST = f"/exts/{_NAME}/trustCheckpoints"
# what shutdown calls, first to last, of the modules that were in use
_AT_SHUTDOWN = (
    ("extension.action_graphs.nodes.state", "release_all"),
    ("extension.action_graphs.nodes.registration", "take_back"),
    ("extension.articulation_actuators", "close_all"),
    ("simulators.current", "close_kit_host"),
)


class Extension(IExt):  # pyright: ignore[reportGeneralTypeIssues]
    """Started and stopped by Kit's extension manager; the package itself needs neither."""

    _trusted: Permission | None = None

    def on_startup(self, ext_id: str) -> None:
        """Log the running version, trust listed checkpoints, register schemas, and the node if Kit does not find it.

        Args:
            ext_id: The extension as Kit names it: name, a dash, version.
        """
        import carb  # pyright: ignore[reportMissingImports]
        import omni.kit.app  # pyright: ignore[reportMissingImports]

        manager = omni.kit.app.get_app().get_extension_manager()
        # the version that runs and those of the same name that do not, each with its path, and a missing core
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
        carb.log_info(" ".join([*said, *filter(None, [missing_core()])]))
        self._trusted = _trust_listed()
        # they take effect only before Kit opens its first stage; a Kit without USD needs none
        with contextlib.suppress(ImportError):
            from ..files.usd.plugin import register_schemas

            register_schemas()
        # a package has the node there; a clone has it below `python`
        if not (Path(manager.get_extension_path(ext_id)) / _NODES).is_dir():
            from .action_graphs.nodes.registration import keep_registered

            try:
                keep_registered(ext_id, manager)
            except Exception as error:
                # without its node, all of the rest works
                carb.log_error(
                    f"the node Articulation Actuators could not be registered ({type(error).__name__}: {error}). "
                    "Use the packaged extension, in which Kit finds it."
                )

    def on_shutdown(self) -> None:
        """Close what is open: joint drives are as they were, and Kit holds no callback of ours."""
        with contextlib.ExitStack() as stack:
            if self._trusted is not None:
                stack.callback(self._trusted.revoke)
            # an error in one of them keeps none of the others
            for module, function in reversed(_AT_SHUTDOWN):
                if (loaded := sys.modules.get(f"{_NAME}.{module}")) is not None:
                    stack.callback(getattr(loaded, function))


def _trust_listed() -> Permission | None:
    """Trust the checkpoints that the setting lists at the start, if any: stages change Kit's settings later."""
    import carb  # pyright: ignore[reportMissingImports]
    import carb.settings  # pyright: ignore[reportMissingImports]

    listed = carb.settings.get_settings().get(_TRUST)
    if not listed:
        return None
    from ..files.networks.trust import trust_checkpoints

    try:
        paths = [listed] if isinstance(listed, str) else list(listed)
        if odd := [path for path in paths if not (isinstance(path, str) and os.path.isabs(path))]:
            raise ValueError(f"{odd[0]!r}: must be an absolute path. Correct the setting.")
        permission = trust_checkpoints(paths)
    except (TypeError, ValueError, OSError) as error:
        carb.log_error(f"setting {_TRUST}: {error} No checkpoint is trusted.")
        return None
    carb.log_warn(f"setting {_TRUST}: Torch may run what is not recognised in {', '.join(permission.paths)}.")
    return permission
