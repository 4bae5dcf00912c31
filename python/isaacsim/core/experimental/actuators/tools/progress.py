"""Type of functions that report progress."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Function of the current work and the finished share of all work, 0 … 1."""
