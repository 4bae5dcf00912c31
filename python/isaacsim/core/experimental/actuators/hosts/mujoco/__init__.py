"""MuJoCo as embedded physics: USD read by newton, translated to MjSpec, stepped by `mujoco.batch`."""

import os
import sys

# newton sees its own schemas only if they are known before the first stage of the process is opened
import newton_usd_schemas  # noqa: F401

# MuJoCo chooses how to draw when it is imported; without a display only EGL can
if sys.platform == "linux" and not os.environ.get("DISPLAY"):
    os.environ.setdefault("MUJOCO_GL", "egl")
