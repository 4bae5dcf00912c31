"""MuJoCo as embedded physics: USD read by newton, translated to MjSpec, stepped by `mujoco.batch`."""

import os
import sys

# MuJoCo chooses how to draw when it is imported; without a display only EGL can
if sys.platform == "linux" and not os.environ.get("DISPLAY"):
    os.environ.setdefault("MUJOCO_GL", "egl")
