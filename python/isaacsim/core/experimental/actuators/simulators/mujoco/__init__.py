"""MuJoCo, which ships no type stubs, as embedded physics: a stage or a file as MjSpec, in batches or a loop."""

import contextlib
import ctypes
import os
import sys

# MuJoCo chooses how to draw when it is imported; without a display only EGL can, and where that is missing the import
# of MuJoCo would fail
if sys.platform == "linux" and not os.environ.get("DISPLAY"):
    with contextlib.suppress(OSError):
        ctypes.CDLL("libEGL.so.1")
        os.environ.setdefault("MUJOCO_GL", "egl")
