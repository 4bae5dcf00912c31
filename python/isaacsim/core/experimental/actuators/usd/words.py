"""How messages name things; needs no USD."""

from __future__ import annotations

from collections.abc import Sequence


def listed(what: Sequence[str], most: int = 4) -> str:
    """A list in words, of bounded length."""
    return ", ".join(what[:most]) + (f" and {len(what) - most} more" if len(what) > most else "")
