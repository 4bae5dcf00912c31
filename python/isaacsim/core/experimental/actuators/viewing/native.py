"""`Window`: a live view in MuJoCo's own viewer. Space pauses, the right arrow steps, backspace resets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

from ..hosts.mujoco.window import DrawingWindow
from .live import Live

# numbers are written less often than robots are drawn, for the viewer is waited for then [s of wall clock]
_TEXT_PERIOD = 1 / 10
# how long something that was not done is told [s of wall clock]
_TOLD = 5.0
# as GLFW numbers them
_KEYS = {32: "pause", 262: "step", 259: "reset"}


class Window:
    """A window with the robots, their targets, and what their motors do.

    Args:
        live: What is shown.
        ask: Takes what is asked for, from any thread.
    """

    url: str | None = None

    def __init__(self, live: Live, ask: Callable[..., None]) -> None:
        self._ask, self._drawing = ask, live.drawing
        self._window: Any = DrawingWindow(live.drawing, self._on_key)
        self._written = -math.inf
        self._was_paused = False
        self._told, self._told_at = "", -math.inf

    @property
    def is_open(self) -> bool:
        """Whether nobody closed it."""
        return self._window.is_open

    @property
    def is_watched(self) -> bool:
        """Whether it is there to be seen."""
        return self.is_open

    def show(self, live: Live, paused: bool) -> None:
        """Show what is now."""
        if live.drawing is not self._drawing:
            self._window.close()
            self._drawing, self._window = live.drawing, DrawingWindow(live.drawing, self._on_key)
            self._written = -math.inf
        live.poses()
        live.target_poses()
        now = time.monotonic()
        if now - self._written >= _TEXT_PERIOD or paused != self._was_paused:
            self._written, self._was_paused = now, paused
            told = [("not done", self._told)] if now - self._told_at < _TOLD else []
            self._window.write([*_lines(live, paused), *told])
        self._window.show()

    def tell(self, message: str) -> None:
        """Say that something asked for was not done."""
        self._told, self._told_at = message.encode("ascii", "replace").decode(), time.monotonic()

    def close(self) -> None:
        """Close it."""
        self._window.close()

    def _on_key(self, key: int) -> None:
        if key in _KEYS:
            self._ask(_KEYS[key])


def _lines(live: Live, paused: bool) -> list[tuple[str, str]]:
    """Time, and what each motor does within its limits; the viewer has no letters beyond ASCII."""
    lines = [("paused" if paused else "time", f"{live.time:.2f} s")]
    efforts = live.efforts()
    if efforts:
        lines.append(("effort", "within its limits [N m or N]"))
    for effort in efforts:
        numbers = f"{effort.applied:z.2f} in [{effort.lower:.2f}, {effort.upper:.2f}] {effort.limited_by}"
        lines.append((live.joints[effort.column].name, numbers))
    return lines
