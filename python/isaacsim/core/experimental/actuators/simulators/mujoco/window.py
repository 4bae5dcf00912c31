"""MuJoCo's own viewer in a window, which shows a drawing, the target poses as ghosts in it, and lines of text."""

# MuJoCo ships no type stubs
# pyright: reportAttributeAccessIssue=false

from __future__ import annotations

import atexit
import copy
import threading
from collections.abc import Callable, Sequence
from typing import Any

import mujoco
import numpy as np

from .drawing import GHOST_SCALE, Drawing

_GHOST = np.array([0.94, 0.59, 0.16, 0.3], np.float32)
# how far right of the middle robots are drawn, in their sizes
_ASIDE = 0.3
# how long the last frame may take [s of wall clock]
_LAST_FRAME = 10.0
_ROBOTS = mujoco.mjtCatBit.mjCAT_DYNAMIC.value


class DrawingWindow:
    """A window.

    Args:
        drawing: What is shown; `poses` and `target_poses` are called before `show`.
        on_key: Called with what is pressed, as GLFW numbers keys, from a thread of the viewer.
    """

    def __init__(self, drawing: Drawing, on_key: Callable[[int], None]) -> None:
        import mujoco.viewer

        self._drawing = drawing
        self._data, self._ghost = mujoco.MjData(drawing.model), mujoco.MjData(drawing.model)
        self._ghosts = copy.copy(drawing.model)
        self._ghosts.geom_matid[:] = -1
        others = set(threading.enumerate())
        self._viewer = mujoco.viewer.launch_passive(
            drawing.model, self._data, key_callback=on_key, show_left_ui=False, show_right_ui=False
        )
        self._threads = set(threading.enumerate()) - others
        # before GLFW ends
        atexit.register(self.close)
        low, high = drawing.box
        with self._viewer.lock():
            camera = self._viewer.cam
            camera.lookat[:], camera.distance = (low + high) / 2, 1.5 * np.linalg.norm(high - low)
            camera.azimuth, camera.elevation = 135.0, -20.0
            # text covers the left
            turn = np.radians(camera.azimuth)
            camera.lookat[:] -= _ASIDE * np.linalg.norm(high - low) * np.array([np.sin(turn), -np.cos(turn), 0.0])

    @property
    def is_open(self) -> bool:
        """True until the window is closed."""
        return self._viewer.is_running()

    def show(self) -> None:
        """Show the drawing as it is."""
        drawing, viewer = self._drawing, self._viewer
        with viewer.lock():
            self._data.qpos[:] = drawing.data.qpos
            # what is derived of them the viewer draws, and does not compute
            mujoco.mj_forward(drawing.model, self._data)
            self._ghost.qpos[:] = drawing.shadow.qpos
            mujoco.mj_forward(drawing.model, self._ghost)
            # what has no opacity is not added
            self._ghosts.geom_rgba[:] = _GHOST * drawing.away()[drawing.model.geom_bodyid, None]
            scene: Any = viewer.user_scn
            scene.ngeom = 0
            mujoco.mjv_addGeoms(self._ghosts, self._ghost, viewer.opt, mujoco.MjvPerturb(), _ROBOTS, scene)
            for geom in scene.geoms[: scene.ngeom]:
                # what is transparent has no shadow
                geom.transparent, geom.mat = True, GHOST_SCALE * geom.mat
        viewer.sync()

    def write(self, lines: Sequence[tuple[str, str]]) -> None:
        """Show lines of two columns; it takes until the viewer has drawn what it draws."""
        left, right = ("\n".join(column) for column in zip(*lines, strict=True))
        self._viewer.set_texts((None, None, left, right))

    def close(self) -> None:
        """Close it, and wait until nothing draws any more, for then GLFW would end the process."""
        atexit.unregister(self.close)
        self._viewer.close()
        for thread in self._threads:
            thread.join(_LAST_FRAME)
