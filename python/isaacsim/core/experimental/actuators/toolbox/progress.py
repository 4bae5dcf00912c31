"""What long work tells of how far it is."""

from __future__ import annotations

from collections.abc import Callable

Progress = Callable[[str, float], None]
"""Told what is being done, and the share of all work that is done, 0 … 1."""
