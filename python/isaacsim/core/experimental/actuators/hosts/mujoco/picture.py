"""Render one environment to an image, without a display."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import os
import sys
from collections.abc import Sequence

import mujoco
import numpy as np

from ...errors import HostError


def render(
    model: mujoco.MjModel,
    data: mujoco.MjData,
    width: int,
    height: int,
    *,
    lookat: Sequence[float] | None = None,
    distance: float | None = None,
    azimuth: float = 135.0,
    elevation: float = -20.0,
) -> np.ndarray:
    """Return an RGB image, uint8, shape `(height, width, 3)`.

    Raises:
        HostError: MuJoCo was told to draw to a display, and there is none.
    """
    if mujoco.GLContext.__module__ == "mujoco.glfw" and not _has_display():
        # GLFW would end the process
        raise HostError(
            "MuJoCo draws to a display here and there is none. Install EGL (Debian: libegl1, libgl1-mesa-dri), and "
            "set the environment variable MUJOCO_GL=egl where mujoco is imported before this package."
        )
    camera = mujoco.MjvCamera()
    mujoco.mjv_defaultFreeCamera(model, camera)
    camera.azimuth, camera.elevation = azimuth, elevation
    if lookat is not None:
        camera.lookat[:] = lookat
    if distance is not None:
        camera.distance = distance
    # the default buffer is smaller than many pictures
    model.vis.global_.offwidth = max(model.vis.global_.offwidth, width)
    model.vis.global_.offheight = max(model.vis.global_.offheight, height)
    with mujoco.Renderer(model, height, width) as renderer:
        renderer.update_scene(data, camera)
        return renderer.render()


def _has_display() -> bool:
    return sys.platform != "linux" or bool(os.environ.get("DISPLAY") or os.environ.get("WAYLAND_DISPLAY"))
