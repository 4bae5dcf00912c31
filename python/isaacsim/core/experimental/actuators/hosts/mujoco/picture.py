"""Render one environment to an image, without a display."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

from collections.abc import Sequence

import mujoco
import numpy as np


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
    """Return an RGB image, uint8, shape `(height, width, 3)`."""
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
