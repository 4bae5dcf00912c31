"""Entry point of the extension in Kit."""

from __future__ import annotations

try:
    import omni.ext

    _Base = omni.ext.IExt
except ImportError:  # outside Kit there is no extension manager to talk to
    _Base = object


class Extension(_Base):
    """Started and stopped by Kit's extension manager; the package itself needs neither."""

    def on_startup(self, ext_id: str) -> None:
        """Nothing to set up: public names load on first use."""

    def on_shutdown(self) -> None:
        """Nothing to tear down: wrappers belong to whoever made them."""
