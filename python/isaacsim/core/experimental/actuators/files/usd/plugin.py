"""Register our own schemas with USD, which `tools/usd_schemas.py` writes into the folder beside this file.

`Usd.Prim.GetAppliedSchemas`, usdview, usdchecker and Kit know them then; reading here does not depend on it.
"""

from __future__ import annotations

import contextlib
import functools
from pathlib import Path

from pxr import Plug, Tf

PLUGIN = "articulationActuators"
"""Name of the plugin."""
FOLDER = Path(__file__).parent / "schemas"
"""Folder of its `plugInfo.json`."""


@functools.cache
def register_schemas() -> None:
    """Register the schemas of newton, if they are installed, and ours, once in a process.

    USD takes schemas before it opens the first stage of the process; later it ignores them, which is no error. newton's
    are first: its reader of files does without the registry only while that knows no schema of a prim.
    """
    with contextlib.suppress(ImportError):
        import newton_usd_schemas  # noqa: F401
    registry = Plug.Registry()
    # PXR_PLUGINPATH_NAME or Kit may have registered another copy
    if not registry.GetPluginWithName(PLUGIN):
        with contextlib.suppress(Tf.ErrorException):
            registry.RegisterPlugins(FOLDER.as_posix())
