"""`Window`: a live view in MuJoCo's own viewer. Space pauses, the right arrow steps, backspace resets."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

from ...simulators.mujoco.picture import DrawingWindow
from ..plots.units import units_of
from .live import Live

# smallest time between two updates of the text, which wait for the viewer [s of wall clock]
_TEXT_PERIOD = 1 / 10
# duration of messages about failed requests [s of wall clock]
_MESSAGE_PERIOD = 5.0
# key codes of GLFW
_KEYS = {32: "pause", 262: "step", 259: "reset"}


class Window:
    """A window with the robots, their targets, and the efforts of their motors."""

    url: str | None = None

    def __init__(self, live: Live, ask: Callable[..., None]) -> None:
        self._ask, self._drawing = ask, live.drawing
        self._window = DrawingWindow(live.drawing, self._on_key)
        self._written = -math.inf
        self._was_paused = False
        self._message, self._message_at = "", -math.inf

    @property
    def is_open(self) -> bool:
        """True until it is closed."""
        return self._window.is_open

    @property
    def is_watched(self) -> bool:
        """True until it is closed."""
        return self.is_open

    def show(self, live: Live, paused: bool) -> None:
        """Show the current state."""
        if live.drawing is not self._drawing:
            self._window.close()
            self._drawing, self._window = live.drawing, DrawingWindow(live.drawing, self._on_key)
            self._written = -math.inf
        live.poses()
        live.target_poses()
        now = time.monotonic()
        if now - self._written >= _TEXT_PERIOD or paused != self._was_paused:
            self._written, self._was_paused = now, paused
            failed = [("not done", self._message)] if now - self._message_at < _MESSAGE_PERIOD else []
            self._window.write([*_lines(live, paused), *failed])
        self._window.show()

    def tell(self, message: str) -> None:
        """Show why a request failed."""
        self._message, self._message_at = message.encode("ascii", "replace").decode(), time.monotonic()

    def close(self) -> None:
        """Close it."""
        self._window.close()

    def _on_key(self, key: int) -> None:
        if key in _KEYS:
            self._ask(_KEYS[key])


def _lines(live: Live, paused: bool) -> list[tuple[str, str]]:
    """Return the time, and the effort of each motor within its limits; the viewer has ASCII only."""
    lines = [("paused" if paused else "time", f"{live.time:.2f} s")]
    efforts = live.efforts()
    if efforts:
        unit = units_of(live.joints[effort.column].turns for effort in efforts).effort.replace("·", " ")
        lines.append(("effort", f"within its limits [{unit}]"))
    for effort in efforts:
        numbers = f"{effort.motor:z.2f} in [{effort.lower:.2f}, {effort.upper:.2f}] {effort.limited_by}"
        if effort.friction is not None:
            numbers += f" friction {effort.friction:z.2f}{', sticks' if effort.sticking else ''}"
        if effort.temperature is not None:
            numbers += f" winding {effort.temperature:.0f} C"
        lines.append((live.joints[effort.column].name, numbers))
    return lines
