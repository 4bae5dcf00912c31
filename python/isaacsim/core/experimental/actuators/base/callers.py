"""Stack level at which a warning points to the user's code."""

from __future__ import annotations

import os
import sys

_HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__))) + os.sep


def level_outside() -> int:
    """Return the `stacklevel` with which a warning of the calling function points at the first line outside."""
    frame, level = sys._getframe(1), 1
    while frame.f_back is not None and os.path.abspath(frame.f_code.co_filename).startswith(_HERE):
        frame, level = frame.f_back, level + 1
    return level
