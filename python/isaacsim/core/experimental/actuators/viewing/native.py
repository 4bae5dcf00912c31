"""`Window`: a live view in MuJoCo's own viewer. Space pauses, the right arrow steps, backspace resets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ..hosts.mujoco.window import DrawingWindow
from .live import Live

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
        live.poses()
        live.target_poses()
        lines = [("paused" if paused else "time", f"{live.time:.2f} s")]
        for effort in live.efforts():
            numbers = f"{effort.applied:.2f} in [{effort.lower:.2f}, {effort.upper:.2f}] {effort.limited_by}"
            lines.append((live.joints[effort.column].name, numbers))
        self._window.show(lines)

    def close(self) -> None:
        """Close it."""
        self._window.close()

    def _on_key(self, key: int) -> None:
        if key in _KEYS:
            self._ask(_KEYS[key])
