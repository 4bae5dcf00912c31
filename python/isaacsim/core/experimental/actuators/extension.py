"""Entry point of the extension in Kit."""

from __future__ import annotations

try:
    from omni.ext import IExt  # pyright: ignore[reportMissingImports]
except ImportError:
    # outside Kit there is no extension manager to talk to
    IExt = object


class Extension(IExt):  # pyright: ignore[reportGeneralTypeIssues]
    """Started and stopped by Kit's extension manager; the package itself needs neither."""

    def on_startup(self, ext_id: str) -> None:
        """Nothing to set up: public names load on first use."""

    def on_shutdown(self) -> None:
        """Nothing to tear down: wrappers belong to whoever made them."""
