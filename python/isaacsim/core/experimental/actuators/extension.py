"""Entry point of the extension in Kit."""

from __future__ import annotations

import contextlib
import sys

from . import __version__

try:
    from omni.ext import IExt  # pyright: ignore[reportMissingImports]
except ImportError:
    # outside Kit there is no extension manager to talk to
    IExt = object

# what shutdown calls, first to last, of the modules that were in use
_AT_SHUTDOWN = (
    ("nodes.registration", "release_all"),
    ("articulation_actuators", "close_all"),
    ("hosts.current", "close_kit_host"),
)


class Extension(IExt):  # pyright: ignore[reportGeneralTypeIssues]
    """Started and stopped by Kit's extension manager; the package itself needs neither."""

    def on_startup(self, ext_id: str) -> None:
        """Say which version runs, and see to the node after Kit had the time to find it by itself."""
        import carb  # pyright: ignore[reportMissingImports]

        from .nodes.registration import register_after_startup

        carb.log_info(_which_version_runs(ext_id))
        register_after_startup(ext_id)

    def on_shutdown(self) -> None:
        """Close what is open: joint drives are as they were, and Kit holds no callback of ours."""
        with contextlib.ExitStack() as stack:
            # an error in one of them keeps none of the others
            for module, function in reversed(_AT_SHUTDOWN):
                if (loaded := sys.modules.get(f"{__package__}.{module}")) is not None:
                    stack.callback(getattr(loaded, function))


def _which_version_runs(ext_id: str) -> str:
    name = ext_id.partition("-")[0]
    return (
        f"{name} {__version__} runs, in place of the 0.1.x that Isaac Sim bundles. To have the bundled one instead, "
        f'write "{name}" = {{ version = "0.1.2", exact = true }} under [dependencies] of the .kit file.'
    )
