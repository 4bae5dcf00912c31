"""MuJoCo, which ships no type stubs, as embedded physics: a stage or a file as MjSpec, in batches or a loop."""

import ctypes
import os
import sys


def _has_egl() -> bool:
    try:
        ctypes.CDLL("libEGL.so.1")
    except OSError:
        return False
    return True


# MuJoCo chooses how to draw when it is imported; without a display only EGL can, and where that is missing the import
# of MuJoCo would fail
if sys.platform == "linux" and not os.environ.get("DISPLAY") and _has_egl():
    os.environ.setdefault("MUJOCO_GL", "egl")
