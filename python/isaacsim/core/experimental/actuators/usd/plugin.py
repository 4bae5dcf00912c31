"""Tell USD of the schemas of our own, which `tools/usd_schemas.py` writes into the folder beside this file.

`Usd.Prim.GetAppliedSchemas`, usdview, usdchecker and Kit know them then. What is read here is the same without.
"""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from pxr import Plug, Tf

PLUGIN = "articulationActuators"
"""Name of the plugin."""
FOLDER = Path(__file__).parent / "schemas"
"""Where its `plugInfo.json` is."""


@functools.cache
def register_schemas() -> None:
    """Register the schemas of newton, where they are installed, and ours, once in a process.

    USD learns of them before it opens the first stage of the process, or not at all, which is no error: somebody else
    may have opened one. newton's come first, for its reader of files goes without the registry only while that knows
    no schema of a prim.
    """
    with contextlib.suppress(ImportError):
        import newton_usd_schemas  # noqa: F401
    registry = Plug.Registry()
    # another copy may be there, named in PXR_PLUGINPATH_NAME or brought by Kit
    if not registry.GetPluginWithName(PLUGIN):
        with contextlib.suppress(Tf.ErrorException):
            registry.RegisterPlugins(FOLDER.as_posix())
